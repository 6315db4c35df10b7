// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The command line of gjk_bench.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dataset.hpp"

namespace bench {

struct Options {
  std::vector<int> n{4, 8, 12, 16, 20, 24};
  std::vector<Kind> kinds{Kind::distant, Kind::overlap, Kind::touch};
  std::vector<int> levels{1, 2};
  Outlines outlines = Outlines::polygons;
  std::string rows = ".*";  // regular expression
  int passes = 21;
  int cases = 20480;
  std::uint64_t seed = 1;
  std::string json;  // file, or empty
};

// Prints the usage and ends the program where the arguments ask for it or are wrong.
Options parse(int argc, char** argv);

}  // namespace bench
