// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Pauses of the process: a message may have waited in a queue during a pause. As ros/pauses.py.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

namespace gjk {

// Detects times when the process took no messages, because it was stopped or busy. Times are those
// of a steady clock (ns).
class Pauses {
 public:
  // Call note_activity() at least this often (ns).
  static constexpr std::int64_t kPeriod = 50'000'000;

  // `steady`: the time at which the process started to take messages.
  explicit Pauses(std::int64_t steady) noexcept : last_(steady) {}

  // The process takes messages at this time.
  void note_activity(std::int64_t steady) {
    const std::int64_t gap = steady - last_;
    active_ += std::min(gap, kNoticed);
    if (gap > kNoticed) pauses_.push_back({last_, active_});
    last_ = steady;
    while (!pauses_.empty() && pauses_.front().active_at_end + kSettled < active_) {
      pauses_.pop_front();
    }
  }

  // The earliest time at which a message that is read now can have arrived.
  std::int64_t earliest(std::int64_t steady) {
    note_activity(steady);
    return pauses_.empty() ? steady : pauses_.front().begin;
  }

 private:
  // If there was no call for more than this time (ns), the process was paused.
  static constexpr std::int64_t kNoticed = 100'000'000;
  // A message that was sent during a pause is read at most this time (ns) after the pause; time in
  // other pauses does not count.
  static constexpr std::int64_t kSettled = 250'000'000;

  struct Pause {
    std::int64_t begin = 0;
    std::int64_t active_at_end = 0;  // `active_` at its end
  };

  std::int64_t last_;
  std::int64_t active_ = 0;  // time without pauses; each pause counts as kNoticed
  std::deque<Pause> pauses_;
};

}  // namespace gjk
