// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Answers the cases of test_nav2_critic.py, which are words of stdin.
#include <gjk/shape/make.hpp>
#include <iostream>
#include <string>
#include <vector>

#include "footprint_costs.hpp"

namespace {

bool read(double& value) {
  std::string word;
  if (!(std::cin >> word)) return false;
  value = std::stod(word);  // also nan
  return true;
}

double next() {
  double value = 0.0;
  read(value);
  return value;
}

std::vector<double> next_many() {
  std::vector<double> values(static_cast<std::size_t>(next()));
  for (double& each : values) each = next();
  return values;
}

}  // namespace

int main() {
  nav2_critic::Costmap costmap;
  for (double columns = 0.0; read(columns);) {
    costmap.columns = static_cast<std::size_t>(columns);
    costmap.resolution = next();
    costmap.origin.x = next();
    costmap.origin.y = next();
    const std::vector<double> costs = next_many();
    const std::vector<std::uint8_t> cells(costs.begin(), costs.end());
    costmap.cells = cells;
    const std::vector<double> xy = next_many();
    std::vector<gjk::Vec2> vertices;
    for (std::size_t k = 0; k < xy.size(); k += 2) vertices.push_back({xy[k], xy[k + 1]});
    gjk::Shape footprint;
    gjk::make_polygon(vertices, footprint);
    nav2_critic::Rollouts rollouts;
    rollouts.steps = static_cast<std::size_t>(next());
    std::vector<float> poses[3];
    for (std::vector<float>& each : poses) {
      const std::vector<double> values = next_many();
      each.assign(values.begin(), values.end());
    }
    rollouts.x = poses[0];
    rollouts.y = poses[1];
    rollouts.yaw = poses[2];
    nav2_critic::CostRules rules;
    rules.unknown_is_occupied = next() != 0.0;
    rules.is_near_goal = next() != 0.0;
    rules.trajectory_point_step = static_cast<unsigned>(next());
    rules.cost_scaling_factor = next();
    rules.near_collision_cost = static_cast<unsigned>(next());
    rules.cost_power = static_cast<unsigned>(next());
    rules.threads = static_cast<unsigned>(next());
    const nav2_critic::RolloutCosts result =
        nav2_critic::footprint_costs(costmap, footprint, rollouts, rules);
    std::cout << result.all_collide;
    for (std::size_t k = 0; k < result.costs.size(); ++k) {
      std::cout << ' ' << result.collides[k] << ' ' << result.costs[k];
    }
    std::cout << '\n';
  }
}
