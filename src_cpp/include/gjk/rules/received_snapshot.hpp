// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Data of the collision server as it is published on ~/snapshot. The message is any class with the
// fields of msg/Snapshot, so that no header of ROS is needed here.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gjk/motion/prediction.hpp"
#include "gjk/rules/arguments.hpp"
#include "gjk/rules/snapshot.hpp"
#include "gjk/rules/validity.hpp"
#include "gjk/scene/coverage.hpp"
#include "gjk/scene/obstacle_arrays.hpp"
#include "gjk/scene/region.hpp"
#include "gjk/scene/scene.hpp"
#include "gjk/shape/domain.hpp"
#include "gjk/shape/shape.hpp"
#include "gjk/shape/vec2.hpp"
#include "gjk/text.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

namespace detail {

template <class Time>
std::int64_t nanoseconds_of(const Time& time) noexcept {
  return static_cast<std::int64_t>(time.sec) * 1'000'000'000 + time.nanosec;
}

}  // namespace detail

// Whether a request that names this footprint gets the one of the parameters; otherwise it gets the
// one for requests that name none. `names`: that requests may use. Returns why the name is refused.
inline Issue choose_footprint(const std::string& name, std::span<const std::string> names,
                              bool is_selected, bool& is_named) {
  is_named = false;
  if (name.empty() || (name == "default" && !is_selected)) return {};
  is_named = std::find(names.begin(), names.end(), name) != names.end();
  if (is_named) return {};
  std::string rule = "must be empty or one of ";
  for (const std::string& each : names) rule += (&each == &names[0] ? "" : ", ") + each;
  return refusal("footprint", rule + " (got '" + name + "')");
}

// The data of one message, in the form that answers questions. It does not change, so any number of
// threads may use it.
class ReceivedSnapshot {
 public:
  // A footprint that a request has chosen.
  struct Chosen {
    const Shape* footprint = nullptr;  // null: not known
    bool is_named = false;             // the limits of Status::stale_footprint do not count
    std::string name;
  };

