// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Convex parts placed in a scene's local frame.
#pragma once

#include <cmath>
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

// Owns the coordinates of its parts. Each vertex is placed once. The error of the placement is
// stored per part; it is 0 if the placement was exact.
class PlacedParts {
 public:
  struct Part {
    static constexpr int kFew = 4;  // vertices

    Convex convex;  // convex() sets its pointers
    // Storage for a few vertices, which saves queries a memory access. More are at `begin`.
    double few_x[kFew] = {};
    double few_y[kFew] = {};
    std::size_t begin = 0;
    std::uint32_t room = 0;  // capacity in vertices, from `begin` on
    std::int32_t owner = 0;  // index of the obstacle

    // Whether the part is in the kernel's domain. The functions below require it, except bounds().
    bool known() const noexcept { return in_domain(convex, convex); }
    // Box of the vertices, without the radius.
    Box box() const noexcept {
      return {{convex.extreme_x[2], convex.extreme_y[3]},
              {convex.extreme_x[0], convex.extreme_y[1]}};
    }
    // m. The true part may extend this far beyond box().
    double beyond_box() const noexcept { return convex.radius + convex.error; }
    // A box that contains the part. If the bounds of two parts are farther apart than the margin,
    // the verdict is FREE.
    Box bounds() const noexcept {
      return known() ? box().grown(beyond_box() + undecided(convex)) : kEverywhere;
    }
  };

  void reserve(std::size_t parts) { parts_.reserve(parts); }
  // Makes room for one part with up to this many vertices, for replace().
  void require_room(std::size_t vertices) {
    if (parts_.size() == 1 && parts_[0].room >= vertices) return;
    *this = {};
    add_room(vertices);
  }
  void add_room(std::size_t vertices) {
    Part part;
    part.begin = x_.size();
    part.room = static_cast<std::uint32_t>(vertices);
    parts_.push_back(part);
    x_.resize(x_.size() + vertices);
    y_.resize(y_.size() + vertices);
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
  void prefetch(std::size_t i) const noexcept {
    constexpr std::size_t kLine = 64;  // bytes, on most processors
    const auto* const bytes = reinterpret_cast<const char*>(&parts_[i]);
    for (std::size_t b = 0; b < sizeof(Part); b += kLine) __builtin_prefetch(bytes + b);
  }
  // convex(i) without a copy, if nothing was added and this object was not copied or moved since
  // part i was placed.
  const Convex& just_placed(std::size_t i) const noexcept { return parts_[i].convex; }

  // Allocates if more parts are added than reserved.
  void add(const Convex& local, const Transform& at, std::int32_t owner) {
    Part part;
    part.owner = owner;
    parts_.push_back(part);
    replace(parts_.size() - 1, local, at);
  }

  // Changes the shape or the pose of part i. Allocates if it has more vertices than before.
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

// The box of a shape in its own frame, from which bounds at a pose follow without its vertices.
class Extents {
 public:
  void include(const Convex& part) noexcept {
    box_.include(Vec2{part.extreme_x[2], part.extreme_y[3]});
    box_.include(Vec2{part.extreme_x[0], part.extreme_y[1]});
    all_.extreme_x[2] = box_.low.x;
    all_.extreme_y[3] = box_.low.y;
    all_.extreme_x[0] = box_.high.x;
    all_.extreme_y[1] = box_.high.y;
    all_.extent = is_empty_ || part.extent > all_.extent || std::isnan(part.extent) ? part.extent
                                                                                    : all_.extent;
    all_.radius = std::fmax(all_.radius, part.radius);
    all_.error = std::fmax(all_.error, part.error);
    is_empty_ = false;
  }
  // Whether every part placed with this transform is in the kernel's domain. False: unknown.
  bool is_known_at(const Transform& at) const noexcept {
    return placed_extent(all_, at) <= kMaxCoordinate;
  }
  // Contains bounds() of every part placed with this transform. kEverywhere if a part may be
  // outside the kernel's domain.
  Box bounds_at(const Transform& at) const noexcept {
    const double extent = placed_extent(all_, at);
    const Box box = box_at(all_, at);
    if (!is_known_at(at)) return kEverywhere;
    // 16 times the error of placing, and the rest of undecided()
    const double error = all_.error + at.t_error + 32.0 * kUnitRoundoff * extent + kTinyError;
    return box.grown(17.0 * error + 65.0 * kUnitRoundoff * (extent + all_.radius));
  }

 private:
  bool is_empty_ = true;
  Box box_;
  Convex all_;  // without vertices; its extent is NaN if it has no part or one is not known
};

// Placed parts in pages, which copies share until one changes them: an update of a few parts copies
// their pages, not all coordinates.
class SharedParts {
 public:
  void reserve(std::size_t parts) { pages_.reserve((parts + kPage - 1) / kPage); }
  std::size_t size() const noexcept { return size_; }
  // The page of part i, in which it has the index within(i).
  const PlacedParts& page(std::size_t i) const noexcept { return *pages_[i / kPage]; }
  static std::size_t within(std::size_t i) noexcept { return i % kPage; }
  const PlacedParts::Part& part(std::size_t i) const noexcept { return page(i).part(within(i)); }
  Convex convex(std::size_t i) const noexcept { return page(i).convex(within(i)); }
  void copy(std::size_t i, Convex& to) const noexcept { page(i).copy(within(i), to); }
  void prefetch(std::size_t i) const noexcept { page(i).prefetch(within(i)); }

  void add(const Convex& local, const Transform& at, std::int32_t owner) {
    if (size_ % kPage == 0) pages_.push_back(std::make_shared<PlacedParts>());
    pages_.back()->add(local, at, owner);
    ++size_;
  }
  void replace(std::size_t i, const Convex& local, const Transform& at) {
    std::shared_ptr<PlacedParts>& page = pages_[i / kPage];
    // A use count of 1 means that no other object has the page: during a change, the object that
    // this one was copied from still holds the shared pages.
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

// The parts of many shapes in their own frames, grouped by shape.
class Outlines {
 public:
  void reserve(std::size_t shapes) {
    first_.reserve(shapes + 1);
    parts_.reserve(shapes);
  }
  // `shape` is a Shape, or anything with parts() and part(i).
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
  Convex part(std::size_t number) const noexcept { return parts_.convex(number); }
  int size_of(std::size_t number) const noexcept { return parts_.part(number).convex.size; }
  // m. Largest distance of its vertices from the shape's origin, which is the centre of rotation.
  double reach(std::size_t number) const noexcept { return reach_[number]; }

 private:
  PlacedParts parts_;
  std::vector<double> reach_;
  std::vector<std::size_t> first_{0};
};

}  // namespace gjk
