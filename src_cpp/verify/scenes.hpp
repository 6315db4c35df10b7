// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Scenes of a family, every query of them at rest, and what is demanded of the answers.
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "check.hpp"
#include "families.hpp"
#include "gjk/scene/pairwise.hpp"
#include "gjk/scene/scene.hpp"

namespace gjk::verify {

// An ego among obstacles, at poses.
struct World {
  Body ego;
  std::vector<Body> obstacles;
  std::vector<Pose> poses;
  double margin = 0.0;  // m
};

inline World draw_world(Family family, Random& random) {
  Meeting meeting = draw_meeting(family, random);
  World world{std::move(meeting.ego), {}, {}, meeting.margin};
  world.obstacles.push_back(std::move(meeting.obstacle));
  const double size = std::fmax(
      0x1p-30, std::fmax(detail::extent_of(world.ego), detail::extent_of(world.obstacles.front())));
  const Pose at = world.obstacles.front().pose;
  for (int k = random.chance(0.3) ? 0 : random.below(12); k > 0; --k) {
    Body other = body_of(random.chance(0.5) ? outline_of(family, random) : detail::plain(random),
                         a_radius(random), random);
    const Vec2 away = (size * random.uniform(0.0, 12.0)) * random.direction();
    other.pose = {at.x + away.x, at.y + away.y, detail::yaw_of(family, random)};
    if (std::fmax(std::fabs(other.pose.x), std::fabs(other.pose.y)) < 0.5 * kMaxCoordinate) {
      world.obstacles.push_back(std::move(other));
    }
  }
  if (random.chance(0.5)) std::swap(world.obstacles.front(), world.obstacles.back());
  const Pose start = world.ego.pose;
  world.poses.push_back(start);
  const int count = random.chance(0.2) ? 20 : 4;  // beyond, or within, one look ahead
  for (int k = 1; k < count; ++k) {
    Body moved = world.ego;
    moved.pose = random.chance(0.5) ? start : world.poses.back();
    switch (random.below(5)) {
      case 0:
        moved.pose.x = detail::by_ulps(moved.pose.x, random.between(-2, 2));
        moved.pose.y = detail::by_ulps(moved.pose.y, random.between(-2, 2));
        break;
      case 1:
        moved.pose.yaw = detail::by_ulps(moved.pose.yaw, random.between(-2, 2));
        break;
      case 2: {
        const Vec2 away = (size * random.uniform(0.0, 2.0)) * random.direction();
        moved.pose.x += away.x;
        moved.pose.y += away.y;
        break;
      }
      default: {
        const auto which =
            static_cast<std::size_t>(random.below(static_cast<int>(world.obstacles.size())));
        const Vec2 away = (size * random.uniform(0.5, 3.0)) * random.direction();
        const Pose& beside = world.obstacles[which].pose;
        moved.pose = {beside.x + away.x, beside.y + away.y, detail::yaw_of(family, random)};
        detail::bring_to(moved, world.obstacles[which],
                         detail::gap_near(world.margin, size, random));
      }
    }
    world.poses.push_back(moved.pose);
  }
  return world;
}

inline std::string literal(const Body& body, const char* name) {
  std::string text = std::string("  ") + name + ", radius " + number(body.radius()) + ", at (" +
                     number(body.pose.x) + ", " + number(body.pose.y) + ", " +
                     number(body.pose.yaw) + "):";
  for (const Polygon& part : body.parts) {
    text += " [";
    for (int i = 0; i < part.size(); ++i) {
      text += (i > 0 ? ", (" : "(") + number(part.x[static_cast<std::size_t>(i)]) + ", " +
              number(part.y[static_cast<std::size_t>(i)]) + ")";
    }
    text += "]";
  }
  return text + (body.parts.size() == 1 && body.shape.part(0).size < body.parts[0].size()
                     ? " (hull)\n"
                     : "\n");
}

// The ego at one place against all obstacles at theirs.
class PlacedTruth {
 public:
  // A part of the ego and a part of an obstacle.
  struct Couple {
    std::size_t owner;  // index of the obstacle
    const Polygon* p;
    const Polygon* q;
    const TruePose* q_pose;
    double p_radius;
    double q_radius;
    double error;        // m: of both, as the kernel states it
    double extent;       // m: of both about the scene's origin
    long double beyond;  // m: their distance, less the radii, is more than this
  };

