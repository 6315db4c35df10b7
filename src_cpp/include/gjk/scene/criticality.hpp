// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// How critical a trajectory of the ego shape is: the first contact, the deceleration that avoids
// it, and by how much time obstacles and the ego miss each other. All values are on the safe side.
#pragma once

#include <cstdint>
#include <span>

#include "gjk/arithmetic.hpp"
#include "gjk/scene/path.hpp"
#include "gjk/scene/scene.hpp"
#include "gjk/shape/pose.hpp"
#include "gjk/shape/shape.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

// NaN if the verdict is UNKNOWN.
struct Criticality {
  Verdict verdict = Verdict::unknown;  // of check_path() without margin
  Status status = Status::undefined;
  std::int64_t obstacle = -1;  // index of the obstacle that is met, or that decides the verdict
  double contact_time = kNaN;  // s. Infinity: no contact
  // m/s. Upper bound at contact_time, for points of the bodies that are within the tolerance of
  // contact, in all parts of both; 0 without contact. NaN if the motion of the obstacle is not
  // known then.
  double relative_speed = kNaN;
  // The edge of the ego that faces the obstacle, where this speed is: from vertex i to i + 1,
  // counted through its parts.
  std::int64_t ego_edge = -1;
  // m/s^2. With this deceleration, there is certainly no contact; see Braking. Infinity: none
  // found.
  double required_deceleration = kNaN;
  // s. Lower bound on the time between the ego and an obstacle at one place. Infinity: they share
  // no place.
  double post_encroachment_time = kNaN;
};

// For each of results.size() trajectories; the arguments are those of check_paths(), with times.
void criticality(const Scene& scene, const Shape& ego, std::span<const Pose> poses,
                 std::span<const double> times, double tolerance, std::span<Criticality> results,
                 unsigned threads = 1);

}  // namespace gjk

#ifdef GJK_KERNEL
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <vector>

#include "gjk/motion/motion.hpp"
#include "gjk/parallel.hpp"
#include "gjk/scene/braking.hpp"
#include "gjk/scene/encroachment.hpp"
#include "gjk/scene/impression.hpp"
#include "gjk/scene/obstacles.hpp"
#include "gjk/scene/tracks.hpp"
#include "gjk/shape/box.hpp"

namespace gjk {

namespace detail {

// The obstacles of a scene beside the ego.
class Neighbours {
 public:
  explicit Neighbours(const Obstacles& obstacles) : obstacles_(obstacles) {
    number_.resize(obstacles.size());
    for (std::size_t i = 0; i < obstacles.size(); ++i) {
      const Motion motion = obstacles.motion(i);
      if (motion.size() <= 1 && (motion.empty() || motion.front().is_still())) continue;
      moving_.push_back(track(i));
      number_[i] = moving_.size();
    }
  }

  // All parts that may meet: at the times of the ego's track; or with `any_time`, at any times of
  // both. Returns false if the search is not complete, or if an obstacle is known at one of these
  // times only.
  bool find(const Shape& ego, const Track& way, bool any_time, std::vector<Couple>& couples,
            std::deque<Track>& standing) const {
    const Outlines& outlines = obstacles_.outlines();
    const Motion plan = way.motion();
    const bool is_moment = plan.front().begin == plan.back().end;
    const double begin = any_time ? -kInfinity : plan.front().begin;
    const double end = any_time ? kInfinity : plan.back().end;
    double beyond = 0.0;  // m
    for (int i = 0; i < ego.parts(); ++i) {
      beyond = std::fmax(beyond, ego.part(i).radius + ego.part(i).error);
    }
    const Box all = way.box().grown(beyond);
    const Box box{all.low - obstacles_.origin(), all.high - obstacles_.origin()};
    couples.clear();
    standing.clear();
    const Obstacles::View view =
        obstacles_.swept(begin - obstacles_.time_error(), end + obstacles_.time_error());
    bool is_known = true;
    const auto search = obstacles_.overlapping(
        box.grown(0x1p-40 * norm1(obstacles_.origin())), view, [&](std::uint32_t k) {
          const auto i = static_cast<std::size_t>(obstacles_.owner(k));
          const Interval life = obstacles_.lifetimes().at(i);
          if (obstacles_.motion(i).empty()) {
            const double stamp = obstacles_.stamp(i);
            is_known &= is_moment || !life.holds(stamp) || stamp < begin || stamp > end;
            return false;
          }
          // An obstacle that always stands there is met at the same time or not at all.
          if (number_[i] == 0 && any_time && !life.is_limited()) return false;
          const Convex part = outlines.part(k);
          if (number_[i] == 0) standing.push_back(track(i));
          const Track& its = number_[i] == 0 ? standing.back() : moving_[number_[i] - 1];
          if (!(its.box().grown(part.radius + part.error).gap(all) == Vec2{})) return false;
          for (int own = 0; own < ego.parts(); ++own) {
            couples.push_back({ego.part(own), part, &way, &its, i, own, k});
          }
          return false;
        });
    return search.is_complete() && is_known;
  }

