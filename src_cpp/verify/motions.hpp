// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Obstacles and egos that move, every query of them, and what is demanded of the answers. Where a
// shape is at a time is a rational number of the given doubles, but for whole turns.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gjk/motion/cast.hpp"
#include "gjk/motion/prediction.hpp"
#include "gjk/scene/path.hpp"
#include "scenes.hpp"

namespace gjk::verify {

// From one pose to another, turning the shorter way. Of two ways whose lengths differ by rounding
// only, either is right: it is the one that doubles give.
inline TruePose between(const Pose& from, const Pose& to, const mpq_class& share) {
  constexpr double kTurn = 6.283185307179586;
  const double turns = std::rint((to.yaw - from.yaw) / kTurn);
  const auto part = [&](double a, double b) -> mpq_class {
    return mpq_class(a) + share * (mpq_class(b) - mpq_class(a));
  };
  return {part(from.x, to.x), part(from.y, to.y), part(from.yaw, to.yaw),
          mpq_class(-2.0 * turns) * share};
}

inline Pose rounded(const TruePose& pose) {
  return {pose.x.get_d(), pose.y.get_d(),
          pose.angle.get_d() + 3.141592653589793 * pose.half_turns.get_d()};
}

// An obstacle and its reported motion.
struct Mover {
  Body body;  // its pose is that at the stamp
  double stamp = 0.0;
  std::optional<Velocity> velocity;
  std::vector<double> times;  // s after the stamp
  std::vector<Pose> poses;
  Prediction prediction;

  std::vector<Piece> pieces() const {
    ReportedMotion reported{body.pose, {}, times, poses};
    reported.velocity = velocity.value_or(Velocity{NAN, NAN, NAN});
    std::vector<Piece> result;
    append_prediction(reported, prediction, result);
    return result;
  }

  // Where it is t seconds after its stamp; nothing where that is not known. Written from the
  // documentation of the messages, not from the kernel.
  std::optional<TruePose> at(const mpq_class& t) const {
    if (times.empty()) return without_path(body.pose, t);
    const bool goes_on = prediction.policy == PredictionPolicy::constant_velocity;
    const bool holds = prediction.policy == PredictionPolicy::hold;
    if (times.size() == 1 && times[0] == 0.0 && goes_on) return without_path(poses[0], t);
    const mpq_class last(times.back());
    if (t < 0 || t > mpq_class(prediction.horizon)) return {};
    if (t > last && !goes_on && !holds) return {};
    if (t > last && holds) return TruePose::of(poses.back());
    std::vector<double> knots = times;
    std::vector<Pose> way = poses;
    if (knots[0] > 0.0) {
      knots.insert(knots.begin(), 0.0);
      way.insert(way.begin(), body.pose);
    }
    if (knots.size() == 1) return TruePose::of(way[0]);
    std::size_t i = 1;
    while (i + 1 < knots.size() && mpq_class(knots[i]) < t) ++i;
    const mpq_class begin(knots[i - 1]);
    return between(way[i - 1], way[i], (t - begin) / (mpq_class(knots[i]) - begin));
  }
  std::optional<TruePose> without_path(const Pose& pose, const mpq_class& t) const {
    const bool is_said = velocity.has_value();
    const bool stands = is_said && velocity->x == 0.0 && velocity->y == 0.0 && velocity->yaw == 0.0;
    if (stands || (!is_said && prediction.policy == PredictionPolicy::hold))
      return TruePose::of(pose);
    if (!is_said) return t == 0 ? std::optional(TruePose::of(pose)) : std::nullopt;
    if (t < 0 || t > mpq_class(prediction.horizon)) return {};
    return TruePose{mpq_class(pose.x) + t * mpq_class(velocity->x),
                    mpq_class(pose.y) + t * mpq_class(velocity->y),
                    mpq_class(pose.yaw) + t * mpq_class(velocity->yaw),
                    {}};
  }
};

// The ego's way through poses at times (s), all on the clock of the queries.
struct EgoWay {
  std::vector<double> times;
  std::vector<Pose> poses;

