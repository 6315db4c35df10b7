// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Levels 1 and 2 of many pairs, in lockstep: a block of pairs takes each step together, and the
// next one those that the step leaves open. No step branches on the answer for a pair, so none is
// mispredicted. Verdicts are those of the single queries, to the bit, and so are bounds, but for
// quadrilaterals, which those enumerate.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "gjk/axes.hpp"
#include "gjk/collide.hpp"
#include "gjk/convex.hpp"
#include "gjk/distance.hpp"
#include "gjk/neighbours.hpp"
#include "gjk/simd.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

struct ConvexPair {
  const Convex* p = nullptr;
  const Convex* q = nullptr;
};

namespace detail {

// Indices of pairs in a block, in their order.
class BlockList {
 public:
  // Without a branch.
  void add_if(bool wanted, int index) noexcept {
    indices_[size_] = index;
    size_ += static_cast<int>(wanted);
  }
  void add(int index) noexcept { indices_[size_++] = index; }
  const int* begin() const noexcept { return indices_; }
  const int* end() const noexcept { return indices_ + size_; }

 private:
  int indices_[simd::kBlock + 1];
  int size_ = 0;
};

// All evaluated, without a branch.
template <class... Truth>
bool all_of(Truth... truth) noexcept {
  return (static_cast<int>(truth) & ...) != 0;
}
template <class... Truth>
bool any_of(Truth... truth) noexcept {
  return (static_cast<int>(truth) | ...) != 0;
}

template <class Visit>
void for_each_bit(std::uint64_t bits, const Visit& visit) noexcept {
  for (; bits != 0; bits &= bits - 1) visit(__builtin_ctzll(bits));
}

// What is left open by the extremes of pairs whose boxes are not apart.
struct Open {
  BlockList pairs;
  unsigned inner[simd::kBlock];  // by index, see inner_sides()
};

template <class Set>
void inscribe(const ConvexPair* pairs, const BlockList& near, Open& open) noexcept {
  for (const int k : near) {
    open.inner[k] = Set::inner_sides(*pairs[k].p, *pairs[k].q);
    open.pairs.add_if(open.inner[k] != kAllSides, k);
  }
}

// The last step is one by one, since it depends on the pair most.
template <class Set>
void collide_block(const ConvexPair* pairs, int size, double margin, Verdict* verdicts) noexcept {
  BlockList near;
  BlockList rest;
  for (int k = 0; k < size; ++k) {
    const auto [p, q] = pairs[k];
    const bool known = all_of(p->extent <= kMaxCoordinate, q->extent <= kMaxCoordinate);
    const double reach = grown_reach(*p, *q, p->radius + q->radius + margin);
    const bool apart = Set::boxes_apart(*p, *q, reach);
    verdicts[k] = apart ? Verdict::free : Verdict::collision;
    near.add_if(all_of(known, !apart), k);
    rest.add_if(!known, k);
  }
  Open open;
  inscribe<Set>(pairs, near, open);
  for (const int k : open.pairs) {
    const typename Set::View p{*pairs[k].p};
    const typename Set::View q{*pairs[k].q};
    const Axes axes = Axes::that_decide(p.shape, q.shape, open.inner[k]);
    if (axes.decide && p.radius + q.radius + margin == 0.0) {
      verdicts[k] = verdict_of(p, q, test_axes(p, q, axes));
    } else {
      rest.add(k);
    }
  }
  for (const int k : rest) verdicts[k] = gjk::collide(*pairs[k].p, *pairs[k].q, margin);
}

// from_afar() for those pairs of a block whose boxes are apart.
template <class Set>
class Walks {
 public:
  Walks(const ConvexPair* pairs, simd::Corners& corners) noexcept
      : pairs_(pairs), corners_(corners) {}

  int size() const noexcept { return size_; }

