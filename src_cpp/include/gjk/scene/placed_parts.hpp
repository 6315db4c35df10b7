// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Convex parts placed in a scene's local frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "gjk/motion/motion.hpp"
#include "gjk/shape/box.hpp"
#include "gjk/shape/convex.hpp"
#include "gjk/shape/placing.hpp"
#include "gjk/shape/pose.hpp"

namespace gjk {

// Owns the coordinates of its parts. A placed vertex is computed once; how far it can be from its
// true place is kept per part, 0 when the placement was exact.
class PlacedParts {
 public:
  struct Part {
    static constexpr int kFew = 4;  // vertices

    Convex convex;  // its pointers are set by convex()
    // A few vertices stand here: a query that looks at the part finds them without another wait
    // for memory. More stand at `begin`.
    double few_x[kFew] = {};
    double few_y[kFew] = {};
    std::size_t begin = 0;
    std::uint32_t room = 0;  // vertices from `begin` on
    std::int32_t owner = 0;  // index of the obstacle

    // In the kernel's domain: what follows holds.
    bool known() const noexcept { return in_domain(convex, convex); }
    // Of the vertices, without the radius.
    Box box() const noexcept {
      return {{convex.extreme_x[2], convex.extreme_y[3]},
              {convex.extreme_x[0], convex.extreme_y[1]}};
    }
    // How far (m) the true part may reach beyond its box.
    double beyond_box() const noexcept { return convex.radius + convex.error; }
    // Holds the part. What is outside of the bounds of two parts by a margin is FREE of them.
    Box bounds() const noexcept {
      return known() ? box().grown(beyond_box() + undecided(convex)) : kEverywhere;
    }
  };

  void reserve(std::size_t parts) { parts_.reserve(parts); }
  // One part, for replace() with up to as many vertices.
  void require_room(std::size_t vertices) {
    if (parts_.size() == 1 && parts_[0].room >= vertices) return;
    parts_.assign(1, {});
    parts_[0].room = static_cast<std::uint32_t>(vertices);
    x_.resize(vertices);
    y_.resize(vertices);
  }
  std::size_t size() const noexcept { return parts_.size(); }
  std::size_t bytes() const noexcept {  // on the heap
    return (x_.capacity() + y_.capacity()) * sizeof(double) + parts_.capacity() * sizeof(Part);
  }
  const Part& part(std::size_t i) const noexcept { return parts_[i]; }
  Convex convex(std::size_t i) const noexcept {
    Convex c = parts_[i].convex;
    point(c, parts_[i]);
    return c;
  }
  void copy(std::size_t i, Convex& to) const noexcept {
    to = parts_[i].convex;
    point(to, parts_[i]);
  }

  // Allocates beyond what was reserved.
  void add(const Convex& local, const Transform& at, std::int32_t owner) {
    Part part;
    part.owner = owner;
    parts_.push_back(part);
    replace(parts_.size() - 1, local, at);
  }

  // Another shape or place for part i. Allocates when it has more vertices than before.
  void replace(std::size_t i, const Convex& local, const Transform& at) {
    Part& part = parts_[i];
    const auto size = static_cast<std::uint32_t>(local.size);
    if (local.size > Part::kFew && size > part.room) {
      part.begin = x_.size();
      part.room = size;
      x_.resize(x_.size() + size);
      y_.resize(y_.size() + size);
    }
    put(part, local, at);
  }

 private:
  void point(Convex& to, const Part& part) const noexcept {
    const bool few = to.size <= Part::kFew;
    to.x = few ? part.few_x : x_.data() + part.begin;
    to.y = few ? part.few_y : y_.data() + part.begin;
  }
  void put(Part& part, const Convex& local, const Transform& at) noexcept {
    const bool few = local.size <= Part::kFew;
    double* const x = few ? part.few_x : x_.data() + part.begin;
    double* const y = few ? part.few_y : y_.data() + part.begin;
    place(local, at, x, y, part.convex);
  }

  std::vector<double> x_;
  std::vector<double> y_;
  std::vector<Part> parts_;
};

// Placed parts by pages, which copies share until one of them is changed: an update of a few parts
// copies their pages, not the coordinates of all.
class SharedParts {
 public:
  void reserve(std::size_t parts) { pages_.reserve((parts + kPage - 1) / kPage); }
  std::size_t size() const noexcept { return size_; }
  // Part i stands in this page, as number within(i).
  const PlacedParts& page(std::size_t i) const noexcept { return *pages_[i / kPage]; }
  static std::size_t within(std::size_t i) noexcept { return i % kPage; }
  const PlacedParts::Part& part(std::size_t i) const noexcept { return page(i).part(within(i)); }
  Convex convex(std::size_t i) const noexcept { return page(i).convex(within(i)); }
  void copy(std::size_t i, Convex& to) const noexcept { page(i).copy(within(i), to); }
  // Asks for part i from memory, to be read soon.
  void prefetch(std::size_t i) const noexcept {
    constexpr std::size_t kLine = 64;  // bytes, mostly
    const auto* const bytes = reinterpret_cast<const char*>(&part(i));
    for (std::size_t b = 0; b < sizeof(PlacedParts::Part); b += kLine)
      __builtin_prefetch(bytes + b);
  }

  void add(const Convex& local, const Transform& at, std::int32_t owner) {
    if (size_ % kPage == 0) pages_.push_back(std::make_shared<PlacedParts>());
    pages_.back()->add(local, at, owner);
    ++size_;
  }
  void replace(std::size_t i, const Convex& local, const Transform& at) {
    std::shared_ptr<PlacedParts>& page = pages_[i / kPage];
    // One alone is of this object: while it is being changed, the object that it was copied from
    // holds the others.
    if (page.use_count() > 1) page = std::make_shared<PlacedParts>(*page);
    page->replace(within(i), local, at);
  }
  std::size_t bytes() const noexcept {
    std::size_t sum = pages_.capacity() * sizeof(pages_[0]);
    for (const auto& page : pages_) sum += sizeof(PlacedParts) + page->bytes();
    return sum;
  }

 private:
  static constexpr std::size_t kPage = 32;

  std::vector<std::shared_ptr<PlacedParts>> pages_;
  std::size_t size_ = 0;
};

// The parts of many shapes in their own frames, and which belong to which.
class Outlines {
 public:
  void reserve(std::size_t shapes) {
    first_.reserve(shapes + 1);
    parts_.reserve(shapes);
  }
  // A shape, or anything with parts() and part(i).
  template <class Parts>
  void add(const Parts& shape) {
    const auto owner = static_cast<std::int32_t>(size());
    for (int k = 0; k < shape.parts(); ++k) {
      const Convex part = shape.part(k);
      parts_.add(part, {}, owner);
      reach_.push_back(gjk::reach(part));
    }
    first_.push_back(parts_.size());
  }
  std::size_t size() const noexcept { return first_.size() - 1; }
  std::size_t parts() const noexcept { return parts_.size(); }
  std::size_t bytes() const noexcept {
    return parts_.bytes() + reach_.capacity() * sizeof(double) +
           first_.capacity() * sizeof(std::size_t);
  }
  // Shape i, as add() takes it.
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
  Convex part(std::size_t number) const noexcept { return parts_.convex(number); }
  // m: how far its vertices are from the shape's origin, about which it turns.
  double reach(std::size_t number) const noexcept { return reach_[number]; }

 private:
  PlacedParts parts_;
  std::vector<double> reach_;
  std::vector<std::size_t> first_{0};
};

}  // namespace gjk
