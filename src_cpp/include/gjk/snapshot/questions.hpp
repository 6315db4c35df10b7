// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// All questions that a snapshot answers, with the rules of the collision server.
#pragma once

#include "gjk/snapshot/many_poses.hpp"
#include "gjk/snapshot/path.hpp"
#include "gjk/snapshot/single_pose.hpp"
