// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Checks at many poses: groups of equal times, searches of several poses together, and hints from
// one pose to the next.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "gjk/broad/boxes.hpp"
#include "gjk/broad/bvh.hpp"
#include "gjk/broad/exhausted.hpp"
#include "gjk/certificate.hpp"
#include "gjk/parallel.hpp"
#include "gjk/query.hpp"
#include "gjk/scene/checks.hpp"
#include "gjk/scene/distance_groups.hpp"
#include "gjk/scene/obstacles.hpp"
#include "gjk/scene/pose_groups.hpp"
#include "gjk/scene/time_groups.hpp"
#include "gjk/scene/time_slice.hpp"
#include "gjk/shape/box.hpp"
#include "gjk/shape/convex.hpp"
#include "gjk/shape/pose.hpp"
#include "gjk/shape/shape.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

// A check of a scene at many poses. For put(begin, end, result) see Scene::check_each().
template <class Scene>
class Batch {
 public:
  // `times` (s) has one entry per pose, or is empty; `which` is empty if there is one shape.
  Batch(const Scene& scene, std::span<const Shape* const> shapes,
        std::span<const std::uint32_t> which, std::span<const Pose> poses,
        std::span<const double> times, const CheckOptions& options, const PutResults& put)
      : scene_(scene),
        obstacles_(scene.obstacles()),
        shapes_(shapes),
        which_(which),
        poses_(poses),
        times_(times),
        options_(options),
        put_(put),
        // Placing a part costs about as much as is saved for a pose.
        groups_(poses.size(), times, std::max<std::size_t>(scene.parts(), 64)),
        length_(options.trajectory > 0 ? options.trajectory : poses.size()),
        stop_after_(options.stop_at_first && length_ > 0 ? (poses.size() + length_ - 1) / length_
                                                         : 0) {
    for (std::atomic<std::size_t>& first : stop_after_) first = poses.size();
  }

  void check(unsigned threads) {
    check_groups(threads);
    // A round has the same steps of several trajectories. So few poses after the stop of one of
    // them are checked in vain.
    const std::size_t length = options_.stop_at_first ? length_ : poses_.size();
    const std::size_t trajectories = stop_after_.empty() ? 1 : stop_after_.size();
    const std::size_t together = std::min(trajectories, kInRound / kPoseLanes);
    const std::size_t steps = kInRound / together;
    const std::size_t rounds = (length + steps - 1) / steps;
    const std::size_t all = (trajectories + together - 1) / together * rounds;
    for_each_chunk(groups_.others() > 0 ? all : 0, 1, threads, [&] {
      return [&, egos = Egos(*this)](std::size_t round, std::size_t) mutable {
        std::array<std::size_t, kInRound> chosen;
        std::size_t count = 0;
        const std::size_t from = round / rounds * together;
        for (std::size_t k = from; k < std::min(from + together, trajectories); ++k) {
          std::size_t n = k * length + round % rounds * steps;
          std::size_t end = std::min({n + steps, (k + 1) * length, poses_.size()});
          if (options_.stop_at_first) end = std::min(end, stop_after_[k] + 1);
          for (; n < end; ++n) {
            if (groups_.of(n) != TimeGroups::kNone) continue;
            chosen[count++] = n;
            __builtin_prefetch(&poses_[n]);  // those of several trajectories are apart
          }
        }
        const std::span<const std::size_t> all_chosen = std::span(chosen).first(count);
        if (times_.empty()) {
          check_some(egos, all_chosen, Obstacles::at_rest());
          return;
        }
        for (const std::size_t n : all_chosen) check_one(egos, n, obstacles_.at(times_[n]));
      };
    });
    for (std::size_t k = 0; k < stop_after_.size(); ++k) {
      const std::size_t end = std::min(poses_.size(), (k + 1) * length_);
      if (stop_after_[k] + 1 < end) put_(stop_after_[k] + 1, end, {});
    }
  }

 private:
  using Ego = typename Scene::Ego;
  static constexpr std::size_t kInRound = 128;  // poses
  static constexpr std::size_t kTogether = 16;  // groups of poses that are searched together
  static constexpr std::size_t kTile = 2048;    // poses whose groups one thread checks
  static constexpr int kLeastInGroup = 3;       // poses; fewer are faster one by one

