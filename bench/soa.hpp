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

template <class Shape = gjk::Convex>
class Views {
 public:
  void load(std::span<const Case* const> cases) {
    values_.clear();
    a_.clear();
    b_.clear();
    std::size_t total = 0;
    for (const Case* c : cases) total += 2 * (c->a.x.size() + c->b.x.size());
    values_.reserve(total);  // so that views stay valid
    for (const Case* c : cases) {
      a_.push_back(Shape{view(c->a)});
      b_.push_back(Shape{view(c->b)});
    }
  }
  const Shape& a(std::size_t i) const { return a_[i]; }
  const Shape& b(std::size_t i) const { return b_[i]; }

 private:
  gjk::Convex view(const gjk::verify::Polygon& polygon) {
    const double* x = values_.data() + values_.size();
    values_.insert(values_.end(), polygon.x.begin(), polygon.x.end());
    values_.insert(values_.end(), polygon.y.begin(), polygon.y.end());
    return gjk::Convex::view(x, x + polygon.x.size(), polygon.size());
  }

  std::vector<double> values_;
  std::vector<Shape> a_;
  std::vector<Shape> b_;
};

}  // namespace bench
