// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Pauses of the process: a message may have waited in a queue during a pause.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>

namespace gjk {

// Detects times when the process took no messages, because it was stopped or busy. Times are those
// of a steady clock (ns).
class Pauses {
 public:
  // Call note_activity() at least this often (ns).
  static constexpr std::int64_t kPeriod = 50'000'000;
  // If there was no call for more than this time (ns), the process was paused. Shorter pauses are
  // not detected.
  static constexpr std::int64_t kNoticed = 100'000'000;
  // Every message that is read at most this time (ns) after a pause counts as sent before the end
  // of the pause; time in other pauses does not count. For a message that is read later, this
  // depends on its time stamps.
  static constexpr std::int64_t kSettled = 250'000'000;

  // `steady`: the time at which the process started to take messages.
  explicit Pauses(std::int64_t steady) noexcept : last_(steady) {}

  // The process takes messages at this time.
  void note_activity(std::int64_t steady) {
    const std::int64_t gap = steady - last_;
    active_ += std::min(gap, kNoticed);
    if (gap > kNoticed) {
      last_pause_ = {last_, steady, active_};
      pauses_.push_back(*last_pause_);
    }
    last_ = steady;
    while (!pauses_.empty() && pauses_.front().active_at_end + kSettled < active_) {
      pauses_.pop_front();
    }
  }

  // The earliest time at which a message that is read now can have arrived. `sent`: when it was
  // sent, see sending_time().
  std::int64_t earliest(std::int64_t steady, std::int64_t sent) {
    note_activity(steady);
    const std::int64_t found = pauses_.empty() ? steady : pauses_.front().begin;
    if (!last_pause_ || sent >= last_pause_->end) return found;
    return std::min({found, last_pause_->begin, sent});
  }

  // The steady time at which a message was sent, or was received if that is earlier, by the time
  // stamps of the middleware; 0: not known. `source`: of the sender's system clock. `received`:
  // when a thread of the middleware received it, which reads the network some time after a pause of
  // the process. `steady`, `system`: the present times of both clocks.
  static std::int64_t sending_time(std::int64_t source, std::int64_t received, std::int64_t steady,
                                   std::int64_t system) noexcept {
    std::int64_t known = system;
    if (source > 0) known = source;
    if (received > 0) known = std::min(known, received);
    return steady - (system - known);
  }

 private:
  struct Pause {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t active_at_end = 0;  // `active_` at its end
  };

  std::int64_t last_;
  std::int64_t active_ = 0;   // time without pauses; each pause counts as kNoticed
  std::deque<Pause> pauses_;  // that are not over for more than kSettled
  std::optional<Pause> last_pause_;
};

}  // namespace gjk
