// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Data of the collision server as it is published on ~/snapshot. The message is any class with the
// fields of msg/Snapshot, so that no header of ROS is needed here.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gjk/motion/prediction.hpp"
#include "gjk/scene/region.hpp"
#include "gjk/snapshot/arguments.hpp"
#include "gjk/snapshot/snapshot.hpp"
#include "gjk/snapshot/text.hpp"
#include "gjk/snapshot/validity.hpp"

namespace gjk {

namespace detail {

template <class Time>
std::int64_t nanoseconds_of(const Time& time) noexcept {
  return static_cast<std::int64_t>(time.sec) * 1'000'000'000 + time.nanosec;
}

inline Issue bad(std::string argument, std::string rule, Status status = Status::array_mismatch,
                 long index = -1) {
  return {status, std::move(argument), index, std::move(rule)};
}

// Offsets of `count` ranges that divide `size` items.
template <class Offsets>
Issue check_offsets(const Offsets& offsets, std::size_t count, std::size_t size,
                    const std::string& name) {
  if (offsets.size() != count + 1) {
    return bad(name, "must have " + std::to_string(count + 1) + " values (got " +
                         std::to_string(offsets.size()) + ")");
  }
  if (offsets.front() != 0 || offsets.back() != size ||
      !std::is_sorted(offsets.begin(), offsets.end())) {
    return bad(name, "must increase from 0 to " + std::to_string(size));
  }
  return {};
}

// Radii or margins (m): none, or one for each of `count`.
inline Issue check_lengths(std::span<const double> values, std::size_t count,
                           const std::string& name) {
  if (!values.empty() && values.size() != count) {
    return bad(name, "must be empty or have " + std::to_string(count) + " values (got " +
                         std::to_string(values.size()) + ")");
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    Issue issue = check_radius(values[i], name.c_str(), static_cast<long>(i));
    if (issue) return issue;
  }
  return {};
}

// Flat poses: none, or x y yaw for each of `count`.
inline Issue check_flat_poses(std::span<const double> poses, std::size_t count,
                              const std::string& name) {
  if (!poses.empty() && poses.size() != 3 * count) {
    return bad(name, "must be empty or have " + std::to_string(3 * count) + " values (got " +
                         std::to_string(poses.size()) + ")");
  }
  for (std::size_t i = 0; i + 2 < poses.size(); i += 3) {
    Issue issue =
        check_in_domain({poses[i], poses[i + 1], poses[i + 2]}, name.c_str(), static_cast<long>(i));
    if (issue) return issue;
  }
  return {};
}

// The obstacles of one sender, as msg/ObstacleArray. `name`: for messages.
template <class Obstacles>
Issue check_obstacles(const Obstacles& list, const std::string& name) {
  const std::size_t n = list.ids.size();
  if (list.xy.size() % 2 != 0) return bad(name + ".xy", "must have 2 values per point");
  if (n == 0 && list.offsets.empty()) return {};
  Issue issue = check_offsets(list.offsets, n, list.xy.size() / 2, name + ".offsets");
  if (!issue) issue = check_coordinates(list.xy, (name + ".xy").c_str());
  if (!issue) issue = check_lengths(list.radius, n, name + ".radius");
  if (!issue) issue = check_lengths(list.margins, n, name + ".margins");
  if (!issue) issue = check_lengths(list.margin_rates, n, name + ".margin_rates");
  if (!issue) issue = check_flat_poses(list.poses, n, name + ".poses");
  if (issue) return issue;
  if (!list.kinds.empty() && list.kinds.size() != n) {
    return bad(name + ".kinds", "must be empty or have " + std::to_string(n) + " values");
  }
  for (const std::uint8_t kind : list.kinds) {
    if (kind > 1) return bad(name + ".kinds", "must be 0 or 1", Status::invalid_input);
  }
  if (!list.velocities.empty() && list.velocities.size() != 3 * n) {
    return bad(name + ".velocities", "must be empty or have " + std::to_string(3 * n) + " values");
  }
  for (const double value : list.velocities) {
    if (std::isinf(value)) {
      return bad(name + ".velocities", "must be finite or NaN", Status::non_finite);
    }
  }
  const std::size_t times = list.path_times.size();
  if (list.path_poses.size() != 3 * times) {
    return bad(name + ".path_poses", "must have 3 values per path time");
  }
  if (list.path_offsets.empty()) {
    return times == 0 ? Issue{} : bad(name + ".path_offsets", "empty, but path_times is not");
  }
  issue = check_offsets(list.path_offsets, n, times, name + ".path_offsets");
  if (!issue) issue = check_flat_poses(list.path_poses, times, name + ".path_poses");
  if (issue) return issue;
  for (std::size_t i = 0; i < n; ++i) {
    double last = -std::numeric_limits<double>::infinity();
    for (std::size_t k = list.path_offsets[i]; k < list.path_offsets[i + 1]; ++k) {
      const double time = list.path_times[k];
      if (!(time >= 0.0 && time <= kMaxTime && time > last)) {
        return bad(name + ".path_times", "must increase strictly from 0 s or more",
                   Status::invalid_input, static_cast<long>(k));
      }
      last = time;
    }
  }
  return {};
}

}  // namespace detail

// The data of one message, in the form that answers questions. It does not change, so any number of
// threads may use it.
class Mirrored {
 public:
  // The id of the outside of the region, as gjk_collision.OUTSIDE.
  static constexpr std::int64_t kOutside = -2;

