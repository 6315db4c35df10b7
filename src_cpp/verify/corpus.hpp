// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Pairs in a file, so that another machine can answer the very same ones: doubles, little-endian.
#pragma once

#include <cstdio>
#include <vector>

#include "pair.hpp"

namespace gjk::verify {

inline std::vector<double> to_numbers(const Pair& pair) {
  std::vector<double> numbers{static_cast<double>(pair.p.size()),
                              static_cast<double>(pair.q.size()),
                              pair.p_radius,
                              pair.q_radius,
                              pair.margin,
                              pair.has_poses ? 1.0 : 0.0,
                              pair.p_pose.x,
                              pair.p_pose.y,
                              pair.p_pose.yaw,
                              pair.q_pose.x,
                              pair.q_pose.y,
                              pair.q_pose.yaw};
  for (const auto* values : {&pair.p.x, &pair.p.y, &pair.q.x, &pair.q.y}) {
    numbers.insert(numbers.end(), values->begin(), values->end());
  }
  return numbers;
}

inline void write(std::FILE* file, const Pair& pair) {
  const std::vector<double> numbers = to_numbers(pair);
  std::fwrite(numbers.data(), sizeof(double), numbers.size(), file);
}

// False at the end of the file.
inline bool read(std::FILE* file, Pair& pair) {
  double head[12];
  if (std::fread(head, sizeof(double), 12, file) != 12) return false;
  pair.p_radius = head[2];
  pair.q_radius = head[3];
  pair.margin = head[4];
  pair.has_poses = head[5] != 0.0;
  pair.p_pose = {head[6], head[7], head[8]};
  pair.q_pose = {head[9], head[10], head[11]};
  const auto take = [&](std::vector<double>& values, double count) {
    values.resize(static_cast<std::size_t>(count));
    return std::fread(values.data(), sizeof(double), values.size(), file) == values.size();
  };
  return take(pair.p.x, head[0]) && take(pair.p.y, head[0]) && take(pair.q.x, head[1]) &&
         take(pair.q.y, head[1]);
}

}  // namespace gjk::verify
