// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Proofs that shapes are apart. No other file concludes FREE.
//
// A certificate is a lower bound on a distance, radii and errors included, with its proof: each way
// to make one evaluates an inequality from which the bound follows. What proposes a certificate (a
// direction, an edge, a pair of features, a search of a tree) may be wrong: then nothing is proven,
// and the verdict is not FREE. A test of the sources sees to it that no other file names
// Verdict::free.
#pragma once

#include <cmath>
#include <limits>

#include "gjk/broad/exhausted.hpp"
#include "gjk/narrow/exact.hpp"
#include "gjk/narrow/extremes.hpp"
#include "gjk/narrow/steps.hpp"
#include "gjk/narrow/view.hpp"
#include "gjk/shape/box.hpp"
#include "gjk/shape/convex.hpp"
#include "gjk/shape/vec2.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

constexpr bool is_free(Verdict verdict) noexcept { return verdict == Verdict::free; }

// Polygons farther apart than this are farther apart than `reach`, whatever their errors.
template <class P, class Q>
double grown_reach(const P& p, const Q& q, double reach) noexcept {
  return (reach + p.error + q.error) * (1.0 + 16.0 * kUnitRoundoff);
}

class Certificate {
 public:
  constexpr Certificate() noexcept = default;  // of nothing

  // m: the true distance is at least this; where the shapes overlap, minus a depth.
  constexpr double lower() const noexcept { return lower_; }
  // Does it prove that the distance is greater than the margin (m)?
  constexpr bool proves(double margin) const noexcept {
    return lower_ > margin || (is_greater_ && lower_ >= margin);
  }
  // FREE where it proves that, else `otherwise`.
  constexpr Verdict beyond(double margin, Verdict otherwise) const noexcept {
    return proves(margin) ? Verdict::free : otherwise;
  }

  // Along a vector n from p to q, over all vertices of both; see exact::gap_along().
  template <class P, class Q>
  static Certificate along(const P& p, const Q& q, Vec2 n, Vec2 from) noexcept {
    return at_least(exact::surfaces_apart(p, q, exact::gap_along(p, q, n, from)));
  }

  // All of P - Q lies beyond the line through its support vertex w along -d: d.w = `along`, with
  // the rounding of its choice and of the product, is greater than `reach` times |d|. `grown` is
  // the reach with the errors. Ordered so that NaN proves nothing.
  static Certificate beyond_line(Vec2 d, double along, double rounding, double grown,
                                 double margin) noexcept {
    const double bound = rounding * norm1(d) + (grown > 0.0 ? grown * norm(d) : 0.0);
    return along > bound + 0x1p-1000 ? greater_than(margin) : Certificate{};
  }

  // The bounding boxes are farther apart than the reach, along x or y.
  static Certificate boxes(const detail::Quadrilateral& w, double grown, double margin) noexcept {
    return detail::boxes_apart(w, grown) ? greater_than(margin) : Certificate{};
  }
  // The same of a pair in a block: the verdict without a branch.
  template <class Set>
  static Verdict boxes(const Convex& p, const Convex& q, double margin,
                       Verdict otherwise) noexcept {
    const bool are_apart = Set::boxes_apart(p, q, grown_reach(p, q, p.radius + q.radius + margin));
    return are_apart ? Verdict::free : otherwise;
  }
  // The boxes of two parts, m; nothing where they overlap, since the parts may be at any depth.
  static Certificate boxes(const Box& a, const Box& b, double beyond_boxes) noexcept {
    const Vec2 gap = a.gap(b);
    if (gap == Vec2{}) return {};
    return at_least(norm(gap) * (1.0 - 8.0 * kUnitRoundoff) -
                    beyond_boxes * (1.0 + 8.0 * kUnitRoundoff));
  }

  // An edge of one of two exact shapes without a reach has all of the other strictly on its outer
  // side, by more than the rounding. Its own shape lies on its inner side: the outlines of shapes
  // are convex, as was found exactly when they were made.
  static Certificate edges(const EdgeTests& test) noexcept {
    return test.is_separated() ? greater_than(0.0) : Certificate{};
  }
  // The same exactly, of the edges that the test leaves unsure.
  template <class P, class Q>
  static Certificate unsure_edges(const P& p, const Q& q, const EdgeTests& test) noexcept {
    const bool separates = exact::one_separates(p, q, test.of_p.unsure) ||
                           exact::one_separates(q, p, test.of_q.unsure);
    return separates ? greater_than(0.0) : Certificate{};
  }