  // The egos of a thread, by shape.
  class Egos {
   public:
    explicit Egos(const Batch& batch)
        : batch_(batch), of_(batch.shapes_.size()), in_lanes_(batch.shapes_.size()) {}

    // The ego for pose n.
    Ego& at(std::size_t n) {
      std::optional<Ego>& ego = of_[number(n)];
      if (!ego) ego.emplace(shape(n));
      return *ego;
    }
    // The ego in lanes for pose n.
    const LaneShape& in_lanes(std::size_t n) {
      const std::size_t shape = number(n);
      if (in_lanes_[shape] == nullptr) {
        in_lanes_[shape] = std::make_unique<LaneShape>(*batch_.shapes_[shape]);
      }
      return *in_lanes_[shape];
    }
    // The shape for pose n.
    const Shape& shape(std::size_t n) const noexcept { return *batch_.shapes_[number(n)]; }
    DistanceGroup& distances() {
      if (distances_ == nullptr) distances_ = std::make_unique<DistanceGroup>();
      return *distances_;
    }

   private:
    std::size_t number(std::size_t n) const noexcept {
      return batch_.which_.empty() ? 0 : batch_.which_[n];
    }

    const Batch& batch_;
    std::vector<std::optional<Ego>> of_;                // by shape; empty until it is used
    std::vector<std::unique_ptr<LaneShape>> in_lanes_;  // by shape; null until it is used
    std::unique_ptr<DistanceGroup> distances_;
  };

  bool is_stopped(std::size_t n) const noexcept {
    return options_.stop_at_first && n > stop_after_[n / length_];
  }
  bool is_stopped(const PoseGroup& group) const noexcept {
    int k = 0;
    while (k < group.size() && is_stopped(group.number(k))) ++k;
    return k == group.size();
  }
  // Of lanes, which know obstacles only.
  void finish_of_lanes(std::size_t n, const PoseResult& result) {
    const Shape& shape = *shapes_[which_.empty() ? 0 : which_[n]];
    finish(n, scene_.if_seen(result, shape, poses_[n], options_.margin));
  }
  void finish(std::size_t n, const PoseResult& result) {
    put_(n, n + 1, result);
    if (!options_.stop_at_first || is_free(result.verdict)) return;
    std::atomic<std::size_t>& stop = stop_after_[n / length_];
    std::size_t first = stop;
    while (n < first && !stop.compare_exchange_weak(first, n)) {
    }
  }

  void check_one(Egos& egos, std::size_t n, const Obstacles::View& view) {
    if (!is_stopped(n)) finish(n, scene_.check(egos.at(n), poses_[n], options_, view));
  }

  // Checks the poses whose time is that of many poses. The obstacles are placed once for each such
  // time, and in several passes if they would need too much memory. A thread takes poses that
  // follow each other, so that their memory stays in its cache, and checks them in order of time.
  void check_groups(unsigned threads) {
    constexpr std::size_t kMostPlaced = 1 << 16;  // parts
    const std::size_t per_pass =
        std::max(kMostPlaced, poses_.size() / 4) / std::max<std::size_t>(scene_.parts(), 1);
    std::vector<TimeSlice> slices(std::min(groups_.size(), std::max<std::size_t>(per_pass, 1)));
    for (std::size_t first = 0; first < groups_.size(); first += slices.size()) {
      const std::size_t count = std::min(groups_.size() - first, slices.size());
      for_each_chunk(count, 1, threads, [&] {
        return [&](std::size_t i, std::size_t) {
          obstacles_.place(groups_.time(first + i), slices[i]);
        };
      });
      for_each_chunk(poses_.size(), kTile, threads, [&] {
        return [&, egos = Egos(*this), order = GroupedPoses()](std::size_t begin,
                                                               std::size_t end) mutable {
          order.arrange(groups_, begin, end, first, count);
          for (std::size_t i = 0; i < count; ++i) {
            check_some(egos, order.of(i), Obstacles::in(groups_.time(first + i), slices[i]));
          }
        };
      });
    }
  }

  // Whether lanes may decide poses of this view: nothing leads to UNKNOWN, and there is no region.
  bool can_use_lanes(const Obstacles::View& view) const noexcept {
    return scene_.region() == nullptr &&
           (options_.mode == Mode::collide || can_measure_in_lanes(view)) &&
           options_.margin >= 0.0 && options_.margin <= kMaxCoordinate &&
           obstacles_.fault_in(view).status == Status::success &&
           obstacles_.can_require(view, options_.margin);
  }

