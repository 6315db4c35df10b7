// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
//
// Which broad phase: the packed tree of the scene beside a uniform grid and sweep and prune, each
// with the same boxes, egos and narrow phase. Their verdicts are compared while timing.
//
//   broad_phase [PASSES]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "gjk/broad/bvh.hpp"
#include "gjk/query.hpp"
#include "gjk/scene/packed_parts.hpp"
#include "gjk/shape/shape.hpp"

namespace {

using gjk::Box;
using gjk::FloatBox;

bool meet(const FloatBox& a, const FloatBox& b) noexcept {
  return (static_cast<int>(a.low_x <= b.high_x) & static_cast<int>(a.high_x >= b.low_x) &
          static_cast<int>(a.low_y <= b.high_y) & static_cast<int>(a.high_y >= b.low_y)) != 0;
}

struct Tree {
  static constexpr const char* kName = "packed tree";
  gjk::Bvh bvh;

  explicit Tree(const std::vector<Box>& boxes) {
    bvh.arrange<2>(boxes.size(),
                   [&](std::size_t i) noexcept { return gjk::Bvh::key_at(boxes[i].center()); });
    bvh.fill([&](std::size_t i) noexcept { return boxes[i]; });
    bvh.update();
  }
  void move(std::uint32_t item, const Box& box) {
    bvh.set(item, box);
    bvh.update(item);
  }
  void finish() {}
  template <class Visit>
  void overlapping(const Box& box, Visit&& visit) const {
    bvh.overlapping(FloatBox::around(box), {}, visit);
  }
};

// Cells twice as wide as the mean box, with the boxes that meet them.
struct Grid {
  static constexpr const char* kName = "grid";
  struct Entry {
    FloatBox box;
    std::uint32_t item;
  };
  std::vector<std::vector<Entry>> cells;
  std::vector<FloatBox> boxes;
  float cell, low_x, low_y;
  int columns, rows;

  explicit Grid(const std::vector<Box>& all) {
    Box around;
    double sides = 0.0;
    for (const Box& box : all) {
      around.include(box);
      sides += box.high.x - box.low.x + box.high.y - box.low.y;
      boxes.push_back(FloatBox::around(box));
    }
    cell = static_cast<float>(sides / static_cast<double>(all.size()));
    low_x = FloatBox::below(around.low.x);
    low_y = FloatBox::below(around.low.y);
    columns = 1 + static_cast<int>((FloatBox::above(around.high.x) - low_x) / cell);
    rows = 1 + static_cast<int>((FloatBox::above(around.high.y) - low_y) / cell);
    cells.resize(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows));
    for (std::uint32_t i = 0; i < boxes.size(); ++i) {
      for_cells(boxes[i], [&](auto& at, int, int) {
        at.push_back({boxes[i], i});
        return false;
      });
    }
  }
  void move(std::uint32_t item, const Box& box) {
    for_cells(boxes[item], [&](auto& at, int, int) {
      std::erase_if(at, [item](const Entry& entry) { return entry.item == item; });
      return false;
    });
    boxes[item] = FloatBox::around(box);
    for_cells(boxes[item], [&](auto& at, int, int) {
      at.push_back({boxes[item], item});
      return false;
    });
  }
  void finish() {}
  int column(float x) const {
    return std::clamp(static_cast<int>((x - low_x) / cell), 0, columns - 1);
  }
  int row(float y) const { return std::clamp(static_cast<int>((y - low_y) / cell), 0, rows - 1); }
  template <class Visit>
  void for_cells(const FloatBox& box, Visit&& visit) {
    for (int r = row(box.low_y); r <= row(box.high_y); ++r) {
      for (int c = column(box.low_x); c <= column(box.high_x); ++c) {
        if (visit(cells[static_cast<std::size_t>(r * columns + c)], c, r)) return;
      }
    }
  }
  template <class Visit>
  void overlapping(const Box& exact, Visit&& visit) const {
    const FloatBox box = FloatBox::around(exact);
    const int first_column = column(box.low_x), last_column = column(box.high_x);
    for (int r = row(box.low_y), first_row = r; r <= row(box.high_y); ++r) {
      for (int c = first_column; c <= last_column; ++c) {
        for (const Entry& entry : cells[static_cast<std::size_t>(r * columns + c)]) {
          if (!meet(entry.box, box)) continue;
          // Once: in the first cell that both have.
          if (c > first_column && column(entry.box.low_x) < c) continue;
          if (r > first_row && row(entry.box.low_y) < r) continue;
          if (visit(entry.item)) return;
        }
      }
    }
  }
};

