// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// This package's rows: as shipped, in batches, the paper's barycode loop alone, and with
// hill-climbing support.
#include "gjk/gjk.hpp"
#include "rows.hpp"
#include "soa.hpp"

namespace bench {
namespace {

// A type of its own, so that whatever collide() and distance() choose for a Convex is not chosen
// here: the generic loop runs.
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
    return gjk::collide(this->a(i), this->b(i)) == gjk::Verdict::collision;
  }
};

template <class Shape>
struct Distance : Views<Shape> {
  static constexpr double tolerance = 1e-9;
  double operator()(std::size_t i) const { return gjk::distance(this->a(i), this->b(i)).upper; }
};

// All pairs of a chunk in one call.
template <class Answer>
class Batch : public Views<> {
 public:
  void load(std::span<const Case* const> cases) {
    Views<>::load(cases);
    pairs_.clear();
    for (std::size_t i = 0; i < cases.size(); ++i) pairs_.push_back({&a(i), &b(i)});
    answers_.resize(cases.size());
  }

 protected:
  std::vector<gjk::ConvexPair> pairs_;
  std::vector<Answer> answers_;
};

struct CollideBatch : Batch<gjk::Verdict> {
  static constexpr double tolerance = 0.0;
  void run() { gjk::collide_pairs(pairs_, 0.0, answers_); }
  bool operator()(std::size_t i) const { return answers_[i] == gjk::Verdict::collision; }
};

struct DistanceBatch : Batch<gjk::Bounds> {
  static constexpr double tolerance = 1e-9;
  void run() { gjk::distance_pairs(pairs_, answers_); }
  double operator()(std::size_t i) const { return answers_[i].upper; }
};

}  // namespace

void add_gjk_rows(std::vector<Row>& rows) {
  rows.push_back(row<Collide<gjk::Convex>>("gjk"));
  rows.push_back(row<CollideBatch>("gjk batch"));
  rows.push_back(row<Collide<Generic>>("gjk barycode"));
  rows.push_back(row<Collide<HillClimbing>>("gjk barycode HCS"));
  rows.push_back(row<Distance<gjk::Convex>>("gjk"));
  rows.push_back(row<DistanceBatch>("gjk batch"));
  rows.push_back(row<Distance<Generic>>("gjk barycode"));
  rows.push_back(row<Distance<HillClimbing>>("gjk barycode HCS"));
}

}  // namespace bench
