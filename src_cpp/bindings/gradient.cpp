// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Gradients of signed distances to the nearest obstacles.
#include "gjk/scene/gradient.hpp"

#include "answers.hpp"

namespace gjk::bindings {
namespace {

// Returns distances, lower bounds, gradients, rates, obstacles and smooth, k per pose, and
// statuses.
py::tuple gradient(const Scene& scene, const Shape& shape, const Doubles& poses,
                   const Doubles& times, std::size_t k, unsigned threads) {
  const std::size_t count = length(poses) / 3;
  const std::vector<Pose> placed = checked_poses(poses, count, "poses");
  const std::span<const double> at = checked_times(times, count, "times");
  const py::ssize_t rows = AnswerArrays::rows(count * k);
  py::array_t<double> distances(rows);
  py::array_t<double> lower_bounds(rows);
  py::array_t<double> derivatives({rows, py::ssize_t{3}});
  py::array_t<double> rates(rows);
  py::array_t<std::int64_t> obstacles(rows);
  py::array_t<bool> smooth(rows);
  py::array_t<std::uint16_t> statuses(AnswerArrays::rows(count));
  double* const distance = distances.mutable_data();
  double* const lower_bound = lower_bounds.mutable_data();
  double* const derivative = derivatives.mutable_data();
  double* const rate = rates.mutable_data();
  std::int64_t* const obstacle = obstacles.mutable_data();
  bool* const is_smooth = smooth.mutable_data();
  std::uint16_t* const of_pose = statuses.mutable_data();
  {
    const py::gil_scoped_release release;
    gradients(
        scene, shape, placed, at, k,
        [&](std::size_t n, Status status, std::span<const Gradient> found) noexcept {
          of_pose[n] = static_cast<std::uint16_t>(status);
          for (std::size_t j = 0; j < k; ++j) {
            const Gradient& g = found[j];
            const std::size_t i = n * k + j;
            distance[i] = g.distance;
            lower_bound[i] = g.lower_bound;
            derivative[3 * i] = g.by_x;
            derivative[3 * i + 1] = g.by_y;
            derivative[3 * i + 2] = g.by_yaw;
            rate[i] = g.rate;
            obstacle[i] = g.obstacle;
            is_smooth[i] = g.smooth;
          }
        },
        threads);
  }
  return py::make_tuple(distances, lower_bounds, derivatives, rates, obstacles, smooth, statuses);
}

}  // namespace

void bind_gradient(py::class_<Scene>& scene) {
  scene.def("gradient", &gradient, py::arg("shape"), py::arg("poses"), py::arg("times"),
            py::arg("k"), py::arg("threads"));
}

}  // namespace gjk::bindings
