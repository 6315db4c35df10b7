// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// How critical a trajectory of the ego shape is: the first contact, the deceleration that avoids
// it, and by how much time obstacles and the ego miss each other. All values are on the safe side.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

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
  double contact_time = std::numeric_limits<double>::quiet_NaN();  // s. Infinity: no contact
  // m/s. Upper bound at contact_time, for points of the bodies that are within the tolerance of
  // contact; 0 without contact. NaN if the motion of the obstacle is not known then.
  double relative_speed = std::numeric_limits<double>::quiet_NaN();
  // The edge of the ego that faces the obstacle: from vertex i to i + 1, counted through its parts.
  std::int64_t ego_edge = -1;
  // m/s^2. With this deceleration, there is certainly no contact; see Braking. Infinity: none
  // found.
  double required_deceleration = std::numeric_limits<double>::quiet_NaN();
  // s. Lower bound on the time between the ego and an obstacle at one place. Infinity: they share
  // no place.
  double post_encroachment_time = std::numeric_limits<double>::quiet_NaN();
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
#include <vector>

#include "gjk/certificate.hpp"
#include "gjk/motion/motion.hpp"
#include "gjk/parallel.hpp"
#include "gjk/query.hpp"
#include "gjk/scene/obstacles.hpp"
#include "gjk/shape/box.hpp"
#include "gjk/shape/placing.hpp"