  bool can_measure_in_lanes(const Obstacles::View& view) const noexcept {
    return options_.mode == Mode::distance && view.slice == nullptr &&
           obstacles_.most_vertices() <= LaneOutline::kMost;
  }

  // Decides poses in groups of neighbours, with the obstacles at rest or in a slice. Returns the
  // poses that it leaves open, in `room`. The results are those of Scene::check(): a gap that lanes
  // prove is large enough for FREE in any query, and the parts are visited in the same order.
  std::span<const std::size_t> check_in_lanes(Egos& egos, std::span<const std::size_t> chosen,
                                              const Obstacles::View& view,
                                              std::span<std::size_t> room) {
    std::array<PoseGroup, kTogether> groups;
    std::array<FloatBox, kTogether> boxes;
    Bvh::Hits hits;
    const double range = obstacles_.range(view, options_.margin);
    std::size_t open = 0;
    for (std::size_t next = 0; next < chosen.size();) {
      std::size_t count = 0;
      while (next < chosen.size() && count < kTogether) {
        const LaneShape& ego = egos.in_lanes(chosen[next]);
        PoseGroup& group = groups[count];
        group = PoseGroup(ego, poses_, of_same_ego(egos, chosen.subspan(next)));
        next += static_cast<std::size_t>(group.size());
        const bool is_usable = group.size() >= kLeastInGroup && ego.is_usable() &&
                               group.is_in_range(obstacles_.origin());
        if (is_usable) {
          boxes[count++] = group.around(obstacles_.origin(), range);
          continue;
        }
        for (int k = 0; k < group.size(); ++k) room[open++] = group.number(k);
        if (group.size() == 0) room[open++] = chosen[next++];
      }
      for (std::size_t first = 0; first < count;) {
        std::size_t together = count - first;
        std::size_t found = 0;
        Exhausted search;
        while (true) {
          search =
              obstacles_.overlapping(std::span(boxes).subspan(first, together), view, hits, found);
          if (search.is_complete() || together == 1) break;
          together /= 2;
        }
        if (!view.timed) {
          for (std::size_t i = 0; i < found; ++i) obstacles_.prefetch(hits[i].item);
        }
        std::size_t end = 0;
        for (std::size_t query = 0; query < together; ++query) {
          const std::size_t begin = end;
          while (end < found && hits[end].query == query) ++end;
          open = answer(groups[first + query], search, std::span(hits).subspan(begin, end - begin),
                        view, room, open);
        }
        first += together;
      }
    }
    return room.first(open);
  }

  // Mode distance, with the obstacles at rest. Returns the poses that it leaves open, in `room`.
  std::span<const std::size_t> measure_in_lanes(Egos& egos, std::span<const std::size_t> chosen,
                                                std::span<std::size_t> room) {
    const auto required = [&](std::size_t k) noexcept {
      return scene_.required_to(k, Obstacles::at_rest(), options_.margin);
    };
    DistanceGroup& distances = egos.distances();
    std::size_t open = 0;
    for (std::size_t next = 0; next < chosen.size();) {
      const LaneShape& ego = egos.in_lanes(chosen[next]);
      const Shape& shape = egos.shape(chosen[next]);
      const PoseGroup group(ego, poses_, of_same_ego(egos, chosen.subspan(next)));
      const auto size = static_cast<std::size_t>(group.size());
      if (size == 0 || !ego.is_usable() || !group.is_in_range(obstacles_.origin())) {
        const std::size_t end = next + std::max<std::size_t>(size, 1);
        while (next < end) room[open++] = chosen[next++];
        continue;
      }
      next += size;
      if (is_stopped(group)) continue;
      distances.compare(group, shape, obstacles_, options_.margin, required);
      for (int k = 0; k < group.size(); ++k) {
        const DistanceGroup::Answer answer = distances.at(k);
        const std::size_t n = group.number(k);
        if (!answer.is_known || answer.decision.verdict() == Verdict::unknown) {
          room[open++] = n;
          continue;
        }
        PoseResult result;
        result.verdict = answer.decision.verdict();
        result.status = answer.decision.status();
        result.distance = answer.distance;
        result.lower_bound = answer.decision.lower();
        const bool is_near = answer.pair >= 0;
        const std::size_t near =
            static_cast<std::size_t>(answer.pair) / static_cast<std::size_t>(shape.parts());
        if (is_near) result.nearest = obstacles_.owner(near);
        check_free(result.verdict, result.status, result.lower_bound, options_.margin);
        finish_of_lanes(n, result);
      }
    }
    return room.first(open);
  }

