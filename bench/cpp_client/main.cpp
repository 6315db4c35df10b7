// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Times of the same questions to a running collision server with the client, to its mirror, and to
// the scene of the mirror. Prints one JSON object, with times in microseconds. All answers are
// compared. The exit code is 1 if any differ or are missing, and 2 if the server does not answer.
//
// cpp_client --ros-args -p server:=collision_server -p frame:=odom -p calls:=3000
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <numbers>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gjk_collision/client.hpp"
#include "gjk_collision/mirror.hpp"

using namespace std::chrono_literals;

namespace {

using gjk_collision::CollisionClient;
using gjk_collision::CollisionMirror;
using gjk_collision::msg::Verdict;
namespace srv = gjk_collision::srv;

constexpr std::size_t kFew = 15, kMany = 1000, kWay = 20;  // poses of a question
constexpr std::size_t kWarmUp = 50;                        // calls whose times are not used
constexpr double kReach = 60.0;                            // m, of the random poses

// What must not depend on who answers: the verdicts, and the segment of a path.
using Result = std::vector<std::int64_t>;

Result result_of(const srv::Collide::Response& response) { return {response.verdict.verdict}; }
Result result_of(const srv::CheckPoses::Response& response) {
  return {response.verdicts.begin(), response.verdicts.end()};
}
Result result_of(const srv::CheckPath::Response& response) {
  return {response.verdict.verdict, response.first_invalid_segment};
}
Result result_of(const std::vector<gjk::PoseResult>& found) {
  Result result;
  for (const gjk::PoseResult& each : found) result.push_back(static_cast<int>(each.verdict));
  return result;
}
Result result_of(const gjk::PathResult& found) {
  return {static_cast<int>(found.verdict), found.first_invalid_segment};
}

template <class Reply>
bool is_known(const Reply& reply) {
  const Verdict& verdict = reply.response.verdict;
  return verdict.status == Verdict::SUCCESS && verdict.verdict != Verdict::UNKNOWN;
}

// x (m), y (m), yaw (rad) of one pose after the other, uniformly distributed.
std::vector<double> random_poses(std::size_t count) {
  std::mt19937_64 engine(7);
  std::uniform_real_distribution<double> place(-kReach, kReach);
  std::uniform_real_distribution<double> yaw(-std::numbers::pi, std::numbers::pi);
  std::vector<double> poses;
  for (std::size_t i = 0; i < count; ++i) {
    const double x = place(engine), y = place(engine);
    poses.insert(poses.end(), {x, y, yaw(engine)});
  }
  return poses;
}

// A straight path beside the obstacles, as in node.py. It is free, so that all segments are
// checked.
std::vector<double> way() {
  std::vector<double> poses;
  for (std::size_t i = 0; i < kWay; ++i) {
    poses.insert(poses.end(), {-61.0 + 122.0 * static_cast<double>(i) / (kWay - 1), 64.0, 0.0});
  }
  return poses;
}

std::vector<gjk::Pose> converted(std::span<const double> flat) {
  std::vector<gjk::Pose> poses;
  for (std::size_t i = 0; i + 2 < flat.size(); i += 3) {
    poses.push_back({flat[i], flat[i + 1], flat[i + 2]});
  }
  return poses;
}

class Times {
 public:
  // Calls ask(), keeps the time that it took, and returns its result.
  template <class Ask>
  auto measure(const Ask& ask) {
    const auto begin = std::chrono::steady_clock::now();
    auto result = ask();
    const std::chrono::duration<double, std::micro> passed =
        std::chrono::steady_clock::now() - begin;
    taken_.push_back(passed.count());
    return result;
  }
  void clear() { taken_.clear(); }

  std::string json() {
    std::sort(taken_.begin(), taken_.end());
    char text[96];
    std::snprintf(text, sizeof text, "{\"median\": %.2f, \"p99\": %.2f, \"p99.9\": %.2f}", at(0.5),
                  at(0.99), at(0.999));
    return text;
  }

 private:
  // The smallest time that is not exceeded by this share of all.
  double at(double share) const {
    if (taken_.empty()) return 0.0;
    const double rank = std::ceil(share * static_cast<double>(taken_.size()));
    return taken_[static_cast<std::size_t>(rank) - 1];
  }

  std::vector<double> taken_;
};

// One kind of question. Call i has its own poses. `request` prepares what `client` sends; `scene`
// is given the data of the mirror.
template <class Request, class Client, class Mirror, class Scene>
struct Question {
  std::string name;
  Request request;
  Client client;
  Mirror mirror;
  Scene scene;
};

class Bench {
 public:
  Bench(CollisionClient& client, CollisionMirror& mirror, std::string frame, std::size_t calls)
      : client_(client), mirror_(mirror), frame_(std::move(frame)), calls_(calls) {}

  // Returns whether all answers were the same.
  bool measure();

 private:
  auto one_pose() {
    return Question{
        "1 pose",
        [this](std::size_t i) {
          const gjk::Pose& at = poses_[i % kMany];
          srv::Collide::Request request;
          request.pose.header.frame_id = frame_;
          request.pose.pose.position.x = at.x;
          request.pose.pose.position.y = at.y;
          request.pose.pose.orientation.z = std::sin(0.5 * at.yaw);
          request.pose.pose.orientation.w = std::cos(0.5 * at.yaw);
          return request;
        },
        [this](const auto& request) { return client_.collide(request); },
        [this](std::size_t i) { return mirror_.collide(poses_[i % kMany]); },
        [this](const gjk::Snapshot& view, std::size_t i) { return alone(view, i % kMany, 1); }};
  }

