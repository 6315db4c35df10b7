// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Certificates: proofs that two shapes are apart. This is the only file that produces a FREE
// verdict.
//
// A certificate is a lower bound on a distance, radii and errors included, together with its proof:
// each factory function evaluates an inequality that implies the bound. The candidate it tests (a
// direction, an edge, a pair of features, a tree search) may be wrong. Then nothing is proven, and
// the verdict is not FREE. A test of the sources checks that no other file names Verdict::free, but
// the comparison is_free().
#pragma once

#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>

#include "gjk/arithmetic.hpp"
#include "gjk/broad/exhausted.hpp"
#include "gjk/narrow/edge_tests.hpp"
#include "gjk/narrow/exact.hpp"
#include "gjk/narrow/extremes.hpp"
#include "gjk/shape/box.hpp"
#include "gjk/shape/convex.hpp"
#include "gjk/shape/vec2.hpp"
#include "gjk/simd/lanes.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

template <std::size_t kLanes>
class LowerBounds;

}  // namespace gjk

#define GJK_SIMD_FILE "gjk/certificate.inc"
#include "gjk/simd/each_set.hpp"

namespace gjk {

// If the polygons are farther apart than this, the true shapes are farther apart than `reach`.
template <class P, class Q>
double grown_reach(const P& p, const Q& q, double reach) noexcept {
  return (reach + p.error + q.error) * (1.0 + 16.0 * kUnitRoundoff);
}

// Bounds of several lanes (m). Infinite until some are taken.
template <std::size_t kLanes>
class LowerBounds {
 public:
  LowerBounds() noexcept { of_.fill(kInfinity); }
  const double* from(std::size_t first) const noexcept { return &of_[first]; }
  // Bounds of the lanes from `first` on. No vector is passed by value, so that functions of any set
  // may call it.
  template <class Bounds>
  void set(std::size_t first, const Bounds& bounds) noexcept {
    bounds.store(&of_[first]);
  }

 private:
  friend class Certificate;

  std::array<double, kLanes> of_;
};

class Certificate {
 public:
  constexpr Certificate() noexcept = default;  // proves nothing

  // m. The signed distance is at least this.
  constexpr double lower() const noexcept { return lower_; }
  // Whether it proves that the distance is greater than the margin (m).
  constexpr bool proves(double margin) const noexcept {
    return lower_ > margin || (is_greater_ && lower_ >= margin);
  }
  // FREE if it proves that the distance is greater than the margin (m), otherwise `otherwise`.
  constexpr Verdict beyond(double margin, Verdict otherwise) const noexcept {
    return proves(margin) ? Verdict::free : otherwise;
  }

  // Gap along a vector n from p to q, over all vertices of both; see exact::gap_along().
  template <class P, class Q>
  static Certificate along(const P& p, const Q& q, Vec2 n, Vec2 from) noexcept {
    return at_least(exact::surfaces_apart(p, q, exact::gap_along(p, q, n, from)));
  }
  // The same from the extents of p along n and of q along -n; see exact::gap_of().
  template <class P, class Q>
  static Certificate along(const P& p, const Q& q, const Span& of_p, const Span& of_q,
                           Vec2 n) noexcept {
    return at_least(exact::surfaces_apart(p, q, exact::gap_of(of_p, of_q, n)));
  }

  // Tests a supporting line of P - Q: w is the support vertex in direction -d, and `along` = d.w.
  // All of P - Q is farther from the origin than the reach if d.w exceeds reach * |d| by more than
  // the rounding errors of choosing w and of computing d.w. `grown` is the reach plus the errors of
  // the shapes. The comparison is ordered so that NaN proves nothing. Proof:
  // certificate.beyond_line.gappa.
  static Certificate beyond_line(Vec2 d, double along, double rounding, double grown,
                                 double margin) noexcept {
    const double bound = rounding * norm1(d) + (grown > 0.0 ? grown * norm(d) : 0.0);
    return along > bound + 0x1p-1000 ? greater_than(margin) : Certificate{};
  }

