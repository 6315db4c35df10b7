// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The barycode-GJK loop: the simplex, its reduction to the part nearest the origin, the loop and
// its verdict.
//
// Source: Zhang, Wu, Wang, Zhou, "Barycode-based GJK Algorithm", Alg. 1 to 6. O is the origin; A,
// B, C are vertices of the Minkowski difference P - Q.
#pragma once

#include <cmath>

#include "gjk/certificate.hpp"
#include "gjk/narrow/axes.hpp"
#include "gjk/narrow/exact.hpp"
#include "gjk/narrow/extremes.hpp"
#include "gjk/shape/vec2.hpp"
#include "gjk/verdict.hpp"

namespace gjk::detail {

// A vertex of P - Q, with the indices of the vertices of P and Q whose difference it is.
struct SimplexVertex {
  Vec2 point;
  int p = 0;
  int q = 0;
};

// One to three vertices of P - Q, the newest first.
struct Simplex {
  SimplexVertex vertex[3];
  int size = 0;

  void push(const SimplexVertex& newest) noexcept {
    vertex[2] = vertex[1];
    vertex[1] = vertex[0];
    vertex[0] = newest;
    ++size;
  }
  void keep(int i) noexcept {
    vertex[0] = vertex[i];
    size = 1;
  }
  void keep(int i, int j) noexcept {
    const SimplexVertex second = vertex[j];
    vertex[0] = vertex[i];
    vertex[1] = second;
    size = 2;
  }
};

// Alg. 5, S1D: reduces the edge {i, j} to the part nearest O.
//
// With A = vertex i and B = vertex j: O lies before A if OA.AB >= 0, and past B if OB.AB <= 0.
inline void s1d(Simplex& s, int i, int j) noexcept {
  const Vec2 a = s.vertex[i].point;
  const Vec2 b = s.vertex[j].point;
  const Vec2 ab = b - a;
  if (dot(a, ab) >= 0.0) {
    s.keep(i);
  } else if (dot(b, ab) <= 0.0) {
    s.keep(j);
  } else {
    s.keep(i, j);
  }
}

// Alg. 4, ConeRegion at V = vertex v: O lies beyond V. M and N are the other two vertices.
inline void cone_region(Simplex& s, int v, int m, int n) noexcept {
  const Vec2 vertex = s.vertex[v].point;
  const Vec2 mv = vertex - s.vertex[m].point;
  const Vec2 nv = vertex - s.vertex[n].point;
  if (dot(mv, nv) >= 0.0) {  // NOLINT(bugprone-branch-clone): the cases of the paper, in its order
    s.keep(v);
  } else if (dot(vertex, mv) > 0.0) {
    s1d(s, v, m);
  } else if (dot(vertex, nv) > 0.0) {
    s1d(s, v, n);
  } else {
    s.keep(v);
  }
}

// Barycode of O in the triangle of A (the newest vertex), B and C. Bits 4, 2, 1 are set if O is on
// the inner side of BC, CA, AB.
//
// A was found by the search from edge BC towards O, so the triangle OBC always has the orientation
// of ABC. Four of the seven barycodes remain (the paper's remark after Alg. 4): 7 enclosed, 6
// beyond AB, 5 beyond CA, 4 beyond A. The reference is the sign of the area of OBC. The paper takes
// the sign of the sum of the areas, which is only rounding error if the triangle is flat.
inline int barycode(Vec2 a, Vec2 b, Vec2 c) noexcept {
  const bool side = cross(b, c) > 0.0;
  const bool inside_ca = (cross(c, a) > 0.0) == side;
  const bool inside_ab = (cross(a, b) > 0.0) == side;
  return 4 | (inside_ca ? 2 : 0) | (inside_ab ? 1 : 0);
}

// Alg. 3, S2D: true if O is enclosed; the triangle is then kept.
inline bool s2d(Simplex& s) noexcept {
  switch (barycode(s.vertex[0].point, s.vertex[1].point, s.vertex[2].point)) {
    case 7:
      return true;
    case 6:
      s1d(s, 0, 1);
      return false;
    case 5:
      s1d(s, 0, 2);
      return false;
    default:
      cone_region(s, 0, 1, 2);
      return false;
  }
}

// Whether the triangle a, b, c contains O strictly inside, beyond any rounding error. The vertices
// are differences of doubles with a relative error of u per coordinate, so a cross product is
// accurate to about 4 u times the sum of the magnitudes of its products.
inline bool encloses_origin(Vec2 a, Vec2 b, Vec2 c) noexcept {
  constexpr double kBound = 6.0 * kUnitRoundoff;
  // Without branches, because the side of O cannot be predicted.
  unsigned left = 0;
  unsigned right = 0;
  const auto look = [&](Vec2 p, Vec2 q) noexcept {
    const double one = p.x * q.y;
    const double other = p.y * q.x;
    const double area = one - other;
    const double bound = kBound * (std::fabs(one) + std::fabs(other));
    left += static_cast<unsigned>(area > bound);
    right += static_cast<unsigned>(area < -bound);
  };
  look(a, b);
  look(b, c);
  look(c, a);
  return (static_cast<unsigned>(left == 3u) | static_cast<unsigned>(right == 3u)) != 0u;
}

// Direction from O towards the simplex, for the search of the next support vertex: the vertex
// itself, or the normal of the edge (Catto, "Computing distance"). The normal stays accurate where
// a point computed from barycentric weights does not. Zero if O lies on the simplex.
inline Vec2 direction_from_origin(const Simplex& s) noexcept {
  const Vec2 a = s.vertex[0].point;
  if (s.size == 1) return a;
  const Vec2 n = perpendicular(s.vertex[1].point - a);
  const double side = cross(s.vertex[1].point, a);
  // n.a = -(b - a).y a.x + (b - a).x a.y = b x a: its sign shows on which side of O the edge lies
  if (side > 0.0) return n;
  if (side < 0.0) return -n;
  return {};
}

// Twice the area of the triangle of O and the edge, plus its rounding error. Divided by the length
// of the edge or of direction_from_origin(), it is an upper bound on the distance of O to the
// edge's line.
inline double edge_area(const Simplex& s) noexcept {
  const Vec2 a = s.vertex[0].point;
  const Vec2 b = s.vertex[1].point;
  const double left = a.x * b.y;
  const double right = a.y * b.x;
  return std::fabs(left - right) + 6.0 * kUnitRoundoff * (std::fabs(left) + std::fabs(right));
}

// Upper bound on the distance of O to P - Q: the distance to the edge's point nearest O. Up to
// rounding, this point lies in P - Q. The bound is tighter than that of edge_area() if O is far
// from a short edge.
inline double nearest_point_bound(const Simplex& s) noexcept {
  const Vec2 a = s.vertex[0].point;
  const Vec2 ab = s.vertex[1].point - a;
  const double share = -dot(a, ab) / dot(ab, ab);
  const double clamped = share > 0.0 ? (share < 1.0 ? share : 1.0) : 0.0;
  const double rounding = 8.0 * kUnitRoundoff * (norm1(a) + norm1(ab));
  return norm(a + clamped * ab) * (1.0 + 8.0 * kUnitRoundoff) + rounding;
}

// Upper bound on the distance of O to a reduced simplex, rounding included.
inline double distance_upper_bound(const Simplex& s) noexcept {
  constexpr double kRelative = 1.0 + 8.0 * kUnitRoundoff;
  const Vec2 a = s.vertex[0].point;
  if (s.size == 1) return norm(a) * kRelative;
  return edge_area(s) / norm(s.vertex[1].point - a) * kRelative;
}

// In 2D the loop takes about log n iterations. After this many, exact arithmetic decides.
inline constexpr int kMaxIterations = 64;

template <class P, class Q>
SimplexVertex support(const P& p, const Q& q, Vec2 d) noexcept {
  const int i = p.support(d);
  const int j = q.support(-d);
  return {p.vertex(i) - q.vertex(j), i, j};
}

// The difference of two given vertices.
template <class P, class Q>
Simplex start_at(const P& p, const Q& q, exact::Contact at) noexcept {
  Simplex s;
  s.push({p.vertex(at.p) - q.vertex(at.q), at.p, at.q});
  return s;
}

// The paper's start: any point of P - Q, here the difference of the first vertices.
template <class P, class Q>
Simplex first_vertices(const P& p, const Q& q) noexcept {
  return start_at(p, q, {});
}

// Whether the support vertex w, with d.w = along, is nearer to O along d than the simplex, by more
// than the rounding error. If not, the distance of the simplex is that of P - Q, and more
// iterations could only cycle. The comparison is ordered so that NaN is no progress.
inline bool progress(const Simplex& s, Vec2 d, double along, double rounding) noexcept {
  return along < dot(d, s.vertex[0].point) - rounding * norm1(d);
}

// The simplex at which GJK stopped, as a hint for exact arithmetic.
inline exact::Contact contact(const Simplex& s) noexcept {
  const SimplexVertex& a = s.vertex[0];
  return {a.p, a.q, s.size > 1 && a.p == s.vertex[1].p};
}

struct GjkLoop {
  enum class End {
    undecided,    // floating point does not decide, or the caller ended the loop
    converged,    // reached the simplex nearest O, up to rounding
    overlapping,  // O certainly lies in P - Q
  };

