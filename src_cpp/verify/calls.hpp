// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Many pairs in one call of each batch query, which takes them through lockstep in full blocks.
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "answers.hpp"
#include "gjk/gjk.hpp"
#include "pair.hpp"

namespace gjk::verify {

// Of a pair without its margin, since a call has one for all.
struct InCall {
  Verdict collide = Verdict::unknown;
  Verdict classify = Verdict::unknown;  // with kMargin

  static constexpr double kMargin = 1.0;  // m

  bool same_as(const InCall& other) const {
    return collide == other.collide && classify == other.classify;
  }
};

// Pairs to be asked together. Those with poses are placed as a scene does, known to within their
// rounding.
class Call {
 public:
  Call(const std::vector<const Pair*>& pairs, const std::vector<std::size_t>& indices) {
    for (const std::size_t i : indices) {
      const Pair& pair = *pairs[i];
      add(pair.p.view(pair.p_radius), pair.has_poses, pair.p_pose);
      add(pair.q.view(pair.q_radius), pair.has_poses, pair.q_pose);
    }
    for (std::size_t i = 0; i < placed_.size(); ++i) shapes_.push_back(placed_.convex(i));
    for (std::size_t i = 0; i < shapes_.size(); i += 2) {
      pairs_.push_back({&shapes_[i], &shapes_[i + 1]});
    }
  }
  Call(Call&&) = default;  // what is pointed to stays in place
  Call& operator=(Call&&) = default;

  std::vector<InCall> answer() const {
    std::vector<Verdict> hits(pairs_.size());
    std::vector<Verdict> classes(pairs_.size());
    collide_pairs(pairs_, 0.0, hits);
    classify_pairs(pairs_, InCall::kMargin, classes);
    std::vector<InCall> result;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      result.push_back({hits[i], classes[i]});
    }
    return result;
  }

  // The same of each pair alone, by the single queries.
  std::vector<InCall> answer_alone() const {
    std::vector<InCall> result;
    for (const ConvexPair& pair : pairs_) {
      const auto& [p, q] = pair;
      result.push_back({collide(*p, *q), classify(*p, *q, InCall::kMargin)});
    }
    return result;
  }

 private:
  void add(const Convex& shape, bool has_pose, const Pose& pose) {
    placed_.add(shape, has_pose ? Transform::from_pose(pose) : Transform());
  }

  PlacedParts placed_;
  std::vector<Convex> shapes_;
  std::vector<ConvexPair> pairs_;
};

// The indices of the pairs by the numbers of their vertices: blocks of 4 or of 8 each start in
// another way than mixtures.
inline std::vector<std::vector<std::size_t>> by_size(const std::vector<const Pair*>& pairs) {
  std::map<std::pair<int, int>, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    groups[{pairs[i]->p.size(), pairs[i]->q.size()}].push_back(i);
  }
  std::vector<std::vector<std::size_t>> result;
  for (auto& [sizes, group] : groups) result.push_back(std::move(group));
  return result;
}

}  // namespace gjk::verify
