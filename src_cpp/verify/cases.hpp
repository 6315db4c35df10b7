// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Random pairs of every type that has ever broken a collision check.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "families.hpp"
#include "gjk/shape/pose.hpp"
#include "pair.hpp"
#include "polygons.hpp"
#include "random.hpp"
#include "truth.hpp"

namespace gjk::verify {

enum class Type {
  distant,
  overlapping,
  touching,
  near,
  contact,
  rounded,
  posed,
  first_family  // and the others after it
};
inline constexpr std::size_t kTypes = static_cast<std::size_t>(Type::first_family);
inline constexpr std::array<std::string_view, kTypes> kTypeNames{
    "distant", "overlapping", "touching", "near", "contact", "rounded", "posed"};
inline constexpr std::size_t kAllTypes = kTypes + kFamilyNames.size();

inline bool is_family(Type type) { return type >= Type::first_family; }
inline Family family_of(Type type) {
  return static_cast<Family>(static_cast<std::size_t>(type) - kTypes);
}
inline std::string_view name_of(Type type) {
  return is_family(type) ? kFamilyNames[static_cast<std::size_t>(family_of(type))]
                         : kTypeNames[static_cast<std::size_t>(type)];
}

inline Polygon moved(const Polygon& polygon, Vec2 t) { return placed(polygon, {1.0, 0.0}, t); }

namespace detail {

// 2^e times [1, 2) for a random e.
inline double scale(Random& random, int low, int high) {
  return std::ldexp(random.uniform(1.0, 2.0), random.between(low, high));
}

// About the origin, about `size` across; n = 3 to 24.
inline Polygon polygon(double size, Random& random) {
  const double width = size * random.uniform(0.2, 1.0);
  const double height = size * random.uniform(0.2, 1.0);
  const Polygon shape = valtr(random.between(3, 24), width, height, random);
  return placed(moved(shape, {-0.5 * width, -0.5 * height}), random.direction(), {});
}

// A point, a segment, a needle down to 2^-40 as wide as long, or any polygon.
inline Polygon degenerate(double size, Random& random) {
  switch (random.below(4)) {
    case 0:
      return {{0.0}, {0.0}};
    case 1: {
      const Vec2 end = size * random.direction();
      return {{0.0, end.x}, {0.0, end.y}};
    }
    case 2: {
      const Polygon needle =
          valtr(random.between(3, 24), size, std::ldexp(size, -random.between(5, 40)), random);
      return placed(needle, random.direction(), {});
    }
    default:
      return polygon(size, random);
  }
}

struct Size {
  double size;  // m
  Vec2 place;   // m
};

// Shapes from 1 mm to 1 km, up to 1000 km from the origin.
inline Size size_and_place(Random& random) {
  const double size = scale(random, -10, 9);
  return {size, scale(random, -10, 19) * random.direction()};
}

// Moves q up to p; `gap` is what is left of a separation, in the units of the coordinates.
inline void bring_together(Pair& pair, double gap) {
  const Vec2 away = separation(pair.p, pair.q);
  const double length = norm(away);
  if (length > 0.0) pair.q = moved(pair.q, ((gap - length) / length) * away);
}

// The same set with vertices repeated, and put in the middle of edges where that is exact.
inline Polygon decorated(const Polygon& polygon, Random& random) {
  Polygon result;
  const int start = random.below(polygon.size());
  for (int k = 0; k < polygon.size() && result.size() < 60; ++k) {
    const Vec2 from = polygon.vertex((start + k) % polygon.size());
    const Vec2 to = polygon.vertex((start + k + 1) % polygon.size());
    result.add(from);
    if (random.chance(0.2)) result.add(from);
    const Vec2 middle = 0.5 * (from + to);
    if (random.chance(0.3) && polygon.size() > 1 && collinear(from, middle, to)) result.add(middle);
  }
  return result;
}

// On a grid of small integers, where contacts are exact: a vertex on a vertex, a vertex in the
// middle of an edge, an edge on an edge; or none of these.
inline Pair on_lattice(Random& random) {
  const int bits = random.between(2, 18);
  const auto coordinate = [&] { return 2.0 * random.below((1 << bits) + 1); };
  const auto shape = [&] {
    Polygon points;
    for (int i = random.between(1, 24); i > 0; --i) {
      const double x = coordinate();
      points.add({x, coordinate()});
    }
    return convex_hull(points);
  };
  Pair pair{shape(), shape(), 0.0, 0.0, 0.0, false, {}, {}};
  const int i = random.below(pair.p.size());
  const Vec2 from = pair.p.vertex(i);
  const Vec2 to = pair.p.vertex((i + 1) % pair.p.size());
  const Vec2 q = pair.q.vertex(random.below(pair.q.size()));
  switch (random.below(4)) {
    case 0:
      pair.q = moved(pair.q, from - q);
      break;
    case 1:
      pair.q = moved(pair.q, 0.5 * (from + to) - q);
      break;
    case 2: {  // p turned by half a turn about the edge's middle, and slid along the edge
      const double slide = random.between(-1, 1);
      pair.q = placed(pair.p, {-1.0, 0.0}, from + to + slide * (to - from));
      break;
    }
    default:
      pair.q = moved(pair.q, {coordinate(), coordinate()});
  }
  const Vec2 place{std::ldexp(static_cast<double>(random.between(-8, 8)), random.between(0, 30)),
                   std::ldexp(static_cast<double>(random.between(-8, 8)), random.between(0, 30))};
  const double unit = std::ldexp(1.0, -random.between(0, 20));
  for (Polygon* polygon : {&pair.p, &pair.q}) {
    *polygon = moved(*polygon, place);
    for (double& x : polygon->x) x *= unit;
    for (double& y : polygon->y) y *= unit;
    if (random.chance(0.3)) *polygon = decorated(*polygon, random);
  }
  return pair;
}

// Circles, capsules and rounded polygons about as far apart as the radii and the margin reach.
inline Pair rounded(Random& random) {
  Pair pair;
  if (random.chance(0.25)) {  // a Pythagorean triple: the contact is exact
    static constexpr double kTriples[][3]{{3, 4, 5}, {5, 12, 13}, {8, 15, 17}, {20, 21, 29}};
    const auto& triple = kTriples[random.below(4)];
    const double unit =
        std::ldexp(static_cast<double>(random.between(1, 1000)), -random.between(0, 20));
    const Vec2 place{unit * random.between(-1000, 1000), unit * random.between(-1000, 1000)};
    pair.p.add(place);
    pair.q.add(place + unit * Vec2{triple[0], triple[1]});
    if (random.chance(0.5)) pair.p.add(place - unit * Vec2{triple[0], triple[1]});
    pair.p_radius = unit * random.between(0, static_cast<int>(triple[2]));
    pair.q_radius = unit * triple[2] - pair.p_radius;
  } else {
    const Size at = size_and_place(random);
    pair.p = moved(degenerate(at.size, random), at.place);
    pair.q = moved(degenerate(at.size, random),
                   at.place + (at.size * random.uniform(0.0, 6.0)) * random.direction());
    const double reach =
        random.chance(0.8) ? norm(separation(pair.p, pair.q)) : random.uniform(0.0, 3.0) * at.size;
    pair.p_radius = reach * random.uniform();
    pair.q_radius = reach - pair.p_radius;
  }
  if (random.chance(0.5)) {
    pair.margin = pair.q_radius * random.uniform();
    pair.q_radius -= pair.margin;
  }
  const auto jitter = [&](double& v) {  // by a few ulps, or by more
    if (random.chance(0.3))
      v *= 1.0 + std::ldexp(static_cast<double>(random.between(-4, 4)), -random.between(20, 52));
    v = std::fmax(v, 0.0);
  };
  jitter(pair.p_radius);
  jitter(pair.q_radius);
  pair.p = convex_hull(pair.p);
  pair.q = convex_hull(pair.q);
  return pair;
}

// Local shapes at poses, mostly about to touch.
inline Pair posed(Random& random) {
  const double size = scale(random, -3, 6);
  const Polygon p = polygon(size, random);
  Pair pair{convex_hull(p), convex_hull(polygon(size, random)), 0, 0, 0, true, {}, {}};
  const auto pose = [&](Vec2 at) {
    const double turn = random.chance(0.1) ? 1e5 : 7.0;
    return Pose{at.x, at.y, random.uniform(-turn, turn)};
  };
  const Vec2 place = scale(random, -3, 14) * random.direction();
  pair.p_pose = pose(place);
  pair.q_pose = pose(place + (size * random.uniform(0.0, 4.0)) * random.direction());
  const auto world = [](const Polygon& polygon, const Pose& at) {
    const SinCos turn = sin_cos(at.yaw);
    return placed(polygon, {turn.cos, turn.sin}, {at.x, at.y});
  };
  if (random.chance(0.8)) {
    const Vec2 away = separation(world(pair.p, pair.p_pose), world(pair.q, pair.q_pose));
    const double left = random.chance(0.5) ? 0.0 : std::ldexp(1.0, -random.between(1, 50));
    pair.q_pose.x -= (1.0 - left) * away.x;
    pair.q_pose.y -= (1.0 - left) * away.y;
  }
  return pair;
}

// One part of each, at poses, or with world coordinates that are rounded once.
inline Pair of_family(Family family, Random& random) {
  const Meeting meeting = draw_meeting(family, random);
  Pair pair;
  pair.p_radius = meeting.ego.radius();
  pair.q_radius = meeting.obstacle.radius();
  pair.margin = meeting.margin;
  pair.has_poses = random.chance(0.6);
  const auto part = [&](const Body& body, Pose& pose) {
    const Polygon local = polygon_of(body.shape.part(random.below(body.shape.parts())));
    pose = body.pose;
    if (pair.has_poses) return local;
    const SinCos turn = sin_cos(body.pose.yaw);
    const Polygon world = placed(local, {turn.cos, turn.sin}, {body.pose.x, body.pose.y});
    return polygon_of(body_of(world, 0.0, random).shape.part(0));
  };
  pair.p = part(meeting.ego, pair.p_pose);
  pair.q = part(meeting.obstacle, pair.q_pose);
  return pair;
}

}  // namespace detail

inline Pair draw(Type type, Random& random) {
  if (is_family(type)) return detail::of_family(family_of(type), random);
  if (type == Type::contact) return detail::on_lattice(random);
  if (type == Type::rounded) return detail::rounded(random);
  if (type == Type::posed) return detail::posed(random);

  Pair pair;
  const detail::Size at = detail::size_and_place(random);
  const bool overlaps = type == Type::overlapping;
  const double apart = at.size * (overlaps ? random.uniform(0.0, 0.6) : random.uniform(1.5, 20.0));
  pair.p = moved(detail::polygon(at.size, random), at.place);
  pair.q = moved(detail::polygon(at.size * random.uniform(0.1, 2.0), random),
                 at.place + apart * random.direction());
  if (type == Type::touching) {
    detail::bring_together(pair, 0.0);
  } else if (type == Type::near) {
    const double gap = std::ldexp(at.size, -random.between(8, 53));
    detail::bring_together(pair, random.chance(0.5) ? gap : -gap);
  }
  pair.p = convex_hull(pair.p);  // rounding may have dented a flat corner
  pair.q = convex_hull(pair.q);
  return pair;
}

}  // namespace gjk::verify
