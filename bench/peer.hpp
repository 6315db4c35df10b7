// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The rows of a peer: with its prepared form of the shapes, and with this form built in the timed
// loop. A Peer has
//   static void add(std::vector<Input>&, const Polygon&)       what its user has of a polygon
//   static Pair pair(const Input* a, const Input* b, int n)    its form of two polygons, n inputs
//   each static bool collide(const Pair&)                           or, or both: static double
//   distance(const Pair&)
#pragma once

#include <string>
#include <vector>

#include "rows.hpp"

namespace bench {

// A peer whose user has the vertices.
struct OfVertices {
  using Input = gjk::Vec2;

  static void add(std::vector<Input>& vertices, const gjk::verify::Polygon& polygon) {
    for (int i = 0; i < polygon.size(); ++i) vertices.push_back(polygon.vertex(i));
  }
};

template <class Peer>
class FromVertices {
 public:
  static constexpr double tolerance = kPeerTolerance;

  void load(std::span<const Case* const> cases) {
    inputs_.clear();
    for (const Case* c : cases) {
      Peer::add(inputs_, c->a);
      Peer::add(inputs_, c->b);
    }
    n_ = static_cast<int>(inputs_.size() / (2 * cases.size()));
  }

 protected:
  auto pair(std::size_t i) const {
    const auto* first = inputs_.data() + 2 * i * static_cast<std::size_t>(n_);
    return Peer::pair(first, first + n_, n_);
  }

 private:
  std::vector<typename Peer::Input> inputs_;
  int n_ = 0;
};

template <class Peer>
class Prepared : public FromVertices<Peer> {
 public:
  void load(std::span<const Case* const> cases) {
    FromVertices<Peer>::load(cases);
    pairs_.clear();
    for (std::size_t i = 0; i < cases.size(); ++i) {
      pairs_.push_back(FromVertices<Peer>::pair(i));
    }
  }

 protected:
  const auto& pair(std::size_t i) const { return pairs_[i]; }

 private:
  std::vector<decltype(Peer::pair(nullptr, nullptr, 0))> pairs_;
};

template <class Peer, class Queries>
struct Collide : Queries {
  bool operator()(std::size_t i) const { return Peer::collide(this->pair(i)); }
};

template <class Peer, class Queries>
struct Distance : Queries {
  double operator()(std::size_t i) const { return Peer::distance(this->pair(i)); }
};

// Adds the rows of a peer for what it answers.
template <class Peer, class Queries>
void add(std::vector<Row>& rows, const std::string& name, const char* version, int stride = 1) {
  if constexpr (requires { &Peer::collide; }) {
    rows.push_back(row<Collide<Peer, Queries>>(name, version, stride));
  }
  if constexpr (requires { &Peer::distance; }) {
    rows.push_back(row<Distance<Peer, Queries>>(name, version, stride));
  }
}

template <class Peer>
void add_both(std::vector<Row>& rows, const std::string& name, const char* version,
              int stride = 1) {
  add<Peer, Prepared<Peer>>(rows, name, version, stride);
  add<Peer, FromVertices<Peer>>(rows, name + " from vertices", version, stride);
}

}  // namespace bench
