// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Results of many queries, as arrays for Python.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "bindings.hpp"

namespace gjk::bindings {

struct Answer {
  Verdict verdict = Verdict::unknown;
  Status status = Status::undefined;
  double distance = 0.0;     // m
  double lower_bound = 0.0;  // m
  Vec2 point_a;              // m
  Vec2 point_b;              // m
  Vec2 direction;
};

// The first verdict that is not FREE; -1: none.
inline std::int64_t first_invalid(std::span<const std::uint8_t> verdicts) noexcept {
  const auto found = std::ranges::find_if_not(
      verdicts, [](std::uint8_t v) { return is_free(static_cast<Verdict>(v)); });
  return found == verdicts.end() ? -1 : found - verdicts.begin();
}

// Arrays with one row per answer. Arrays that are not asked for are empty.
class AnswerArrays {
 public:
  struct Asked {
    bool distances = true;
    bool witnesses = false;
    bool directions = false;
  };

  AnswerArrays(std::size_t count, const Asked& asked)
      : verdicts(rows(count)),
        statuses(rows(count)),
        distances(rows(asked.distances ? count : 0)),
        lower_bounds(rows(asked.distances ? count : 0)),
        witnesses({rows(asked.witnesses ? count : 0), py::ssize_t{4}}),
        directions({rows(asked.directions ? count : 0), py::ssize_t{2}}),
        asked_(asked),
        verdict_(verdicts.mutable_data()),
        status_(statuses.mutable_data()),
        distance_(distances.mutable_data()),
        lower_bound_(lower_bounds.mutable_data()),
        witness_(witnesses.mutable_data()),
        direction_(directions.mutable_data()) {}

  // May be called by any thread, with or without the GIL.
  void put(std::size_t i, const Answer& answer) const noexcept { put(i, i + 1, answer); }
  // The same answer from `begin` to `end` - 1.
  void put(std::size_t begin, std::size_t end, const Answer& answer) const noexcept {
    std::fill(verdict_ + begin, verdict_ + end, static_cast<std::uint8_t>(answer.verdict));
    std::fill(status_ + begin, status_ + end, static_cast<std::uint16_t>(answer.status));
    if (asked_.distances) {
      std::fill(distance_ + begin, distance_ + end, answer.distance);
      std::fill(lower_bound_ + begin, lower_bound_ + end, answer.lower_bound);
    }
    for (std::size_t i = begin; i < end && (asked_.witnesses || asked_.directions); ++i) {
      put_vectors(i, answer);
    }
  }

  struct Summary {
    Verdict worst = Verdict::unknown;  // if there is no answer
    std::int64_t first_invalid = -1;
  };
  Summary summary() const noexcept {
    const std::span<const std::uint8_t> all(verdict_, static_cast<std::size_t>(verdicts.size()));
    Summary found{.first_invalid = first_invalid(all)};
    int most = -1;
    for (unsigned v = 0; v < 4; ++v) {
      const auto verdict = static_cast<Verdict>(v);
      if (severity(verdict) <= most || std::ranges::find(all, v) == all.end()) continue;
      found.worst = verdict;
      most = severity(verdict);
    }
    return found;
  }

  static py::ssize_t rows(std::size_t count) noexcept { return static_cast<py::ssize_t>(count); }

  py::array_t<std::uint8_t> verdicts;
  py::array_t<std::uint16_t> statuses;
  py::array_t<double> distances;
  py::array_t<double> lower_bounds;
  py::array_t<double> witnesses;   // x, y on a, x, y on b
  py::array_t<double> directions;  // x, y: unit vector from a to b

 private:
  void put_vectors(std::size_t i, const Answer& answer) const noexcept {
    if (asked_.witnesses) {
      witness_[4 * i] = answer.point_a.x;
      witness_[4 * i + 1] = answer.point_a.y;
      witness_[4 * i + 2] = answer.point_b.x;
      witness_[4 * i + 3] = answer.point_b.y;
    }
    if (asked_.directions) {
      direction_[2 * i] = answer.direction.x;
      direction_[2 * i + 1] = answer.direction.y;
    }
  }

  Asked asked_;
  std::uint8_t* verdict_;
  std::uint16_t* status_;
  double* distance_;
  double* lower_bound_;
  double* witness_;
  double* direction_;
};

}  // namespace gjk::bindings
