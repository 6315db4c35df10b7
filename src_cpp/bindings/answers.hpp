// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Results of many queries, as arrays for Python.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

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

// Shape of the arrays of a result.
using Extents = std::vector<py::ssize_t>;

// Extents with the columns of each row.
inline Extents with_columns(Extents extents, py::ssize_t columns) {
  extents.push_back(columns);
  return extents;
}

// Arrays with one row per answer; None where they are not asked for.
class AnswerArrays {
 public:
  struct Asked {
    bool distances = true;
    bool witnesses = false;
    bool directions = false;
  };

  AnswerArrays(std::size_t count, const Asked& asked) : AnswerArrays(Extents{rows(count)}, asked) {}
  AnswerArrays(const Extents& extents, const Asked& asked)
      : verdicts(extents),
        statuses(extents),
        verdict_(verdicts.mutable_data()),
        status_(statuses.mutable_data()) {
    if (asked.distances) {
      distance_ = create(extents, distances);
      lower_bound_ = create(extents, lower_bounds);
    }
    if (asked.witnesses) witness_ = create(with_columns(extents, 4), witnesses);
    if (asked.directions) direction_ = create(with_columns(extents, 2), directions);
  }

  // May be called by any thread, with or without the GIL.
  void put(std::size_t i, const Answer& answer) const noexcept { put(i, i + 1, answer); }
  // The same answer from `begin` to `end` - 1.
  void put(std::size_t begin, std::size_t end, const Answer& answer) const noexcept {
    std::fill(verdict_ + begin, verdict_ + end, static_cast<std::uint8_t>(answer.verdict));
    std::fill(status_ + begin, status_ + end, static_cast<std::uint16_t>(answer.status));
    if (distance_ != nullptr) {
      std::fill(distance_ + begin, distance_ + end, answer.distance);
      std::fill(lower_bound_ + begin, lower_bound_ + end, answer.lower_bound);
    }
    for (std::size_t i = begin; i < end && (witness_ != nullptr || direction_ != nullptr); ++i) {
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
  py::object distances = py::none();
  py::object lower_bounds = py::none();
  py::object witnesses = py::none();   // x, y on a, x, y on b
  py::object directions = py::none();  // x, y: unit vector from a to b

 private:
  static double* create(const Extents& extents, py::object& array) {
    py::array_t<double> created(extents);
    double* const data = created.mutable_data();
    array = std::move(created);
    return data;
  }
  void put_vectors(std::size_t i, const Answer& answer) const noexcept {
    if (witness_ != nullptr) {
      witness_[4 * i] = answer.point_a.x;
      witness_[4 * i + 1] = answer.point_a.y;
      witness_[4 * i + 2] = answer.point_b.x;
      witness_[4 * i + 3] = answer.point_b.y;
    }
    if (direction_ != nullptr) {
      direction_[2 * i] = answer.direction.x;
      direction_[2 * i + 1] = answer.direction.y;
    }
  }

  std::uint8_t* verdict_;
  std::uint16_t* status_;
  double* distance_ = nullptr;
  double* lower_bound_ = nullptr;
  double* witness_ = nullptr;
  double* direction_ = nullptr;
};

}  // namespace gjk::bindings
