// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// A region in which the ego shape must stay, given by its boundary.
//
// The boundary is a set of segments that form closed curves. In a scene, they are the parts of one
// more obstacle. A connected shape that touches none of them lies as a whole either in the region
// or outside of it. Any of its points decides which: the point is inside if a ray from it crosses
// the boundary an odd number of times. A segment that had to be rounded has a radius that covers
// the true segment. Moving a segment within its radius does not change the answer for points beyond
// it.
//
// A region may have an inflation: the distance that the ego must keep from the true boundary. The
// radius of each segment includes it. The signed distance of a shape is smaller by the inflation:
// that of the nearest point of a shape inside to the boundary, or minus that of its farthest point
// outside, minus the inflation.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "gjk/arithmetic.hpp"
#include "gjk/broad/boxes.hpp"
#include "gjk/broad/bvh.hpp"
#include "gjk/motion/motion.hpp"
#include "gjk/query.hpp"
#include "gjk/shape/box.hpp"
#include "gjk/shape/convex.hpp"
#include "gjk/shape/orientation.hpp"
#include "gjk/shape/pose.hpp"
#include "gjk/shape/shape.hpp"
#include "gjk/shape/vec2.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

class Region {
 public:
  // A piece of the boundary, grown by the radius (m). The region is on its left.
  struct Segment {
    Vec2 from;
    Vec2 to;
    double radius = 0.0;
  };

  // At least one segment; the coordinates are in the kernel's domain. `inflation` (m, >= 0) is at
  // most the radius of each segment.
  explicit Region(std::span<const Segment> segments, double inflation = 0.0);

  std::size_t bytes() const noexcept {
    return sizeof(Region) + tree_.bytes() + segments_.capacity() * sizeof(Segment);
  }

  // The boundary as an obstacle.
  Shape boundary() const {
    Shape shape;
    for (const Segment& segment : segments_) {
      const std::array ends{segment.from, segment.to};
      const bool is_point = segment.from == segment.to;
      shape.add_part(std::span(ends).first(is_point ? 1 : 2), segment.radius);
    }
    return shape;
  }

  // Whether a point of a shape that touches no segment is inside. `p` (m) is relative to `origin`,
  // the local origin of the obstacles or zero: differences of coordinates with it are exact. If the
  // search is not complete, the answer is false.
  bool holds(Vec2 p, Vec2 origin) const noexcept;

  // Whether an exact point is inside. False on the boundary, and within the radius of a segment.
  bool contains(Vec2 p) const noexcept;

  // Whether contact of a shape with the boundary is not excluded. `visit` gets each segment that
  // may be touched, until it returns true.
  template <typename Visit>
  bool crosses(const Convex& shape, Visit&& visit) const noexcept {
    if (!in_domain(shape, shape)) return true;
    bool is_crossed = false;
    const Exhausted search = tree_.overlapping(
        FloatBox::around(Box{shape.box().low - middle_, shape.box().high - middle_}.grown(
            shape.beyond_box() + 4.0 * kUnitRoundoff * (2.0 * shape.extent + extent_))),
        {}, [&](std::uint32_t k) noexcept {
          if (is_free(collide(shape, SegmentShape(segments_[k], {}).convex))) return false;
          is_crossed = true;
          return visit(segments_[k]);
        });
    return is_crossed || !search.is_complete();
  }

  // m. Lower bound on the distance of a point to the true boundary.
  double least_distance(Vec2 p) const noexcept {
    return std::fmax(0.0, nearest(p).distance - radius_ - rounding(norm1(p)));
  }

  // For a shape at a pose that touches no segment: infinity if each part is certainly inside.
  // Otherwise an upper bound (m) on the signed distance of a part to the outside of the region:
  // minus the inflation if the part is certainly outside.
  double to_outside(const Shape& shape, const Placement& at) const noexcept;

  // m. Upper bound on the distance of a shape to the true boundary with its inflation, given that
  // to a segment, which has a radius. Without the inflation, the radius is the uncertainty.
  double distance_to_true(double distance, double radius) const noexcept {
    return sum_outwards(distance, 2.0 * (radius - inflation_) * (1.0 + 4.0 * kUnitRoundoff));
  }

