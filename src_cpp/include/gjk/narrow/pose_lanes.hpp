// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Level 1 for one part of an obstacle and up to eight poses of the ego near each other: separating
// axes in single precision, with a pose in each lane.
//
// All coordinates are relative to the centre of the poses. A rounded gap may be wrong by less than
// the slack, which is proportional to the coordinates. A pose is proven apart if some gap is larger
// than the required distance by more than the slack. The shapes overlap if all gaps are negative by
// more than the slack. Poses with neither proof are left to the query in double precision.
//
// An edge only proposes a direction. The gap along it is evaluated over all vertices of both
// shapes: a rounded outline need not be convex.
#pragma once

#include <cmath>
#include <vector>

#include "gjk/certificate.hpp"
#include "gjk/shape/convex.hpp"
#include "gjk/shape/pose.hpp"
#include "gjk/shape/shape.hpp"
#include "gjk/shape/turn_lanes.hpp"
#include "gjk/shape/vec2.hpp"
#include "gjk/simd/float_lanes.hpp"

namespace gjk {

inline constexpr int kPoseLanes = simd::kFloatLanes;

// m. In lanes, shorter edges propose no direction. Their products could underflow.
inline constexpr double kShortestInLanes = 0x1p-60;

// A gap along a direction (x, y) is wrong by less than kLaneSlack (largest + 4 reach) (|x| + |y|):
// `largest` is that of the coordinates of the part, `reach` that of the ego. Proofs:
// pose_lanes.gap.gappa, pose_lanes.box.gappa, pose_lanes.sine.gappa, pose_lanes.cosine.gappa and
// pose_lanes.taylor.sollya.
inline constexpr float kLaneSlack = 0x1p-19;

// The ego in single precision, in its own frame.
class LaneShape {
 public:
  static constexpr int kMost = 64;  // vertices

  struct Edge {
    float x, y;    // m
    float least;   // m^2, minimum over the vertices v of the part of (x, y) x v
    float length;  // m, rounded up
    float norm1;   // m
  };
  struct Part {
    std::vector<float> x, y;  // m
    std::vector<Edge> edges;
    double radius = 0.0;        // m
    bool has_all_edges = true;  // none is too short
  };

  explicit LaneShape(const Shape& shape) {
    for (int i = 0; i < shape.parts(); ++i) {
      const Convex part = shape.part(i);
      is_usable_ &= part.extent <= kMaxCoordinate && part.error == 0.0 && part.size <= kMost;
      if (!is_usable_) return;
      add(part);
    }
    is_usable_ &= !parts_.empty() && reach_ >= 0x1p-20 && reach_ <= 0x1p+20;
  }
  // False: its poses are never checked in lanes.
  bool is_usable() const noexcept { return is_usable_; }
  double reach() const noexcept { return reach_; }  // m, radius included; about its origin
  const std::vector<Part>& parts() const noexcept { return parts_; }

 private:
  void add(const Convex& part) {
    Part& added = parts_.emplace_back();
    added.radius = part.radius;
    for (int i = 0; i < part.size; ++i) {
      added.x.push_back(static_cast<float>(part.x[i]));
      added.y.push_back(static_cast<float>(part.y[i]));
      reach_ = std::fmax(reach_, (norm(part.vertex(i)) + part.radius) * (1.0 + 0x1p-40));
      if (part.size == 1) break;
      const Vec2 edge = part.vertex(detail::after(i, part.size)) - part.vertex(i);
      if (norm1(edge) < kShortestInLanes) {
        added.has_all_edges = false;
        continue;
      }
      const auto x = static_cast<float>(edge.x);
      const auto y = static_cast<float>(edge.y);
      const Vec2 along{x, y};
      double least = cross(along, part.vertex(0));
      for (int v = 1; v < part.size; ++v) least = std::fmin(least, cross(along, part.vertex(v)));
      added.edges.push_back({x, y, static_cast<float>(least),
                             static_cast<float>(norm(along) * (1.0 + 0x1p-20)),
                             static_cast<float>(norm1(along))});
    }
  }

  std::vector<Part> parts_;
  double reach_ = 0.0;
  bool is_usable_ = true;
};

// A part of an obstacle in single precision.
class LanePart {
 public:
  // `box`, `radius`, `of_vertices`: box of the vertices, radius and error of the part, in metres.
  // `offset` (m): from the centre of the poses to the origin of the box. `reach` (m): of the ego.
  LanePart(const Box& box, double radius, double of_vertices, Vec2 offset, double required,
           double reach) noexcept
      : west(static_cast<float>(box.low.x + offset.x)),
        south(static_cast<float>(box.low.y + offset.y)),
        east(static_cast<float>(box.high.x + offset.x)),
        north(static_cast<float>(box.high.y + offset.y)),
        error(of_vertices) {
    largest = larger(larger(std::fabs(west), std::fabs(east)),
                     larger(std::fabs(south), std::fabs(north)));
    slack = kLaneSlack * (largest + 4.0F * static_cast<float>(reach));
    beyond = radius + 17.0 * of_vertices + undecided_margin(required);
  }
  // Whether it is certainly in the kernel's domain.
  bool is_in_range() const noexcept { return largest <= 0x1p+48; }
  // What the gap to a shape with this radius (m) must exceed. The part of undecided() that is
  // proportional to the coordinates is within the slack.
  LaneReach reach_to(double radius) const noexcept {
    return {static_cast<float>((radius + beyond) * (1.0 + 0x1p-20)), slack};
  }

  float west, south, east, north;  // m, box of the vertices
  float largest;                   // m, of their magnitudes
  float slack;                     // m
  double error;                    // m, of the vertices
  double beyond;                   // m, required distance, radius and undecided()
};

// Its vertices, and the edge from each of them to the next.
struct LaneVertices {
  LaneVertices(const double* from_x, const double* from_y, int count, Vec2 offset) noexcept
      : size(count) {
    for (int v = 0; v < size; ++v) {
      const int next = detail::after(v, size);
      x[v] = static_cast<float>(from_x[v] + offset.x);
      y[v] = static_cast<float>(from_y[v] + offset.y);
      edge_x[v] = static_cast<float>(from_x[next] - from_x[v]);
      edge_y[v] = static_cast<float>(from_y[next] - from_y[v]);
    }
  }

  int size;
  float x[LaneShape::kMost];
  float y[LaneShape::kMost];
  float edge_x[LaneShape::kMost];
  float edge_y[LaneShape::kMost];
};

// The answers of one instruction set; see pose_lanes.inc.
template <class Set>
struct PoseLanesOf;

}  // namespace gjk

#define GJK_SIMD_FILE "gjk/narrow/pose_lanes.inc"
#include "gjk/simd/each_set.hpp"
