// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// A scene of a family of the generators, at rest or moving, with poses, margin and times moved by
// ulps: every query of it, against the truth.
#include <cstdio>
#include <cstdlib>

#include "bytes.hpp"
#include "motions.hpp"

namespace gjk::fuzz {
namespace {

double by_ulps(double v, Bytes& bytes) {
  return verify::detail::by_ulps(v, bytes.take<std::int8_t>() % 4);
}
Pose by_ulps(const Pose& pose, Bytes& bytes) {
  const double x = by_ulps(pose.x, bytes);
  const double y = by_ulps(pose.y, bytes);
  return {x, y, by_ulps(pose.yaw, bytes)};
}

void at_rest(verify::Family family, verify::Random& random, Bytes& bytes, verify::Report& report) {
  verify::World world = verify::draw_world(family, random);
  for (Pose& pose : world.poses) pose = by_ulps(pose, bytes);
  for (verify::Body& obstacle : world.obstacles) obstacle.pose = by_ulps(obstacle.pose, bytes);
  world.margin = std::fabs(by_ulps(world.margin, bytes));
  verify::check_world(world, report);
}

void moving(verify::Family family, verify::Random& random, Bytes& bytes, verify::Report& report) {
  verify::MovingWorld world = verify::draw_moving_world(family, random);
  world.ego.pose = by_ulps(world.ego.pose, bytes);
  world.time = by_ulps(world.time, bytes);
  world.margin = std::fabs(by_ulps(world.margin, bytes));
  for (verify::Mover& mover : world.movers) {
    mover.stamp = by_ulps(mover.stamp, bytes);
    mover.prediction.horizon = std::fabs(by_ulps(mover.prediction.horizon, bytes));
    for (Pose& pose : mover.poses) pose = by_ulps(pose, bytes);
  }
  verify::check_moving_world(world, random, report);
}

}  // namespace
}  // namespace gjk::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gjk;
  fuzz::Bytes bytes(data, size);
  const auto family =
      static_cast<verify::Family>(bytes.below(static_cast<int>(verify::kFamilyNames.size())));
  const bool moves = bytes.take<std::uint8_t>() % 2 == 1;
  verify::Random random(bytes.take<std::uint32_t>());
  verify::Report report;
  (moves ? fuzz::moving : fuzz::at_rest)(family, random, bytes, report);
  if (report.failures() == 0) return 0;
  for (const auto& [kind, failure] : report.kinds()) {
    std::fprintf(stderr, "%s: %s", kind.c_str(), failure.second.c_str());
  }
  std::abort();
}
