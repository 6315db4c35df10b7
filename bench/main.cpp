// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Every row over every cell (kind of pair, number of vertices), run by Google Benchmark, whose
// options apply. A repetition is a pass over the cases; those of the rows of a cell are
// interleaved.
//
//   gjk_bench [--cases=20480] [--outlines=polygons|boxes] --benchmark_repetitions=21 > results.json
//
// The exit code is 1 if a row of this package gave a wrong answer.
#include <benchmark/benchmark.h>
#include <dlfcn.h>

#include <cstdio>
#include <deque>
#include <exception>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
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

// The passes of a row. Each takes the cases in a new order, or for a slow row the next share of
// them.
class Passes {
 public:
  Passes(const Row& row, const Dataset& dataset, std::uint64_t seed)
      : row_(row), dataset_(dataset), random_(seed), order_(dataset.cases.size()) {
    std::iota(order_.begin(), order_.end(), 0);
  }

  std::string name() const {
    return "level" + std::to_string(row_.level) + "/" + std::string(name_of(dataset_.kind)) + "/" +
           std::to_string(dataset_.n) + "/" + row_.name;
  }
  bool is_wrong() const { return is_wrong_; }

  void run(benchmark::State& state) {
    for (auto _ : state) {
      const std::size_t share = order_.size() / static_cast<std::size_t>(row_.stride);
      if (begin_ + share > order_.size()) begin_ = 0;
      if (begin_ == 0) random_.shuffle(order_);
      const Outcome outcome = row_.pass(dataset_, std::span(order_).subspan(begin_, share),
                                        queries_per_chunk(row_.stride));
      begin_ += share;
      is_wrong_ |= outcome.wrong > 0;
      // One "iteration" is a pass; what is reported is the time of a query. 0: none could be timed.
      const auto timed = static_cast<double>(std::max<std::int64_t>(1, outcome.timed));
      state.SetIterationTime(outcome.seconds / timed);
      state.counters["queries"] = static_cast<double>(outcome.queries);
      state.counters["wrong"] = static_cast<double>(outcome.wrong);
      state.counters["inexact"] = static_cast<double>(outcome.inexact);
    }
  }

 private:
  const Row& row_;
  const Dataset& dataset_;
  gjk::verify::Random random_;
  std::vector<int> order_;
  std::size_t begin_ = 0;
  bool is_wrong_ = false;
};

// Google Benchmark writes a document per run. Here every cell is a run, because the heap of a cell
// must not scatter the shapes of the next one, and all cells go into one document.
struct Json : benchmark::JSONReporter {
  bool ReportContext(const Context& context) override {
    return std::exchange(is_begun, true) || JSONReporter::ReportContext(context);
  }
  void Finalize() override {}
  void finish() { JSONReporter::Finalize(); }

  bool is_begun = false;
};

// Runs the rows over one cell. Returns whether a row of this package gave a wrong answer.
bool run_cell(const Dataset& dataset, const std::vector<Row>& rows, Json& json) {
  benchmark::ClearRegisteredBenchmarks();
  std::deque<Passes> passes;  // no element moves
  for (const Row& row : rows) {
    if (!row.takes(dataset)) continue;
    Passes& own = passes.emplace_back(row, dataset, passes.size() + 1);
    benchmark::RegisterBenchmark(own.name().c_str(),
                                 [&own](benchmark::State& state) { own.run(state); })
        ->Iterations(1)
        ->UseManualTime();
  }
  benchmark::RunSpecifiedBenchmarks(&json);
  bool is_wrong = false;
  for (const Passes& each : passes) {
    if (!each.is_wrong() || each.name().find("/gjk") == std::string::npos) continue;
    std::fprintf(stderr, "gjk_bench: a wrong answer of %s\n", each.name().c_str());
    is_wrong = true;
  }
  return is_wrong;
}

int run(int cases, Outlines outlines) {
  const std::vector<Row> rows = all_rows();
  benchmark::AddCustomContext("compiler", std::string("g++ ") + __VERSION__);
  benchmark::AddCustomContext("absent peers", GJK_BENCH_ABSENT);
  std::set<std::string> versions;
  for (const Row& row : rows) {
    const std::string project = row.name.substr(0, row.name.find(' '));
    if (!row.version.empty()) versions.insert(project + ' ' + row.version);
  }
  std::string peers;
  for (const std::string& each : versions) peers += (peers.empty() ? "" : ", ") + each;
  benchmark::AddCustomContext("peers", peers);
  const std::vector<int> counts =
      outlines == Outlines::boxes ? std::vector{4} : std::vector{4, 8, 12, 16, 20, 24};
  Json json;
  bool is_wrong = false;
  for (const Kind kind : {Kind::distant, Kind::overlap, Kind::touch}) {
    for (const int n : counts) {
      is_wrong |= run_cell(make_dataset(kind, n, cases, 1, outlines), rows, json);
    }
  }
  json.finish();
  return is_wrong ? 1 : 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) try {
  std::string interleave = "--benchmark_enable_random_interleaving=true";
  std::vector<char*> arguments(argv, argv + argc);
  arguments.insert(arguments.begin() + 1, interleave.data());
  int count = argc + 1;
  arguments.push_back(nullptr);
  benchmark::Initialize(&count, arguments.data());  // takes its own options
  int cases = 20480;
  auto outlines = bench::Outlines::polygons;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[static_cast<std::size_t>(i)];
    if (argument.starts_with("--cases=")) {
      cases = std::stoi(argument.substr(8));
    } else if (argument == "--outlines=boxes") {
      outlines = bench::Outlines::boxes;
    } else if (argument == "--outlines=polygons") {
      outlines = bench::Outlines::polygons;
    } else {
      throw std::invalid_argument("there is no option " + argument);
    }
  }
  return bench::run(cases, outlines);
} catch (const std::exception& error) {
  std::fprintf(stderr, "gjk_bench: %s\n", error.what());
  return 2;
}