  auto poses(std::size_t count) {
    const auto begin_of = [count](std::size_t i) { return i % (kMany / count) * count; };
    const auto flat_of = [this, count, begin_of](std::size_t i) {
      return std::span(flat_).subspan(3 * begin_of(i), 3 * count);
    };
    return Question{std::to_string(count) + " poses",
                    [this, flat_of](std::size_t i) {
                      srv::CheckPoses::Request request;
                      request.header.frame_id = frame_;
                      request.poses.assign(flat_of(i).begin(), flat_of(i).end());
                      return request;
                    },
                    [this](const auto& request) { return client_.check_poses(request); },
                    [this, flat_of](std::size_t i) { return mirror_.check_poses(flat_of(i)); },
                    [this, count, begin_of](const gjk::Snapshot& view, std::size_t i) {
                      return alone(view, begin_of(i), count);
                    }};
  }

  auto path() {
    return Question{"path of " + std::to_string(kWay) + " poses, swept",
                    [this](std::size_t) {
                      srv::CheckPath::Request request;
                      request.header.frame_id = frame_;
                      request.poses = way_;
                      request.interpolation = srv::CheckPath::Request::SWEPT;
                      return request;
                    },
                    [this](const auto& request) { return client_.check_path(request); },
                    [this](std::size_t) { return mirror_.check_path(way_); },
                    [this](const gjk::Snapshot& view, std::size_t) {
                      return gjk::check_path(
                          *view.scene, *view.footprint, way_poses_, {},
                          {.margin = view.safety_margin, .tolerance = view.toi_tolerance});
                    }};
  }

  // What the scene alone answers for some of the random poses.
  std::vector<gjk::PoseResult> alone(const gjk::Snapshot& view, std::size_t begin,
                                     std::size_t count) const {
    std::vector<gjk::PoseResult> found(count);
    view.scene->check(*view.footprint, std::span(poses_).subspan(begin, count), {},
                      {.margin = view.safety_margin}, found);
    return found;
  }

  // A row of the table. First the client is asked, and then the mirror and the scene in turn.
  template <class Asks>
  std::string row(const Asks& question) {
    Times client, mirror, scene;
    // A request that is sent while the processes still find each other may be lost.
    for (int i = 0; i < 10 && !is_known(question.client(question.request(0))); ++i) continue;
    for (std::size_t i = 0; i < kWarmUp + calls_; ++i) {
      if (i == kWarmUp) client.clear();
      const auto request = question.request(i);
      const auto reply = client.measure([&] { return question.client(request); });
      const auto mirrored = question.mirror(i);
      if (!is_known(reply)) {
        miss(question.name + ", client: " + reply.response.verdict.message);
      } else if (reply.response.info.snapshot_id == mirrored.response.info.snapshot_id) {
        compare(question.name + ", client", result_of(reply.response),
                result_of(mirrored.response));
      }
    }
    for (std::size_t i = 0; i < kWarmUp + calls_; ++i) {
      if (i == kWarmUp) {
        mirror.clear();
        scene.clear();
      }
      const auto mirrored = mirror.measure([&] { return question.mirror(i); });
      if (!is_known(mirrored)) {
        miss(question.name + ", mirror: " + mirrored.response.verdict.message);
        continue;
      }
      const auto asked = mirror_.ask({}, mirrored.response.info.snapshot_id);
      if (asked.view().fault) continue;  // other data has just been received
      const auto found = scene.measure([&] { return question.scene(asked.view(), i); });
      compare(question.name + ", scene", result_of(found), result_of(mirrored.response));
    }
    return "{\"question\": \"" + question.name + "\", \"client\": " + client.json() +
           ", \"mirror\": " + mirror.json() + ", \"scene\": " + scene.json() + "}";
  }

  void compare(const std::string& what, const Result& a, const Result& b) {
    ++compared_;
    if (a != b && ++different_ == 1) {
      std::fprintf(stderr, "%s: differs from the mirror\n", what.c_str());
    }
  }

  void miss(const std::string& what) {
    if (++unknown_ == 1) std::fprintf(stderr, "%s\n", what.c_str());
  }

  CollisionClient& client_;
  CollisionMirror& mirror_;
  const std::string frame_;
  const std::size_t calls_;
  const std::vector<double> flat_ = random_poses(kMany), way_ = way();
  const std::vector<gjk::Pose> poses_ = converted(flat_), way_poses_ = converted(way_);
  std::size_t compared_ = 0, different_ = 0, unknown_ = 0;
};

bool Bench::measure() {
  const std::string rows =
      row(one_pose()) + ", " + row(poses(kFew)) + ", " + row(poses(kMany)) + ", " + row(path());
  std::printf(
      "{\"calls\": %zu, \"compared\": %zu, \"different\": %zu, \"unknown\": %zu, "
      "\"questions\": [%s]}\n",
      calls_, compared_, different_, unknown_, rows.c_str());
  return compared_ > 0 && different_ == 0 && unknown_ == 0;
}

}  // namespace

int main(int argc, char** argv) {
  rclcpp::init(argc, argv);
  int result = 2;
  {
    rclcpp::Node node("cpp_client");
    const std::string server = node.declare_parameter("server", "collision_server");
    const std::string frame = node.declare_parameter("frame", "odom");
    const std::int64_t calls = node.declare_parameter("calls", 3000);  // of each question
    CollisionClient client(node, {.server = server, .timeout = 1s});
    CollisionMirror mirror(node, frame, server);
    if (client.wait_for_server(30s) && mirror.wait_until_complete(30s)) {
      Bench bench(client, mirror, frame, static_cast<std::size_t>(calls));
      result = bench.measure() ? 0 : 1;
    } else {
      const auto fault = mirror.fault();
      std::fprintf(stderr, "the server does not answer: %s\n",
                   fault ? fault->message.c_str() : "its services are missing");
    }
  }
  rclcpp::shutdown();
  return result;
}
