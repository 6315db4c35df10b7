// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The least time between the ego and an obstacle at one place.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "gjk/arithmetic.hpp"
#include "gjk/scene/obstacles.hpp"
#include "gjk/scene/tracks.hpp"

namespace gjk::detail {

// Finds the least time between the ego and an obstacle at one place, by branch and bound over
// intervals of the times of both: those that are nearest in time come first. They are dropped if
// a line separates all that both sweep.
class Encroachment {
 public:
  Encroachment(const Obstacles& obstacles, const Track& way, std::span<const Couple> couples,
               double tolerance)
      : obstacles_(obstacles), way_(way), couples_(couples), tolerance_(tolerance) {}

  // s. A lower bound. Places count as shared if the shapes pass within the tolerance.
  double least() {
    constexpr int kMostPairs = 20000;
    for (std::size_t i = 0; i < couples_.size(); ++i) {
      const Motion motion = couples_[i].motion->motion();
      const std::size_t obstacle = couples_[i].obstacle;
      const Interval life = obstacles_.lifetimes().given(obstacle).on_clock(
          obstacles_.stamp(obstacle), obstacles_.time_error());
      const double first = std::fmax(motion.front().begin, life.begin);
      const double last = std::fmin(motion.back().end, life.end);
      if (first > last) continue;
      push({i, way_.motion().front().begin, way_.motion().back().end, first, last});
    }
    double shared = kInfinity;  // s, of a place that was found
    for (int n = 0; !pairs_.empty(); ++n) {
      std::pop_heap(pairs_.begin(), pairs_.end());
      const Pair pair = pairs_.back();
      pairs_.pop_back();
      if (shared <= 1.05 * pair.apart + 0.02 || n == kMostPairs) return certain(pair);
      const Couple& couple = couples_[pair.couple];
      const double now = Couple::middle(pair.begin, pair.end);
      const double then = Couple::middle(pair.first, pair.last);
      const Couple::Encounter encounter =
          couple.encounter({pair.begin, now, pair.end}, {pair.first, then, pair.last}, false, 0.0);
      if (encounter.is_apart) continue;
      if (encounter.size <= 0.5 * tolerance_) return certain(pair);
      if (encounter.distance <= tolerance_) {
        shared = std::fmin(shared, std::fabs(local(pair, now) - then));
      }
      Pair half = pair;
      (encounter.is_own_larger ? half.end : half.last) = encounter.is_own_larger ? now : then;
      push(half);
      half = pair;
      (encounter.is_own_larger ? half.begin : half.first) = encounter.is_own_larger ? now : then;
      push(half);
    }
    return kInfinity;
  }

 private:
  struct Pair {
    std::size_t couple = 0;
    double begin = 0.0;  // s, of the ego
    double end = 0.0;
    double first = 0.0;  // s, on the clock of the obstacle
    double last = 0.0;
    double apart = 0.0;  // s, between these intervals

    bool operator<(const Pair& second) const noexcept { return apart > second.apart; }
  };

  double local(const Pair& pair, double time) const noexcept {
    return time - obstacles_.stamp(couples_[pair.couple].obstacle);
  }
  void push(Pair pair) {
    const double late = pair.first - local(pair, pair.end);
    const double early = local(pair, pair.begin) - pair.last;
    pair.apart = std::fmax(0.0, std::fmax(late, early));
    pairs_.push_back(pair);
    std::push_heap(pairs_.begin(), pairs_.end());
  }
  double certain(const Pair& pair) const noexcept {
    const double off = obstacles_.time_error() +
                       8.0 * kUnitRoundoff * (std::fabs(pair.begin) + std::fabs(pair.end));
    return std::fmax(0.0, pair.apart * (1.0 - 8.0 * kUnitRoundoff) - off);
  }

  const Obstacles& obstacles_;
  const Track& way_;
  std::span<const Couple> couples_;
  double tolerance_;         // m
  std::vector<Pair> pairs_;  // a heap
};

}  // namespace gjk::detail
