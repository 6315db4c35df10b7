// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The answer for pairs of shapes. It needs no snapshot.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gjk/arithmetic.hpp"
#include "gjk/rules/answers.hpp"
#include "gjk/rules/arguments.hpp"
#include "gjk/rules/fields.hpp"
#include "gjk/rules/snapshot.hpp"
#include "gjk/scene/obstacle_arrays.hpp"
#include "gjk/scene/pairwise.hpp"
#include "gjk/scene/scene.hpp"
#include "gjk/shape/domain.hpp"
#include "gjk/shape/shape.hpp"
#include "gjk/shape/vec2.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

inline constexpr std::size_t kFirstPairs = 256;  // in a chunk: a fraction of a millisecond

// ---- srv/CheckShapes. Both lists are in the same frame.
struct ShapesRequest {
  ObstacleArrays a;
  ObstacleArrays b;
  // Index in a and index in b per pair; empty: all pairs, a in the outer loop.
  std::span<const std::int64_t> pairs{};
  int mode = 0;         // gjk::Mode
  double margin = 0.0;  // m, >= 0
};

struct ShapesLimits {
  ConcavePolicy concave_policy = ConcavePolicy::decompose;
  std::size_t max_pairs = 0;
};

struct ShapesAnswer : Results {
  Issue issue;
  Answer answer;  // the worst; without an obstacle
  std::vector<std::array<double, 2>> directions;
};

template <class Known, class F>
void fields(const ShapesAnswer& a, const Known&, F&& f) {
  GJK_FIELD(f, verdicts, a.verdicts);
  GJK_FIELD(f, statuses, a.statuses);
  GJK_FIELD(f, distances, a.distances);
  GJK_FIELD(f, lower_bounds, a.lower_bounds);
  GJK_FIELD(f, witnesses, a.witnesses);
  GJK_FIELD(f, directions, a.directions);
}

namespace detail {

inline Issue check_pairs_request(const ShapesRequest& request, std::size_t limit) {
  const std::array<std::size_t, 2> sizes{request.a.size(), request.b.size()};
  const std::span<const std::int64_t> pairs = request.pairs;
  if (request.mode < 0 || request.mode > static_cast<int>(Mode::witness)) {
    return refusal("mode", "must be 0 (collide), 1 (distance) or 2 (witness)" + got(request.mode));
  }
  if (pairs.size() % 2 != 0) {
    return refusal("pairs", Status::array_mismatch,
                   "must have an even number of values, two per pair" + got(pairs.size()));
  }
  const std::size_t count = pairs.empty() ? sizes[0] * sizes[1] : pairs.size() / 2;
  if (count == 0) {
    return refusal("pairs", Status::empty_request,
                   "there must be at least one pair; a or b has no shapes");
  }
  if (count > limit) {
    return refusal("pairs", Status::limit_exceeded,
                   std::to_string(count) + " pairs, limit " + std::to_string(limit));
  }
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    const std::size_t size = sizes[k % 2];
    if (pairs[k] >= 0 && pairs[k] < static_cast<std::int64_t>(size)) continue;
    return {Status::invalid_input, "pairs", static_cast<long>(k),
            std::string("must be an index in ") + "ab"[k % 2] +
                (size == 0 ? ", which is empty" : ", 0 to " + std::to_string(size - 1)) +
                got(pairs[k])};
  }
  return check_non_negative("margin", request.margin);
}

// The shapes of a list. A shape is made at its first use, because a concave one takes long.
class LazyShapes {
 public:
  LazyShapes(const ObstacleArrays& arrays, ConcavePolicy policy)
      : arrays_(arrays),
        policy_(policy),
        poses_(arrays.size()),
        shapes_(arrays.size()),
        is_made_(arrays.size()) {
    std::ranges::copy(pose_rows(arrays.poses), poses_.begin());
  }

  // Makes a shape; returns why it is not valid.
  Issue make(std::size_t i) {
    if (is_made_[i]) return {};
    const std::size_t begin = arrays_.offsets[i];
    const std::size_t size = arrays_.offsets[i + 1] - begin;
    const std::array<std::uint32_t, 2> offsets{0, static_cast<std::uint32_t>(size)};
    ObstacleArrays one;
    one.offsets = offsets;
    one.xy = arrays_.xy.subspan(2 * begin, 2 * size);
    if (!arrays_.kinds.empty()) one.kinds = arrays_.kinds.subspan(i, 1);
    ObstacleParts parts;
    if (Issue issue = ObstacleParts::make(one, policy_, parts)) {
      if (issue.argument == "xy") {
        constexpr std::string_view kOnly = "obstacle 0: ";
        if (issue.rule.starts_with(kOnly)) issue.rule.erase(0, kOnly.size());
        issue.rule = "obstacle " + std::to_string(i) + ": " + issue.rule;
        issue.index = 2 * static_cast<long>(begin) + std::max(issue.index, 0L);
      } else {
        issue.index = static_cast<long>(i);
      }
      return issue;
    }
    is_made_[i] = true;
    shapes_[i] = parts.shape(0, arrays_.radius.empty() ? 0.0 : arrays_.radius[i]);
    return {};
  }
  bool is_made(std::size_t i) const noexcept { return is_made_[i]; }

