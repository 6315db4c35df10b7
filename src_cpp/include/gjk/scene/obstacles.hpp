// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The obstacles of a scene, their poses and motions, and the trees that find them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "gjk/arithmetic.hpp"
#include "gjk/broad/bvh.hpp"
#include "gjk/motion/motion.hpp"
#include "gjk/parallel.hpp"
#include "gjk/scene/lifetimes.hpp"
#include "gjk/scene/margins.hpp"
#include "gjk/scene/outlines.hpp"
#include "gjk/scene/packed_parts.hpp"
#include "gjk/scene/placed_parts.hpp"
#include "gjk/scene/time_slice.hpp"
#include "gjk/shape/box.hpp"
#include "gjk/shape/convex.hpp"
#include "gjk/shape/pose.hpp"
#include "gjk/shape/shape.hpp"
#include "gjk/shape/vec2.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

class Obstacles {
 public:
  // New shape (null: unchanged), pose, motion and stamp of one obstacle. Owns neither the shape nor
  // the motion.
  struct Change {
    std::size_t index = 0;
    const Shape* shape = nullptr;
    Pose pose{};
    Motion motion{};
    double stamp = 0.0;        // s
    double margin = 0.0;       // m
    double margin_rate = 0.0;  // m/s
    Interval life{};           // s, on the clock of the query times
  };

  // The state that a query sees: all obstacles at their poses, or at a time of their motions.
  struct View {
    bool timed = false;
    double time = 0.0;  // s
    bool moving = false;
    Bvh::Moment moment;
    const TimeSlice* slice = nullptr;  // the obstacles at `time`, if they are placed
  };

  // Without parts, add() may share those of other obstacles.
  void reserve(std::size_t count, std::size_t parts = 0) {
    poses_.reserve(count);
    if (parts > 0) own_outlines().reserve(parts);
  }
  // Error bound (s) of query times and stamps.
  void set_time_error(double error) noexcept { time_error_ = error; }
  // Without a motion, the pose of the obstacle is known at its stamp only. Times of its motion
  // are seconds after its stamp (s): if they were added to a stamp of about 1e9 s, they would be
  // rounded by 1e-7 s, and close times would coincide.
  void add(const Shape& shape, const Pose& pose, Motion motion, double stamp) {
    own_outlines().add(shape);
    add(pose, motion, stamp);
  }
  // Adds obstacles for which prepare() was called, without their margins and lifetimes. Their
  // stamps increase by `stamp` (s). They are not placed again.
  void add(const Obstacles& others, double stamp);
  // Margins (m) and their growth (m/s) of all obstacles; empty: zeros. Call before build().
  void set_margins(std::span<const double> margins, std::span<const double> rates) {
    margins_.assign(size(), margins, rates);
  }
  // Begin and end (s) of each obstacle, NaN where there is no limit; empty: none is limited. Call
  // before build().
  void set_lifetimes(std::span<const double> limits) { lifetimes_.assign(size(), limits); }
  // Call once, after the last add(). `origin` (m): the origin of another scene, if the answers must
  // equal those of that scene. The result is the same for any number of threads.
  void build(const Vec2* origin = nullptr, unsigned threads = 1);
  // The same without the trees, for obstacles that are only added to others.
  void prepare(const Vec2* origin = nullptr, unsigned threads = 1);

  // The cost per changed obstacle is small: the tree is rebuilt only when its order has become
  // inefficient. A change of an obstacle that does not exist makes the scene unusable.
  void change(std::span<const Change> changes);

  // All parts at their poses, relative to another local origin.
  SharedParts placed_about(Vec2 origin, unsigned threads = 1) const;

