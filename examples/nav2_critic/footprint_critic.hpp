// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gjk/shape/shape.hpp>
#include <vector>

#include "footprint_costs.hpp"
#include "geometry_msgs/msg/point.hpp"
#include "nav2_mppi_controller/critic_function.hpp"

namespace mppi::critics {

// Rejects rollouts in which the footprint touches an occupied cell of the costmap, and prefers
// those far from occupied cells. nav2 adds `mppi::critics::` to the names in the parameter
// `critics`.
class FootprintCritic : public CriticFunction {
 public:
  // Throws nav2_core::ControllerException if a parameter or the footprint cannot be used.
  void initialize() override;
  // The same if the footprint has changed. nav2 stops the robot then.
  void score(CriticData& data) override;

 private:
  void update_footprint();

  nav2_critic::CostRules rules_;
  float near_goal_distance_ = 0.5F;  // m
  std::vector<geometry_msgs::msg::Point> points_;
  gjk::Shape footprint_;  // with these vertices
};

}  // namespace mppi::critics
