// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Holds the kernel against integer arithmetic over random pairs of every type, and prints what it
// found. Exit 0: no disagreement, no UNKNOWN, every bound true.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "cases.hpp"
#include "corpus.hpp"
#include "gjk/gjk.hpp"
#include "placement.hpp"

namespace gjk::verify {
namespace {

constexpr const char* kUsage =
    R"(usage: gjk_verify [--pairs=1000000] [--types=distant,touching,...] [--seed=1] [--threads=2]
       gjk_verify --write=FILE [--pairs=...] [--types=...] [--seed=...]

For each type of pair: how many collide, how many per 1000 the floating-point loop left to exact
arithmetic, how many verdicts were UNKNOWN or wrong, how many bounds were not true, and the widest gap
between the bounds relative to the distance (of the polygons, without their radii).

--write only writes the pairs, for gjk_answers.
)";

constexpr std::int64_t kBlock = 1000;  // pairs that share a seed
constexpr double kWidestGap = 1e-9;

struct Tally {
  std::int64_t pairs = 0;
  std::int64_t collisions = 0;
  std::int64_t to_exact = 0;
  std::int64_t unknown = 0;
  std::int64_t wrong = 0;
  std::int64_t untrue = 0;  // bounds
  double widest = 0.0;
  std::int64_t first_block = -1;  // of a failure
  std::string first;              // its description

  void fail(std::int64_t block, const std::string& what) {
    if (first_block < 0) {
      first_block = block;
      first = what;
    }
  }
  void add(const Tally& other) {
    pairs += other.pairs;
    collisions += other.collisions;
    to_exact += other.to_exact;
    unknown += other.unknown;
    wrong += other.wrong;
    untrue += other.untrue;
    widest = std::max(widest, other.widest);
    if (other.first_block >= 0 && (first_block < 0 || other.first_block < first_block)) {
      first_block = other.first_block;
      first = other.first;
    }
  }
};

std::string number(double v) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", v);
  return text;
}

// As Python and C++ both read it, but for the outer brackets.
std::string literal(const Pair& pair) {
  std::string text;
  const auto add = [&](const char* name, const Polygon& polygon, double radius, const Pose& pose) {
    text += std::string("  ") + name + " = [";
    for (int i = 0; i < polygon.size(); ++i) {
      text += (i ? ", (" : "(") + number(polygon.vertex(i).x) + ", " + number(polygon.vertex(i).y) +
              ")";
    }
    text += "]  radius = " + number(radius);
    if (pair.has_poses)
      text += "  pose = (" + number(pose.x) + ", " + number(pose.y) + ", " + number(pose.yaw) + ")";
    text += "\n";
  };
  add("p", pair.p, pair.p_radius, pair.p_pose);
  add("q", pair.q, pair.q_radius, pair.q_pose);
  return text + "  margin = " + number(pair.margin) + "\n";
}

const char* name_of(Verdict verdict) {
  return verdict == Verdict::free ? "FREE"
                                  : (verdict == Verdict::collision ? "COLLISION" : "UNKNOWN");
}

