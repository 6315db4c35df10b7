// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// What a module with the kernel and the rows of one revision offers. Only plain types, because the
// two revisions may differ in all others.
#pragma once

#include <cstdint>

namespace compare {

struct Pass {
  double seconds;
  std::int64_t timed;  // queries in `seconds`
  std::int64_t wrong;
};

// Cases are flat: of each the x, then the y of a, the x, then the y of b, and the distance.
inline std::int64_t doubles_per_case(int n) { return 4 * n + 1; }

struct Side {
  int (*rows)();
  const char* (*name)(int row);
  int (*level)(int row);
  void (*make)(int kind, int n, int cases, std::uint64_t seed, double* flat);
  void (*load)(int kind, int n, int cases, const double* flat);
  // Answers the loaded cases of `order`, `chunk` at a time.
  Pass (*pass)(int row, const int* order, int count, int chunk);
};

}  // namespace compare
