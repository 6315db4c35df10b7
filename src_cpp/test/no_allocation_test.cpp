// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// A query takes no memory from the heap: it can run in a real-time loop.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "gjk/motion/cast.hpp"
#include "gjk/narrow/batch.hpp"
#include "gjk/narrow/trace.hpp"
#include "gjk/query.hpp"
#include "gjk/scene/gradient.hpp"
#include "gjk/scene/nearest_free.hpp"
#include "gjk/scene/ray_cast.hpp"
#include "gjk/scene/region.hpp"
#include "gjk/scene/scene.hpp"
#include "isas.hpp"
#include "pairs.hpp"

namespace {
int allocations = 0;
}

// Not inlined: GCC would pair the malloc inside with the delete outside and warn.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc{};
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  ++allocations;
  const auto line = static_cast<std::size_t>(alignment);  // of which the size must be a multiple
  if (void* memory = std::aligned_alloc(line, (size + line - 1) / line * line)) return memory;
  throw std::bad_alloc{};
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace gjk::no_allocation_test {
namespace {

TEST(Allocation, the_counter_counts) {
  const int before = allocations;
  const test::Outline outline{{1.0}, {2.0}};
  EXPECT_GT(allocations, before);

  struct alignas(64) Line {
    double values[8];
  };
  const int between = allocations;
  const std::vector<Line> lines(3);
  EXPECT_GT(allocations, between);
}

TEST(Allocation, no_query_allocates) {
  std::mt19937_64 random(31);
  int verdicts[4] = {0, 0, 0, 0};
  for (int i = 0; i < 3000; ++i) {
    std::uniform_int_distribution<std::int64_t> place(-6, 6);
    const test::Outline p = test::random_outline(random, 10, 6);
    const test::Outline q = test::random_outline(random, 10, 6, place(random), place(random));
    const Convex a = p.convex(0.5 * (i % 2)), b = q.convex();
    const Transform turn = Transform::from_pose({0.5, -0.25, 0.1 * i});

    Rooms rooms;
    const int before = allocations;
    ++verdicts[static_cast<int>(collide(a, b))];
    ++verdicts[static_cast<int>(classify(a, b, 1.0))];
    ++verdicts[static_cast<int>(collide(a, turn, b, {}, rooms))];
    const Closest near = closest(a, b);
    const Closest turned = closest(rooms.p.place(a, turn), rooms.q.place(b, turn));
    const Bounds bounds = distance(a, b);
    // Two vertices twice, so that the hull is computed.
    const double x[] = {a.x[0], b.x[0], a.x[0], b.x[0]};
    const double y[] = {a.y[0], b.y[0], a.y[0], b.y[0]};
    const Hull hull{x, y, 4, 0.5}, other{b.x, b.y, b.size};
    EXPECT_EQ(collide(hull, other), Verdict::collision);  // b's vertex belongs to both
    const Bounds of_hulls = distance(hull, other);
    const Closest of_points = closest(hull, other);
    const ConvexPair pair{&a, &b};
    Verdict verdict[1];
    collide_pairs({&pair, 1}, 0.0, verdict);
    const Trace steps = trace(a, b);
    const Piece away = Piece::moving({0.5, -0.25, 0.1 * i}, {3.0, 1.0, 0.5});
    const Piece still = Piece::still({});
    const Impact impact =
        time_of_impact(Moving::along(a, {&away, 1}), Moving::along(b, {&still, 1}), 0.0, 2.0);
    const Approach approach =
        closest_approach(Moving::along(a, {&away, 1}), Moving::along(b, {&still, 1}), 0.0, 2.0);
    const Impact swept = shape_cast(a, {}, {1.0, 0.5}, 20.0, b, {});
    const Impact ray = ray_cast({0.5, -0.25}, {1.0, 0.5}, 20.0, b, {});
    EXPECT_EQ(allocations, before);
    EXPECT_EQ(impact.status, Status::success);
    EXPECT_EQ(approach.status, Status::success);
    EXPECT_EQ(swept.status, Status::success);
    EXPECT_EQ(ray.status, Status::success);
    EXPECT_GT(steps.size, 0);

    EXPECT_EQ(of_hulls.upper, 0.0);
    EXPECT_EQ(of_points.status, Status::success);
    EXPECT_EQ(near.status, Status::success);
    EXPECT_EQ(turned.status, Status::success);
    EXPECT_LE(bounds.lower, bounds.upper);
  }
  for (const Verdict v : {Verdict::free, Verdict::collision, Verdict::margin}) {
    EXPECT_GT(verdicts[static_cast<int>(v)], 100);
  }
}

// Full blocks and one that is not, with each instruction set: of quadrilaterals, of octagons, which
// columns start, and of all sizes.
TEST(Allocation, no_batch_allocates) {
  std::mt19937_64 random(32);
  std::uniform_int_distribution<std::int64_t> place(-24, 24);
  for (const int vertices : {4, 8, 0}) {
    std::vector<test::Outline> outlines;
    while (outlines.size() < 200) {
      const test::Outline outline = test::random_outline(random, vertices == 0 ? 30 : 2 * vertices,
                                                         24, place(random), place(random));
      if (vertices == 0 || outline.size() == vertices) outlines.push_back(outline);
    }
    std::vector<Convex> shapes;
    for (const test::Outline& outline : outlines) shapes.push_back(outline.convex());
    std::vector<ConvexPair> pairs;
    for (std::size_t i = 0; i < shapes.size(); i += 2) {
      pairs.push_back({&shapes[i], &shapes[i + 1]});
    }
    std::vector<Verdict> verdicts(pairs.size());

    const simd::Isa usual = simd::isa;
    const std::vector<simd::Isa> isas = verify::available_isas();
    const int before = allocations;
    for (const simd::Isa isa : isas) {
      simd::isa = isa;
      collide_pairs(pairs, 0.0, verdicts);
      classify_pairs(pairs, 1.0, verdicts);
    }
    EXPECT_EQ(allocations, before) << vertices;
    simd::isa = usual;
    EXPECT_GT(std::count(verdicts.begin(), verdicts.end(), Verdict::free), 10);
    EXPECT_GT(std::count(verdicts.begin(), verdicts.end(), Verdict::collision), 10);
  }
}

TEST(Allocation, a_scene_allocates_for_its_first_poses_only) {
  const std::vector<Vec2> vertices{{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
  Shape square;
  square.add_part(vertices, 0.25);
  Scene scene;
  for (int i = 0; i < 100; ++i) {
    const Pose pose{3.0 * i, 2.0 * i, 0.3 * i};
    const Piece piece = Piece::moving(pose, {1.0, -0.1 * i, 0.2});
    scene.add(square, pose, {&piece, 1});
  }
  std::vector<Region::Segment> around;  // of the first half of the poses
  const Vec2 corners[] = {{-50, -50}, {150, -50}, {150, 100}, {-50, 100}};
  for (std::size_t i = 0; i < 4; ++i) around.push_back({corners[i], corners[(i + 1) % 4]});
  scene.set_region(std::make_shared<const Region>(around));
  scene.build();
  Scene::Ego ego(square);
  std::vector<Nearest> nearest;
  (void)scene.check(ego, Pose{}, {});
  (void)scene.check(ego, Pose{}, 0.0, {});
  scene.nearest(ego, Pose{}, 100, 1e6, nearest);
  GradientQuery query(scene, square, 100);
  std::vector<Gradient> gradients(100);
  (void)query.at(Pose{}, 0.0, gradients);
  NearestFreeQuery free_query(scene, square);
  const NearestFreeOptions free_options{.max_shift = 3.0, .max_turn = 0.1};
  (void)free_query.at(Pose{}, free_options);
  const RayCaster rays(scene, {});

  const int before = allocations;
  for (int i = 0; i < 1000; ++i) {
    const Pose pose{0.3 * i, 0.2 * i, 0.2 * i};
    (void)query.at(pose, 0.004 * i, gradients);
    (void)query.at(pose, gradients);
    for (const Mode mode : {Mode::collide, Mode::distance, Mode::witness}) {
      (void)scene.check(ego, pose, 0.004 * i, {.margin = 0.5, .mode = mode});
      (void)scene.check(ego, pose, {.margin = 0.5, .mode = mode});
    }
    scene.nearest(ego, pose, 5, 1e6, nearest);
    (void)rays.cast({pose.x + 1.0, pose.y}, 1e6, 1e-9);
  }
  (void)free_query.at(Pose{}, free_options);
  EXPECT_EQ(allocations, before);
}

}  // namespace
}  // namespace gjk::no_allocation_test