namespace gjk {

namespace detail {

// An interval of a coordinate (m).
struct Extent {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void include(double value) noexcept {
    low = std::fmin(low, value);
    high = std::fmax(high, value);
  }
};

// The points of a shape that are within `depth` (m) of its farthest point along the unit vector n:
// the extent of their coordinate along perpendicular(n).
inline Extent cap(const Convex& shape, Vec2 n, double depth) noexcept {
  const double level = dot(n, shape.vertex(shape.support(n))) - depth;
  const Vec2 along = perpendicular(n);
  Extent extent;
  for (int i = 0; i < shape.size; ++i) {
    const Vec2 p = shape.vertex(i);
    const Vec2 q = shape.vertex(after(i, shape.size));
    const double above_p = dot(n, p) - level;
    const double above_q = dot(n, q) - level;
    if (above_p >= 0.0) extent.include(dot(along, p));
    if ((above_p >= 0.0) != (above_q >= 0.0)) {
      extent.include(dot(along, p + (above_p / (above_p - above_q)) * (q - p)));
    }
  }
  const double round = std::fmin(shape.radius, std::sqrt(2.0 * shape.radius * depth));
  return {extent.low - round - depth, extent.high + round + depth};
}

// The edge of a shape, from vertex i to i + 1, whose outer normal is nearest to the direction n.
inline int edge_towards(const Convex& shape, Vec2 n) noexcept {
  int best = 0;
  double most = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < shape.size; ++i) {
    const Vec2 way = unit(shape.vertex(after(i, shape.size)) - shape.vertex(i));
    const double facing = dot(n, -perpendicular(way));
    if (!(facing > most)) continue;
    most = facing;
    best = i;
  }
  return best;
}

// m/s. How fast a point of the body moves, relative to a body that stands.
inline Vec2 velocity_of(const Piece& piece, double t, Vec2 origin, Vec2 point) noexcept {
  return piece.velocity_at(t).velocity + piece.spin() * perpendicular(point - origin);
}

// What happens at a contact.
struct Impression {
  double relative_speed = std::numeric_limits<double>::quiet_NaN();  // m/s, as in Criticality
  double closing_speed = std::numeric_limits<double>::quiet_NaN();  // m/s, along the ego's velocity
  std::int64_t ego_edge = -1;
};

inline Impression impression(const Scene& scene, const Shape& ego, Motion plan,
                             const FirstContact& contact, double tolerance) {
  constexpr double kJoint = 1e-6;  // s. So near a joint, contact may be before or after it
  const Obstacles& obstacles = scene.obstacles();
  Impression result;
  const LocalTime now{contact.time, 2.0 * obstacles.time_error() + kJoint};
  std::size_t at = 0;
  const Piece* const way = piece_at(plan, now.time, at);
  if (way == nullptr) return result;
  if (contact.part < 0) {
    if (contact.obstacle != static_cast<std::int64_t>(scene.size())) return result;
    double far = 0.0;  // The ego is outside of the region: each of its points counts.
    for (int i = 0; i < ego.parts(); ++i)
      far = std::fmax(far, reach(ego.part(i)) + ego.part(i).radius);
    result.relative_speed = result.closing_speed = way->speed(far) * (1.0 + 0x1p-40);
    return result;
  }
  const auto k = static_cast<std::size_t>(contact.part);
  const auto index = static_cast<std::size_t>(contact.obstacle);
  const Motion motion = obstacles.motion(index);
  if (motion.empty() || motion.front().begin == motion.back().end) return result;
  LocalTime local = obstacles.local_time(index, now.time);
  local.time = std::fmin(motion.back().end, std::fmax(motion.front().begin, local.time));
  local.error = now.error;
  std::size_t there = 0;
  const Piece* const other = piece_at(motion, local.time, there);
  if (other == nullptr) return result;

  const Convex local_a = ego.part(contact.ego_part);
  const Convex local_b = obstacles.outlines().part(k);
  const Placement at_a = way->at(now.time, reach(local_a));
  const Placement at_b = other->at(local.time, obstacles.outlines().reach(k));
  Room room_a(local_a.size);
  Room room_b(local_b.size);
  const Convex& a = room_a.place(local_a, Transform::from_pose(at_a.pose, {}, at_a.error));
  const Convex& b = room_b.place(local_b, Transform::from_pose(at_b.pose, {}, at_b.error));
  const Closest closest = gjk::closest(a, b);
  if (closest.status != Status::success) return result;
  const Vec2 n = closest.direction;
  result.ego_edge = edge_towards(a, n);
  for (int i = 0; i < contact.ego_part; ++i) result.ego_edge += ego.part(i).size;

  // Points that touch are so near the farthest points of both.
  const double depth = tolerance + std::fabs(closest.distance) + 2.0 * (a.error + b.error);
  const Extent of_a = cap(a, n, depth);
  const Extent of_b = cap(b, -n, depth);
  const double ends[] = {std::fmax(of_a.low, -of_b.high), std::fmin(of_a.high, -of_b.low)};
  const double height = dot(n, closest.point_a);
  const Vec2 origin_a{at_a.pose.x, at_a.pose.y};
  const Vec2 origin_b{at_b.pose.x, at_b.pose.y};
  result.relative_speed = result.closing_speed = 0.0;
  visit_within_error(plan, at, now, [&](const Piece& own) {
    visit_within_error(motion, there, local, [&](const Piece& its) {
      const double within = 2.0 * depth * (std::fabs(own.spin()) + std::fabs(its.spin()));
      for (const double along : ends) {
        const Vec2 p = height * n + along * perpendicular(n);
        const Vec2 v = velocity_of(own, now.time, origin_a, p);
        const Vec2 relative = v - velocity_of(its, local.time, origin_b, p);
        result.relative_speed =
            std::fmax(result.relative_speed, (norm(relative) + within) * (1.0 + 0x1p-30));
        const Vec2 ahead = own.velocity();
        const double closing = dot(relative, ahead) / norm(ahead);
        result.closing_speed = std::fmax(result.closing_speed, closing);
      }
    });
  });
  return result;
}

// The ego on its trajectory, but with a deceleration a (m/s2) on top: at the time t, it has driven
// a (t - t0)^2 / 2 less of the same way. When its speed has fallen to 0, it stands for ever.
class Braking {
 public:
  Braking(const Scene& scene, const Shape& ego, std::span<const Pose> poses,
          std::span<const double> times, double tolerance) noexcept
      : scene_(scene),
        ego_(ego),
        poses_(poses),
        times_(times),
        options_{.tolerance = tolerance, .has_distance = false} {}

