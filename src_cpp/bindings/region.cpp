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
  std::shared_ptr<Region> region;
  refuse(make_region(view(segments), view(radii), inflation, region));
  return region;
}

// Whether each point is inside, and not on the boundary.
py::array_t<bool> contains(const Region& region, const Doubles& points_given) {
  refuse(per_vertex(check_coordinates(view(points_given), "points")));
  const std::vector<Vec2> all = points(view(points_given));
  py::array_t<bool> inside(static_cast<py::ssize_t>(all.size()));
  bool* const is_inside = inside.mutable_data();
  without_gil([&] {
    for (std::size_t i = 0; i < all.size(); ++i) is_inside[i] = region.contains(all[i]);
  });
  return inside;
}

}  // namespace

void bind_region(const py::module_& module) {
  py::class_<Region, std::shared_ptr<Region>>(module, "Region", "Boundary of a region.")
      .def(py::init(&region_of), "segments"_a, "radii"_a, "inflation"_a = 0.0)
      .def("contains", &contains, "points"_a);
}

}  // namespace gjk::bindings
