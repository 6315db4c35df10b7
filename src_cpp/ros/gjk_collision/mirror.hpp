// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// A mirror of a collision server: it answers in this process, without a request over the network.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "gjk/snapshot/mirrored.hpp"
#include "gjk/snapshot/pauses.hpp"
#include "gjk/snapshot/questions.hpp"
#include "gjk_collision/msg/collision_state.hpp"
#include "gjk_collision/msg/snapshot.hpp"
#include "gjk_collision/own_thread.hpp"
#include "gjk_collision/reply.hpp"
#include "rclcpp/rclcpp.hpp"

namespace gjk_collision {

// What all questions to a mirror have.
struct Question {
  double margin = 0.0;    // m, >= 0, added to the safety margin of the server
  std::string footprint;  // name; "": the one for the present speed, or the default one
  // Time of the question (ns), on the clock of the node. `times` are relative to it. Data must not
  // be too old at this time, nor at the time of the call. 0: now.
  std::int64_t at = 0;
};

struct PosesQuestion : Question {
  std::span<const double> times;  // s after `at`, one per pose; empty: obstacles do not move
  gjk::Mode mode = gjk::Mode::collide;
  bool stop_at_first = false;             // the poses after the first one not FREE are UNKNOWN
  std::uint64_t require_snapshot_id = 0;  // 0: the last one
};

struct PathQuestion : Question {
  std::span<const double> times;  // s after `at`, strictly increasing; empty as above
  bool swept = true;              // also check between the poses
  double tolerance = 0.0;         // m, 1e-6 to 1; 0: toi_tolerance of the server
};

// Answers questions about one collision server, in this process. It receives ~/snapshot and
// ~/state in a thread of its own. Any number of threads may ask it.
//
// The answers are those of the server for the same snapshot and time. If the snapshot is no longer
// valid (its data is too old, the heartbeat has stopped, the clock has jumped, the server was
// restarted or has other parameters), every answer is UNKNOWN, and its message gives the reason.
class CollisionMirror {
 public:
  // The data for some questions. Ask it with the functions of gjk/snapshot/questions.hpp: this has
  // the least overhead. Call fault_at_return() after the computation, before an answer is used.
  class Asked {
   public:
    const gjk::Snapshot& view() const noexcept { return view_; }
    // Whether the name of the footprint was refused.
    const gjk::Issue& issue() const noexcept { return chosen_.issue; }
    std::int64_t id_of(std::int64_t index) const noexcept {
      return data_ ? data_->id_of(index) : -1;
    }
    std::string source_of(std::int64_t index) const {
      return data_ ? data_->source_of(index) : std::string();
    }

   private:
    friend class CollisionMirror;
    std::shared_ptr<const gjk::Mirrored> data_;
    std::shared_ptr<const msg::ReplyInfo> info_;  // at the time of the message
    std::shared_ptr<const gjk::Validity::Held> used_;
    gjk::Mirrored::Chosen chosen_;
    gjk::Snapshot view_;
    std::optional<gjk::Fault> state_;  // why the mirror has no valid snapshot
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

  // The data for questions at this moment.
  Asked ask(const Question& question, std::uint64_t require_snapshot_id = 0) {
    Asked asked;
    asked.begin_ = std::chrono::steady_clock::now();
    std::optional<gjk::Fault> fault;
    std::int64_t at = question.at;
    {
      const std::lock_guard lock(mutex_);
      const gjk::Clocks clocks{clock_->now().nanoseconds(), steady_time()};
      if (at == 0) at = std::max<std::int64_t>(clocks.now, 1);
      asked.data_ = data_;
      asked.info_ = info_;
      asked.used_ = validity_.held();
      if (data_) asked.chosen_ = data_->chosen(question.footprint);
      asked.state_ = validity_.check(at, clocks, asked.chosen_.is_named);
    }
    if (!asked.state_ && !asked.data_) asked.state_ = gjk::Fault{};
    fault = asked.state_;
    if (!fault && asked.issue()) {
      fault = gjk::Fault{asked.issue().status, gjk::text_of(asked.issue())};
    }
    if (!fault && require_snapshot_id != 0 && require_snapshot_id != asked.info_->snapshot_id) {
      fault = gjk::Fault{gjk::Status::snapshot_mismatch,
                         "snapshot " + std::to_string(require_snapshot_id) +
                             " is not available; the last snapshot is " +
                             std::to_string(asked.info_->snapshot_id)};
    }
    if (!fault && frame_ != asked.info_->header.frame_id) {
      fault = gjk::Fault{gjk::Status::unknown_frame,
                         "the poses are in '" + frame_ + "', but the server checks in '" +
                             asked.info_->header.frame_id + "': transform them"};
    }
    set_view(asked, at, std::move(fault));
    return asked;
  }

