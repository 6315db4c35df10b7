// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// A mirror of a collision server: it answers in this process, without a request over the network.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "gjk/rules/mirror.hpp"
#include "gjk/rules/pauses.hpp"
#include "gjk/rules/questions.hpp"
#include "gjk_collision/msg/collision_state.hpp"
#include "gjk_collision/msg/snapshot.hpp"
#include "gjk_collision/own_thread.hpp"
#include "gjk_collision/reply.hpp"
#include "rclcpp/rclcpp.hpp"

namespace gjk_collision {

using gjk::Question;

struct PosesQuestion : Question {
  std::span<const double> times;  // s after `at`, one per pose; empty: obstacles do not move
  gjk::Mode mode = gjk::Mode::collide;
  // The poses after the first one not FREE are UNKNOWN; with groups, those of its group.
  bool stop_at_first = false;
  std::uint64_t require_snapshot_id = 0;  // 0: the last one
  // Names of several footprints, and the index of that of each pose. Empty: `footprint`.
  std::vector<std::string> footprints;
  std::span<const std::int64_t> which;
  // Group g has the poses group_offsets[g] to group_offsets[g + 1] - 1; empty: no groups.
  std::span<const std::int64_t> group_offsets;
  // Number of nearest obstacles at each pose whose distances and derivatives are computed, with the
  // distances of `mode` distance; 0: none.
  std::size_t gradients = 0;
};

struct PathQuestion : Question {
  std::span<const double> times;  // s after `at`, strictly increasing; empty as above
  bool swept = true;              // also check between the poses
  double tolerance = 0.0;         // m, 1e-6 to 1; 0: toi_tolerance of the server
  // Curvature (1/m) and length (m) of each arc from the only pose; empty: straight lines. `times`
  // has then one entry for the start and one for the end of each arc.
  std::span<const double> arcs;
};

struct NearestFreeQuestion : Question {
  double max_shift = 0.0;  // m
  double max_turn = 0.0;   // rad
  double tolerance = 0.0;  // m, resolution of the search; 0: toi_tolerance of the server
};

// Answers questions about one collision server, in this process. It receives ~/snapshot and
// ~/state in a thread of its own. Any number of threads may ask it.
//
// The answers are those of the server for the same snapshot and time. If the snapshot is no longer
// valid (its data is too old, the heartbeat has stopped, the clock has jumped, the server was
// restarted or has other parameters), every answer is UNKNOWN, and its message gives the reason.
class CollisionMirror {
 public:
  // The data for some questions. Ask it with the functions of gjk/rules/questions.hpp: this has
  // the least overhead. Call fault_at_return() after the computation, before an answer
  // is used.
  class Asked : public gjk::Mirror::Asked {
    friend class CollisionMirror;
    std::shared_ptr<const msg::ReplyInfo> info_;  // at the time of the message
    std::chrono::steady_clock::time_point begin_;
  };

  // `frame`: frame of all poses in questions. It must be the check frame of the server.
  // `server`: name of the node of the server, absolute or relative to the namespace of `node`.
  // The node must outlive the mirror.
  template <class Node>
  CollisionMirror(Node& node, std::string frame, const std::string& server = "collision_server")
      : frame_(std::move(frame)),
        clock_(node.get_clock()),
        logger_(node.get_logger()),
        pauses_(steady_time()),
        thread_(node.get_node_base_interface()) {
    rclcpp::SubscriptionOptions options;
    options.callback_group = thread_.group();
    snapshots_ = rclcpp::create_subscription<msg::Snapshot>(
        node, server + "/snapshot", rclcpp::QoS(1).reliable().transient_local(),
        [this](const msg::Snapshot& message, const rclcpp::MessageInfo& info) {
          receive(message, earliest(info));
        },
        options);
    states_ = rclcpp::create_subscription<msg::CollisionState>(
        node, server + "/state", rclcpp::QoS(1),
        [this](const msg::CollisionState& message, const rclcpp::MessageInfo& info) {
          receive(message, earliest(info));
        },
        options);
    thread_.start(std::chrono::nanoseconds(gjk::Pauses::kPeriod),
                  [this] { pauses_.note_activity(steady_time()); });
  }
  CollisionMirror(const CollisionMirror&) = delete;
  CollisionMirror& operator=(const CollisionMirror&) = delete;