  // m/s2. A deceleration without contact, up to 3 % above the least one if that is unique. Infinity
  // if none was found; `estimate` is where the search begins.
  double least(double estimate) const {
    constexpr double kLeast = 0.01;  // m/s2
    constexpr double kClose = 1.03;
    constexpr int kMostChecks = 20;
    // It stops within a quarter of the tolerance.
    const double full = std::fmax(kLeast, 2.0 * speed(0) * speed(0) / options_.tolerance);
    double low = 0.0;
    double high = std::numeric_limits<double>::infinity();
    double next = std::fmin(full, std::fmax(kLeast, 1.01 * estimate));
    double factor = kClose;
    for (int n = 0; n < kMostChecks && high > kClose * low; ++n) {
      (is_free_of_contact(next) ? high : low) = next;
      if (high <= kLeast || low >= full) break;
      if (low > 0.0 && std::isfinite(high)) {
        next = std::sqrt(low * high);
        continue;
      }
      next = low > 0.0 ? std::fmin(full, low * factor) : std::fmax(kLeast, high / factor);
      factor = low > 0.0 ? 4.0 : 2.0;
    }
    return high;
  }

 private:
  double length(std::size_t i) const noexcept {
    return norm({poses_[i + 1].x - poses_[i].x, poses_[i + 1].y - poses_[i].y});
  }
  double speed(std::size_t i) const noexcept {
    return i + 1 < poses_.size() ? length(i) / (times_[i + 1] - times_[i]) : 0.0;
  }

  // Each piece has a constant speed. The distance by which it departs from the true motion is part
  // of its `time_error`. If a piece is not free, it is tried in halves.
  bool is_free_of_contact(double deceleration) const {
    const std::size_t last = poses_.size() - 1;
    const double longest = std::sqrt(8.0 * 20.0 * options_.tolerance / deceleration);  // s
    double step = longest;
    double t = times_.front();
    double share = 0.0;   // of the segment `way`
    std::size_t way = 0;  // where the ego is
    std::size_t now = 0;  // where it would be without the deceleration
    while (t < times_.back()) {
      while (times_[now + 1] <= t) ++now;
      const double v = speed(now) - deceleration * (t - times_.front());
      Piece piece = Piece::between(0.0, poses_[way], 1.0, poses_[std::min(way + 1, last)]);
      if (!(v > 0.0) || way == last || length(way) == 0.0) {
        piece = Piece::still(piece.at(share, 0.0).pose);
        piece.begin = t;
        piece.end = times_.back();
        return passes(piece);
      }
      const double rest = (1.0 - share) * length(way);
      double lasts = std::fmin(std::fmin(times_[now + 1] - t, v / deceleration), step);
      double moves = lasts * (v - 0.5 * deceleration * lasts);
      const bool is_through = moves >= rest;
      if (is_through) {
        moves = rest;
        lasts = 2.0 * rest / (v + std::sqrt(std::fmax(0.0, v * v - 2.0 * deceleration * rest)));
      }
      const double end = std::fmin(times_[now + 1], t + lasts);
      const double reached = is_through ? 1.0 : share + moves / length(way);
      const double bend = deceleration * lasts * lasts / 8.0;  // m
      if (end > t && reached > share) {
        piece.begin = t;
        piece.end = end;
        piece.duration = (end - t) / (reached - share);
        piece.start = t - share * piece.duration;
        const double off = bend + 64.0 * kUnitRoundoff * (v * std::fabs(t) + length(way));
        piece.time_error = off / length(way) * piece.duration;
        if (!passes(piece)) {
          if (!(bend > 0.125 * options_.tolerance)) return false;
          step = 0.5 * lasts;
          continue;
        }
      }
      step = std::fmin(longest, 2.0 * step);
      t = end > t ? end : std::nextafter(t, times_.back());
      share = is_through ? 0.0 : reached;
      way += is_through ? 1 : 0;
    }
    return true;
  }

  bool passes(const Piece& piece) const {
    PathCheck check(scene_, ego_, options_);
    check.follow(piece, true);
    Verdict verdict = check.decision().verdict();
    Status status = check.decision().status();
    check_free(verdict, status, check.decision().lower(), 0.0);
    return severity(verdict) <= severity(Verdict::margin);
  }

