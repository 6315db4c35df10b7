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
#include "gjk/verdict.hpp"
#include "gjk/view.hpp"

namespace gjk {

struct ConvexPair {
  const Convex* p = nullptr;
  const Convex* q = nullptr;
};

namespace detail {

// So many pairs are looked at together: each is a bit of a word, and of twice as many the shapes
// would leave the cache nearest the processor between two steps.
inline constexpr int kBlock = 32;

// A vertex of P and of Q for each pair, and its neighbours: rows 0 to 2 are the vertex of P, the
// next and the previous one, rows 3 to 5 those of Q.
struct Corners {
  double x[6][kBlock] = {};
  double y[6][kBlock] = {};
  int vertex[2][kBlock];  // their indices
};

// What neighbourhood() tells of the pairs. Bit k: pair k.
struct Surroundings {
  std::uint64_t settled = 0;
  std::uint64_t beyond = 0;
  std::uint64_t next = 0;  // the edge that faces O leads counter-clockwise
  std::uint64_t of_p = 0;  // and is P's
  double lower[kBlock];    // bounds on the distance, where settled
  double upper[kBlock];
};

// The steps of a block in an instruction set: see lockstep.inc.
template <class Set>
struct LockstepOf;

}  // namespace detail
}  // namespace gjk

#define GJK_SIMD_FILE "gjk/lockstep.inc"
#include "gjk/simd/each_set.hpp"

namespace gjk {
namespace detail {

template <class Visit>
void for_each_bit(std::uint64_t bits, const Visit& visit) noexcept {
  for (; bits != 0; bits &= bits - 1) visit(__builtin_ctzll(bits));
}

inline std::uint64_t bit(int k, bool truth) noexcept { return std::uint64_t{truth} << k; }

// Indices of pairs in a block, in their order.
class BlockList {
 public:
  BlockList() = default;
  explicit BlockList(std::uint64_t bits) noexcept {
    for_each_bit(bits, [this](int k) noexcept { add(k); });
  }
  // Without a branch.
  void add_if(bool wanted, int index) noexcept {
    indices_[size_] = index;
    size_ += static_cast<int>(wanted);
  }
  void add(int index) noexcept { indices_[size_++] = index; }
  const int* begin() const noexcept { return indices_; }
  const int* end() const noexcept { return indices_ + size_; }

 private:
  int indices_[kBlock + 1];
  int size_ = 0;
};

// All evaluated, without a branch.
template <class... Truth>
bool all_of(Truth... truth) noexcept {
  return (static_cast<int>(truth) & ...) != 0;
}

// Calls visit(k, p, q, axes) with views of those of the pairs `near`, whose boxes are not apart,
// that the quadrilaterals between their extremes do not show to overlap.
template <class Lockstep, class Visit>
void for_each_open(const ConvexPair* pairs, std::uint64_t near, const Visit& visit) noexcept {
  BlockList open;
  unsigned inner[kBlock];
  for_each_bit(near, [&](int k) noexcept {
    inner[k] = Lockstep::inner_sides(*pairs[k].p, *pairs[k].q);
    open.add_if(inner[k] != kAllSides, k);
  });
  for (const int k : open) {
    const typename Lockstep::View p{*pairs[k].p};
    const typename Lockstep::View q{*pairs[k].q};
    visit(k, p, q, Axes::that_decide(p.shape, q.shape, inner[k]));
  }
}

// The last step is one by one, since it depends on the pair most.
template <class Lockstep>
void collide_block(const ConvexPair* pairs, int size, double margin, Verdict* verdicts) noexcept {
  std::uint64_t known = 0;
  std::uint64_t apart = 0;
  for (int k = 0; k < size; ++k) {
    const auto [p, q] = pairs[k];
    known |= bit(k, all_of(p->extent <= kMaxCoordinate, q->extent <= kMaxCoordinate));
    verdicts[k] = Certificate::boxes<Lockstep>(*p, *q, margin, Verdict::collision);
    apart |= bit(k, is_free(verdicts[k]));
  }
  BlockList rest(~known & simd::low_bits(size));
  for_each_open<Lockstep>(pairs, known & ~apart,
                          [&](int k, const auto& p, const auto& q, const Axes& axes) noexcept {
                            if (axes.decide && p.radius + q.radius + margin == 0.0) {
                              verdicts[k] = verdict_of(p, q, test_axes(p, q, axes));
                            } else {
                              rest.add(k);
                            }
                          });
  for (const int k : rest) verdicts[k] = gjk::collide(*pairs[k].p, *pairs[k].q, margin);
}

// Those pairs of a block whose boxes are apart, each at a vertex of P - Q: from_afar() of them.
template <class Lockstep>
class Walks {
 public:
  Walks(const ConvexPair* pairs, Corners& corners) noexcept : pairs_(pairs), corners_(corners) {}

  int size() const noexcept { return size_; }

  // At the vertices that face each other, as seen from the middle of P - Q.
  void start(int pair, Vec2 towards_q) noexcept {
    using View = typename Lockstep::View;
    const auto& [p, q] = pairs_[pair];
    add(pair, View{*p}.near_support(-towards_q), View{*q}.near_support(towards_q));
  }

  // Where a walk settles are its bounds; where it cannot tell, it ends in `rest`.
  void step(Bounds* bounds, BlockList& rest) noexcept {
    Surroundings around;
    Lockstep::look_around(corners_, size_, around);
    for (int k = 0; k < size_; ++k) bounds[pair_[k]] = {around.lower[k], around.upper[k]};
    const std::uint64_t all = simd::low_bits(size_);
    for_each_bit(all & ~around.settled & ~around.beyond,
                 [&](int k) noexcept { rest.add(pair_[k]); });
    size_ = 0;
    for_each_bit(all & around.beyond, [&](int k) noexcept { go_on(k, around); });
  }

