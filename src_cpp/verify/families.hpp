// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Outlines and poses that are built to break a collision check: nothing here is convex, distinct or
// in order by construction.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include "gjk/shape/pose.hpp"
#include "gjk/shape/shape.hpp"
#include "polygons.hpp"
#include "random.hpp"

namespace gjk::verify {

enum class Family {
  closed_rings,    // closed up to 1 to 4 ulp
  repeats,         // vertices that repeat, exactly or nearly
  slivers,         // from 1e-17 m wide
  tips,            // corners cut off from 1e-17 m on
  collinear_runs,  // many vertices along an edge, exactly or up to rounding
  parallels,       // edges of both that are parallel up to an ulp
  tiny,            // denormal coordinates, and 1e-160 m next to 1 m
  huge,            // up to 1e14 m
  utm,             // at 5e5 m, 5e6 m
  drives,          // on round grids, with clearances equal to the margin
  cuts             // polygons cut in two, within each other, or with a speck at their border
};
inline constexpr std::array<std::string_view, 11> kFamilyNames{
    "closed_rings", "repeats", "slivers", "tips", "collinear_runs", "parallels", "tiny",
    "huge",         "utm",     "drives",  "cuts"};

// A vector from the point of p nearest to q, to q; in floating point. {} where they meet.
inline Vec2 separation(const Polygon& p, const Polygon& q) {
  Vec2 best;
  double least = std::numeric_limits<double>::infinity();
  const auto visit = [&](const Polygon& edges, const Polygon& vertices, double sense) {
    for (int i = 0; i < edges.size(); ++i) {
      const Vec2 from = edges.vertex(i);
      const Vec2 edge = edges.vertex((i + 1) % edges.size()) - from;
      const double squared = dot(edge, edge);
      for (int j = 0; j < vertices.size(); ++j) {
        const Vec2 v = vertices.vertex(j) - from;
        const double share =
            squared > 0.0 ? std::fmin(1.0, std::fmax(0.0, dot(v, edge) / squared)) : 0.0;
        const Vec2 gap = v - share * edge;
        if (dot(gap, gap) < least) {
          least = dot(gap, gap);
          best = sense * gap;
        }
      }
    }
  };
  visit(p, q, 1.0);
  visit(q, p, -1.0);
  return best;
}

namespace detail {

inline double by_ulps(double v, int ulps) {
  for (; ulps > 0; --ulps) v = std::nextafter(v, INFINITY);
  for (; ulps < 0; ++ulps) v = std::nextafter(v, -INFINITY);
  return v;
}
inline Vec2 by_ulps(Vec2 v, Random& random, int most = 4) {
  return {by_ulps(v.x, random.between(-most, most)), by_ulps(v.y, random.between(-most, most))};
}
// 10^e for an e between the two.
inline double power_of_ten(Random& random, double low, double high) {
  return std::pow(10.0, random.uniform(low, high));
}

inline Polygon polygon_of(std::initializer_list<Vec2> points) {
  Polygon polygon;
  for (const Vec2 v : points) polygon.add(v);
  return polygon;
}
inline Polygon rectangle(double half_length, double half_width) {
  return polygon_of({{-half_length, -half_width},
                     {half_length, -half_width},
                     {half_length, half_width},
                     {-half_length, half_width}});
}

inline Polygon circle(int n, double radius, Random& random) {
  const double first = random.chance(0.5) ? 0.0 : random.uniform(0.0, 6.0);
  Polygon polygon;
  for (int i = 0; i < n; ++i) {
    const SinCos at = sin_cos(first + 6.283185307179586 * i / n);
    polygon.add({radius * at.cos, radius * at.sin});
  }
  return polygon;
}

inline Polygon plain(Random& random) {
  const double size = random.uniform(0.3, 3.0);
  switch (random.below(4)) {
    case 0:
      return rectangle(size, random.uniform(0.3, 1.5));
    case 1:
      return circle(random.between(3, 12), size, random);
    case 2: {
      Polygon points;
      for (int i = random.between(3, 10); i > 0; --i) {
        const double x = random.uniform(-size, size);
        points.add({x, random.uniform(-size, size)});
      }
      return points;
    }
    default: {
      const double width = random.uniform(0.3, 2.0) * size;
      return placed(valtr(random.between(3, 12), size, width, random), {1.0, 0.0},
                    {-0.5 * size, -0.5 * width});
    }
  }
}

inline Polygon closed_ring(Random& random) {
  Polygon ring = random.chance(0.6)
                     ? circle(random.between(4, 33), random.uniform(0.3, 3.0), random)
                     : plain(random);
  ring.add(by_ulps(ring.vertex(0), random));
  if (random.chance(0.3)) ring.add(by_ulps(ring.vertex(0), random));
  return ring;
}

inline Polygon repeating(Random& random) {
  const Polygon once = plain(random);
  Polygon points;
  for (int i = 0; i < once.size(); ++i) {
    const Vec2 v = once.vertex(i);
    points.add(v);
    for (int k = random.below(4); k > 0; --k) {
      const double off = random.chance(0.5) ? 0.0 : power_of_ten(random, -17.0, -8.0);
      points.add(by_ulps(v + off * random.direction(), random, random.chance(0.3) ? 0 : 4));
    }
  }
  return points;
}

inline Polygon sliver(Random& random) {
  const double length = random.uniform(0.5, 5.0);
  const double width = power_of_ten(random, -17.0, -7.0);
  const Vec2 along = random.chance(0.5) ? Vec2{1.0, 0.0} : random.direction();
  Polygon points;
  const auto add = [&](double u, double v) { points.add(u * along + v * perpendicular(along)); };
  add(-length, -width);
  add(length, 0.0);
  add(-length, width);
  for (int k = random.below(3); k > 0; --k) {
    add(length * random.uniform(-1.0, 1.0), width * random.uniform(-1.0, 1.0));
  }
  return points;
}

inline Polygon tipped(Random& random) {
  const double length = random.uniform(0.5, 5.0);
  const double width = random.uniform(0.3, 2.0);
  const double tip = power_of_ten(random, -17.0, -6.0);
  if (random.chance(0.5)) {  // a needle's end
    Polygon points = polygon_of({{0.0, 0.0}, {length, tip}, {length, -tip}});
    points.add({length * random.uniform(), -random.uniform()});
    if (random.chance(0.5)) points.add({-length, power_of_ten(random, -17.0, -12.0)});
    return points;
  }
  Polygon points;  // corners that are cut
  const Polygon corners = rectangle(length, width);
  for (int i = 0; i < 4; ++i) {
    const Vec2 corner = corners.vertex(i);
    if (random.chance(0.5)) {
      points.add(corner);
      continue;
    }
    const double inwards_x = corner.x > 0.0 ? -tip : tip;
    const double inwards_y = corner.y > 0.0 ? -tip : tip;
    points.add({corner.x + random.uniform() * inwards_x, corner.y});
    points.add({corner.x, corner.y + random.uniform() * inwards_y});
  }
  return points;
}

inline Polygon with_runs(Random& random) {
  const Polygon once = plain(random);
  Polygon points;
  for (int i = 0; i < once.size(); ++i) {
    const Vec2 from = once.vertex(i);
    const Vec2 to = once.vertex((i + 1) % once.size());
    points.add(from);
    const int steps = random.chance(0.5) ? 1 << random.below(4) : random.between(1, 9);
    for (int k = 1; k < steps; ++k) {
      points.add(from + (static_cast<double>(k) / steps) * (to - from));
    }
  }
  return points;
}

// Of sizes that differ by hundreds of powers of ten.
inline Polygon with_tiny(Random& random) {
  const auto length = [&] {
    switch (random.below(7)) {
      case 0:
        return std::ldexp(static_cast<double>(random.between(1, 9)), -1074);
      case 1:
        return power_of_ten(random, -310.0, -300.0);
      case 2:
        return power_of_ten(random, -165.0, -155.0);
      case 3:
        return power_of_ten(random, -42.0, -38.0);  // about kMinExactCoordinate
      case 4:
        return 0.0;
      case 5:
        return power_of_ten(random, 0.0, 12.0);
      default:
        return random.uniform(0.1, 2.0);
    }
  };
  if (random.chance(0.3)) {  // a usual shape, with corners that are off by so little
    Polygon points = plain(random);
    for (int k = random.between(1, 3); k > 0; --k) {
      points.add({(random.chance(0.5) ? 1.0 : -1.0) * length(), length()});
    }
    return points;
  }
  if (random.chance(0.3)) {  // all of it so small
    Polygon points = plain(random);
    const double scale = std::fmax(length(), 0x1p-1070);
    for (auto* values : {&points.x, &points.y}) {
      for (double& v : *values) v *= scale;
    }
    return points;
  }
  Polygon points;
  for (int k = random.between(1, 7); k > 0; --k) {
    const double x = (random.chance(0.5) ? 1.0 : -1.0) * length();
    points.add({x, (random.chance(0.5) ? 1.0 : -1.0) * length()});
  }
  return points;
}

inline Polygon on_grid(Random& random) {
  const auto half = [&] { return 0.05 * random.between(1, 50); };
  const double length = half();
  return rectangle(length, half());
}

}  // namespace detail

// Points about the origin, 0.1 to 10 m across, but for families that say otherwise.
inline Polygon outline_of(Family family, Random& random) {
  switch (family) {
    case Family::closed_rings:
      return detail::closed_ring(random);
    case Family::repeats:
      return detail::repeating(random);
    case Family::slivers:
      return detail::sliver(random);
    case Family::tips:
      return detail::tipped(random);
    case Family::collinear_runs:
      return detail::with_runs(random);
    case Family::tiny:
      return detail::with_tiny(random);
    case Family::drives:
      return detail::on_grid(random);
    case Family::huge: {
      Polygon points = outline_of(static_cast<Family>(random.below(5)), random);
      const double scale = detail::power_of_ten(random, 3.0, 13.0);
      for (auto* values : {&points.x, &points.y}) {
        for (double& v : *values) v *= scale;
      }
      return points;
    }
    case Family::utm:
      return outline_of(static_cast<Family>(random.below(5)), random);
    default:
      return detail::plain(random);
  }
}

// A shape as a user makes it, and the points whose hulls are its parts.
struct Body {
  Shape shape;
  std::vector<Polygon> parts;
  Pose pose;