// Boxes by their lower x.
struct Sweep {
  static constexpr const char* kName = "sweep and prune";
  std::vector<FloatBox> boxes;  // by item
  std::vector<FloatBox> order;
  std::vector<std::uint32_t> items;
  float widest = 0.0F;

  explicit Sweep(const std::vector<Box>& all) {
    for (const Box& box : all) boxes.push_back(FloatBox::around(box));
    items.resize(all.size());
    std::iota(items.begin(), items.end(), 0U);
    std::sort(items.begin(), items.end(), [this](auto a, auto b) { return less(a, b); });
    for (const std::uint32_t item : items) order.push_back(boxes[item]);
    measure();
  }
  bool less(std::uint32_t a, std::uint32_t b) const { return boxes[a].low_x < boxes[b].low_x; }
  void measure() {
    for (const FloatBox& box : boxes) widest = std::max(widest, box.high_x - box.low_x);
  }
  void move(std::uint32_t item, const Box& box) { boxes[item] = FloatBox::around(box); }
  void finish() {  // they are nearly in order: insertion
    for (std::size_t i = 0; i < items.size(); ++i) {
      const std::uint32_t item = items[i];
      std::size_t k = i;
      for (; k > 0 && less(item, items[k - 1]); --k) {
        items[k] = items[k - 1];
        order[k] = order[k - 1];
      }
      items[k] = item;
      order[k] = boxes[item];
    }
    measure();
  }
  template <class Visit>
  void overlapping(const Box& exact, Visit&& visit) const {
    const FloatBox box = FloatBox::around(exact);
    const float from = std::nextafter(box.low_x - widest, -INFINITY);
    auto at = std::partition_point(order.begin(), order.end(),
                                   [from](const FloatBox& b) { return b.low_x < from; });
    for (; at != order.end() && at->low_x <= box.high_x; ++at) {
      if (!meet(*at, box)) continue;
      if (visit(items[static_cast<std::size_t>(at - order.begin())])) return;
    }
  }
};

struct Field {
  std::mt19937_64 random{1};
  double half;
  bool uneven;
  gjk::Shape ego;
  gjk::PackedParts obstacles;
  std::vector<gjk::Shape> shapes;
  std::vector<gjk::Pose> poses;
  std::vector<Box> boxes;

  // One obstacle of 1-5 x 1-3 m per 100 m^2. Uneven: half of them on a hundredth of the area, and
  // one in fifty a wall of 100 m.
  Field(std::size_t count, bool is_uneven)
      : half(5.0 * std::sqrt(static_cast<double>(count))), uneven(is_uneven), ego(box(4.8, 1.8)) {
    obstacles.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      const bool wall = uneven && i % 50 == 0;
      shapes.push_back(wall ? box(100.0, 0.2) : box(in(1.0, 5.0), in(1.0, 3.0)));
      poses.push_back(somewhere());
      if (uneven && i % 2 == 1) poses[i] = {0.1 * poses[i].x, 0.1 * poses[i].y, poses[i].yaw};
      obstacles.add(shapes[i].part(0), gjk::Transform::from_pose(poses[i]), 0);
      boxes.push_back(obstacles.part(i).bounds());
    }
  }
  static gjk::Shape box(double length, double width) {
    const double x = 0.5 * length, y = 0.5 * width;
    const std::vector<gjk::Vec2> corners{{x, y}, {-x, y}, {-x, -y}, {x, -y}};
    gjk::Shape shape;
    shape.add_part(corners, 0.0);
    return shape;
  }
  double in(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  }
  gjk::Pose somewhere() { return {in(-half, half), in(-half, half), in(-3.2, 3.2)}; }
  void move(std::size_t i) {
    poses[i].x += in(-0.5, 0.5);
    poses[i].y += in(-0.5, 0.5);
    obstacles.replace(i, shapes[i].part(0), gjk::Transform::from_pose(poses[i]));
    boxes[i] = obstacles.part(i).bounds();
  }
};

