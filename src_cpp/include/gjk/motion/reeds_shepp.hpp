// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The shortest curve of a car that drives forwards and backwards.
//
// J. A. Reeds and L. A. Shepp, "Optimal paths for a car that goes both forwards and backwards",
// Pacific Journal of Mathematics 145(2), 1990. The shortest curve is one of 48 words: eleven
// below, for each of the four symmetries of section 8 (mirrored, driven backwards, both). Two more
// follow from one formula of C|C|C and C|CC. A bar is a change of direction.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "gjk/arithmetic.hpp"
#include "gjk/motion/curve.hpp"

namespace gjk {
namespace detail {

// L, R: arcs, S: straight line. In the words below, forwards is positive, backwards negative, and
// q is a quarter turn. Under each word, the vector of the centres as in dubins.hpp.
struct ReedsSheppWord {
  enum class Kind { none, lsl, lsr, lrl, lrl_back, lrlr, lrsl, lrsl_back, lrsr, lrsr_back, lrslr };

  double length = kInfinity;
  Kind kind = Kind::none;
  bool is_mirrored = false;
  bool is_backwards = false;
  double t = 0.0;  // rad, first arc; the last one, if the word is in reverse order
  double u = 0.0;  // radii or rad, in the middle
  double w = 0.0;  // rad, second arc in the middle
  double v = 0.0;  // rad, last arc; the first one, if the word is in reverse order
};

// Finds the shortest word of one symmetry.
class ReedsSheppSearch {
 public:
  ReedsSheppSearch(ReedsSheppWord& best, double rounding, bool is_mirrored,
                   bool is_backwards) noexcept
      : best_(best), rounding_(rounding), is_mirrored_(is_mirrored), is_backwards_(is_backwards) {}

  using Kind = ReedsSheppWord::Kind;
  enum class Last { forwards, backwards, any };

  // Takes a word if it is valid and shorter. Its first arc t is forwards. Its last arc turns by
  // side * (rest - t). `more` is the length of the quarter turns.
  void offer(Kind kind, double t, double u, double w, double rest, double side, Last last,
             double slack, double more = 0.0) noexcept {
    const double middle = std::fabs(u) + std::fabs(w) + more;
    if (middle >= best_.length) return;
    const Turns turns = Turns::of(t, rest, side, slack, rounding_);
    t = turns.first;
    double v = turns.last;
    // -pi and pi are one turn.
    if (t <= slack - kPi) t += 2.0 * kPi;
    if (last == Last::forwards && v <= slack - kPi) v += 2.0 * kPi;
    if (last == Last::backwards && v >= kPi - slack) v -= 2.0 * kPi;
    if (t < 0.0 || (last == Last::forwards && v < 0.0) || (last == Last::backwards && v > 0.0)) {
      return;
    }
    const double sum = t + middle + std::fabs(v);
    if (sum < best_.length) best_ = {sum, kind, is_mirrored_, is_backwards_, t, u, w, v};
  }