  // A footprint that a request has chosen, and the faults of the data that then count.
  struct Chosen {
    Issue issue;                       // there is no footprint of this name
    const Shape* footprint = nullptr;  // null: not known
    bool is_named = false;             // the limits of Status::stale_footprint do not count
    const std::string* name = nullptr;
  };

  // Reads a message; its fields are documented in msg/Snapshot.msg. If it cannot be used, `issue`
  // is set to the reason, and null is returned.
  template <class Message>
  static std::shared_ptr<const Mirrored> read(const Message& message, Issue& issue) {
    const std::shared_ptr<Mirrored> data(new Mirrored);
    issue = data->fill(message);
    return issue ? nullptr : data;
  }

  // The same for the facts that `Validity` needs. Call it for a message that was read.
  template <class Message>
  static SnapshotFacts facts_of(const Message& message) {
    SnapshotFacts facts;
    facts.id = message.info.snapshot_id;
    facts.sequence = message.sequence;
    facts.config_hash = message.info.config_hash;
    facts.stamp = detail::nanoseconds_of(message.info.header.stamp);
    facts.heartbeat_limit = message.heartbeat_limit;
    facts.static_revision = message.static_revision;
    facts.max_future_stamp = message.max_future_stamp;
    facts.fault = fault_of(message.verdict);
    facts.data_status = static_cast<Status>(message.data_verdict.status);
    for (std::size_t i = 0; i < message.footprint_sources.size(); ++i) {
      add_limit(facts, message.footprint_sources[i], Status::stale_footprint,
                detail::nanoseconds_of(message.footprint_stamps[i]), message.footprint_timeouts[i],
                message.footprint_receipt_ages[i]);
    }
    for (std::size_t i = 0; i < message.sources.size(); ++i) {
      add_limit(facts, message.sources[i], Status::stale_obstacles,
                detail::nanoseconds_of(message.obstacles[i].header.stamp), message.timeouts[i],
                message.receipt_ages[i]);
    }
    return facts;
  }

  // The facts of a message that cannot be used.
  static SnapshotFacts no_facts(const Issue& issue) {
    SnapshotFacts facts;
    facts.fault = {Status::internal_error, "~/snapshot cannot be used: " + text_of(issue)};
    return facts;
  }

  // Facts of msg/CollisionState.
  template <class Message>
  static HeartbeatFacts heartbeat_of(const Message& message) {
    HeartbeatFacts facts;
    facts.counter = message.counter;
    facts.id = message.info.snapshot_id;
    facts.sequence = message.snapshot_sequence;
    facts.config_hash = message.info.config_hash;
    facts.stamp = detail::nanoseconds_of(message.header.stamp);
    facts.fault = fault_of(message.verdict);
    return facts;
  }

  // The footprint of this name; "": the one for the present speed, or the default one.
  Chosen chosen(const std::string& name) const {
    Chosen found{{}, default_, false, &default_name_};
    if (name.empty() || (name == "default" && !is_by_speed_)) return found;
    if (std::find(names_.begin(), names_.end(), name) == names_.end()) {
      std::string rule = "must be empty or one of ";
      for (const std::string& each : names_) rule += (&each == &names_[0] ? "" : ", ") + each;
      found.issue = {Status::invalid_input, "footprint", -1, rule + " (got '" + name + "')"};
      return found;
    }
    for (const Footprint& each : footprints_) {
      if (each.name == name && each.is_named) return {{}, &each.shape, true, &each.name};
    }
    return found;
  }

