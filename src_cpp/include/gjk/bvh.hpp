// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Broad phase: a packed tree of bounding boxes, 8 to a node, at rest or in motion.
//
// The tree is complete: node i of a level holds the nodes (in level 0: the slots) 8 i to 8 i + 7 of
// the level below, so there are no pointers, and one item that moves changes one box per level.
// Boxes are single precision about the caller's local origin, rounded outwards: what the tree
// leaves out is certainly out.
//
// For items that move, the boxes are given at several times, the frames. In between they are
// interpolated: the caller sees to it that an item is within its interpolated box, and so is then a
// node's within the node's, since between two frames the lower sides of children on straight lines
// have a minimum that is nowhere below the straight line of their minima.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "gjk/box.hpp"

namespace gjk {

// A box in single precision that holds a Box.
struct FloatBox {
  float low_x, low_y, high_x, high_y;

  static float below(double v) noexcept {
    const float f = static_cast<float>(v);
    return f <= v ? f : std::nextafter(f, -std::numeric_limits<float>::infinity());
  }
  static float above(double v) noexcept { return -below(-v); }
  static FloatBox around(const Box& box) noexcept {
    return {below(box.low.x), below(box.low.y), above(box.high.x), above(box.high.y)};
  }
};

class Bvh {
 public:
  static constexpr std::uint32_t kWidth = 8;

  // Where an item is at the first and at the last moment: x, y, x, y.
  using Key = std::array<float, 4>;

  // A time: share of the way from a frame to the next; or all times up to a last one.
  struct Moment {
    std::size_t frame = 0;
    float share = 0.0F;
    std::size_t last_frame = 0;
    float last_share = 0.0F;
  };

  // An empty tree with the items in an order in which neighbours share a node: they are halved,
  // again and again, along their longest extent, at multiples of what a child node holds. Next:
  // set() each, update() all.
  void arrange(std::span<const Key> keys, std::size_t frames = 1) {
    std::vector<Entry> entries(keys.size());
    for (std::size_t i = 0; i < entries.size(); ++i) {
      entries[i] = {keys[i], static_cast<std::uint32_t>(i)};
    }
    std::size_t capacity = 1;
    while (capacity < entries.size()) capacity *= kWidth;
    halve(entries, capacity);
    items_.resize(entries.size());
    slots_.resize(entries.size());
    for (std::size_t slot = 0; slot < entries.size(); ++slot) {
      items_[slot] = entries[slot].item;
      slots_[entries[slot].item] = static_cast<std::uint32_t>(slot);
    }
    levels_ = 0;
    std::size_t nodes = 0;
    for (std::size_t below = keys.size(); below > (levels_ == 0 ? 0 : 1);) {
      below = (below + kWidth - 1) / kWidth;
      begin_[static_cast<std::size_t>(levels_++)] = nodes;
      nodes += below;
    }
    frames_ = frames;
    frame_ = nodes;
    nodes_.assign(frames * nodes, {});
  }

  void set(std::size_t item, const Box& box, std::size_t frame = 0) noexcept {
    const std::size_t slot = slots_[item];
    nodes_[frame * frame_ + slot / kWidth].set(slot % kWidth, FloatBox::around(box));
  }

  // Carries the boxes of level 0 up to the root.
  void update() noexcept {
    for (int level = 1; level < levels_; ++level) {
      const std::size_t count =
          begin_[static_cast<std::size_t>(level)] - begin_[static_cast<std::size_t>(level) - 1];
      for (std::size_t i = 0; i < count; ++i) carry(level, i);
    }
  }
  // The same for one item that was set.
  void update(std::size_t item) noexcept {
    std::size_t child = slots_[item] / kWidth;
    for (int level = 1; level < levels_; ++level, child /= kWidth) carry(level, child);
  }

  // Mean half perimeter (m) of the boxes around level 0, of the first frame: what moving items
  // without a new order spoils.
  double spread() const noexcept {
    if (levels_ == 0) return 0.0;
    const std::size_t count = levels_ > 1 ? begin_[1] : 1;
    double sum = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
      const FloatBox box = nodes_[i].around();
      sum +=
          static_cast<double>(box.high_x - box.low_x) + static_cast<double>(box.high_y - box.low_y);
    }
    return sum / static_cast<double>(count);
  }