  // Whether contact of a part and a segment of the boundary is not excluded. Then their distance
  // does not tell how far the part is outside.
  static bool may_touch(const Closest& closest, const Convex& part,
                        const Convex& segment) noexcept {
    return closest.status == Status::success &&
           !(closest.lower_bound > free_above(part, segment, 0.0)) &&
           collide(part, segment) == Verdict::collision;
  }

  // Signed distance of a placed shape that is outside or for which contact with the boundary is not
  // excluded: minus the largest distance of one of its points to the region, minus the inflation.
  // If the shape is inside, but nearer to the boundary than the inflation, it is the distance to
  // the boundary minus the inflation. Add the other parts of a shape with include().
  class Excursion {
   public:
    // `part` is relative to `origin`.
    void include(const Region& region, const Convex& part, Vec2 origin) noexcept {
      inflation_ = region.inflation_;
      const Search search(region, part, origin);
      const double slack =
          part.error + region.radius_ + region.rounding(part.extent + norm1(origin) + inflation_);
      const double certain = search.farthest.height - part.error - search.error + inflation_;
      double upper = search.upper + part.radius + slack;
      if (!(certain > inflation_)) {
        upper = std::fmin(upper, -region.touch(part, origin, contact_));
      }
      upper_ = std::fmax(upper_, upper);
      if (!is_empty_ && certain <= certain_) return;
      is_empty_ = false;
      certain_ = certain;
      closest_.point_a = search.farthest.point - origin;
      closest_.point_b = search.farthest.near.point - inflation_ * search.outward - origin;
      closest_.direction = search.outward;
    }
    Closest closest() const noexcept {
      Closest result = closest_;
      result.distance = -certain_;
      if (!(certain_ > inflation_)) {  // no point that is certainly outside was found
        const bool touches = contact_.status == Status::success;
        if (touches) result = contact_;
        if (inflation_ == 0.0) result.point_a = result.point_b;
        result.distance = touches ? contact_.distance : 0.0 - inflation_;
      }
      result.status = Status::success;
      result.lower_bound = -upper_;
      return result;
    }

   private:
    bool is_empty_ = true;
    double inflation_ = 0.0;
    double certain_ = 0.0;  // m, how far the farthest point is outside, at least, and the inflation
    double upper_ = 0.0;
    Closest closest_;
    Closest contact_;  // with a segment, not farther than to the true boundary; status: undefined
  };

 private:
  static constexpr double kNothing = -kInfinity;

  // A segment as a shape, relative to `origin`.
  struct SegmentShape {
    SegmentShape(const Segment& segment, Vec2 origin) noexcept {
      const Vec2 from = segment.from - origin;
      const Vec2 to = segment.to - origin;
      x[0] = from.x;
      y[0] = from.y;
      x[1] = to.x;
      y[1] = to.y;
      convex = Convex::view(x, y, from == to ? 1 : 2, segment.radius);
    }
    SegmentShape(const SegmentShape&) = delete;
    SegmentShape& operator=(const SegmentShape&) = delete;

    double x[2]{};  // m
    double y[2]{};
    Convex convex;
  };

  // Looks for a segment that may touch a part, and is nearer than `contact`. All that certainly
  // touch are equally near, unless there is an inflation; of these, the one with the smallest index
  // is taken. Returns a lower bound (m) on the distance of the part to the true boundary minus the
  // inflation; -infinity if it is not certain that the part is inside.
  double touch(const Convex& part, Vec2 origin, Closest& contact) const noexcept {
    std::uint32_t least = std::numeric_limits<std::uint32_t>::max();
    Box box;
    for (int i = 0; i < part.size; ++i) box.include(box_around(part.vertex(i) + origin));
    double lower = 0.0;  // other segments are not nearer than their radii
    const Exhausted search = tree_.overlapping(
        FloatBox::around(box.grown(part.radius + part.error)), {}, [&](std::uint32_t k) noexcept {
          const double radius = segments_[k].radius;
          const SegmentShape shape(segments_[k], origin);
          const Convex& segment = shape.convex;
          Closest found = gjk::closest(part, segment);
          const bool is_known = found.status == Status::success;
          lower = is_known ? std::fmin(lower, found.lower_bound) : kNothing;
          if (!may_touch(found, part, segment)) return false;
          found.distance = std::fmax(0.0 - inflation_, distance_to_true(found.distance, radius));
          const bool is_first = contact.status != Status::success;
          if (is_first || found.distance < contact.distance ||
              (found.distance == contact.distance && k < least)) {
            least = k;
            contact = found;
          }
          return false;
        });
    const bool is_beyond = search.is_complete() && lower > -inflation_;  // the true segments
    return is_beyond && holds(part.vertex(0), origin) ? lower : kNothing;
  }