  const Scene& scene_;
  const Shape& ego_;
  std::span<const Pose> poses_;
  std::span<const double> times_;
  PathOptions options_;
};

// A body on its motion, as a binary tree over the pieces. The node of the pieces first to last - 1
// is followed by its left child, with the pieces up to middle(), and that by its right child.
class Track {
 public:
  // Some of the pieces, or a part of one of them.
  struct Leg {
    std::size_t first = 0;
    std::size_t last = 0;
    std::size_t node = 0;
    double begin = 0.0;  // s
    double end = 0.0;    // s

    bool is_one_piece() const noexcept { return last - first == 1; }
    std::size_t middle() const noexcept { return first + (last - first) / 2; }
  };

  // What a leg sweeps is within `round` (m) of the hull of the shape at its begin and at its end.
  struct Sweep {
    Transform begin;
    Transform end;
    double round = 0.0;
    double size = 0.0;  // m. No point moves farther

    // m. Upper bound on the coordinate along the unit vector n of a part of the body.
    double support(const Convex& part, Vec2 n) const noexcept {
      const auto at = [&](const Transform& there) noexcept {
        const Vec2 local = there.rotate_back(n);
        return dot(n, there.t) + dot(local, part.vertex(part.support(local)));
      };
      const double slack =
          norm1(begin.t) + norm1(end.t) + part.extent + part.radius + part.error + round;
      const double first = at(begin);
      const double last = at(end);
      const double farthest = (first > last ? first : last) + 0.0 * (first + last);  // or NaN
      return farthest + (part.radius + part.error + round) + 0x1p-40 * slack;
    }
  };

  // `reach` (m): that of the vertices; `radius` (m): how far the body extends beyond them.
  Track(Motion motion, double reach, double radius) : motion_(motion), reach_(reach) {
    double yaw = 0.0;
    for (const Piece& piece : motion) {
      const Placement at = piece.at(piece.begin, reach);
      joints_.push_back({at.pose.x, at.pose.y, yaw});
      error_ = std::fmax(error_, 2.0 * (at.error + piece.at(piece.end, reach).error));
      yaw += piece.is_still() ? 0.0 : piece.spin() * (piece.end - piece.begin);
    }
    const Pose at = motion.back().at(motion.back().end, 0.0).pose;
    joints_.push_back({at.x, at.y, yaw});
    add_nodes(0, motion.size());
    const Vec2 center = 0.5 * (Vec2{joints_.front().x, joints_.front().y} + Vec2{at.x, at.y});
    for (const Pose& joint : joints_) box_.include(Vec2{joint.x, joint.y});
    for (const Piece& piece : motion) radius += piece.is_arc ? bulge(piece) : 0.0;
    box_ = box_.grown((reach + radius + error_) * (1.0 + 0x1p-40) + 0x1p-40 * norm1(center));
  }

  Motion motion() const noexcept { return motion_; }
  const Box& box() const noexcept { return box_; }
  Leg whole() const noexcept {
    return {0, motion_.size(), 0, motion_.front().begin, motion_.back().end};
  }
  Sweep sweep(const Leg& leg) const noexcept {
    const Pose from = motion_[leg.first].at(leg.begin, 0.0).pose;
    const Pose to = motion_[leg.last - 1].at(leg.end, 0.0).pose;
    const double chord = norm({to.x - from.x, to.y - from.y});
    const double turn = std::fabs(to.yaw - from.yaw);
    Sweep result{Transform::from_pose(from), Transform::from_pose(to)};
    if (leg.is_one_piece()) {
      const double arc = motion_[leg.first].is_arc ? bulge(motion_[leg.first]) : 0.0;
      result.round = arc + turned(turn) + error_;
      result.size = chord + arc + reach_ * turn;
    } else {
      result.round = round_[leg.node];
      result.size = chord + 2.0 * result.round;
    }
    return result;
  }
  // A time (s) near the middle of a leg.
  double middle(const Leg& leg) const noexcept {
    if (!leg.is_one_piece()) return motion_[leg.middle()].begin;
    const double time = 0.5 * (leg.begin + leg.end);
    return std::isfinite(time) ? time : std::fmax(leg.begin, std::fmin(leg.end, 0.0));
  }
  Transform at(const Leg& leg, double time) const noexcept {
    const std::size_t piece = leg.is_one_piece() ? leg.first : leg.middle();
    const Placement there = motion_[piece].at(time, reach_);
    return Transform::from_pose(there.pose, {}, there.error);
  }
  Leg left(const Leg& leg) const noexcept {
    Leg half = leg;
    half.end = middle(leg);
    if (!leg.is_one_piece()) {
      half.last = leg.middle();
      half.node = leg.node + 1;
    }
    return half;
  }
  Leg right(const Leg& leg) const noexcept {
    Leg half = leg;
    half.begin = middle(leg);
    if (!leg.is_one_piece()) {
      half.first = leg.middle();
      half.node = leg.node + 2 * (leg.middle() - leg.first);
    }
    return half;
  }