  // The bounding boxes are farther apart than the reach, along x or y. Proof:
  // certificate.beyond_line.gappa.
  static Certificate boxes(const detail::Quadrilateral& w, double grown, double margin) noexcept {
    return detail::boxes_apart(w, grown) ? greater_than(margin) : Certificate{};
  }
  // The same for a pair in a batch: the verdict, without a branch.
  template <class Set>
  static Verdict boxes(const Convex& p, const Convex& q, double margin,
                       Verdict otherwise) noexcept {
    const bool are_apart = Set::boxes_apart(p, q, grown_reach(p, q, p.radius + q.radius + margin));
    return are_apart ? Verdict::free : otherwise;
  }
  // Lower bound (m) on the distance of two parts, from their bounding boxes. `beyond_boxes` (m) is
  // how far both parts together may extend beyond them. If the boxes overlap, nothing is proven,
  // because the penetration depth of the parts is not bounded.
  static Certificate boxes(const Box& a, const Box& b, double beyond_boxes) noexcept {
    const Vec2 gap = a.gap(b);
    if (gap == Vec2{}) return {};
    return at_least(norm(gap) * (1.0 - 8.0 * kUnitRoundoff) -
                    beyond_boxes * (1.0 + 8.0 * kUnitRoundoff));
  }

  // For exact shapes with reach 0: one shape lies strictly on the outer side of an edge of the
  // other, by more than the rounding error. The shape with the edge lies on the inner side, because
  // it is convex. Convexity was checked exactly when the shape was created.
  static Certificate edges(const EdgeTests& test) noexcept {
    return test.is_separated() ? greater_than(0.0) : Certificate{};
  }
  // The same with exact arithmetic, for the edges that the test leaves undecided.
  template <class P, class Q>
  static Certificate unsure_edges(const P& p, const Q& q, const EdgeTests& test) noexcept {
    const bool separates = exact::one_separates(p, q, test.of_p.unsure) ||
                           exact::one_separates(q, p, test.of_q.unsure);
    return separates ? greater_than(0.0) : Certificate{};
  }

  // For exact shapes: the answer of rational arithmetic on the given doubles. For shapes with an
  // error: the best bound along the directions that GJK or the enumeration proposes.
  [[gnu::noinline]] static Certificate exact(const Convex& p, const Convex& q, double margin,
                                             exact::Contact near) noexcept {
    const double reach = p.radius + q.radius + margin;
    const double error = p.error + q.error;
    if (error > 0.0) {
      // The nearest features at the contact usually decide: either they prove a large enough gap,
      // or they are so close that no direction could prove one.
      double upper = 0.0;
      const exact::Pair pair = exact::nearest_at(p, q, near, reach + error, upper);
      if (upper <= reach + error) return {};
      const Certificate there = at_least(exact::surfaces_apart(p, q, gap_along(p, q, pair)));
      if (upper <= reach + 2.0 * error || there.proves(margin)) return there;
      return at_least(exact::surfaces_apart(p, q, exact::distance(p, q).gap));
    }
    if (!exact::disjoint(p, q, near)) return {};
    if (reach == 0.0) return greater_than(0.0);

    const exact::Distance distance = exact::distance(p, q);
    const double slack = 4.0 * kUnitRoundoff * reach;
    if (distance.gap > reach + slack) return greater_than(margin);
    if (distance.bounds.upper < reach - slack) return {};
    return exact::is_beyond(p, q, margin, distance) ? greater_than(margin) : Certificate{};
  }

  // The certificate behind a verdict that was computed for a pair with this margin (m).
  static Certificate of(Verdict verdict, double margin) noexcept {
    if (is_free(verdict)) return greater_than(margin);
    return verdict == Verdict::margin ? greater_than(0.0) : Certificate{};
  }

  // The lower bound of a distance query: for shapes with an error, the gap along the query's
  // direction; for exact shapes, the distance of the features that convexity proves to be nearest.
  static Certificate of(const Closest& closest) noexcept {
    return closest.status == Status::success ? at_least(closest.lower_bound) : Certificate{};
  }

  // Certified bounds on a distance, such as those of a closest approach.
  static Certificate of(const Bounds& distance) noexcept { return at_least(distance.lower); }

  // Two shapes that move at constant velocities: the gap after s seconds, along the unit vector n
  // from a to b. In real arithmetic this bound is concave in s. `any_turn`: see
  // Underway::support_within().
  template <class Underway>
  static Certificate moving(const Underway& a, const Underway& b, Vec2 n, double s,
                            bool any_turn) noexcept {
    if (!a.stays_in_domain(s) || !b.stays_in_domain(s)) return {};
    const Vec2 apart = b.at.t - a.at.t;
    const double centres =
        dot(n, apart) + s * dot(n, b.bound_velocity(any_turn) - a.bound_velocity(any_turn));
    const double polygons =
        centres - a.support_within(n, s, any_turn) - b.support_within(-n, s, any_turn);
    const double reach = a.shape.radius + b.shape.radius;
    return at_least(polygons - reach - a.rounding(s, any_turn) - b.rounding(s, any_turn) -
                    8.0 * kUnitRoundoff * (std::fabs(polygons) + reach));
  }
  // Holds throughout a time interval, because moving() with a fixed direction is concave in s.
  static Certificate during(const Certificate& at_begin, const Certificate& at_end) noexcept {
    return weaker(at_begin, at_end);
  }

