// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Poses in lanes: batches whose poses are near each other and near contact. Each answer is compared
// with that of the pose alone and with the truth. The answers of the lanes are also compared with
// the truth before the present query sees the poses that they leave open.
#pragma once

#include <cmath>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "families.hpp"
#include "gjk/scene/pose_groups.hpp"
#include "scenes.hpp"

namespace gjk::verify {

namespace detail {

// A shape of one or several parts; a circle or a capsule if it has few points.
inline Body lane_body(Random& random, double radius) {
  Polygon points = plain(random);
  switch (random.below(7)) {
    case 0:
      points = polygon_of({{random.uniform(-1.0, 1.0), 0.1}});
      radius += 0.3;
      break;
    case 1:
      points = polygon_of({{-0.5, 0.0}, {random.uniform(0.0, 2.0), random.uniform(-0.2, 0.2)}});
      radius += 0.3;
      break;
    case 2:
      points = sliver(random);
      break;
    case 3:  // concave: several parts
      points =
          polygon_of({{-1.0, -0.5}, {1.0, -0.5}, {1.0, 0.0}, {0.2, 0.0}, {0.2, 0.7}, {-1.0, 0.7}});
      break;
    default:
      break;
  }
  return body_of(points, radius, random);
}

}  // namespace detail

struct LaneWorld {
  World world;
  std::vector<double> margins;  // m, of the obstacles; empty: none
};

inline LaneWorld draw_lane_world(Random& random) {
  LaneWorld drawn;
  World& world = drawn.world;
  world.margin = random.chance(0.5) ? 0.0 : a_margin(random);
  world.ego = detail::lane_body(random, a_radius(random));
  Vec2 origin;
  if (random.chance(0.4)) {
    origin = detail::power_of_ten(random, 1.0, 6.7) * random.direction();
  }
  for (int k = random.between(1, 6); k > 0; --k) {
    Body body = random.chance(0.15) ? body_of(detail::rectangle(500.0, 0.1), 0.0, random)
                                    : detail::lane_body(random, a_radius(random));
    const double away = random.chance(0.5) ? 2.0 : 8.0;
    body.pose = {origin.x + random.uniform(-away, away), origin.y + random.uniform(-away, away),
                 detail::yaw_of(Family::slivers, random)};
    world.obstacles.push_back(std::move(body));
  }
  if (random.chance(0.3)) {
    for (std::size_t i = 0; i < world.obstacles.size(); ++i) {
      drawn.margins.push_back(0.1 * random.below(3));
    }
  }
  Body ego = world.ego;
  ego.pose = {origin.x, origin.y, random.uniform(-3.2, 3.2)};
  const double step = detail::power_of_ten(random, -17.0, 0.0);
  for (int k = random.between(2, 24); k > 0; --k) {
    ego.pose.x += step * random.uniform(-1.0, 1.0);
    ego.pose.y += step * random.uniform(-1.0, 1.0);
    ego.pose.yaw += step * random.uniform(-1.0, 1.0);
    if (random.chance(0.6)) {
      const auto which =
          static_cast<std::size_t>(random.below(static_cast<int>(world.obstacles.size())));
      const double off = detail::power_of_ten(random, -16.0, -1.0);
      const double gap = random.chance(0.3) ? 0.0 : world.margin;
      detail::bring_to(ego, world.obstacles[which], gap + (random.chance(0.5) ? off : -off));
    }
    world.poses.push_back(ego.pose);
  }
  return drawn;
}

inline void check_lane_world(const LaneWorld& drawn, Report& report) {
  const World& world = drawn.world;
  Scene scene;
  for (const Body& obstacle : world.obstacles) scene.add(obstacle.shape, obstacle.pose);
  scene.set_margins(drawn.margins, {});
  scene.build();
  const Obstacles& obstacles = scene.obstacles();
  const std::vector<PlacedTruth> truths = truths_of(world, obstacles.origin());
  const auto fail = [&](const std::string& kind, std::size_t i) {
    Body ego = world.ego;
    ego.pose = world.poses[i];
    std::string text = literal(ego, "ego");
    for (const Body& obstacle : world.obstacles) text += literal(obstacle, "obstacle");
    report.fail(kind, "margin " + number(world.margin) + "\n" + text);
  };

  // the lanes alone
  const LaneShape shape(world.ego.shape);
  const Obstacles::View view = Obstacles::at_rest();
  const auto required = [&](std::size_t part) {
    return obstacles.required(static_cast<std::size_t>(obstacles.owner(part)), view, world.margin);
  };
  std::vector<std::size_t> numbers(world.poses.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  for (std::size_t next = 0; next < numbers.size();) {
    const PoseGroup group(shape, world.poses, std::span(numbers).subspan(next));
    next += static_cast<std::size_t>(group.size());
    const bool is_usable = shape.is_usable() && group.is_in_range(obstacles.origin());
    PoseGroup::Answers answers;
    if (is_usable) {
      Bvh::Hits hits;
      std::size_t found = 0;
      const FloatBox box = group.around(obstacles.origin(), obstacles.range(view, world.margin));
      const Exhausted search = obstacles.overlapping({&box, 1}, view, hits, found);
      answers = group.compare(
          search, std::span(hits).first(found), obstacles.origin(),
          [&](std::size_t part) { return obstacles.at_rest(part); }, required, false);
    }
    for (int k = 0; k < group.size(); ++k) {
      const std::size_t i = group.number(k);
      if (answers.free.at(k, world.margin).proves(world.margin)) {
        for (std::size_t j = 0; j < world.obstacles.size(); ++j) {
          const double margin = world.margin + (drawn.margins.empty() ? 0.0 : drawn.margins[j]);
          if (truths[i].compare(margin, 0.0, j) <= 0) fail("lanes: falsely FREE", i);
        }
      } else if ((answers.hit >> k & 1U) != 0) {
        const auto owner =
            static_cast<std::size_t>(obstacles.owner(answers.part[static_cast<std::size_t>(k)]));
        if (truths[i].compare(0.0, 0.0, owner) > 0) fail("lanes: COLLISION without contact", i);
      } else {
        ++report.unknown;  // left open
      }
    }
    if (group.size() == 0) ++report.unknown, ++next;
  }

  // batches
  for (const bool stop : {false, true}) {
    const CheckOptions options{.margin = world.margin, .stop_at_first = stop, .trajectory = 7};
    std::vector<PoseResult> together(world.poses.size());
    scene.check(world.ego.shape, world.poses, {}, options, together);
    Scene::Ego ego(world.ego.shape);
    bool is_stopped = false;
    for (std::size_t i = 0; i < world.poses.size(); ++i) {
      if (i % options.trajectory == 0) is_stopped = false;
      const PoseResult alone =
          stop && is_stopped ? PoseResult{} : scene.check(ego, world.poses[i], options);
      is_stopped |= !is_free(alone.verdict);
      if (!detail::same(together[i], alone)) fail("a batch answers otherwise", i);
      if (stop) continue;
      ++report.asked;
      if (!is_free(alone.verdict)) ++report.hits;
      if (is_free(together[i].verdict) && truths[i].compare(world.margin) <= 0) {
        fail("falsely FREE", i);
      }
    }
  }

  // distances
  const CheckOptions options{.margin = world.margin, .mode = Mode::distance};
  std::vector<PoseResult> together(world.poses.size());
  scene.check(world.ego.shape, world.poses, {}, options, together);
  Scene::Ego ego(world.ego.shape);
  for (std::size_t i = 0; i < world.poses.size(); ++i) {
    constexpr double kNear = 1e-8;  // m. Coordinates are up to 1e7 m
    const PoseResult alone = scene.check(ego, world.poses[i], options);
    const PoseResult& found = together[i];
    if (found.verdict != alone.verdict || found.status != alone.status) {
      fail("distances change the verdict", i);
    }
    if (std::isnan(found.distance) != std::isnan(alone.distance) ||
        std::fabs(found.distance - alone.distance) > kNear) {
      fail("another distance", i);
    }
    if (alone.lower_bound - found.lower_bound > kNear) fail("a smaller lower bound", i);
    if (std::isnan(found.distance)) continue;
    if (truths[i].compare(found.lower_bound) < 0) fail("lower bound above the truth", i);
    if (truths[i].compare(found.distance) > 0) fail("distance below the truth", i);
  }
}

}  // namespace gjk::verify
