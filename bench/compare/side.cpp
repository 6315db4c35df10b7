// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Compiled twice: with the headers, the rows and the kernel of each revision.
#include "side.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "rows.hpp"

namespace {

std::vector<bench::Row> all;
bench::Dataset loaded;

int rows() {
  if (all.empty()) bench::add_gjk_rows(all);
  return static_cast<int>(all.size());
}

const bench::Row& at(int row) { return all[static_cast<std::size_t>(row)]; }
const char* name(int row) { return at(row).name.c_str(); }
int level(int row) { return at(row).level; }

void make(int kind, int n, int cases, std::uint64_t seed, double* flat) {
  const auto dataset = bench::make_dataset(static_cast<bench::Kind>(kind), n, cases, seed);
  for (const bench::Case& c : dataset.cases) {
    for (const auto* values : {&c.a.x, &c.a.y, &c.b.x, &c.b.y}) {
      flat = std::copy(values->begin(), values->end(), flat);
    }
    *flat++ = c.distance;
  }
}

void load(int kind, int n, int cases, const double* flat) {
  loaded = {};
  loaded.kind = static_cast<bench::Kind>(kind);
  loaded.n = n;
  for (int i = 0; i < cases; ++i) {
    bench::Case c;
    for (auto* values : {&c.a.x, &c.a.y, &c.b.x, &c.b.y}) {
      values->assign(flat, flat + n);
      flat += n;
    }
    c.distance = *flat++;
    c.collides = c.distance == 0.0;
    loaded.cases.push_back(std::move(c));
  }
}

compare::Pass pass(int row, const int* order, int count, int chunk) {
  const std::span<const int> which(order, static_cast<std::size_t>(count));
  const bench::Outcome outcome = at(row).pass(loaded, which, static_cast<std::size_t>(chunk));
  return {outcome.seconds, outcome.timed, outcome.wrong};
}

}  // namespace

extern "C" __attribute__((visibility("default")))
const compare::Side side{rows, name, level, make, load, pass};