  struct Near {
    double distance = kInfinity;
    Vec2 point;
    std::uint32_t segment = 0;
  };

  // A point with its signed distance to the region: negative inside.
  struct Sample {
    Vec2 point;
    double height = 0.0;
    Near near;
  };

  Sample sample(Vec2 p) const noexcept {
    const Near near = nearest(p);
    return {p, holds(p, {}) ? -near.distance : near.distance, near};
  }

  // Finds the point of a polygon with the largest signed distance to the region, by branch and
  // bound on triangles. On a triangle, that distance is at most
  // - the distance at a vertex plus that to the other vertices, because its slope is at most 1,
  // - the largest distance of a vertex to any one segment, because a segment is convex and belongs
  //   to the closure of the region,
  // - where only one segment comes near, 0 on its inner side, and on its outer side the largest
  //   distance to it.
  struct Search {
    Search(const Region& region, const Convex& part, Vec2 origin) noexcept {
      const auto at = [&](int i) noexcept { return region.sample(part.vertex(i) + origin); };
      const Sample first = at(0);
      take(first);
      Sample before = first;
      double size = 0.0;
      for (int i = 1; i < part.size; ++i) {
        const Sample next = at(i);
        size = std::fmax(size, norm(next.point - first.point));
        take(next);
        if (i > 1 || part.size == 2) push(region, first, before, next);
        before = next;
      }
      constexpr int kMostSplits = 48;
      for (int split = 0; split < kMostSplits && count > 0; ++split) {
        const auto top = std::max_element(
            cells.begin(), cells.begin() + count,
            [](const Cell& a, const Cell& b) noexcept { return a.upper < b.upper; });
        if (top->upper <= best.height + 0x1p-20 * size) break;
        const Cell cell = *top;
        *top = cells[static_cast<std::size_t>(--count)];
        int from = 0;  // the longest edge
        for (int i = 1; i < 3; ++i) {
          if (cell.edge(i) > cell.edge(from)) from = i;
        }
        const Sample& a = cell.corner(from);
        const Sample& b = cell.corner(from + 1);
        const Sample& c = cell.corner(from + 2);
        const Sample middle = region.sample(0.5 * (a.point + b.point));
        take(middle);
        push(region, a, middle, c);
        push(region, middle, b, c);
      }
      upper = std::fmax(upper, best.height);
      for (int i = 0; i < count; ++i)
        upper = std::fmax(upper, cells[static_cast<std::size_t>(i)].upper);
      grow(region, part.radius);
    }

    double upper = -kInfinity;  // m, of the polygon without radius
    Sample farthest;            // of the shape, as far as found
    double error = 0.0;         // m, of its height
    Vec2 outward;               // unit vector

   private:
    struct Cell {
      std::array<Sample, 3> corners;
      double upper = 0.0;
      const Sample& corner(int i) const noexcept {
        return corners[static_cast<std::size_t>(i % 3)];
      }
      double edge(int i) const noexcept { return norm(corner(i + 1).point - corner(i).point); }
    };