  std::size_t size() const noexcept { return poses_.size(); }
  std::size_t parts() const noexcept { return placed_.size(); }
  // Memory in bytes, including what is shared with the scenes that this one was made from.
  std::size_t bytes() const noexcept {
    return sizeof(Obstacles) + outlines_->bytes() + placed_.bytes() + tree_.bytes() +
           moving_tree_.bytes() + poses_.capacity() * sizeof(Pose) +
           stamps_.capacity() * sizeof(double) + pieces_.capacity() * sizeof(Piece) +
           first_piece_.capacity() * sizeof(std::size_t) + margins_.bytes() + lifetimes_.bytes() +
           gaps_.capacity() * sizeof(Gap);
  }
  Vec2 origin() const noexcept { return origin_; }
  // Vertices of the largest part.
  std::size_t most_vertices() const noexcept { return most_vertices_; }
  Motion motion(std::size_t i) const noexcept {
    if (pieces_.empty()) return {};
    return {pieces_.data() + first_piece_[i], first_piece_[i + 1] - first_piece_[i]};
  }
  // Converts a query time (s) to the clock of that motion.
  LocalTime local_time(std::size_t i, double time) const noexcept {
    return gjk::local_time(time, stamp(i), time_error_);
  }
  double stamp(std::size_t i) const noexcept { return stamps_.empty() ? 0.0 : stamps_[i]; }  // s
  double time_error() const noexcept { return time_error_; }                                 // s
  const Pose& pose(std::size_t i) const noexcept { return poses_[i]; }
  const Outlines& outlines() const noexcept { return *outlines_; }
  const Margins& margins() const noexcept { return margins_; }
  const Lifetimes& lifetimes() const noexcept { return lifetimes_; }
  // m. The distance that a query with this margin requires to obstacle i, rounded up.
  double required(std::size_t i, const View& view, double margin) const noexcept {
    const double own = view.timed ? margins_.at(i, local_time(i, view.time)) : margins_.fixed(i);
    return std::fmin(kMaxCoordinate, sum_outwards(margin, own));
  }
  // m. The range of a search for all obstacles that are nearer than their required distance,
  // because the trees do not include the growth of the margins.
  double range(const View& view, double margin) const noexcept {
    if (margins_.none()) return margin;
    return margin * (1.0 + 8.0 * kUnitRoundoff) +
           (view.timed ? margins_.growth(view.time, time_error_) : 0.0);
  }
  // Whether the required distances are in the kernel's domain.
  bool can_require(const View& view, double margin) const noexcept {
    const double growth = view.timed ? margins_.growth(view.time, time_error_) : 0.0;
    return sum_outwards(margin, margins_.most_fixed()) + growth <= kMaxCoordinate;
  }

  // Index of an obstacle without a shape, or that was added after the last build() or changed
  // before it; -1: none. While there is one, queries answer UNKNOWN.
  std::int64_t unusable() const noexcept { return unusable_; }
  // Why queries in this view answer UNKNOWN: the status, and the obstacle that causes it.
  struct Fault {
    Status status = Status::success;
    std::int64_t obstacle = -1;
  };
  Fault fault_in(const View& view) const noexcept {
    if (unusable_ >= 0) return {Status::invalid_input, unusable_};
    if (view.timed && !(std::fabs(view.time) <= kMaxTime)) return {Status::invalid_input, -1};
    const std::int64_t unknown = unknown_in(view);
    return unknown >= 0 ? Fault{Status::prediction_too_short, unknown} : Fault{};
  }
  // Index of an obstacle with an unknown pose in this view; -1: none. The pose of an obstacle that
  // does not exist is not needed.
  std::int64_t unknown_in(const View& view) const noexcept {
    if (!view.timed || size() == 0) return -1;
    if (!(view.time <= until_)) return ends_first_;
    if (!(view.time >= from_)) return begins_last_;
    for (const Gap& gap : gaps_) {
      if (gap.times.holds(view.time)) return gap.obstacle;
    }
    return -1;
  }
  // The first time (s) from `begin` to `end` from which on a pose is unknown, and the obstacle; -1:
  // none.
  struct Unknown {
    double time = 0.0;
    std::int64_t obstacle = -1;
  };
  Unknown first_unknown(double begin, double end) const noexcept {
    Unknown first{begin, unknown_in(at(begin))};
    if (first.obstacle >= 0 || size() == 0) return first;
    if (!(end <= until_)) first = {until_, ends_first_};
    for (const Gap& gap : gaps_) {
      const bool is_met = gap.times.begin > begin && gap.times.begin <= end;
      if (!is_met || (first.obstacle >= 0 && first.time <= gap.times.begin)) continue;
      first = {gap.times.begin, gap.obstacle};
    }
    return first;
  }
  // Whether the pose of obstacle i is known at a query time (s).
  bool is_known(std::size_t i, double time) const noexcept {
    const Interval known = known_interval(i);
    return known.begin <= time && time <= known.end;
  }

  static View at_rest() noexcept { return {}; }
  View at(double time) const noexcept {
    View view{true, time, any_moves_, {}, nullptr};
    if (!any_moves_) return view;
    const double last = static_cast<double>(frames_ - 1);
    const double since = (time - time_origin_) - frames_from_;
    const double place = std::fmin(last, std::fmax(0.0, since / frame_step_));
    view.moment.frame = static_cast<std::size_t>(std::fmin(std::floor(place), last - 1.0));
    view.moment.share = static_cast<float>(place - static_cast<double>(view.moment.frame));
    view.moment.last_frame = view.moment.frame;
    view.moment.last_share = view.moment.share;
    return view;
  }

  // Places all parts at a time (s) in `slice`; in() is the view of them.
  void place(double time, TimeSlice& slice) const {
    const View view{true, time, false, {}, nullptr};
    slice.place(
        *outlines_,
        [&](std::size_t k, PackedParts& room) noexcept { return find(k, view, origin_, room, k); },
        [&](std::size_t k) noexcept { return bound_of_margin(k); });
  }
  static View in(double time, const TimeSlice& slice) noexcept {
    return {true, time, false, {}, &slice};
  }