  End end = End::undecided;
  Simplex s;
  Vec2 d;              // last direction; w was searched along -d
  double along = 0.0;  // d.w
  int iterations = 0;
};

// Runs the loop from a simplex. Each iteration calls `look(s, d, w, along)`; if this is true, the
// loop ends.
template <class P, class Q, class Look>
GjkLoop gjk_loop(const P& p, const Q& q, const Simplex& start, Look&& look) noexcept {
  const double rounding = support_rounding(p, q);
  Simplex s = start;  // local, so that it stays in registers
  GjkLoop::End end = GjkLoop::End::undecided;
  Vec2 d;
  double along = 0.0;
  int k = 0;
  while (k < kMaxIterations) {
    ++k;
    d = direction_from_origin(s);
    const SimplexVertex w = support(p, q, -d);
    along = dot(d, w.point);
    if (look(s, d, w, along)) break;
    if (!progress(s, d, along, rounding)) {
      end = GjkLoop::End::converged;
      break;
    }
    // If w lies in the vertical angle of AOB, the triangle A, B, w encloses O (Fig. 2b).
    if (s.size == 2 && encloses_origin(s.vertex[0].point, s.vertex[1].point, w.point)) {
      end = GjkLoop::End::overlapping;
      break;
    }
    s.push(w);
    if (s.size == 2) {
      s1d(s, 0, 1);
    } else if (s2d(s)) {
      break;  // enclosed only within the rounding error
    }
  }
  return {end, s, d, along, k};
}

// Alg. 6 with certificates: FREE, COLLISION, or UNKNOWN if floating point does not decide. If
// UNKNOWN, `start` becomes the simplex at which GJK stopped.
//
// The shapes collide if the distance of their polygons is at most both radii plus the margin (m).
template <class P, class Q>
Verdict collide_by_gjk(const P& p, const Q& q, double margin, Simplex& start) noexcept {
  const double rounding = support_rounding(p, q);
  const double reach = p.radius + q.radius + margin;
  const double grown = grown_reach(p, q, reach);
  const double sure_reach = (reach - p.error - q.error) * (1.0 - 16.0 * kUnitRoundoff);
  Verdict verdict = Verdict::unknown;
  const GjkLoop loop = gjk_loop(
      p, q, start, [&](const Simplex& s, Vec2 d, const SimplexVertex&, double along) noexcept {
        // Exit 1: all of P - Q lies beyond the line d.x = reach |d|.
        const Certificate beyond = Certificate::beyond_line(d, along, rounding, grown, margin);
        if (beyond.proves(margin)) {
          verdict = beyond.beyond(margin, Verdict::unknown);
        } else if (sure_reach > 0.0 && distance_upper_bound(s) <= sure_reach) {
          verdict = Verdict::collision;
        }
        return verdict != Verdict::unknown;
      });
  // Exit 2: O is enclosed.
  if (loop.end == GjkLoop::End::overlapping) return Verdict::collision;
  start = loop.s;
  return verdict;
}

// Starts from the paper's first simplex.
template <class P, class Q>
Verdict collide_by_gjk(const P& p, const Q& q, double margin) noexcept {
  Simplex s = first_vertices(p, q);
  return collide_by_gjk(p, q, margin, s);
}

// Initial simplex for GJK. The side of the quadrilateral with the smallest cross product in `side`
// faces O; see inner_sides(). The simplex is the part of this side nearest O.
inline Simplex facing_edge(const Convex& p, const Convex& q, const Quadrilateral& w,
                           const double (&side)[4]) noexcept {
  int facing = 0;
  for (int k = 1; k < 4; ++k) facing = side[k] < side[facing] ? k : facing;
  const int next = (facing + 1) & 3;
  const auto vertex = [&](int k) noexcept {
    return SimplexVertex{{w.x[k], w.y[k]}, p.extreme[k], q.extreme[k ^ 2]};
  };
  Simplex s;
  s.vertex[0] = vertex(facing);
  s.vertex[1] = vertex(next);
  s.size = s.vertex[0].point == s.vertex[1].point ? 1 : 2;
  if (s.size == 2) s1d(s, 0, 1);
  return s;
}

// GJK from simplex s; exact arithmetic decides the rest.
template <class P, class Q, class Begin = Unreported>
Verdict collide_from(const P& p, const Q& q, double margin, Simplex& s, Begin begin = {}) noexcept {
  begin(Step::gjk);
  const Verdict verdict = collide_by_gjk(p, q, margin, s);
  if (verdict != Verdict::unknown) return verdict;
  begin(Step::exact);
  return exact::collide(p, q, margin, contact(s));
}

}  // namespace gjk::detail
