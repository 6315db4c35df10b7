// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// How critical trajectories of a vehicle are.
#include "gjk/scene/criticality.hpp"

#include "answers.hpp"

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
  {
    const py::gil_scoped_release release;
    criticality(scene, shape, ways.poses, ways.times, tolerance, results, threads);
  }
  const AnswerArrays arrays(paths, {.distances = false});
  py::dict out;
  const auto put = [&](const char* name, auto field) {
    using Value = std::remove_cvref_t<decltype(results.front().*field)>;
    py::array_t<Value> values(AnswerArrays::rows(paths));
    for (std::size_t k = 0; k < paths; ++k) values.mutable_data()[k] = results[k].*field;
    out[name] = values;
  };
  put("contact_times", &Criticality::contact_time);
  put("obstacles", &Criticality::obstacle);
  put("relative_speeds", &Criticality::relative_speed);
  put("ego_edges", &Criticality::ego_edge);
  put("required_deceleration", &Criticality::required_deceleration);
  put("post_encroachment_time", &Criticality::post_encroachment_time);
  for (std::size_t k = 0; k < paths; ++k) {
    arrays.put(k, {results[k].verdict, results[k].status, {}, {}, {}, {}, {}});
  }
  out["verdicts"] = arrays.verdicts;
  out["statuses"] = arrays.statuses;
  return out;
}

}  // namespace

void bind_criticality(py::class_<Scene>& scene) {
  scene.def("criticality", &criticality_of, py::arg("shape"), py::arg("poses"), py::arg("times"),
            py::arg("paths"), py::arg("tolerance"), py::arg("threads"));
}

}  // namespace gjk::bindings
