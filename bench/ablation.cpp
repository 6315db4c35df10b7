// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
//
// What a step of the cascade is worth: the kernel's cells and workloads of scenes, in ns. Built
// once with all steps and once without each (-DGJK_WITHOUT=STEP); bench/ablation.py runs them in
// turn.
//
//   ablation [PASSES]     prints "WORKLOAD NS" for each, the least of the passes
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "dataset.hpp"
#include "gjk/gjk.hpp"
#include "posed.hpp"

namespace {

using namespace gjk;

// Keeps the compiler from leaving out what is timed.
double sink = 0.0;

double seconds(const std::function<void()>& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Workload {
  std::string name;
  double queries;  // in one run
  std::function<void()> run;
  double least = std::numeric_limits<double>::infinity();  // s
};

// The pairs of a cell, in world coordinates and at poses.
struct Cell {
  bench::Dataset dataset;
  std::vector<Convex> a, b;
  std::vector<bench::Posed> posed_a, posed_b;
  std::vector<Convex> local_a, local_b;
  Rooms rooms;

  Cell(bench::Kind kind, int n) : dataset(bench::make_dataset(kind, n, 4096, 1)) {
    for (const bench::Case& c : dataset.cases) {
      a.push_back(c.a.view());
      b.push_back(c.b.view());
      posed_a.push_back(bench::posed(c.a));
      posed_b.push_back(bench::posed(c.b));
    }
    for (std::size_t i = 0; i < a.size(); ++i) {
      local_a.push_back(posed_a[i].local.view());
      local_b.push_back(posed_b[i].local.view());
    }
  }
  void collide() {
    for (std::size_t i = 0; i < a.size(); ++i) sink += is_free(gjk::collide(a[i], b[i])) ? 1 : 0;
  }
  void distance() {
    for (std::size_t i = 0; i < a.size(); ++i) sink += gjk::distance(a[i], b[i]).lower;
  }
  void closest() {
    for (std::size_t i = 0; i < a.size(); ++i) sink += gjk::closest(a[i], b[i]).distance;
  }
  void collide_at_poses() {
    for (std::size_t i = 0; i < a.size(); ++i) {
      const Verdict verdict =
          gjk::collide(local_a[i], posed_a[i].at, local_b[i], posed_b[i].at, rooms);
      sink += is_free(verdict) ? 1 : 0;
    }
  }
};

// 10 000 obstacles on a square kilometre; or 300 in traffic, near each other and moving.
struct World {
  std::mt19937_64 random{7};
  double side;
  Scene scene;
  std::vector<Pose> anywhere, drive;
  std::vector<double> times;
  Shape ego;

  double real(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  }
  World(std::size_t count, double side, int vertices) : side(side) {
    ego = outline(4, 4.8, 1.8);
    for (std::size_t i = 0; i < count; ++i) {
      const Shape shape = outline(vertices, real(1, 5), real(1, 3));
      const Pose pose{real(0, side), real(0, side), real(-3, 3)};
      const Pose in_5_s{pose.x + real(-25, 25), pose.y + real(-25, 25), pose.yaw};
      const Piece piece = Piece::between(0.0, pose, 5.0, in_5_s);
      scene.add(shape, pose, {&piece, 1});
    }
    scene.build();
    Pose at{0, 0, 0};
    for (int i = 0; i < 2000; ++i) {
      anywhere.push_back({real(0, side), real(0, side), real(-3, 3)});
      at = {std::fmod(at.x + real(0.2, 0.6), side), std::fmod(at.y + real(0.0, 0.3), side),
            at.yaw + real(-0.02, 0.02)};
      drive.push_back(at);
      times.push_back(1.3);
    }
  }
  static Shape outline(int n, double length, double width) {
    std::vector<Vec2> vertices;
    for (int i = 0; i < n; ++i) {
      const double turn = 2.0 * std::acos(-1.0) * (i + 0.5) / n;
      vertices.push_back({0.7 * length * std::cos(turn), 0.7 * width * std::sin(turn)});
    }
    Shape shape;
    shape.add_part(vertices, 0.0);
    return shape;
  }
  void check(const std::vector<Pose>& poses, const CheckOptions& options, bool timed = false) {
    std::vector<PoseResult> results(poses.size());
    scene.check(ego, poses, timed ? std::span<const double>(times) : std::span<const double>(),
                options, results);
    sink += static_cast<double>(results.back().nearest);
  }
};

}  // namespace

int main(int argc, char** argv) {
  const int passes = argc > 1 ? std::atoi(argv[1]) : 15;
  std::vector<Workload> workloads;
  std::vector<std::unique_ptr<Cell>> cells;
  for (const auto kind : {bench::Kind::distant, bench::Kind::overlap, bench::Kind::touch}) {
    for (const int n : {4, 8, 24}) {
      cells.push_back(std::make_unique<Cell>(kind, n));
      Cell& cell = *cells.back();
      const std::string name = std::string(bench::name_of(kind)) + "-" + std::to_string(n);
      const auto queries = static_cast<double>(cell.a.size());
      workloads.push_back({"collide-" + name, queries, [&cell] { cell.collide(); }});
      workloads.push_back({"distance-" + name, queries, [&cell] { cell.distance(); }});
      workloads.push_back({"closest-" + name, queries, [&cell] { cell.closest(); }});
      workloads.push_back({"poses-" + name, queries, [&cell] { cell.collide_at_poses(); }});
    }
  }
  World boxes(10000, 1000.0, 4), rounds(10000, 1000.0, 12), traffic(300, 50.0, 4);
  for (const auto& [name, world] : {std::pair<std::string, World*>{"boxes", &boxes},
                                    {"12-gons", &rounds},
                                    {"traffic", &traffic}}) {
    World& w = *world;
    const auto add = [&](const std::string& what, const std::function<void()>& run) {
      workloads.push_back({"scene-" + name + "-" + what, 2000.0, run});
    };
    add("collide", [&w] { w.check(w.anywhere, {}); });
    add("margin", [&w] { w.check(w.anywhere, {.margin = 0.5}); });
    add("path", [&w] { w.check(w.drive, {}); });
    add("distance", [&w] { w.check(w.anywhere, {.mode = Mode::distance}); });
    add("drive", [&w] { w.check(w.drive, {.mode = Mode::distance}); });
    add("moving", [&w] { w.check(w.anywhere, {}, true); });
    add("moving-distance", [&w] { w.check(w.anywhere, {.mode = Mode::distance}, true); });
  }
  for (int pass = 0; pass < passes; ++pass) {
    for (Workload& workload : workloads) {
      workload.least = std::min(workload.least, seconds(workload.run));
    }
  }
  for (const Workload& workload : workloads) {
    std::printf("%s %.1f\n", workload.name.c_str(), workload.least / workload.queries * 1e9);
  }
  return std::isnan(sink) ? 1 : 0;
}
