// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Everything: gjk::collide, distance, closest, penetration, time_of_impact, Scene.
#pragma once

#include "gjk/batch.hpp"
#include "gjk/cast.hpp"
#include "gjk/collide.hpp"
#include "gjk/convex.hpp"
#include "gjk/distance.hpp"
#include "gjk/exact.hpp"
#include "gjk/hull.hpp"
#include "gjk/motion.hpp"
#include "gjk/pairwise.hpp"
#include "gjk/path.hpp"
#include "gjk/penetration.hpp"
#include "gjk/pose.hpp"
#include "gjk/prediction.hpp"
#include "gjk/scene.hpp"
#include "gjk/trace.hpp"
#include "gjk/verdict.hpp"