  TruePose at(const mpq_class& t) const {
    if (poses.size() == 1) return TruePose::of(poses[0]);
    std::size_t i = 1;
    while (i + 1 < times.size() && mpq_class(times[i]) < t) ++i;
    const mpq_class begin(times[i - 1]);
    return between(poses[i - 1], poses[i], (t - begin) / (mpq_class(times[i]) - begin));
  }
};

struct MovingWorld {
  Body ego;  // at the time of the first query
  std::vector<Mover> movers;
  double time = 0.0;    // s, of the first query
  double margin = 0.0;  // m
};

namespace detail {

inline Pose beside(const Pose& pose, double size, Random& random) {
  const Vec2 away = (size * random.uniform(0.0, 4.0)) * random.direction();
  constexpr double kPi = 3.141592653589793;
  const double turn = random.chance(0.3)
                          ? by_ulps(random.chance(0.5) ? kPi : -kPi, random.between(-2, 2))
                          : random.uniform(-4.0, 4.0);
  return {pose.x + away.x, pose.y + away.y,
          random.chance(0.3) ? pose.yaw : std::fmax(-9e5, std::fmin(9e5, pose.yaw + turn))};
}

inline double stamp_of(Random& random) {
  switch (random.below(4)) {
    case 0:
      return 0.0;
    case 1:
      return random.uniform(-100.0, 100.0);
    case 2:
      return 1.8e9;
    default:
      return 1.7e9 + random.uniform(0.0, 1e8);
  }
}

// A motion that passes the body's pose `when` seconds after the stamp.
inline Mover mover_of(Body body, double size, double& when, Random& random) {
  Mover mover;
  mover.body = std::move(body);
  mover.stamp = stamp_of(random);
  mover.prediction.policy = static_cast<PredictionPolicy>(random.below(3));
  const Pose at = mover.body.pose;
  when = random.chance(0.2)   ? 0.0
         : random.chance(0.5) ? 0.25 * random.between(1, 12)
                              : random.uniform(0.0, 4.0);
  switch (random.below(4)) {
    case 0: {  // at a velocity, or standing
      const Vec2 v =
          (random.chance(0.2) ? 0.0 : size * random.uniform(0.0, 3.0)) * random.direction();
      const double spin = random.chance(0.5) ? 0.0 : random.uniform(-2.0, 2.0);
      if (random.chance(0.9)) mover.velocity = {v.x, v.y, spin};
      if (mover.velocity) {
        mover.body.pose = {at.x - when * v.x, at.y - when * v.y, at.yaw - when * spin};
      }
      break;
    }
    case 1: {  // one pose
      mover.times.push_back(when);
      mover.poses.push_back(at);
      if (random.chance(0.5)) mover.body.pose = beside(at, size, random);
      if (random.chance(0.5)) mover.velocity = {size, 0.0, 0.0};
      break;
    }
    default: {  // a path; times as near each other as doubles are, jumps, turns of pi
      mover.body.pose = beside(at, size, random);
      double t = random.chance(0.3) ? 0.0 : 0.25 * when;
      if (t < when) {
        mover.times.push_back(t);
        mover.poses.push_back(beside(at, size, random));
      }
      if (random.chance(0.3) && when > 0.0 && by_ulps(when, -1) > t) {
        mover.times.push_back(by_ulps(when, -1));
        mover.poses.push_back(beside(at, size, random));
      }
      mover.times.push_back(when);
      mover.poses.push_back(at);
      t = when;
      for (int k = random.below(4); k > 0; --k) {
        const double step =
            random.chance(0.4) ? power_of_ten(random, -17.0, -6.0) : random.uniform(0.1, 2.0);
        t = std::fmax(t + step, by_ulps(t, 1));
        mover.times.push_back(t);
        mover.poses.push_back(beside(at, size, random));
      }
    }
  }
  const double last = mover.times.empty() ? when : mover.times.back();
  mover.prediction.horizon =
      random.chance(0.4)
          ? std::fmax(0x1p-60, by_ulps(random.chance(0.5) ? last : when, random.between(-1, 1)))
          : random.uniform(1.0, 8.0);
  return mover;
}

}  // namespace detail

inline MovingWorld draw_moving_world(Family family, Random& random) {
  Meeting meeting = draw_meeting(family, random);
  MovingWorld world{std::move(meeting.ego), {}, 0.0, meeting.margin};
  const double size = std::fmax(
      0x1p-30, std::fmax(detail::extent_of(world.ego), detail::extent_of(meeting.obstacle)));
  double when = 0.0;
  world.movers.push_back(detail::mover_of(std::move(meeting.obstacle), size, when, random));
  const double stamp = world.movers[0].stamp;
  const Pose first = world.movers[0].body.pose;
  world.time = detail::by_ulps(stamp + when, random.chance(0.7) ? 0 : random.between(-1, 1));
  for (int k = random.chance(0.5) ? 0 : random.below(3); k > 0; --k) {
    Body other = body_of(detail::plain(random), a_radius(random), random);
    other.pose = detail::beside(first, 3.0 * size, random);
    double then = 0.0;
    Mover mover = detail::mover_of(std::move(other), size, then, random);
    mover.stamp = detail::by_ulps(world.time - then, random.between(-1, 1));
    mover.prediction.horizon = std::fmax(mover.prediction.horizon, 8.0);
    mover.prediction.policy = PredictionPolicy::hold;
    world.movers.push_back(std::move(mover));
  }
  // The time is rounded, and with it the place: close up again.
  const auto place = world.movers[0].at(mpq_class(world.time) - mpq_class(world.movers[0].stamp));
  if (place && random.chance(0.8)) {
    Body there = world.movers[0].body;
    there.pose = rounded(*place);
    detail::bring_to(world.ego, there, detail::gap_near(world.margin, size, random));
  }
  return world;
}

inline std::string literal(const MovingWorld& world) {
  std::string text = literal(world.ego, "ego");
  for (const Mover& mover : world.movers) {
    text += literal(mover.body, "obstacle") + "    stamp " + number(mover.stamp) + ", horizon " +
            number(mover.prediction.horizon) + ", policy " +
            std::to_string(static_cast<int>(mover.prediction.policy));
    if (mover.velocity) {
      text += ", velocity (" + number(mover.velocity->x) + ", " + number(mover.velocity->y) + ", " +
              number(mover.velocity->yaw) + ")";
    }
    for (std::size_t i = 0; i < mover.times.size(); ++i) {
      text += i == 0 ? ", path" : ";";
      text += " " + number(mover.times[i]) + ": (" + number(mover.poses[i].x) + ", " +
              number(mover.poses[i].y) + ", " + number(mover.poses[i].yaw) + ")";
    }
    text += "\n";
  }
  return text;
}

namespace detail {

// Of its vertices from its origin, m.
inline double size_of(const Body& body) {
  double furthest = 0.0;
  for (int k = 0; k < body.shape.parts(); ++k) {
    furthest = std::fmax(furthest, reach(body.shape.part(k)));
  }
  return furthest;
}

// Does the domain hold all of a shape there?
inline bool holds_all(const Body& body, const Pose& pose) {
  const double size = size_of(body);
  return std::fabs(pose.yaw) <= kMaxYaw && std::fabs(pose.x) + size <= kMaxCoordinate &&
         std::fabs(pose.y) + size <= kMaxCoordinate;
}

// All that is needed of a moving world to ask where everything is at a time.
class Timeline {
 public:
  Timeline(const MovingWorld& world, Vec2 origin) : world_(world), origin_(origin) {
    for (const Mover& mover : world.movers) {
      bodies_.push_back(&mover.body);
      pieces_.push_back(mover.pieces());
    }
  }
  const std::vector<Piece>& pieces(std::size_t i) const { return pieces_[i]; }

