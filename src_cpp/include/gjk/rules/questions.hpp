// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// All questions that a snapshot answers, with the rules of the collision server.
#pragma once

#include "gjk/rules/nearest_free.hpp"
#include "gjk/rules/path.hpp"
#include "gjk/rules/poses.hpp"
#include "gjk/rules/shapes.hpp"
#include "gjk/rules/single_pose.hpp"
#include "gjk/rules/state.hpp"
