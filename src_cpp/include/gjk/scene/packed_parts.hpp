// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Convex parts placed in a scene's local frame, in little memory.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "gjk/shape/box.hpp"
#include "gjk/shape/convex.hpp"
#include "gjk/shape/placing.hpp"
#include "gjk/shape/pose.hpp"

namespace gjk {

// Owns the coordinates of its parts. Each vertex is placed once. The error of the placement is
// stored per part; it is 0 if the placement was exact. A part of up to four vertices takes 96
// bytes, which are always in two lines of the cache.
class PackedParts {
 public:
  class alignas(32) Part {
   public:
    static constexpr int kFew = 4;  // vertices

    std::int32_t owner() const noexcept { return owner_; }  // index of the obstacle
    int size() const noexcept { return size_; }             // number of vertices
    bool is_known() const noexcept { return is_known_; }    // in the kernel's domain or beyond it
    double radius() const noexcept { return radius_; }      // m
    double error() const noexcept { return error_; }        // m, of the vertices
    Box box() const noexcept {                              // of the vertices
      const auto corner = [this](int k) noexcept { return has_few() ? corner_[k] : k; };
      return {{x_[corner(2)], y_[corner(3)]}, {x_[corner(0)], y_[corner(1)]}};
    }
    Box bounds() const noexcept { return gjk::bounds(facts()); }
    // The part without the coordinates and the indices of its vertices.
    Convex facts() const noexcept {
      Convex c;
      c.size = size_;
      c.radius = radius_;
      c.error = error_;
      c.has_chains = has_chains_;
      if (has_few()) {
        // Pairs are stored at once, because the queries load pairs.
        typedef double Two __attribute__((vector_size(16)));
        for (int k = 0; k < 4; k += 2) {
          const Two x{x_[corner_[k]], x_[corner_[k + 1]]};
          const Two y{y_[corner_[k]], y_[corner_[k + 1]]};
          std::memcpy(c.extreme_x + k, &x, sizeof x);
          std::memcpy(c.extreme_y + k, &y, sizeof y);
        }
      } else {
        std::memcpy(c.extreme_x, x_, sizeof x_);
        std::memcpy(c.extreme_y, y_, sizeof y_);
      }
      if (is_known_) c.extent = c.extent_of_extremes();
      return c;
    }

   private:
    friend class PackedParts;
    bool has_few() const noexcept { return size_ <= kFew; }

    // The vertices, or the four extremes if there are more than kFew vertices.
    double x_[kFew] = {};
    double y_[kFew] = {};
    double radius_ = 0.0;  // m
    double error_ = 0.0;   // m
    std::int32_t size_ = 0;
    std::int32_t owner_ = 0;
    std::uint32_t many_ : 30 = kNone;  // index in PackedParts::many_
    bool has_chains_ : 1 = false;
    bool is_known_ : 1 = false;    // the extent is not NaN
    std::uint8_t corner_[4] = {};  // if there are few: the vertex of each extreme
  };

  void reserve(std::size_t parts) { parts_.reserve(parts); }
  std::size_t capacity() const noexcept { return parts_.capacity(); }
  void shrink_to_fit() {
    x_.shrink_to_fit();
    y_.shrink_to_fit();
    many_.shrink_to_fit();
    parts_.shrink_to_fit();
  }
  // Makes room for one part with up to this many vertices, for replace().
  void require_room(std::size_t vertices) {
    if (parts_.size() == 1 && room_of(parts_[0]) >= vertices) return;
    *this = {};
    add_room(vertices);
  }
  void add_room(std::size_t vertices) {
    parts_.emplace_back();
    if (vertices > Part::kFew) make_room(parts_.back(), vertices);
  }
  std::size_t size() const noexcept { return parts_.size(); }
  std::size_t bytes() const noexcept {  // on the heap
    return (x_.capacity() + y_.capacity()) * sizeof(double) + many_.capacity() * sizeof(Many) +
           parts_.capacity() * sizeof(Part);
  }
  const Part& part(std::size_t i) const noexcept { return parts_[i]; }
  Convex convex(std::size_t i) const noexcept {
    const Part& part = parts_[i];
    Convex c = part.facts();
    if (part.has_few()) {
      c.x = part.x_;
      c.y = part.y_;
      for (int k = 0; k < 4; ++k) c.extreme[k] = part.corner_[k];
    } else {
      const Many& many = many_[part.many_];
      c.x = x_.data() + many.begin;
      c.y = y_.data() + many.begin;
      std::copy(many.extreme.begin(), many.extreme.end(), c.extreme);
    }
    return c;
  }
  // The vertices of part i.
  struct Vertices {
    const double* x;  // m
    const double* y;  // m
    int size;
  };
  Vertices vertices(std::size_t i) const noexcept {
    const Part& part = parts_[i];
    if (part.has_few()) return {part.x_, part.y_, part.size_};
    const std::size_t begin = many_[part.many_].begin;
    return {x_.data() + begin, y_.data() + begin, part.size_};
  }
  void prefetch(std::size_t i) const noexcept {
    constexpr std::size_t kLine = 64;  // bytes, on most processors
    const auto* const bytes = reinterpret_cast<const char*>(&parts_[i]);
    for (std::size_t b = 0; b < sizeof(Part); b += kLine) __builtin_prefetch(bytes + b);
  }

