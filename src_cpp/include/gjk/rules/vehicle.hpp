// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The footprint as it is checked at a pose whose place has an error.
#pragma once

#include <optional>
#include <span>

#include "gjk/shape/domain.hpp"
#include "gjk/shape/pose.hpp"
#include "gjk/shape/shape.hpp"

namespace gjk::detail {

// The footprint, grown by the error of its place: a grown footprint at a pose contains the
// footprint at the exact pose.
class Vehicle {
 public:
  Vehicle(const Shape& footprint, double error) : footprint_(&footprint) {
    if (error > 0.0) grown_.emplace(footprint.inflated(error));
  }
  const Shape& shape() const noexcept { return grown_ ? *grown_ : *footprint_; }
  // Why it cannot be checked at poses of a message, at times on the scene's clock (s), with a
  // margin (m).
  Issue check(std::span<const Pose> poses, std::span<const double> times, double margin) const {
    return first_of({check(), check_poses_in_domain(poses, "poses", 3),
                     check_times_in_domain(times), check_radius(margin, "margin")});
  }
  Issue check() const { return grown_ ? check_radius(grown_->radius(), "margin") : Issue{}; }

 private:
  const Shape* footprint_;
  std::optional<Shape> grown_;
};

}  // namespace gjk::detail