  void start(int pair) noexcept {
    const auto [p, q] = pairs_[pair];
    const Quadrilateral w = inscribed(*p, *q);
    const Vec2 middle{w.x[0] + w.x[2], w.y[1] + w.y[3]};
    add({pair, typename Set::View{*p}.support(-middle), typename Set::View{*q}.support(middle)});
  }

  // Where a walk settles are its bounds; where it cannot tell, it ends in `rest`.
  void step(Bounds* bounds, BlockList& rest) noexcept {
    simd::Surroundings around;
    Set::look_around(corners_, size_, around);
    for (int k = 0; k < size_; ++k) {
      bounds[walks_[k].pair] = {around.lower[k], around.upper[k]};
    }
    const std::uint64_t all = ~std::uint64_t{0} >> (64 - size_);
    for_each_bit(all & around.loose, [&](int k) noexcept {
      if (ends_turn_in_at(k, around)) around.settled |= std::uint64_t{1} << k;
    });
    for_each_bit(all & ~around.settled & ~around.beyond,
                 [&](int k) noexcept { rest.add(walks_[k].pair); });
    size_ = 0;
    for_each_bit(all & around.beyond, [&](int k) noexcept { add(next(walks_[k], k, around)); });
  }

  void give_up(BlockList& rest) const noexcept {
    for (int k = 0; k < size_; ++k) rest.add(walks_[k].pair);
  }

 private:
  struct Walk {
    int pair;
    int p;  // vertices
    int q;
  };

  void add(const Walk& walk) noexcept {
    const auto& [p, q] = pairs_[walk.pair];
    const int k = size_++;
    walks_[k] = walk;
    corners_.p_x[k] = p->x[walk.p];
    corners_.p_y[k] = p->y[walk.p];
    corners_.q_x[k] = q->x[walk.q];
    corners_.q_y[k] = q->y[walk.q];
    const int beside[4] = {after(walk.p, p->size), before(walk.p, p->size), after(walk.q, q->size),
                           before(walk.q, q->size)};
    for (int side = 0; side < 4; ++side) {
      const Convex& shape = side < 2 ? *p : *q;
      corners_.beside_x[side][k] = shape.x[beside[side]];
      corners_.beside_y[side][k] = shape.y[beside[side]];
    }
    if (corners_.any_slack) corners_.slack[k] = slack_of(*p, *q);
  }

  // To the other end of the edge that faces O.
  Walk next(Walk walk, int k, const simd::Surroundings& around) const noexcept {
    const auto& [p, q] = pairs_[walk.pair];
    const bool is_of_p = (around.of_p >> k & 1u) != 0;
    const bool is_next = (around.next >> k & 1u) != 0;
    int& vertex = is_of_p ? walk.p : walk.q;
    const int size = is_of_p ? p->size : q->size;
    vertex = is_next ? after(vertex, size) : before(vertex, size);
    return walk;
  }

  bool ends_turn_in_at(int k, const simd::Surroundings& around) const noexcept {
    const Walk& walk = walks_[k];
    const auto& [p, q] = pairs_[walk.pair];
    const bool is_next = (around.next >> k & 1u) != 0;
    return (around.of_p >> k & 1u) != 0
               ? ends_turn_in(*p, walk.p, is_next, 1.0, corners_.slack[k])
               : ends_turn_in(*q, walk.q, is_next, -1.0, corners_.slack[k]);
  }

