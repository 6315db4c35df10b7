// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Broad phase: a packed tree of bounding boxes, 8 per node, for items at rest or in motion.
//
// The tree is complete: node i of a level holds the nodes (in level 0: the slots) 8 i to 8 i + 7 of
// the level below. So there are no pointers, and moving one item changes one box per level. Boxes
// are in single precision, relative to the caller's local origin, and rounded outwards, so an item
// that the tree leaves out is certainly out of range.
//
// For moving items, boxes are given at several times, the frames, and interpolated in between. The
// caller ensures that each item stays within its interpolated box. The same then holds for nodes:
// the lower sides of the children move linearly between two frames, so their minimum is concave in
// time and not below the interpolated minima.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "gjk/broad/boxes.hpp"
#include "gjk/broad/exhausted.hpp"
#include "gjk/parallel.hpp"

namespace gjk {

class Bvh {
 public:
  static constexpr std::uint32_t kWidth = EightBoxes::kWidth;

  // Position of an item: x, y; or at the first and at the last time: x, y, x, y.
  template <std::size_t kSize>
  using Key = std::array<float, kSize>;
  static Key<2> key_at(Vec2 p) noexcept {
    return {static_cast<float>(p.x), static_cast<float>(p.y)};
  }

  // A time, given as a share of the way from a frame to the next one. Or an interval of time, which
  // ends at last_frame and last_share; a single time has the same values in both.
  struct Moment {
    std::size_t frame = 0;
    float share = 0.0F;
    std::size_t last_frame = 0;
    float last_share = 0.0F;
  };

  // Creates an empty tree in which nearby items share a node: items are split recursively along
  // their longest extent, at multiples of a child's capacity. key(i) is the Key<kSize> of item i.
  // Afterwards call set() for each item, or fill(), then update(). The result is the same for any
  // number of threads.
  template <std::size_t kSize, class KeyOf>
  void arrange(std::size_t count, const KeyOf& key, std::size_t frames = 1, unsigned threads = 1) {
    std::vector<Entry<kSize>> entries(count);
    for (std::size_t i = 0; i < count; ++i) {
      entries[i] = {key(i), static_cast<std::uint32_t>(i)};
    }
    std::size_t capacity = 1;
    while (capacity < count) capacity *= kWidth;
    halve(std::span(entries), capacity, threads);
    items_.resize(count);
    slots_.resize(count);
    for (std::size_t slot = 0; slot < count; ++slot) {
      items_[slot] = entries[slot].item;
      slots_[entries[slot].item] = static_cast<std::uint32_t>(slot);
    }
    levels_ = 0;
    std::size_t nodes = 0;
    for (std::size_t below = count; below > (levels_ == 0 ? 0 : 1);) {
      below = (below + kWidth - 1) / kWidth;
      begin_[static_cast<std::size_t>(levels_++)] = nodes;
      nodes += below;
    }
    frames_ = frames;
    frame_ = nodes;
    nodes_.assign(frames * nodes, Node::unused());
  }

  void set(std::size_t item, const Box& box, std::size_t frame = 0) noexcept {
    const std::size_t slot = slots_[item];
    nodes_[frame * frame_ + slot / kWidth].set(slot % kWidth, FloatBox::around(box));
  }

  // Sets the box of each item in the first frame to box(item).
  template <class BoxOf>
  void fill(const BoxOf& box, unsigned threads = 1) {
    constexpr std::size_t kChunk = 512;  // nodes
    for_each_chunk((items_.size() + kWidth - 1) / kWidth, kChunk, threads, [&] {
      return [&](std::size_t begin, std::size_t end) noexcept {
        const std::size_t last = std::min(items_.size(), end * kWidth);
        for (std::size_t slot = begin * kWidth; slot < last; ++slot)
          set(items_[slot], box(items_[slot]));
      };
    });
  }

  // Propagates the boxes of level 0 up to the root.
  void update() noexcept {
    for (int level = 1; level < levels_; ++level) {
      const std::size_t count =
          begin_[static_cast<std::size_t>(level)] - begin_[static_cast<std::size_t>(level) - 1];
      for (std::size_t i = 0; i < count; ++i) propagate(level, i);
    }
  }
  // The same for one item after set().
  void update(std::size_t item) noexcept {
    std::size_t child = slots_[item] / kWidth;
    for (int level = 1; level < levels_; ++level, child /= kWidth) propagate(level, child);
  }

  // Mean half perimeter (m) of the nodes of level 0 in the first frame. It grows if items move but
  // stay in their nodes.
  double spread() const noexcept {
    if (levels_ == 0) return 0.0;
    const std::size_t count = levels_ > 1 ? begin_[1] : 1;
    double sum = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
      const FloatBox box = nodes_[i].around();
      if (box.low_x > box.high_x) continue;  // empty
      sum +=
          static_cast<double>(box.high_x - box.low_x) + static_cast<double>(box.high_y - box.low_y);
    }
    return sum / static_cast<double>(count);
  }

