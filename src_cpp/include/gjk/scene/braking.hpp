// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The least deceleration with which the ego does not touch an obstacle.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gjk/arithmetic.hpp"
#include "gjk/certificate.hpp"
#include "gjk/motion/cast.hpp"
#include "gjk/motion/motion.hpp"
#include "gjk/scene/extent.hpp"
#include "gjk/scene/obstacles.hpp"
#include "gjk/scene/path.hpp"
#include "gjk/scene/tracks.hpp"
#include "gjk/shape/vec2.hpp"
#include "gjk/verdict.hpp"

namespace gjk::detail {

// The ego on its trajectory, but with a deceleration a (m/s2) on top: at the time t, it has driven
// a (t - t0)^2 / 2 less of the same way. When its speed has fallen to 0, it stands for ever.
class Braking {
 public:
  // `couples`: all parts that may meet; `contact`: without a deceleration.
  Braking(const Obstacles& obstacles, const Track& way, std::span<const Couple> couples,
          const FirstContact& contact, double tolerance)
      : obstacles_(obstacles),
        way_(way),
        plan_(way.motion()),
        couples_(couples),
        tolerance_(tolerance) {
    for (const Couple& each : couples) {
      const bool meets =
          each.own_part == contact.ego_part && static_cast<std::int64_t>(each.part) == contact.part;
      if (meets) noticed_.push_back(each);
    }
    if (noticed_.empty()) noticed_.assign(couples.begin(), couples.end());
    for (const Piece& piece : plan_) {
      speeds_.push_back(norm(piece.velocity()));
      far_.push_back(far_.back() + norm({piece.change.x, piece.change.y}));
    }
  }

  // m/s2. A deceleration without contact, up to 3 % above the least one if that is unique.
  // Infinity if none was found. The search begins at `estimate`. It takes notice of a pair of
  // parts when a deceleration has failed because of it.
  double least(double estimate) {
    constexpr int kMostRounds = 16;
    double low = 0.0;
    double high = least(low, 1.01 * estimate);
    for (int n = 0; n < kMostRounds && std::isfinite(high); ++n) {
      set(high);
      const auto clears = [&](const Couple& couple) { return is_clear(couple); };
      const auto hit = std::find_if_not(couples_.begin(), couples_.end(), clears);
      if (hit == couples_.end()) return high;
      noticed_.push_back(*hit);
      low = high;
      high = least(low, kClose * low);
    }
    return kInfinity;
  }

 private:
  static constexpr double kLeast = 0.01;  // m/s2
  static constexpr double kClose = 1.03;

  // The least deceleration above `low` that clears the pairs that were noticed.
  double least(double low, double next) {
    constexpr int kMostChecks = 24;
    // It stops within a quarter of the tolerance.
    const double full = std::fmax(kLeast, 2.0 * speeds_[0] * speeds_[0] / tolerance_);
    double high = kInfinity;
    double factor = kClose;
    next = std::fmin(full, std::fmax(kLeast, next));
    for (int n = 0; n < kMostChecks && high > kClose * low; ++n) {
      set(next);
      const auto clears = [&](const Couple& couple) { return is_clear(couple); };
      (std::all_of(noticed_.begin(), noticed_.end(), clears) ? high : low) = next;
      if (high <= kLeast || low >= full) break;
      if (low > 0.0 && std::isfinite(high)) {
        next = std::sqrt(low * high);
        continue;
      }
      next = low > 0.0 ? std::fmin(full, low * factor) : std::fmax(kLeast, high / factor);
      factor = low > 0.0 ? 4.0 : 2.0;
    }
    return high;
  }

  double start() const noexcept { return plan_.front().begin; }  // s