  // The first of the chosen poses that have the same ego, as many as a group can take.
  std::span<const std::size_t> of_same_ego(Egos& egos, std::span<const std::size_t> chosen) const {
    std::size_t count = std::min<std::size_t>(chosen.size(), kPoseLanes);
    if (!which_.empty()) {
      const LaneShape& ego = egos.in_lanes(chosen[0]);
      const auto is_other = [&](std::size_t n) { return &egos.in_lanes(n) != &ego; };
      const auto first = chosen.first(count);
      count = static_cast<std::size_t>(std::ranges::find_if(first, is_other) - first.begin());
    }
    return chosen.first(count);
  }

  // Adds the poses of the group that are left open to room[open] and after.
  std::size_t answer(const PoseGroup& group, const Exhausted& search,
                     std::span<const Bvh::Hit> near, const Obstacles::View& view,
                     std::span<std::size_t> room, std::size_t open) {
    const auto found = [&](std::size_t k) noexcept {
      return view.slice != nullptr ? view.slice->part(k) : obstacles_.at_rest(k);
    };
    const auto required = [&](std::size_t k) noexcept {
      return scene_.required_to(k, view, options_.margin);
    };
    const bool until_hit = options_.stop_at_first && !near.empty() &&
                           group.number(0) / length_ == group.number(group.size() - 1) / length_;
    const PoseGroup::Answers answers =
        group.compare(search, near, obstacles_.origin(), found, required, until_hit);
    if (answers.free.poses() == group.all() && group.is_run() && scene_.coverage() == nullptr) {
      put_(group.number(0), group.number(0) + static_cast<std::size_t>(group.size()),
           free_result(answers.free.at(0, options_.margin)));
      return open;
    }
    for (int k = 0; k < group.size(); ++k) {
      const std::size_t n = group.number(k);
      const bool is_hit = (answers.hit >> k & 1U) != 0;
      PoseResult result = free_result(answers.free.at(k, options_.margin));
      if (is_hit) {
        const std::size_t part = answers.part[static_cast<std::size_t>(k)];
        result.verdict = Verdict::collision;
        result.nearest = obstacles_.owner(part);
      } else if (!is_free(result.verdict)) {
        room[open++] = n;
        continue;
      }
      finish_of_lanes(n, result);
    }
    return open;
  }
  // FREE if that is certified, else UNKNOWN.
  PoseResult free_result(const Certificate& certificate) const noexcept {
    PoseResult result;
    result.verdict = certificate.beyond(options_.margin, Verdict::unknown);
    result.status = Status::success;
    check_free(result.verdict, result.status, certificate.lower(), options_.margin);
    return result;
  }

  // Checks the chosen poses, with the obstacles at rest or in a slice.
  void check_some(Egos& egos, std::span<const std::size_t> chosen, const Obstacles::View& view) {
    const bool use_lanes = can_use_lanes(view);
    std::array<std::size_t, kInRound> going;
    std::array<std::size_t, kInRound> open;
    while (!chosen.empty()) {
      std::size_t count = 0;
      for (; !chosen.empty() && count < kInRound; chosen = chosen.subspan(1)) {
        if (!is_stopped(chosen.front())) going[count++] = chosen.front();
      }
      std::span<const std::size_t> left = std::span(going).first(count);
      if (use_lanes) {
        left = options_.mode == Mode::collide ? check_in_lanes(egos, left, view, open)
                                              : measure_in_lanes(egos, left, open);
      }
      for (const std::size_t n : left) check_one(egos, n, view);
    }
  }

  const Scene& scene_;
  const Obstacles& obstacles_;
  std::span<const Shape* const> shapes_;
  std::span<const std::uint32_t> which_;
  std::span<const Pose> poses_;
  std::span<const double> times_;
  const CheckOptions& options_;
  const PutResults& put_;
  TimeGroups groups_;
  std::size_t length_;                                // poses in a trajectory
  std::vector<std::atomic<std::size_t>> stop_after_;  // by trajectory: its first pose not FREE
};

}  // namespace gjk
