// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Times every row over every cell (number of vertices, kind of pair) and prints tables of ratios.
#include <dlfcn.h>

#include <cstdio>
#include <exception>
#include <regex>
#include <set>

#include "measure.hpp"

namespace bench {
namespace {

// Peers whose symbols would clash are modules. The list of their files ends with a null pointer.
constexpr const char* kModules[] = {GJK_BENCH_MODULES nullptr};

void add_module_rows(const char* file, std::vector<Row>& rows) {
  void* module = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (module == nullptr) throw std::runtime_error(dlerror());
  reinterpret_cast<void (*)(std::vector<Row>&)>(dlsym(module, "add_rows"))(rows);
}

std::vector<Row> rows_for(const Options& options) {
  std::vector<Row> all;
  add_box2d_rows(all);
  add_gjk_rows(all);
  add_sat_rows(all);
#ifdef GJK_BENCH_PEERS
  add_fcl_rows(all);
  add_geos_rows(all);
#endif
  for (const char* const* file = kModules; *file != nullptr; ++file) add_module_rows(*file, all);
  const std::regex wanted(options.rows);
  const std::set<int> levels(options.levels.begin(), options.levels.end());
  std::erase_if(all, [&](const Row& row) {
    return !levels.contains(row.level) ||
           (!row.name.starts_with("Box2D") && !std::regex_search(row.name, wanted));
  });
  return all;
}

std::string cell(const Result& result, double base) {
  if (result.times.empty()) return "-";
  char text[64];
  std::snprintf(text, sizeof text, "%.1f (%.2f)", result.median(), result.median() / base);
  char mark[32] = "";
  if (result.wrong > 0.0) {
    std::snprintf(mark, sizeof mark, " !%.3g", 1000.0 * result.wrong / result.queries);
  } else if (result.inexact > 0.0) {
    std::snprintf(mark, sizeof mark, " ~%.0f", 1000.0 * result.inexact / result.queries);
  }
  return std::string(text) + mark;
}

// Box2D's row for the same input.
std::string base_of(const std::string& row) {
  for (const char* input : {" at poses", " from vertices"}) {
    if (row.ends_with(input)) return std::string("Box2D") + input;
  }
  return "Box2D";
}

// Columns: numbers of vertices.
void print_table(int level, Kind kind, std::span<const Row> rows, const Options& options,
                 std::vector<std::map<RowKey, Result>>& columns) {
  std::printf("\nlevel %d %-18s", level, std::string(name_of(kind)).c_str());
  for (const int n : options.n) std::printf("%22d", n);
  std::printf("\n");
  for (const Row& row : rows) {
    if (row.level != level) continue;
    std::printf("  %-24s", row.name.c_str());
    for (auto& column : columns) {
      const double base = column[{level, base_of(row.name)}].median();
      std::printf("%22s", cell(column[{level, row.name}], base).c_str());
    }
    std::printf("\n");
  }
  std::fflush(stdout);
}

int run(const Options& options) {
  const std::vector<Row> rows = rows_for(options);
  benchmark::AddCustomContext("compiler", std::string("g++ ") + __VERSION__);
  benchmark::AddCustomContext("absent peers", GJK_BENCH_ABSENT);
  for (const Row& row : rows) {
    if (row.level == options.levels.front() && !row.version.empty()) {
      benchmark::AddCustomContext("version " + row.name, row.version);
    }
  }
  Json json(options.json);
  bool wrong = false;
  for (const Kind kind : options.kinds) {
    std::vector<std::map<RowKey, Result>> columns;
    for (const int n : options.n) {
      const Dataset dataset = make_dataset(kind, n, options.cases, options.seed, options.outlines);
      columns.push_back(measure(dataset, rows, options, json));
      for (const auto& [key, result] : columns.back()) {
        wrong |= key.second.starts_with("gjk") && result.wrong > 0.0;
      }
    }
    for (const int level : options.levels) print_table(level, kind, rows, options, columns);
  }
  if (wrong) std::fprintf(stderr, "gjk_bench: a row of this package gave a wrong answer\n");
  return wrong ? 1 : 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) try {
  const bench::Options options = bench::parse(argc, argv);
  std::string program = argv[0];
  std::string interleave = "--benchmark_enable_random_interleaving=true";
  char* arguments[] = {program.data(), interleave.data(), nullptr};
  int count = 2;
  benchmark::Initialize(&count, arguments);
  return bench::run(options);
} catch (const std::exception& error) {
  std::fprintf(stderr, "gjk_bench: %s\n", error.what());
  return 2;
}
