// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Distances that obstacles require in addition to the margin of a query.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "gjk/arithmetic.hpp"
#include "gjk/motion/motion.hpp"
#include "gjk/shape/vec2.hpp"

namespace gjk {

// Each obstacle has a fixed part (m), and a rate (m/s) by which its margin grows after its stamp,
// all >= 0. Results are rounded up.
class Margins {
 public:
  bool none() const noexcept { return fixed_.empty(); }
  std::size_t bytes() const noexcept {  // on the heap
    return (fixed_.capacity() + rates_.capacity()) * sizeof(double);
  }

  // An empty array stands for zeros.
  void assign(std::size_t count, std::span<const double> fixed, std::span<const double> rates) {
    fixed_.assign(count, 0.0);
    rates_.assign(count, 0.0);
    std::copy(fixed.begin(), fixed.end(), fixed_.begin());
    std::copy(rates.begin(), rates.end(), rates_.begin());
  }
  void set(std::size_t i, double fixed, double rate) noexcept {
    fixed_[i] = fixed;
    rates_[i] = rate;
  }
  // Call after assign() and set(). stamp(i) is the stamp (s) of obstacle i.
  template <class Stamp>
  void update(const Stamp& stamp) noexcept {
    most_fixed_ = most_rate_ = 0.0;
    first_stamp_ = kInfinity;
    for (std::size_t i = 0; i < fixed_.size(); ++i) {
      most_fixed_ = std::max(most_fixed_, fixed_[i]);
      most_rate_ = std::max(most_rate_, rates_[i]);
      if (rates_[i] > 0.0) first_stamp_ = std::min(first_stamp_, stamp(i));
    }
    if (most_fixed_ > 0.0 || most_rate_ > 0.0) return;
    fixed_ = std::vector<double>();  // frees the memory
    rates_ = std::vector<double>();
  }

  double fixed(std::size_t i) const noexcept { return none() ? 0.0 : fixed_[i]; }  // m
  double rate(std::size_t i) const noexcept { return none() ? 0.0 : rates_[i]; }   // m/s
  double most_fixed() const noexcept { return most_fixed_; }                       // m
  // m. `since`: the time since the stamp.
  double at(std::size_t i, const LocalTime& since) const noexcept {
    const double age = since.time + since.error;
    if (!(rate(i) > 0.0 && age > 0.0)) return fixed(i);
    return (fixed_[i] + rates_[i] * age) * (1.0 + 8.0 * kUnitRoundoff) +
           std::numeric_limits<double>::min();
  }

  // The searches grow the bounds of obstacle i by bound(i), and their range by growth(time). Both
  // include the rounding of sums with a margin.
  double bound(std::size_t i) const noexcept { return fixed(i) * kLarger; }
  double growth(double time, double time_error) const noexcept {
    const double age = (time - first_stamp_) + time_error;
    return age > 0.0 ? most_rate_ * age * kLarger + std::numeric_limits<double>::min() : 0.0;
  }

 private:
  static constexpr double kLarger = 1.0 + 0x1p-44;

  std::vector<double> fixed_;  // m; empty: there are no margins
  std::vector<double> rates_;  // m/s
  double most_fixed_ = 0.0;
  double most_rate_ = 0.0;
  double first_stamp_ = kInfinity;  // s, of those with a rate
};

}  // namespace gjk