  // `stated`: the places of the obstacles in doubles, and what the kernel states to be their
  // errors.
  PlacedTruth(const Body& ego, const Placement& at, TruePose true_pose,
              const std::vector<const Body*>& obstacles, const std::vector<Placement>& stated,
              std::vector<TruePose> places, Vec2 origin)
      : ego_pose_(std::move(true_pose)), places_(std::move(places)) {
    const Sizes ego_sizes = sizes_of(ego, at, origin);
    for (std::size_t i = 0; i < obstacles.size(); ++i) {
      const Body& obstacle = *obstacles[i];
      const Sizes sizes = sizes_of(obstacle, stated[i], origin);
      const auto way_x = static_cast<long double>(mpq_class(places_[i].x - ego_pose_.x).get_d());
      const auto way_y = static_cast<long double>(mpq_class(places_[i].y - ego_pose_.y).get_d());
      const long double centres = std::sqrt(way_x * way_x + way_y * way_y);
      for (std::size_t a = 0; a < ego.parts.size(); ++a) {
        for (std::size_t b = 0; b < obstacle.parts.size(); ++b) {
          const long double reach =
              ego_sizes.reach[a] + sizes.reach[b] + ego.radius() + obstacle.radius();
          couples_.push_back({i, &ego.parts[a], &obstacle.parts[b], &places_[i], ego.radius(),
                              obstacle.radius(), ego_sizes.error[a] + sizes.error[b],
                              ego_sizes.extent[a] + sizes.extent[b],
                              centres - reach - 1e-12L * (centres + reach)});
        }
      }
    }
    truths_.resize(couples_.size());
  }
  PlacedTruth(PlacedTruth&&) = default;  // what is pointed to stays in place

  // Sign of the signed distance of all, or of obstacle `owner`, minus the sum.
  int compare(double sum, double more = 0.0, std::size_t owner = kAll) const {
    if (std::isinf(sum)) return sum < 0.0 ? 1 : -1;
    int sign = 1;
    for (std::size_t k = 0; k < couples_.size() && sign > -1; ++k) {
      if (owner == kAll || couples_[k].owner == owner) {
        sign = std::min(sign, compare_couple(k, sum, more));
      }
    }
    return sign;
  }
  // May a verdict be that some pair is not beyond the margin? Its distance is at most the margin
  // and what the placing and the rounding of that pair may hide, and `more` (m).
  bool may_be_within(double margin, double more = 0.0) const {
    for (std::size_t k = 0; k < couples_.size(); ++k) {
      const Couple& c = couples_[k];
      const double unsure = completeness(c.error, c.extent + c.p_radius + c.q_radius + margin);
      if (!std::isfinite(unsure) || compare_couple(k, margin, unsure + more) <= 0) return true;
    }
    return false;
  }
  const std::vector<Couple>& couples() const { return couples_; }

  static constexpr std::size_t kAll = static_cast<std::size_t>(-1);

 private:
  struct Sizes {
    std::vector<double> error;
    std::vector<double> extent;
    std::vector<double> reach;
  };

  static Sizes sizes_of(const Body& body, const Placement& at, Vec2 origin) {
    Sizes sizes;
    PlacedParts placed;
    for (std::size_t k = 0; k < body.parts.size(); ++k) {
      const Convex part = body.shape.part(static_cast<int>(k));
      placed.add(part, Transform::from_pose(at.pose, origin, at.error));
      const Convex there = placed.convex(k);
      double reach = 0.0;
      for (int i = 0; i < body.parts[k].size(); ++i)
        reach = std::fmax(reach, norm1(body.parts[k].vertex(i)));
      sizes.error.push_back(there.error);
      sizes.extent.push_back(there.extent);
      sizes.reach.push_back(reach);
    }
    return sizes;
  }
  int compare_couple(std::size_t k, double sum, double more) const {
    const Couple& c = couples_[k];
    if (c.beyond > static_cast<long double>(sum) + static_cast<long double>(more)) return 1;
    if (!truths_[k]) truths_[k] = std::make_unique<Truth>(*c.p, ego_pose_, *c.q, *c.q_pose);
    return truths_[k]->compare({sum, more, c.p_radius, c.q_radius});
  }

