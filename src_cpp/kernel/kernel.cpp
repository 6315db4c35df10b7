// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The compiled library: all queries that the headers declare. In one file, because most of the time
// of compilation goes into what they share.
#include "gjk/gjk.hpp"
#include "gjk/scene/criticality.hpp"
#include "gjk/scene/time_to_collision.hpp"
