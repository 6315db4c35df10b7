// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Two scenes pair by pair. gjk_verify compares the verdicts with exact ones.
#include "gjk/scene/pairwise.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "pairs.hpp"

namespace gjk::pairwise_test {
namespace {

using test::shape_of;

Scene scene_of(std::mt19937_64& random, int count, const Pose& pose) {
  std::uniform_int_distribution<std::int64_t> place(-15, 15);
  Scene scene;
  for (int i = 0; i < count; ++i) {
    scene.add(shape_of(test::random_outline(random, 7, 6, place(random), place(random))), pose);
  }
  scene.build();
  return scene;
}

TEST(Pairwise, listed_pairs_and_threads_change_nothing) {
  std::mt19937_64 random(62);
  const Scene a = scene_of(random, 40, {});
  const Scene b = scene_of(random, 30, {1.0, 2.0, 0.5});
  const CheckOptions options{.margin = 1.0, .mode = Mode::witness};
  std::vector<PairResult> all(1200);
  check_pairs(a, b, {}, options, all);
  std::vector<IndexPair> pairs;
  for (int n = 0; n < 1000; ++n) {
    pairs.push_back(
        {static_cast<std::uint32_t>(random() % 40), static_cast<std::uint32_t>(random() % 30)});
  }
  bool seen[4] = {false, false, false, false};
  for (const unsigned threads : {1U, 3U}) {
    std::vector<PairResult> some(pairs.size());
    check_pairs(a, b, pairs, options, some, threads);
    for (std::size_t n = 0; n < pairs.size(); ++n) {
      const PairResult& same = all[30 * pairs[n].a + pairs[n].b];
      ASSERT_EQ(some[n].verdict, same.verdict);
      ASSERT_EQ(some[n].closest.distance, same.closest.distance);
      ASSERT_EQ(some[n].closest.lower_bound, same.closest.lower_bound);
      ASSERT_EQ(some[n].closest.point_a, same.closest.point_a);
      seen[static_cast<int>(some[n].verdict)] = true;
    }
  }
  EXPECT_TRUE(seen[static_cast<int>(Verdict::free)]);
  EXPECT_TRUE(seen[static_cast<int>(Verdict::collision)]);
  EXPECT_TRUE(seen[static_cast<int>(Verdict::margin)]);
}

TEST(Pairwise, bad_input_is_never_free) {
  const test::Outline square{{0, 1, 1, 0}, {0, 0, 1, 1}};
  const auto verdict = [&](const Shape& shape, const Pose& pose, const CheckOptions& options) {
    Scene a, b;
    a.add(shape_of(square), {});
    a.build();
    b.add(shape, pose);
    b.build();
    std::vector<PairResult> results(2);
    check_pairs(a, b, {}, options, std::span(results).first(1));
    check_pairs(b, a, {}, options, std::span(results).last(1));
    EXPECT_EQ(results[0].verdict, results[1].verdict);
    return results[0].verdict;
  };
  for (const Mode mode : {Mode::collide, Mode::distance}) {
    ASSERT_EQ(verdict(shape_of(square), {9.0, 0.0, 0.0}, {.mode = mode}), Verdict::free);
    EXPECT_NE(verdict(shape_of(square), {kNaN, 0.0, 0.0}, {.mode = mode}), Verdict::free);
    EXPECT_NE(verdict(shape_of(square), {9.0, 0.0, kNaN}, {.mode = mode}), Verdict::free);
    EXPECT_NE(verdict(shape_of(square, kNaN), {9.0, 0.0, 0.0}, {.mode = mode}), Verdict::free);
    EXPECT_NE(verdict(shape_of({{9, kNaN}, {9, 9}}), {}, {.mode = mode}), Verdict::free);
    EXPECT_NE(verdict(Shape{}, {9.0, 0.0, 0.0}, {.mode = mode}), Verdict::free);
    EXPECT_NE(verdict(shape_of(square), {9.0, 0.0, 0.0}, {.margin = kNaN, .mode = mode}),
              Verdict::free);
  }
}

}  // namespace
}  // namespace gjk::pairwise_test