  // Why an answer that was computed from this data must not be used any more; nothing: it can be
  // used. The data may have become too old, or the parameters may have changed.
  std::optional<gjk::Fault> fault_at_return(const Asked& asked) {
    const std::lock_guard lock(mutex_);
    const gjk::Clocks clocks{clock_->now().nanoseconds(), steady_time()};
    return validity_.check(asked.view().stamp, clocks, asked.chosen_.is_named, asked.used_.get());
  }

  // ---- questions: as the services of the same names. Poses are of the base frame.

  Reply<srv::Collide> collide(const gjk::Pose& pose, const Question& question = {}) {
    Asked asked = ask(question);
    const gjk::CollideAnswer found = answer(asked, [&] {
      return gjk::collide(asked.view(), gjk::CollideRequest{pose, question.margin, 0.0});
    });
    srv::Collide::Response response;
    response.obstacle_id = asked.id_of(found.answer.obstacle);
    response.obstacle_source = asked.source_of(found.answer.obstacle);
    return finished<srv::Collide>(asked, found.answer, std::move(response));
  }

  // `question.margin` must be 0, as distances do not depend on it.
  Reply<srv::Distance> distance(const gjk::Pose& pose, std::size_t k = 1, double max_distance = 0.0,
                                const Question& question = {}) {
    Asked asked = ask(question);
    const gjk::DistanceAnswer found = answer(asked, [&] {
      return gjk::distance(asked.view(), gjk::DistanceRequest{pose, k, max_distance, 0.0});
    });
    srv::Distance::Response response;
    for (const gjk::Nearest& each : found.nearest) {
      const gjk::Closest& c = each.closest;
      response.ids.push_back(asked.id_of(each.obstacle));
      response.sources.push_back(asked.source_of(each.obstacle));
      response.distances.push_back(c.distance);
      response.lower_bounds.push_back(c.lower_bound);
      response.witness_ego.insert(response.witness_ego.end(), {c.point_a.x, c.point_a.y});
      response.witness_obstacle.insert(response.witness_obstacle.end(), {c.point_b.x, c.point_b.y});
      response.directions.insert(response.directions.end(), {c.direction.x, c.direction.y});
      response.statuses.push_back(static_cast<std::uint16_t>(c.status));
    }
    return finished<srv::Distance>(asked, found.answer, std::move(response));
  }

  // `poses`: x (m), y (m), yaw (rad) per pose.
  Reply<srv::CheckPoses> check_poses(std::span<const double> poses,
                                     const PosesQuestion& question = {}) {
    Asked asked = ask(question, question.require_snapshot_id);
    gjk::PosesRequest request;
    request.poses = poses;
    request.times = question.times;
    request.stamp = asked.view().stamp;
    request.margin = question.margin;
    request.mode = static_cast<int>(question.mode);
    request.stop_at_first = question.stop_at_first;
    gjk::PosesAnswer found = answer(asked, [&] { return gjk::check_poses(asked.view(), request); });
    srv::CheckPoses::Response response;
    for (const gjk::Verdict each : found.verdicts) {
      response.verdicts.push_back(static_cast<std::uint8_t>(each));
    }
    for (const gjk::Status each : found.statuses) {
      response.statuses.push_back(static_cast<std::uint16_t>(each));
    }
    response.distances = std::move(found.distances);
    response.lower_bounds = std::move(found.lower_bounds);
    for (const std::int64_t each : found.obstacles) {
      response.nearest_ids.push_back(asked.id_of(each));
    }
    for (const auto& each : found.witnesses) {
      response.witnesses.insert(response.witnesses.end(), each.begin(), each.end());
    }
    response.first_invalid_index = static_cast<std::int32_t>(found.first_invalid);
    return finished<srv::CheckPoses>(asked, found.answer, std::move(response), poses.size() / 3);
  }

  // `poses`: as above, along a path of straight lines.
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
    const gjk::PathAnswer found =
        answer(asked, [&] { return gjk::check_path(asked.view(), request); });
    srv::CheckPath::Response response;
    response.first_invalid_segment = static_cast<std::int32_t>(found.first_invalid_segment);
    response.last_valid_fraction = found.last_valid_fraction;
    response.first_collision_time = found.first_collision_time;
    response.obstacle_id = asked.id_of(found.obstacle);
    response.min_distance = found.distance.upper;
    response.min_distance_lower_bound = found.distance.lower;
    return finished<srv::CheckPath>(asked, found.answer, std::move(response));
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

