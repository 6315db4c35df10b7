// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Rays among the obstacles of a scene.
#include "gjk/scene/ray_cast.hpp"

#include <pybind11/stl.h>

#include <array>

#include "bindings.hpp"

namespace gjk::bindings {
namespace {

// Returns distances, obstacles, verdicts and statuses.
py::tuple cast_rays(const Scene& scene, const std::array<double, 2>& origin,
                    const Doubles& directions, double max_distance, double tolerance,
                    unsigned threads) {
  refuse(check_coordinates(origin, "origin"));
  refuse(per_vertex(check_coordinates(view(directions), "directions")));
  checked_max_distance(max_distance);
  checked_tolerance(tolerance);
  const std::vector<Vec2> along = points(view(directions));
  for (std::size_t n = 0; n < along.size(); ++n) {
    if (along[n] == Vec2{}) {
      refuse({Status::invalid_input, "directions", static_cast<long>(n),
              "must have a length greater than 0"});
    }
  }
  std::vector<RayHit> hits(along.size());
  without_gil([&] {
    ray_cast(scene, {origin[0], origin[1]}, along, max_distance, tolerance, hits, threads);
  });
  return py::make_tuple(column(hits, &RayHit::distance), column(hits, &RayHit::obstacle),
                        column(hits, &RayHit::verdict), column(hits, &RayHit::status));
}

}  // namespace

void bind_ray_cast(py::class_<Scene>& scene) {
  scene.def("ray_cast", &cast_rays, "origin"_a, "directions"_a, "max_distance"_a, "tolerance"_a,
            "threads"_a);
}

}  // namespace gjk::bindings