  void give_up(BlockList& rest) const noexcept {
    for (int k = 0; k < size_; ++k) rest.add(pair_[k]);
  }

 private:
  void add(int pair, int i, int j) noexcept {
    pair_[size_] = pair;
    put(*pairs_[pair].p, i, 0);
    put(*pairs_[pair].q, j, 1);
    ++size_;
  }
  void put(const Convex& shape, int i, int which) noexcept {
    corners_.vertex[which][size_] = i;
    const int vertices[3] = {i, after(i, shape.size), before(i, shape.size)};
    for (int row = 0; row < 3; ++row) {
      corners_.x[3 * which + row][size_] = shape.x[vertices[row]];
      corners_.y[3 * which + row][size_] = shape.y[vertices[row]];
    }
  }

  // To the other end of the edge that faces O.
  void go_on(int k, const Surroundings& around) noexcept {
    const auto& [p, q] = pairs_[pair_[k]];
    const bool is_of_p = (around.of_p >> k & 1u) != 0;
    const bool is_next = (around.next >> k & 1u) != 0;
    const auto other_end = [is_next](int i, int n) { return is_next ? after(i, n) : before(i, n); };
    const int i = corners_.vertex[0][k];
    const int j = corners_.vertex[1][k];
    add(pair_[k], is_of_p ? other_end(i, p->size) : i, is_of_p ? j : other_end(j, q->size));
  }

  const ConvexPair* pairs_;
  Corners& corners_;
  int size_ = 0;
  int pair_[kBlock];
};

template <class Lockstep>
void distance_block(const ConvexPair* pairs, int size, Corners& corners, Bounds* bounds) noexcept {
  std::uint64_t known = 0;
  std::uint64_t apart = 0;
  Vec2 towards_q[kBlock];
  double radii = 0.0;
  for (int k = 0; k < size; ++k) {
    const auto [p, q] = pairs[k];
    const auto beyond_two = static_cast<unsigned>((p->size - 2) | (q->size - 2));
    known |= bit(k, all_of(p->extent + q->extent <= kMaxCoordinate, p->error + q->error == 0.0,
                           beyond_two < simd::kMostTagged - 1));
    apart |= bit(k, Lockstep::boxes_apart(*p, *q, 0.0, towards_q[k]));
    radii += p->radius + q->radius;
  }
  std::fill_n(bounds, size, Bounds{});
  BlockList rest(~known & simd::low_bits(size));

  Walks<Lockstep> walks(pairs, corners);
  for_each_bit(known & apart, [&](int k) noexcept { walks.start(k, towards_q[k]); });
  for (int steps = 0; steps < kWalk && walks.size() > 0; ++steps) walks.step(bounds, rest);
  walks.give_up(rest);
  if (radii != 0.0) {  // NaN too
    for_each_bit(known & apart, [&](int k) noexcept {
      bounds[k] = distance_of_surfaces(*pairs[k].p, *pairs[k].q, bounds[k]);
    });
  }

  for_each_open<Lockstep>(pairs, known & ~apart,
                          [&](int k, const auto& p, const auto& q, const Axes& axes) noexcept {
                            VertexPair facing;
                            if (!axes.decide || !is_overlap(p, q, test_axes(p, q, axes), facing))
                              rest.add(k);
                          });
  for (const int k : rest) bounds[k] = gjk::distance(*pairs[k].p, *pairs[k].q);
}

// Calls block(begin, size) for all of `count`.
template <class Block>
void for_each_block(std::size_t count, const Block& block) noexcept {
  constexpr std::size_t kSize = kBlock;
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
    using Lockstep = typename detail::LockstepOf<decltype(set)>::Type;
    detail::for_each_block(pairs.size(), [&](std::size_t begin, int size) {
      detail::collide_block<Lockstep>(&pairs[begin], size, margin, &verdicts[begin]);
    });
  });
}

// The same with MARGIN: classify(*p, *q, margin), to verdicts[i].
inline void classify_pairs(std::span<const ConvexPair> pairs, double margin,
                           std::span<Verdict> verdicts) noexcept {
  collide_pairs(pairs, margin, verdicts);
  if (margin == 0.0) return;
  detail::for_each_block(pairs.size(), [&](std::size_t begin, int size) {
    ConvexPair near[detail::kBlock];
    Verdict* of_near[detail::kBlock];
    std::size_t count = 0;
    for (std::size_t k = begin; k < begin + static_cast<std::size_t>(size); ++k) {
      if (verdicts[k] != Verdict::collision) continue;
      near[count] = pairs[k];
      of_near[count++] = &verdicts[k];
    }
    Verdict without_margin[detail::kBlock];
    collide_pairs({near, count}, 0.0, without_margin);
    for (std::size_t k = 0; k < count; ++k) {
      if (without_margin[k] != Verdict::collision) *of_near[k] = Verdict::margin;
    }
  });
}

// Level 2 of each pair: distance(*p, *q), to bounds[i], of which there are as many.
inline void distance_pairs(std::span<const ConvexPair> pairs, std::span<Bounds> bounds) noexcept {
  simd::on_widest([&](auto set) noexcept {
    using Lockstep = typename detail::LockstepOf<decltype(set)>::Type;
    detail::Corners corners;
    detail::for_each_block(pairs.size(), [&](std::size_t begin, int size) {
      detail::distance_block<Lockstep>(&pairs[begin], size, corners, &bounds[begin]);
    });
  });
}

}  // namespace gjk