  double radius() const { return shape.radius(); }
};

// As a hull; or, where the outline is accepted as it stands, as a polygon or by parts.
inline Body body_of(const Polygon& points, double radius, Random& random) {
  Body body;
  std::vector<Vec2> ring;
  for (int i = 0; i < points.size(); ++i) ring.push_back(points.vertex(i));
  std::vector<std::vector<Vec2>> parts;
  const int how = random.below(4);
  if (how > 0) {
    const auto policy = how == 1 ? ConcavePolicy::decompose : ConcavePolicy::reject;
    if (outline_parts(ring, policy, "", parts)) parts.clear();
  }
  if (parts.size() > 1) {
    for (const auto& part : parts) {
      body.parts.emplace_back();
      for (const Vec2 v : part) body.parts.back().add(v);
    }
  } else {
    body.parts.push_back(points);
  }
  if (parts.empty()) parts.push_back(gjk::convex_hull(ring));
  for (const auto& part : parts) body.shape.add_part(part, radius);
  return body;
}

inline double a_radius(Random& random) {
  if (random.chance(0.7)) return 0.0;
  return random.chance(0.3) ? detail::power_of_ten(random, -17.0, -6.0)
                            : 0.05 * random.between(1, 10);
}
inline double a_margin(Random& random) {
  switch (random.below(6)) {
    case 0:
    case 1:
      return 0.0;
    case 2:
      return detail::power_of_ten(random, -17.0, -6.0);
    case 3:
      return random.chance(0.5) ? 0x1p-1074 : detail::power_of_ten(random, -300.0, -20.0);
    default:
      return 0.05 * random.between(1, 10);
  }
}

// An ego and an obstacle, mostly as far apart as the margin.
struct Meeting {
  Body ego;
  Body obstacle;
  double margin = 0.0;  // m
};

namespace detail {

inline Polygon polygon_of(const Convex& part) {
  Polygon polygon;
  for (int i = 0; i < part.size; ++i) polygon.add(part.vertex(i));
  return polygon;
}

// From the ego to the obstacle, where they are nearest; in floating point.
inline Vec2 way_between(const Body& ego, const Body& obstacle) {
  const SinCos turn = sin_cos(ego.pose.yaw);
  const SinCos other = sin_cos(obstacle.pose.yaw);
  const Vec2 apart{obstacle.pose.x - ego.pose.x, obstacle.pose.y - ego.pose.y};
  Vec2 best{INFINITY, 0.0};
  for (int i = 0; i < ego.shape.parts(); ++i) {
    const Polygon p = placed(polygon_of(ego.shape.part(i)), {turn.cos, turn.sin}, {});
    for (int j = 0; j < obstacle.shape.parts(); ++j) {
      const Polygon q = placed(polygon_of(obstacle.shape.part(j)), {other.cos, other.sin}, apart);
      const Vec2 way = separation(p, q);
      if (norm(way) < norm(best)) best = way;
    }
  }
  return best;
}

inline double extent_of(const Body& body) {
  double extent = body.radius();
  for (int i = 0; i < body.shape.parts(); ++i) {
    extent = std::fmax(extent, body.shape.part(i).extent);
  }
  return extent;
}

inline double yaw_of(Family family, Random& random) {
  constexpr double kQuarter = 1.5707963267948966;
  if (family == Family::drives) return kQuarter * (random.chance(0.7) ? 0 : random.between(-2, 2));
  switch (random.below(10)) {
    case 0:
    case 1:
      return 0.0;
    case 2:
      return by_ulps(kQuarter * random.between(-2, 2), random.between(-1, 1));
    case 3:
      return random.uniform(-1e5, 1e5);
    case 4:
      return random.chance(0.3) ? 0x1p-1074 : power_of_ten(random, -300.0, -5.0);
    default:
      return random.uniform(-3.2, 3.2);
  }
}

// Moves the ego to about `gap` (m) from the obstacle.
inline void bring_to(Body& ego, const Body& obstacle, double gap) {
  for (int k = 0; k < 2; ++k) {
    const Vec2 way = way_between(ego, obstacle);
    const double length = norm(way);
    if (!(length > 1e-100)) {  // no direction that a quotient could give
      ego.pose.x -= ego.radius() + obstacle.radius() + gap;
      return;
    }
    const double share = (length - ego.radius() - obstacle.radius() - gap) / length;
    ego.pose.x += share * way.x;
    ego.pose.y += share * way.y;
  }
}

// The gap that is aimed at: the margin up to rounding, or by a little more or less.
inline double gap_near(double margin, double size, Random& random) {
  switch (random.below(4)) {
    case 0:
      return margin * (1.0 + std::ldexp(static_cast<double>(random.between(-4, 4)), -52));
    case 1:
      return margin +
             size * std::ldexp(static_cast<double>(random.between(-3, 3)), -random.between(20, 56));
    default:
      return margin;
  }
}

// Clearances on the grid: sums of a few decimal numbers.
inline Meeting drive(Random& random) {
  const auto box = [&](double& length, double& width) {
    length = 0.05 * random.between(1, 50);
    width = 0.05 * random.between(1, 50);
    return rectangle(length, width);
  };
  double length = 0.0, width = 0.0, other_length = 0.0, other_width = 0.0;
  const Polygon p = box(length, width);
  const Polygon q = box(other_length, other_width);
  const double p_radius = random.chance(0.8) ? 0.0 : 0.05 * random.between(1, 10);
  Meeting meeting{body_of(p, p_radius, random), body_of(q, 0.0, random), a_margin(random)};
  Pose& at = meeting.obstacle.pose;
  const double grid = random.chance(0.5) ? 0.1 : 0.25;
  const double far = random.chance(0.3) ? 1e5 : 100.0;
  at = {grid * std::rint(random.uniform(-far, far)), grid * std::rint(random.uniform(-far, far)),
        yaw_of(Family::drives, random)};
  meeting.ego.pose = {at.x + grid * random.between(-20, 20),
                      at.y + width + other_width + p_radius + meeting.margin, 0.0};
  if (random.chance(0.5)) {
    meeting.ego.pose.yaw = yaw_of(Family::drives, random);
    bring_to(meeting.ego, meeting.obstacle, meeting.margin);
  }
  if (random.chance(0.3)) meeting.ego.pose.y = by_ulps(meeting.ego.pose.y, random.between(-2, 2));
  return meeting;
}

// What shares an edge with a polygon, or a vertex, up to some ulp; or is within it, or the same.
inline Meeting cut(Random& random) {
  const double size = random.uniform(0.3, 100.0);
  const Polygon whole = placed(valtr(random.between(4, 16), size, size * random.uniform(), random),
                               random.direction(), {});
  const int n = whole.size();
  const int at = random.between(2, n - 2);
  const int how = random.below(3);
  const double shrink = random.chance(0.3) ? 1.0 : power_of_ten(random, -9.0, 0.0);
  const Vec2 middle = 0.5 * (whole.vertex(0) + whole.vertex(at));
  const Vec2 border = whole.vertex(0) + random.uniform() * (whole.vertex(1) - whole.vertex(0));
  Polygon p;
  Polygon q;
  for (int i = 0; i < n; ++i) {
    const Vec2 v = whole.vertex(i);
    if (how > 0 || i <= at) p.add(v);
    if (how == 1) q.add(middle + shrink * (v - middle));
    if (how == 2) q.add(border + 1e-7 * (v - middle));
    if (how == 0 && (i >= at || i == 0)) q.add(random.chance(0.3) ? by_ulps(v, random) : v);
  }
  if (random.chance(0.5)) {  // a gap, where the parts share an edge
    const Vec2 away = perpendicular(whole.vertex(at) - whole.vertex(0));
    q = placed(q, {1.0, 0.0}, power_of_ten(random, -18.0, -6.0) * away);
  }
  return {body_of(p, 0.0, random), body_of(q, 0.0, random), a_margin(random)};
}

}  // namespace detail

inline Meeting draw_meeting(Family family, Random& random) {
  if (family == Family::drives) return detail::drive(random);
  if (family == Family::cuts) return detail::cut(random);
  const auto other = [&] {  // the family's against its own or against something plain
    return random.chance(0.5) ? outline_of(family, random) : detail::plain(random);
  };
  Polygon p = outline_of(family, random);
  Polygon q = family == Family::huge ? outline_of(family, random) : other();
  if (random.chance(0.5)) std::swap(p, q);
  Meeting meeting{body_of(p, a_radius(random), random), body_of(q, a_radius(random), random),
                  a_margin(random)};
  const double size =
      std::fmax(detail::extent_of(meeting.ego), detail::extent_of(meeting.obstacle));
  Pose& at = meeting.obstacle.pose;
  at.yaw = detail::yaw_of(family, random);
  if (family == Family::utm) {
    at.x = 5e5 + random.uniform(-1e4, 1e4);
    at.y = 5e6 + random.uniform(-1e4, 1e4);
  } else if (random.chance(0.7)) {
    const double far = random.chance(0.2) ? 1e5 : 10.0;
    at.x = random.uniform(-far, far);
    at.y = random.uniform(-far, far);
  }
  const Vec2 away = (size * random.uniform(0.0, 4.0)) * random.direction();
  Pose& ego = meeting.ego.pose;
  ego = {at.x + away.x, at.y + away.y, detail::yaw_of(family, random)};
  if (family == Family::parallels && random.chance(0.8)) {
    constexpr double kQuarter = 1.5707963267948966;
    ego.yaw = detail::by_ulps(at.yaw + kQuarter * random.between(0, 3), random.between(-2, 2));
  }
  if (random.chance(0.8)) {
    detail::bring_to(meeting.ego, meeting.obstacle, detail::gap_near(meeting.margin, size, random));
  }
  return meeting;
}

}  // namespace gjk::verify
