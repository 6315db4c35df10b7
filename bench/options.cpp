// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <sstream>

namespace bench {
namespace {

constexpr const char* kUsage =
    R"(usage: gjk_bench [--n=4,8,12,16,20,24] [--kinds=distant,overlap,touch] [--levels=1,2]
                 [--outlines=polygons|boxes] [--rows=REGEX] [--passes=21] [--cases=20480]
                 [--seed=1] [--json=FILE]

Prints the median time of a query in ns and, in brackets, its ratio to Box2D, which is always measured.
!k: k wrong answers per 1000 queries, which disqualify a row. ~k: k contacts per 1000 called otherwise
than exact arithmetic calls them. -: the row's shapes cannot be these. Exit 1: a row of this package gave a wrong answer.
)";

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> result;
  std::stringstream stream(list);
  for (std::string item; std::getline(stream, item, ',');) result.push_back(item);
  return result;
}

std::vector<int> numbers(const std::string& list) {
  std::vector<int> result;
  for (const std::string& item : split(list)) result.push_back(std::stoi(item));
  return result;
}

std::vector<Kind> kinds(const std::string& list) {
  std::vector<Kind> result;
  for (const std::string& item : split(list)) {
    for (const Kind kind : {Kind::distant, Kind::overlap, Kind::touch}) {
      if (item == name_of(kind)) result.push_back(kind);
    }
  }
  return result;
}

}  // namespace

Options parse(int argc, char** argv) {
  Options options;
  const std::map<std::string, std::function<void(const std::string&)>> take{
      {"--n", [&](const std::string& value) { options.n = numbers(value); }},
      {"--kinds", [&](const std::string& value) { options.kinds = kinds(value); }},
      {"--levels", [&](const std::string& value) { options.levels = numbers(value); }},
      {"--outlines",
       [&](const std::string& value) {
         options.outlines = value == "boxes" ? Outlines::boxes : Outlines::polygons;
       }},
      {"--rows", [&](const std::string& value) { options.rows = value; }},
      {"--passes", [&](const std::string& value) { options.passes = std::stoi(value); }},
      {"--cases", [&](const std::string& value) { options.cases = std::stoi(value); }},
      {"--seed", [&](const std::string& value) { options.seed = std::stoull(value); }},
      {"--json", [&](const std::string& value) { options.json = value; }},
  };
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equals = argument.find('=');
    const auto found = take.find(argument.substr(0, equals));
    if (found == take.end() || equals == std::string::npos) {
      std::fputs(kUsage, stderr);
      std::exit(argument == "--help" ? 0 : 2);
    }
    found->second(argument.substr(equals + 1));
  }
  return options;
}

}  // namespace bench