  const ConvexPair* pairs_;
  simd::Corners& corners_;
  Walk walks_[simd::kBlock];
  int size_ = 0;
};

template <class Set>
void distance_block(const ConvexPair* pairs, int size, simd::Corners& corners,
                    Bounds* bounds) noexcept {
  BlockList apart;
  BlockList near;
  BlockList rest;
  bool any_reach = false;
  bool any_error = false;
  for (int k = 0; k < size; ++k) {
    const auto [p, q] = pairs[k];
    const bool known =
        all_of(p->extent <= kMaxCoordinate, q->extent <= kMaxCoordinate, p->size > 1, q->size > 1);
    const bool is_apart = Set::boxes_apart(*p, *q, 0.0);
    bounds[k] = {0.0, 0.0};
    apart.add_if(all_of(known, is_apart), k);
    near.add_if(all_of(known, !is_apart), k);
    rest.add_if(!known, k);
    any_reach = any_of(any_reach, p->radius + q->radius != 0.0);
    any_error = any_of(any_error, p->error + q->error != 0.0);
  }

  corners.any_slack = any_error;
  Walks<Set> walks(pairs, corners);
  for (const int k : apart) walks.start(k);
  for (int steps = 0; steps < kWalk && walks.size() > 0; ++steps) walks.step(bounds, rest);
  walks.give_up(rest);
  if (any_reach || any_error) {
    for (const int k : apart) {
      bounds[k] = distance_of_surfaces(*pairs[k].p, *pairs[k].q, bounds[k]);
    }
  }

  Open open;
  inscribe<Set>(pairs, near, open);
  for (const int k : open.pairs) {
    const typename Set::View p{*pairs[k].p};
    const typename Set::View q{*pairs[k].q};
    const Axes axes = Axes::that_decide(p.shape, q.shape, open.inner[k]);
    if (!axes.decide || !is_overlap(p, q, test_axes(p, q, axes))) rest.add(k);
  }
  for (const int k : rest) bounds[k] = gjk::distance(*pairs[k].p, *pairs[k].q);
}

// Calls block(begin, size) for all of `count`.
template <class Block>
void for_each_block(std::size_t count, const Block& block) noexcept {
  constexpr std::size_t kSize = simd::kBlock;
  for (std::size_t begin = 0; begin < count; begin += kSize) {
    block(begin, static_cast<int>(std::min(kSize, count - begin)));
  }
}

}  // namespace detail

// Level 1 of each pair: collide(*p, *q, margin), to verdicts[i], of which there are as many.
inline void collide_pairs(std::span<const ConvexPair> pairs, double margin,
                          std::span<Verdict> verdicts) noexcept {
  if (!(margin >= 0.0 && margin <= kMaxCoordinate)) {
    std::fill_n(verdicts.begin(), pairs.size(), Verdict::unknown);
    return;
  }
  simd::on_widest([&](auto set) noexcept {
    detail::for_each_block(pairs.size(), [&](std::size_t begin, int size) {
      detail::collide_block<decltype(set)>(&pairs[begin], size, margin, &verdicts[begin]);
    });
  });
}

// The same with MARGIN: classify(*p, *q, margin), to verdicts[i].
inline void classify_pairs(std::span<const ConvexPair> pairs, double margin,
                           std::span<Verdict> verdicts) noexcept {
  collide_pairs(pairs, margin, verdicts);
  if (margin == 0.0) return;
  detail::for_each_block(pairs.size(), [&](std::size_t begin, int size) {
    ConvexPair near[simd::kBlock];
    Verdict* of_near[simd::kBlock];
    std::size_t count = 0;
    for (std::size_t k = begin; k < begin + static_cast<std::size_t>(size); ++k) {
      if (verdicts[k] != Verdict::collision) continue;
      near[count] = pairs[k];
      of_near[count++] = &verdicts[k];
    }
    Verdict without_margin[simd::kBlock];
    collide_pairs({near, count}, 0.0, without_margin);
    for (std::size_t k = 0; k < count; ++k) {
      if (without_margin[k] != Verdict::collision) *of_near[k] = Verdict::margin;
    }
  });
}

// Level 2 of each pair: distance(*p, *q), to bounds[i], of which there are as many.
inline void distance_pairs(std::span<const ConvexPair> pairs, std::span<Bounds> bounds) noexcept {
  simd::on_widest([&](auto set) noexcept {
    simd::Corners corners;
    detail::for_each_block(pairs.size(), [&](std::size_t begin, int size) {
      detail::distance_block<decltype(set)>(&pairs[begin], size, corners, &bounds[begin]);
    });
  });
}

}  // namespace gjk
