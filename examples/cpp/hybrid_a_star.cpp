// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Parks a car by hybrid A* (Dolgov et al., 2010): a search over arcs that the car can drive, where
// each arc is checked along its whole length. The last piece to the goal is a curve of Reeds and
// Shepp.
#include <cmath>
#include <cstdio>
#include <gjk/gjk.hpp>
#include <map>
#include <numbers>
#include <queue>
#include <span>
#include <tuple>
#include <vector>

namespace {

constexpr double kRadius = 5.0;    // m, of the tightest turn
constexpr double kStep = 1.2;      // m, length of an arc
constexpr double kCell = 0.5;      // m
constexpr double kHeading = 0.15;  // rad
constexpr double kMargin = 0.1;    // m, to the obstacles

struct Node {
  gjk::Pose pose;
  gjk::Arc arc;  // driven to get here
  int parent = -1;
  double cost = 0.0;  // m, from the start
};

using Cell = std::tuple<long, long, long>;
Cell cell_of(const gjk::Pose& p) {
  const double yaw = std::remainder(p.yaw, 2.0 * std::numbers::pi);
  return {std::lround(p.x / kCell), std::lround(p.y / kCell), std::lround(yaw / kHeading)};
}

// The pose at the end of an arc.
gjk::Pose end_of(const gjk::Pose& p, const gjk::Arc& arc) {
  const double turn = arc.curvature * arc.length;
  const double half = p.yaw + 0.5 * turn;
  const double chord = turn == 0.0 ? arc.length : std::sin(0.5 * turn) / (0.5 * arc.curvature);
  return {p.x + chord * std::cos(half), p.y + chord * std::sin(half), p.yaw + turn};
}

struct Plan {
  std::vector<gjk::Arc> arcs;  // from the start to the goal; empty: none was found
  std::size_t checked = 0;     // arcs and curves that were checked
};

Plan plan(const gjk::Scene& scene, const gjk::Shape& car, const gjk::Pose& start,
          const gjk::Pose& goal) {
  const gjk::PathOptions options{.margin = kMargin, .tolerance = 0.01, .has_distance = false};
  Plan result;
  const auto is_clear = [&](const gjk::Pose& from, std::span<const gjk::Arc> arcs) {
    ++result.checked;
    return gjk::is_free(gjk::check_path(scene, car, {from, arcs}, {}, options).verdict);
  };
  std::vector<Node> nodes{{start, {}, -1, 0.0}};
  std::map<Cell, double> best{{cell_of(start), 0.0}};
  using Entry = std::pair<double, int>;  // estimated cost of the whole way, node
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  open.emplace(gjk::reeds_shepp(start, goal, kRadius).length(), 0);
  while (!open.empty() && nodes.size() < 50'000) {
    const int current = open.top().second;
    open.pop();
    const Node node = nodes[static_cast<std::size_t>(current)];
    if (node.cost > best[cell_of(node.pose)]) continue;  // a shorter way was found
    const gjk::Curve last = gjk::reeds_shepp(node.pose, goal, kRadius);
    if (is_clear(node.pose, last.view())) {
      result.arcs.assign(last.view().begin(), last.view().end());
      for (int k = current; nodes[static_cast<std::size_t>(k)].parent >= 0;) {
        result.arcs.insert(result.arcs.begin(), nodes[static_cast<std::size_t>(k)].arc);
        k = nodes[static_cast<std::size_t>(k)].parent;
      }
      return result;
    }
    for (const double curvature : {0.0, 1.0 / kRadius, -1.0 / kRadius}) {
      for (const double length : {kStep, -kStep}) {
        const gjk::Arc arc{curvature, length};
        const gjk::Pose next = end_of(node.pose, arc);
        const double cost = node.cost + kStep * (length < 0.0 ? 1.5 : 1.0);
        const auto [seen, is_new] = best.try_emplace(cell_of(next), INFINITY);
        if (cost >= seen->second || !is_clear(node.pose, {&arc, 1})) continue;
        seen->second = cost;
        open.emplace(cost + gjk::reeds_shepp(next, goal, kRadius).length(),
                     static_cast<int>(nodes.size()));
        nodes.push_back({next, arc, current, cost});
      }
    }
  }
  return result;
}

}  // namespace

int main() {
  gjk::Shape car, parked, wall;
  gjk::make_box(4.4, 1.8, car, {1.3, 0.0});  // its origin is the rear axle
  gjk::make_box(4.4, 1.8, parked);
  gjk::make_box(30.0, 0.4, wall);
  gjk::Scene scene;
  scene.add(parked, {-6.1, 0.0, 0.0});
  scene.add(parked, {5.3, 0.0, 0.0});
  scene.add(wall, {0.0, -1.6, 0.0});
  scene.add(wall, {0.0, 6.5, 0.0});
  scene.build();

  const gjk::Pose start{-8.0, 3.0, 0.0}, goal{-1.7, 0.0, 0.0};
  const Plan found = plan(scene, car, start, goal);
  if (found.arcs.empty()) {
    std::puts("no path was found");
    return 1;
  }
  const gjk::PathResult result =
      gjk::check_path(scene, car, {start, found.arcs}, {}, {.margin = 0.0});
  std::printf("%zu arcs, %.1f m, %zu checks; whole path: %s, at least %.2f m from the obstacles\n",
              found.arcs.size(), gjk::ArcPath{start, found.arcs}.length(), found.checked,
              gjk::to_string(result.verdict).c_str(), result.distance.lower);
  return gjk::is_free(result.verdict) ? 0 : 1;
}