  // Is every place known then, and does the kernel answer for it and for the ego, all of each?
  bool is_in_domain(double time) const {
    return holds_all(world_.ego, world_.ego.pose) &&
           std::all_of(world_.movers.begin(), world_.movers.end(), [&](const Mover& mover) {
             const auto place = mover.at(mpq_class(time) - mpq_class(mover.stamp));
             return place && holds_all(mover.body, rounded(*place));
           });
  }
  bool is_known(double time) const {
    return std::all_of(world_.movers.begin(), world_.movers.end(), [&](const Mover& mover) {
      return mover.at(mpq_class(time) - mpq_class(mover.stamp)).has_value();
    });
  }
  // m/s, of any point of an obstacle.
  double fastest() const {
    double speed = 0.0;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      for (const Piece& piece : pieces_[i]) {
        speed = std::fmax(speed, norm(piece.velocity()) +
                                     std::fabs(piece.spin()) * size_of(world_.movers[i].body));
      }
    }
    return speed;
  }
  // The truth with the ego at a place; the errors are those that the kernel states for this time.
  std::optional<PlacedTruth> truth(const Body& ego, const Placement& at, const TruePose& ego_pose,
                                   double time) const {
    std::vector<TruePose> places;
    std::vector<Placement> stated;
    for (std::size_t i = 0; i < world_.movers.size(); ++i) {
      const Mover& mover = world_.movers[i];
      const auto place = mover.at(mpq_class(time) - mpq_class(mover.stamp));
      if (!place) return {};
      places.push_back(*place);
      LocalTime local = local_time(time, mover.stamp, 0.0);
      const std::vector<Piece>& pieces = pieces_[i];
      local.time = std::fmin(pieces.back().end, std::fmax(pieces.front().begin, local.time));
      std::size_t hint = 0;
      const Piece* piece = piece_at(pieces, local.time, hint);
      if (piece == nullptr) return {};
      Placement placement = piece->at(local.time, size_of(mover.body));
      placement.error += drift(pieces, hint, local, size_of(mover.body));
      stated.push_back(placement);
    }
    return PlacedTruth(ego, at, ego_pose, bodies_, stated, std::move(places), origin_);
  }

