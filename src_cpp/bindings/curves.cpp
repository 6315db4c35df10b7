// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Shortest curves of a car.
#include "bindings.hpp"
#include "gjk/motion/dubins.hpp"
#include "gjk/motion/reeds_shepp.hpp"

namespace gjk::bindings {
namespace {

// Returns the number of arcs of each curve, shape (n,), and curvature (1/m) and signed length (m)
// of each arc, shape (n, 5, 2).
template <class Shortest>
py::tuple curves(const Doubles& a, const Doubles& b, double radius, Shortest shortest) {
  const std::size_t n = length(a) / 3;
  const std::vector<Pose> from = checked_poses(a, n, "a");
  const std::vector<Pose> to = checked_poses(b, n, "b");
  if (!(radius > 0.0 && radius <= kMaxCoordinate)) {
    refuse(Status::invalid_input, "radius", -1,
           "must be greater than 0 and at most 1e15 m" + got(radius));
  }
  py::array_t<std::uint32_t> counts(static_cast<py::ssize_t>(n));
  py::array_t<double> arcs({static_cast<py::ssize_t>(n), py::ssize_t{5}, py::ssize_t{2}});
  std::uint32_t* count = counts.mutable_data();
  double* values = arcs.mutable_data();
  {
    const py::gil_scoped_release release;
    for (std::size_t i = 0; i < n; ++i) {
      const Curve curve = shortest(from[i], to[i], radius);
      count[i] = static_cast<std::uint32_t>(curve.count);
      for (const Arc& arc : curve.arcs) {
        *values++ = arc.curvature;
        *values++ = arc.length;
      }
    }
  }
  return py::make_tuple(counts, arcs);
}

}  // namespace

void bind_curves(py::module_& module) {
  module.def(
      "dubins",
      [](const Doubles& a, const Doubles& b, double radius) {
        return curves(a, b, radius, &dubins);
      },
      py::arg("a"), py::arg("b"), py::arg("radius"));
  module.def(
      "reeds_shepp",
      [](const Doubles& a, const Doubles& b, double radius) {
        return curves(a, b, radius, &reeds_shepp);
      },
      py::arg("a"), py::arg("b"), py::arg("radius"));
}

}  // namespace gjk::bindings