  // The space that all obstacles sweep between two times.
  View swept(double begin, double end) const noexcept {
    View view = at(begin);
    const View last = at(end);
    view.moment.last_frame = last.moment.frame;
    view.moment.last_share = last.moment.share;
    return view;
  }

  // Visits the parts whose bounds overlap `box`, until visit(part number) returns true.
  template <class Visit>
  Exhausted overlapping(const Box& box, const View& view, Visit&& visit) const {
    return tree_in(view).overlapping(FloatBox::around(box), view.moment, visit);
  }
  // The same for several boxes at once. The obstacles must be at rest or in a slice.
  Exhausted overlapping(std::span<const FloatBox> boxes, const View& view, Bvh::Hits& hits,
                        std::size_t& found) const noexcept {
    return tree_in(view).overlapping(boxes, hits, found);
  }
  // Visits the parts whose bounds are within `limit` (m) of `box`, near ones first. visit(part
  // number) returns the new limit.
  template <class Visit>
  Exhausted nearest(const Box& box, double limit, const View& view, Visit&& visit) const {
    return tree_in(view).nearest(FloatBox::around(box), limit, view.moment, visit);
  }

  // Part k in this view, relative to a local origin; placed in a slot of `room` if necessary. Empty
  // if its pose is unknown, or if the obstacle does not exist at this time. `origin` is a reference
  // because storing it to the stack in two halves delays the load of both.
  using Found = FoundPart;
  Found find(std::size_t k, const View& view, const Vec2& origin, PackedParts& room,
             std::size_t slot = 0) const noexcept {
    if (view.slice != nullptr && origin == origin_) return view.slice->part(k);
    if (!view.timed && origin == origin_) return at_rest(k);
    return place(k, view, origin, room, slot);
  }
  Found at_rest(std::size_t k) const noexcept { return {&placed_.page(k), SharedParts::within(k)}; }
  void prefetch(std::size_t k) const noexcept { placed_.prefetch(k); }
  std::int64_t owner(std::size_t k) const noexcept { return placed_.part(k).owner(); }

 private:
  void add(const Pose& pose, Motion motion, double stamp) {
    if (unusable_ < 0) unusable_ = static_cast<std::int64_t>(size());
    poses_.push_back(pose);
    if (stamp != 0.0 && stamps_.empty()) stamps_.assign(size() - 1, 0.0);
    if (stamp != 0.0 || !stamps_.empty()) stamps_.push_back(stamp);
    if (!motion.empty() && pieces_.empty()) first_piece_.assign(size(), 0);
    pieces_.insert(pieces_.end(), motion.begin(), motion.end());
    if (!pieces_.empty()) first_piece_.push_back(pieces_.size());
  }

  // find() for a part that is not placed, or not relative to this origin.
  Found place(std::size_t k, const View& view, const Vec2& origin, PackedParts& room,
              std::size_t slot) const noexcept {
    const auto owner = static_cast<std::size_t>(placed_.part(k).owner());
    Placement placement{poses_[owner], 0.0};
    if (view.timed) {
      if (!lifetimes_.none() && !lifetimes_.at(owner).holds(view.time)) return {};
      if (!is_known(owner, view.time)) return {};
      const Motion pieces = motion(owner);
      if (pieces.empty() && origin == origin_) return at_rest(k);
      if (!pieces.empty()) {
        LocalTime local = local_time(owner, view.time);
        // Rounding may have moved it past an end of the known motion.
        local.time = std::fmin(pieces.back().end, std::fmax(pieces.front().begin, local.time));
        std::size_t at = 0;
        const Piece* piece = piece_at(pieces, local.time, at);
        if (piece == nullptr) return {};
        if (pieces.size() == 1 && stands_at(*piece, poses_[owner]) && origin == origin_) {
          return at_rest(k);
        }
        const double reach = outlines_->reach(k);
        placement = piece->at(local.time, reach);
        placement.error += drift(pieces, at, local, reach);
      }
    }
    room.replace(slot, outlines_->part(k),
                 Transform::from_pose(placement.pose, origin, placement.error));
    return {&room, slot};
  }

  const Bvh& tree_in(const View& view) const noexcept {
    if (view.slice != nullptr) return view.slice->tree();
    return view.moving ? moving_tree_ : tree_;
  }

  // Whether frames can cover the interval. An obstacle that moves without end may be anywhere.
  static bool is_bounded(const Interval& known) noexcept {
    return std::isfinite(known.begin) && std::isfinite(known.end);
  }
  // The interval of query times in which the motion of obstacle i is known.
  Interval known_interval(std::size_t i) const noexcept {
    const Motion pieces = motion(i);
    if (pieces.empty()) return {stamp(i), stamp(i)};
    return {rounded_up(two_sum(stamp(i), pieces.front().begin)),
            rounded_down(two_sum(stamp(i), pieces.back().end))};
  }

