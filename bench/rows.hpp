// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// A row of the tables: one competitor at one level, and how a pass over the cases is timed.
#pragma once

#include <sys/resource.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "dataset.hpp"

namespace bench {

// How the answers of a pass compare with the truth.
struct Outcome {
  double seconds = 0.0;
  std::int64_t timed = 0;  // queries in `seconds`; chunks with an interruption are left out
  std::int64_t queries = 0;
  std::int64_t wrong = 0;    // beyond the row's tolerance: disqualifies
  std::int64_t inexact = 0;  // level 1: contacts called otherwise than exact arithmetic calls them
};

struct Row {
  std::string name;
  std::string version;  // of the library
  int level = 1;
  int stride = 1;  // slow rows answer one case in so many per pass, and over the passes all
  std::function<Outcome(const Dataset&, std::span<const int> order, std::size_t chunk)> pass;
  int most = std::numeric_limits<int>::max();  // vertices that the competitor's shapes can have
  bool only_boxes = false;                     // its shapes are rectangles

  bool takes(const Dataset& dataset) const {
    return dataset.n <= most && (dataset.outlines == Outlines::boxes || !only_boxes);
  }
};

// A right answer is within this of the truth: Box2D computes in float, whose coordinates carry 4 um
// at 50 m, and the 3D libraries iterate to 1e-6.
inline constexpr double kPeerTolerance = 1e-4;  // m

// Cases are laid out afresh, in the pass's order, some at a time: they lie in the L2 cache, as the
// shapes of one planning problem do, and the branch predictor never sees a sequence twice. Slow
// rows take fewer, so that the scheduler seldom comes between.
inline std::size_t queries_per_chunk(int stride) { return stride == 1 ? 256 : 16; }

// How often the scheduler has taken the core from this thread.
inline long interruptions() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

// Times Engine over the cases in `order`. An Engine has
//   void load(std::span<const Case* const>)   untimed: builds its own representation
//   Answer operator()(std::size_t i)          timed: bool at level 1, metres at level 2
//   void run()                                where it has one, timed instead: answers all at once
//   static constexpr double tolerance         m; 0 demands the exact verdict
template <class Engine>
Outcome time_pass(const Dataset& dataset, std::span<const int> order, std::size_t chunk_size) {
  using Clock = std::chrono::steady_clock;
  using Answer = decltype(std::declval<Engine&>()(std::size_t{}));
  constexpr bool kIsVerdict = std::is_same_v<Answer, bool>;
  constexpr bool kIsBatch = requires(Engine& e) { e.run(); };
  Engine engine;
  Outcome outcome;
  std::vector<const Case*> chunk;
  std::vector<std::conditional_t<kIsVerdict, std::uint8_t, Answer>> answers(chunk_size);
  for (std::size_t begin = 0; begin < order.size(); begin += chunk_size) {
    chunk.clear();
    for (std::size_t i = begin; i < std::min(begin + chunk_size, order.size()); ++i) {
      chunk.push_back(&dataset.cases[static_cast<std::size_t>(order[i])]);
    }
    engine.load(chunk);

    const std::size_t count = chunk.size();
    const long before = interruptions();
    const auto start = Clock::now();
    if constexpr (kIsBatch) {
      engine.run();
    } else {
      for (std::size_t i = 0; i < count; ++i) answers[i] = engine(i);
    }
    const auto stop = Clock::now();
    if constexpr (kIsBatch) {
      for (std::size_t i = 0; i < count; ++i) answers[i] = engine(i);
    }
    outcome.queries += static_cast<std::int64_t>(count);
    if (interruptions() == before) {
      outcome.seconds += std::chrono::duration<double>(stop - start).count();
      outcome.timed += static_cast<std::int64_t>(count);
    }

    for (std::size_t i = 0; i < count; ++i) {
      const Case& c = *chunk[i];
      if constexpr (kIsVerdict) {
        if ((answers[i] != 0) == c.collides) continue;
        // Overlapping pairs are 1 cm deep, so only a contact can be a matter of tolerance.
        const bool contact = dataset.kind == Kind::touch;
        (contact && Engine::tolerance > 0.0 ? outcome.inexact : outcome.wrong) += 1;
      } else {
        const double error = std::fabs(answers[i] - c.distance);
        if (!(error <= Engine::tolerance)) ++outcome.wrong;  // NaN is wrong
      }
    }
  }
  return outcome;
}

template <class Engine>
Row row(std::string name, std::string version = "", int stride = 1) {
  constexpr bool kIsVerdict =
      std::is_same_v<decltype(std::declval<Engine&>()(std::size_t{})), bool>;
  return {std::move(name), std::move(version), kIsVerdict ? 1 : 2, stride, time_pass<Engine>};
}

// One per file rows_*.cpp. Files that are modules of their own export `add_rows` instead.
void add_gjk_rows(std::vector<Row>& rows);
void add_box2d_rows(std::vector<Row>& rows);
void add_sat_rows(std::vector<Row>& rows);
void add_fcl_rows(std::vector<Row>& rows);
void add_geos_rows(std::vector<Row>& rows);

}  // namespace bench