  // Allocates if more parts are added than reserved.
  void add(const Convex& local, const Transform& at, std::int32_t owner) {
    parts_.emplace_back();
    parts_.back().owner_ = owner;
    replace(parts_.size() - 1, local, at);
  }
  // Adds the parts from begin to end - 1 of another object, and `owners` to their owners.
  void add(const PackedParts& others, std::size_t begin, std::size_t end, std::int32_t owners) {
    const auto from = others.parts_.begin();
    parts_.insert(parts_.end(), from + static_cast<std::ptrdiff_t>(begin),
                  from + static_cast<std::ptrdiff_t>(end));
    for (Part& part : std::span(parts_).last(end - begin)) {
      part.owner_ += owners;
      if (part.many_ == kNone) continue;
      const Many& many = others.many_[part.many_];
      part.many_ = kNone;
      make_room(part, many.room);
      many_.back().extreme = many.extreme;
      std::copy_n(others.x_.data() + many.begin, many.room, x_.data() + many_.back().begin);
      std::copy_n(others.y_.data() + many.begin, many.room, y_.data() + many_.back().begin);
    }
  }

  // Changes the shape or the pose of part i. Allocates if it has more vertices than before.
  void replace(std::size_t i, const Convex& local, const Transform& at) {
    Part& part = parts_[i];
    const auto size = static_cast<std::size_t>(local.size);
    if (size > Part::kFew && size > room_of(part)) make_room(part, size);
    Convex placed;
    if (local.size <= Part::kFew) {
      place(local, at, part.x_, part.y_, placed);
      for (int k = 0; k < 4; ++k) part.corner_[k] = static_cast<std::uint8_t>(placed.extreme[k]);
    } else {
      Many& many = many_[part.many_];
      place(local, at, x_.data() + many.begin, y_.data() + many.begin, placed);
      std::copy_n(placed.extreme, 4, many.extreme.begin());
      std::copy_n(placed.extreme_x, 4, part.x_);
      std::copy_n(placed.extreme_y, 4, part.y_);
    }
    part.size_ = placed.size;
    part.radius_ = placed.radius;
    part.error_ = placed.error;
    part.has_chains_ = placed.has_chains;
    part.is_known_ = !std::isnan(placed.extent);
  }

 private:
  static constexpr std::uint32_t kNone = (1U << 30U) - 1U;

  // The rest of a part with more than kFew vertices.
  struct Many {
    std::size_t begin = 0;   // of its vertices in x_ and y_
    std::uint32_t room = 0;  // number of vertices
    std::array<int, 4> extreme{};
  };

  std::size_t room_of(const Part& part) const noexcept {
    return part.many_ == kNone ? Part::kFew : many_[part.many_].room;
  }
  void make_room(Part& part, std::size_t vertices) {
    if (part.many_ == kNone) {
      part.many_ = static_cast<std::uint32_t>(many_.size()) & kNone;
      many_.emplace_back();
    }
    many_[part.many_].begin = x_.size();
    many_[part.many_].room = static_cast<std::uint32_t>(vertices);
    x_.resize(x_.size() + vertices);
    y_.resize(y_.size() + vertices);
  }
  static_assert(sizeof(Part) == 96);

  std::vector<double> x_;
  std::vector<double> y_;
  std::vector<Many> many_;
  std::vector<Part> parts_;
};

}  // namespace gjk