  static bool stands_at(const Piece& piece, const Pose& pose) noexcept {
    return piece.is_still() && piece.from.x == pose.x && piece.from.y == pose.y &&
           piece.from.yaw == pose.yaw;
  }
  bool moves(std::size_t i) const noexcept {
    const Motion pieces = motion(i);
    return !std::all_of(pieces.begin(), pieces.end(),
                        [&](const Piece& piece) { return stands_at(piece, poses_[i]); });
  }

  // Chooses a local origin near the middle of the obstacles if they are far from the frame's
  // origin, so that coordinates and their rounding errors stay small. It is used only if all
  // coordinates are between half and twice those of the local origin. Then the differences are
  // exact (Sterbenz), and parts placed without rotation keep their exact shape and position.
  Vec2 chosen_origin() noexcept;
  // Until box_ contains all obstacles, or until it is so wide that the origin is zero.
  void extend_box() noexcept;

  static constexpr double kGrid = 1024.0;  // m, of the local origin

  // Copies of a scene share their outlines until one of them changes.
  Outlines& own_outlines() {
    if (outlines_.use_count() > 1) outlines_ = std::make_shared<Outlines>(*outlines_);
    return *outlines_;
  }

  // The placed parts of other obstacles.
  struct Added {
    std::size_t begin = 0;    // number of the first part
    std::int32_t owners = 0;  // index of the first obstacle
    Vec2 origin;
    SharedParts placed;
  };
  // Which of added_ has part k placed about an origin; null: none.
  const Added* added_with(std::size_t k, Vec2 origin) const noexcept {
    const auto after = std::ranges::upper_bound(added_, k, {}, &Added::begin);
    if (after == added_.begin()) return nullptr;
    const Added& added = *std::prev(after);
    return k - added.begin < added.placed.size() && origin == added.origin ? &added : nullptr;
  }

  // Builds the trees of the placed parts.
  void arrange(unsigned threads);

  // m. By how much the bounds of part k are grown for the margin of its obstacle.
  double bound_of_margin(std::size_t k) const noexcept {
    return margins_.bound(static_cast<std::size_t>(owner(k)));
  }
  // Bounds of part k at rest, with the margin of its obstacle.
  Box bounds(std::size_t k) const noexcept {
    return placed_.part(k).bounds().grown(bound_of_margin(k));
  }

  void update_margins() noexcept {
    margins_.update([this](std::size_t i) noexcept { return stamp(i); });
  }

  void update_lifetimes();

  void build_tree(unsigned threads);

  // Computes the interval in which all motions are known, and the frames for the moving obstacles.
  void update_known_times() noexcept;

  // Builds the tree for timed queries. Each part has a box at each frame. Between frames, the
  // interpolated box contains the part: it is large enough for every yaw of the motion, moves on a
  // straight line from frame to frame, and is grown by the path's deviation from that line.
  void build_moving_tree();

  // Whether every yaw of the motion is in the kernel's domain. If not, the obstacle's pose is
  // unknown, and no box may exclude it. The same for an arc, which track() does not follow.
  static bool turns_in_domain(Motion pieces) noexcept {
    return std::all_of(pieces.begin(), pieces.end(), [](const Piece& piece) {
      if (piece.is_arc) return false;
      if (piece.change.yaw == 0.0) return std::fabs(piece.from.yaw) <= kMaxYaw;
      return std::fabs(piece.at(piece.begin, 0.0).pose.yaw) <= kMaxYaw &&
             std::fabs(piece.at(piece.end, 0.0).pose.yaw) <= kMaxYaw;
    });
  }

  // Bounds of part k relative to the moving origin of its shape.
  Box bounds_about(Motion pieces, std::size_t k) const noexcept {
    const Convex part = outlines_->part(k);
    const bool turns = std::any_of(pieces.begin(), pieces.end(), [&](const Piece& piece) {
      return piece.change.yaw != 0.0 || piece.yaw_error != 0.0 ||
             piece.from.yaw != pieces.front().from.yaw;
    });
    const double reach = outlines_->reach(k);
    Box box{{-reach, -reach}, {reach, reach}};
    if (!turns) {
      const Transform transform = Transform::from_pose({0.0, 0.0, pieces.front().from.yaw});
      box = {};
      for (int v = 0; v < part.size; ++v) box.include(transform.apply(part.vertex(v)));
    }
    return box.grown(part.radius + part.error + undecided(part) + 64.0 * kUnitRoundoff * reach);
  }

