// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Answers the cases of a folder with each row of ours, for count_instructions.c to count. Runs
// under qemu's emulation of this machine and of others, so it needs no library.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numeric>

#include "isas.hpp"
#include "rows.hpp"

namespace {

using namespace bench;

constexpr const char* kUsage =
    "usage: gjk_instructions FOLDER ISA            answer the cases there: for a count of "
    "instructions\n"
    "       gjk_instructions write FOLDER CASES    write that many cases per cell\n";

// A system call that does not exist: count_instructions.c then prints the count so far.
void mark() { syscall(1000000); }

// Marks before, between and after two passes, of which the second answers twice. Prints what they
// were; 1 where an answer was wrong.
int count(const Row& row, const Dataset& dataset) {
  std::vector<int> order(dataset.cases.size());
  std::iota(order.begin(), order.end(), 0);
  Outcome outcome;
  mark();
  for (repeats = 1; repeats <= 2; ++repeats) {
    outcome = row.pass(dataset, order, queries_per_chunk(row.stride));
    mark();
  }
  std::printf("level%d/%s/%d/%s %zu\n", row.level, name_of(dataset.kind).data(), dataset.n,
              row.name.c_str(), order.size());
  if (outcome.wrong == 0) return 0;
  std::fprintf(stderr, "gjk_instructions: %ld wrong answers in level %d, %s, %d, %s\n",
               static_cast<long>(outcome.wrong), row.level, name_of(dataset.kind).data(), dataset.n,
               row.name.c_str());
  return 1;
}

template <class Visit>
int for_each_cell(const Visit& visit) {
  int wrong = 0;
  for (const Kind kind : {Kind::distant, Kind::overlap, Kind::touch}) {
    for (const int n : {4, 8, 12, 16, 20, 24}) wrong |= visit(kind, n);
  }
  return wrong;
}

int run(const std::string& folder, const std::string& name) {
  for (const auto isa : gjk::verify::available_isas()) {
    if (gjk::verify::name_of(isa) != name) continue;
    gjk::simd::isa = isa;
    std::vector<Row> rows;
    add_gjk_rows(rows);
    return for_each_cell([&](Kind kind, int n) {
      const Dataset dataset = read_cases(kind, n, folder);
      int wrong = 0;
      for (const Row& row : rows) wrong |= count(row, dataset);
      return wrong;
    });
  }
  std::fprintf(stderr, "gjk_instructions: this processor has no %s\n", name.c_str());
  return 2;
}

}  // namespace

int main(int argc, char** argv) try {
#ifdef GJK_BENCH_WRITES_CASES
  if (argc == 4 && std::string(argv[1]) == "write") {
    return for_each_cell([&](Kind kind, int n) {
      write_cases(make_dataset(kind, n, std::atoi(argv[3]), 1), argv[2]);
      return 0;
    });
  }
#endif
  if (argc == 3) return run(argv[1], argv[2]);
  std::fputs(kUsage, stderr);
  return 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "gjk_instructions: %s\n", error.what());
  return 2;
}
