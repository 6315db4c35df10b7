// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The cases of a chunk as a peer's own shapes.
#pragma once

#include <span>
#include <type_traits>
#include <vector>

#include "rows.hpp"

namespace bench {

// `convert` makes a peer's shape of a polygon. That is not timed.
template <auto convert>
class Converted {
 public:
  static constexpr double tolerance = kPeerTolerance;

  void load(std::span<const Case* const> cases) {
    a_.clear();
    b_.clear();
    for (const Case* c : cases) {
      a_.push_back(convert(c->a));
      b_.push_back(convert(c->b));
    }
  }

 protected:
  using Shape = std::invoke_result_t<decltype(convert), const gjk::verify::Polygon&>;
  std::vector<Shape> a_;
  std::vector<Shape> b_;
};

}  // namespace bench
