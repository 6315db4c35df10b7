// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Includes the whole kernel: queries about two shapes, batches, moving shapes, curves, scenes.
#pragma once

#include "gjk/motion/cast.hpp"
#include "gjk/motion/dubins.hpp"
#include "gjk/motion/prediction.hpp"
#include "gjk/motion/reeds_shepp.hpp"
#include "gjk/narrow/batch.hpp"
#include "gjk/query.hpp"
#include "gjk/scene/explain.hpp"
#include "gjk/scene/gradient.hpp"
#include "gjk/scene/nearest_free.hpp"
#include "gjk/scene/pairwise.hpp"
#include "gjk/scene/path.hpp"
#include "gjk/scene/ray_cast.hpp"
#include "gjk/scene/scene.hpp"
#include "gjk/shape/area.hpp"
#include "gjk/shape/grid.hpp"
#include "gjk/shape/hull.hpp"
#include "gjk/shape/make.hpp"
#include "gjk/shapes.hpp"
#include "gjk/text.hpp"

#ifdef GJK_KERNEL
#include "gjk/narrow/trace.hpp"  // for teaching; takes long to compile
#endif
