// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The costs of rollouts among the occupied cells of a costmap, without nav2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <gjk/shape/shape.hpp>
#include <gjk/shape/vec2.hpp>
#include <span>
#include <vector>

namespace nav2_critic {

struct Costmap {
  std::span<const std::uint8_t> cells;  // costs of nav2, row by row
  std::size_t columns = 0;
  double resolution = 0.0;  // m
  gjk::Vec2 origin;         // m, the corner of cell (0, 0)
};

// All poses of the first rollout, then those of the second one, and so on. The arrays have the same
// size.
struct Rollouts {
  std::span<const float> x, y, yaw;  // m, m, rad
  std::size_t steps = 0;             // poses of each rollout
};

// The parameters of the critic; README.md describes them.
struct CostRules {
  bool unknown_is_occupied = true;
  float cost_weight = 3.81F;
  float critical_cost = 300.0F;
  float collision_cost = 1e6F;
  unsigned cost_power = 1;
  unsigned near_collision_cost = 253;
  unsigned trajectory_point_step = 1;
  double cost_scaling_factor = 0.0;  // 1/m
  unsigned threads = 1;
  bool is_near_goal = false;  // no costs for poses that are not near a collision
};

struct RolloutCosts {
  std::vector<float> costs;  // one per rollout, weighted
  std::vector<bool> collides;
  bool all_collide = true;
};

// A rollout collides unless it is certain that each of its poses is free: the footprint touches no
// occupied cell and does not leave the costmap. The footprint is made by gjk::make_polygon()
// without a radius. `rules.trajectory_point_step` is at least 1.
RolloutCosts footprint_costs(const Costmap& costmap, const gjk::Shape& footprint,
                             const Rollouts& rollouts, const CostRules& rules);

}  // namespace nav2_critic