  // What to ask with the functions of gjk/snapshot/questions.hpp. `at`: the time of the question
  // (ns). `fault`: why no answer may be given; every answer is then UNKNOWN. This object must
  // outlive the view.
  Snapshot view(const Chosen& chosen, std::int64_t at, const std::optional<Fault>& fault) const {
    Snapshot view;
    view.scene = &scene_;
    view.footprint = fault ? nullptr : chosen.footprint;
    view.stamp = at;
    view.epoch = is_timeless_ ? at : time_zero_;
    view.horizon = horizon_;
    view.safety_margin = safety_margin_;
    view.toi_tolerance = toi_tolerance_;
    view.max_poses = max_poses_;
    view.fault = fault ? fault : chosen.is_named ? data_fault_ : fault_;
    return view;
  }

  // Id and sender of an obstacle of the scene; -1 and "" for -1. The index size() is the outside of
  // the region.
  std::int64_t id_of(std::int64_t index) const noexcept {
    if (index < 0) return -1;
    const auto i = static_cast<std::size_t>(index);
    return i < ids_.size() ? ids_[i] : kOutside;
  }
  const std::string& source_of(std::int64_t index) const noexcept {
    static const std::string none;
    if (index < 0) return none;
    for (const Sender& each : senders_) {
      if (static_cast<std::size_t>(index) < each.end) return each.name;
    }
    return region_source_;
  }

  const Scene& scene() const noexcept { return scene_; }
  std::uint64_t id() const noexcept { return id_; }
  const std::string& frame() const noexcept { return frame_; }  // the check frame

 private:
  struct Footprint {
    std::string name;
    Shape shape;
    bool is_named = true;  // requests may name it
  };
  struct Sender {
    std::string name;
    std::size_t end = 0;  // its obstacles are before this index
  };

  Mirrored() = default;

  template <class Message>
  Issue fill(const Message& message) {
    id_ = message.info.snapshot_id;
    frame_ = message.info.header.frame_id;
    fault_ = reason_of(message.verdict);
    data_fault_ = reason_of(message.data_verdict);
    horizon_ = message.prediction_horizon;
    safety_margin_ = message.safety_margin;
    toi_tolerance_ = message.toi_tolerance;
    max_poses_ = message.max_poses;
    for (const double value : {horizon_, safety_margin_, toi_tolerance_, message.max_future_stamp,
                               message.heartbeat_limit}) {
      if (!(value >= 0.0 && value <= kMaxTime)) {
        return detail::bad(
            "prediction_horizon, safety_margin, toi_tolerance, max_future_stamp, heartbeat_limit",
            "must lie in [0, 1e10]" + got(value), Status::invalid_input);
      }
    }
    const std::size_t n = message.obstacles.size();
    const std::size_t f = message.footprint_sources.size();
    if (message.sources.size() != n || message.timeouts.size() != n ||
        message.receipt_ages.size() != n) {
      return detail::bad("sources, timeouts, receipt_ages", "must have one value per sender");
    }
    if (message.footprint_stamps.size() != f || message.footprint_timeouts.size() != f ||
        message.footprint_receipt_ages.size() != f) {
      return detail::bad("footprint_stamps, footprint_timeouts, footprint_receipt_ages",
                         "must have one value per footprint source");
    }
    for (const auto* values : {&message.timeouts, &message.receipt_ages,
                               &message.footprint_timeouts, &message.footprint_receipt_ages}) {
      for (const double value : *values) {
        if (!(value >= 0.0 && value <= kMaxTime)) {
          return detail::bad("timeouts, receipt_ages", "must lie in [0, 1e10] s" + got(value),
                             Status::invalid_input);
        }
      }
    }
    if (Issue issue = fill_footprints(message)) return issue;
    return fill_scene(message);
  }

