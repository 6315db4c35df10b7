// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The rules that all answers have in common.
#pragma once

#include <chrono>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "gjk/snapshot/snapshot.hpp"
#include "gjk/snapshot/text.hpp"
#include "gjk/verdict.hpp"

namespace gjk::detail {

inline Answer unknown(const Fault& fault) {
  return {.verdict = Verdict::unknown, .status = fault.status, .message = fault.message};
}

inline bool is_known(const Snapshot& snapshot) noexcept {
  return snapshot.footprint != nullptr && snapshot.scene != nullptr;
}

inline Answer unknown_footprint(const Snapshot& snapshot) {
  if (snapshot.fault) return unknown(*snapshot.fault);
  return unknown({Status::no_footprint, "the footprint is not known"});
}

// The answer to a refused request.
template <class A>
A refused(Issue issue) {
  A result;
  result.answer = unknown({issue.status, text_of(issue)});
  result.issue = std::move(issue);
  return result;
}

// The answer at one pose. If the snapshot has a fault, only COLLISION is kept.
inline Answer answer_at(const Snapshot& snapshot, const PoseResult& found) {
  if (snapshot.fault && found.verdict != Verdict::collision) return unknown(*snapshot.fault);
  Answer answer{found.verdict, found.status, reason(found.status), found.nearest, 0};
  if (snapshot.fault) {
    answer.status = snapshot.fault->status;
    answer.message = snapshot.fault->message;
  }
  return answer;
}

inline Fault budget_spent(std::size_t done, std::size_t count) {
  return {Status::time_budget, "time_budget used up after " + std::to_string(done) + " of " +
                                   std::to_string(count) + " items"};
}

// Splits `count` items into chunks. Calls next(begin, end) for each, until all are done, next
// returns false or the time is over. The size of a chunk is computed from the duration of the one
// before. Returns the number of items that are done.
template <class Next>
std::size_t for_each_chunk_until(const Budget& budget, std::size_t count, std::size_t first,
                                 Next&& next) {
  using Clock = std::chrono::steady_clock;
  const bool limited = static_cast<bool>(budget.is_late);
  std::size_t size = !limited ? count : budget.first_chunk > 0 ? budget.first_chunk : first;
  std::size_t done = 0;
  while (done < count) {
    const std::size_t begin = done;
    done = count - begin < size ? count : begin + size;
    const Clock::time_point started = Clock::now();
    if (!next(begin, done) || (limited && budget.is_late())) break;
    const double took = std::chrono::duration<double>(Clock::now() - started).count();
    const double growth = std::fmin(8.0, took > 0.0 ? budget.chunk_time / took : 8.0);
    const double scaled = std::nearbyint(static_cast<double>(size) * growth);
    size = scaled < 1.0 ? 1 : static_cast<std::size_t>(std::fmin(scaled, 0x1p52));
  }
  return done;
}

}  // namespace gjk::detail
