// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Times every row over every cell (number of vertices, kind of pair, level) and writes Google
// Benchmark's JSON. The rows of a cell are interleaved pass by pass; each pass takes the cases in a
// new order.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <regex>
#include <sstream>
#include <string>

#include "random.hpp"
#include "rows.hpp"

namespace bench {
namespace {

struct Options {
  std::vector<int> n{4, 8, 12, 16, 20, 24};
  std::vector<std::string> kinds{"distant", "overlap", "touch"};
  std::vector<int> levels{1, 2};
  std::string rows = ".*";
  int passes = 21;
  int cases = 20480;
  std::uint64_t seed = 1;
  std::string json;
};

constexpr const char* kUsage =
    "usage: gjk_bench [--n=4,8,12,16,20,24] [--kinds=distant,overlap,touch] [--levels=1,2] "
    "[--rows=REGEX]\n"
    "                 [--passes=21] [--cases=20480] [--seed=1] [--json=FILE]\n"
    "Box2D is always measured: every ratio is to it. Prints the median time of a query in ns and, "
    "in\n"
    "brackets, its ratio to Box2D; !k: k wrong answers per 1000, which disqualify; ~k: k contacts "
    "per 1000\n"
    "called otherwise than exact arithmetic calls them.\n";

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> result;
  std::stringstream stream(list);
  for (std::string item; std::getline(stream, item, ',');) result.push_back(item);
  return result;
}

Options parse(int argc, char** argv) {
  Options options;
  const auto numbers = [](const std::string& list) {
    std::vector<int> result;
    for (const std::string& item : split(list)) result.push_back(std::stoi(item));
    return result;
  };
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equals = argument.find('=');
    const std::string key = argument.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    if (key == "--n")
      options.n = numbers(value);
    else if (key == "--kinds")
      options.kinds = split(value);
    else if (key == "--levels")
      options.levels = numbers(value);
    else if (key == "--rows")
      options.rows = value;
    else if (key == "--passes")
      options.passes = std::stoi(value);
    else if (key == "--cases")
      options.cases = std::stoi(value);
    else if (key == "--seed")
      options.seed = std::stoull(value);
    else if (key == "--json")
      options.json = value;
    else {
      std::fputs(kUsage, stderr);
      std::exit(key == "--help" ? 0 : 2);
    }
  }
  return options;
}

// Google Benchmark writes one document per run; here every cell is a run, and all go into one.
class JsonOfAllCells : public benchmark::JSONReporter {
 public:
  bool ReportContext(const Context& context) override {
    if (begun_) return true;
    begun_ = true;
    return JSONReporter::ReportContext(context);
  }
  void Finalize() override {}
  void finish() {
    if (begun_) JSONReporter::Finalize();
  }

 private:
  bool begun_ = false;
};

// Collects what a cell prints, and hands everything on to the JSON.
class CellReporter : public benchmark::BenchmarkReporter {
 public:
  struct Result {
    std::vector<double> times;  // ns per query, one per pass
    double queries = 0.0;
    double wrong = 0.0;
    double inexact = 0.0;
  };
  explicit CellReporter(benchmark::BenchmarkReporter* json) : json_(json) {}
  bool ReportContext(const Context& context) override {
    return !json_ || json_->ReportContext(context);
  }
  void ReportRuns(const std::vector<Run>& runs) override {
    if (json_) json_->ReportRuns(runs);
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration) continue;
      Result& result = results[run.run_name.function_name];
      result.times.push_back(run.GetAdjustedRealTime());
      result.queries += run.counters.at("queries");
      result.wrong += run.counters.at("wrong");
      result.inexact += run.counters.at("inexact");
    }
  }
  std::map<std::string, Result> results;

 private:
  benchmark::BenchmarkReporter* json_;
};

