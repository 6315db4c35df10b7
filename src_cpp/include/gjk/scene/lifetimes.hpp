// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The times at which obstacles exist.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "gjk/arithmetic.hpp"
#include "gjk/motion/motion.hpp"
#include "gjk/shape/expansion.hpp"
#include "gjk/shape/vec2.hpp"

namespace gjk {

// A closed interval of time (s). Without a limit, it is infinite on that side.
struct Interval {
  double begin = -kInfinity;
  double end = kInfinity;

  // NaN is in every interval.
  bool holds(double time) const noexcept { return !(time < begin) && !(time > end); }
  bool is_limited() const noexcept { return std::isfinite(begin) || std::isfinite(end); }
  // On a clock that starts at `origin` (s), and longer by `error` (s) on both sides, rounded
  // outwards.
  Interval on_clock(double origin, double error) const noexcept {
    return {rounded_down(two_sum(rounded_down(two_difference(begin, origin)), -error)),
            rounded_up(two_sum(rounded_up(two_difference(end, origin)), error))};
  }
};

// NaN: there is no limit on that side.
inline Interval lifetime_of(double begin, double end) noexcept {
  Interval life;
  if (!std::isnan(begin)) life.begin = begin;
  if (!std::isnan(end)) life.end = end;
  return life;
}

// Each obstacle exists in an interval on the clock of the query times, and has no effect before and
// after it. If a time has an error, an obstacle exists at the time if it may exist.
class Lifetimes {
 public:
  bool none() const noexcept { return lives_.empty(); }
  std::size_t bytes() const noexcept {  // on the heap
    return lives_.capacity() * sizeof(Interval) + limits_.capacity() * sizeof(double);
  }

  // `limits` (s) has the begin and the end of each obstacle, NaN where there is no limit. It may be
  // shorter than `count` obstacles: the others are not limited.
  void assign(std::size_t count, std::span<const double> limits) {
    lives_.assign(count, {});
    for (std::size_t k = 0; k + 1 < limits.size(); k += 2) {
      lives_[k / 2] = lifetime_of(limits[k], limits[k + 1]);
    }
  }
  void set(std::size_t i, const Interval& life) noexcept { lives_[i] = life; }
  // Call after assign() and set(). `error` (s): that of the query times.
  void update(double error) {
    limits_.clear();
    const auto is_limited = [](const Interval& life) { return life.is_limited(); };
    if (std::none_of(lives_.begin(), lives_.end(), is_limited)) lives_ = {};  // frees the memory
    error_ = error;
    for (std::size_t i = 0; i < lives_.size(); ++i) {
      const Interval wide = at(i);
      for (const double limit : {wide.begin, wide.end}) {
        if (std::isfinite(limit)) limits_.push_back(limit);
      }
    }
    std::sort(limits_.begin(), limits_.end());
  }

  Interval given(std::size_t i) const noexcept { return none() ? Interval{} : lives_[i]; }
  // The query times at which the obstacle exists.
  Interval at(std::size_t i) const noexcept { return given(i).on_clock(0.0, error_); }
  // Whether an obstacle may begin or end within `by` (s) of the time.
  bool change_within(double time, double by) const noexcept {
    const auto next = std::lower_bound(limits_.begin(), limits_.end(), time - by);
    return next != limits_.end() && *next <= time + by;
  }

 private:
  std::vector<Interval> lives_;  // s; empty: none is limited
  std::vector<double> limits_;   // s, sorted
  double error_ = 0.0;           // s
};

// Lengthens a motion, whose clock starts at `stamp` (s), to the limits of a lifetime where it ends
// before them by no more than the rounding and the error of the times (s). An obstacle whose
// lifetime is that of its path is then known whenever it exists.
inline void reach_lifetime(std::span<Piece> motion, const Interval& life, double stamp,
                           double error) noexcept {
  if (motion.empty() || motion.front().begin == motion.back().end) return;
  const Interval own = life.on_clock(stamp, 0.0);
  const Interval all = life.on_clock(0.0, error).on_clock(stamp, 0.0);  // as Lifetimes::at()
  const auto slack = [&](double limit) noexcept {
    return 2.0 * error + 16.0 * kUnitRoundoff * (std::fabs(stamp) + std::fabs(limit));
  };
  double& begin = motion.front().begin;
  double& end = motion.back().end;
  if (begin > all.begin && begin <= own.begin + slack(own.begin)) begin = all.begin;
  if (end < all.end && end >= own.end - slack(own.end)) end = all.end;
}

}  // namespace gjk
