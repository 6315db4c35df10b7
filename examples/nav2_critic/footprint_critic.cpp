// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
#include "footprint_critic.hpp"

#include <gjk/shape/make.hpp>
#include <gjk/text.hpp>
#include <pluginlib/class_list_macros.hpp>
#include <string>

#include "nav2_core/controller_exceptions.hpp"
#include "nav2_mppi_controller/tools/utils.hpp"

namespace mppi::critics {

void FootprintCritic::initialize() {
  const auto refuse = [&](const std::string& parameter, const std::string& rule) {
    throw nav2_core::ControllerException(name_ + "." + parameter + ": " + rule);
  };
  const auto get = parameters_handler_->getParamGetter(name_);
  bool considers_footprint = true;
  get(considers_footprint, "consider_footprint", true, ParameterType::Static);
  if (!considers_footprint)
    refuse("consider_footprint", "must be true; CostCritic checks a circle");
  int step = 1, threads = 1;
  get(step, "trajectory_point_step", 1, ParameterType::Static);
  get(threads, "threads", 1, ParameterType::Static);
  if (step < 1) refuse("trajectory_point_step", "must be at least 1");
  if (threads < 1) refuse("threads", "must be at least 1");
  rules_.trajectory_point_step = static_cast<unsigned>(step);
  rules_.threads = static_cast<unsigned>(threads);
  get(rules_.unknown_is_occupied, "unknown_is_occupied", true);
  get(rules_.cost_weight, "cost_weight", 3.81);
  get(rules_.cost_power, "cost_power", 1);
  get(rules_.critical_cost, "critical_cost", 300.0);
  get(rules_.near_collision_cost, "near_collision_cost", 253);
  get(rules_.collision_cost, "collision_cost", 1000000.0);
  get(rules_.cost_scaling_factor, "cost_scaling_factor", 0.0);
  get(near_goal_distance_, "near_goal_distance", 0.5);
  update_footprint();
}

void FootprintCritic::update_footprint() {
  if (costmap_ros_->getUseRadius()) {
    throw nav2_core::ControllerException(
        name_ + ": the costmap has a robot_radius. Set its parameter footprint, or use CostCritic");
  }
  std::vector<geometry_msgs::msg::Point> points = costmap_ros_->getRobotFootprint();
  if (footprint_.parts() > 0 && points == points_) return;
  std::vector<gjk::Vec2> vertices;
  for (const geometry_msgs::msg::Point& point : points) vertices.push_back({point.x, point.y});
  gjk::Shape footprint;
  const gjk::Issue issue = gjk::make_polygon(
      vertices, footprint, 0.0, gjk::ConcavePolicy::decompose, {}, "the footprint of the costmap");
  if (issue) throw nav2_core::ControllerException(name_ + ": " + gjk::text_of(issue));
  points_ = std::move(points);
  footprint_ = std::move(footprint);
}

void FootprintCritic::score(CriticData& data) {
  if (!enabled_) return;
  update_footprint();
  const std::size_t columns = costmap_->getSizeInCellsX();
  const nav2_critic::Costmap costmap{
      {costmap_->getCharMap(), columns * costmap_->getSizeInCellsY()},
      columns,
      costmap_->getResolution(),
      {costmap_->getOriginX(), costmap_->getOriginY()}};
  const auto& [x, y, yaw] = data.trajectories;
  const nav2_critic::Rollouts rollouts{
      {x.data(), x.size()}, {y.data(), y.size()}, {yaw.data(), yaw.size()}, x.shape(1)};
  rules_.is_near_goal =
      utils::withinPositionGoalTolerance(near_goal_distance_, data.state.pose.pose, data.goal);
  const nav2_critic::RolloutCosts result =
      nav2_critic::footprint_costs(costmap, footprint_, rollouts, rules_);
  for (std::size_t k = 0; k < result.costs.size(); ++k) data.costs(k) += result.costs[k];
  data.fail_flag = result.all_collide;
}

}  // namespace mppi::critics

PLUGINLIB_EXPORT_CLASS(mppi::critics::FootprintCritic, mppi::critics::CriticFunction)
