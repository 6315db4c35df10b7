// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The queries of a scene that answers are made of, and the check of their results.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "gjk/certificate.hpp"
#include "gjk/scene/path.hpp"
#include "gjk/scene/scene.hpp"
#include "gjk/shape/shape.hpp"
#include "gjk/verdict.hpp"

namespace gjk::detail {

// The kernel as the rules use it. Tests replace it by one that makes errors.
class Kernel {
 public:
  explicit Kernel(const Scene* scene) noexcept : scene_(scene) {}

  // The outside of the region counts as an obstacle.
  std::size_t obstacles() const noexcept {
    return scene_->obstacles().size() + (scene_->region() != nullptr ? 1 : 0);
  }
  // Calls put(i, result) for each pose, possibly twice.
  template <class Put>
  void check(const Shape& shape, std::span<const Pose> poses, std::span<const double> times,
             const CheckOptions& options, const Put& put) const {
    const Shape* const only = &shape;
    scene_->check_each({&only, 1}, {}, poses, times, options, put);
  }
  Status nearest(const Shape& shape, const Pose& pose, std::size_t k, double max_distance,
                 std::vector<Nearest>& result) const {
    Scene::Ego ego(shape);
    return scene_->nearest(ego, pose, k, max_distance, result);
  }
  template <class GoOn>
  PathResult check_path(const Shape& shape, std::span<const Pose> poses,
                        std::span<const double> times, const PathOptions& options,
                        GoOn&& go_on) const {
    return gjk::check_path(*scene_, shape, poses, times, options, go_on);
  }

 private:
  const Scene* scene_;
};

// Each FREE result has a lower bound of at least the margin, because the kernel concludes FREE only
// from such a bound. A FREE result with a smaller bound is an error of the kernel: it becomes
// UNKNOWN with INTERNAL_ERROR. Returns whether the result is an error.
inline bool refute(Verdict& verdict, Status& status, bool has_bound, double bound,
                   double margin) noexcept {
  if (has_bound && is_free(verdict) && !(bound >= margin)) {
    verdict = Verdict::unknown;
    status = Status::internal_error;
  }
  return status == Status::internal_error;
}

// Results at poses, after refute(). Counts the errors.
template <class K>
std::vector<PoseResult> checked(const K& kernel, const Shape& shape, std::span<const Pose> poses,
                                std::span<const double> times, const CheckOptions& options,
                                std::size_t& violations) {
  std::vector<PoseResult> results(poses.size());
  kernel.check(shape, poses, times, options,
               [&](std::size_t i, const PoseResult& r) noexcept { results[i] = r; });
  const bool has_bounds = options.mode != Mode::collide;
  for (PoseResult& r : results) {
    violations += refute(r.verdict, r.status, has_bounds, r.lower_bound, options.margin) ? 1 : 0;
  }
  return results;
}

// A path that is checked also between its poses, after refute(). go_on: see gjk::check_path().
template <class K, class GoOn>
PathResult checked_path(const K& kernel, const Shape& shape, std::span<const Pose> poses,
                        std::span<const double> times, const PathOptions& options,
                        std::size_t& violations, GoOn&& go_on) {
  PathResult result = kernel.check_path(shape, poses, times, options, go_on);
  const bool was_free = is_free(result.verdict);
  violations +=
      refute(result.verdict, result.status, true, result.distance.lower, options.margin) ? 1 : 0;
  const bool is_lost = !is_free(result.verdict) && result.first_invalid_segment < 0;
  if (is_lost || (was_free && !is_free(result.verdict))) {
    result.first_invalid_segment = 0;
    result.last_valid_fraction = 0.0;
  }
  return result;
}

}  // namespace gjk::detail