double median(std::vector<double> values) {
  if (values.empty()) return 0.0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

// A pass: the cases in a new order, or for a slow row the next share of them.
class Passes {
 public:
  Passes(const Row& row, const Dataset& dataset, std::uint64_t seed)
      : row_(row), dataset_(dataset), random_(seed), order_(dataset.cases.size()) {
    std::iota(order_.begin(), order_.end(), 0);
    random_.shuffle(order_);
  }
  void run(benchmark::State& state) {
    for (auto _ : state) {
      const std::size_t share = order_.size() / static_cast<std::size_t>(row_.stride);
      if (begin_ + share > order_.size()) begin_ = 0;
      if (begin_ == 0) random_.shuffle(order_);
      const Outcome outcome = row_.pass(dataset_, std::span(order_).subspan(begin_, share));
      begin_ += share;
      // One "iteration" is a pass; what is reported is the time of a query.
      state.SetIterationTime(outcome.seconds / static_cast<double>(outcome.timed));
      state.counters["queries"] = static_cast<double>(outcome.queries);
      state.counters["wrong"] = static_cast<double>(outcome.wrong);
      state.counters["inexact"] = static_cast<double>(outcome.inexact);
      state.counters["max_error"] = outcome.max_error;
    }
  }

 private:
  const Row& row_;
  const Dataset& dataset_;
  gjk::verify::Random random_;
  std::vector<int> order_;
  std::size_t begin_ = 0;
};

int run(const Options& options) {
  std::vector<Row> all;
  add_box2d_rows(all);
  add_gjk_rows(all);
  add_sat_rows(all);
#ifdef GJK_BENCH_PEERS
  add_fcl_rows(all);
  add_bullet_rows(all);
  add_ccd_rows(all);
  add_boost_geometry_rows(all);
  add_geos_rows(all);
#endif

  JsonOfAllCells json;
  std::ofstream json_file;
  if (!options.json.empty()) {
    json_file.open(options.json);
    if (!json_file) {
      std::fprintf(stderr, "gjk_bench: cannot write %s\n", options.json.c_str());
      return 2;
    }
    json.SetOutputStream(&json_file);
    json.SetErrorStream(&std::cerr);
  }

  const std::regex wanted(options.rows, std::regex::icase);
  std::map<std::string, std::map<std::string, CellReporter::Result>> table;  // row, column
  bool ours_wrong = false;
  for (const Kind kind : {Kind::distant, Kind::overlap, Kind::touch}) {
    if (std::find(options.kinds.begin(), options.kinds.end(), name_of(kind)) == options.kinds.end())
      continue;
    for (const int n : options.n) {
      const Dataset dataset = make_dataset(kind, n, options.cases, options.seed);
      std::vector<std::unique_ptr<Passes>> passes;
      benchmark::ClearRegisteredBenchmarks();
      for (const Row& row : all) {
        if (std::find(options.levels.begin(), options.levels.end(), row.level) ==
            options.levels.end())
          continue;
        if (row.name != "Box2D" && !std::regex_search(row.name, wanted)) continue;
        passes.push_back(std::make_unique<Passes>(row, dataset, options.seed + passes.size()));
        Passes* pass = passes.back().get();
        const std::string name = "level" + std::to_string(row.level) + "/" +
                                 std::string(name_of(kind)) + "/" + std::to_string(n) + "/" +
                                 row.name;
        benchmark::RegisterBenchmark(name.c_str(),
                                     [pass](benchmark::State& state) { pass->run(state); })
            ->Iterations(1)
            ->UseManualTime()
            ->Repetitions(options.passes)
            ->Unit(benchmark::kNanosecond);
      }
      CellReporter reporter(options.json.empty() ? nullptr : &json);
      benchmark::RunSpecifiedBenchmarks(&reporter);
      for (const auto& [name, result] : reporter.results) {
        const std::vector<std::string> parts =
            split(std::regex_replace(name, std::regex("/"), ","));
        table[parts[0] + " " + parts[1] + "/" + parts[3]][parts[2]] = result;
        if (parts[3].starts_with("gjk") && result.wrong > 0.0) ours_wrong = true;
      }
    }
    for (const int level : options.levels) {
      const std::string prefix = "level" + std::to_string(level) + " " + std::string(name_of(kind));
      std::printf("%-26s", prefix.c_str());
      for (const int n : options.n) std::printf("%20d", n);
      std::printf("\n");
      for (const Row& row : all) {
        const auto found = table.find(prefix + "/" + row.name);
        if (found == table.end() || row.level != level) continue;
        std::printf("  %-24s", row.name.c_str());
        for (const int n : options.n) {
          const auto& result = found->second[std::to_string(n)];
          const double base = median(table[prefix + "/Box2D"][std::to_string(n)].times);
          char mark[32] = "";
          if (result.wrong > 0.0) {
            std::snprintf(mark, sizeof mark, " !%.3g", 1000.0 * result.wrong / result.queries);
          } else if (result.inexact > 0.0) {
            std::snprintf(mark, sizeof mark, " ~%.0f", 1000.0 * result.inexact / result.queries);
          }
          char cell[64];
          std::snprintf(cell, sizeof cell, "%.1f (%.2f)%s", median(result.times),
                        median(result.times) / base, mark);
          std::printf("%20s", cell);
        }
        std::printf("\n");
      }
      std::fflush(stdout);
    }
  }
  json.finish();
  if (ours_wrong) std::fprintf(stderr, "gjk_bench: a row of this package gave a wrong answer\n");
  return ours_wrong ? 1 : 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  const bench::Options options = bench::parse(argc, argv);
  std::string program = argv[0];
  std::string interleave = "--benchmark_enable_random_interleaving=true";
  char* arguments[] = {program.data(), interleave.data(), nullptr};
  int count = 2;
  benchmark::Initialize(&count, arguments);
  return bench::run(options);
}
