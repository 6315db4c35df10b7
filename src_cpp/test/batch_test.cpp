// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Pairs in a batch. gjk_verify compares them with the answers one by one.
#include "gjk/narrow/batch.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "gjk/query.hpp"
#include "isas.hpp"
#include "pairs.hpp"

namespace gjk::batch_test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Pairs apart, touching, overlapping and broken, some round, some known to within an error.
class Pairs {
 public:
  explicit Pairs(std::uint64_t seed) : random_(seed) {}

  // Of points to outlines of more vertices than any vector holds.
  void add() {
    const std::int64_t size = upto(8) == 0 ? 4000 : 24;  // the large ones have some 100 vertices
    add(test::random_outline(random_, upto(upto(4) == 0 ? 2000 : 40) + 1, size),
        test::random_outline(random_, upto(30) + 1, 24, upto(72) - 24, upto(72) - 24));
  }
  // Of `vertices` each.
  void add_alike(int vertices) {
    add(outline_of(vertices, 0, 0), outline_of(vertices, upto(72) - 24, upto(72) - 24));
  }
  const std::vector<ConvexPair>& list() const { return list_; }

 private:
  int upto(std::uint64_t n) { return static_cast<int>(random_() % n); }

  test::Outline outline_of(int vertices, std::int64_t x, std::int64_t y) {
    test::Outline outline;
    while (outline.size() != vertices) {
      outline = test::random_outline(random_, vertices * vertices / 4, 24, x, y);
    }
    return outline;
  }

  void add(test::Outline a, test::Outline b) {
    outlines_.push_back(std::move(a));
    outlines_.push_back(std::move(b));
    for (std::size_t k = outlines_.size() - 2; k < outlines_.size(); ++k) {
      Convex shape = outlines_[k].convex(upto(6) == 0 ? 0.5 : 0.0);
      if (upto(6) == 0) shape.error = 1e-9;
      if (upto(50) == 0) shape = outlines_[k].convex(kNan);
      shapes_.push_back(shape);
    }
    list_.push_back({&shapes_[shapes_.size() - 2], &shapes_.back()});
  }

  std::mt19937_64 random_;
  std::deque<test::Outline> outlines_;  // which leave in place what they hold
  std::deque<Convex> shapes_;
  std::vector<ConvexPair> list_;
};

const Pairs& all_pairs() {
  static const Pairs pairs = [] {
    Pairs made(20261120);
    for (int i = 0; i < 20000; ++i) made.add();
    for (const int vertices : {4, 8}) {  // blocks of such are started by columns
      for (int i = 0; i < 5000; ++i) made.add_alike(vertices);
    }
    return made;
  }();
  return pairs;
}

TEST(Batch, bounds_are_alike_on_all_instruction_sets) {
  const std::vector<ConvexPair>& pairs = all_pairs().list();
  const simd::Isa usual = simd::isa;
  std::vector<std::vector<Bounds>> bounds;
  for (const simd::Isa isa : verify::available_isas()) {
    simd::isa = isa;
    bounds.emplace_back();
    for (const auto& [p, q] : pairs) bounds.back().push_back(distance(*p, *q));
  }
  simd::isa = usual;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (!in_domain(*pairs[i].p, *pairs[i].q)) continue;
    for (const std::vector<Bounds>& others : bounds) {
      ASSERT_EQ(others[i].lower, bounds[0][i].lower) << i;
      ASSERT_EQ(others[i].upper, bounds[0][i].upper) << i;
    }
  }
}

TEST(Batch, a_pair_is_answered_alike_wherever_it_stands) {
  const std::vector<ConvexPair>& pairs = all_pairs().list();
  std::vector<Verdict> all_verdicts(pairs.size());
  collide_pairs(pairs, 0.0, all_verdicts);
  std::size_t begin = 0;
  for (const std::size_t count : {1u, 3u, 31u, 32u, 33u, 66u}) {
    const std::span<const ConvexPair> some(&pairs[begin], count);
    std::vector<Verdict> verdicts(count);
    collide_pairs(some, 0.0, verdicts);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(verdicts[i], all_verdicts[begin + i]);
    }
    begin += count;
  }
}

TEST(Batch, a_margin_that_is_none_is_unknown) {
  const std::vector<ConvexPair>& pairs = all_pairs().list();
  for (const double margin : {-1.0, kNan, std::numeric_limits<double>::infinity()}) {
    std::vector<Verdict> verdicts(100, Verdict::free);
    collide_pairs(std::span(pairs).first(100), margin, verdicts);
    for (const Verdict verdict : verdicts) EXPECT_EQ(verdict, Verdict::unknown);
  }
}

TEST(Batch, no_pairs_are_no_answers) { collide_pairs({}, 0.0, {}); }

}  // namespace
}  // namespace gjk::batch_test
