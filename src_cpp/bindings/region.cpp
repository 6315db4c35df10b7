// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Regions in which a vehicle must stay.
#include "gjk/scene/region.hpp"

#include <memory>

#include "bindings.hpp"

namespace gjk::bindings {
namespace {

// `segments` holds x, y of both ends of each piece of the boundary, which Python has computed.
std::shared_ptr<Region> region_of(const Doubles& segments, const Doubles& radii, double inflation) {
  const std::size_t count = length(radii);
  if (count == 0 || length(segments) != 4 * count) {
    refuse(Status::array_mismatch, "segments, radii", -1, "must hold the same number of segments");
  }
  refuse(check_coordinates(view(segments), "segments"));
  checked_radius(inflation, "inflation");
  std::vector<Region::Segment> pieces(count);
  for (std::size_t k = 0; k < count; ++k) {
    const double* const ends = segments.data() + 4 * k;
    pieces[k] = {{ends[0], ends[1]},
                 {ends[2], ends[3]},
                 checked_radius(radii.data()[k], "radii", static_cast<long>(k))};
    if (pieces[k].radius < inflation) {
      refuse(Status::invalid_input, "radii", static_cast<long>(k), "must include the inflation");
    }
  }
  return std::make_shared<Region>(pieces, inflation);
}

// Whether each point is inside, and not on the boundary.
py::array_t<bool> contains(const Region& region, const Doubles& points_given) {
  refuse(per_vertex(check_coordinates(view(points_given), "points")));
  const std::vector<Vec2> all = points(view(points_given));
  py::array_t<bool> inside(static_cast<py::ssize_t>(all.size()));
  bool* const is_inside = inside.mutable_data();
  {
    const py::gil_scoped_release release;
    for (std::size_t i = 0; i < all.size(); ++i) is_inside[i] = region.contains(all[i]);
  }
  return inside;
}

}  // namespace

void bind_region(const py::module_& module) {
  py::class_<Region, std::shared_ptr<Region>>(module, "Region", "Boundary of a region.")
      .def(py::init(&region_of), py::arg("segments"), py::arg("radii"), py::arg("inflation") = 0.0)
      .def("contains", &contains, py::arg("points"));
}

}  // namespace gjk::bindings
