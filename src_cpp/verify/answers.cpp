// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Prints what the kernel answers for every pair of a corpus, to the last bit. Run on two machines,
// or with two instruction sets, the output must be the same.
#include "answers.hpp"

#include <bit>
#include <cinttypes>
#include <cstdio>
#include <string>

#include "corpus.hpp"
#include "isas.hpp"

namespace gjk::verify {
namespace {

constexpr const char* kUsage =
    "usage: gjk_answers [--isa=NAME] CORPUS   answers, with that instruction set or the widest\n"
    "       gjk_answers --isas                names those that this processor has\n";

void print(const char* name, std::initializer_list<double> values) {
  std::printf(" %s", name);
  for (const double v : values) std::printf(" %016" PRIx64, std::bit_cast<std::uint64_t>(v));
}

void print(const Answers& answers) {
  const Closest& near = answers.closest;
  std::printf(" verdicts %d %d %d", static_cast<int>(answers.collide),
              static_cast<int>(answers.swapped), static_cast<int>(answers.classify));
  print("distance", {answers.distance.lower, answers.distance.upper});
  print("closest", {near.distance, near.lower_bound, near.point_a.x, near.point_a.y, near.point_b.x,
                    near.point_b.y, near.direction.x, near.direction.y});
  std::printf(" features %d %d %d %d\n", near.feature_a.first, near.feature_a.second,
              near.feature_b.first, near.feature_b.second);
}

int run(const char* name) {
  std::FILE* file = std::fopen(name, "rb");
  if (file == nullptr) {
    std::fprintf(stderr, "gjk_answers: cannot read %s\n", name);
    return 2;
  }
  Pair pair;
  for (long i = 0; read(file, pair); ++i) {
    std::printf("%ld", i);
    print(answer(pair));
  }
  std::fclose(file);
  return 0;
}

}  // namespace
}  // namespace gjk::verify

int main(int argc, char** argv) {
  using namespace gjk::verify;
  if (argc == 2 && std::string(argv[1]) == "--isas") {
    for (const auto isa : available_isas()) std::printf("%s\n", name_of(isa).data());
    return 0;
  }
  if (argc != 2 && argc != 3) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  for (const auto isa : available_isas()) {
    if (argc == 2 || argv[1] == "--isa=" + std::string(name_of(isa))) {
      gjk::simd::isa = isa;
      return run(argv[argc - 1]);
    }
  }
  std::fputs(kUsage, stderr);
  return 2;
}
