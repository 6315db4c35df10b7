// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Doubles as they come, at poses as they come: no undefined behaviour, nothing bad is ever free,
// bounds in order, and every instruction set alike. The polygons need not be convex.
#include <cstdio>
#include <cstdlib>

#include "answers.hpp"
#include "bytes.hpp"
#include "isas.hpp"
#include "literal.hpp"

namespace gjk::fuzz {
namespace {

verify::Polygon polygon(Bytes& bytes) {
  verify::Polygon result;
  for (int i = bytes.below(70); i > 0; --i) {
    const double x = bytes.take<double>();
    result.add({x, bytes.take<double>()});
  }
  return result;
}

Pose pose(Bytes& bytes) {
  const double x = bytes.take<double>();
  const double y = bytes.take<double>();
  return {x, y, bytes.take<double>()};
}

bool is_finite(const verify::Polygon& polygon) {
  for (const auto* values : {&polygon.x, &polygon.y}) {
    for (const double v : *values) {
      if (!std::isfinite(v)) return false;
    }
  }
  return !polygon.x.empty();
}

bool is_finite(const Pose& pose) {
  return std::isfinite(pose.x) && std::isfinite(pose.y) && std::isfinite(pose.yaw);
}

void require(bool holds, const char* what, const verify::Pair& pair) {
  if (holds) return;
  std::fprintf(stderr, "%s\n%s", what, verify::literal(pair).c_str());
  std::abort();
}

}  // namespace
}  // namespace gjk::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gjk;
  using fuzz::is_finite;
  using fuzz::require;
  fuzz::Bytes bytes(data, size);
  verify::Pair pair;
  const int flags = bytes.take<std::uint8_t>();
  pair.has_poses = (flags & 1) != 0;
  if (flags & 2) pair.p_radius = bytes.take<double>();
  if (flags & 4) pair.margin = bytes.take<double>();
  if (pair.has_poses) {
    pair.p_pose = fuzz::pose(bytes);
    pair.q_pose = fuzz::pose(bytes);
  }
  pair.p = fuzz::polygon(bytes);
  pair.q = fuzz::polygon(bytes);

  static const auto isas = verify::available_isas();
  simd::isa = isas.front();
  const verify::Answers answers = verify::answer(pair);
  const bool bad = !is_finite(pair.p) || !is_finite(pair.q) || !(pair.p_radius >= 0.0) ||
                   !(pair.margin >= 0.0) || std::isinf(pair.p_radius) || std::isinf(pair.margin) ||
                   (pair.has_poses && !(is_finite(pair.p_pose) && is_finite(pair.q_pose)));
  if (bad) {
    require(answers.collide == Verdict::unknown, "collide knows a bad shape", pair);
    require(answers.in_batch == Verdict::unknown, "collide_pairs knows a bad shape", pair);
    require(answers.at_poses == Verdict::unknown, "collide at poses knows a bad shape", pair);
    require(answers.of_points.collide == Verdict::unknown, "collide knows a bad hull", pair);
    require(answers.of_disordered.collide == Verdict::unknown, "collide knows a bad hull", pair);
    require(answers.classify == Verdict::unknown, "classify knows a bad shape", pair);
  } else if (answers.collide != Verdict::unknown) {
    require(answers.distance.lower <= answers.distance.upper, "distance: bounds crossed", pair);
    require(answers.in_batch == answers.collide, "collide_pairs answers otherwise", pair);
    require(answers.closest.lower_bound <= answers.closest.distance, "closest: bounds crossed",
            pair);
  }
  // The order of points does not matter. If they are an outline, they are the shape itself.
  const verify::OfHulls& hulls = answers.of_points;
  require(pair.has_poses || hulls.collide == answers.of_disordered.collide,
          "the order of points matters", pair);
  require(pair.has_poses || answers.collide == Verdict::unknown || hulls.collide == answers.collide,
          "collide of hulls answers otherwise", pair);
  for (const auto isa : isas) {
    simd::isa = isa;
    require(verify::answer(pair).same_as(answers), verify::name_of(isa).data(), pair);
  }
  return 0;
}
