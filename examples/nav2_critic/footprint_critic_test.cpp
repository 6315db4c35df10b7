// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The critic in nav2's CriticManager, beside CostCritic.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "nav2_core/controller_exceptions.hpp"
#include "nav2_costmap_2d/cost_values.hpp"
#include "nav2_mppi_controller/critic_manager.hpp"

namespace {

const std::string kOurs = "FootprintCritic", kStock = "CostCritic";

class Critic {
 public:
  // Loads it. The costmap has 5 m x 5 m and cells of 0.1 m; it is free.
  explicit Critic(
      const std::string& name,
      const std::string& footprint = "[[0.5, 0.3], [-0.5, 0.3], [-0.5, -0.3], [0.5, -0.3]]",
      bool consider_footprint = true) {
    costmap_->set_parameter(rclcpp::Parameter("footprint", footprint));
    costmap_->set_parameter(rclcpp::Parameter("footprint_padding", 0.0));
    costmap_->set_parameter(rclcpp::Parameter("plugins", std::vector<std::string>{}));
    costmap_->on_configure(rclcpp_lifecycle::State{});
    costmap_->getCostmap()->resizeMap(50, 50, 0.1, -2.5, -2.5);
    costmap_->getCostmap()->resetMap(0, 0, 50, 50);
    node_->declare_parameter("m.critics", std::vector<std::string>{name});
    node_->declare_parameter("m." + name + ".consider_footprint", consider_footprint);
    manager_.on_configure(node_, "m", costmap_, &parameters_);
  }

  void set(unsigned column, unsigned row, unsigned char cost) {
    costmap_->getCostmap()->setCost(column, row, cost);
  }

  // The cost of one rollout that stands at (0, 0), beside another at (-1.5, 0), which is free.
  float cost() {
    mppi::models::State state;
    mppi::models::Trajectories trajectories;
    trajectories.reset(2, 4);
    for (std::size_t s = 0; s < 4; ++s) trajectories.x(1, s) = -1.5F;
    const mppi::models::Path path;
    geometry_msgs::msg::Pose goal;
    goal.position.x = 10.0;
    xt::xtensor<float, 1> costs = xt::zeros<float>({2});
    float period = 0.1F;
    mppi::CriticData data{state, trajectories, path,    goal,         costs,       period,
                          false, nullptr,      nullptr, std::nullopt, std::nullopt};
    manager_.evalTrajectoriesScores(data);
    EXPECT_FALSE(data.fail_flag);
    EXPECT_EQ(costs(1), 0.0F);
    return costs(0);
  }

 private:
  std::shared_ptr<rclcpp_lifecycle::LifecycleNode> node_ =
      std::make_shared<rclcpp_lifecycle::LifecycleNode>("controller");
  std::shared_ptr<nav2_costmap_2d::Costmap2DROS> costmap_ =
      std::make_shared<nav2_costmap_2d::Costmap2DROS>("costmap", "", "costmap", true);
  mppi::ParametersHandler parameters_{node_};
  mppi::CriticManager manager_;
};

constexpr float kCollision = 1e6F * 3.81F / 254.0F / 4.0F;  // of 4 poses

TEST(FootprintCritic, FreeRolloutsCostNothing) { EXPECT_EQ(Critic(kOurs).cost(), 0.0F); }

TEST(FootprintCritic, ACellUnderAnEdgeCollidesWithoutInflation) {
  Critic ours(kOurs), stock(kStock);
  for (Critic* const each : {&ours, &stock}) each->set(29, 25, nav2_costmap_2d::LETHAL_OBSTACLE);
  EXPECT_FLOAT_EQ(ours.cost(), kCollision);
  EXPECT_EQ(stock.cost(), 0.0F);  // falsely free: the cost at the center is 0
}

TEST(FootprintCritic, ACellInsideOfTheFootprintCollides) {
  Critic ours(kOurs), stock(kStock);
  for (Critic* const each : {&ours, &stock}) {
    each->set(25, 25, 100);  // the cell of the center
    each->set(27, 25, nav2_costmap_2d::LETHAL_OBSTACLE);
  }
  EXPECT_FLOAT_EQ(ours.cost(), kCollision);
  EXPECT_LT(stock.cost(), 2.0F);  // falsely free: only the edges are looked up
}

TEST(FootprintCritic, SaysWhatItRefuses) {
  const auto refusal = [](const std::string& footprint, bool considers_footprint) -> std::string {
    try {
      const Critic critic(kOurs, footprint, considers_footprint);
    } catch (const nav2_core::ControllerException& refused) {
      return refused.what();
    }
    return "";
  };
  EXPECT_EQ(
      refusal("[]", true),
      "m.FootprintCritic: the costmap has a robot_radius. Set its parameter footprint, or use "
      "CostCritic");
  EXPECT_EQ(refusal("[[1, 1], [-1, -1], [1, -1], [-1, 1]]", true),
            "m.FootprintCritic: the footprint of the costmap[0]: the edge from this vertex crosses "
            "or overlaps the edge from vertex 2");
  EXPECT_EQ(refusal("[[1, 0], [0, 1], [-1, 0]]", false),
            "m.FootprintCritic.consider_footprint: must be true; CostCritic checks a circle");
}

}  // namespace

int main(int count, char** arguments) {
  testing::InitGoogleTest(&count, arguments);
  rclcpp::init(count, arguments);
  const int failed = RUN_ALL_TESTS();
  rclcpp::shutdown();
  return failed;
}