  std::size_t bytes() const noexcept {  // on the heap
    return (items_.capacity() + slots_.capacity()) * sizeof(std::uint32_t) +
           nodes_.capacity() * sizeof(Node);
  }

  // Calls visit(item) for every item whose box overlaps `query`, until one call returns true.
  template <class Visit>
  Exhausted overlapping(const FloatBox& query, const Moment& moment, Visit&& visit) const {
    return at_moment(moment, [&](auto&& node) { return search_overlapping(query, node, visit); });
  }

  struct Hit {
    std::uint32_t item;
    std::uint32_t query;
  };
  static constexpr std::size_t kMostHits = 256;
  using Hits = std::array<Hit, kMostHits>;

  // The hits of several queries in the first frame, ordered by query and then by visit, and their
  // number. The search is not complete if there are too many hits. The queries descend level by
  // level together, so that their memory accesses overlap.
  Exhausted overlapping(std::span<const FloatBox> queries, Hits& hits,
                        std::size_t& found_in_all) const noexcept {
    found_in_all = 0;
    if (levels_ == 0) return Exhausted(true);
    if (queries.size() > kMostHits) return Exhausted(false);
    Hits others;
    Hit* met = others.data();  // nodes
    Hit* next = hits.data();
    if (levels_ % 2 == 0) std::swap(met, next);
    std::size_t count = 0;
    for (; count < queries.size(); ++count) met[count] = {0, static_cast<std::uint32_t>(count)};
    for (int level = levels_ - 1; level >= 0; --level) {
      const Node* const nodes = nodes_.data() + begin_[static_cast<std::size_t>(level)];
      const Node* const below =
          level > 0 ? nodes_.data() + begin_[static_cast<std::size_t>(level) - 1] : nullptr;
      std::size_t found = 0;
      for (std::size_t m = 0; m < count; ++m) {
        if (found + kWidth > kMostHits) return Exhausted(false);
        const auto [node, query] = met[m];
        const std::uint32_t first = node * kWidth;
        unsigned children = nodes[node].overlapping(Node::Query(queries[query]));
        if (level > 0) {
          for (; children != 0; children ^= 1U << last_of(children)) {
            const std::uint32_t child = first + last_of(children);
            below[child].prefetch();
            next[found++] = {child, query};
          }
        } else {
          for (; children != 0; children &= children - 1) {
            next[found++] = {items_[first + first_of(children)], query};
          }
        }
      }
      count = found;
      std::swap(met, next);
    }
    found_in_all = count;
    return Exhausted(true);
  }

  // Calls visit(item) for the items whose boxes are within `limit` (m) of `query`, near ones first;
  // visit returns the new limit, which is not larger. Items not visited are beyond the last limit.
  template <class Visit>
  Exhausted nearest(const FloatBox& query, double limit, const Moment& moment,
                    Visit&& visit) const {
    return at_moment(moment,
                     [&](auto&& node) { return search_nearest(query, limit, node, visit); });
  }

 private:
  static constexpr float kMaxLimitSquared = 1e36F;
  static constexpr int kMaxLevels = 11;  // 8^11 > 2^32
  static constexpr int kStack = kMaxLevels * (kWidth - 1) + 1;

  using Node = EightBoxes;
  struct Pending {
    float distance;  // squared
    std::uint32_t index;
    int level;
  };
  template <std::size_t kSize>
  struct Entry {
    Key<kSize> key;
    std::uint32_t item;
  };

  // Square of a limit (m), rounded up by more than the rounding error of the squared distances.
  static float squared(double limit) noexcept {
    if (!(limit > 0.0)) return 0.0F;
    const double square = limit * limit * (1.0 + 0x1p-20);
    if (!(square < static_cast<double>(kMaxLimitSquared))) return kMaxLimitSquared;
    return static_cast<float>(square) * (1.0F + 0x1p-22F) + std::numeric_limits<float>::min();
  }

  template <std::size_t kSize>
  static void halve(std::span<Entry<kSize>> entries, std::size_t capacity, unsigned threads) {
    while (capacity >= entries.size() && capacity > 1) capacity /= kWidth;
    if (entries.size() <= kWidth) return;
    Key<kSize> low = entries[0].key;
    Key<kSize> high = low;
    for (const Entry<kSize>& entry : entries) {
      for (std::size_t a = 0; a < low.size(); ++a) {
        low[a] = std::min(low[a], entry.key[a]);
        high[a] = std::max(high[a], entry.key[a]);
      }
    }
    std::size_t axis = 0;
    for (std::size_t a = 1; a < low.size(); ++a) {
      if (high[a] - low[a] > high[axis] - low[axis]) axis = a;
    }
    const std::size_t children = (entries.size() + capacity - 1) / capacity;
    const std::size_t left = (children / 2) * capacity;
    std::nth_element(
        entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(left), entries.end(),
        [axis](const Entry<kSize>& a, const Entry<kSize>& b) { return a.key[axis] < b.key[axis]; });
    constexpr std::size_t kWorthwhile = 1 << 14;  // items
    const unsigned others = entries.size() < kWorthwhile ? 0 : threads / 2;
    in_parallel([&] { halve(entries.first(left), capacity, std::max(others, 1U)); },
                [&] { halve(entries.subspan(left), capacity, std::max(threads - others, 1U)); },
                others > 0);
  }