    void take(const Sample& s) noexcept {
      if (is_first || s.height > best.height) best = s;
      is_first = false;
    }
    void push(const Region& region, const Sample& a, const Sample& b, const Sample& c) noexcept {
      Cell cell{{a, b, c}, kInfinity};
      for (int i = 0; i < 3; ++i) {
        const double to_others = std::fmax(cell.edge(i), cell.edge(i + 2));
        const Segment& segment = region.segments_[cell.corner(i).near.segment];
        double to_segment = 0.0;
        for (const Sample& s : cell.corners) {
          to_segment = std::fmax(to_segment, norm(s.point - closest_on(segment, s.point)));
        }
        cell.upper =
            std::fmin(cell.upper, std::fmin(cell.corner(i).height + to_others, to_segment));
      }
      cell.upper = std::fmin(cell.upper, beyond_only_segment(region, cell));
      if (static_cast<std::size_t>(count) < cells.size()) {
        cells[static_cast<std::size_t>(count++)] = cell;
      } else {
        upper = std::fmax(upper, cell.upper);
      }
    }
    // The bound by the only segment whose box overlaps that of the cell; infinity if it is not the
    // only one. Because another segment starts at each of its ends, it divides the whole cell or no
    // part of it. The part of the cell on the outer side is convex.
    static double beyond_only_segment(const Region& region, const Cell& cell) noexcept {
      Box box;
      for (const Sample& s : cell.corners) box.include(region.box_around(s.point));
      int near = 0;
      std::uint32_t only = 0;
      region.tree_.overlapping(FloatBox::around(box), {}, [&](std::uint32_t k) noexcept {
        only = k;
        return ++near > 1;
      });
      const Segment& segment = region.segments_[only];
      if (near != 1 || segment.radius > region.inflation_) return kInfinity;
      const Vec2 along = segment.to - segment.from;
      double farthest = 0.0;
      const auto take = [&](Vec2 p) noexcept {
        farthest = std::fmax(farthest, norm(p - closest_on(segment, p)));
      };
      for (int i = 0; i < 3; ++i) {
        const Vec2 a = cell.corner(i).point;
        const Vec2 b = cell.corner(i + 1).point;
        const double at_a = -cross(along, a - segment.from);  // > 0: on the outer side
        const double at_b = -cross(along, b - segment.from);
        // Not divided by this segment, but outside.
        if (at_a < 0.0 && !(cell.corner(i).height < 0.0)) {
          return kInfinity;
        }
        if (at_a >= 0.0) take(a);
        if ((at_a > 0.0) != (at_b > 0.0)) take(a + (at_a / (at_a - at_b)) * (b - a));
      }
      return farthest;
    }
    // The farthest point of the shape, which has a radius.
    void grow(const Region& region, double radius) noexcept {
      const Segment& s = region.segments_[best.near.segment];
      const Vec2 off = best.point - best.near.point;
      const double length = norm(off);
      const Vec2 right = -perpendicular(s.to - s.from);
      outward = {1.0, 0.0};
      if (length > 0.0) {
        outward = (std::copysign(1.0, best.height) / length) * off;
      } else if (norm(right) > 0.0) {
        outward = (1.0 / norm(right)) * right;
      }
      farthest = best;
      const Vec2 aside = perpendicular(outward);
      const std::array ways{outward, aside, -outward, -aside};
      for (std::size_t i = 0; i < ways.size() && radius > 0.0; ++i) {
        const Sample beyond = region.sample(best.point + radius * ways[i]);
        if (!(beyond.height > farthest.height)) continue;
        farthest = beyond;
        if (beyond.height > 0.0)
          outward = (1.0 / beyond.height) * (beyond.point - beyond.near.point);
      }
      // The point is off by u of its coordinates and 8 u of the radius, and its distance to the
      // segment by less than 12 u of their coordinates.
      const Segment& nearest = region.segments_[farthest.near.segment];
      error = nearest.radius - region.inflation_ + kTinyError +
              16.0 * kUnitRoundoff *
                  (norm1(farthest.point) + norm1(nearest.from) + norm1(nearest.to) + radius +
                   region.inflation_);
    }

    static constexpr std::size_t kMostCells = 64;
    Sample best;
    bool is_first = true;
    std::array<Cell, kMostCells> cells;
    int count = 0;
  };

  // m. Bound on the rounding errors of a distance at a point whose coordinates sum up to `size`.
  double rounding(double size) const noexcept {
    return 64.0 * kUnitRoundoff * (size + extent_) + kTinyError;
  }
  // A box relative to middle_ that contains a point.
  Box box_around(Vec2 p) const noexcept {
    const Vec2 at = p - middle_;
    return Box{at, at}.grown(4.0 * kUnitRoundoff * (norm1(p) + extent_));
  }
  static Box span_of(const Segment& segment) noexcept {
    Box box;
    box.include(segment.from);
    box.include(segment.to);
    return box;
  }
  Box box_of(const Segment& segment) const noexcept {
    Box box = box_around(segment.from);
    box.include(box_around(segment.to));
    return box.grown(segment.radius);
  }
  static Vec2 closest_on(const Segment& segment, Vec2 p) noexcept {
    const Vec2 along = segment.to - segment.from;
    const double square = dot(along, along);
    const double share = square > 0.0 ? dot(along, p - segment.from) / square : 0.0;
    return segment.from + std::fmin(1.0, std::fmax(0.0, share)) * along;
  }
  Near nearest(Vec2 p) const noexcept {
    Near best;
    tree_.nearest(FloatBox::around(box_around(p)), best.distance, {},
                  [&](std::uint32_t k) noexcept {
                    const Vec2 on = closest_on(segments_[k], p);
                    const double distance = norm(p - on);
                    if (distance < best.distance) best = {distance, on, k};
                    return best.distance;
                  });
    return best;
  }

