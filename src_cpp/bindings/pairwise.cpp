// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Queries on pairs of obstacles of two scenes.
#include "gjk/scene/pairwise.hpp"

#include <pybind11/stl.h>

#include "bindings.hpp"

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
  without_gil([&] { check_pairs(a, b, listed, options, results, threads); });
  using R = const PairResult&;
  const auto given = [](bool is_asked, auto&& array) {
    return is_asked ? py::object(array()) : py::none();
  };
  const bool measured = options.mode != Mode::collide;
  const bool witnessed = options.mode == Mode::witness;
  return py::make_tuple(
      column(results, &PairResult::verdict), column(results, &PairResult::status),
      given(measured, [&] { return column(results, [](R r) { return r.closest.distance; }); }),
      given(measured, [&] { return column(results, [](R r) { return r.closest.lower_bound; }); }),
      given(witnessed, [&] { return table(results, [](R r) { return witness_of(r.closest); }); }),
      given(witnessed, [&] { return table(results, [](R r) { return r.closest.direction; }); }));
}

}  // namespace

void bind_pairwise(py::module_& module) {
  module.def("check_pairs", &check_pairs_of, "a"_a, "b"_a, "pairs"_a, "margin"_a, "mode"_a,
             "threads"_a);
}

}  // namespace gjk::bindings
