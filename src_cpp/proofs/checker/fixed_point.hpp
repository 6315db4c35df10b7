// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Certificates of FREE in fixed point, for the checker in free_certificate.h.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "gjk/shape/convex.hpp"
#include "gjk/shape/shape.hpp"
#include "gjk/shape/vec2.hpp"
#include "proofs/checker/free_certificate.h"

namespace gjk::checker {

// Binary places of a unit of length for coordinates and radii below 1 m. For others, the largest of
// them is less than 2^kPlaces units.
inline constexpr int kPlaces = 44;
// Units are at least 2^-kMostPlaces m, and those of an obstacle at most 2^kMostPlaces as long as
// those of the vehicle.
inline constexpr int kMostPlaces = 60;
// Points are moved by less than 2 units: vertices and positions are rounded by 2^-0.5 units each,
// and sums of doubles by less than 2^-8 units. Radii are greater by this.
inline constexpr double kRounding = 2.0;

// A value in fixed point. If it is not a number or too large: a value that the checker refuses.
inline std::int64_t fixed(double value) {
  constexpr double kMost = GJK_ONE;
  return std::fabs(value) <= kMost ? static_cast<std::int64_t>(value + std::copysign(0.5, value))
                                   : std::numeric_limits<std::int64_t>::max();
}

// Cosine and sine are those of the C library, with an error of less than 2^-8 units.
inline GjkVector turn(double yaw) {
  if (yaw == 0.0) return {GJK_ONE, 0};
  return {fixed(std::cos(yaw) * GJK_ONE), fixed(std::sin(yaw) * GJK_ONE)};
}

// At most GJK_ONE long, with the rounding of both components.
inline GjkVector direction(double u, double v) {
  constexpr double kLength = GJK_ONE - 2;
  const double length = std::hypot(u, v);
  return {fixed(u / length * kLength), fixed(v / length * kLength)};
}

// The number of binary places in which a number has at most kPlaces bits before the point.
inline int places_of(double number) {
  int exponent = 0;
  if (std::isfinite(number)) std::frexp(number, &exponent);
  return std::min(kPlaces - exponent, kMostPlaces);
}

inline double largest(const Convex& part, Vec2 shift) {
  double most = 0.0;
  for (int i = 0; i < part.size; ++i) {
    most = std::max({most, std::fabs(part.x[i] + shift.x), std::fabs(part.y[i] + shift.y)});
  }
  return most;
}

// Parts in fixed point.
class Parts {
 public:
  // The vehicle has units of 2^-places m. There are `vertices` vertices in `parts` parts.
  Parts(int places, std::size_t parts, std::size_t vertices) : places_(places) {
    parts_.reserve(parts);
    vertices_.reserve(vertices);  // the parts point into it
  }

  // A part whose vertices are shifted, turned and moved to a position.
  void add(const Convex& part, double radius, Vec2 shift, GjkVector turn, Vec2 at) {
    const double most = std::max({largest(part, shift), radius, std::fabs(at.x), std::fabs(at.y)});
    const int places = std::min(places_, places_of(most));
    const double scale = std::ldexp(1.0, places);
    const GjkVector* const begin = vertices_.data() + vertices_.size();
    for (int i = 0; i < part.size; ++i) {
      vertices_.push_back(
          {fixed((part.x[i] + shift.x) * scale), fixed((part.y[i] + shift.y) * scale)});
    }
    const int coarser = places_ - places;
    parts_.push_back({begin,
                      part.size,
                      turn,
                      {fixed(at.x * scale), fixed(at.y * scale)},
                      fixed(std::ceil(radius * scale) + kRounding),
                      coarser <= kMostPlaces ? std::int64_t{1} << coarser : 0});
  }

  const GjkPart* data() const noexcept { return parts_.data(); }
  std::int64_t size() const noexcept { return static_cast<std::int64_t>(parts_.size()); }
  int places() const noexcept { return places_; }

 private:
  int places_;
  std::vector<GjkPart> parts_;
  std::vector<GjkVector> vertices_;
};

inline std::size_t vertices(const Shape& shape) {
  std::size_t count = 0;
  for (int i = 0; i < shape.parts(); ++i) count += static_cast<std::size_t>(shape.part(i).size);
  return count;
}

inline Parts parts_of_vehicle(const Shape& shape, double yaw) {
  double most = 0.0;
  for (int i = 0; i < shape.parts(); ++i) {
    most = std::max({most, largest(shape.part(i), {}), shape.part(i).radius});
  }
  Parts parts(places_of(most), static_cast<std::size_t>(shape.parts()), vertices(shape));
  for (int i = 0; i < shape.parts(); ++i) {
    parts.add(shape.part(i), shape.part(i).radius, {}, turn(yaw), {});
  }
  return parts;
}

// Parts of obstacles, relative to the position of the vehicle.
inline Parts parts_of_obstacles(const std::vector<const Shape*>& shapes, const double* poses,
                                const double* required, Vec2 vehicle, int places) {
  std::size_t count = 0;
  std::size_t corners = 0;
  for (const Shape* shape : shapes) {
    count += static_cast<std::size_t>(shape->parts());
    corners += vertices(*shape);
  }
  Parts parts(places, count, corners);
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    const double* const pose = poses + 3 * k;
    // Vertices in the frame of the scene may be far from its origin, and near to the vehicle.
    const bool is_placed = pose[0] == 0.0 && pose[1] == 0.0 && pose[2] == 0.0;
    const Vec2 from_vehicle{pose[0] - vehicle.x, pose[1] - vehicle.y};
    const GjkVector own_turn = turn(pose[2]);
    for (int j = 0; j < shapes[k]->parts(); ++j) {
      const Convex part = shapes[k]->part(j);
      parts.add(part, part.radius + required[k], is_placed ? from_vehicle : Vec2{}, own_turn,
                is_placed ? Vec2{} : from_vehicle);
    }
  }
  return parts;
}

// Whether the directions (`count` pairs of numbers), one for each pair of parts in ascending order,
// prove that the shape at the pose is farther than required (m, not negative) from each obstacle at
// its pose.
inline bool proves_free(const Shape& shape, const double* pose,
                        const std::vector<const Shape*>& obstacles, const double* poses,
                        const double* required, const double* directions, std::size_t count) {
  const Parts own = parts_of_vehicle(shape, pose[2]);
  const Parts others =
      parts_of_obstacles(obstacles, poses, required, {pose[0], pose[1]}, own.places());
  std::vector<GjkVector> towards(count);
  for (std::size_t i = 0; i < count; ++i) {
    towards[i] = direction(directions[2 * i], directions[2 * i + 1]);
  }
  return std::max(own.size(), others.size()) <= GJK_MOST &&
         gjk_proves_free(own.data(), own.size(), others.data(), others.size(), towards.data()) != 0;
}

}  // namespace gjk::checker