  // A scene of some of the shapes.
  Scene scene(std::span<const std::size_t> indices) const {
    Scene scene;
    scene.reserve(indices.size());
    for (const std::size_t i : indices) scene.add(shapes_[i], poses_[i]);
    scene.build();
    return scene;
  }

 private:
  ObstacleArrays arrays_;
  ConcavePolicy policy_;
  std::vector<Pose> poses_;
  std::vector<Shape> shapes_;
  std::vector<bool> is_made_;
};

// The sorted indices of one side of some pairs. Replaces each index by its place in them.
inline std::vector<std::size_t> places_of(std::span<IndexPair> pairs,
                                          std::uint32_t IndexPair::* side) {
  std::vector<std::size_t> indices;
  for (const IndexPair& pair : pairs) indices.push_back(pair.*side);
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  for (IndexPair& pair : pairs) {
    const auto at = std::lower_bound(indices.begin(), indices.end(), pair.*side);
    pair.*side = static_cast<std::uint32_t>(at - indices.begin());
  }
  return indices;
}

}  // namespace detail

// A verdict for each pair of shapes. The lists have passed check_arrays().
inline ShapesAnswer check_shapes(const ShapesRequest& request, const ShapesLimits& limits,
                                 const Budget& budget = {}) {
  using namespace detail;
  if (Issue issue = first_of({check_pairs_request(request, limits.max_pairs),
                              check_radius(request.margin, "margin")})) {
    return refused<ShapesAnswer>(std::move(issue));
  }
  const std::size_t columns = request.b.size();
  const std::size_t count =
      request.pairs.empty() ? request.a.size() * columns : request.pairs.size() / 2;
  const auto pair_at = [&](std::size_t n) -> IndexPair {
    if (request.pairs.empty()) {
      return {static_cast<std::uint32_t>(n / columns), static_cast<std::uint32_t>(n % columns)};
    }
    return {static_cast<std::uint32_t>(request.pairs[2 * n]),
            static_cast<std::uint32_t>(request.pairs[2 * n + 1])};
  };
  ShapesAnswer result;
  const Mode mode = static_cast<Mode>(request.mode);
  result.assign(count, mode);
  if (mode == Mode::witness) result.directions.assign(count, {kNaN, kNaN});
  const CheckOptions options{.margin = request.margin, .mode = mode};
  LazyShapes a(request.a, limits.concave_policy);
  LazyShapes b(request.b, limits.concave_policy);
  Issue issue;
  const auto is_late = [&] { return budget.is_late && budget.is_late(); };
  bool is_first = true;
  // Makes the shapes of one side. Returns whether all are made: not if one is not valid, or if the
  // time is over.
  const auto make = [&](LazyShapes& list, std::span<const std::size_t> indices, const char* name) {
    for (const std::size_t i : indices) {
      if (list.is_made(i)) continue;
      if (!is_first && is_late()) return false;
      is_first = false;
      issue = list.make(i);
      if (!issue) continue;
      issue.argument = std::string(name) + "." + issue.argument;
      return false;
    }
    return true;
  };
  std::size_t done = 0;
  for_each_chunk_until(budget, count, kFirstPairs, [&](std::size_t begin, std::size_t end) {
    std::vector<IndexPair> pairs;
    for (std::size_t n = begin; n < end; ++n) pairs.push_back(pair_at(n));
    const std::vector<std::size_t> of_a = places_of(pairs, &IndexPair::a);
    const std::vector<std::size_t> of_b = places_of(pairs, &IndexPair::b);
    if (!make(a, of_a, "a") || !make(b, of_b, "b")) return false;
    std::vector<PairResult> found(pairs.size());
    check_pairs(a.scene(of_a), b.scene(of_b), pairs, options, found);
    for (std::size_t n = 0; n < found.size(); ++n) {
      const Closest& c = found[n].closest;
      result.verdicts[begin + n] = found[n].verdict;
      result.statuses[begin + n] = found[n].status;
      if (mode != Mode::collide) {
        result.distances[begin + n] = c.distance;
        result.lower_bounds[begin + n] = c.lower_bound;
      }
      if (mode == Mode::witness) {
        result.witnesses[begin + n] = {c.point_a.x, c.point_a.y, c.point_b.x, c.point_b.y};
        result.directions[begin + n] = {c.direction.x, c.direction.y};
      }
    }
    done = end;
    return true;
  });
  if (issue) return refused<ShapesAnswer>(std::move(issue));
  result.answer = worst_of(std::span(result.verdicts).first(done), result.statuses,
                           std::vector<bool>(done, true));
  if (done < count && result.answer.verdict != Verdict::collision) {
    result.answer = unknown(budget_spent(done, count));
  }
  return result;
}

}  // namespace gjk
