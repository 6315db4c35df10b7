// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// A snapshot that questions in Python are asked of: the server's own one, or that of a mirror.
#pragma once

#include <memory>

#include "bindings.hpp"
#include "gjk/rules/snapshot.hpp"

namespace gjk::bindings {

struct KnownSnapshot {
  Snapshot view;
  std::shared_ptr<const void> data;  // of what the view points to, in C++ and in Python
  py::object owner;

  // Bound of the distance of a vertex of the footprint from its origin (m); 0: not known.
  double reach() const;
};

}  // namespace gjk::bindings