 private:
  const MovingWorld& world_;
  Vec2 origin_;
  std::vector<const Body*> bodies_;
  std::vector<std::vector<Piece>> pieces_;
};

// Times at which the gap is small: those given, and where floating point finds it smallest.
inline std::vector<double> times_to_look_at(std::vector<double> knots, double begin, double end,
                                            const std::function<double(double)>& gap) {
  constexpr int kCoarse = 16;
  for (int k = 0; k <= kCoarse; ++k) knots.push_back(begin + (end - begin) * k / kCoarse);
  std::erase_if(knots, [&](double t) { return !(begin <= t && t <= end); });
  std::sort(knots.begin(), knots.end());
  knots.erase(std::unique(knots.begin(), knots.end()), knots.end());
  std::size_t best = 0;
  double least = INFINITY;
  for (std::size_t i = 0; i < knots.size(); ++i) {
    const double here = gap(knots[i]);
    if (here < least) {
      least = here;
      best = i;
    }
  }
  double low = knots[best > 0 ? best - 1 : 0];
  double high = knots[std::min(best + 1, knots.size() - 1)];
  for (int k = 0; k < 30; ++k) {  // thirds
    const double a = low + (high - low) / 3.0;
    const double b = high - (high - low) / 3.0;
    (gap(a) < gap(b) ? high : low) = gap(a) < gap(b) ? b : a;
  }
  std::vector<double> times{begin, end, knots[best], low, high};
  for (const double t : {by_ulps(low, -1), by_ulps(high, 1)}) {
    if (begin <= t && t <= end) times.push_back(t);
  }
  return times;
}

}  // namespace detail

// What a cast may round beyond its tolerance, m: it works about the frame's own origin.
inline double path_rounding(const Pose& pose, double size) {
  return 1e-12 * (size + norm1({pose.x, pose.y}));
}