  // The bound in a lane, from Bounds in certificate.inc.
  template <std::size_t kLanes>
  static Certificate in_lane(const LowerBounds<kLanes>& lower, std::size_t k) noexcept {
    return at_least(lower.of_[k]);
  }

  // A tree search that was not aborted: items not visited are farther away than `limit` (m).
  static Certificate exhausted(const Exhausted& search, double limit) noexcept {
    return search.is_complete() ? greater_than(limit) : Certificate{};
  }

  // The bound that both certificates prove.
  friend constexpr Certificate weaker(const Certificate& a, const Certificate& b) noexcept {
    if (a.lower_ == b.lower_) return {a.lower_, a.is_greater_ && b.is_greater_};
    return a.lower_ < b.lower_ ? a : b;
  }
  // The better bound of two certificates, which must be about the same shapes.
  friend constexpr Certificate stronger(const Certificate& a, const Certificate& b) noexcept {
    if (a.lower_ == b.lower_) return {a.lower_, a.is_greater_ || b.is_greater_};
    return a.lower_ > b.lower_ ? a : b;
  }

 private:
  constexpr Certificate(double lower, bool is_greater) noexcept
      : lower_(lower), is_greater_(is_greater) {}
  // NaN proves nothing.
  static constexpr Certificate at_least(double lower) noexcept {
    return lower > kNothing ? Certificate{lower, false} : Certificate{};
  }
  static constexpr Certificate greater_than(double lower) noexcept { return {lower, true}; }

  static constexpr double kNothing = -kInfinity;

  double lower_ = kNothing;
  bool is_greater_ = false;  // the distance is strictly greater than `lower_`
};

namespace exact {

// FREE or COLLISION of two shapes, radii included, without a search. They collide if their distance
// is at most the margin (m). Exact on the given doubles. Shapes with an error are FREE only if the
// gap is larger than the error. `near` speeds up the search and does not change the answer.
inline Verdict collide(const Convex& p, const Convex& q, double margin = 0.0,
                       Contact near = {}) noexcept {
  if (!in_domain(p, q) || !(margin >= 0.0 && margin <= kMaxCoordinate)) return Verdict::unknown;
  return Certificate::exact(p, q, margin, near).beyond(margin, Verdict::collision);
}

}  // namespace exact

// The weakest of the certificates taken so far. Before the first one, it proves nothing.
class Proven {
 public:
  void take(const Certificate& certificate) noexcept {
    of_all_ = is_empty_ ? certificate : weaker(of_all_, certificate);
    is_empty_ = false;
  }
  const Certificate& of_all() const noexcept { return of_all_; }

 private:
  Certificate of_all_;
  bool is_empty_ = true;
};

// Answer to a query about many pairs: the worst verdict on any pair, and a bound that holds for
// all.
//
// UNKNOWN until something is taken. FREE only if every certificate taken proves a distance greater
// than the margin, or than the distance that its pair requires (m, at least the margin); if a
// search left pairs out, its own certificate must be taken too.
class Decision {
 public:
  explicit Decision(double margin = 0.0) noexcept : margin_(margin) {}  // m

  // Takes the verdict on a pair for the margin, with a further bound on its distance. Returns true
  // if it is worse than all verdicts before.
  bool take(Verdict verdict, const Certificate& bound = {}) noexcept {
    return take(verdict, bound, margin_);
  }
  // The same for a pair whose verdict was computed for another margin, the distance it requires.
  bool take(Verdict verdict, const Certificate& bound, double required) noexcept {
    if (verdict == Verdict::unknown) return fail(Status::numeric_failure);
    take(stronger(Certificate::of(verdict, required), bound), required);
    return !is_free(verdict) && worsen(verdict, Status::success);
  }
  // Takes a certificate about pairs for which there is no verdict.
  void take(const Certificate& certificate) noexcept { take(certificate, margin_); }
  void take(const Certificate& certificate, double required) noexcept {
    proven_.take(certificate);
    all_met_ &= certificate.proves(required);
  }
  // Takes a pair that has no verdict; it may have a bound. A collision of another pair still
  // outranks it.
  bool fail(Status status, const Certificate& bound = {}) noexcept {
    take(bound);
    return worsen(Verdict::unknown, status);
  }