  TruePose ego_pose_;
  std::vector<TruePose> places_;
  std::vector<Couple> couples_;
  mutable std::vector<std::unique_ptr<Truth>> truths_;
};

// The truth at each pose of the ego, with the obstacles at rest.
inline std::vector<PlacedTruth> truths_of(const World& world, Vec2 origin) {
  std::vector<const Body*> bodies;
  std::vector<Placement> stated;
  std::vector<TruePose> places;
  for (const Body& obstacle : world.obstacles) {
    bodies.push_back(&obstacle);
    stated.push_back({obstacle.pose});
    places.push_back(TruePose::of(obstacle.pose));
  }
  std::vector<PlacedTruth> truths;
  for (const Pose& pose : world.poses) {
    truths.emplace_back(world.ego, Placement{pose}, TruePose::of(pose), bodies, stated, places,
                        origin);
  }
  return truths;
}

// What was found, by kind: how often, and the first.
class Report {
 public:
  void fail(const std::string& kind, const std::string& details) {
    ++kinds_.emplace(kind, std::pair<std::int64_t, std::string>{0, details}).first->second.first;
  }
  void add(const Report& later) {
    asked += later.asked;
    hits += later.hits;
    unknown += later.unknown;
    for (const auto& [kind, failure] : later.kinds_) {
      kinds_.emplace(kind, std::pair<std::int64_t, std::string>{0, failure.second})
          .first->second.first += failure.first;
    }
  }
  const std::map<std::string, std::pair<std::int64_t, std::string>>& kinds() const {
    return kinds_;
  }
  std::int64_t failures() const {
    std::int64_t sum = 0;
    for (const auto& [kind, failure] : kinds_) sum += failure.first;
    return sum;
  }
  std::int64_t asked = 0;    // answers
  std::int64_t hits = 0;     // that are not FREE
  std::int64_t unknown = 0;  // among them

