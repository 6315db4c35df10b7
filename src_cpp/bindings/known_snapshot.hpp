// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// A snapshot that questions in Python are asked of: the server's own one, or that of a mirror.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "bindings.hpp"
#include "gjk/rules/snapshot.hpp"

namespace gjk::bindings {

struct KnownSnapshot {
  Snapshot view;
  std::function<std::int64_t(std::int64_t)> id_of;     // id of an obstacle; -1: none
  std::function<std::string(std::int64_t)> source_of;  // its sender; "": none
  py::object owner;                                    // of what the view points to

  // Bound of the distance of a vertex of the footprint from its origin (m); 0: not known.
  double reach() const;
};

}  // namespace gjk::bindings
