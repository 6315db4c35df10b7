// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The first obstacle on each of many rays from one point.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "gjk/arithmetic.hpp"
#include "gjk/scene/obstacles.hpp"
#include "gjk/scene/scene.hpp"
#include "gjk/shape/box.hpp"
#include "gjk/shape/convex.hpp"
#include "gjk/shape/pose.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

struct RayHit {
  Verdict verdict = Verdict::unknown;  // COLLISION > UNKNOWN > FREE
  Status status = Status::undefined;
  // m, up to which contact is excluded: not longer than to the contact. Infinity if FREE, NaN if
  // UNKNOWN.
  double distance = kNaN;
  std::int64_t obstacle = -1;  // index of the obstacle that is hit, or that makes it UNKNOWN
};

// Rays from one point among the obstacles at rest. A ray from outside of the region hits the
// outside at once. Allocates only for parts with more than Room::kMost vertices.
class RayCaster {
 public:
  RayCaster(const Scene& scene, Vec2 origin) noexcept;

  // `direction` may have any length greater than 0. Conservative within the tolerance (m, > 0): a
  // hit may be reported if the ray passes at a distance of up to the tolerance.
  RayHit cast(Vec2 direction, double max_distance, double tolerance) const;

 private:
  static constexpr int kSegments = 16;

  // The region is the last obstacle.
  std::int64_t outside() const noexcept {
    return static_cast<std::int64_t>(obstacles_->size()) - 1;
  }
  Box bounds(std::size_t k) const noexcept { return obstacles_->at_rest(k).part().bounds(); }
  static bool overlap(const Box& a, const Box& b) noexcept {
    return a.low.x <= b.high.x && b.low.x <= a.high.x && a.low.y <= b.high.y && b.low.y <= a.high.y;
  }
  Box segment_box(Vec2 along, double begin, double end, double tolerance) const noexcept {
    Box box;
    for (const double at : {begin, end}) {
      const Vec2 by = at * along;
      box.include(Box{start_.low + by, start_.high + by});
    }
    return box.grown(tolerance + 16.0 * kUnitRoundoff * (end + norm1(start_.low)));
  }
  // Whether the line of the ray certainly passes a box, by more than the tolerance.
  bool passes(Vec2 along, const Box& box, double tolerance, double most) const noexcept {
    const Vec2 n = perpendicular(along);
    const Vec2 middle = box.center() - start_.center();
    const Vec2 half = 0.5 * (box.high - box.low) + 0.5 * (start_.high - start_.low);
    const double beside = std::fabs(dot(n, middle));
    const double wide = std::fabs(n.x) * half.x + std::fabs(n.y) * half.y + tolerance;
    return beside >
           wide * (1.0 + 0x1p-40) +
               32.0 * kUnitRoundoff * (norm1(middle) + norm1(box.low) + norm1(start_.low) + most);
  }

  const Obstacles* obstacles_;
  bool is_outside_;        // the origin is not in the region
  Pose from_;              // relative to the origin of the obstacles
  double error_ = 0.0;     // m, of from_
  Box start_;              // of the origin, relative to that of the obstacles
  double farthest_ = 0.0;  // m, no point of an obstacle is farther away
};

// One result per direction, for any number of threads.
void ray_cast(const Scene& scene, Vec2 origin, std::span<const Vec2> directions,
              double max_distance, double tolerance, std::span<RayHit> results,
              unsigned threads = 1);

}  // namespace gjk

#ifdef GJK_KERNEL
#include "gjk/certificate.hpp"
#include "gjk/motion/cast.hpp"
#include "gjk/parallel.hpp"
#include "gjk/scene/region.hpp"
#include "gjk/shape/expansion.hpp"