 private:
  // m. By how much a vertex leaves the chord between its positions, if the body turns by `turn`
  // (rad) meanwhile: at most |p| turn^2 / 8, and at most the diameter.
  double turned(double turn) const noexcept {
    return reach_ * std::fmin(2.0, 0.125 * turn * turn) * (1.0 + 0x1p-40);
  }
  static double bulge(const Piece& arc) noexcept {  // m. No point of an arc is farther
    return norm(arc.velocity()) * (arc.end - arc.begin) * (1.0 + 0x1p-40);
  }

  // Each joint is compared with a position on the way from the first to the last one, and the
  // motion between two joints with that between these positions.
  void add_nodes(std::size_t first, std::size_t last) {
    const Pose& from = joints_[first];
    const Vec2 chord{joints_[last].x - from.x, joints_[last].y - from.y};
    const double turn = joints_[last].yaw - from.yaw;
    const double square = dot(chord, chord);
    double off = 0.0;
    double off_yaw = 0.0;
    for (std::size_t i = first + 1; i < last; ++i) {
      const Vec2 way{joints_[i].x - from.x, joints_[i].y - from.y};
      const double share =
          square > 0.0 ? std::fmin(1.0, std::fmax(0.0, dot(way, chord) / square)) : 0.5;
      off = std::fmax(off, norm(way - share * chord));
      off_yaw = std::fmax(off_yaw, std::fabs(joints_[i].yaw - from.yaw - share * turn));
    }
    for (std::size_t i = first; i < last; ++i) off += motion_[i].is_arc ? bulge(motion_[i]) : 0.0;
    round_.push_back(error_ + off * (1.0 + 0x1p-40) +
                     std::fmin(2.0 * reach_, reach_ * off_yaw + turned(turn)));
    if (last - first == 1) return;
    const std::size_t middle = first + (last - first) / 2;
    add_nodes(first, middle);
    add_nodes(middle, last);
  }

  Motion motion_;
  double reach_;               // m
  double error_ = 0.0;         // m, of its positions
  std::vector<Pose> joints_;   // yaws count whole turns
  std::vector<double> round_;  // m, by node
  Box box_;
};

// The obstacles that move. The ego meets the others only by contact.
struct Tracks {
  std::vector<std::size_t> indices;
  std::vector<Track> tracks;

