// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Chooses one of several straight ways among the obstacles of a collision server: with the client,
// which asks the server, and with the mirror, which answers in this process. Prints one line of
// JSON. See docs/cpp.md.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

#include "gjk_collision/client.hpp"
#include "gjk_collision/mirror.hpp"

using namespace std::chrono_literals;

namespace {

constexpr int kWays = 16;
constexpr int kPoses = 15;  // per way

// Poses along a straight way from the origin, x y yaw each.
std::vector<double> way(double yaw, double length) {
  std::vector<double> poses;
  for (int i = 0; i < kPoses; ++i) {
    const double s = length * i / (kPoses - 1);
    poses.insert(poses.end(), {s * std::cos(yaw), s * std::sin(yaw), yaw});
  }
  return poses;
}

// Calls ask() often, and returns the median time of a call (us).
template <class Ask>
double median_us(int calls, const Ask& ask) {
  std::vector<double> times;
  for (int i = 0; i < calls; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    ask();
    times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() -
                                                              begin)
                        .count());
  }
  std::nth_element(times.begin(), times.begin() + calls / 2, times.end());
  return times[static_cast<std::size_t>(calls) / 2];
}

}  // namespace

int main(int argc, char** argv) {
  rclcpp::init(argc, argv);
  int result = 0;
  {
    rclcpp::Node node("planner");
    const std::string frame = node.declare_parameter("frame", "map");
    const std::string server = node.declare_parameter("server", "collision_server");
    const double length = node.declare_parameter("length", 10.0);  // m, of each way

    gjk_collision::ClientOptions options;
    options.server = server;
    options.timeout = 1s;
    gjk_collision::CollisionClient client(node, options);
    gjk_collision::CollisionMirror mirror(node, frame, server);
    if (!client.wait_for_server(10s) || !mirror.wait_until_complete(10s)) {
      const auto fault = mirror.fault();
      std::fprintf(stderr, "the server does not answer: %s\n",
                   fault ? fault->message.c_str() : "its services are missing");
      rclcpp::shutdown();
      return 2;
    }

    int free = 0, compared = 0, different = 0;
    gjk_collision::srv::CheckPoses::Request request;
    request.header.frame_id = frame;
    for (int k = 0; k < kWays; ++k) {
      request.poses = way(2.0 * std::numbers::pi * k / kWays, length);
      const auto asked = client.check_poses(request);
      const auto mirrored = mirror.check_poses(request.poses);
      // Whatever is not FREE, for whatever reason, is not driven.
      free += mirrored.is_free ? 1 : 0;
      // The same snapshot gives the same answers.
      if (asked.response.info.snapshot_id != mirrored.response.info.snapshot_id) continue;
      ++compared;
      if (asked.response.verdicts != mirrored.response.verdicts ||
          asked.response.statuses != mirrored.response.statuses ||
          asked.response.nearest_ids != mirrored.response.nearest_ids) {
        ++different;
        std::fprintf(stderr, "way %d: the client says '%s', the mirror '%s'\n", k,
                     asked.response.verdict.message.c_str(),
                     mirrored.response.verdict.message.c_str());
      }
    }
    const double client_us = median_us(300, [&] { client.check_poses(request); });
    const double mirror_us = median_us(3000, [&] { mirror.check_poses(request.poses); });
    std::printf("{\"ways\": %d, \"free\": %d, \"compared\": %d, \"different\": %d, "
                "\"client_us\": %.1f, \"mirror_us\": %.1f}\n",
                kWays, free, compared, different, client_us, mirror_us);
    result = different == 0 ? 0 : 1;
  }
  rclcpp::shutdown();
  return result;
}
