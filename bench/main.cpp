// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Times every row over every cell (number of vertices, kind of pair) and prints tables of ratios.
#include <dlfcn.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <regex>
#include <set>

#include "measure.hpp"

namespace bench {
namespace {

#ifdef GJK_BENCH_COAL
void add_coal_rows(std::vector<Row>& rows) {
  void* module = dlopen(GJK_BENCH_COAL, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (module == nullptr) throw std::runtime_error(dlerror());
  reinterpret_cast<void (*)(std::vector<Row>&)>(dlsym(module, "add_coal_rows"))(rows);
}
#endif

std::vector<Row> rows_for(const Options& options) {
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
#ifdef GJK_BENCH_COAL
  add_coal_rows(all);
#endif
  const std::regex wanted(options.rows);
  const std::set<int> levels(options.levels.begin(), options.levels.end());
  std::erase_if(all, [&](const Row& row) {
    return !levels.contains(row.level) ||
           (!row.name.starts_with("Box2D") && !std::regex_search(row.name, wanted));
  });
  return all;
}

std::string cell(const Result& result, double base) {
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
      const bool at_poses = row.name.ends_with("at poses");
      const double base = column[{level, at_poses ? "Box2D at poses" : "Box2D"}].median();
      std::printf("%22s", cell(column[{level, row.name}], base).c_str());
    }
    std::printf("\n");
  }
  std::fflush(stdout);
}

void write_cases(const Options& options) {
  std::filesystem::create_directories(options.write);
  for (const Kind kind : options.kinds) {
    for (const int n : options.n) {
      const Dataset dataset = make_dataset(kind, n, options.cases, options.seed);
      std::ofstream file(
          options.write + "/" + std::string(name_of(kind)) + "-" + std::to_string(n) + ".f64",
          std::ios::binary);
      for (const Case& c : dataset.cases) {
        for (const auto* values : {&c.a.x, &c.a.y, &c.b.x, &c.b.y}) {
          file.write(reinterpret_cast<const char*>(values->data()),
                     static_cast<std::streamsize>(values->size() * sizeof(double)));
        }
        file.write(reinterpret_cast<const char*>(&c.distance), sizeof(double));
      }
      if (!file) throw std::runtime_error("cannot write to " + options.write);
    }
  }
}

int run(const Options& options) {
  if (!options.write.empty()) {
    write_cases(options);
    return 0;
  }
  const std::vector<Row> rows = rows_for(options);
  benchmark::AddCustomContext("compiler", std::string("g++ ") + __VERSION__);
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
      const Dataset dataset = make_dataset(kind, n, options.cases, options.seed);
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
