// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Level 1 for many pairs in lockstep: the pairs of a block take each step together, and those left
// undecided take the next one. No step branches on the answer for a pair, so no branch is
// mispredicted. The verdicts are those of the single queries.
#pragma once

#include <cstddef>
#include <span>

#include "gjk/shape/convex.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

struct ConvexPair {
  const Convex* p = nullptr;
  const Convex* q = nullptr;
};

namespace detail {

// Pairs per block. Each pair has one bit of a word. Twice as many shapes would not stay in the L1
// cache.
inline constexpr int kBlock = 32;

}  // namespace detail

// Level 1 for each pair: writes collide(*p, *q, margin) to verdicts[i]. `verdicts` must be at least
// as long as `pairs`.
void collide_pairs(std::span<const ConvexPair> pairs, double margin,
                   std::span<Verdict> verdicts) noexcept;

// Level 1 with MARGIN: writes classify(*p, *q, margin) to verdicts[i].
void classify_pairs(std::span<const ConvexPair> pairs, double margin,
                    std::span<Verdict> verdicts) noexcept;

}  // namespace gjk

#ifdef GJK_KERNEL
#include <algorithm>
#include <cstdint>

#include "gjk/narrow/axes.hpp"
#include "gjk/narrow/view.hpp"
#include "gjk/query.hpp"

namespace gjk::detail {

// The steps of a block in one instruction set; see batch.inc.
template <class Set>
struct LockstepOf;

}  // namespace gjk::detail

#define GJK_SIMD_FILE "gjk/narrow/batch.inc"
#include "gjk/simd/each_set.hpp"

namespace gjk {
namespace detail {

template <class Visit>
void for_each_bit(std::uint64_t bits, const Visit& visit) noexcept {
  for (; bits != 0; bits &= bits - 1) visit(__builtin_ctzll(bits));
}

inline std::uint64_t bit(int k, bool truth) noexcept { return std::uint64_t{truth} << k; }

// The single query, compiled once.
[[gnu::noinline]] inline Verdict collide_alone(const ConvexPair& pair, double margin) noexcept {
  return gjk::collide(*pair.p, *pair.q, margin);
}

// Without branches, except in the last step, which runs pair by pair.
template <class Lockstep>
void collide_block(const ConvexPair* pairs, int size, double margin, Verdict* verdicts) noexcept {
  std::uint64_t rest = 0;  // left to the single query
  std::uint64_t near = 0;  // boxes not proven apart
  for (int k = 0; k < size; ++k) {
    const auto [p, q] = pairs[k];
    const bool known = (static_cast<int>(p->extent <= kMaxCoordinate) &
                        static_cast<int>(q->extent <= kMaxCoordinate)) != 0;
    verdicts[k] = Certificate::boxes<Lockstep>(*p, *q, margin, Verdict::collision);
    rest |= bit(k, !known);
    near |= bit(k, !is_free(verdicts[k]));
  }
  unsigned inner[kBlock];
  std::uint64_t open = 0;  // O not proven inside the quadrilateral of the extremes
  for_each_bit(near & ~rest, [&](int k) noexcept {
    inner[k] = Lockstep::inner_sides(*pairs[k].p, *pairs[k].q);
    open |= bit(k, inner[k] != kAllSides);
  });
  for_each_bit(open, [&](int k) noexcept {
    const typename Lockstep::View p{*pairs[k].p};
    const typename Lockstep::View q{*pairs[k].q};
    const Axes axes = Axes::deciding(p.shape, q.shape, inner[k]);
    if (axes.decide && p.radius + q.radius + margin == 0.0) {
      verdicts[k] = verdict_of(p, q, test_axes(p, q, axes));
    } else {
      rest |= bit(k, true);
    }
  });
  for_each_bit(rest, [&](int k) noexcept { verdicts[k] = collide_alone(pairs[k], margin); });
}

// Calls block(begin, size) for consecutive blocks of `count` pairs.
template <class Block>
void for_each_block(std::size_t count, const Block& block) noexcept {
  constexpr std::size_t kSize = kBlock;
  for (std::size_t begin = 0; begin < count; begin += kSize) {
    block(begin, static_cast<int>(std::min(kSize, count - begin)));
  }
}

}  // namespace detail

GJK_KERNEL void collide_pairs(std::span<const ConvexPair> pairs, double margin,
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

GJK_KERNEL void classify_pairs(std::span<const ConvexPair> pairs, double margin,
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

}  // namespace gjk
#endif