  explicit Tracks(const Obstacles& obstacles) {
    const Outlines& outlines = obstacles.outlines();
    for (std::size_t i = 0; i < obstacles.size(); ++i) {
      const Motion motion = obstacles.motion(i);
      const bool stands = std::all_of(motion.begin(), motion.end(), [&](const Piece& piece) {
        const Pose& first = motion.front().from;
        return piece.is_still() && piece.from.x == first.x && piece.from.y == first.y &&
               piece.from.yaw == first.yaw;
      });
      if (stands) continue;
      double reach = 0.0;
      double radius = 0.0;
      for (std::size_t k = outlines.begin(i); k < outlines.end(i); ++k) {
        const Convex part = outlines.part(k);
        reach = std::fmax(reach, outlines.reach(k));
        radius = std::fmax(radius, part.radius + part.error);
      }
      indices.push_back(i);
      tracks.emplace_back(motion, reach, radius);
    }
  }
};

// Finds the least time between the ego and an obstacle at one place, by branch and bound over
// pairs of legs: those that are nearest in time come first. A pair is dropped if a line separates
// all that both sweep.
class Encroachment {
 public:
  Encroachment(const Scene& scene, const Shape& ego, const Tracks& others,
               double tolerance) noexcept
      : obstacles_(scene.obstacles()), ego_(ego), others_(others), tolerance_(tolerance) {
    for (int i = 0; i < ego.parts(); ++i) {
      reach_ = std::fmax(reach_, gjk::reach(ego.part(i)));
      radius_ = std::fmax(radius_, ego.part(i).radius + ego.part(i).error);
    }
  }

  // s. A lower bound. Places count as shared if the shapes pass within the tolerance.
  double least(Motion plan) {
    constexpr int kMostPairs = 20000;
    const Track track(plan, reach_, radius_);
    pairs_.clear();
    for (std::size_t i = 0; i < others_.tracks.size(); ++i) {
      const Track& other = others_.tracks[i];
      if (track.box().gap(other.box()) == Vec2{}) push({i, track.whole(), other.whole()});
    }
    double shared = std::numeric_limits<double>::infinity();  // s, of a place that was found
    for (int n = 0; !pairs_.empty(); ++n) {
      std::pop_heap(pairs_.begin(), pairs_.end());
      const Pair pair = pairs_.back();
      pairs_.pop_back();
      if (shared <= 1.05 * pair.apart + 0.02 || n == kMostPairs) return certain(pair);
      const Track& other = others_.tracks[pair.other];
      const Track::Sweep a = track.sweep(pair.own);
      const Track::Sweep b = other.sweep(pair.its);
      if (are_separate(track, other, pair, a, b, shared)) continue;
      if (a.size + b.size <= 0.5 * tolerance_) return certain(pair);
      Pair half = pair;
      if (a.size > b.size) {
        half.own = track.left(pair.own);
        push(half);
        half.own = track.right(pair.own);
      } else {
        half.its = other.left(pair.its);
        push(half);
        half.its = other.right(pair.its);
      }
      push(half);
    }
    return std::numeric_limits<double>::infinity();
  }

 private:
  struct Pair {
    std::size_t other = 0;
    Track::Leg own;
    Track::Leg its;
    double apart = 0.0;  // s, between the legs

    bool operator<(const Pair& second) const noexcept { return apart > second.apart; }
  };

  // A query time (s) on the clock of an obstacle.
  double local(std::size_t other, double time) const noexcept {
    return two_difference(time, obstacles_.stamp(others_.indices[other])).high;
  }
  void push(Pair pair) {
    const double late = pair.its.begin - local(pair.other, pair.own.end);
    const double early = local(pair.other, pair.own.begin) - pair.its.end;
    pair.apart = std::fmax(0.0, std::fmax(late, early));
    pairs_.push_back(pair);
    std::push_heap(pairs_.begin(), pairs_.end());
  }
  double certain(const Pair& pair) const noexcept {
    const double rounding = 4.0 * kUnitRoundoff * std::fabs(local(pair.other, pair.own.begin));
    return std::fmax(0.0,
                     pair.apart * (1.0 - 4.0 * kUnitRoundoff) - obstacles_.time_error() - rounding);
  }

