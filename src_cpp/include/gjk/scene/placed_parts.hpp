// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The parts of the ego and of obstacles, in their own frames and placed in a scene's local frame.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <vector>

#include "gjk/parallel.hpp"
#include "gjk/scene/packed_parts.hpp"
#include "gjk/shape/box.hpp"
#include "gjk/shape/convex.hpp"
#include "gjk/shape/placing.hpp"
#include "gjk/shape/pose.hpp"

namespace gjk {

// The parts of the ego. Owns the coordinates of its parts. Each vertex is placed once. The error of
// the placement is stored per part; it is 0 if the placement was exact.
class PlacedParts {
 public:
  void reserve(std::size_t parts) { parts_.reserve(parts); }
  std::size_t size() const noexcept { return parts_.size(); }
  Convex convex(std::size_t i) const noexcept {
    Convex c = parts_[i].convex;
    const bool few = c.size <= Part::kFew;
    c.x = few ? parts_[i].few_x : x_.data() + parts_[i].begin;
    c.y = few ? parts_[i].few_y : y_.data() + parts_[i].begin;
    return c;
  }
  // convex(i) without a copy. Its vertices are valid if nothing was added and this object was not
  // copied or moved since part i was placed.
  const Convex& just_placed(std::size_t i) const noexcept { return parts_[i].convex; }

  // Allocates if more parts are added than reserved.
  void add(const Convex& local, const Transform& at) {
    parts_.emplace_back();
    if (local.size > Part::kFew) {
      parts_.back().begin = x_.size();
      x_.resize(x_.size() + static_cast<std::size_t>(local.size));
      y_.resize(y_.size() + static_cast<std::size_t>(local.size));
    }
    replace(parts_.size() - 1, local, at);
  }
  // Changes the pose of part i.
  void replace(std::size_t i, const Convex& local, const Transform& at) noexcept {
    Part& part = parts_[i];
    const bool few = local.size <= Part::kFew;
    double* const x = few ? part.few_x : x_.data() + part.begin;
    double* const y = few ? part.few_y : y_.data() + part.begin;
    place(local, at, x, y, part.convex);
  }

 private:
  struct Part {
    static constexpr int kFew = 4;  // vertices

    Convex convex;  // convex() sets its pointers
    // Storage for a few vertices, which saves queries a memory access. More are at `begin`.
    double few_x[kFew] = {};
    double few_y[kFew] = {};
    std::size_t begin = 0;
  };

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

// Placed parts of obstacles in pages, which copies share until one changes them: an update of a few
// parts copies their pages, not all coordinates.
class SharedParts {
 public:
  static constexpr std::size_t kPage = 32;

  SharedParts() = default;
  // Calls fill(page, first, end) for each page, from any of the threads. It adds the parts `first`
  // to `end` - 1 to the page.
  template <class Fill>
  SharedParts(std::size_t parts, const Fill& fill, unsigned threads)
      : pages_((parts + kPage - 1) / kPage), size_(parts) {
    constexpr std::size_t kChunk = 64;  // pages
    for_each_chunk(pages_.size(), kChunk, threads, [&] {
      return [&](std::size_t begin, std::size_t end) {
        for (std::size_t p = begin; p < end; ++p) {
          pages_[p] = std::make_shared<PackedParts>();
          const std::size_t first = p * kPage;
          const std::size_t last = std::min(parts, first + kPage);
          pages_[p]->reserve(last - first);
          fill(*pages_[p], first, last);
          pages_[p]->shrink_to_fit();
        }
      };
    });
  }
  std::size_t size() const noexcept { return size_; }
  // The page of part i, in which it has the index within(i).
  const PackedParts& page(std::size_t i) const noexcept { return *pages_[i / kPage]; }
  static std::size_t within(std::size_t i) noexcept { return i % kPage; }
  const PackedParts::Part& part(std::size_t i) const noexcept { return page(i).part(within(i)); }
  Convex convex(std::size_t i) const noexcept { return page(i).convex(within(i)); }
  void prefetch(std::size_t i) const noexcept { page(i).prefetch(within(i)); }

  void replace(std::size_t i, const Convex& local, const Transform& at) {
    std::shared_ptr<PackedParts>& page = pages_[i / kPage];
    // A use count of 1 means that no other object has the page: during a change, the object that
    // this one was copied from still holds the shared pages.
    if (page.use_count() > 1) page = std::make_shared<PackedParts>(*page);
    page->replace(within(i), local, at);
  }
  std::size_t bytes() const noexcept {
    std::size_t sum = pages_.capacity() * sizeof(pages_[0]);
    for (const auto& page : pages_) sum += sizeof(PackedParts) + page->bytes();
    return sum;
  }

 private:
  std::vector<std::shared_ptr<PackedParts>> pages_;
  std::size_t size_ = 0;
};

}  // namespace gjk
