// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The cases of a chunk as views on contiguous doubles: what our rows and the SAT baselines are
// given.
#pragma once

#include <span>
#include <vector>

#include "dataset.hpp"
#include "gjk/shape/convex.hpp"

namespace bench {

// The vertices of the polygons of a chunk, one after the other: first x, then y of each.
class Flat {
 public:
  // Makes room for the polygons of some cases, so that views stay valid.
  void clear(std::span<const Case* const> cases) {
    values_.clear();
    std::size_t total = 0;
    for (const Case* c : cases) total += 2 * (c->a.x.size() + c->b.x.size());
    values_.reserve(total);
  }
  gjk::Hull add(const gjk::verify::Polygon& polygon) {
    const double* x = values_.data() + values_.size();
    values_.insert(values_.end(), polygon.x.begin(), polygon.x.end());
    values_.insert(values_.end(), polygon.y.begin(), polygon.y.end());
    return {x, x + polygon.x.size(), polygon.size()};
  }
  gjk::Convex view(const gjk::verify::Polygon& polygon) {
    const gjk::Hull points = add(polygon);
    return gjk::Convex::view(points.x, points.y, points.size);
  }

 private:
  std::vector<double> values_;
};

template <class Shape = gjk::Convex>
class Views {
 public:
  void load(std::span<const Case* const> cases) {
    flat_.clear(cases);
    a_.clear();
    b_.clear();
    for (const Case* c : cases) {
      a_.push_back(Shape{flat_.view(c->a)});
      b_.push_back(Shape{flat_.view(c->b)});
    }
  }
  const Shape& a(std::size_t i) const { return a_[i]; }
  const Shape& b(std::size_t i) const { return b_[i]; }

 private:
  Flat flat_;
  std::vector<Shape> a_;
  std::vector<Shape> b_;
};

}  // namespace bench