  // The answer of rational arithmetic on the doubles of exact shapes; for shapes known only to
  // within an error, the most that any direction proves that GJK or an enumeration proposes.
  template <class P, class Q>
  [[gnu::noinline]] static Certificate exact(P p, Q q, double margin,
                                             exact::Contact near) noexcept {
    const double reach = p.radius + q.radius + margin;
    const double error = p.error + q.error;
    if (error > 0.0) {
      // What is nearest at the contact mostly decides: it is proven to be far enough apart, or so
      // near that no direction could prove it.
      double upper = 0.0;
      const exact::Pair pair = exact::nearest_at(p, q, near, upper);
      if (detail::takes(detail::Step::contact)) {
        if (upper <= reach + error) return {};
        const Certificate there = at_least(exact::surfaces_apart(p, q, gap_along(p, q, pair)));
        if (upper <= reach + 2.0 * error || there.proves(margin)) return there;
      }
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

  // What a verdict on a pair with this margin (m) was concluded from.
  static Certificate of(Verdict verdict, double margin) noexcept {
    if (is_free(verdict)) return greater_than(margin);
    return verdict == Verdict::margin ? greater_than(0.0) : Certificate{};
  }

  // The bounds of a distance query. Of shapes with errors they are those along its direction; of
  // exact ones those of the features that convexity proves to be nearest.
  static Certificate of(const Closest& closest) noexcept {
    return closest.status == Status::success ? at_least(closest.lower_bound) : Certificate{};
  }

  // Of two shapes that move at constant velocities, s seconds from now, along the unit vector n
  // from a to b. In real numbers the bound is concave in s.
  template <class Underway>
  static Certificate moving(const Underway& a, const Underway& b, Vec2 n, double s,
                            bool any_turn) noexcept {
    if (!a.stays_in_domain(s) || !b.stays_in_domain(s)) return {};
    const Vec2 apart = b.at.t - a.at.t;
    const double centres = dot(n, apart) + s * dot(n, b.velocity - a.velocity);
    const double polygons =
        centres - a.support_within(n, s, any_turn) - b.support_within(-n, s, any_turn);
    const double reach = a.shape.radius + b.shape.radius;
    return at_least(polygons - reach - a.rounding(s) - b.rounding(s) -
                    8.0 * kUnitRoundoff * (std::fabs(polygons) + reach));
  }
  // Throughout an interval, from what one direction proves at its ends: see moving().
  static Certificate during(const Certificate& at_begin, const Certificate& at_end) noexcept {
    return weaker(at_begin, at_end);
  }

  // A search of a tree that was not aborted: all that it left out is farther away than `limit` (m).
  static Certificate exhausted(const Exhausted& search, double limit) noexcept {
    return search.is_complete() ? greater_than(limit) : Certificate{};
  }

  // What both prove.
  friend constexpr Certificate weaker(const Certificate& a, const Certificate& b) noexcept {
    if (a.lower_ == b.lower_) return {a.lower_, a.is_greater_ && b.is_greater_};
    return a.lower_ < b.lower_ ? a : b;
  }
  // Of the same shapes: what either proves.
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

  static constexpr double kNothing = -std::numeric_limits<double>::infinity();

  double lower_ = kNothing;
  bool is_greater_ = false;  // the distance is greater than `lower_`, not equal
};

namespace exact {

// FREE or COLLISION of two shapes, radii included, without a search: they collide when no farther
// apart than the margin (m). Exact on the given doubles; for shapes known only to within an error,
// FREE only beyond that error. `near` makes the way short; the answer does not depend on it.
template <class P, class Q>
Verdict collide(const P& p, const Q& q, double margin = 0.0, Contact near = {}) noexcept {
  if (!in_domain(p, q) || !(margin >= 0.0 && margin <= kMaxCoordinate)) return Verdict::unknown;
  return Certificate::exact(p, q, margin, near).beyond(margin, Verdict::collision);
}

}  // namespace exact

// What is proven of all that was taken; nothing before.
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

// The answer to a question about many pairs: the worst verdict on any, and what is proven of all.
//
// UNKNOWN until something is taken. FREE only where everything that was taken proves a distance
// greater than the margin, and where a search left pairs out, its end does.
class Decision {
 public:
  explicit Decision(double margin) noexcept : margin_(margin) {}  // m

  // The verdict on a pair, with the margin, and what else is proven of it; true where it is worse
  // than all before.
  bool take(Verdict verdict, const Certificate& bound = {}) noexcept {
    if (verdict == Verdict::unknown) return fail(Status::numeric_failure);
    take(stronger(Certificate::of(verdict, margin_), bound));
    return !is_free(verdict) && worsen(verdict, Status::success);
  }
  // What is proven of pairs on which there is no verdict.
  void take(const Certificate& certificate) noexcept { proven_.take(certificate); }
  // There is no answer on a pair, only a bound perhaps. A collision with another is still one.
  bool fail(Status status, const Certificate& bound = {}) noexcept {
    take(bound);
    return worsen(Verdict::unknown, status);
  }

  Verdict verdict() const noexcept {
    return is_worse_ ? worst_ : proven_.of_all().beyond(margin_, Verdict::unknown);
  }
  // FREE that is not proven is an error of this program.
  Status status() const noexcept {
    if (is_worse_) return status_;
    return proven_.of_all().proves(margin_) ? Status::success : Status::internal_error;
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
  bool is_worse_ = false;  // than FREE
  Verdict worst_ = Verdict::unknown;
  Status status_ = Status::undefined;
};

}  // namespace gjk