namespace gjk {

GJK_KERNEL RayCaster::RayCaster(const Scene& scene, Vec2 origin) noexcept
    : obstacles_(&scene.obstacles()),
      is_outside_(scene.region() != nullptr && !scene.region()->contains(origin)) {
  // Relative to the origin of the obstacles, where coordinates are small.
  const TwoTerms x = two_difference(origin.x, obstacles_->origin().x);
  const TwoTerms y = two_difference(origin.y, obstacles_->origin().y);
  const Vec2 at{x.high, y.high};
  from_ = {at.x, at.y, 0.0};
  error_ = std::fabs(x.low) + std::fabs(y.low);
  const double rounding = 4.0 * (error_ + kUnitRoundoff * norm1(at));
  start_ = Box{at, at}.grown(rounding);
  for (std::size_t k = 0; k < obstacles_->parts(); ++k) {
    const Box box = bounds(k);
    const Vec2 aside{std::fmax(std::fabs(box.low.x - at.x), std::fabs(box.high.x - at.x)),
                     std::fmax(std::fabs(box.low.y - at.y), std::fabs(box.high.y - at.y))};
    farthest_ = std::fmax(farthest_, (norm(aside) + rounding) * 1.001);
  }
}

GJK_KERNEL RayHit RayCaster::cast(Vec2 direction, double max_distance, double tolerance) const {
  RayHit hit;
  const Vec2 along = unit(direction);
  const double zero = 0.0;
  const double most = std::fmin(max_distance, farthest_ + tolerance);
  // The radius covers the rounding of the unit vector, which is less than 4 u.
  Convex point = Convex::view(&zero, &zero, 1, 8.0 * kUnitRoundoff * most);
  point.error = error_;
  if (!(!std::isnan(along.x) && max_distance >= 0.0 && tolerance > 0.0) ||
      obstacles_->unusable() >= 0 || !in_domain(point, point)) {
    hit.status = Status::invalid_input;
    return hit;
  }
  if (is_outside_) return {Verdict::collision, Status::success, 0.0, outside()};
  Decision decision(0.0);
  double until = most;
  bool is_hit = false;
  // The boxes of segments of the ray, near ones first.
  Box before;
  double begin = 0.0;
  for (int s = 1; s <= kSegments && begin <= until; ++s) {
    const double end = s == kSegments ? most : most * (static_cast<double>(s) / kSegments);
    const Box segment = segment_box(along, begin, end, tolerance);
    const auto look_at = [&](std::uint32_t k) {
      const Box box = bounds(k);
      if (overlap(box, before) || passes(along, box, tolerance, most)) return false;
      const std::int64_t owner = obstacles_->owner(k);
      const Impact impact = shape_cast(point, from_, along, until, obstacles_->at_rest(k).convex(),
                                       {}, {0.0, tolerance});
      if (is_free(impact.verdict)) {
        decision.take(impact.verdict);
        return false;
      }
      const double at = std::isnan(impact.last_valid) ? 0.0 : impact.last_valid;
      if (impact.hit()) {
        decision.take(impact.verdict);
      } else {
        decision.fail(impact.status);
      }
      if (hit.obstacle < 0 || at < until || (impact.hit() && !is_hit)) {
        hit.obstacle = owner;
        is_hit = impact.hit();
      }
      until = std::fmin(until, at);
      return false;
    };
    decision.take(Certificate::exhausted(
        obstacles_->overlapping(segment, Obstacles::at_rest(), look_at), 0.0));
    before = segment;
    begin = end;
  }
  hit.verdict = decision.verdict();
  hit.status = decision.status();
  if (is_free(hit.verdict)) hit.distance = kInfinity;
  if (hit.verdict == Verdict::collision) hit.distance = until;
  return hit;
}

GJK_KERNEL void ray_cast(const Scene& scene, Vec2 origin, std::span<const Vec2> directions,
                         double max_distance, double tolerance, std::span<RayHit> results,
                         unsigned threads) {
  const RayCaster caster(scene, origin);
  for_each_chunk(results.size(), 32, threads, [&] {
    return [&](std::size_t begin, std::size_t end) {
      for (std::size_t n = begin; n < end; ++n) {
        results[n] = caster.cast(directions[n], max_distance, tolerance);
      }
    };
  });
}

}  // namespace gjk
#endif
