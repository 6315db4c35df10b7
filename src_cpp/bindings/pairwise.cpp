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
    listed.resize(check_index_pairs(*pairs, a.size(), b.size()));
    for (std::size_t n = 0; n < listed.size(); ++n) {
      const std::int64_t* const pair = pairs->data() + 2 * n;
      listed[n] = {static_cast<std::uint32_t>(pair[0]), static_cast<std::uint32_t>(pair[1])};
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
