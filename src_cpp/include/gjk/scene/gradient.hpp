// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Signed distances to the nearest obstacles, and their derivatives by the ego's pose and by time.
//
// Let n be the unit vector from the ego to the obstacle, and a, b the closest points; if they
// overlap, the deepest points. While the closest features stay the same, the distance changes by
// n.(velocity of b - velocity of a), where a and b move with their shapes (Lin and Canny, "A fast
// algorithm for incremental distance calculation", 1991; Mirtich, "V-Clip", 1998). In penetration
// this holds too: the distance is minus the depth along the edge normal n, and n.(b - a) is the
// distance. With the ego's origin c, the derivatives by x and y are -n, and that by yaw is
// -n.perpendicular(a - c). They hold for every point of the line through a and b in place of a.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gjk/arithmetic.hpp"
#include "gjk/callback.hpp"
#include "gjk/motion/motion.hpp"
#include "gjk/scene/obstacles.hpp"
#include "gjk/scene/scene.hpp"
#include "gjk/shape/convex.hpp"
#include "gjk/shape/vec2.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

struct Gradient {
  std::int64_t obstacle = -1;  // index, -1: none
  double distance = kNaN;      // m, signed
  double lower_bound = kNaN;   // m, certified
  // Derivatives of the distance.
  double by_x = kNaN;
  double by_y = kNaN;
  double by_yaw = kNaN;  // m/rad
  double rate = kNaN;    // m/s; NaN: velocity unknown
  // The closest features are unique, and stay the same if x, y, yaw and time change by at most
  // kSmoothWithin, as far as the motion is known. Otherwise the derivatives are one-sided.
  bool smooth = false;
};

inline constexpr double kSmoothWithin = 1e-6;  // m, rad, s

namespace detail {

struct ClosestFeatures;
struct RelativeMotion;

}  // namespace detail

// Gradients for one ego shape among the obstacles of a scene. Allocates when it is made, and when
// its memory has to grow. Not for several threads at once.
class GradientQuery {
 public:
  GradientQuery(const Scene& scene, const Shape& shape, std::size_t k);

  // The nearest obstacles, in the order of Scene::nearest(); results.size() is k. Entries after the
  // last obstacle are empty. Returns SUCCESS; NUMERIC_FAILURE if the distance of an obstacle could
  // not be computed; or INVALID_INPUT or PREDICTION_TOO_SHORT, and all entries are empty.
  Status at(const Pose& pose, std::span<Gradient> results);
  // The same with the obstacles at `time` (s).
  Status at(const Pose& pose, double time, std::span<Gradient> results);

 private:
  struct ObstacleMotion {
    Vec2 origin;            // m, of the obstacle, relative to ego_.origin_
    Vec2 velocity;          // m/s; NaN: unknown
    double spin = 0.0;      // rad/s
    double yaw = 0.0;       // rad
    bool is_steady = true;  // the velocity does not change within kSmoothWithin
  };

  Status at(const Pose& pose, const Obstacles::View& view, std::span<Gradient> results);

  Gradient gradient(const Scene::Ego::Seen& seen, const Obstacles::View& view, Vec2 centre,
                    double window);

  // Whether no other obstacle may come as near as this one, or be overtaken by it.
  bool is_alone(const Scene::Ego::Seen& seen, double window) const noexcept;

  // Whether all pairs of parts of the obstacle and the ego that may come as near have the same
  // closest features, as at a vertex that two parts share.
  bool has_one_pair(const Scene::Ego::Seen& seen, const Obstacles::View& view,
                    const ObstacleMotion& motion, const detail::ClosestFeatures& features,
                    double window);

  detail::ClosestFeatures features_of(const Scene::Ego::Seen& seen, const Obstacles::View& view,
                                      const ObstacleMotion& motion);

  detail::RelativeMotion relative_motion(const Convex& a, const Convex& b, std::size_t k,
                                         const Obstacles::View& view,
                                         const ObstacleMotion& motion) const noexcept;

