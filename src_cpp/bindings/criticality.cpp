// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// How critical trajectories of a vehicle are.
#include "gjk/scene/criticality.hpp"

#include "bindings.hpp"

namespace gjk::bindings {
namespace {

// The arguments are those of check_paths. The names of the arrays are those of CriticalityResult,
// and "obstacles".
py::dict criticality_of(const Scene& scene, const Shape& shape, const Doubles& poses,
                        const Doubles& times, std::size_t paths, double tolerance,
                        unsigned threads) {
  const Trajectories ways(poses, times, paths);
  checked_tolerance(tolerance);
  std::vector<Criticality> results(paths);
  without_gil(
      [&] { criticality(scene, shape, ways.poses, ways.times, tolerance, results, threads); });
  py::dict out;
  const auto put = [&](const char* name, auto field) { out[name] = column(results, field); };
  put("verdicts", &Criticality::verdict);
  put("statuses", &Criticality::status);
  put("contact_times", &Criticality::contact_time);
  put("obstacles", &Criticality::obstacle);
  put("relative_speeds", &Criticality::relative_speed);
  put("ego_edges", &Criticality::ego_edge);
  put("required_deceleration", &Criticality::required_deceleration);
  put("post_encroachment_time", &Criticality::post_encroachment_time);
  return out;
}

}  // namespace

void bind_criticality(py::class_<Scene>& scene) {
  scene.def("criticality", &criticality_of, "shape"_a, "poses"_a, "times"_a, "paths"_a,
            "tolerance"_a, "threads"_a);
}

}  // namespace gjk::bindings
