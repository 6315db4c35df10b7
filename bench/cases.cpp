// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Cases in files: for programs in other languages, and of other machines, which need no GMP.
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "dataset.hpp"

namespace bench {
namespace {

std::string file_of(Kind kind, int n, const std::string& folder) {
  return folder + "/" + std::string(name_of(kind)) + "-" + std::to_string(n) + ".f64";
}

}  // namespace

std::string_view name_of(Kind kind) {
  return kind == Kind::distant ? "distant" : (kind == Kind::overlap ? "overlap" : "touch");
}

void write_cases(const Dataset& dataset, const std::string& folder) {
  std::filesystem::create_directories(folder);
  std::ofstream file(file_of(dataset.kind, dataset.n, folder), std::ios::binary);
  for (const Case& c : dataset.cases) {
    for (const auto* values : {&c.a.x, &c.a.y, &c.b.x, &c.b.y}) {
      file.write(reinterpret_cast<const char*>(values->data()),
                 static_cast<std::streamsize>(values->size() * sizeof(double)));
    }
    file.write(reinterpret_cast<const char*>(&c.distance), sizeof(double));
  }
  if (!file) throw std::runtime_error("cannot write to " + folder);
}

Dataset read_cases(Kind kind, int n, const std::string& folder) {
  std::ifstream file(file_of(kind, n, folder), std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + file_of(kind, n, folder));
  Dataset dataset{kind, n, {}};
  const auto bytes = static_cast<std::streamsize>(static_cast<std::size_t>(n) * sizeof(double));
  for (;;) {
    Case c;
    for (auto* values : {&c.a.x, &c.a.y, &c.b.x, &c.b.y}) {
      values->resize(static_cast<std::size_t>(n));
      file.read(reinterpret_cast<char*>(values->data()), bytes);
    }
    file.read(reinterpret_cast<char*>(&c.distance), sizeof(double));
    if (!file) return dataset;
    c.collides = c.distance == 0.0;
    dataset.cases.push_back(std::move(c));
  }
}

}  // namespace bench
