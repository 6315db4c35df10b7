// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
#include "measure.hpp"

#include <algorithm>
#include <iostream>
#include <memory>
#include <numeric>
#include <stdexcept>

#include "random.hpp"

namespace bench {
namespace {

// Each pass takes the cases in a new order, or for a slow row the next share of them.
class Passes {
 public:
  Passes(const Row& row, const Dataset& dataset, std::uint64_t seed)
      : row_(row), dataset_(dataset), random_(seed), order_(dataset.cases.size()) {
    std::iota(order_.begin(), order_.end(), 0);
  }

  void run(benchmark::State& state) {
    for (auto _ : state) {
      const std::size_t share = order_.size() / static_cast<std::size_t>(row_.stride);
      if (begin_ + share > order_.size()) begin_ = 0;
      if (begin_ == 0) random_.shuffle(order_);
      const Outcome outcome = row_.pass(dataset_, std::span(order_).subspan(begin_, share),
                                        queries_per_chunk(row_.stride));
      begin_ += share;
      // One "iteration" is a pass; what is reported is the time of a query. 0: none could be timed.
      const auto timed = static_cast<double>(std::max<std::int64_t>(1, outcome.timed));
      state.SetIterationTime(outcome.seconds / timed);
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

// Keeps what the tables need; hands everything on to the JSON.
class Reporter : public benchmark::BenchmarkReporter {
 public:
  explicit Reporter(benchmark::BenchmarkReporter* json) : json_(json) {}
  bool ReportContext(const Context& context) override {
    return json_ == nullptr || json_->ReportContext(context);
  }
  void ReportRuns(const std::vector<Run>& runs) override {
    if (json_ != nullptr) json_->ReportRuns(runs);
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration) continue;
      Result& result = results[run.run_name.function_name];
      if (run.GetAdjustedRealTime() > 0.0) result.times.push_back(run.GetAdjustedRealTime());
      result.queries += run.counters.at("queries");
      result.wrong += run.counters.at("wrong");
      result.inexact += run.counters.at("inexact");
    }
  }
  std::map<std::string, Result> results;  // by benchmark name

 private:
  benchmark::BenchmarkReporter* json_;
};

}  // namespace

double Result::median() const {
  if (times.empty()) return 0.0;
  std::vector<double> sorted = times;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : 0.5 * (sorted[half - 1] + sorted[half]);
}

Json::Json(const std::string& file) {
  if (file.empty()) return;
  file_.open(file);
  if (!file_) throw std::runtime_error("cannot write " + file);
  reporter_.SetOutputStream(&file_);
  reporter_.SetErrorStream(&std::cerr);
}

Json::~Json() {
  if (file_.is_open()) reporter_.finish();
}

bool Json::Reporter::ReportContext(const Context& context) {
  if (begun) return true;
  begun = true;
  return JSONReporter::ReportContext(context);
}

void Json::Reporter::finish() {
  if (begun) JSONReporter::Finalize();
}

std::map<RowKey, Result> measure(const Dataset& dataset, std::span<const Row> rows,
                                 const Options& options, Json& json) {
  benchmark::ClearRegisteredBenchmarks();
  std::vector<std::unique_ptr<Passes>> passes;
  std::map<std::string, RowKey> keys;
  for (const Row& row : rows) {
    if (!row.takes(dataset)) continue;
    passes.push_back(std::make_unique<Passes>(row, dataset, options.seed + passes.size()));
    const std::string name = "level" + std::to_string(row.level) + "/" +
                             std::string(name_of(dataset.kind)) + "/" + std::to_string(dataset.n) +
                             "/" + row.name;
    keys[name] = {row.level, row.name};
    benchmark::RegisterBenchmark(
        name.c_str(), [pass = passes.back().get()](benchmark::State& state) { pass->run(state); })
        ->Iterations(1)
        ->UseManualTime()
        ->Repetitions(options.passes)
        ->Unit(benchmark::kNanosecond);
  }
  Reporter reporter(json.file_.is_open() ? &json.reporter_ : nullptr);
  benchmark::RunSpecifiedBenchmarks(&reporter);
  std::map<RowKey, Result> results;
  for (auto& [name, result] : reporter.results) results[keys.at(name)] = std::move(result);
  return results;
}

}  // namespace bench