  // Why no answer can be FREE now; nothing: answers can be FREE.
  std::optional<gjk::Fault> fault() { return ask({}).view().fault; }

  // Waits until answers can be FREE. Returns whether they can.
  bool wait_until_complete(std::chrono::nanoseconds timeout) {
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    while (fault()) {
      std::unique_lock lock(mutex_);
      const std::size_t before = received_;
      if (!changed_.wait_until(lock, deadline, [&] { return received_ != before; })) {
        return false;
      }
    }
    return true;
  }

  // The data for questions at this moment. `footprints`: names; empty: that of the question.
  Asked ask(const Question& question, std::uint64_t require_snapshot_id = 0,
            std::vector<std::string> footprints = {}) {
    Asked asked;
    asked.begin_ = std::chrono::steady_clock::now();
    if (footprints.empty()) footprints.push_back(question.footprint);
    const std::lock_guard lock(mutex_);
    static_cast<gjk::Mirror::Asked&>(asked) =
        mirror_.ask(footprints, question.at, require_snapshot_id, &frame_, clocks());
    asked.info_ = info_;
    return asked;
  }

  // Why no answer may be given from this data; nothing: an answer that was computed can be used.
  // The data may have become too old, or the parameters may have changed.
  std::optional<gjk::Fault> fault_at_return(const Asked& asked) {
    const std::lock_guard lock(mutex_);
    return mirror_.fault(asked, clocks());
  }

  // ---- questions: as the services of the same names. Poses are of the base frame.

  Reply<srv::Collide> collide(const gjk::Pose& pose, const Question& question = {}) {
    Asked asked = ask(question);
    return answered<srv::Collide>(asked, [&] {
      return gjk::collide(asked.view(), gjk::CollideRequest{pose, question.margin, 0.0});
    });
  }

  // `question.margin` must be 0, as distances do not depend on it.
  Reply<srv::Distance> distance(const gjk::Pose& pose, std::size_t k = 1, double max_distance = 0.0,
                                const Question& question = {}) {
    Asked asked = ask(question);
    return answered<srv::Distance>(asked, [&] {
      return gjk::distance(asked.view(), gjk::DistanceRequest{pose, k, max_distance, 0.0});
    });
  }

  // `poses`: x (m), y (m), yaw (rad) per pose.
  Reply<srv::CheckPoses> check_poses(std::span<const double> poses,
                                     const PosesQuestion& question = {}) {
    Asked asked = ask(question, question.require_snapshot_id, question.footprints);
    gjk::PosesRequest request;
    request.poses = poses;
    request.times = question.times;
    request.stamp = asked.view().stamp;
    request.margin = question.margin;
    request.mode = question.gradients > 0 ? gjk::kModeGradient : static_cast<int>(question.mode);
    request.stop_at_first = question.stop_at_first;
    request.which = question.which;
    request.group_offsets = question.group_offsets;
    request.k = question.gradients;
    const PosesAsked size{poses.size() / 3,
                          {question.group_offsets.begin(), question.group_offsets.end()}};
    return answered<srv::CheckPoses>(
        asked, [&] { return gjk::check_poses(asked.views(), request); }, size);
  }

  // `poses`: as above, along a path of straight lines; with arcs, the first pose.
  Reply<srv::CheckPath> check_path(std::span<const double> poses,
                                   const PathQuestion& question = {}) {
    Asked asked = ask(question);
    gjk::PathRequest request;
    request.poses = poses;
    request.times = question.times;
    request.stamp = asked.view().stamp;
    request.margin = question.margin;
    request.swept = question.swept;
    request.tolerance = question.tolerance;
    request.arcs = question.arcs;
    return answered<srv::CheckPath>(asked, [&] { return gjk::check_path(asked.view(), request); });
  }