 private:
  std::map<std::string, std::pair<std::int64_t, std::string>> kinds_;
};

// Holds a verdict and, if they are numbers, its bounds against the truth. `describe` is called
// where something is wrong. `more` (m) is what the query may be off by as documented.
// `may_be_unknown`: something is outside of the kernel's domain.
template <class Describe>
void judge(Report& report, const std::string& query, const PlacedTruth& truth, Verdict verdict,
           double margin, double lower, double upper, const Describe& describe, double more = 0.0,
           bool may_be_unknown = false) {
  const auto fail = [&](const std::string& kind) {
    report.fail(query + ": " + kind, std::string(detail::name_of(verdict)) + ", bounds " +
                                         number(lower) + ", " + number(upper) + ", margin " +
                                         number(margin) + "\n" + describe());
  };
  ++report.asked;
  if (verdict != Verdict::free) ++report.hits;
  if (verdict == Verdict::unknown) {
    ++report.unknown;
    if (!may_be_unknown) fail("UNKNOWN");
  } else if (verdict == Verdict::free) {
    if (truth.compare(margin) <= 0) fail("falsely FREE");
    if (!std::isnan(lower) && !(lower >= margin)) fail("FREE with a lower bound below the margin");
  } else {
    const bool is_hit = verdict == Verdict::collision;
    if (!truth.may_be_within(is_hit ? 0.0 : margin, more)) {
      fail(is_hit ? "COLLISION beyond the bound" : "MARGIN beyond the bound");
    }
    if (!is_hit && truth.compare(0.0) <= 0) fail("MARGIN where they touch");
  }
  if (!std::isnan(lower) && truth.compare(lower) < 0) fail("lower bound above the truth");
  if (!std::isnan(upper) && truth.compare(upper) > 0) fail("upper bound below the truth");
}

namespace detail {

inline bool same(Vec2 a, Vec2 b) { return verify::same(a.x, b.x) && verify::same(a.y, b.y); }
// To the last bit.
inline bool same(const PoseResult& a, const PoseResult& b) {
  return a.verdict == b.verdict && a.status == b.status && verify::same(a.distance, b.distance) &&
         verify::same(a.lower_bound, b.lower_bound) && a.nearest == b.nearest &&
         same(a.witness_ego, b.witness_ego) && same(a.witness_obstacle, b.witness_obstacle);
}

}  // namespace detail

// All queries of one world at rest: each mode, alone and in a batch, the nearest
// obstacles, and pairs of scenes.
inline void check_world(const World& world, Report& report) {
  Scene scene;
  for (const Body& obstacle : world.obstacles) scene.add(obstacle.shape, obstacle.pose);
  scene.build();
  const Vec2 origin = scene.obstacles().origin();
  const std::vector<PlacedTruth> truths = truths_of(world, origin);
  const auto describe_at = [&](std::size_t i) {
    Body ego = world.ego;
    ego.pose = world.poses[i];
    std::string text = literal(ego, "ego");
    for (std::size_t j = 0; j < world.obstacles.size(); ++j) {  // the others do not matter
      if (truths[i].compare(world.margin, 1e-3, j) <= 0) {
        text += literal(world.obstacles[j], "obstacle");
      }
    }
    return text;
  };

  static constexpr const char* kModes[]{"mode collide", "mode distance", "mode witness"};
  for (const Mode mode : {Mode::collide, Mode::distance, Mode::witness}) {
    const std::string name = kModes[static_cast<int>(mode)];
    const CheckOptions options{world.margin, mode};
    Scene::Ego ego(world.ego.shape);
    std::vector<PoseResult> alone;
    for (std::size_t i = 0; i < world.poses.size(); ++i) {
      alone.push_back(scene.check(ego, world.poses[i], options));
      judge(report, name, truths[i], alone[i].verdict, world.margin, alone[i].lower_bound,
            alone[i].distance, [&] { return describe_at(i); });
    }
    std::vector<PoseResult> together(world.poses.size());
    scene.check(world.ego.shape, world.poses, {}, options, together);
    for (std::size_t i = 0; i < alone.size(); ++i) {
      const PoseResult& found = together[i];
      bool is_same = detail::same(found, alone[i]);
      if (mode == Mode::distance) {  // lanes have other rounding errors
        is_same = found.verdict == alone[i].verdict && found.status == alone[i].status;
        judge(report, "mode distance in a batch", truths[i], found.verdict, world.margin,
              found.lower_bound, found.distance, [&] { return describe_at(i); });
      }
      if (!is_same) report.fail(name + ": a batch answers otherwise", describe_at(i));
    }
  }

  Scene::Ego ego(world.ego.shape);
  for (std::size_t i = 0; i < world.poses.size(); i += 3) {
    const auto fail = [&](const std::string& kind, const Nearest& found) {
      report.fail("nearest: " + kind, "obstacle " + std::to_string(found.obstacle) + ", bounds " +
                                          number(found.closest.lower_bound) + ", " +
                                          number(found.closest.distance) + "\n" + describe_at(i));
    };
    std::vector<Nearest> all;
    ++report.asked;
    if (scene.nearest(ego, world.poses[i], scene.size(), INFINITY, all) != Status::success ||
        all.size() != scene.size()) {
      fail("not all obstacles", {});
      continue;
    }
    for (const Nearest& found : all) {
      const auto owner = static_cast<std::size_t>(found.obstacle);
      if (truths[i].compare(found.closest.lower_bound, 0.0, owner) < 0)
        fail("lower bound above the truth", found);
      if (truths[i].compare(found.closest.distance, 0.0, owner) > 0)
        fail("upper bound below the truth", found);
    }
    const double limit = std::fmax(0.0, all.front().closest.distance);
    std::vector<Nearest> few;
    if (scene.nearest(ego, world.poses[i], 1, limit, few) != Status::success || few.size() != 1 ||
        !verify::same(few[0].closest.distance, all[0].closest.distance)) {
      fail("the first one is missed within its own distance", all.front());
    }
  }

  // The ego's poses as a scene of their own.
  Scene egos;
  for (const Pose& pose : world.poses) egos.add(world.ego.shape, pose);
  egos.build();
  for (const Mode mode : {Mode::collide, Mode::distance}) {
    std::vector<PairResult> pairs(world.poses.size() * scene.size());
    const CheckOptions options{world.margin, mode};
    check_pairs(egos, scene, {}, options, pairs);
    for (std::size_t i = 0; i < world.poses.size(); ++i) {
      Verdict worst = Verdict::free;
      double lower = INFINITY;
      double upper = INFINITY;
      for (std::size_t j = 0; j < scene.size(); ++j) {
        const PairResult& pair = pairs[i * scene.size() + j];
        if (severity(pair.verdict) > severity(worst)) worst = pair.verdict;
        lower = std::fmin(lower, pair.closest.lower_bound);
        upper = std::fmin(upper, pair.closest.distance);
        if (pair.verdict == Verdict::free && truths[i].compare(world.margin, 0.0, j) <= 0) {
          report.fail("check_pairs: falsely FREE", describe_at(i));
        }
      }
      const bool known = mode != Mode::collide;
      // About the frame's origin, where the scenes have not the same: coordinates are larger.
      const bool far = !(egos.obstacles().origin() == origin);
      const double extent = norm1(origin) + norm1(egos.obstacles().origin());
      judge(
          report, known ? "check_pairs, distance" : "check_pairs, collide", truths[i], worst,
          world.margin, known ? lower : NAN, known ? upper : NAN, [&] { return describe_at(i); },
          far ? completeness(16.0 * kUnitRoundoff * extent, 4.0 * extent) : 0.0);
    }
  }
}

}  // namespace gjk::verify
