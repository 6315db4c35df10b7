// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The rules that all answers have in common.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gjk/arithmetic.hpp"
#include "gjk/certificate.hpp"
#include "gjk/rules/snapshot.hpp"
#include "gjk/scene/coverage.hpp"
#include "gjk/scene/scene.hpp"
#include "gjk/shape/vec2.hpp"
#include "gjk/text.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

// A verdict with its reason, and the obstacle that determines it. As in msg/Verdict.
struct Answer {
  Verdict verdict = Verdict::unknown;
  Status status = Status::undefined;
  std::string message;         // for a person; empty if the status is success
  std::int64_t obstacle = -1;  // index in the scene; -1: none; size(): outside of the region
};

// One entry per pose or pair in each array; empty if the request was refused or the mode does not
// compute it. UNKNOWN entries have NaN.
struct Results {
  std::vector<Verdict> verdicts;
  std::vector<Status> statuses;
  std::vector<double> distances;                 // m
  std::vector<double> lower_bounds;              // m
  std::vector<std::array<double, 4>> witnesses;  // x, y on the vehicle or a, x, y on the other (m)

  // Nothing is known of `count` entries, as if the time were over before the first one.
  void assign(std::size_t count, Mode mode) {
    verdicts.assign(count, Verdict::unknown);
    statuses.assign(count, Status::time_budget);
    if (mode != Mode::collide) {
      distances.assign(count, kNaN);
      lower_bounds.assign(count, kNaN);
    }
    if (mode == Mode::witness) witnesses.assign(count, {kNaN, kNaN, kNaN, kNaN});
  }
};

namespace detail {

inline Answer unknown(const Fault& fault) {
  return {.verdict = Verdict::unknown, .status = fault.status, .message = fault.message};
}

inline bool is_free_and_known(const Answer& answer) noexcept {
  return is_free(answer.verdict) && answer.status == Status::success;
}

inline bool is_known(const Snapshot& snapshot) noexcept {
  return snapshot.footprint != nullptr && snapshot.scene != nullptr;
}

// Why no answer can be FREE; nothing: it can.
inline std::optional<Fault> fault_of(const Snapshot& snapshot) {
  if (snapshot.fault || is_known(snapshot)) return snapshot.fault;
  return Fault{Status::no_footprint, "the footprint is not known"};
}

inline Answer unknown_footprint(const Snapshot& snapshot) {
  return unknown(fault_of(snapshot).value_or(Fault{}));
}

// The answer to a refused request. A refused request has an `issue`; its answer is UNKNOWN with the
// status and the text of the issue.
template <class A>
A refused(Issue issue) {
  A result;
  result.answer = unknown({issue.status, text_of(issue)});
  result.issue = std::move(issue);
  return result;
}

// The text of a status. `unseen`: a point (m) that no sensor saw, for not_seen.
inline std::string reason_of(const Snapshot& snapshot, Status status, Vec2 unseen) {
  const bool is_named = status == Status::not_seen && !std::isnan(unseen.x);
  if (!is_named || snapshot.scene->coverage() == nullptr) return reason(status);
  const auto [nearest, distance] = snapshot.scene->coverage()->nearest(unseen);
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(), "not seen: (%.3f, %.3f) in the check frame, ", unseen.x,
                unseen.y);
  const std::string message = text.data();
  if (nearest == nullptr) return message + "and no source with marks_seen has usable data";
  std::snprintf(text.data(), text.size(), "%.3f m from ", distance);
  const bool is_vehicle = nearest->source == "footprint";
  const std::string whose =
      is_vehicle ? "the vehicle itself" : "what '" + nearest->source + "' has seen";
  return message + text.data() + whose + " (require_seen)";
}

// The answer at one pose. If the snapshot has a fault, only COLLISION is kept.
inline Answer answer_at(const Snapshot& snapshot, const PoseResult& found) {
  if (snapshot.fault && found.verdict != Verdict::collision) return unknown(*snapshot.fault);
  Answer answer{found.verdict, found.status, reason_of(snapshot, found.status, found.unseen),
                found.nearest};
  if (snapshot.fault) {
    answer.status = snapshot.fault->status;
    answer.message = snapshot.fault->message;
  }
  return answer;
}

// The worst of the verdicts that count, with the status of the first one that is as bad; UNKNOWN if
// none counts.
inline Answer worst_of(std::span<const Verdict> verdicts, std::span<const Status> statuses,
                       const std::vector<bool>& counts) {
  Answer answer;
  bool is_empty = true;
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    if (!counts[i] || (!is_empty && severity(verdicts[i]) <= severity(answer.verdict))) continue;
    is_empty = false;
    answer.verdict = verdicts[i];
    answer.status = verdicts[i] == Verdict::unknown ? statuses[i] : Status::success;
  }
  answer.message = reason(answer.status);
  return answer;
}

inline Fault budget_spent(std::size_t done, std::size_t count) {
  return {Status::time_budget, "time_budget used up after " + std::to_string(done) + " of " +
                                   std::to_string(count) + " items"};
}

// Decides when a loop over items checks whether the time is over: after each chunk of items. The
// size of a chunk is computed from the duration of the previous chunk. Without a limit, all items
// are one chunk. The budget must outlive it.
class Chunks {
 public:
  Chunks(const Budget& budget, std::size_t first)
      : budget_(budget), size_(budget.first_chunk > 0 ? budget.first_chunk : first) {
    if (budget.is_late) end_ = size_;
  }

  // The item after the last one of the present chunk.
  std::size_t end() const noexcept { return end_; }

  // Whether to go on after `done` items. Call it at end() at the latest.
  bool go_on(std::size_t done) {
    if (done < end_) return true;
    if (budget_.is_late()) return false;
    const Clock::time_point now = Clock::now();
    const double took = std::chrono::duration<double>(now - started_).count();
    const double growth = std::fmin(8.0, took > 0.0 ? budget_.chunk_time / took : 8.0);
    const double scaled = std::nearbyint(static_cast<double>(size_) * growth);
    size_ = scaled < 1.0 ? 1 : static_cast<std::size_t>(std::fmin(scaled, 0x1p52));
    end_ = done + size_;
    started_ = now;
    return true;
  }

 private:
  using Clock = std::chrono::steady_clock;

  const Budget& budget_;
  std::size_t size_;
  std::size_t end_ = std::numeric_limits<std::size_t>::max();
  Clock::time_point started_ = Clock::now();
};

// Calls next(begin, end) for each chunk of `count` items, until all are done, next returns false or
// the time is over. Returns the number of items that are done.
template <class Next>
std::size_t for_each_chunk_until(const Budget& budget, std::size_t count, std::size_t first,
                                 Next&& next) {
  Chunks chunks(budget, first);
  std::size_t done = 0;
  while (done < count) {
    const std::size_t begin = done;
    done = std::min(count, chunks.end());
    if (!next(begin, done) || !chunks.go_on(done)) break;
  }
  return done;
}

}  // namespace detail
}  // namespace gjk