  // There is no limit of the time that the search takes.
  Reply<srv::NearestFree> nearest_free(const gjk::Pose& pose, const NearestFreeQuestion& question) {
    Asked asked = ask(question);
    const gjk::NearestFreeRequest request{
        pose, question.max_shift, question.max_turn, question.margin, question.tolerance, 0.0};
    return answered<srv::NearestFree>(asked,
                                      [&] { return gjk::nearest_free(asked.view(), request); });
  }

 private:
  // ns. It includes the time when the machine slept.
  static std::int64_t steady_time() noexcept {
#ifdef CLOCK_BOOTTIME
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
#else
    return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
#endif
  }

  // The present times. Call it with the lock, so that the times of all calls to `mirror_` increase.
  gjk::Clocks clocks() const { return {clock_->now().nanoseconds(), steady_time()}; }

  // The earliest steady time (ns) at which a message that is read now can have arrived.
  std::int64_t earliest(const rclcpp::MessageInfo& info) {
    const std::int64_t steady = steady_time();
    const std::int64_t system =
        std::chrono::system_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
    const rmw_message_info_t& stamps = info.get_rmw_message_info();
    return pauses_.earliest(
        steady, gjk::Pauses::sending_time(stamps.source_timestamp, stamps.received_timestamp,
                                          steady, system));
  }

  // `earliest`: read when the callback began.
  void receive(const msg::Snapshot& message, std::int64_t earliest) {
    gjk::Mirror::Content content = gjk::Mirror::read(message);
    if (content.issue) {
      RCLCPP_ERROR_THROTTLE(logger_, log_clock_, 1000, "~/snapshot cannot be used: %s",
                            gjk::text_of(content.issue).c_str());
    }
    auto info = std::make_shared<const msg::ReplyInfo>(message.info);
    {
      const std::lock_guard lock(mutex_);
      if (mirror_.receive_snapshot(std::move(content), {clocks(), earliest})) {
        info_ = std::move(info);
      }
      ++received_;
    }
    changed_.notify_all();
  }

  void receive(const msg::CollisionState& message, std::int64_t earliest) {
    {
      const std::lock_guard lock(mutex_);
      mirror_.receive_heartbeat(message, {clocks(), earliest});
      ++received_;
    }
    changed_.notify_all();
  }

  // The reply with the answer that compute() returns.
  template <class Service, class Compute>
  Reply<Service> answered(const Asked& asked, Compute compute, const PosesAsked& size = {}) {
    const auto found = gjk::Mirror::answer(compute, [&] { return fault_at_return(asked); });
    const gjk::Answer& answer = found.answer;
    typename Service::Response response;
    detail::fill(response, found, asked.view());
    response.verdict.verdict = static_cast<std::uint8_t>(answer.verdict);
    response.verdict.status = static_cast<std::uint16_t>(answer.status);
    response.verdict.message = answer.message;
    const double passed =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - asked.begin_).count();
    if (asked.info_) {
      response.info = *asked.info_;
      response.info.footprint = asked.footprint();
    }
    response.info.footprint_age = asked.footprint_age();
    response.info.max_obstacle_age = asked.max_obstacle_age();
    response.info.header.stamp = rclcpp::Time(asked.view().stamp);
    response.info.compute_time = passed;
    return reply_of<Service>(std::move(response), passed, size);
  }

  const std::string frame_;
  const rclcpp::Clock::SharedPtr clock_;
  const rclcpp::Logger logger_;
  rclcpp::Clock log_clock_{RCL_STEADY_TIME};  // of the thread of the mirror only
  gjk::Pauses pauses_;                        // of the thread of the mirror only
  std::mutex mutex_;                          // of the following
  std::condition_variable changed_;
  gjk::Mirror mirror_;
  std::shared_ptr<const msg::ReplyInfo> info_;  // of its snapshot
  std::size_t received_ = 0;                    // number of messages
  rclcpp::Subscription<msg::Snapshot>::SharedPtr snapshots_;
  rclcpp::Subscription<msg::CollisionState>::SharedPtr states_;
  OwnThread thread_;  // the last member: it uses the others
};

}  // namespace gjk_collision
