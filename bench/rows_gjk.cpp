// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// This package's rows: as shipped, in batches, the paper's barycode loop alone, and with
// hill-climbing support.
#include <concepts>
#include <utility>

#include "gjk/gjk.hpp"
#include "posed.hpp"
#include "rows.hpp"
#include "soa.hpp"

namespace bench {
namespace {

// A type of its own: the loop runs from the paper's start, without the steps before it.
struct Generic : gjk::Convex {};

// The paper's HCS: from a vertex to its better neighbour until neither is better. Starts where the
// last search of this query ended.
struct HillClimbing : gjk::Convex {
  mutable int at = 0;

  int support(gjk::Vec2 d) const noexcept {
    const auto along = [&](int i) { return x[i] * d.x + y[i] * d.y; };
    int best = at;
    double farthest = along(best);
    for (const int step : {1, size - 1}) {
      bool moved = false;
      for (;;) {
        int next = best + step;
        if (next >= size) next -= size;
        const double value = along(next);
        if (!(value > farthest)) break;
        farthest = value;
        best = next;
        moved = true;
      }
      if (moved) break;
    }
    return at = best;
  }
};

template <class Shape>
struct Collide : Views<Shape> {
  static constexpr double tolerance = 0.0;
  bool operator()(std::size_t i) const {
    const Shape& a = this->a(i);
    const Shape& b = this->b(i);
    if constexpr (std::same_as<Shape, gjk::Convex>) {
      return gjk::collide(a, b) == gjk::Verdict::collision;
    } else {
      gjk::Simplex start = gjk::detail::first_vertices(a, b);
      return gjk::detail::collide_from(a, b, 0.0, start) == gjk::Verdict::collision;
    }
  }
};

template <class Shape>
struct Distance : Views<Shape> {
  static constexpr double tolerance = 1e-9;
  double operator()(std::size_t i) const {
    const Shape& a = this->a(i);
    const Shape& b = this->b(i);
    if constexpr (std::same_as<Shape, gjk::Convex>) {
      return gjk::distance(a, b).upper;
    } else {
      gjk::exact::Pair pair;
      return gjk::detail::separate_certainly(a, b, gjk::detail::first_vertices(a, b), &pair)
          .bounds.upper;
    }
  }
};

// Shapes in their own frames, with their transforms.
class AtPoses {
 public:
  static constexpr double tolerance = kPeerTolerance;  // the transforms are rounded

  void load(std::span<const Case* const> cases) {
    flat_.clear(cases);
    a_.clear();
    b_.clear();
    for (const Case* c : cases) {
      a_.push_back(placeable(posed(c->a)));
      b_.push_back(placeable(posed(c->b)));
    }
  }

 protected:
  struct Placeable {
    gjk::Convex shape;
    gjk::Transform at;
  };

  std::vector<Placeable> a_;
  std::vector<Placeable> b_;
  mutable gjk::Rooms rooms_;

 private:
  Placeable placeable(const Posed& of) { return {flat_.view(of.local), of.at}; }

  Flat flat_;
};

struct CollideAtPoses : AtPoses {
  bool operator()(std::size_t i) const {
    return gjk::collide(a_[i].shape, a_[i].at, b_[i].shape, b_[i].at, rooms_) ==
           gjk::Verdict::collision;
  }
};

struct DistanceAtPoses : AtPoses {
  double operator()(std::size_t i) const {
    return gjk::distance(rooms_.p.place(a_[i].shape, a_[i].at),
                         rooms_.q.place(b_[i].shape, b_[i].at))
        .upper;
  }
};

// The vertices as a user has them. Nothing is known of them before the query.
class FromVertices {
 public:
  void load(std::span<const Case* const> cases) {
    flat_.clear(cases);
    hulls_.clear();
    for (const Case* c : cases) hulls_.emplace_back(flat_.add(c->a), flat_.add(c->b));
  }

 protected:
  std::vector<std::pair<gjk::Hull, gjk::Hull>> hulls_;

 private:
  Flat flat_;
};

struct CollideFromVertices : FromVertices {
  static constexpr double tolerance = 0.0;
  bool operator()(std::size_t i) const {
    return gjk::collide(hulls_[i].first, hulls_[i].second) == gjk::Verdict::collision;
  }
};

struct DistanceFromVertices : FromVertices {
  static constexpr double tolerance = 1e-9;
  double operator()(std::size_t i) const {
    return gjk::distance(hulls_[i].first, hulls_[i].second).upper;
  }
};

// All pairs of a chunk in one call.
class CollideBatch : public Views<> {
 public:
  static constexpr double tolerance = 0.0;

  void load(std::span<const Case* const> cases) {
    Views<>::load(cases);
    pairs_.clear();
    for (std::size_t i = 0; i < cases.size(); ++i) pairs_.push_back({&a(i), &b(i)});
    answers_.resize(cases.size());
  }
  void run() { gjk::collide_pairs(pairs_, 0.0, answers_); }
  bool operator()(std::size_t i) const { return answers_[i] == gjk::Verdict::collision; }

 private:
  std::vector<gjk::ConvexPair> pairs_;
  std::vector<gjk::Verdict> answers_;
};

}  // namespace

void add_gjk_rows(std::vector<Row>& rows) {
  rows.push_back(row<Collide<gjk::Convex>>("gjk"));
  rows.push_back(row<CollideBatch>("gjk batch"));
  rows.push_back(row<CollideAtPoses>("gjk at poses"));
  rows.push_back(row<CollideFromVertices>("gjk from vertices"));
  rows.push_back(row<Collide<Generic>>("gjk barycode"));
  rows.push_back(row<Collide<HillClimbing>>("gjk barycode HCS"));
  rows.push_back(row<Distance<gjk::Convex>>("gjk"));
  rows.push_back(row<DistanceAtPoses>("gjk at poses"));
  rows.push_back(row<DistanceFromVertices>("gjk from vertices"));
  rows.push_back(row<Distance<Generic>>("gjk barycode"));
  rows.push_back(row<Distance<HillClimbing>>("gjk barycode HCS"));
}

}  // namespace bench
