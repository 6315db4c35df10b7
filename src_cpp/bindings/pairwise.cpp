// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Two scenes' obstacles, pair by pair.
#include "gjk/pairwise.hpp"

#include <pybind11/stl.h>

#include "bindings.hpp"

namespace gjk::bindings {
namespace {

py::dict check_pairs_of(const Scene& a, const Scene& b,
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
  const CheckOptions options{checked_margin(margin), static_cast<Mode>(mode), false};
  const std::size_t count = pairs ? listed.size() : a.size() * b.size();
  std::vector<PairResult> results(count);
  {
    const py::gil_scoped_release release;
    check_pairs(a, b, listed, options, results, threads);
  }
  const auto n = static_cast<py::ssize_t>(count);
  const py::ssize_t measured = options.mode == Mode::collide ? 0 : n;
  const py::ssize_t witnessed = options.mode == Mode::witness ? n : 0;
  py::array_t<std::uint8_t> verdicts(n);
  py::array_t<std::uint16_t> statuses(n);
  py::array_t<double> distances(measured);
  py::array_t<double> lower_bounds(measured);
  py::array_t<double> witnesses({witnessed, py::ssize_t{4}});
  py::array_t<double> directions({witnessed, py::ssize_t{2}});
  for (std::size_t i = 0; i < count; ++i) {
    const Closest& c = results[i].closest;
    verdicts.mutable_data()[i] = static_cast<std::uint8_t>(results[i].verdict);
    statuses.mutable_data()[i] = static_cast<std::uint16_t>(results[i].status);
    if (measured != 0) {
      distances.mutable_data()[i] = c.distance;
      lower_bounds.mutable_data()[i] = c.lower_bound;
    }
    if (witnessed != 0) {
      double* const witness = witnesses.mutable_data() + 4 * i;
      witness[0] = c.point_a.x;
      witness[1] = c.point_a.y;
      witness[2] = c.point_b.x;
      witness[3] = c.point_b.y;
      directions.mutable_data()[2 * i] = c.direction.x;
      directions.mutable_data()[2 * i + 1] = c.direction.y;
    }
  }
  py::dict out;
  out["verdicts"] = verdicts;
  out["statuses"] = statuses;
  out["distances"] = distances;
  out["lower_bounds"] = lower_bounds;
  out["witnesses"] = witnesses;
  out["directions"] = directions;
  return out;
}

}  // namespace

void bind_pairwise(py::module_& module) {
  module.def("check_pairs", &check_pairs_of, py::arg("a"), py::arg("b"), py::arg("pairs"),
             py::arg("margin"), py::arg("mode"), py::arg("threads"));
}

}  // namespace gjk::bindings
