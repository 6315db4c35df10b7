// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Gradients of signed distances to the nearest obstacles.
#include "gjk/scene/gradient.hpp"

#include "bindings.hpp"

namespace gjk::bindings {
namespace {

// Returns distances, lower bounds, gradients, rates, obstacles and smooth, k per pose, and
// statuses.
py::tuple gradient(const Scene& scene, const Shape& shape, const Doubles& poses,
                   const Doubles& times, std::size_t k, unsigned threads) {
  const std::size_t count = length(poses) / 3;
  const std::vector<Pose> placed = checked_poses(poses, count, "poses");
  const std::span<const double> at = checked_times(times, count, "times");
  std::vector<Gradient> all(count * k);
  std::vector<Status> statuses(count);
  without_gil([&] {
    gradients(
        scene, shape, placed, at, k,
        [&](std::size_t n, Status status, std::span<const Gradient> found) noexcept {
          statuses[n] = status;
          std::ranges::copy(found.first(k), &all[n * k]);
        },
        threads);
  });
  const auto by_pose = [](const Gradient& g) { return std::array{g.by_x, g.by_y, g.by_yaw}; };
  return py::make_tuple(column(all, &Gradient::distance), column(all, &Gradient::lower_bound),
                        table(all, by_pose), column(all, &Gradient::rate),
                        column(all, &Gradient::obstacle), column(all, &Gradient::smooth),
                        column(statuses));
}

}  // namespace

void bind_gradient(py::class_<Scene>& scene) {
  scene.def("gradient", &gradient, "shape"_a, "poses"_a, "times"_a, "k"_a, "threads"_a);
}

}  // namespace gjk::bindings
