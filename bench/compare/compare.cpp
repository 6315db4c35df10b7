// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Times the rows of two revisions of this package in turns, pass by pass, over the same cases in
// the same order, and prints the ratio of their times for each cell.
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "side.hpp"

namespace {

using compare::Side;

constexpr const char* kKinds[] = {"distant", "overlap", "touch"};
constexpr int kCounts[] = {4, 8, 12, 16, 20, 24};
constexpr double kPassSeconds = 0.02;  // slow rows answer fewer cases per pass,
constexpr double kSlow = 250.0;        // ns; and fewer at a time, as in ../rows.hpp
constexpr int kLeast = 256;
constexpr double kNoise = 0.05;  // ratios within this of 1 are not marked

const Side& open(const char* file) {
  void* module = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (module == nullptr) throw std::runtime_error(dlerror());
  return *static_cast<const Side*>(dlsym(module, "side"));
}

// A row that both revisions have.
struct Row {
  std::string name;
  int level;
  int at[2];  // in the base, in the new revision
};

std::vector<Row> common(const Side& base, const Side& changed) {
  std::vector<Row> result;
  const int count = base.rows();
  for (int j = 0; j < changed.rows(); ++j) {
    for (int i = 0; i < count; ++i) {
      if (std::string(base.name(i)) != changed.name(j) || base.level(i) != changed.level(j)) {
        continue;
      }
      result.push_back({changed.name(j), changed.level(j), {i, j}});
    }
  }
  return result;
}

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1) + 0.5)];
}

double per_query(const compare::Pass& pass) {  // ns
  return 1e9 * pass.seconds / static_cast<double>(pass.timed);
}

struct Cell {
  std::vector<double> ratios;  // of each pass
  std::vector<double> times;   // of the new revision, ns per query
  double estimate = 0.0;       // ns per query, before the first pass

  std::string text() const {
    if (ratios.empty()) return "";
    const double ratio = quantile(ratios, 0.5);
    const bool one_side = quantile(ratios, 0.25) > 1.0 || quantile(ratios, 0.75) < 1.0;
    const char* mark = one_side && std::fabs(ratio - 1.0) > kNoise ? "**" : "";
    char result[64];
    std::snprintf(result, sizeof result, "%s%.2f%s (%.0f)", mark, ratio, mark,
                  quantile(times, 0.5));
    return result;
  }
};

class Comparison {
 public:
  Comparison(const char* base, const char* changed, int passes, int cases)
      : sides_{&open(base), &open(changed)},
        rows_(common(*sides_[0], *sides_[1])),
        passes_(passes),
        cases_(cases) {}

  // A column of the tables: one number of vertices.
  std::vector<Cell> measure(int kind, int n) {
    std::vector<double> flat(static_cast<std::size_t>(cases_ * compare::doubles_per_case(n)));
    sides_[1]->make(kind, n, cases_, 1, flat.data());
    for (const Side* side : sides_) side->load(kind, n, cases_, flat.data());
    std::vector<int> order(static_cast<std::size_t>(cases_));
    std::iota(order.begin(), order.end(), 0);
    std::vector<Cell> cells(rows_.size());
    std::vector<std::size_t> turns(rows_.size());
    std::iota(turns.begin(), turns.end(), std::size_t{0});
    for (int p = 0; p < passes_; ++p) {
      std::shuffle(turns.begin(), turns.end(), random_);
      for (const std::size_t k : turns) {
        std::shuffle(order.begin(), order.end(), random_);
        add_pass(rows_[k], p % 2, order, cells[k]);
      }
    }
    return cells;
  }

  void print(int level, int kind, const std::vector<std::vector<Cell>>& columns) const {
    std::printf("\n| level %d, %s |", level, kKinds[kind]);
    for (const int n : kCounts) std::printf(" %d |", n);
    std::printf("\n| --- |");
    for (std::size_t i = 0; i < std::size(kCounts); ++i) std::printf(" ---: |");
    std::printf("\n");
    for (std::size_t k = 0; k < rows_.size(); ++k) {
      if (rows_[k].level != level) continue;
      std::printf("| %s |", rows_[k].name.c_str());
      for (const auto& column : columns) std::printf(" %s |", column[k].text().c_str());
      std::printf("\n");
    }
    std::fflush(stdout);
  }

  bool is_wrong() const { return wrong_; }

 private:
  // Both revisions answer; `first` begins.
  void add_pass(const Row& row, int first, const std::vector<int>& order, Cell& cell) {
    if (cell.estimate == 0.0) {
      const compare::Pass trial = sides_[1]->pass(row.at[1], order.data(), kLeast, 16);
      if (trial.timed == 0) return;
      cell.estimate = per_query(trial);
    }
    const double fitting = kPassSeconds / (1e-9 * cell.estimate);
    const int count = std::clamp(static_cast<int>(fitting), std::min(kLeast, cases_), cases_);
    double times[2];
    for (const int which : {first, 1 - first}) {
      const int chunk = cell.estimate > kSlow ? 16 : 256;
      const compare::Pass pass = sides_[which]->pass(row.at[which], order.data(), count, chunk);
      if (which == 1 && pass.wrong > 0) report_wrong(row, pass);
      if (pass.timed == 0) return;  // the scheduler came between in every chunk
      times[which] = per_query(pass);
    }
    cell.ratios.push_back(times[1] / times[0]);
    cell.times.push_back(times[1]);
  }

  void report_wrong(const Row& row, const compare::Pass& pass) {
    std::fprintf(stderr, "gjk_compare: %ld wrong answers in level %d, %s\n",
                 static_cast<long>(pass.wrong), row.level, row.name.c_str());
    wrong_ = true;
  }

  const Side* sides_[2];
  std::vector<Row> rows_;
  int passes_;
  int cases_;
  std::mt19937_64 random_{1};
  bool wrong_ = false;
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 5) {
    std::fputs("usage: gjk_compare BASE-MODULE NEW-MODULE PASSES CASES\n", stderr);
    return 2;
  }
  Comparison comparison(argv[1], argv[2], std::atoi(argv[3]), std::atoi(argv[4]));
  std::puts(
      "Time of the new revision divided by that of the base, and in brackets its time in ns: the\n"
      "median over the passes. Bold: more than 5 % from 1, and three quarters of the passes on\n"
      "the same side of 1.");
  for (int kind = 0; kind < 3; ++kind) {
    std::vector<std::vector<Cell>> columns;
    for (const int n : kCounts) columns.push_back(comparison.measure(kind, n));
    for (const int level : {1, 2}) comparison.print(level, kind, columns);
  }
  return comparison.is_wrong() ? 1 : 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "gjk_compare: %s\n", error.what());
  return 2;
}
