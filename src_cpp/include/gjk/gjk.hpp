// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Everything: queries about two shapes, batches, moving shapes, scenes.
#pragma once

#include "gjk/batch.hpp"
#include "gjk/cast.hpp"
#include "gjk/hull.hpp"
#include "gjk/pairwise.hpp"
#include "gjk/path.hpp"
#include "gjk/prediction.hpp"
#include "gjk/query.hpp"
#include "gjk/scene.hpp"
#include "gjk/trace.hpp"
