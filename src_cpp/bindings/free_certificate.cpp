// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The checker of certificates of FREE.
#include <pybind11/stl.h>

#include "bindings.hpp"
#include "proofs/checker/fixed_point.hpp"

namespace gjk::bindings {
namespace {

// Whether there is a row for each pair of parts, in ascending order.
bool are_all_pairs(const Array<std::int64_t>& pairs, const Shape& shape,
                   const std::vector<const Shape*>& obstacles) {
  const std::span<const std::int64_t> rows = view(pairs);
  std::size_t at = 0;
  for (int i = 0; i < shape.parts(); ++i) {
    for (std::size_t k = 0; k < obstacles.size(); ++k) {
      for (int j = 0; j < obstacles[k]->parts(); ++j, at += 3) {
        if (at + 3 > rows.size() || rows[at] != i || !std::cmp_equal(rows[at + 1], k) ||
            rows[at + 2] != j) {
          return false;
        }
      }
    }
  }
  return at == rows.size();
}

bool proves_free(const Shape& shape, const Doubles& pose,
                 const std::vector<const Shape*>& obstacles, const Doubles& poses,
                 const Doubles& required, const Array<std::int64_t>& pairs,
                 const Doubles& directions) {
  const std::size_t count = obstacles.size();
  if (length(pose) != 3 || length(poses) != 3 * count || length(required) != count ||
      !are_all_pairs(pairs, shape, obstacles) || 3 * length(directions) != 2 * length(pairs)) {
    return false;
  }
  return checker::proves_free(shape, pose.data(), obstacles, poses.data(), required.data(),
                              directions.data(), length(directions) / 2);
}

}  // namespace

void bind_free_certificate(py::module_& module) {
  module.def("proves_free", &proves_free, "shape"_a, "pose"_a, "obstacles"_a, "poses"_a,
             "required"_a, "pairs"_a, "directions"_a);
}

}  // namespace gjk::bindings
