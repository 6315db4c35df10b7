// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The shapes of obstacles in their own frames.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "gjk/motion/motion.hpp"
#include "gjk/scene/packed_parts.hpp"
#include "gjk/shape/convex.hpp"

namespace gjk {

// A list of numbers. It takes no memory as long as the number at each index i is i.
class Numbers {
 public:
  void push_back(std::size_t value) {
    if (values_.empty() && value == size_) {
      ++size_;
      return;
    }
    if (values_.empty()) {
      values_.resize(size_);
      std::iota(values_.begin(), values_.end(), std::uint32_t{0});
    }
    values_.push_back(static_cast<std::uint32_t>(value));
    ++size_;
  }
  void shrink_to_fit() { values_.shrink_to_fit(); }
  std::size_t size() const noexcept { return size_; }
  std::size_t operator[](std::size_t i) const noexcept { return values_.empty() ? i : values_[i]; }
  // Index of the last number that is at most `value`. The numbers must not decrease.
  std::size_t last_at_most(std::size_t value) const noexcept {
    if (values_.empty()) return std::min(value, size_ - 1);
    const auto above = std::upper_bound(values_.begin(), values_.end(), value);
    return static_cast<std::size_t>(above - values_.begin()) - 1;
  }
  std::size_t bytes() const noexcept { return values_.capacity() * sizeof(std::uint32_t); }

 private:
  std::vector<std::uint32_t> values_;
  std::size_t size_ = 0;
};

// The convex parts of many shapes, numbered shape by shape. A part is stored as an outline; shapes
// that are equal and were added soon after each other share theirs.
class Outlines {
 public:
  Outlines() { first_.push_back(0); }
  void reserve(std::size_t parts) { outlines_.reserve(parts); }
  bool is_reserved() const noexcept { return outlines_.capacity() > 0; }
  // `shape` is a Shape, or anything with parts() and part(i).
  template <class Parts>
  void add(const Parts& shape) {
    Range& recent = recent_[hash(shape) % recent_.size()];
    if (!is_equal(shape, recent)) {
      recent.begin = outlines_.size();
      for (int k = 0; k < shape.parts(); ++k) outlines_.add(shape.part(k), {}, 0);
      recent.end = outlines_.size();
    }
    for (std::size_t k = recent.begin; k < recent.end; ++k) outline_.push_back(k);
    first_.push_back(outline_.size());
  }
  // Adds the shapes of another object.
  void add(const Outlines& other) {
    const std::size_t outlines = outlines_.size();
    const std::size_t parts = this->parts();
    if (reach_.size() == outlines) {
      reach_.insert(reach_.end(), other.reach_.begin(), other.reach_.end());
    }
    outlines_.add(other.outlines_, 0, other.outlines_.size(), 0);
    for (std::size_t k = 0; k < other.parts(); ++k)
      outline_.push_back(outlines + other.outline_[k]);
    for (std::size_t i = 0; i < other.size(); ++i) first_.push_back(parts + other.end(i));
  }
  // Call after the last add(). `moving`: reach() will be needed often.
  void finish(bool moving) {
    outlines_.shrink_to_fit();
    outline_.shrink_to_fit();
    first_.shrink_to_fit();
    for (std::size_t k = reach_.size(); k < outlines_.size() && moving; ++k) {
      reach_.push_back(gjk::reach(outlines_.convex(k)));
    }
  }
  bool has_reaches() const noexcept { return reach_.size() == outlines_.size(); }
  std::size_t size() const noexcept { return first_.size() - 1; }
  std::size_t parts() const noexcept { return outline_.size(); }
  std::size_t bytes() const noexcept {
    return outlines_.bytes() + reach_.capacity() * sizeof(double) + first_.bytes() +
           outline_.bytes();
  }
  // Shape i in a form that add() accepts.
  struct View {
    const Outlines* outlines;
    std::size_t begin;
    std::size_t end;
    int parts() const noexcept { return static_cast<int>(end - begin); }
    Convex part(int k) const noexcept {
      return outlines->part(begin + static_cast<std::size_t>(k));
    }
  };
  View shape(std::size_t i) const noexcept { return {this, begin(i), end(i)}; }
  // The parts of shape i are [begin(i), end(i)).
  std::size_t begin(std::size_t i) const noexcept { return first_[i]; }
  std::size_t end(std::size_t i) const noexcept { return first_[i + 1]; }
  // The shape of a part.
  std::size_t owner(std::size_t number) const noexcept { return first_.last_at_most(number); }
  Convex part(std::size_t number) const noexcept { return outlines_.convex(outline_[number]); }
  int size_of(std::size_t number) const noexcept { return outlines_.part(outline_[number]).size(); }
  // m. Largest distance of its vertices from the shape's origin, which is the centre of rotation.
  double reach(std::size_t number) const noexcept {
    const std::size_t outline = outline_[number];
    return reach_.empty() ? gjk::reach(outlines_.convex(outline)) : reach_[outline];
  }
  // The vertices of the largest part.
  std::size_t most_vertices() const noexcept {
    int most = 0;
    for (std::size_t k = 0; k < outlines_.size(); ++k)
      most = std::max(most, outlines_.part(k).size());
    return static_cast<std::size_t>(most);
  }

 private:
  struct Range {  // of outlines
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  template <class Parts>
  static std::size_t hash(const Parts& shape) noexcept {
    std::uint64_t sum = 0;
    const auto include = [&sum](double v) noexcept {
      constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
      sum = (std::rotl(sum, 25) ^ std::bit_cast<std::uint64_t>(v + 0.0)) * kOdd;
    };
    for (int k = 0; k < shape.parts(); ++k) {
      const Convex part = shape.part(k);
      include(part.radius);
      for (int i = 0; i < part.size; ++i) {
        include(part.x[i]);
        include(part.y[i]);
      }
    }
    return static_cast<std::size_t>(sum >> 32);
  }
  // False for shapes that are not in the kernel's domain.
  template <class Parts>
  bool is_equal(const Parts& shape, const Range& outlines) const noexcept {
    if (static_cast<std::size_t>(shape.parts()) != outlines.end - outlines.begin) return false;
    for (int k = 0; k < shape.parts(); ++k) {
      const Convex a = shape.part(k);
      const Convex b = outlines_.convex(outlines.begin + static_cast<std::size_t>(k));
      if (!(a.size == b.size && a.radius == b.radius && a.error == b.error &&
            a.extent == b.extent && std::equal(a.x, a.x + a.size, b.x) &&
            std::equal(a.y, a.y + a.size, b.y))) {
        return false;
      }
    }
    return true;
  }

  PackedParts outlines_;
  std::vector<double> reach_;        // m, by outline; empty: computed when it is needed
  Numbers outline_;                  // by part
  Numbers first_;                    // part, by shape
  std::array<Range, 256> recent_{};  // by hash
};

}  // namespace gjk