// One pair against the truth. P and Q: Convex or PosedConvex. `slack` (m): the rounding of the
// poses; what lies within it may be called a collision at distance 0, but nothing may be called
// free, or farther than it is.
template <class P, class Q>
void check(const Pair& pair, const P& p, const Q& q, const Truth& truth, double slack,
           bool with_depth, std::int64_t block, Tally& tally) {
  ++tally.pairs;
  const auto fail = [&](std::int64_t& count, const std::string& what) {
    ++count;
    tally.fail(block, what + "\n" + literal(pair));
  };
  const double rp = pair.p_radius;
  const double rq = pair.q_radius;
  const bool hit = truth.within({rp, rq, pair.margin});
  tally.collisions += hit;
  const auto right = [&](Verdict verdict) {
    if (verdict == Verdict::free) return !hit;
    return hit || (slack > 0.0 && truth.within({rp, rq, pair.margin, slack}));
  };

  const Verdict loop = collide_by_gjk(p, q, rp + rq + pair.margin);
  if (loop == Verdict::unknown) {
    ++tally.to_exact;
  } else if (!right(loop)) {
    fail(tally.wrong, std::string("collide_by_gjk says ") + name_of(loop));
  }
  const auto verdict_of = [&](const char* name, Verdict verdict) {
    if (verdict == Verdict::unknown) {
      fail(tally.unknown, std::string(name) + " says UNKNOWN");
    } else if (!right(verdict)) {
      fail(tally.wrong, std::string(name) + " says " + name_of(verdict));
    }
  };
  verdict_of("collide(p, q)", collide(p, q, pair.margin));
  verdict_of("collide(q, p)", collide(q, p, pair.margin));

  // Bounds on the distance, 0 where the shapes overlap.
  const auto gap = [&](const char* name, double lower, double upper) {
    const double cores = upper + rp + rq;
    const double width = upper - lower;
    if (width > kWidestGap * cores + 4.0 * slack) {
      fail(tally.untrue,
           std::string(name) + ": wide bounds " + number(lower) + ", " + number(upper));
    }
    if (slack == 0.0 && width > 0.0) tally.widest = std::max(tally.widest, width / cores);
  };
  const Bounds bounds = distance(p, q);
  const bool is_true = bounds.lower >= 0.0 &&
                       (bounds.lower == 0.0 || truth.at_least({bounds.lower, rp, rq})) &&
                       truth.within({bounds.upper, rp, rq, slack});
  if (!is_true) {
    fail(tally.untrue,
         "distance: untrue bounds " + number(bounds.lower) + ", " + number(bounds.upper));
  }
  gap("distance", bounds.lower, bounds.upper);

  const Closest near = closest(p, q);
  if (near.status != Status::success) fail(tally.unknown, "closest: no success");
  if (!truth.polygons_meet()) {
    // upper + rp + rq >= distance >= lower + rp + rq, of the polygons
    if (!truth.at_least({near.lower_bound, rp, rq}) ||
        !truth.within({near.distance, rp, rq, slack})) {
      fail(tally.untrue,
           "closest: untrue bounds " + number(near.lower_bound) + ", " + number(near.distance));
    }
    gap("closest", near.lower_bound, near.distance);
  } else if (with_depth) {
    if (!truth.depth_at_most({-near.lower_bound, -rp, -rq}) ||
        !truth.depth_at_least({-near.distance, -rp, -rq})) {
      fail(tally.untrue, "closest: untrue bounds of the depth " + number(near.lower_bound) + ", " +
                             number(near.distance));
    }
  }
  const bool touches = truth.within({rp, rq});
  if (slack == 0.0 && touches != (near.distance <= 0.0)) {
    fail(tally.wrong, "closest: sign of the distance " + number(near.distance));
  }
}

Random random_of(Type type, std::uint64_t seed, std::int64_t block) {
  Random random((seed * 16 + static_cast<std::uint64_t>(type)) * 0x100000001ULL +
                static_cast<std::uint64_t>(block) * 7919);
  random.next();
  return random;
}

Tally run_block(Type type, std::uint64_t seed, std::int64_t block, std::int64_t pairs) {
  Random random = random_of(type, seed, block);
  Tally tally;
  for (std::int64_t i = 0; i < pairs; ++i) {
    const Pair pair = draw(type, random);
    const bool with_depth = i % 8 == 0;
    const Convex p = pair.p.view(pair.p_radius);
    const Convex q = pair.q.view(pair.q_radius);
    if (pair.has_poses) {
      const Truth truth(placed_exactly(pair.p, pair.p_pose), placed_exactly(pair.q, pair.q_pose),
                        -kFraction);
      const auto at_p = PosedConvex::place(p, Transform::from_pose(pair.p_pose));
      const auto at_q = PosedConvex::place(q, Transform::from_pose(pair.q_pose));
      check(pair, at_p, at_q, truth, 16.0 * (at_p.error + at_q.error), with_depth, block, tally);
    } else {
      check(pair, p, q, Truth(pair.p, pair.q), 0.0, with_depth, block, tally);
    }
  }
  return tally;
}