// ns
double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

struct Times {
  std::vector<double> query, update;
  double build = 0.0;
};

template <class BroadPhase>
struct Runner {
  explicit Runner(const Field& field) : broad(timed(field, times.build)) {}

  static BroadPhase timed(const Field& field, double& build) {
    const auto start = std::chrono::steady_clock::now();
    BroadPhase made(field.boxes);
    build = since(start);
    return made;
  }
  // The first poses are for the caches.
  void query(const Field& field, const std::vector<gjk::Pose>& poses, std::vector<char>& hits) {
    gjk::PackedParts ego;
    ego.add(field.ego.part(0), {}, 0);
    auto start = std::chrono::steady_clock::now();
    for (std::size_t n = 0; n < poses.size(); ++n) {
      if (n == kFirst) start = std::chrono::steady_clock::now();
      ego.replace(0, field.ego.part(0), gjk::Transform::from_pose(poses[n]));
      bool hit = false;
      broad.overlapping(ego.part(0).bounds(), [&](std::uint32_t item) {
        hit = gjk::collide(ego.convex(0), field.obstacles.convex(item)) == gjk::Verdict::collision;
        return hit;
      });
      hits[n] = static_cast<char>(hit);
    }
    times.query.push_back(since(start) / static_cast<double>(poses.size() - kFirst));
  }
  void update(const Field& field, const std::vector<std::uint32_t>& moved) {
    const auto start = std::chrono::steady_clock::now();
    for (const std::uint32_t item : moved) broad.move(item, field.boxes[item]);
    broad.finish();
    times.update.push_back(since(start) / static_cast<double>(moved.size()));
  }

  static constexpr std::size_t kFirst = 500;
  Times times;
  BroadPhase broad;
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

enum class Kind { even, sparse, dense };

// A row: tree, grid, sweep on one field.
void run(std::size_t count, Kind kind, int passes) {
  constexpr std::size_t kPoses = 1500;
  const bool uneven = kind != Kind::even;
  Field field(count, uneven);
  Runner<Tree> tree(field);
  Runner<Grid> grid(field);
  Runner<Sweep> sweep(field);
  std::vector<gjk::Pose> poses(kPoses);
  std::vector<char> hits[3];
  for (std::vector<char>& each : hits) each.resize(kPoses);
  for (int pass = 0; pass < passes; ++pass) {
    for (gjk::Pose& pose : poses) {
      pose = field.somewhere();
      if (kind == Kind::dense) pose = {0.1 * pose.x, 0.1 * pose.y, pose.yaw};
    }
    tree.query(field, poses, hits[0]);
    grid.query(field, poses, hits[1]);
    sweep.query(field, poses, hits[2]);
    if (hits[0] != hits[1] || hits[0] != hits[2]) {
      std::fprintf(stderr, "the broad phases disagree\n");
      std::exit(1);
    }
    std::vector<std::uint32_t> moved(std::max<std::size_t>(1, count / 100));
    for (std::uint32_t& item : moved) {
      item = static_cast<std::uint32_t>(field.random() % count);
      field.move(item);
    }
    tree.update(field, moved);
    grid.update(field, moved);
    sweep.update(field, moved);
  }
  constexpr const char* kNames[] = {"even", "uneven, all over", "uneven, dense part"};
  std::printf("| %s, %zu ", kNames[static_cast<int>(kind)], count);
  for (const Times* t : {&tree.times, &grid.times, &sweep.times}) {
    std::printf("| %.0f | %.0f | %.0f ", median(t->query), median(t->update),
                t->build / static_cast<double>(count));
  }
  std::printf("|\n");
}

}  // namespace

int main(int argc, char** argv) {
  const int passes = argc > 1 ? std::atoi(argv[1]) : 41;
  std::printf("| obstacles ");
  for (const char* name : {Tree::kName, Grid::kName, Sweep::kName}) {
    std::printf("| %s | update | build ", name);
  }
  std::printf("|\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
  for (const Kind kind : {Kind::even, Kind::sparse, Kind::dense}) {
    for (const std::size_t count : {10, 100, 1'000, 10'000, 100'000}) run(count, kind, passes);
  }
}
