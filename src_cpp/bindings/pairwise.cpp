// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Queries on pairs of obstacles of two scenes.
#include "gjk/scene/pairwise.hpp"

#include <pybind11/stl.h>

#include "answers.hpp"

namespace gjk::bindings {
namespace {

// Returns verdicts, statuses, distances, lower bounds, witnesses and directions of the pairs.
py::tuple check_pairs_of(const Scene& a, const Scene& b,
                         const std::optional<Array<std::int64_t>>& pairs, double margin, int mode,
                         unsigned threads) {
  std::vector<IndexPair> listed;
  if (pairs) {
    listed.resize(length(*pairs) / 2);
    for (std::size_t n = 0; n < 2 * listed.size(); ++n) {
      const std::int64_t index = pairs->data()[n];
      const std::size_t size = n % 2 == 0 ? a.size() : b.size();
      if (index < 0 || static_cast<std::size_t>(index) >= size) {
        refuse(Status::invalid_input, "pairs", static_cast<long>(n / 2),
               "must lie in [0, " + std::to_string(size) + ") (got " + std::to_string(index) + ")");
      }
      (n % 2 == 0 ? listed[n / 2].a : listed[n / 2].b) = static_cast<std::uint32_t>(index);
    }
  }
  const CheckOptions options{checked_radius(margin, "margin"), static_cast<Mode>(mode)};
  const std::size_t count = pairs ? listed.size() : a.size() * b.size();
  std::vector<PairResult> results(count);
  {
    const py::gil_scoped_release release;
    check_pairs(a, b, listed, options, results, threads);
  }
  const bool witnessed = options.mode == Mode::witness;
  const AnswerArrays arrays(count, {options.mode != Mode::collide, witnessed, witnessed});
  for (std::size_t i = 0; i < count; ++i) {
    const auto& [verdict, status, c] = results[i];
    arrays.put(i, {verdict, status, c.distance, c.lower_bound, c.point_a, c.point_b, c.direction});
  }
  return py::make_tuple(arrays.verdicts, arrays.statuses, arrays.distances, arrays.lower_bounds,
                        arrays.witnesses, arrays.directions);
}

}  // namespace

void bind_pairwise(py::module_& module) {
  module.def("check_pairs", &check_pairs_of, py::arg("a"), py::arg("b"), py::arg("pairs"),
             py::arg("margin"), py::arg("mode"), py::arg("threads"));
}

}  // namespace gjk::bindings
