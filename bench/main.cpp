// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Every row over every cell (kind of pair, number of vertices). A pass of a row is over all cases;
// in each pass, the rows of a cell run in a new random order. Writes JSON.
//
//   gjk_bench [--cases=20480] [--passes=21] [--outlines=boxes] > results.json
//
// The exit code is 1 if a row of this package gave a wrong answer.
#include <dlfcn.h>

#include <cstdio>
#include <exception>
#include <iostream>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "random.hpp"
#include "rows.hpp"

namespace bench {
namespace {

// Peers whose symbols would clash are modules. The list of their files ends with a null pointer.
constexpr const char* kModules[] = {GJK_BENCH_MODULES nullptr};

void add_module_rows(const char* file, std::vector<Row>& rows) {
  void* module = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (module == nullptr) throw std::runtime_error(dlerror());
  reinterpret_cast<void (*)(std::vector<Row>&)>(dlsym(module, "add_rows"))(rows);
}

std::vector<Row> all_rows() {
  std::vector<Row> rows;
  add_box2d_rows(rows);
  add_gjk_rows(rows);
  add_sat_rows(rows);
#ifdef GJK_BENCH_PEERS
  add_fcl_rows(rows);
  add_geos_rows(rows);
#endif
  for (const char* const* file = kModules; *file != nullptr; ++file) add_module_rows(*file, rows);
  return rows;
}

// The passes of a row over a dataset. Each takes the cases in a new order, or for a slow row the
// next share of them.
class Passes {
 public:
  Passes(const Row& row, const Dataset& dataset, std::uint64_t seed)
      : row_(row), dataset_(dataset), random_(seed), order_(dataset.cases.size()) {
    std::iota(order_.begin(), order_.end(), 0);
  }

  void run() {
    const std::size_t share = order_.size() / static_cast<std::size_t>(row_.stride);
    if (begin_ + share > order_.size()) begin_ = 0;
    if (begin_ == 0) random_.shuffle(order_);
    const Outcome outcome = row_.pass(dataset_, std::span(order_).subspan(begin_, share),
                                      queries_per_chunk(row_.stride));
    begin_ += share;
    if (outcome.timed > 0) {
      times_.push_back(1e9 * outcome.seconds / static_cast<double>(outcome.timed));
    }
    queries_ += outcome.queries;
    wrong_ += outcome.wrong;
    inexact_ += outcome.inexact;
  }

  // Writes a cell; returns whether it is one of ours with a wrong answer.
  bool write(std::ostream& out) const {
    out << "{\"level\": " << row_.level << ", \"kind\": \"" << name_of(dataset_.kind)
        << "\", \"n\": " << dataset_.n << ", \"row\": \"" << row_.name
        << "\", \"queries\": " << queries_ << ", \"wrong\": " << wrong_
        << ", \"inexact\": " << inexact_ << ", \"times\": [";
    for (std::size_t i = 0; i < times_.size(); ++i) out << (i == 0 ? "" : ", ") << times_[i];
    out << "]}";
    if (wrong_ == 0 || !row_.name.starts_with("gjk")) return false;
    std::cerr << "gjk_bench: a wrong answer of " << row_.name << '\n';
    return true;
  }

 private:
  const Row& row_;
  const Dataset& dataset_;
  gjk::verify::Random random_;
  std::vector<int> order_;
  std::size_t begin_ = 0;
  std::vector<double> times_;  // ns per query
  std::int64_t queries_ = 0;
  std::int64_t wrong_ = 0;
  std::int64_t inexact_ = 0;
};

int run(int cases, int count, Outlines outlines) {
  const std::vector<Row> rows = all_rows();
  std::set<std::string> versions;
  for (const Row& row : rows) {
    const std::string project = row.name.substr(0, row.name.find(' '));
    if (!row.version.empty()) versions.insert(project + ' ' + row.version);
  }
  std::string peers;
  for (const std::string& each : versions) peers += (peers.empty() ? "" : ", ") + each;
  std::cout << "{\"context\": {\"compiler\": \"g++ " << __VERSION__
            << "\", \"absent peers\": \"" GJK_BENCH_ABSENT "\", \"peers\": \"" << peers
            << "\"},\n\"cells\": [";
  bool is_wrong = false;
  const char* separator = "\n";
  for (const Kind kind : {Kind::distant, Kind::overlap, Kind::touch}) {
    for (const int n : {4, 8, 12, 16, 20, 24}) {
      if (outlines == Outlines::boxes && n > 4) continue;
      const Dataset dataset = make_dataset(kind, n, cases, 1, outlines);
      std::vector<Passes> cells;
      for (const Row& row : rows) {
        if (row.takes(dataset)) cells.emplace_back(row, dataset, cells.size() + 1);
      }
      std::vector<int> order(cells.size());
      std::iota(order.begin(), order.end(), 0);
      gjk::verify::Random random(1);
      for (int pass = 0; pass < count; ++pass) {
        random.shuffle(order);
        for (const int i : order) cells[static_cast<std::size_t>(i)].run();
      }
      for (const Passes& cell : cells) {
        std::cout << separator;
        is_wrong |= cell.write(std::cout);
        separator = ",\n";
      }
    }
  }
  std::cout << "\n]}\n";
  return is_wrong ? 1 : 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) try {
  int cases = 20480, passes = 21;
  auto outlines = bench::Outlines::polygons;
  for (const std::string argument : std::vector<std::string>(argv + 1, argv + argc)) {
    if (argument.starts_with("--cases=")) {
      cases = std::stoi(argument.substr(8));
    } else if (argument.starts_with("--passes=")) {
      passes = std::stoi(argument.substr(9));
    } else if (argument == "--outlines=boxes") {
      outlines = bench::Outlines::boxes;
    } else {
      throw std::invalid_argument("there is no option " + argument);
    }
  }
  return bench::run(cases, passes, outlines);
} catch (const std::exception& error) {
  std::fprintf(stderr, "gjk_bench: %s\n", error.what());
  return 2;
}
