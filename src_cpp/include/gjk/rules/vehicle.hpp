// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The footprint as it is checked at a pose whose place has an error.
#pragma once

#include <optional>

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
  // Whether it is in the domain of the kernel.
  Issue check() const { return grown_ ? check_radius(grown_->radius(), "margin") : Issue{}; }

 private:
  const Shape* footprint_;
  std::optional<Shape> grown_;
};

}  // namespace gjk::detail