  void set(double deceleration) noexcept {
    deceleration_ = deceleration;
    stop_ = plan_.back().end;
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      if (speeds_[i] > deceleration * (plan_[i].end - start())) continue;
      stop_ = std::fmax(plan_[i].begin, start() + speeds_[i] / deceleration);
      return;
    }
  }
  // s. The time at which the ego would be there without the deceleration.
  double undelayed(double time) const noexcept {
    const double t = std::fmin(time, stop_);
    std::size_t hint = 0;
    const Piece* const now = piece_at(plan_, t, hint);
    if (now == nullptr) return t;
    const double since = t - start();
    const double s =
        far_[hint] + speeds_[hint] * (t - now->begin) - 0.5 * deceleration_ * since * since;
    const auto after = std::lower_bound(far_.begin(), far_.end(), s);
    if (after == far_.begin()) return start();
    const auto i = static_cast<std::size_t>(after - far_.begin()) - 1;
    if (i >= plan_.size()) return plan_.back().end;
    return std::fmin(plan_[i].end, plan_[i].begin + (s - far_[i]) / speeds_[i]);
  }

  bool is_clear(const Couple& couple) const {
    const Interval life = obstacles_.lifetimes().at(couple.obstacle);
    const double begin = std::fmax(start(), life.begin);
    const double end = std::fmin(plan_.back().end, life.end);
    return begin > end || is_clear(couple, begin, end, undelayed(begin), undelayed(end));
  }
  // s. By how much undelayed() leaves the straight line from begin to end, given its values
  // there: a quarter of the range of its slope, times the duration.
  double bend(double begin, double end, double first, double last) const noexcept {
    Extent slopes;     // m/s, of the ego
    Extent undelayed;  // m/s
    for (std::size_t i = way_.index(begin); i <= way_.index(end); ++i) {
      const double since = larger(begin, plan_[i].begin) - start();
      slopes.include(speeds_[i] - deceleration_ * since);
      slopes.include(speeds_[i] - deceleration_ * (-larger(-end, -plan_[i].end) - start()));
    }
    for (std::size_t i = way_.index(first); i <= way_.index(last); ++i) {
      undelayed.include(speeds_[i]);
    }
    const double least = end > stop_ ? 0.0 : larger(0.0, slopes.low);
    const double range = larger(0.0, slopes.high) / undelayed.low - least / undelayed.high;
    const double bend = 0.25 * range * (end - begin) * (1.0 + 0x1p-40);
    return bend < last - first ? bend : last - first;
  }

  // From begin to end (s), where it is from `first` to `last` without the deceleration.
  bool is_clear(const Couple& couple, double begin, double end, double first, double last) const {
    constexpr double kShortest = 1e-5;  // s
    const double rounding =
        16.0 * kUnitRoundoff * (std::fabs(begin) + std::fabs(end)) + 0x1p-40 * (end - begin);
    const Motion motion = couple.motion->motion();
    const double stamp = obstacles_.stamp(couple.obstacle);
    const auto known = [&](double time) noexcept {
      return std::fmin(motion.back().end, std::fmax(motion.front().begin, time - stamp));
    };
    const double middle = 0.5 * (begin + end);
    const double there = undelayed(middle);
    const double round = couple.way->fastest() * (bend(begin, end, first, last) + rounding) +
                         couple.motion->fastest() * (obstacles_.time_error() + rounding);
    const Couple::Encounter encounter = couple.encounter(
        {first, there, last}, {known(begin), known(middle), known(end)}, true, round);
    if (encounter.is_apart) return true;
    const bool is_short = encounter.size <= 0.5 * tolerance_ || end - begin <= kShortest;
    if (is_short || encounter.distance <= tolerance_) return false;
    return is_clear(couple, begin, middle, first, there) &&
           is_clear(couple, middle, end, there, last);
  }

  const Obstacles& obstacles_;
  const Track& way_;
  Motion plan_;
  std::span<const Couple> couples_;
  std::vector<Couple> noticed_;
  std::vector<double> speeds_;    // m/s, by piece
  std::vector<double> far_{0.0};  // m, driven at the begin of each piece, and at the end
  double tolerance_;              // m
  double deceleration_ = 0.0;     // m/s2
  double stop_ = 0.0;             // s
};

}  // namespace gjk::detail