  // Calls visit(item) for every item whose box meets `query`, until one returns true.
  template <class Visit>
  void overlapping(const FloatBox& query, const Moment& moment, Visit&& visit) const {
    if (levels_ == 0) return;
    Node blended;
    Pending stack[kStack];
    int top = 0;
    stack[top++] = {0.0F, 0, levels_ - 1};
    while (top > 0) {
      const Pending at = stack[--top];
      unsigned hits = node(at.level, at.index, moment, blended).overlapping(query);
      while (hits != 0) {
        const std::uint32_t child =
            at.index * kWidth + static_cast<std::uint32_t>(std::countr_zero(hits));
        hits &= hits - 1;
        if (at.level > 0) {
          stack[top++] = {0.0F, child, at.level - 1};
        } else if (visit(items_[child])) {
          return;
        }
      }
    }
  }

  // Calls visit(item) for the items whose boxes are within `limit` (m) of `query`, near ones first;
  // visit returns the limit from there on, which it may lower.
  template <class Visit>
  void nearest(const FloatBox& query, double limit, const Moment& moment, Visit&& visit) const {
    if (levels_ == 0) return;
    float limit_squared = squared(limit);
    Node blended;
    Pending stack[kStack];
    int top = 0;
    stack[top++] = {0.0F, 0, levels_ - 1};
    while (top > 0) {
      const Pending at = stack[--top];
      if (at.distance > limit_squared) continue;
      float distance[kWidth];
      node(at.level, at.index, moment, blended).distances(query, distance);
      // the children within the limit, farthest first
      std::uint32_t near[kWidth];
      int count = 0;
      for (std::uint32_t c = 0; c < kWidth; ++c) {
        if (!(distance[c] <= limit_squared)) continue;
        int k = count++;
        for (; k > 0 && distance[near[k - 1]] < distance[c]; --k) near[k] = near[k - 1];
        near[k] = c;
      }
      if (at.level > 0) {
        for (int k = 0; k < count; ++k) {
          stack[top++] = {distance[near[k]], at.index * kWidth + near[k], at.level - 1};
        }
      } else {
        for (int k = count - 1; k >= 0 && distance[near[k]] <= limit_squared; --k) {
          limit_squared = squared(visit(items_[at.index * kWidth + near[k]]));
        }
      }
    }
  }

 private:
  // Of a slot that holds nothing: farther than any limit, and its square does not overflow.
  static constexpr float kNowhere = 1e18F;
  static constexpr float kMaxLimitSquared = 1e36F;
  static constexpr int kMaxLevels = 11;  // 8^11 > 2^32
  static constexpr int kStack = kMaxLevels * (kWidth - 1) + 1;

  struct alignas(64) Node {
    float low_x[kWidth];
    float low_y[kWidth];
    float high_x[kWidth];
    float high_y[kWidth];