// The timed queries of a scene, paths through it, and the casts of single shapes.
inline void check_moving_world(const MovingWorld& world, Random& random, Report& report) {
  Scene scene;
  for (const Mover& mover : world.movers) {
    scene.add(mover.body.shape, mover.body.pose, mover.pieces(), mover.stamp);
  }
  scene.build();
  const detail::Timeline timeline(world, scene.obstacles().origin());
  const auto describe_at = [&](double time) {
    return "at time " + number(time) + "\n" + literal(world);
  };
  const double size = std::fmax(0x1p-30, detail::extent_of(world.ego));

  // ---- poses at times
  std::vector<double> times{world.time};
  for (const int ulps : {-1, 1}) times.push_back(detail::by_ulps(world.time, ulps));
  times.push_back(world.movers[0].stamp + world.movers[0].prediction.horizon);
  times.push_back(detail::by_ulps(times.back(), random.between(-1, 1)));
  if (!world.movers[0].times.empty()) {
    times.push_back(world.movers[0].stamp + world.movers[0].times.back());
  }
  times.push_back(world.time + random.uniform(-1.0, 3.0));
  std::vector<Pose> poses(times.size(), world.ego.pose);
  std::vector<std::optional<PlacedTruth>> truths;
  for (std::size_t i = 0; i < times.size(); ++i) {
    truths.push_back(timeline.truth(world.ego, {poses[i]}, TruePose::of(poses[i]), times[i]));
  }
  for (const Mode mode : {Mode::collide, Mode::distance, Mode::witness}) {
    const CheckOptions options{world.margin, mode};
    const std::string name = mode == Mode::collide ? "timed, mode collide" : "timed, mode distance";
    std::vector<PoseResult> together(times.size());
    scene.check(world.ego.shape, poses, times, options, together);
    Scene::Ego ego(world.ego.shape);
    for (std::size_t i = 0; i < times.size(); ++i) {
      const PoseResult alone = scene.check(ego, poses[i], times[i], options);
      const auto describe = [&] { return describe_at(times[i]); };
      if (!detail::same(together[i], alone)) {
        report.fail(name + ": a batch answers otherwise", describe());
      }
      if (truths[i]) {
        judge(report, name, *truths[i], alone.verdict, world.margin, alone.lower_bound,
              alone.distance, describe, 0.0, !timeline.is_in_domain(times[i]));
      } else {
        ++report.asked;
        ++report.hits;
        if (alone.verdict == Verdict::free || alone.verdict == Verdict::margin) {
          report.fail(name + ": an answer where a motion is not known", describe());
        }
        if (alone.lower_bound > -INFINITY) {
          report.fail(name + ": a lower bound where a motion is not known", describe());
        }
      }
    }
  }
  for (std::size_t i = 0; i < times.size(); i += 2) {
    Scene::Ego ego(world.ego.shape);
    std::vector<Nearest> all;
    const Status status = scene.nearest(ego, poses[i], times[i], scene.size(), INFINITY, all);
    ++report.asked;
    const bool is_odd = truths[i] && !timeline.is_in_domain(times[i]);
    if (!is_odd && (status == Status::success) != truths[i].has_value()) {
      report.fail("timed nearest: known, or not, otherwise than its motions",
                  describe_at(times[i]));
    }
    for (const Nearest& found : all) {
      const auto owner = static_cast<std::size_t>(found.obstacle);
      if (!truths[i] || is_odd) continue;
      if (truths[i]->compare(found.closest.lower_bound, 0.0, owner) < 0) {
        report.fail("timed nearest: lower bound above the truth", describe_at(times[i]));
      }
      if (truths[i]->compare(found.closest.distance, 0.0, owner) > 0) {
        report.fail("timed nearest: upper bound below the truth", describe_at(times[i]));
      }
    }
  }

  // ---- paths: the ego arrives where it is at the time of the first query, and goes on
  const double tolerance = random.chance(0.5) ? 0.005 * size : 1e-6 * size;
  for (const bool timed : {false, true}) {
    EgoWay way;
    const int before = random.below(3);
    for (int k = before; k > 0; --k) {
      way.times.push_back(timed ? world.time - 0.5 * k : before - k);
      way.poses.push_back(detail::beside(world.ego.pose, size, random));
    }
    way.times.push_back(timed ? world.time : before);
    way.poses.push_back(world.ego.pose);
    for (int k = random.below(3); k > 0; --k) {
      way.times.push_back(way.times.back() + (timed ? random.uniform(0.1, 1.0) : 1.0));
      way.poses.push_back(detail::beside(world.ego.pose, size, random));
    }
    bool sorted = true;
    for (std::size_t i = 1; i < way.times.size(); ++i) sorted &= way.times[i] > way.times[i - 1];
    if (!sorted) continue;
    const std::string name = timed ? "timed path" : "path";
    const PathResult result =
        check_path(scene, world.ego.shape, way.poses,
                   timed ? std::span<const double>(way.times) : std::span<const double>(),
                   {world.margin, tolerance});
    const auto truth_at = [&](double t) -> std::optional<PlacedTruth> {
      const TruePose place = way.at(mpq_class(t));
      if (timed) return timeline.truth(world.ego, {rounded(place)}, place, t);
      std::vector<const Body*> bodies;
      std::vector<Placement> stated;
      std::vector<TruePose> places;
      for (const Mover& mover : world.movers) {
        bodies.push_back(&mover.body);
        stated.push_back({mover.body.pose});
        places.push_back(TruePose::of(mover.body.pose));
      }
      return PlacedTruth(world.ego, {rounded(place)}, place, bodies, stated, places,
                         scene.obstacles().origin());
    };
    const auto gap = [&](double t) {
      Body ego = world.ego;
      ego.pose = rounded(way.at(mpq_class(t)));
      double least = INFINITY;
      for (const Mover& mover : world.movers) {
        Body there = mover.body;
        if (timed) {
          const auto place = mover.at(mpq_class(t) - mpq_class(mover.stamp));
          if (!place) return 1e300;
          there.pose = rounded(*place);
        }
        least = std::fmin(least, norm(detail::way_between(ego, there)) - there.radius());
      }
      return least;
    };
    std::vector<double> knots = way.times;
    for (const Mover& mover : world.movers) {
      for (const double t : mover.times) knots.push_back(mover.stamp + t);
    }
    const double begin = way.times.front();
    const double end = way.times.back();
    ++report.asked;
    if (result.verdict != Verdict::free) ++report.hits;
    const auto fail = [&](const std::string& kind, double t) {
      std::string text = "verdict " + std::string(detail::name_of(result.verdict)) + ", bounds " +
                         number(result.distance.lower) + ", " + number(result.distance.upper) +
                         ", margin " + number(world.margin) + ", tolerance " + number(tolerance) +
                         ", way";
      for (std::size_t i = 0; i < way.poses.size(); ++i) {
        text += " " + number(way.times[i]) + ": (" + number(way.poses[i].x) + ", " +
                number(way.poses[i].y) + ", " + number(way.poses[i].yaw) + ")";
      }
      report.fail(name + ": " + kind, text + "\n" + describe_at(t));
    };
    const bool is_known = !timed || (timeline.is_known(begin) && timeline.is_known(end));
    if (timed && !is_known &&
        (result.verdict == Verdict::free || result.verdict == Verdict::margin)) {
      fail("an answer where a motion is not known", begin);
    }
    if (is_known && result.verdict == Verdict::unknown) {
      ++report.unknown;
      // A tolerance that the doubles do not resolve may be UNKNOWN: of a place, or of the times of
      // what jumps.
      const double late = kUnitRoundoff * (std::fabs(begin) + std::fabs(end) + 1.0);
      const bool is_resolved = tolerance > 1e3 * path_rounding(way.poses[0], size) &&
                               tolerance > 1e2 * late * timeline.fastest();
      if (is_resolved && (!timed || (timeline.is_in_domain(begin) && timeline.is_in_domain(end)))) {
        fail("UNKNOWN", begin);
      }
    }
    if (result.verdict == Verdict::free && !(result.distance.lower >= world.margin)) {
      fail("FREE with a lower bound below the margin", begin);
    }
    const bool is_whole = result.verdict != Verdict::collision;
    for (const double t : detail::times_to_look_at(knots, begin, end, gap)) {
      const auto truth = truth_at(t);
      if (!truth) continue;
      if (result.verdict == Verdict::free && truth->compare(world.margin) <= 0)
        fail("falsely FREE", t);
      if (is_whole && truth->compare(result.distance.lower) < 0)
        fail("lower bound above the truth", t);
      if (result.verdict == Verdict::margin && truth->compare(0.0) <= 0)
        fail("MARGIN where they touch", t);
    }
    const bool hits = result.verdict == Verdict::collision || result.verdict == Verdict::margin;
    if (way.poses.size() == 1 && is_known && hits) {
      const auto truth = truth_at(begin);
      const double allowed = is_whole ? world.margin : 0.0;
      const double rounding = path_rounding(way.poses[0], size);
      if (truth && !truth->may_be_within(allowed, tolerance + rounding)) {
        fail("a hit beyond the tolerance", begin);
      }
    }
  }

  // ---- the first impact of two shapes, on the obstacle's own clock; and casts along a line
  const Mover& mover = world.movers[0];
  const std::vector<Piece>& pieces = timeline.pieces(0);
  const auto judge_impact =
      [&](const std::string& name, const Impact& impact, const Body& caster, double begin,
          double end, const std::vector<double>& knots,
          const std::function<std::optional<std::pair<TruePose, TruePose>>(const mpq_class&)>& at,
          const std::function<double(double)>& stated_error) {
        ++report.asked;
        if (impact.verdict == Verdict::unknown) ++report.unknown;
        if (impact.verdict != Verdict::free) ++report.hits;
        const auto gap = [&](double t) {
          const auto places = at(mpq_class(t));
          if (!places) return 1e300;
          Body ego = caster, there = mover.body;
          ego.pose = rounded(places->first);
          there.pose = rounded(places->second);
          return norm(detail::way_between(ego, there));
        };
        const auto fail = [&](const std::string& kind, double t) {
          report.fail(name + ": " + kind,
                      std::string(detail::name_of(impact.verdict)) + ", time " +
                          number(impact.time) + ", last valid " + number(impact.last_valid) +
                          ", margin " + number(world.margin) + ", tolerance " + number(tolerance) +
                          ", from " + number(begin) + " to " + number(end) + "\n" + describe_at(t));
        };
        const auto truth_at = [&](double t) -> std::optional<PlacedTruth> {
          const auto places = at(mpq_class(t));
          if (!places) return {};
          return PlacedTruth(caster, {rounded(places->first)}, places->first, {&mover.body},
                             {{rounded(places->second), stated_error(t)}}, {places->second}, {});
        };
        const double until = impact.verdict == Verdict::free ? end : impact.last_valid;
        if (until > begin) {
          for (const double t : detail::times_to_look_at(knots, begin, until, gap)) {
            if (t == until && impact.verdict != Verdict::free) continue;  // free on [begin, until)
            const auto truth = truth_at(t);
            if (truth && truth->compare(world.margin) <= 0) fail("falsely FREE", t);
          }
        }
        // Of several parts the time is no later than what is not certain of another.
        if (impact.hit() && caster.parts.size() == 1 && mover.body.parts.size() == 1) {
          const auto truth = truth_at(impact.time);
          // The pose at that time is rounded, too.
          const double rounding = path_rounding(rounded(at(mpq_class(impact.time))->second), size);
          if (truth && !truth->may_be_within(world.margin, tolerance + rounding)) {
            fail("a hit beyond the tolerance", impact.time);
          }
        }
      };
  const CastOptions cast{world.margin, tolerance};
  const double first = pieces.front().begin > -INFINITY ? pieces.front().begin : 0.0;
  const double last = pieces.back().end < INFINITY ? pieces.back().end : 5.0;
  if (first <= last) {
    const Piece still = Piece::still(world.ego.pose);
    const Impact impact =
        time_of_impact(world.ego.shape, {&still, 1}, mover.body.shape, pieces, first, last, cast);
    judge_impact(
        "time of impact", impact, world.ego, first, last, mover.times,
        [&](const mpq_class& t) -> std::optional<std::pair<TruePose, TruePose>> {
          const auto place = mover.at(t);
          if (!place) return {};
          return std::pair{TruePose::of(world.ego.pose), *place};
        },
        [&](double t) {
          std::size_t hint = 0;
          const Piece* piece = piece_at(pieces, t, hint);
          return piece == nullptr ? 0.0 : piece->at(t, detail::size_of(mover.body)).error;
        });
  }
  static constexpr int kWays[][3]{{1, 0, 1}, {-1, 0, 1},   {0, 1, 1},   {0, -1, 1},
                                  {3, 4, 5}, {-5, 12, 13}, {8, -15, 17}};
  const auto& triple = kWays[random.below(7)];
  const double far = size * random.uniform(0.0, 10.0);
  const Vec2 direction{static_cast<double>(triple[0]), static_cast<double>(triple[1])};
  const auto along = [&](const mpq_class& t) -> std::optional<std::pair<TruePose, TruePose>> {
    TruePose start = TruePose::of(world.ego.pose);
    start.x += t * mpq_class(triple[0], triple[2]);
    start.y += t * mpq_class(triple[1], triple[2]);
    return std::pair{start, TruePose::of(mover.body.pose)};
  };
  const auto exactly = [](double) { return 0.0; };
  judge_impact("shape cast",
               shape_cast(world.ego.shape, world.ego.pose, direction, far, mover.body.shape,
                          mover.body.pose, cast),
               world.ego, 0.0, far, {}, along, exactly);
  if (mover.body.parts.size() > 1) return;
  const Body point = body_of({{0.0}, {0.0}}, 0.0, random);
  judge_impact("ray cast",
               ray_cast({world.ego.pose.x, world.ego.pose.y}, direction, far,
                        mover.body.shape.part(0), mover.body.pose, cast),
               point, 0.0, far, {}, along, exactly);
}

}  // namespace gjk::verify
