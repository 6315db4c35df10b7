// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Two convex shapes: every answer, with every instruction set, against integer arithmetic; and
// against the kernel's own exact path.
#include <cstdio>
#include <cstdlib>

#include "bytes.hpp"
#include "cases.hpp"
#include "check.hpp"
#include "isas.hpp"

namespace gjk::fuzz {
namespace {

using verify::Answers;
using verify::Pair;
using verify::Polygon;

// Small integers times a power of two, moved by ulps: contacts and near contacts are likely.
double coordinate(Bytes& bytes, int exponent) {
  double v = std::ldexp(bytes.take<std::int8_t>(), exponent);
  for (int ulps = bytes.take<std::uint8_t>(); ulps > 250 && v != 0.0; --ulps) {
    v = std::nextafter(v, 1e9);
  }
  return v;
}

Polygon polygon(Bytes& bytes) {
  const int exponent = bytes.take<std::int8_t>() % 16;
  const Vec2 place{std::ldexp(bytes.take<std::int8_t>(), bytes.below(14)),
                   std::ldexp(bytes.take<std::int8_t>(), bytes.below(14))};
  Polygon points;
  for (int i = 1 + bytes.below(24); i > 0; --i) {
    const double x = coordinate(bytes, exponent);
    points.add(place + Vec2{x, coordinate(bytes, exponent)});
  }
  return verify::convex_hull(points);
}

// Repeats a vertex.
void repeat(Polygon& polygon, int i) {
  polygon.x.insert(polygon.x.begin() + i, polygon.x[static_cast<std::size_t>(i)]);
  polygon.y.insert(polygon.y.begin() + i, polygon.y[static_cast<std::size_t>(i)]);
}

// Of a family of the generators, moved by ulps.
Pair of_family(Bytes& bytes) {
  const int first = static_cast<int>(verify::Type::first_family);
  const auto families = static_cast<int>(verify::kFamilyNames.size());
  const auto type = static_cast<verify::Type>(first + bytes.below(families));
  verify::Random random(bytes.take<std::uint32_t>());
  Pair pair = verify::draw(type, random);
  const auto by_ulps = [&](double v) {
    return verify::detail::by_ulps(v, bytes.take<std::int8_t>() % 4);
  };
  for (Pose* pose : {&pair.p_pose, &pair.q_pose}) {
    *pose = {by_ulps(pose->x), by_ulps(pose->y), by_ulps(pose->yaw)};
  }
  pair.margin = std::fabs(by_ulps(pair.margin));
  return pair;
}

Pair pair_of(Bytes& bytes) {
  Pair pair;
  pair.p = polygon(bytes);
  pair.q = polygon(bytes);
  const int flags = bytes.take<std::uint8_t>();
  if (flags & 1) {  // brought together
    const Vec2 gap = verify::separation(pair.p, pair.q);
    pair.q = verify::convex_hull(verify::moved(pair.q, -gap));
  }
  if (flags & 2) {
    pair.p_radius = std::fabs(coordinate(bytes, 0));
    pair.q_radius = std::fabs(coordinate(bytes, -3));
  }
  if (flags & 4) pair.margin = std::fabs(coordinate(bytes, -2));
  if (flags & 32) pair = of_family(bytes);
  if (flags & 8) repeat(pair.p, bytes.below(pair.p.size()));
  if (flags & 16) repeat(pair.q, bytes.below(pair.q.size()));
  return pair;
}

// The verdict without GJK, on the shapes at their poses.
Verdict exactly(const Pair& pair) {
  const Convex p = pair.p.view(pair.p_radius);
  const Convex q = pair.q.view(pair.q_radius);
  if (!pair.has_poses) return exact::collide(p, q, pair.margin);
  Room of_p(p.size);
  Room of_q(q.size);
  return exact::collide(of_p.place(p, Transform::from_pose(pair.p_pose)),
                        of_q.place(q, Transform::from_pose(pair.q_pose)), pair.margin);
}

[[noreturn]] void fail(const std::string& what) {
  std::fputs(what.c_str(), stderr);
  std::abort();
}

}  // namespace
}  // namespace gjk::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gjk;
  fuzz::Bytes bytes(data, size);
  const verify::Pair pair = fuzz::pair_of(bytes);
  static const auto isas = verify::available_isas();
  simd::isa = isas.front();
  const verify::Answers answers = verify::answer(pair);
  const auto findings = verify::check(pair, answers, verify::truth_of(pair), true);
  if (findings.failed()) fuzz::fail(findings.what);

  // Shapes with errors may be FREE by one way and not by the other; check() tests both answers.
  if (answers.error == 0.0 && fuzz::exactly(pair) != answers.collide) {
    fuzz::fail("exact::collide disagrees\n" + verify::literal(pair));
  }
  for (const auto isa : isas) {
    simd::isa = isa;
    if (!verify::answer(pair).same_as(answers)) {
      fuzz::fail(std::string(verify::name_of(isa)) + " answers otherwise\n" +
                 verify::literal(pair));
    }
  }
  return 0;
}
