// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Google Benchmark, driven cell by cell: the rows of a cell are interleaved pass by pass.
#pragma once

#include <benchmark/benchmark.h>

#include <fstream>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dataset.hpp"
#include "options.hpp"
#include "rows.hpp"

namespace bench {

struct Result {
  std::vector<double> times;  // ns per query, one per pass
  double queries = 0.0;
  double wrong = 0.0;
  double inexact = 0.0;

  double median() const;  // ns
};

using RowKey = std::pair<int, std::string>;  // level, name

// Google Benchmark writes a document per run; here every cell is a run, and all go into one
// document.
class Json {
 public:
  explicit Json(const std::string& file);  // empty: none
  ~Json();
  Json(const Json&) = delete;

 private:
  friend std::map<RowKey, Result> measure(const Dataset&, std::span<const Row>, const Options&,
                                          Json&);
  struct Reporter : benchmark::JSONReporter {
    bool ReportContext(const Context& context) override;
    void Finalize() override {}
    void finish();
    bool begun = false;
  };
  std::ofstream file_;
  Reporter reporter_;
};

// Runs the rows over one dataset.
std::map<RowKey, Result> measure(const Dataset& dataset, std::span<const Row> rows,
                                 const Options& options, Json& json);

}  // namespace bench