  std::vector<Segment> segments_;
  Bvh tree_;  // relative to middle_
  Box bounds_;
  Vec2 middle_;
  double extent_ = 0.0;  // m, largest |x| + |y|
  double radius_ = 0.0;  // m, the largest
  double inflation_;     // m, the part of each radius that is no uncertainty
};

}  // namespace gjk

#ifdef GJK_KERNEL
namespace gjk {

GJK_KERNEL Region::Region(std::span<const Segment> segments, double inflation)
    : segments_(segments.begin(), segments.end()), inflation_(inflation) {
  for (const Segment& segment : segments_) {
    bounds_.include(segment.from);
    bounds_.include(segment.to);
    radius_ = std::fmax(radius_, segment.radius);
  }
  middle_ = bounds_.center();
  extent_ = std::fmax(norm1(bounds_.low), norm1(bounds_.high));
  tree_.arrange<2>(segments_.size(), [this](std::size_t k) noexcept {
    return Bvh::key_at(0.5 * (segments_[k].from + segments_[k].to) - middle_);
  });
  tree_.fill([this](std::size_t k) noexcept { return box_of(segments_[k]); });
  tree_.update();
}

GJK_KERNEL bool Region::holds(Vec2 p, Vec2 origin) const noexcept {
  p = snapped(p);
  const Vec2 at = p + origin;
  if (!(std::fabs(at.x) <= kMaxCoordinate && std::fabs(at.y) <= kMaxCoordinate)) return false;
  const bool to_right = at.x > middle_.x;  // the shorter way out
  Box ray = box_around(at);
  (to_right ? ray.high.x : ray.low.x) = to_right ? kEverywhere.high.x : kEverywhere.low.x;
  bool is_inside = false;
  bool is_certain = true;
  const Exhausted search =
      tree_.overlapping(FloatBox::around(ray), {}, [&](std::uint32_t k) noexcept {
        const Vec2 from = segments_[k].from - origin;
        const Vec2 to = segments_[k].to - origin;
        const bool rises = from.y <= p.y;
        if (rises == (to.y <= p.y)) return false;
        const int side = exact::orientation(from, to, p);
        is_certain &= side != 0;
        is_inside ^= ((side > 0) == rises) == to_right;
        return false;
      });
  return search.is_complete() && is_certain && is_inside;
}

GJK_KERNEL bool Region::contains(Vec2 p) const noexcept {
  p = snapped(p);
  if (!bounds_.holds({p, p})) return false;
  bool is_near = false;
  tree_.overlapping(FloatBox::around(box_around(p).grown(radius_)), {},
                    [&](std::uint32_t k) noexcept {
                      const Segment& s = segments_[k];
                      if (s.radius > 0.0) {
                        const Vec2 off = p - closest_on(s, p);
                        is_near |= !(norm(off) > s.radius + rounding(norm1(p)));
                      } else {
                        const Box box = span_of(s);
                        is_near |= box.holds({p, p}) && exact::orientation(s.from, s.to, p) == 0;
                      }
                      return is_near;
                    });
  return !is_near && holds(p, {});
}

GJK_KERNEL double Region::to_outside(const Shape& shape, const Placement& at) const noexcept {
  const Transform transform = Transform::from_pose(at.pose, {}, at.error);
  double least = kInfinity;
  for (int i = 0; i < shape.parts(); ++i) {
    const Convex part = shape.part(i);
    const Vec2 p = transform.apply(part.vertex(0));
    const double error = part.error + transform.t_error + 2.0 * transform.error(part.extent) +
                         radius_ + rounding(norm1(p) + inflation_);
    const double off = nearest(p).distance;
    const bool is_certain = off > error;
    if (is_certain && holds(p, {})) continue;
    // The true boundary is at most off + (error - inflation_) away.
    const double within =
        error < kMaxCoordinate ? off + error - 2.0 * inflation_ : kMaxCoordinate;  // NaN too
    least = std::fmin(least, is_certain ? 0.0 - inflation_ : within);
  }
  return least;
}

}  // namespace gjk
#endif
