// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Queries between two sets of shapes, pair by pair.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "gjk/arithmetic.hpp"
#include "gjk/scene/checks.hpp"
#include "gjk/scene/scene.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

struct IndexPair {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
};

struct PairResult {
  Verdict verdict = Verdict::unknown;
  Status status = Status::undefined;
  Closest closest;  // modes distance and witness; in the frame of the poses
};

// Checks pairs of obstacles of two scenes at their poses, in the order of `pairs`. If `pairs` is
// empty, checks all pairs, row by row. results.size() is the number of pairs.
void check_pairs(const Scene& a, const Scene& b, std::span<const IndexPair> pairs,
                 const CheckOptions& options, std::span<PairResult> results, unsigned threads = 1);

}  // namespace gjk

#ifdef GJK_KERNEL
#include "gjk/certificate.hpp"
#include "gjk/narrow/batch.hpp"
#include "gjk/parallel.hpp"
#include "gjk/query.hpp"
#include "gjk/scene/obstacles.hpp"
#include "gjk/scene/placed_parts.hpp"

namespace gjk {

namespace detail {

// The worst verdict over all pairs of parts, and the closest pair.
inline PairResult check_pair(const Obstacles& a, std::size_t i, const SharedParts& placed_a,
                             const Obstacles& b, std::size_t j, const SharedParts& placed_b,
                             Vec2 origin, const CheckOptions& options) noexcept {
  PairResult result;
  const auto lose_distance = [&result](double lower) noexcept {
    result.closest = unknown_closest();
    result.closest.lower_bound = lower;
  };
  const Outlines& of_a = a.outlines();
  const Outlines& of_b = b.outlines();
  if (of_a.begin(i) == of_a.end(i) || of_b.begin(j) == of_b.end(j)) {
    result.status = Status::invalid_input;
    lose_distance(-kInfinity);
    return result;
  }
  Decision decision(options.margin);
  for (std::size_t p = of_a.begin(i); p < of_a.end(i); ++p) {
    for (std::size_t q = of_b.begin(j); q < of_b.end(j); ++q) {
      const Convex one = placed_a.convex(p);
      const Convex other = placed_b.convex(q);
      Certificate certificate;
      if (options.mode != Mode::collide) {
        const Closest closest = gjk::closest(one, other);
        certificate = Certificate::of(closest);
        Closest& best = result.closest;
        const bool first = best.status == Status::undefined;
        if (first || closest.distance < best.distance) best = closest;
      }
      if (!certificate.proves(free_above(one, other, options.margin))) {
        decision.take(classify(one, other, options.margin), certificate);
      } else {
        decision.take(certificate);
      }
      if (options.mode == Mode::collide && decision.verdict() == Verdict::collision) break;
    }
  }
  result.verdict = decision.verdict();
  result.status = decision.status();
  check_free(result.verdict, result.status, decision.lower(), options.margin);
  if (options.mode != Mode::collide) result.closest.lower_bound = decision.lower();
  if (result.verdict == Verdict::unknown) lose_distance(decision.lower());
  result.closest.point_a = result.closest.point_a + origin;
  result.closest.point_b = result.closest.point_b + origin;
  return result;
}

// Level 1 for pairs of single parts, as a batch.
class BatchOfParts {
 public:
  // Part i of a and part j of b.
  void add(const SharedParts& a, std::size_t i, const SharedParts& b, std::size_t j,
           PairResult& result) noexcept {
    parts_[2 * size_] = a.convex(i);
    parts_[2 * size_ + 1] = b.convex(j);
    pairs_[size_] = {&parts_[2 * size_], &parts_[2 * size_ + 1]};
    results_[size_++] = &result;
  }
  bool is_full() const noexcept { return size_ == detail::kBlock; }

  // Writes the results and empties the batch.
  void answer(double margin) noexcept {
    classify_pairs({pairs_, size_}, margin, verdicts_);
    for (std::size_t k = 0; k < size_; ++k) {
      const bool is_known = verdicts_[k] != Verdict::unknown;
      *results_[k] = {verdicts_[k], is_known ? Status::success : Status::numeric_failure, {}};
    }
    size_ = 0;
  }

 private:
  Convex parts_[2 * detail::kBlock];
  ConvexPair pairs_[detail::kBlock];
  PairResult* results_[detail::kBlock];
  Verdict verdicts_[detail::kBlock];
  std::size_t size_ = 0;
};

}  // namespace detail

GJK_KERNEL void check_pairs(const Scene& a, const Scene& b, std::span<const IndexPair> pairs,
                            const CheckOptions& options, std::span<PairResult> results,
                            unsigned threads) {
  constexpr std::size_t kChunk = 256;
  // Use the local origin if both scenes have the same. Otherwise use the origin of the frame,
  // because positions may be rounded relative to the local origin of the other scene.
  const Vec2 origin =
      a.obstacles().origin() == b.obstacles().origin() ? a.obstacles().origin() : Vec2{};
  const SharedParts placed_a = a.obstacles().placed_about(origin);
  const SharedParts placed_b = b.obstacles().placed_about(origin);
  const Outlines& of_a = a.obstacles().outlines();
  const Outlines& of_b = b.obstacles().outlines();
  for_each_chunk(results.size(), kChunk, threads, [&] {
    auto batch = std::make_unique<detail::BatchOfParts>();
    return [&, batch = std::move(batch)](std::size_t begin, std::size_t end) noexcept {
      for (std::size_t n = begin; n < end; ++n) {
        const std::size_t i = pairs.empty() ? n / b.size() : pairs[n].a;
        const std::size_t j = pairs.empty() ? n % b.size() : pairs[n].b;
        const bool are_single =
            of_a.end(i) - of_a.begin(i) == 1 && of_b.end(j) - of_b.begin(j) == 1;
        if (options.mode == Mode::collide && are_single) {
          batch->add(placed_a, of_a.begin(i), placed_b, of_b.begin(j), results[n]);
          if (batch->is_full()) batch->answer(options.margin);
        } else {
          results[n] = detail::check_pair(a.obstacles(), i, placed_a, b.obstacles(), j, placed_b,
                                          origin, options);
        }
      }
      batch->answer(options.margin);
    };
  });
}

}  // namespace gjk
#endif