  bool are_separate(const Track& track, const Track& other, const Pair& pair, const Track::Sweep& a,
                    const Track::Sweep& b, double& shared) {
    const Vec2 between = 0.5 * ((b.begin.t + b.end.t) - (a.begin.t + a.end.t));
    const auto facing = [&](Vec2 chord) noexcept {
      const Vec2 n = unit(perpendicular(chord));
      return dot(n, between) < 0.0 ? -n : n;
    };
    const Vec2 axes[] = {facing(a.end.t - a.begin.t), facing(b.end.t - b.begin.t), unit(between)};
    const bool is_fine = pair.own.is_one_piece() && pair.its.is_one_piece();
    const Outlines& outlines = obstacles_.outlines();
    const std::size_t index = others_.indices[pair.other];
    for (int i = 0; i < ego_.parts(); ++i) {
      const Convex part = ego_.part(i);
      for (std::size_t k = outlines.begin(index); k < outlines.end(index); ++k) {
        const Convex its = outlines.part(k);
        const auto are_apart = [&](Vec2 n) noexcept {
          return a.support(part, n) + b.support(its, -n) < 0.0;
        };
        if (std::any_of(std::begin(axes), std::end(axes), are_apart)) continue;
        if (!is_fine) return false;
        const double now = track.middle(pair.own);
        const double then = other.middle(pair.its);
        Room room_a(part.size);
        Room room_b(its.size);
        const Closest closest = gjk::closest(room_a.place(part, track.at(pair.own, now)),
                                             room_b.place(its, other.at(pair.its, then)));
        if (are_apart(closest.direction)) continue;
        if (closest.status == Status::success && closest.distance <= tolerance_) {
          shared = std::fmin(shared, std::fabs(local(pair.other, now) - then));
        }
        return false;
      }
    }
    return true;
  }

  const Obstacles& obstacles_;
  const Shape& ego_;
  const Tracks& others_;
  double tolerance_;         // m
  double reach_ = 0.0;       // m
  double radius_ = 0.0;      // m
  std::vector<Pair> pairs_;  // a heap
};

}  // namespace detail

GJK_KERNEL void criticality(const Scene& scene, const Shape& ego, std::span<const Pose> poses,
                            std::span<const double> times, double tolerance,
                            std::span<Criticality> results, unsigned threads) {
  if (results.empty()) return;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::size_t length = poses.size() / results.size();
  const bool shared = times.size() == length;
  if (length == 0 || poses.size() != length * results.size() ||
      !(shared || times.size() == poses.size())) {
    std::fill(results.begin(), results.end(), Criticality{.status = Status::invalid_input});
    return;
  }
  const Obstacles& obstacles = scene.obstacles();
  const detail::Tracks tracks(obstacles);
  const PathOptions options{.tolerance = tolerance, .has_distance = false};
  const auto one = [&](std::span<const Pose> way, std::span<const double> at,
                       std::vector<Piece>& plan, detail::Encroachment& encroachment) {
    const PathResult path = check_path(scene, ego, way, at, options);
    Criticality result{path.verdict, path.status, path.obstacle};
    if (path.verdict == Verdict::unknown) return result;
    plan.clear();
    append_path(at, way, plan);
    if (path.verdict != Verdict::collision) {
      result.contact_time = kInfinity;
      result.relative_speed = result.required_deceleration = 0.0;
      result.post_encroachment_time = encroachment.least(plan);
      return result;
    }
    FirstContact contact = path.contact;
    contact.time = result.contact_time = path.first_collision_time;
    result.obstacle = contact.obstacle;
    result.post_encroachment_time = 0.0;
    const detail::Impression met = detail::impression(scene, ego, plan, contact, tolerance);
    result.relative_speed = met.relative_speed;
    result.ego_edge = met.ego_edge;
    const bool is_known = obstacles.unknown_in(obstacles.at(at.front())) < 0 &&
                          obstacles.unknown_in(obstacles.at(at.back())) < 0;
    if (!is_known) return result;
    const double until = contact.time - at.front();
    result.required_deceleration =
        until > 0.0
            ? detail::Braking(scene, ego, way, at, tolerance).least(0.5 * met.closing_speed / until)
            : kInfinity;
    return result;
  };
  for_each_chunk(results.size(), 1, threads, [&] {
    return [&, plan = std::vector<Piece>{},
            encroachment = detail::Encroachment(scene, ego, tracks, tolerance)](
               std::size_t begin, std::size_t end) mutable {
      for (std::size_t k = begin; k < end; ++k) {
        results[k] = one(poses.subspan(k * length, length),
                         shared ? times : times.subspan(k * length, length), plan, encroachment);
      }
    };
  });
}

}  // namespace gjk
#endif