  template <class Message>
  Issue fill_footprints(const Message& message) {
    is_by_speed_ = message.footprint_by_speed;
    names_.assign(message.footprint_names.begin(), message.footprint_names.end());
    default_name_ = message.info.footprint;
    const auto& sources = message.footprint_sources;
    const bool is_received =
        std::find(sources.begin(), sources.end(), "footprint") != sources.end();
    footprints_.reserve(message.footprints.size());
    for (const auto& each : message.footprints) {
      Footprint footprint{each.name, {}, !(is_received && each.name == default_name_)};
      const std::size_t parts = each.radius.size();
      const std::string name = "footprint " + each.name;
      if (each.xy.size() % 2 != 0) return detail::bad(name, "must have 2 values per vertex");
      if (Issue issue = detail::check_offsets(each.offsets, parts, each.xy.size() / 2, name)) {
        return issue;
      }
      if (Issue issue = check_coordinates(each.xy, name.c_str())) return issue;
      if (Issue issue = detail::check_lengths(each.radius, parts, name)) return issue;
      for (std::size_t i = 0; i < parts; ++i) {
        const std::vector<Vec2> vertices = points(each.xy, each.offsets[i], each.offsets[i + 1]);
        if (vertices.empty()) return detail::bad(name, "a part has no vertices");
        footprint.shape.add_part(vertices, each.radius[i]);
      }
      if (parts == 0) return detail::bad(name, "must have at least one part");
      footprints_.push_back(std::move(footprint));
    }
    if (default_name_.empty()) return {};
    for (const Footprint& each : footprints_) {
      if (each.name == default_name_) default_ = &each.shape;
    }
    if (default_ != nullptr) return {};
    return detail::bad("info.footprint", "'" + default_name_ + "' is not in footprints",
                       Status::invalid_input);
  }

  template <class Message>
  Issue fill_scene(const Message& message) {
    time_zero_ = detail::nanoseconds_of(message.time_zero);
    is_timeless_ = std::all_of(message.timeouts.begin(), message.timeouts.end(),
                               [](double timeout) noexcept { return timeout == 0.0; });
    region_source_ = message.region_source;
    Prediction prediction{PredictionPolicy::unknown_is_error, horizon_};
    if (message.prediction_policy == "constant_velocity") {
      prediction.policy = PredictionPolicy::constant_velocity;
    } else if (message.prediction_policy == "hold") {
      prediction.policy = PredictionPolicy::hold;
    } else if (message.prediction_policy != "unknown_is_error") {
      return detail::bad("prediction_policy", "'" + message.prediction_policy + "' is not known",
                         Status::invalid_input);
    }
    ConcavePolicy concave = ConcavePolicy::decompose;
    if (message.concave_policy == "hull") {
      concave = ConcavePolicy::hull;
    } else if (message.concave_policy == "reject") {
      concave = ConcavePolicy::reject;
    } else if (message.concave_policy != "decompose") {
      return detail::bad("concave_policy", "'" + message.concave_policy + "' is not known",
                         Status::invalid_input);
    }

    std::vector<double> margins;
    std::vector<double> rates;
    double latest = 0.0;
    for (std::size_t k = 0; k < message.obstacles.size(); ++k) {
      const auto& list = message.obstacles[k];
      const std::string name = "obstacles[" + std::to_string(k) + "]";
      if (Issue issue = detail::check_obstacles(list, name)) return issue;
      const std::size_t n = list.ids.size();
      const std::int64_t since =
          message.timeouts[k] > 0.0 ? detail::nanoseconds_of(list.header.stamp) - time_zero_ : 0;
      const double stamp = static_cast<double>(since) * 1e-9;
      if (n > 0) latest = std::max(latest, std::fabs(stamp));
      for (std::size_t i = 0; i < n; ++i) {
        if (Issue issue = add(list, i, stamp, prediction, concave, name)) return issue;
        margins.push_back(list.margins.empty() ? 0.0 : list.margins[i]);
        rates.push_back(list.margin_rates.empty() ? 0.0 : list.margin_rates[i]);
      }
      senders_.push_back({list.source, ids_.size()});
    }
    if (Issue issue = add_region(message)) return issue;
    if (!ids_.empty()) {
      scene_.set_margins(margins, rates);
      // The conversions of stamps and of query times have a few rounding errors each.
      scene_.set_time_error(0x1p-50 * (latest + horizon_ + 1.0));
    }
    scene_.build();
    return {};
  }