    Node() noexcept {
      for (std::uint32_t c = 0; c < kWidth; ++c) {
        set(c, {kNowhere, kNowhere, -kNowhere, -kNowhere});
      }
    }
    void set(std::size_t c, const FloatBox& box) noexcept {
      low_x[c] = box.low_x;
      low_y[c] = box.low_y;
      high_x[c] = box.high_x;
      high_y[c] = box.high_y;
    }
    FloatBox around() const noexcept {
      FloatBox box{low_x[0], low_y[0], high_x[0], high_y[0]};
      for (std::uint32_t c = 1; c < kWidth; ++c) {
        box.low_x = std::min(box.low_x, low_x[c]);
        box.low_y = std::min(box.low_y, low_y[c]);
        box.high_x = std::max(box.high_x, high_x[c]);
        box.high_y = std::max(box.high_y, high_y[c]);
      }
      return box;
    }
    // Holds what is between a and b, whatever the rounding.
    void blend(const Node& a, const Node& b, float share) noexcept {
      const auto between = [share](const float* from, const float* to, float outward, float* out) {
        for (std::uint32_t c = 0; c < kWidth; ++c) {
          const float magnitude = std::fabs(from[c]) + std::fabs(to[c]);
          out[c] = from[c] + share * (to[c] - from[c]) + outward * magnitude;
        }
      };
      between(a.low_x, b.low_x, -0x1p-21F, low_x);
      between(a.low_y, b.low_y, -0x1p-21F, low_y);
      between(a.high_x, b.high_x, 0x1p-21F, high_x);
      between(a.high_y, b.high_y, 0x1p-21F, high_y);
    }
    void include(const Node& other) noexcept {
      for (std::uint32_t c = 0; c < kWidth; ++c) {
        low_x[c] = std::min(low_x[c], other.low_x[c]);
        low_y[c] = std::min(low_y[c], other.low_y[c]);
        high_x[c] = std::max(high_x[c], other.high_x[c]);
        high_y[c] = std::max(high_y[c], other.high_y[c]);
      }
    }
    // Bit c: child c meets the query.
    unsigned overlapping(const FloatBox& query) const noexcept {
      unsigned hits = 0;
      for (std::uint32_t c = 0; c < kWidth; ++c) {
        const bool hit = (low_x[c] <= query.high_x) & (high_x[c] >= query.low_x) &
                         (low_y[c] <= query.high_y) & (high_y[c] >= query.low_y);
        hits |= static_cast<unsigned>(hit) << c;
      }
      return hits;
    }
    // Squared distances (m^2), each at most a relative 2^-21 above the true one.
    void distances(const FloatBox& query, float* out) const noexcept {
      for (std::uint32_t c = 0; c < kWidth; ++c) {
        const float left = low_x[c] - query.high_x;
        const float right = query.low_x - high_x[c];
        const float down = low_y[c] - query.high_y;
        const float up = query.low_y - high_y[c];
        const float x = left > right ? left : right;
        const float y = down > up ? down : up;
        const float gap_x = x > 0.0F ? x : 0.0F;
        const float gap_y = y > 0.0F ? y : 0.0F;
        out[c] = gap_x * gap_x + gap_y * gap_y;
      }
    }
  };

  struct Pending {
    float distance;  // squared
    std::uint32_t index;
    int level;
  };
  struct Entry {
    Key key;
    std::uint32_t item;
  };

  // A limit (m) as the squared distances are compared with it: above by more than their rounding.
  static float squared(double limit) noexcept {
    if (!(limit > 0.0)) return 0.0F;
    const double square = limit * limit * (1.0 + 0x1p-20);
    return square < static_cast<double>(kMaxLimitSquared) ? FloatBox::above(square)
                                                          : kMaxLimitSquared;
  }

  static void halve(std::span<Entry> entries, std::size_t capacity) {
    while (capacity >= entries.size() && capacity > 1) capacity /= kWidth;
    if (entries.size() <= kWidth) return;
    Key low = entries[0].key;
    Key high = low;
    for (const Entry& entry : entries) {
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
    std::nth_element(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(left),
                     entries.end(),
                     [axis](const Entry& a, const Entry& b) { return a.key[axis] < b.key[axis]; });
    halve(entries.first(left), capacity);
    halve(entries.subspan(left), capacity);
  }

  const Node& node(int level, std::size_t index, const Moment& moment,
                   Node& blended) const noexcept {
    const std::size_t at = moment.frame * frame_ + begin_[static_cast<std::size_t>(level)] + index;
    const bool one_time = moment.frame == moment.last_frame && moment.share == moment.last_share;
    if (one_time && moment.share == 0.0F) return nodes_[at];
    blended = between(at, moment.share);
    if (one_time) return blended;
    std::size_t last = at;
    for (std::size_t f = moment.frame; f < moment.last_frame; ++f) {
      last += frame_;
      blended.include(nodes_[last]);
    }
    blended.include(between(last, moment.last_share));
    return blended;
  }
  Node between(std::size_t at, float share) const noexcept {
    if (share == 0.0F) return nodes_[at];
    Node node;
    node.blend(nodes_[at], nodes_[at + frame_], share);
    return node;
  }
  // The boxes around node `child` in the level below, into their places in `level`.
  void carry(int level, std::size_t child) noexcept {
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
  std::size_t frame_ = 0;  // nodes in one
  std::array<std::size_t, kMaxLevels + 1> begin_{};
  int levels_ = 0;
};

}  // namespace gjk