  ObstacleMotion motion_of(std::size_t owner, const Obstacles::View& view) const noexcept {
    ObstacleMotion motion;
    if (!view.timed) return motion;
    const Obstacles& obstacles = scene_->obstacles();
    const Motion pieces = obstacles.motion(owner);
    motion.velocity = {kNaN, kNaN};
    motion.is_steady = false;
    if (pieces.empty()) return motion;  // known at one time
    const LocalTime local = obstacles.local_time(owner, view.time);
    const double time = std::fmin(pieces.back().end, std::fmax(pieces.front().begin, local.time));
    std::size_t at = 0;
    const Piece* const piece = piece_at(pieces, time, at);
    if (piece == nullptr || !(piece->begin < piece->end)) return motion;
    const Pose pose = piece->at(time, 0.0).pose;
    motion.origin = Vec2{pose.x, pose.y} - ego_.origin_;
    motion.velocity = piece->velocity();
    motion.spin = piece->spin();
    motion.yaw = pose.yaw;
    const double wide =
        (kSmoothWithin + local.error + 4.0 * kUnitRoundoff * std::fabs(time)) * (1.0 + 0x1p-10);
    const auto is_same = [&](const Piece& other) noexcept {
      return other.velocity() == motion.velocity && other.spin() == motion.spin;
    };
    motion.is_steady = !obstacles.lifetimes().change_within(view.time, wide);
    for (std::size_t k = at; k > 0 && pieces[k].begin >= time - wide; --k) {
      motion.is_steady &= is_same(pieces[k - 1]);
    }
    for (std::size_t k = at + 1; k < pieces.size() && pieces[k].begin <= time + wide; ++k) {
      motion.is_steady &= is_same(pieces[k]);
    }
    return motion;
  }

  // m. Largest distance of a point of obstacle i from its origin.
  double reach_of(std::size_t i) const noexcept {
    const Outlines& outlines = scene_->obstacles().outlines();
    double reach = 0.0;
    for (std::size_t k = outlines.begin(i); k < outlines.end(i); ++k) {
      reach = std::fmax(reach, outlines.reach(k) + outlines.part(k).radius);
    }
    return reach;
  }

  const Scene* scene_;
  std::size_t k_;
  Scene::Ego ego_;
  double fastest_ = 0.0;  // m/s, of any point of an obstacle
  Pose last_{kNaN, 0.0, 0.0};
  std::size_t nearest_part_ = kNone;
};

// put(n, status, gradients): the result at pose n.
using PutGradients = Callback<void, std::size_t, Status, std::span<const Gradient>>;

// The k nearest obstacles at each pose, for any number of threads. `times` (s) has one entry per
// pose, or is empty if the obstacles stand still. Calls put(n, status, gradients) once for each
// pose, from any of the threads.
void gradients(const Scene& scene, const Shape& shape, std::span<const Pose> poses,
               std::span<const double> times, std::size_t k, const PutGradients& put,
               unsigned threads = 1);

}  // namespace gjk

#ifdef GJK_KERNEL
#include "gjk/certificate.hpp"
#include "gjk/narrow/extremes.hpp"
#include "gjk/parallel.hpp"
#include "gjk/query.hpp"

namespace gjk {

namespace detail {

// The relative motion of the ego and an obstacle, and the errors of their vertices.
struct RelativeMotion {
  double ego_reach = 0.0;  // m, of the ego's points from its origin
  double speed = 0.0;      // m/s, of the obstacle's origin
  double spin = 0.0;       // rad/s
  double reach = 0.0;      // m, of the obstacle's points from its origin
  double error = 0.0;      // m, of the vertices of both
  double rounding = 0.0;   // m, the part of `error` that comes from rounding