  // Reads a message; its fields are documented in msg/Snapshot.msg. If it cannot be used, `issue`
  // is set to the reason, and null is returned.
  template <class Message>
  static std::shared_ptr<const ReceivedSnapshot> read(const Message& message, Issue& issue) {
    const std::shared_ptr<ReceivedSnapshot> data(new ReceivedSnapshot);
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
    for (const auto& each : message.footprint_limits) {
      add_limit(facts, each, Status::stale_footprint);
    }
    for (const auto& each : message.senders) {
      add_limit(facts, each.age_limit, Status::stale_obstacles);
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

  // Sets `chosen` to the footprint of this name; "": the one for the present speed, or the default
  // one. Returns why there is none.
  Issue choose(const std::string& name, Chosen& chosen) const {
    chosen = {default_, false, default_name_};
    bool is_named = false;
    if (Issue issue = choose_footprint(name, names_, is_selected_, is_named)) return issue;
    if (!is_named) return {};
    for (const Footprint& each : footprints_) {
      if (each.name == name && each.is_named) chosen = {&each.shape, true, each.name};
    }
    return {};
  }

  // What to ask with the functions of gjk/rules/questions.hpp. `at`: the time of the question
  // (ns). `now`: the present time (ns), at which the horizon begins if all data is static, as in
  // the node. `fault`: why no answer may be given; every answer is then UNKNOWN. This object must
  // outlive the view.
  Snapshot view(const Chosen& chosen, std::int64_t at, std::int64_t now,
                const std::optional<Fault>& fault) const {
    Snapshot view;
    view.scene = scene_.get();
    view.footprint = fault ? nullptr : chosen.footprint;
    view.stamp = at;
    view.epoch = is_timeless_ ? now : time_zero_;
    view.horizon = horizon_;
    view.safety_margin = safety_margin_;
    view.toi_tolerance = toi_tolerance_;
    view.max_poses = max_poses_;
    view.senders = &senders_;
    view.fault = fault ? fault : chosen.is_named ? data_fault_ : fault_;
    return view;
  }

  // Ages (s) at a time (ns), and the oldest stamps of the data, as in a reply of the server.
  double footprint_age(const Chosen& chosen, std::int64_t at) const noexcept {
    if (chosen.is_named || footprint_age_ == 0.0) return 0.0;
    return footprint_age_ + static_cast<double>(at - stamp_) * 1e-9;
  }
  double max_obstacle_age(std::int64_t at) const noexcept {
    return max_obstacle_age_ + static_cast<double>(at - stamp_) * 1e-9;
  }

  const Scene& scene() const noexcept { return *scene_; }
  std::uint64_t id() const noexcept { return id_; }
  const std::string& frame() const noexcept { return frame_; }  // the check frame

 private:
  struct Footprint {
    std::string name;
    Shape shape;
    bool is_named = true;  // requests may name it
  };
  ReceivedSnapshot() = default;

  template <class Message>
  Issue fill(const Message& message) {
    id_ = message.info.snapshot_id;
    frame_ = message.info.header.frame_id;
    stamp_ = detail::nanoseconds_of(message.info.header.stamp);
    footprint_age_ = message.info.footprint_age;
    max_obstacle_age_ = message.info.max_obstacle_age;
    fault_ = reason_of(message.verdict);
    data_fault_ = reason_of(message.data_verdict);
    horizon_ = message.prediction_horizon;
    safety_margin_ = message.safety_margin;
    toi_tolerance_ = message.toi_tolerance;
    max_poses_ = message.max_poses;
    for (const double value : {horizon_, safety_margin_, toi_tolerance_, message.max_future_stamp,
                               message.heartbeat_limit}) {
      constexpr const char* kNames =
          "prediction_horizon, safety_margin, toi_tolerance, max_future_stamp, heartbeat_limit";
      if (Issue issue = detail::check_within(value, kNames, 0.0, kMaxTime, "must lie in [0, 1e10]"))
        return issue;
    }
    std::vector<double> ages;
    for (const auto& each : message.footprint_limits) {
      ages.insert(ages.end(), {each.timeout, each.receipt_age});
    }
    for (const auto& each : message.senders) {
      ages.insert(ages.end(), {each.age_limit.timeout, each.age_limit.receipt_age});
    }
    for (const double value : ages) {
      if (Issue issue = detail::check_duration(value, "timeout, receipt_age")) return issue;
    }
    if (Issue issue = fill_footprints(message)) return issue;
    return fill_scene(message);
  }

  template <class Message>
  Issue fill_footprints(const Message& message) {
    is_selected_ = message.footprint_selected;
    names_.assign(message.footprint_names.begin(), message.footprint_names.end());
    default_name_ = message.info.footprint;
    const bool is_received =
        std::any_of(message.footprint_limits.begin(), message.footprint_limits.end(),
                    [](const auto& each) { return each.source == "footprint"; });
    footprints_.reserve(message.footprints.size());
    for (const auto& each : message.footprints) {
      Footprint footprint{each.name, {}, !(is_received && each.name == default_name_)};
      Issue issue = read_footprint(each, footprint.shape);
      if (issue) {
        issue.argument = "footprint " + each.name + "." + issue.argument;
        return issue;
      }
      footprints_.push_back(std::move(footprint));
    }
    if (default_name_.empty()) return {};
    for (const Footprint& each : footprints_) {
      if (each.name == default_name_) default_ = &each.shape;
    }
    if (default_ != nullptr) return {};
    return refusal("info.footprint", "'" + default_name_ + "' is not in footprints");
  }

  template <class Message>
  static Issue read_footprint(const Message& message, Shape& shape) {
    const std::size_t parts = message.radius.size();
    const std::span<const std::uint32_t> offsets = message.offsets;
    const std::span<const double> xy = message.xy;
    if (xy.size() % 2 != 0)
      return refusal("xy", Status::array_mismatch, "must have 2 values per vertex");
    if (parts == 0 || offsets.size() != parts + 1) {
      return refusal("offsets", Status::array_mismatch,
                     "must have one value more than radius, which is not empty");
    }
    if (Issue issue = first_of({detail::check_offsets(offsets, xy.size() / 2, "offsets",
                                                      "must end at the number of vertices"),
                                check_coordinates(xy, "xy"),
                                detail::check_lengths(message.radius, parts, "radius")})) {
      return issue;
    }
    for (std::size_t i = 0; i < parts; ++i) {
      std::vector<Vec2> vertices;
      for (std::size_t k = offsets[i]; k < offsets[i + 1]; ++k) {
        vertices.push_back({xy[2 * k], xy[2 * k + 1]});
      }
      if (vertices.empty())
        return refusal("offsets", Status::array_mismatch, "a part has no vertices");
      shape.add_part(vertices, message.radius[i]);
    }
    return {};
  }

  static Issue read_policy(const std::string& name, PredictionPolicy& policy) {
    if (name == "constant_velocity") {
      policy = PredictionPolicy::constant_velocity;
    } else if (name == "hold") {
      policy = PredictionPolicy::hold;
    } else if (name != "unknown_is_error") {
      return refusal("prediction_policy", "'" + name + "' is not known");
    }
    return {};
  }

  template <class Message>
  Issue fill_scene(const Message& message) {
    time_zero_ = detail::nanoseconds_of(message.time_zero);
    is_timeless_ = std::all_of(message.senders.begin(), message.senders.end(),
                               [](const auto& each) { return each.age_limit.timeout == 0.0; });
    senders_.region_source = message.region_source;
    ConcavePolicy concave = ConcavePolicy::decompose;
    if (message.concave_policy == "hull") {
      concave = ConcavePolicy::hull;
    } else if (message.concave_policy == "reject") {
      concave = ConcavePolicy::reject;
    } else if (message.concave_policy != "decompose") {
      return refusal("concave_policy", "'" + message.concave_policy + "' is not known");
    }

    std::vector<PlacedObstacles> placed;
    std::vector<double> stamps;
    double latest = 0.0;
    for (std::size_t k = 0; k < message.senders.size(); ++k) {
      const auto& limit = message.senders[k].age_limit;
      const auto& list = message.senders[k].obstacles;
      const std::int64_t stamp = detail::nanoseconds_of(list.header.stamp);
      const bool is_static = limit.timeout == 0.0;
      const ObstacleArrays arrays = ObstacleArrays::of(list);
      Prediction prediction{PredictionPolicy::unknown_is_error, horizon_};
      ObstacleParts parts;
      Issue issue = read_policy(message.senders[k].prediction_policy, prediction.policy);
      if (issue) {
        issue.argument = "senders[" + std::to_string(k) + "]." + issue.argument;
        return issue;
      }
      issue = list.ids.size() == arrays.size()
                  ? check_arrays(arrays)
                  : refusal("ids", Status::array_mismatch, "must hold one id per obstacle");
      if (!issue && !is_static && stamp != detail::nanoseconds_of(limit.stamp))
        issue = refusal("header.stamp", "must be the stamp of age_limit");
      if (!issue) issue = ObstacleParts::make(arrays, concave, parts);
      if (issue) {
        issue.argument = "senders[" + std::to_string(k) + "].obstacles." + issue.argument;
        return issue;
      }
      const std::int64_t since = is_static ? 0 : stamp - time_zero_;
      stamps.push_back(static_cast<double>(since) * 1e-9);
      if (arrays.size() > 0) latest = std::max(latest, std::fabs(stamps.back()));
      placed.emplace_back(parts, arrays, prediction);
      ids_.insert(ids_.end(), list.ids.begin(), list.ids.end());
      senders_.senders.push_back({list.source, list.ids.size()});
    }
    senders_.ids = ids_;
    std::shared_ptr<Region> region;
    if (!senders_.region_source.empty()) {
      Issue issue = make_region(message.region_boundary, message.region_radii,
                                message.region_inflation, region);
      if (issue) return issue;
    }
    std::vector<const PlacedObstacles*> messages;
    for (const PlacedObstacles& each : placed) messages.push_back(&each);
    // The conversions of stamps and of query times have a few rounding errors each.
    const double time_error = ids_.empty() ? 0.0 : 0x1p-50 * (latest + horizon_ + 1.0);
    std::unique_ptr<Scene> scene = compose(messages, stamps, std::move(region), time_error);
    std::vector<Coverage::Member> seen;
    for (const auto& each : message.seen) {
      std::shared_ptr<Region> one;
      if (Issue issue = make_region(each.boundary, each.radii, 0.0, one)) {
        issue.argument = "seen[" + std::to_string(seen.size()) + "]: " + issue.argument;
        return issue;
      }
      seen.push_back({std::move(one), each.source});
    }
    if (message.require_seen)
      scene->set_coverage(std::make_shared<const Coverage>(std::move(seen)));
    scene_ = std::move(scene);
    return {};
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

  template <class Limit>
  static void add_limit(SnapshotFacts& facts, const Limit& limit, Status stale) {
    if (limit.timeout == 0.0) return;  // no limit
    facts.limits.push_back({limit.source, stale, detail::nanoseconds_of(limit.stamp), limit.timeout,
                            limit.receipt_age});
  }

  std::uint64_t id_ = 0;
  std::string frame_;
  std::int64_t stamp_ = 0;         // ns
  double footprint_age_ = 0.0;     // s, at `stamp_`; 0: the footprint is a parameter
  double max_obstacle_age_ = 0.0;  // s, at `stamp_`
  std::unique_ptr<const Scene> scene_;
  std::vector<std::int64_t> ids_;  // by obstacle
  Senders senders_;
  std::vector<Footprint> footprints_;
  const Shape* default_ = nullptr;  // for requests that name none; null: not known
  std::string default_name_;
  std::vector<std::string> names_;  // that requests may use
  bool is_selected_ = false;
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