  // Calls search(node), where node(level, index) gives the nodes at the moment.
  template <class Search>
  Exhausted at_moment(const Moment& moment, const Search& search) const {
    if (levels_ == 0) return Exhausted(true);
    const std::size_t frame = moment.frame * frame_;
    const bool one_time = moment.frame == moment.last_frame && moment.share == moment.last_share;
    if (one_time && moment.share == 0.0F) {
      return search([&](int level, std::size_t index) noexcept -> const Node& {
        return nodes_[frame + begin_[static_cast<std::size_t>(level)] + index];
      });
    }
    return search([&](int level, std::size_t index) noexcept {
      const std::size_t at = frame + begin_[static_cast<std::size_t>(level)] + index;
      Node blended = interpolated(at, moment.share);
      if (one_time) return blended;
      std::size_t last = at;
      for (std::size_t f = moment.frame; f < moment.last_frame; ++f) {
        last += frame_;
        blended.include(nodes_[last]);
      }
      blended.include(interpolated(last, moment.last_share));
      return blended;
    });
  }

  template <class NodeAt, class Visit>
  Exhausted search_overlapping(const FloatBox& box, const NodeAt& node, Visit& visit) const {
    const Node::Query query(box);
    Pending stack[kStack];
    int top = 0;
    stack[top++] = {0.0F, 0, levels_ - 1};
    while (top > 0) {
      const int level = stack[--top].level;
      const std::uint32_t first = stack[top].index * kWidth;
      for (unsigned hits = node(level, stack[top].index).overlapping(query); hits != 0;
           hits &= hits - 1) {
        if (level > 0) {
          stack[top++] = {0.0F, first + first_of(hits), level - 1};
        } else if (visit(items_[first + first_of(hits)])) {
          return Exhausted(false);
        }
      }
    }
    return Exhausted(true);
  }

  template <class NodeAt, class Visit>
  Exhausted search_nearest(const FloatBox& box, double limit, const NodeAt& node,
                           Visit& visit) const {
    const Node::Query query(box);
    float limit_squared = squared(limit);
    Pending stack[kStack];
    int top = 0;
    stack[top++] = {0.0F, 0, levels_ - 1};
    while (top > 0) {
      if (stack[--top].distance > limit_squared) continue;
      const int level = stack[top].level;
      const std::uint32_t first = stack[top].index * kWidth;
      float distance[kWidth];
      unsigned within = node(level, stack[top].index).within(query, limit_squared, distance);
      // children within the limit, farthest first
      std::uint32_t near[kWidth];
      int count = 0;
      for (; within != 0; within &= within - 1) {
        const std::uint32_t c = first_of(within);
        int k = count++;
        for (; k > 0 && distance[near[k - 1]] < distance[c]; --k) near[k] = near[k - 1];
        near[k] = c;
      }
      if (level > 0) {
        for (int k = 0; k < count; ++k) {
          stack[top++] = {distance[near[k]], first + near[k], level - 1};
        }
      } else {
        for (int k = count - 1; k >= 0 && distance[near[k]] <= limit_squared; --k) {
          limit_squared = squared(visit(items_[first + near[k]]));
        }
      }
    }
    return Exhausted(true);
  }
  static std::uint32_t first_of(unsigned bits) noexcept {
    return static_cast<std::uint32_t>(std::countr_zero(bits));
  }
  static std::uint32_t last_of(unsigned bits) noexcept {
    return static_cast<std::uint32_t>(std::bit_width(bits)) - 1;
  }

  Node interpolated(std::size_t at, float share) const noexcept {
    if (share == 0.0F) return nodes_[at];
    Node node;
    node.blend(nodes_[at], nodes_[at + frame_], share);
    return node;
  }
  // Stores the box around node `child` of the level below in its slot in `level`.
  void propagate(int level, std::size_t child) noexcept {
    const std::size_t from = begin_[static_cast<std::size_t>(level) - 1] + child;
    const std::size_t to = begin_[static_cast<std::size_t>(level)] + child / kWidth;
    for (std::size_t f = 0; f < frames_; ++f) {
      nodes_[f * frame_ + to].set(child % kWidth, nodes_[f * frame_ + from].around());
    }
  }

  std::vector<std::uint32_t> items_;  // by slot
  std::vector<std::uint32_t> slots_;  // by item
  std::vector<Node> nodes_;           // by frame, level by level from the slots up
  std::size_t frames_ = 1;
  std::size_t frame_ = 0;  // nodes per frame
  std::array<std::size_t, kMaxLevels + 1> begin_{};
  int levels_ = 0;
};

}  // namespace gjk
