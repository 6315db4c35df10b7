// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Everything: gjk::collide, gjk::distance, gjk::closest, gjk::penetration, gjk::Scene.
#pragma once

#include "gjk/collide.hpp"
#include "gjk/convex.hpp"
#include "gjk/distance.hpp"
#include "gjk/exact.hpp"
#include "gjk/hull.hpp"
#include "gjk/penetration.hpp"
#include "gjk/pose.hpp"
#include "gjk/scene.hpp"
#include "gjk/verdict.hpp"