  // The position of a shape's origin at each frame, relative to the local origin, and its deviation
  // from the straight lines in between, in either coordinate, all rounding included.
  void track(std::size_t i, std::vector<Vec2>& center, std::vector<double>& grow) const noexcept;

  std::shared_ptr<Outlines> outlines_ =
      std::make_shared<Outlines>();  // shared by copies, constant once copied
  std::vector<Pose> poses_;
  std::vector<double> stamps_;  // s; empty: zeros
  std::vector<Piece> pieces_;
  std::vector<std::size_t> first_piece_;  // size() + 1; empty: there are no pieces
  Margins margins_;
  Lifetimes lifetimes_;
  std::vector<Added> added_;  // in their order; empty after build()
  Box box_;                   // m, of the vertices of the first in_box_ obstacles
  std::size_t in_box_ = 0;
  Vec2 origin_;
  SharedParts placed_;  // the parts of outlines_ at their poses
  Bvh tree_;            // of placed_
  double built_spread_ = 0.0;
  Bvh moving_tree_;  // of all parts, at the frames; only if one moves
  std::size_t frames_ = 0;
  double time_error_ = 0.0;   // s
  double time_origin_ = 0.0;  // s, origin of the frame times
  double frames_from_ = 0.0;  // s
  double frame_step_ = 1.0;   // s
  bool any_moves_ = false;
  double from_ = 0.0;  // s, all motions are known within [from_, until_]
  double until_ = 0.0;
  std::int64_t begins_last_ = -1;
  std::int64_t ends_first_ = -1;
  struct Gap {
    Interval times;
    std::int64_t obstacle = -1;
  };
  std::vector<Gap> gaps_;  // where an obstacle exists but is not known, also within [from_, until_]
  std::int64_t unusable_ = -1;
  std::size_t most_vertices_ = 0;

  // Returns true if every obstacle has as many parts as before.
  bool change_shapes(std::span<const Change> changes);

  void change_margins(std::span<const Change> changes);

  void change_lifetimes(std::span<const Change> changes);

  void change_motions(std::span<const Change> changes);
};

}  // namespace gjk