int run(std::int64_t pairs, const std::vector<Type>& types, std::uint64_t seed, int threads) {
  std::printf("%-12s%10s%10s%12s%9s%8s%9s%13s%8s\n", "type", "pairs", "collide", "to exact",
              "UNKNOWN", "wrong", "untrue", "widest gap", "s");
  Tally all;
  for (const Type type : types) {
    const auto start = std::chrono::steady_clock::now();
    const std::int64_t blocks = (pairs + kBlock - 1) / kBlock;
    std::atomic<std::int64_t> next{0};
    std::mutex mutex;
    Tally tally;
    std::vector<std::thread> workers;
    for (int t = 0; t < threads; ++t) {
      workers.emplace_back([&] {
        for (std::int64_t block = next++; block < blocks; block = next++) {
          const Tally of_block =
              run_block(type, seed, block, std::min(kBlock, pairs - block * kBlock));
          const std::lock_guard lock(mutex);
          tally.add(of_block);
        }
      });
    }
    for (std::thread& worker : workers) worker.join();
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const auto share = [&](std::int64_t count) {
      return 1000.0 * static_cast<double>(count) / static_cast<double>(tally.pairs);
    };
    std::printf("%-12s%10lld%9.1f%%%10.3f/k%9lld%8lld%9lld%13.2g%8.1f\n",
                kTypeNames[static_cast<std::size_t>(type)].data(),
                static_cast<long long>(tally.pairs), share(tally.collisions) / 10.0,
                share(tally.to_exact), static_cast<long long>(tally.unknown),
                static_cast<long long>(tally.wrong), static_cast<long long>(tally.untrue),
                tally.widest, seconds);
    std::fflush(stdout);
    if (!tally.first.empty()) {
      std::printf("first failure among %s pairs (seed %llu): %s",
                  kTypeNames[static_cast<std::size_t>(type)].data(),
                  static_cast<unsigned long long>(seed), tally.first.c_str());
    }
    all.add(tally);
  }
  const std::int64_t failures = all.unknown + all.wrong + all.untrue;
  std::printf("%lld pairs, %lld failures\n", static_cast<long long>(all.pairs),
              static_cast<long long>(failures));
  return failures == 0 ? 0 : 1;
}

int write_pairs(const std::string& name, std::int64_t pairs, const std::vector<Type>& types,
                std::uint64_t seed) {
  std::FILE* file = std::fopen(name.c_str(), "wb");
  if (file == nullptr) {
    std::fprintf(stderr, "gjk_verify: cannot write %s\n", name.c_str());
    return 2;
  }
  for (const Type type : types) {
    Random random = random_of(type, seed, 0);
    for (std::int64_t i = 0; i < pairs; ++i) write(file, draw(type, random));
  }
  return std::fclose(file) == 0 ? 0 : 2;
}

}  // namespace
}  // namespace gjk::verify

int main(int argc, char** argv) {
  using namespace gjk::verify;
  std::int64_t pairs = 1000000;
  std::uint64_t seed = 1;
  int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  std::string chosen;
  std::string corpus;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equals = argument.find('=');
    const std::string key = argument.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    if (key == "--pairs")
      pairs = std::stoll(value);
    else if (key == "--seed")
      seed = std::stoull(value);
    else if (key == "--threads")
      threads = std::stoi(value);
    else if (key == "--write")
      corpus = value;
    else if (key == "--types")
      chosen = "," + value + ",";
    else {
      std::fputs(kUsage, stderr);
      return key == "--help" ? 0 : 2;
    }
  }
  std::vector<Type> types;
  for (std::size_t i = 0; i < kTypeNames.size(); ++i) {
    if (chosen.empty() ||
        chosen.find("," + std::string(kTypeNames[i]) + ",") != std::string::npos) {
      types.push_back(static_cast<Type>(i));
    }
  }
  return corpus.empty() ? run(pairs, types, seed, threads)
                        : write_pairs(corpus, pairs, types, seed);
}