  template <class Obstacles>
  Issue add(const Obstacles& list, std::size_t i, double stamp, const Prediction& prediction,
            ConcavePolicy concave, const std::string& name) {
    const std::vector<Vec2> own = points(list.xy, list.offsets[i], list.offsets[i + 1]);
    if (own.empty()) {
      return detail::bad(name + ".offsets", "the obstacle has no points", Status::too_few_points,
                         static_cast<long>(i));
    }
    const double radius = list.radius.empty() ? 0.0 : list.radius[i];
    Shape shape;
    if (list.kinds.empty() || list.kinds[i] == 0) {
      shape.add_part(convex_hull(own), radius);
    } else {
      std::vector<std::vector<Vec2>> parts;
      Issue issue = outline_parts(own, concave, "xy", parts);
      if (issue) {
        issue.argument = name + ".xy";
        issue.rule = "obstacle " + std::to_string(i) + ": " + issue.rule;
        return issue;
      }
      for (const std::vector<Vec2>& part : parts) shape.add_part(part, radius);
    }
    ReportedMotion reported;
    if (!list.poses.empty()) {
      reported.pose = {list.poses[3 * i], list.poses[3 * i + 1], list.poses[3 * i + 2]};
    }
    if (!list.velocities.empty()) {
      reported.velocity = {list.velocities[3 * i], list.velocities[3 * i + 1],
                           list.velocities[3 * i + 2]};
    }
    std::vector<Pose> path;
    if (!list.path_offsets.empty()) {
      const std::size_t begin = list.path_offsets[i];
      const std::size_t end = list.path_offsets[i + 1];
      for (std::size_t k = 3 * begin; k < 3 * end; k += 3) {
        path.push_back({list.path_poses[k], list.path_poses[k + 1], list.path_poses[k + 2]});
      }
      reported.path_times = std::span<const double>(list.path_times).subspan(begin, end - begin);
      reported.path_poses = path;
    }
    std::vector<Piece> pieces;
    append_prediction(reported, prediction, pieces);
    scene_.add(shape, reported.pose, {pieces.data(), pieces.size()}, stamp);
    ids_.push_back(list.ids[i]);
    return {};
  }

  template <class Message>
  Issue add_region(const Message& message) {
    if (region_source_.empty()) return {};
    const std::size_t n = message.region_radii.size();
    const auto& ends = message.region_boundary;
    if (n == 0 || ends.size() != 4 * n) {
      return detail::bad("region_boundary", "must have 4 values for each of region_radii");
    }
    if (Issue issue = check_coordinates(ends, "region_boundary")) return issue;
    if (Issue issue = detail::check_lengths(message.region_radii, n, "region_radii")) return issue;
    const double inflation = message.region_inflation;
    if (Issue issue = check_radius(inflation, "region_inflation", -1)) return issue;
    std::vector<Region::Segment> segments(n);
    for (std::size_t k = 0; k < n; ++k) {
      segments[k] = {{ends[4 * k], ends[4 * k + 1]},
                     {ends[4 * k + 2], ends[4 * k + 3]},
                     message.region_radii[k]};
      if (segments[k].radius < inflation) {
        return detail::bad("region_radii", "must include the inflation", Status::invalid_input);
      }
    }
    scene_.set_region(std::make_shared<Region>(segments, inflation));
    return {};
  }

  static std::vector<Vec2> points(std::span<const double> xy, std::size_t begin, std::size_t end) {
    std::vector<Vec2> found;
    for (std::size_t k = begin; k < end; ++k) found.push_back({xy[2 * k], xy[2 * k + 1]});
    return found;
  }

  template <class Verdict>
  static Fault fault_of(const Verdict& verdict) {
    return {static_cast<Status>(verdict.status), verdict.message};
  }
  template <class Verdict>
  static std::optional<Fault> reason_of(const Verdict& verdict) {
    if (static_cast<Status>(verdict.status) == Status::success) return {};
    return fault_of(verdict);
  }

  static void add_limit(SnapshotFacts& facts, const std::string& source, Status stale,
                        std::int64_t stamp, double timeout, double receipt_age) {
    if (timeout == 0.0) return;  // no limit
    AgeLimit limit;
    limit.source = source;
    limit.stale = stale;
    limit.stamp = stamp;
    limit.timeout = timeout;
    limit.receipt_age = receipt_age;
    facts.limits.push_back(std::move(limit));
  }

  std::uint64_t id_ = 0;
  std::string frame_;
  Scene scene_;
  std::vector<std::int64_t> ids_;  // by obstacle
  std::vector<Sender> senders_;    // in the order of their obstacles
  std::string region_source_;
  std::vector<Footprint> footprints_;
  const Shape* default_ = nullptr;  // for requests that name none; null: not known
  std::string default_name_;
  std::vector<std::string> names_;  // that requests may use
  bool is_by_speed_ = false;
  std::optional<Fault> fault_;       // why the data is incomplete
  std::optional<Fault> data_fault_;  // the same, for requests that name a footprint
  std::int64_t time_zero_ = 0;       // ns
  bool is_timeless_ = false;         // the obstacles are the same at every time
  double horizon_ = 0.0;             // s
  double safety_margin_ = 0.0;       // m
  double toi_tolerance_ = 0.0;       // m
  std::size_t max_poses_ = 0;
};

}  // namespace gjk
