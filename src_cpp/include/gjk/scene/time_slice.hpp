// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The obstacles of a scene at one time, for many poses at that time.
#pragma once

#include <cstddef>
#include <vector>

#include "gjk/broad/bvh.hpp"
#include "gjk/scene/outlines.hpp"
#include "gjk/scene/packed_parts.hpp"
#include "gjk/shape/box.hpp"
#include "gjk/shape/vec2.hpp"

namespace gjk {

// A part of an obstacle that is placed. Empty if its pose is unknown, or if the obstacle does not
// exist.
struct FoundPart {
  const PackedParts* in = nullptr;
  std::size_t index = 0;

  explicit operator bool() const noexcept { return in != nullptr; }
  const PackedParts::Part& part() const noexcept { return in->part(index); }
  Convex convex() const noexcept { return in->convex(index); }
  void prefetch() const noexcept {
    if (in != nullptr) in->prefetch(index);
  }
};

// Each part is placed once, and a tree is built for that time. Its boxes are tighter than those of
// the tree for all times, and parts that are near each other at that time share a node. The memory
// is reused for the next time. Refers to parts of the obstacles, which must not change.
class TimeSlice {
 public:
  TimeSlice() = default;
  TimeSlice(const TimeSlice&) = delete;  // parts_ points into moved_
  TimeSlice& operator=(const TimeSlice&) = delete;

  // find(k, room) returns part k, placed in slot k of the room if it is not placed elsewhere.
  // margin(k) is the distance (m) by which its bounds are grown.
  template <class Find, class Margin>
  void place(const Outlines& outlines, const Find& find, const Margin& margin) {
    const std::size_t count = outlines.parts();
    if (parts_.size() != count) make_room(outlines);
    for (std::size_t k = 0; k < count; ++k) {
      parts_[k] = find(k, moved_);
      if (!parts_[k]) continue;
      keys_[k] = Bvh::key_at(parts_[k].part().box().center());
    }
    tree_.arrange<2>(count, [this](std::size_t k) noexcept { return keys_[k]; });
    for (std::size_t k = 0; k < count; ++k) {
      tree_.set(k, parts_[k] ? parts_[k].part().bounds().grown(margin(k)) : Box{});
    }
    tree_.update();
  }

  const FoundPart& part(std::size_t k) const noexcept { return parts_[k]; }
  const Bvh& tree() const noexcept { return tree_; }

 private:
  void make_room(const Outlines& outlines) {
    moved_ = {};
    moved_.reserve(outlines.parts());
    for (std::size_t k = 0; k < outlines.parts(); ++k) {
      moved_.add_room(static_cast<std::size_t>(outlines.size_of(k)));
    }
    parts_.resize(outlines.parts());
    keys_.resize(outlines.parts());
  }

  std::vector<FoundPart> parts_;
  PackedParts moved_;  // the parts that the obstacles do not have placed
  std::vector<Bvh::Key<2>> keys_;
  Bvh tree_;
};

}  // namespace gjk