  Verdict verdict() const noexcept {
    if (is_worse_) return worst_;
    return all_met_ ? proven_.of_all().beyond(margin_, Verdict::unknown) : Verdict::unknown;
  }
  // internal_error if no verdict is worse than FREE, but FREE is not proven.
  Status status() const noexcept {
    if (is_worse_) return status_;
    const bool is_proven = all_met_ && proven_.of_all().proves(margin_);
    return is_proven ? Status::success : Status::internal_error;
  }
  double lower() const noexcept { return proven_.of_all().lower(); }  // m

 private:
  bool worsen(Verdict verdict, Status status) noexcept {
    if (is_worse_ && severity(verdict) <= severity(worst_)) return false;
    is_worse_ = true;
    worst_ = verdict;
    status_ = status;
    return true;
  }

  double margin_;
  Proven proven_;
  bool all_met_ = true;    // each certificate proves the distance that its pair requires
  bool is_worse_ = false;  // worse than FREE
  Verdict worst_ = Verdict::unknown;
  Status status_ = Status::undefined;
};

// What a gap in single precision must exceed.
struct LaneReach {
  float grown = 0.0F;  // m. Required distance, radii and errors; larger by a relative 2^-20
  float slack = 0.0F;  // m. More than the rounding errors, see narrow/pose_lanes.hpp
};

// A pair of parts, with one of them at several poses. Bit k of poses(): at pose k, they are farther
// apart than the pair requires. The poses are the lanes of a vector of floats. Comparisons are
// ordered so that NaN proves nothing. Proofs: pose_lanes.gap.gappa, pose_lanes.box.gappa.
class ApartInLanes {
 public:
  ApartInLanes() noexcept = default;  // proves nothing
  unsigned poses() const noexcept { return poses_; }
  // Takes further proofs about the same pair.
  void include(const ApartInLanes& other) noexcept { poses_ |= other.poses_; }

  // The gap along a direction over all vertices of both, times the length of the direction.
  // `length`: rounded up; `norm1`: |x| + |y| of the direction.
  template <class Floats>
  static ApartInLanes along(const Floats& gap, float length, float norm1,
                            const LaneReach& reach) noexcept {
    return ApartInLanes(Floats::bits_above(gap, length * reach.grown + norm1 * reach.slack));
  }
  // The squared distance between the centre of a circle around one part, whose radius is included
  // in the reach, and the box of the other.
  template <class Floats>
  static ApartInLanes boxed(const Floats& squared, const LaneReach& reach) noexcept {
    const float all = reach.grown + reach.slack;
    return ApartInLanes(Floats::bits_above(squared, all * all));
  }

 private:
  explicit ApartInLanes(unsigned poses) noexcept : poses_(poses) {}

  unsigned poses_ = 0;
};

// Certificates for several poses among many parts. Bit k of poses(): at pose k, the pairs taken so
// far and the parts that the search left out are farther away than required, at least the margin.
class CertificatesInLanes {
 public:
  CertificatesInLanes() noexcept = default;  // prove nothing
  // A search with a range of at least the margin around all of the poses.
  CertificatesInLanes(const Exhausted& search, unsigned poses) noexcept
      : poses_(search.is_complete() ? poses : 0) {}
  void take(const ApartInLanes& pair) noexcept { poses_ &= pair.poses(); }
  void drop(unsigned poses) noexcept { poses_ &= ~poses; }

  unsigned poses() const noexcept { return poses_; }
  Certificate at(int pose, double margin) const noexcept {
    return Certificate::of((poses_ >> pose & 1U) != 0 ? Verdict::free : Verdict::unknown, margin);
  }

 private:
  unsigned poses_ = 0;
};

// Number of internal errors since the start of the process; 0 unless the kernel has an error.
inline std::atomic<std::size_t> internal_errors{0};

// The check of each answer on its way out of the kernel: FREE needs a lower bound (m) of at least
// the margin (m). Otherwise the kernel has an error, and the answer is UNKNOWN, internal_error.
// Internal errors are counted.
inline void check_free(Verdict& verdict, Status& status, double lower_bound,
                       double margin) noexcept {
  if (is_free(verdict) && !(lower_bound >= margin)) {
    verdict = Verdict::unknown;
    status = Status::internal_error;
  }
  if (status == Status::internal_error) internal_errors.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace gjk