  // Upper bound (m) on the relative motion of points that are within `beyond` (m) of the shape that
  // they are not part of. 1.5 covers sqrt(2) and the terms of second order.
  double shift(double beyond) const noexcept {
    return kSmoothWithin * (1.5 + ego_reach + beyond + speed + spin * (reach + beyond)) *
               (1.0 + 0x1p-10) +
           4.0 * error;
  }
  // Upper bound (rad) on the relative rotation.
  double turn() const noexcept { return kSmoothWithin * (1.0 + spin) * (1.0 + 0x1p-10); }
};

// The closest features of two polygons: a vertex and an edge, or two vertices (from == to).
struct ClosestFeatures {
  bool are_certain = false;  // unique and unchanged within kSmoothWithin
  bool edge_is_of_p = true;
  Vec2 vertex;  // m
  Vec2 from;    // m, ends of the edge
  Vec2 to;
  Vec2 normal;  // unit, from p to q
  // m, along perpendicular(direction): from the closest points of two parallel edges to an end of
  // the part where the edges face each other. The derivative by the yaw is one-sided there.
  double to_end = 0.0;

  bool same_as(const ClosestFeatures& other) const noexcept {
    return edge_is_of_p == other.edge_is_of_p && vertex == other.vertex && from == other.from &&
           to == other.to;
  }
};

// Whether vertex i is farthest along the unit vector n, by more than `turn` (rad) and `error` (m).
// Because the polygon is convex, its neighbours decide.
inline bool is_certain_support(const Convex& shape, int i, Vec2 n, double turn,
                               double error) noexcept {
  if (shape.size == 1) return true;
  for (const int k : {after(i, shape.size), before(i, shape.size)}) {
    const Vec2 edge = shape.vertex(k) - shape.vertex(i);
    if (!(dot(n, edge) < -(turn * norm1(edge) + error))) return false;
  }
  return true;
}

// Whether `other` is deeper than `depth` (m) behind every edge of `owner`, except edge `skip` (-1:
// none). `slack` (m) and `error` (m) bound the change of a depth and the error of a vertex; `size`
// (m) bounds the distance of points of the shapes. The support vertex advances with the edges; if
// it stops too early, the depth found is too small, and the answer is false.
inline bool is_deeper_elsewhere(const Convex& owner, const Convex& other, int skip, double depth,
                                double slack, double error, double size) noexcept {
  if (owner.size == 1) return true;
  int support = -1;
  for (int i = 0; i < owner.size; ++i) {
    const Vec2 from = owner.vertex(i);
    const Vec2 edge = owner.vertex(after(i, owner.size)) - from;
    const double length = norm(edge);
    if (!(length > 8.0 * error)) return false;  // its direction is not known
    const Vec2 n = -(1.0 / length) * perpendicular(edge);
    if (support < 0) support = other.support(-n);
    double at = dot(n, from - other.vertex(support));
    for (int steps = 0; steps < other.size; ++steps) {
      const int next = after(support, other.size);
      const double there = dot(n, from - other.vertex(next));
      if (!(there > at)) break;
      at = there;
      support = next;
    }
    if (i == skip) continue;
    if (!(at > depth + slack + 4.0 * error * (1.0 + size / length))) return false;
  }
  return true;
}

// Certifies the features that a distance query has found. Every condition is sufficient for real
// arithmetic, with margins for the motion and the errors, however the features were found. A false
// answer only means that the conditions are not met.
inline ClosestFeatures certain_features(const Convex& p, const Convex& q, const Closest& closest,
                                        const RelativeMotion& relative) noexcept {
  constexpr double kAccuracy = 0x1p-22;  // rad, of the normal
  constexpr double kSame = 0x1p-24;
  ClosestFeatures found;
  const bool p_is_vertex = closest.feature_a.first == closest.feature_a.second;
  const bool q_is_vertex = closest.feature_b.first == closest.feature_b.second;
  const double error = relative.error;
  if (p_is_vertex && q_is_vertex) {
    const int i = closest.feature_a.first;
    const int j = closest.feature_b.first;
    const Vec2 between = q.vertex(j) - p.vertex(i);
    const double distance = norm(between);
    const double shift = relative.shift(distance);
    if (!(distance > 8.0 * shift && 4.0 * relative.rounding < kAccuracy * distance)) return found;
    found.from = found.to = p.vertex(i);
    found.vertex = q.vertex(j);
    found.normal = (1.0 / distance) * between;
    const double turn = 1.25 * shift / distance + relative.turn();
    found.are_certain = norm1(found.normal - closest.direction) < kSame &&
                        is_certain_support(p, i, found.normal, turn, 4.0 * error) &&
                        is_certain_support(q, j, -found.normal, turn, 4.0 * error);
    return found;
  }
  if (!p_is_vertex && !q_is_vertex) {  // parallel edges
    const auto end = [&](const Convex& shape, Feature edge, Vec2 from) noexcept {
      const Vec2 along = perpendicular(closest.direction);
      return std::fmax(dot(along, shape.vertex(edge.first) - from),
                       dot(along, shape.vertex(edge.second) - from));
    };
    found.to_end = std::fmax(0.0, std::fmin(end(p, closest.feature_a, closest.point_a),
                                            end(q, closest.feature_b, closest.point_b)));
    return found;
  }

  found.edge_is_of_p = q_is_vertex;
  const Convex& owner = found.edge_is_of_p ? p : q;
  const Convex& other = found.edge_is_of_p ? q : p;
  const Feature ends = found.edge_is_of_p ? closest.feature_a : closest.feature_b;
  const int vertex = found.edge_is_of_p ? closest.feature_b.first : closest.feature_a.first;
  const Vec2 toward =
      found.edge_is_of_p ? closest.direction : -closest.direction;  // out of the owner
  int first = ends.first;
  if (after(ends.second, owner.size) == first) first = ends.second;
  if (owner.size == 2) {  // the edge is on both sides
    const Vec2 edge = owner.vertex(1) - owner.vertex(0);
    first = dot(toward, perpendicular(edge)) < 0.0 ? 0 : 1;
  }
  const int second = after(first, owner.size);
  if (first + second != ends.first + ends.second) return found;  // not one edge
  found.from = owner.vertex(first);
  found.to = owner.vertex(second);
  found.vertex = other.vertex(vertex);
  const Vec2 edge = found.to - found.from;
  const double length = norm(edge);
  if (!(length > 8.0 * error && 4.0 * relative.rounding < kAccuracy * length)) return found;
  const Vec2 along = (1.0 / length) * edge;
  const Vec2 n = -perpendicular(along);
  found.normal = found.edge_is_of_p ? n : -n;
  const Vec2 since = found.vertex - found.from;
  const double height = dot(n, since);  // of the vertex above the edge
  const double foot = dot(along, since);
  const double shift = relative.shift(std::fabs(height));
  const double margin = 2.0 * shift + 8.0 * error * std::fabs(height) / length;
  if (!(norm1(n - toward) < kSame && foot > margin && foot < length - margin &&
        is_certain_support(other, vertex, -n, relative.turn() + 8.0 * error / length,
                           4.0 * error))) {
    return found;
  }
  // Outside, the feature nearest among its neighbours is nearest of all. Inside, it is the edge
  // with the smallest depth.
  if (height <= shift) {
    Box box;
    for (const Convex* const shape : {&p, &q}) {
      box.include(Box{{shape->extreme_x[2], shape->extreme_y[3]},
                      {shape->extreme_x[0], shape->extreme_y[1]}});
    }
    const double size = norm(box.high - box.low);
    const double slack = 4.0 * relative.shift(size);
    if (!is_deeper_elsewhere(owner, other, first, -height, slack, error, size) ||
        !is_deeper_elsewhere(other, owner, -1, -height, slack, error, size)) {
      return found;
    }
  }
  found.are_certain = true;
  return found;
}

}  // namespace detail

GJK_KERNEL GradientQuery::GradientQuery(const Scene& scene, const Shape& shape, std::size_t k)
    : scene_(&scene), k_(k), ego_(shape) {
  const Obstacles& obstacles = scene.obstacles();
  for (std::size_t i = 0; i < obstacles.size(); ++i) {
    const double reach = obstacles.motion(i).empty() ? 0.0 : reach_of(i);
    for (const Piece& piece : obstacles.motion(i)) {
      fastest_ = std::fmax(fastest_, piece.speed(reach));
    }
  }
}

GJK_KERNEL Status GradientQuery::at(const Pose& pose, std::span<Gradient> results) {
  return at(pose, Obstacles::at_rest(), results);
}

GJK_KERNEL Status GradientQuery::at(const Pose& pose, double time, std::span<Gradient> results) {
  return at(pose, scene_->obstacles().at(time), results);
}

inline Status GradientQuery::at(const Pose& pose, const Obstacles::View& view,
                                std::span<Gradient> results) {
  for (Gradient& result : results) result = {};
  // If the pose is near the previous one, the search starts at the part that was nearest there.
  const double moved = norm({pose.x - last_.x, pose.y - last_.y});
  const double turned = ego_.reach_ * std::fabs(pose.yaw - last_.yaw);
  if (!(moved + turned <= ego_.reach_)) nearest_part_ = kNone;
  last_ = pose;
  // The distances of two pairs of parts change by at most this relative to each other.
  const double window =
      2.0 * kSmoothWithin * (1.5 + ego_.reach_ + (view.timed ? fastest_ : 0.0)) * (1.0 + 0x1p-10);
  ego_.seen_.clear();
  ego_.kept_.clear();
  const Status status =
      scene_->find_nearest(ego_, pose, view, k_, kInfinity, window, nearest_part_);
  nearest_part_ = kNone;
  if (status != Status::success) return status;
  const Vec2 centre = Vec2{pose.x, pose.y} - ego_.origin_;
  bool is_complete = true;
  for (std::size_t j = 0; j < ego_.kept_.size(); ++j) {
    const Scene::Ego::Seen& seen = ego_.seen_[ego_.kept_[j]];
    if (j == 0) nearest_part_ = seen.pair / ego_.placed_.size();
    results[j] = gradient(seen, view, centre, window);
    is_complete &= seen.nearest.closest.status == Status::success;
  }
  return is_complete ? Status::success : Status::numeric_failure;
}

inline Gradient GradientQuery::gradient(const Scene::Ego::Seen& seen, const Obstacles::View& view,
                                        Vec2 centre, double window) {
  const Closest& closest = seen.nearest.closest;
  Gradient result;
  result.obstacle = seen.nearest.obstacle;
  result.lower_bound = closest.lower_bound;
  if (closest.status != Status::success) return result;
  result.distance = closest.distance;
  const auto owner = static_cast<std::size_t>(seen.nearest.obstacle);
  const ObstacleMotion motion = motion_of(owner, view);
  const bool leaves = ego_.leaves_ && owner == scene_->size();  // of the region
  const detail::ClosestFeatures features =
      leaves ? detail::ClosestFeatures{} : features_of(seen, view, motion);
  const Vec2 n = features.are_certain ? features.normal : closest.direction;
  const Vec2 off = features.to_end * perpendicular(n);
  const Vec2 a = features.are_certain ? features.vertex : closest.point_a + off;
  const Vec2 b = features.are_certain ? features.vertex : closest.point_b + off;
  result.by_x = 0.0 - n.x;  // no negative zeros
  result.by_y = 0.0 - n.y;
  result.by_yaw = 0.0 - dot(n, perpendicular(a - centre));
  result.rate = dot(n, motion.velocity + motion.spin * perpendicular(b - motion.origin)) + 0.0;
  result.smooth = features.are_certain && motion.is_steady && is_alone(seen, window) &&
                  has_one_pair(seen, view, motion, features, window);
  return result;
}

inline bool GradientQuery::is_alone(const Scene::Ego::Seen& seen, double window) const noexcept {
  const Closest& own = seen.nearest.closest;
  for (const Scene::Ego::Seen& other : ego_.seen_) {
    if (&other == &seen) continue;
    const Closest& its = other.nearest.closest;
    if (its.status != Status::success) return false;
    if (its.lower_bound <= own.distance + window && own.lower_bound <= its.distance + window) {
      return false;
    }
  }
  return true;
}

inline bool GradientQuery::has_one_pair(const Scene::Ego::Seen& seen, const Obstacles::View& view,
                                        const ObstacleMotion& motion,
                                        const detail::ClosestFeatures& features, double window) {
  const double limit = seen.nearest.closest.distance + window;
  if (seen.second > limit) return true;
  const Obstacles& obstacles = scene_->obstacles();
  const auto owner = static_cast<std::size_t>(seen.nearest.obstacle);
  const Outlines& outlines = obstacles.outlines();
  for (std::size_t k = outlines.begin(owner); k < outlines.end(owner); ++k) {
    const Obstacles::Found found = obstacles.find(k, view, ego_.origin_, ego_.moving_);
    if (!found) return false;
    for (std::size_t i = 0; i < ego_.placed_.size(); ++i) {
      if (Scene::pair_number(ego_, i, k) == seen.pair) continue;
      const Certificate boxes = Scene::apart(ego_.placed_.just_placed(i), found.part().facts());
      if (boxes.lower() > limit) continue;
      const Convex a = ego_.placed_.convex(i);
      const Convex b = found.convex();
      const Closest closest = gjk::closest(a, b);
      if (Scene::bound_of(closest, boxes).lower() > limit) continue;
      if (closest.status != Status::success) return false;
      const detail::ClosestFeatures others =
          detail::certain_features(a, b, closest, relative_motion(a, b, k, view, motion));
      if (!others.are_certain || !others.same_as(features)) return false;
    }
  }
  return true;
}

inline detail::ClosestFeatures GradientQuery::features_of(const Scene::Ego::Seen& seen,
                                                          const Obstacles::View& view,
                                                          const ObstacleMotion& motion) {
  const std::size_t k = seen.pair / ego_.placed_.size();
  const std::size_t i = seen.pair % ego_.placed_.size();
  const Obstacles::Found found = scene_->obstacles().find(k, view, ego_.origin_, ego_.moving_);
  if (!found) return {};
  const Convex a = ego_.placed_.convex(i);
  const Convex b = found.convex();
  return detail::certain_features(a, b, seen.nearest.closest,
                                  relative_motion(a, b, k, view, motion));
}

inline detail::RelativeMotion GradientQuery::relative_motion(
    const Convex& a, const Convex& b, std::size_t k, const Obstacles::View& view,
    const ObstacleMotion& motion) const noexcept {
  const Obstacles& obstacles = scene_->obstacles();
  detail::RelativeMotion relative;
  relative.ego_reach = ego_.reach_;
  if (view.timed) {
    relative.speed = norm(motion.velocity);
    relative.spin = std::fabs(motion.spin);
  }
  relative.reach = obstacles.outlines().reach(k) + b.radius;
  relative.error = a.error + b.error;
  relative.rounding = relative.error;
  if (view.timed && obstacles.time_error() > 0.0) {
    // Without the effect of the time's error: sine and cosine, and the sums; see
    // Transform::error() and Piece::at().
    const double turned = ego_.reach_ + (1.0 + std::fabs(motion.yaw)) * relative.reach;
    const double moved = a.extent + b.extent + norm1(ego_.origin_);
    relative.rounding = std::fmin(relative.error, kUnitRoundoff * (64.0 * turned + 16.0 * moved));
  }
  return relative;
}

GJK_KERNEL void gradients(const Scene& scene, const Shape& shape, std::span<const Pose> poses,
                          std::span<const double> times, std::size_t k, const PutGradients& put,
                          unsigned threads) {
  constexpr std::size_t kChunk = 128;
  for_each_chunk(poses.size(), kChunk, threads, [&] {
    return [&, query = GradientQuery(scene, shape, k), found = std::vector<Gradient>(k)](
               std::size_t begin, std::size_t end) mutable {
      for (std::size_t n = begin; n < end; ++n) {
        const Status status =
            times.empty() ? query.at(poses[n], found) : query.at(poses[n], times[n], found);
        put(n, status, std::span<const Gradient>(found));
      }
    };
  });
}

}  // namespace gjk
#endif