#ifdef GJK_KERNEL
namespace gjk {

GJK_KERNEL void Obstacles::build(const Vec2* origin, unsigned threads) {
  update_margins();
  update_lifetimes();
  prepare(origin, threads);
  arrange(threads);
}

GJK_KERNEL void Obstacles::prepare(const Vec2* origin, unsigned threads) {
  const bool moving = !pieces_.empty();
  const bool is_shared = outlines_.use_count() > 1;  // with prepared obstacles, or with a copy
  if (!is_shared || (moving && !outlines_->has_reaches())) own_outlines().finish(moving);
  origin_ = origin != nullptr ? *origin : chosen_origin();
  placed_ = placed_about(origin_, threads);
  added_ = {};
}

GJK_KERNEL void Obstacles::add(const Obstacles& others, double stamp) {
  if (others.size() == 0) return;
  extend_box();
  if (others.box_.low.x <= others.box_.high.x) box_.include(others.box_);
  in_box_ = size() + others.size();
  const auto owners = static_cast<std::int32_t>(size());
  added_.push_back({outlines_->parts(), owners, others.origin_, others.placed_});
  if (size() == 0 && !outlines_->is_reserved()) {
    outlines_ = others.outlines_;
  } else {
    own_outlines().add(*others.outlines_);
  }
  for (std::size_t i = 0; i < others.size(); ++i) {
    add(others.poses_[i], others.motion(i), stamp + others.stamp(i));
  }
}

GJK_KERNEL void Obstacles::change(std::span<const Change> changes) {
  const bool is_built = placed_.size() == outlines_->parts();
  for (const Change& change : changes) {
    if (is_built && change.index < size()) continue;
    unusable_ = static_cast<std::int64_t>(change.index);
    return;
  }
  const bool same_parts = change_shapes(changes);
  for (const Change& change : changes) {
    poses_[change.index] = change.pose;
    if (change.stamp != 0.0 && stamps_.empty()) stamps_.assign(size(), 0.0);
    if (!stamps_.empty()) stamps_[change.index] = change.stamp;
  }
  change_motions(changes);
  if (!pieces_.empty() && !outlines_->has_reaches()) own_outlines().finish(true);
  change_margins(changes);
  change_lifetimes(changes);
  if (!same_parts) {
    placed_ = {};
    placed_ = placed_about(origin_);
    arrange(1);
    return;
  }
  const bool few = changes.size() * 16 < size();
  for (const Change& change : changes) {
    const Transform at = Transform::from_pose(poses_[change.index], origin_);
    for (std::size_t k = outlines_->begin(change.index); k < outlines_->end(change.index); ++k) {
      placed_.replace(k, outlines_->part(k), at);
      tree_.set(k, bounds(k));
      if (few) tree_.update(k);
    }
  }
  if (!few) tree_.update();
  constexpr double kPoor = 1.5;
  if (tree_.spread() > kPoor * built_spread_) {
    build_tree(1);
  } else {
    update_known_times();
    if (any_moves_) build_moving_tree();
  }
}

GJK_KERNEL SharedParts Obstacles::placed_about(Vec2 origin, unsigned threads) const {
  if (origin == origin_ && placed_.size() == outlines_->parts()) return placed_;
  for (const Added& each : added_) {
    if (origin == each.origin && each.placed.size() == outlines_->parts()) return each.placed;
  }
  const auto fill = [&](PackedParts& page, std::size_t first, std::size_t last) {
    std::size_t i = outlines_->owner(first);
    for (std::size_t k = first; k < last;) {
      if (const Added* const added = added_with(k, origin)) {
        const PackedParts& from = added->placed.page(k - added->begin);
        const std::size_t begin = SharedParts::within(k - added->begin);
        const std::size_t count = std::min(last - k, from.size() - begin);
        page.add(from, begin, begin + count, added->owners);
        k += count;
        continue;
      }
      while (k >= outlines_->end(i)) ++i;
      const std::size_t end = std::min(last, outlines_->end(i));
      const Transform at = Transform::from_pose(poses_[i], origin);
      for (; k < end; ++k) page.add(outlines_->part(k), at, static_cast<std::int32_t>(i));
    }
  };
  return {outlines_->parts(), fill, threads};
}

inline void Obstacles::extend_box() noexcept {
  // If a subset of the obstacles is too wide for a local origin, the whole set is too wide as
  // well: a further obstacle increases the width by more than it moves the middle.
  const auto is_wide = [](double low, double high) noexcept {
    return (low < 0.0 && high > 0.0) || 2.0 * (high - low) > 0.5 * std::fabs(low + high) + kGrid;
  };
  for (; in_box_ < size(); ++in_box_) {
    if (is_wide(box_.low.x, box_.high.x) && is_wide(box_.low.y, box_.high.y)) return;
    const Transform at = Transform::from_pose(poses_[in_box_]);
    if (std::isnan(at.t_error)) continue;
    for (std::size_t k = outlines_->begin(in_box_); k < outlines_->end(in_box_); ++k) {
      const Convex part = outlines_->part(k);
      if (!in_domain(part, part)) continue;
      for (int v = 0; v < part.size; ++v) box_.include(at.apply(part.vertex(v)));
    }
  }
}

inline Vec2 Obstacles::chosen_origin() noexcept {
  extend_box();
  const auto origin = [](double low, double high) noexcept {
    const double middle = std::rint(0.5 * (low + high) / kGrid) * kGrid;
    const double size = std::fabs(middle);
    const double sign = middle < 0.0 ? -1.0 : 1.0;
    const double nearest = std::fmin(sign * low, sign * high);
    const double farthest = std::fmax(sign * low, sign * high);
    const bool is_far =
        2.0 * (high - low) <= size && nearest >= 0.5 * size && farthest <= 2.0 * size;
    return is_far ? middle : 0.0;
  };
  return {origin(box_.low.x, box_.high.x), origin(box_.low.y, box_.high.y)};
}

inline void Obstacles::arrange(unsigned threads) {
  unusable_ = -1;
  for (std::size_t i = 0; i < size(); ++i) {
    if (outlines_->begin(i) == outlines_->end(i)) unusable_ = static_cast<std::int64_t>(i);
  }
  most_vertices_ = outlines_->most_vertices();
  build_tree(threads);
}

inline void Obstacles::update_lifetimes() {
  lifetimes_.update(time_error_);
  for (std::size_t i = 0; i < size() && !lifetimes_.none() && !pieces_.empty(); ++i) {
    reach_lifetime(std::span(pieces_).subspan(first_piece_[i], motion(i).size()),
                   lifetimes_.given(i), stamp(i), time_error_);
  }
}

inline void Obstacles::build_tree(unsigned threads) {
  tree_.arrange<2>(
      parts(),
      [this](std::size_t k) noexcept { return Bvh::key_at(placed_.part(k).box().center()); }, 1,
      threads);
  tree_.fill([this](std::size_t k) noexcept { return bounds(k); }, threads);
  tree_.update();
  built_spread_ = tree_.spread();
  update_known_times();
  if (any_moves_) build_moving_tree();
}

inline void Obstacles::update_known_times() noexcept {
  from_ = -kInfinity;
  until_ = kInfinity;
  begins_last_ = ends_first_ = -1;
  any_moves_ = false;
  if (size() == 0) return;
  gaps_.clear();
  if (pieces_.empty() && lifetimes_.none()) {  // each is known at its stamp only
    const double zero = 0.0;
    const std::span<const double> stamps =
        stamps_.empty() ? std::span<const double>(&zero, 1) : std::span<const double>(stamps_);
    const auto first = std::min_element(stamps.begin(), stamps.end());
    const auto last = std::max_element(stamps.begin(), stamps.end());
    from_ = *last;
    until_ = *first;
    begins_last_ = last - stamps.begin();
    ends_first_ = first - stamps.begin();
    return;
  }
  begins_last_ = ends_first_ = 0;
  time_origin_ = stamp(0);
  frames_from_ = kInfinity;
  double frames_until = -kInfinity;
  std::size_t most_pieces = 1;
  for (std::size_t i = 0; i < size(); ++i) {
    const Motion pieces = motion(i);
    const auto [begin, end] = known_interval(i);
    const Interval life = lifetimes_.at(i);
    const auto obstacle = static_cast<std::int64_t>(i);
    if (life.begin == -kInfinity && life.end >= begin) {
      if (begin > from_) begins_last_ = obstacle;
      from_ = std::fmax(from_, begin);
    } else if (life.begin < begin) {
      const double before = std::nextafter(begin, -kInfinity);
      gaps_.push_back({{life.begin, std::fmin(life.end, before)}, obstacle});
    }
    if (life.end == kInfinity && life.begin <= end) {
      if (end < until_) ends_first_ = obstacle;
      until_ = std::fmin(until_, end);
    } else if (life.end > end) {
      const double after = std::nextafter(end, kInfinity);
      gaps_.push_back({{std::fmax(life.begin, after), life.end}, obstacle});
    }
    if (!moves(i)) continue;
    any_moves_ = true;
    if (!is_bounded({begin, end})) continue;
    frames_from_ = std::fmin(frames_from_, begin - time_origin_);
    frames_until = std::fmax(frames_until, end - time_origin_);
    most_pieces = std::max(most_pieces, pieces.size());
  }
  constexpr std::size_t kMostSteps = 8;
  frames_ = 1 + std::min(most_pieces, kMostSteps);
  frame_step_ = (frames_until - frames_from_) / static_cast<double>(frames_ - 1);
  if (!(frame_step_ > 0.0 && std::isfinite(frame_step_))) frame_step_ = 1.0;
  if (!std::isfinite(frames_from_)) frames_from_ = 0.0;
}

inline void Obstacles::build_moving_tree() {
  std::vector<Bvh::Key<4>> keys(parts());
  std::vector<Box> boxes(parts() * frames_);
  std::vector<Vec2> center(frames_);
  std::vector<double> grow(frames_);
  for (std::size_t i = 0; i < size(); ++i) {
    const bool stands = !moves(i);
    if (!stands) track(i, center, grow);
    for (std::size_t k = outlines_->begin(i); k < outlines_->end(i); ++k) {
      const Box around = stands ? bounds(k) : bounds_about(motion(i), k).grown(margins_.bound(i));
      bool sound = stands || (is_bounded(known_interval(i)) && turns_in_domain(motion(i)));
      for (std::size_t f = 0; f < frames_; ++f) {
        Box& box = boxes[f * parts() + k];
        box = stands ? around : Box{around.low + center[f], around.high + center[f]}.grown(grow[f]);
        // If the part may leave the domain, its position is unknown.
        constexpr Box kDomain{{-kMaxCoordinate, -kMaxCoordinate}, {kMaxCoordinate, kMaxCoordinate}};
        sound &= kDomain.holds({box.low + origin_, box.high + origin_});
      }
      for (std::size_t f = 0; f < frames_ && !sound; ++f) boxes[f * parts() + k] = kEverywhere;
      const Vec2 first = boxes[k].center();
      const Vec2 last = boxes[(frames_ - 1) * parts() + k].center();
      keys[k] = {static_cast<float>(first.x), static_cast<float>(first.y),
                 static_cast<float>(last.x), static_cast<float>(last.y)};
    }
  }
  moving_tree_.arrange<4>(parts(), [&](std::size_t k) noexcept { return keys[k]; }, frames_);
  for (std::size_t f = 0; f < frames_; ++f) {
    for (std::size_t k = 0; k < parts(); ++k) moving_tree_.set(k, boxes[f * parts() + k], f);
  }
  moving_tree_.update();
}

inline void Obstacles::track(std::size_t i, std::vector<Vec2>& center,
                             std::vector<double>& grow) const noexcept {
  const Motion pieces = motion(i);
  const double begin = pieces.front().begin;
  const double end = pieces.back().end;
  // Frame times are relative to time_origin_, piece times to the stamp.
  const double stamp = this->stamp(i) - time_origin_;
  double error = 0.0;
  const auto position = [&](double local) noexcept {
    std::size_t hint = 0;
    const double t = std::fmin(end, std::fmax(begin, local));
    const Piece* piece = piece_at(pieces, t, hint);
    if (piece == nullptr) return Vec2{kNaN, 0.0};
    const Placement placement = piece->at(t, 0.0);
    const Vec2 at{placement.pose.x - origin_.x, placement.pose.y - origin_.y};
    error = std::fmax(error, placement.error + 16.0 * kUnitRoundoff * (norm1(at) + norm1(origin_)));
    return at;
  };
  const auto frame_time = [this](std::size_t f) noexcept {
    return frames_from_ + static_cast<double>(f) * frame_step_;
  };
  for (std::size_t f = 0; f < frames_; ++f) {
    center[f] = position(frame_time(f) - stamp);
    grow[f] = 0.0;
  }
  const auto depart = [&](double local) noexcept {  // at a corner of the path
    const double place = ((stamp + local) - frames_from_) / frame_step_;
    if (!(place > 0.0 && place < static_cast<double>(frames_ - 1))) return;
    const auto f = static_cast<std::size_t>(place);
    const double share = place - static_cast<double>(f);
    const Vec2 off = position(local) - (center[f] + share * (center[f + 1] - center[f]));
    const double by = norm(off);
    grow[f] = std::fmax(grow[f], by);
    grow[f + 1] = std::fmax(grow[f + 1], by);
  };
  depart(begin);
  for (const Piece& piece : pieces) depart(piece.end);
  // An error of the time shifts the position by the speed times the error.
  double fastest = 0.0;
  for (const Piece& piece : pieces) fastest = std::fmax(fastest, norm(piece.velocity()));
  const double late = time_error_ + 64.0 * kUnitRoundoff *
                                        (std::fabs(frames_from_) + std::fabs(frame_time(frames_)) +
                                         std::fabs(stamp));
  // The errors are multiplied, because collide() may not answer FREE within a few of them; see
  // undecided().
  for (double& by : grow) by = by * (1.0 + 0x1p-40) + 64.0 * (error + fastest * late);
}

inline bool Obstacles::change_shapes(std::span<const Change> changes) {
  const auto has_shape = [](const Change& change) { return change.shape != nullptr; };
  if (std::none_of(changes.begin(), changes.end(), has_shape)) return true;
  std::vector<const Shape*> changed(size(), nullptr);
  for (const Change& change : changes) {
    if (has_shape(change)) changed[change.index] = change.shape;
  }
  bool same_parts = true;
  auto outlines = std::make_shared<Outlines>();
  for (std::size_t i = 0; i < size(); ++i) {
    if (changed[i] != nullptr) {
      const auto before = outlines_->end(i) - outlines_->begin(i);
      same_parts &= static_cast<std::size_t>(changed[i]->parts()) == before;
      outlines->add(*changed[i]);
    } else {
      outlines->add(outlines_->shape(i));
    }
  }
  outlines->finish(!pieces_.empty());
  outlines_ = std::move(outlines);
  most_vertices_ = outlines_->most_vertices();
  return same_parts;
}

inline void Obstacles::change_margins(std::span<const Change> changes) {
  const bool none =
      margins_.none() && std::all_of(changes.begin(), changes.end(), [](const Change& c) {
        return c.margin == 0.0 && c.margin_rate == 0.0;
      });
  if (none) return;
  if (margins_.none()) margins_.assign(size(), {}, {});
  for (const Change& change : changes) {
    margins_.set(change.index, change.margin, change.margin_rate);
  }
  update_margins();
}

inline void Obstacles::change_lifetimes(std::span<const Change> changes) {
  const bool none =
      lifetimes_.none() && std::none_of(changes.begin(), changes.end(),
                                        [](const Change& c) { return c.life.is_limited(); });
  if (none) return;
  if (lifetimes_.none()) lifetimes_.assign(size(), {});
  for (const Change& change : changes) lifetimes_.set(change.index, change.life);
  update_lifetimes();
}

inline void Obstacles::change_motions(std::span<const Change> changes) {
  const bool none =
      pieces_.empty() &&
      std::all_of(changes.begin(), changes.end(), [](const Change& c) { return c.motion.empty(); });
  if (none) return;
  std::vector<const Change*> changed(size(), nullptr);
  for (const Change& change : changes) changed[change.index] = &change;
  std::vector<Piece> pieces;
  pieces.reserve(pieces_.size() + changes.size());
  std::vector<std::size_t> first{0};
  first.reserve(size() + 1);
  for (std::size_t i = 0; i < size(); ++i) {
    const Motion motion = changed[i] != nullptr ? changed[i]->motion : this->motion(i);
    pieces.insert(pieces.end(), motion.begin(), motion.end());
    first.push_back(pieces.size());
  }
  pieces_ = std::move(pieces);
  first_piece_ = std::move(first);
}

}  // namespace gjk
#endif