  // The times of a message. Call it with the lock, so that the times of all calls to `validity_`
  // increase. `earliest`: read when the callback began.
  gjk::Arrival arrival(std::int64_t earliest) const {
    return {{clock_->now().nanoseconds(), steady_time()}, earliest};
  }

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

  void receive(const msg::Snapshot& message, std::int64_t earliest) {
    gjk::Issue issue;
    std::shared_ptr<const gjk::Mirrored> data = gjk::Mirrored::read(message, issue);
    if (issue) {
      RCLCPP_ERROR(logger_, "~/snapshot cannot be used: %s", gjk::text_of(issue).c_str());
    }
    auto info = std::make_shared<const msg::ReplyInfo>(message.info);
    {
      const std::lock_guard lock(mutex_);
      const gjk::Arrival now = arrival(earliest);
      if (data) {
        if (validity_.receive_snapshot(gjk::Mirrored::facts_of(message), now)) {
          data_ = std::move(data);
          info_ = std::move(info);
        }
      } else {
        validity_.receive_snapshot(gjk::Mirrored::no_facts(issue), now);
      }
      ++received_;
    }
    changed_.notify_all();
  }

  void receive(const msg::CollisionState& message, std::int64_t earliest) {
    {
      const std::lock_guard lock(mutex_);
      validity_.receive_heartbeat(gjk::Mirrored::heartbeat_of(message), arrival(earliest));
      ++received_;
    }
    changed_.notify_all();
  }

  static void set_view(Asked& asked, std::int64_t at, std::optional<gjk::Fault> fault) {
    static const gjk::Mirrored::Chosen none;
    if (asked.data_) {
      asked.view_ = asked.data_->view(fault ? none : asked.chosen_, at, std::move(fault));
    } else {
      asked.view_.stamp = at;
      asked.view_.fault = std::move(fault);
      asked.view_.max_poses = std::numeric_limits<std::size_t>::max();
    }
  }

  // The answer that `compute()` gives. If the data cannot be used any more after the computation,
  // or if the mirror has no valid snapshot, it is UNKNOWN with this reason, also for a request that
  // is not valid.
  template <class Compute>
  std::invoke_result_t<Compute&> answer(Asked& asked, Compute compute) {
    std::invoke_result_t<Compute&> found = compute();
    if (!asked.state_) {
      asked.state_ = fault_at_return(asked);
      if (!asked.state_) return found;
      set_view(asked, asked.view().stamp, asked.state_);
      found = compute();
    }
    found.answer.status = asked.state_->status;
    found.answer.message = asked.state_->message;
    return found;
  }

  template <class Service, class... Size>
  static Reply<Service> finished(const Asked& asked, const gjk::Answer& answer,
                                 typename Service::Response response, Size... size) {
    response.verdict.verdict = static_cast<std::uint8_t>(answer.verdict);
    response.verdict.status = static_cast<std::uint16_t>(answer.status);
    response.verdict.message = answer.message;
    response.is_free = detail::is_verdict_free(response.verdict);
    const double passed =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - asked.begin_).count();
    if (asked.info_) {
      response.info = *asked.info_;
      const double since =
          1e-9 * static_cast<double>(asked.view().stamp -
                                     gjk::detail::nanoseconds_of(asked.info_->header.stamp));
      if (response.info.footprint_age != 0.0) response.info.footprint_age += since;
      if (asked.chosen_.is_named) response.info.footprint_age = 0.0;
      response.info.max_obstacle_age += since;
      response.info.footprint =
          asked.view().footprint != nullptr ? *asked.chosen_.name : std::string();
    } else {
      response.info.footprint_age = detail::kNaN;
      response.info.max_obstacle_age = detail::kNaN;
    }
    response.info.header.stamp = rclcpp::Time(asked.view().stamp);
    response.info.compute_time = passed;
    return reply_of<Service>(std::move(response), passed, size...);
  }

  const std::string frame_;
  const rclcpp::Clock::SharedPtr clock_;
  const rclcpp::Logger logger_;
  gjk::Pauses pauses_;  // of the thread of the mirror only
  std::mutex mutex_;    // of the following
  std::condition_variable changed_;
  std::shared_ptr<const gjk::Mirrored> data_;
  std::shared_ptr<const msg::ReplyInfo> info_;
  gjk::Validity validity_;
  std::size_t received_ = 0;  // number of messages
  rclcpp::Subscription<msg::Snapshot>::SharedPtr snapshots_;
  rclcpp::Subscription<msg::CollisionState>::SharedPtr states_;
  OwnThread thread_;  // the last member: it uses the others
};

}  // namespace gjk_collision