 private:
  ReedsSheppWord& best_;
  double rounding_;
  bool is_mirrored_;
  bool is_backwards_;
};

// The shortest word of each symmetry. Index: 1 mirrored, 2 driven backwards, 3 both.
inline std::array<ReedsSheppWord, 4> shortest_words(const Task& task) noexcept {
  using Kind = ReedsSheppWord::Kind;
  using Last = ReedsSheppSearch::Last;
  const double near = 4.0 * task.rounding;
  std::array<ReedsSheppWord, 4> best;
  for (const bool mirrored : {false, true}) {
    const Centres same = task.same[mirrored ? 1 : 0];
    const Centres opposite = task.opposite[mirrored ? 1 : 0];
    const Centres other = task.opposite[mirrored ? 0 : 1];
    // Tangents and angles that depend on the distance of the centres only.
    const double same_square = (same.length - 2.0) * (same.length + 2.0);
    const double square = (opposite.length - 2.0) * (opposite.length + 2.0);
    const double same_tangent = std::sqrt(std::fmax(0.0, same_square));
    const double tangent = std::sqrt(std::fmax(0.0, square));
    const double tilt = angle_of({tangent, 2.0});
    const double same_tilt = angle_of({same_tangent, 2.0});
    const double half = angle_of_sine(std::fmin(1.0, 0.25 * same.length));
    for (const bool backwards : {false, true}) {
      const double heading = mirrored != backwards ? -task.heading : task.heading;
      const auto seen = [backwards](const Centres& centres) noexcept {
        return backwards ? kPi - centres.angle : centres.angle;
      };
      // Words in reverse order: the last arc is found first (section 8, "backwards").
      const double to_same = seen(same), to_opposite = seen(opposite);
      const double from_same = heading - to_same, from_other = heading + seen(other);
      ReedsSheppSearch search(best[(mirrored ? 1U : 0U) + (backwards ? 2U : 0U)], task.rounding,
                              mirrored, backwards);
      // (8.1) L+ S+ L+: same = u exp(it)
      search.offer(Kind::lsl, to_same, same.length, 0.0, heading, 1.0, Last::forwards, same.slack);
      // (8.2) L+ S+ R+: opposite = (u - 2i) exp(it)
      if (square >= -near) {
        search.offer(Kind::lsr, to_opposite + tilt, tangent, 0.0, heading, -1.0, Last::forwards,
                     opposite.slack);
      }
      // (8.3), (8.4) L+ R- L+, L+ R- L-: same = -4 sin(u/2) exp(i(t + u/2))
      if (same.length <= 4.0 + near) {
        const double turn = 2.0 * half;
        search.offer(Kind::lrl, to_same + kPi - half, -turn, 0.0, heading - turn, 1.0, Last::any,
                     same.slack);
        search.offer(Kind::lrl_back, from_same + kPi - half, -turn, 0.0, heading - turn, 1.0,
                     Last::any, same.slack);
      }
      // (8.7) L+ R+u L-u R-: opposite = -2i (2 cos u - 1) exp(i(t - u)), u <= pi/3
      if (opposite.length <= 2.0 + near) {
        const double u = angle_of_cosine(std::fmin(1.0, 0.25 * (2.0 + opposite.length)));
        search.offer(Kind::lrlr, to_opposite + u + kHalfPi, u, -u, heading + 2.0 * u, -1.0,
                     Last::backwards, opposite.slack);
      }
      // (8.8) L+ R-u L-u R+: opposite = 2i (exp(iu) - 2) exp(it), u <= pi/2
      const double cosine = (20.0 - opposite.length * opposite.length) / 16.0;
      if (cosine >= -near && square >= -near) {
        const double u = angle_of_cosine(std::fmin(1.0, std::fmax(0.0, cosine)));
        const SinCos at = sin_cos(u);
        search.offer(Kind::lrlr, to_opposite - kHalfPi - angle_of({at.cos - 2.0, at.sin}), -u, -u,
                     heading, -1.0, Last::forwards, opposite.slack);
      }
      // (8.9) L+ R-q S- L-: same = (-2 + i(u - 2)) exp(it)
      if (same_tangent >= 2.0 - near) {
        const double u = std::fmin(0.0, 2.0 - same_tangent);
        search.offer(Kind::lrsl, to_same + kHalfPi + same_tilt, u, 0.0, heading - kHalfPi, 1.0,
                     Last::backwards, same.slack, kHalfPi);
        search.offer(Kind::lrsl_back, from_same + kHalfPi + same_tilt, u, 0.0, heading - kHalfPi,
                     1.0, Last::backwards, same.slack, kHalfPi);
      }
      // (8.10) L+ R-q S- R-: opposite = -i (2 - u) exp(it)
      if (square >= -near) {
        const double u = std::fmin(0.0, 2.0 - opposite.length);
        search.offer(Kind::lrsr, to_opposite + kHalfPi, u, 0.0, heading - kHalfPi, -1.0,
                     Last::backwards, opposite.slack, kHalfPi);
      }
      if (other.length >= 2.0 - near) {
        const double u = std::fmin(0.0, 2.0 - other.length);
        search.offer(Kind::lrsr_back, from_other + kHalfPi, u, 0.0, heading - kHalfPi, -1.0,
                     Last::backwards, other.slack, kHalfPi);
      }
      // (8.11) L+ R-q S- L-q R+: opposite = (-2 + i(u - 4)) exp(it)
      if (tangent >= 4.0 - near) {
        const double u = std::fmin(0.0, 4.0 - tangent);
        search.offer(Kind::lrslr, to_opposite + kHalfPi + tilt, u, 0.0, heading, -1.0,
                     Last::forwards, opposite.slack, 2.0 * kHalfPi);
      }
    }
  }
  return best;
}

inline Curve curve_of(const ReedsSheppWord& word, double radius) noexcept {
  using Kind = ReedsSheppWord::Kind;
  const double t = word.t, u = word.u, v = word.v;
  constexpr double kQuarter = kHalfPi;
  Drive drive(radius, word.is_mirrored, word.is_backwards);
  switch (word.kind) {
    case Kind::lsl:
      return drive.left(t).straight(u).left(v).curve();
    case Kind::lsr:
      return drive.left(t).straight(u).right(v).curve();
    case Kind::lrl:
      return drive.left(t).right(u).left(v).curve();
    case Kind::lrl_back:
      return drive.left(v).right(u).left(t).curve();
    case Kind::lrlr:
      return drive.left(t).right(u).left(word.w).right(v).curve();
    case Kind::lrsl:
      return drive.left(t).right(-kQuarter).straight(u).left(v).curve();
    case Kind::lrsl_back:
      return drive.left(v).straight(u).right(-kQuarter).left(t).curve();
    case Kind::lrsr:
      return drive.left(t).right(-kQuarter).straight(u).right(v).curve();
    case Kind::lrsr_back:
      return drive.right(v).straight(u).right(-kQuarter).left(t).curve();
    case Kind::lrslr:
      return drive.left(t).right(-kQuarter).straight(u).left(-kQuarter).right(v).curve();
    case Kind::none:
      break;
  }
  return no_curve();
}

}  // namespace detail

// The shortest curve from a to b that drives forwards and backwards. `radius` (m) is the smallest
// turning radius. The length of the curve is NaN if a pose is outside the domain or the radius is
// not positive. Of words of equal length, the first one above is taken.
inline Curve reeds_shepp(const Pose& a, const Pose& b, double radius) noexcept {
  const detail::Task task = detail::Task::between(a, b, radius);
  if (!task.is_valid) return detail::no_curve();
  const auto words = detail::shortest_words(task);
  const auto shorter = [](const auto& p, const auto& q) { return p.length < q.length; };
  return detail::curve_of(*std::min_element(words.begin(), words.end(), shorter), radius);
}

// The shortest curve of each symmetry; all of them are ways from a to b. Two may be shortest: the
// length of C|C|C, for example, is the turn times the radius, whether the first arc turns left or
// right.
inline std::array<Curve, 4> reeds_shepp_candidates(const Pose& a, const Pose& b,
                                                   double radius) noexcept {
  std::array<Curve, 4> curves;
  curves.fill(detail::no_curve());
  const detail::Task task = detail::Task::between(a, b, radius);
  if (!task.is_valid) return curves;
  const auto words = detail::shortest_words(task);
  for (std::size_t i = 0; i < words.size(); ++i) {
    curves[i] = detail::curve_of(words[i], radius);
  }
  return curves;
}

}  // namespace gjk