 private:
  Track track(std::size_t i) const {
    const Outlines& outlines = obstacles_.outlines();
    double reach = 0.0;
    for (std::size_t k = outlines.begin(i); k < outlines.end(i); ++k) {
      reach = std::fmax(reach, outlines.reach(k));
    }
    return {obstacles_.motion(i), reach};
  }

  const Obstacles& obstacles_;
  std::vector<Track> moving_;
  std::vector<std::size_t> number_;  // of its track and 1; 0: the obstacle stands
};

// Rates one trajectory after the other.
class CriticalityCheck {
 public:
  CriticalityCheck(const Scene& scene, const Shape& ego, const Neighbours& neighbours,
                   double tolerance) noexcept
      : scene_(scene), ego_(ego), neighbours_(neighbours), tolerance_(tolerance) {
    for (int i = 0; i < ego.parts(); ++i) reach_ = std::fmax(reach_, gjk::reach(ego.part(i)));
  }

  Criticality rate(std::span<const Pose> poses, std::span<const double> times) {
    const Obstacles& obstacles = scene_.obstacles();
    const PathOptions options{.tolerance = tolerance_, .has_distance = false};
    const PathResult path = check_path(scene_, ego_, poses, times, options);
    Criticality result{path.verdict, path.status, path.obstacle};
    if (path.verdict == Verdict::unknown) return result;
    plan_.clear();
    append_path(times, poses, plan_);
    double far = 0.0;
    for (const Piece& piece : plan_) far += norm({piece.change.x, piece.change.y});
    const Track way(plan_, reach_, 0x1p-40 * far);
    if (path.verdict != Verdict::collision) {
      result.contact_time = kInfinity;
      result.relative_speed = result.required_deceleration = 0.0;
      const bool is_complete = neighbours_.find(ego_, way, true, couples_, standing_);
      result.post_encroachment_time =
          is_complete ? Encroachment(obstacles, way, couples_, tolerance_).least() : 0.0;
      return result;
    }
    FirstContact contact = path.contact;
    contact.time = result.contact_time = path.first_collision_time;
    result.obstacle = contact.obstacle;
    result.post_encroachment_time = 0.0;
    const Impression met = impression(scene_, ego_, plan_, contact, tolerance_);
    result.relative_speed = met.relative_speed;
    result.ego_edge = met.ego_edge;
    if (obstacles.first_unknown(times.front(), times.back()).obstacle >= 0) return result;
    result.required_deceleration = kInfinity;
    const double until = contact.time - times.front();
    if (until > 0.0 && neighbours_.find(ego_, way, false, couples_, standing_)) {
      Braking braking(obstacles, way, couples_, contact, tolerance_);
      result.required_deceleration = braking.least(0.5 * met.closing_speed / until);
    }
    return result;
  }

 private:
  const Scene& scene_;
  const Shape& ego_;
  const Neighbours& neighbours_;
  double tolerance_;    // m
  double reach_ = 0.0;  // m
  // Memory for one trajectory
  std::vector<Piece> plan_;
  std::vector<Couple> couples_;
  std::deque<Track> standing_;
};

}  // namespace detail

GJK_KERNEL void criticality(const Scene& scene, const Shape& ego, std::span<const Pose> poses,
                            std::span<const double> times, double tolerance,
                            std::span<Criticality> results, unsigned threads) {
  if (results.empty()) return;
  const std::size_t length = poses.size() / results.size();
  const bool shared = times.size() == length;
  if (scene.obstacles().unusable() >= 0 || length == 0 || poses.size() != length * results.size() ||
      !(shared || times.size() == poses.size())) {
    std::fill(results.begin(), results.end(), Criticality{.status = Status::invalid_input});
    return;
  }
  const detail::Neighbours neighbours(scene.obstacles());
  for_each_chunk(results.size(), 1, threads, [&] {
    return [&, check = detail::CriticalityCheck(scene, ego, neighbours, tolerance)](
               std::size_t begin, std::size_t end) mutable {
      for (std::size_t k = begin; k < end; ++k) {
        results[k] = check.rate(poses.subspan(k * length, length),
                                shared ? times : times.subspan(k * length, length));
      }
    };
  });
}

}  // namespace gjk
#endif
