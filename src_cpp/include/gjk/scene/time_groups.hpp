// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Groups the poses of a batch by time, so that the obstacles are placed once for each time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

#include "gjk/arithmetic.hpp"

namespace gjk {

class TimeGroups {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  // `times` (s) has one entry per pose. Each time of at least `least` poses is a group. There are
  // none if most times have fewer poses.
  TimeGroups(std::size_t poses, std::span<const double> times, std::size_t least) : others_(poses) {
    const std::size_t most = 16 + 2 * times.size() / least;
    struct Time {
      double time;
      std::size_t poses = 0;
      std::uint32_t next = 0;  // the time of the pose after the last one at this time
    };
    std::vector<Time> all;
    std::unordered_map<double, std::uint32_t> number_of;
    std::uint32_t last = 0;
    if (times.size() >= least) of_pose_.resize(times.size());
    for (std::size_t n = 0; n < of_pose_.size(); ++n) {
      // Times often repeat in the same order, or are all equal.
      std::uint32_t number = all.empty() ? 0 : all[last].next;
      if (all.empty() || all[number].time != times[n]) {
        const auto next = static_cast<std::uint32_t>(all.size());
        const auto [entry, is_new] = number_of.try_emplace(times[n], next);
        number = entry->second;
        if (is_new) {
          if (all.size() == most) {
            of_pose_.clear();
            return;
          }
          all.push_back({times[n], 0, number});
        }
        all[last].next = number;
      }
      ++all[number].poses;
      of_pose_[n] = last = number;
    }
    std::vector<std::uint32_t> group(all.size(), kNone);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].poses < least) continue;
      group[i] = static_cast<std::uint32_t>(times_.size());
      times_.push_back(all[i].time);
      others_ -= all[i].poses;
    }
    if (times_.size() == all.size()) return;  // the numbers are those of the groups
    for (std::uint32_t& number : of_pose_) number = group[number];
  }

  std::size_t size() const noexcept { return times_.size(); }
  double time(std::size_t group) const noexcept { return times_[group]; }  // s
  std::size_t others() const noexcept { return others_; }                  // poses in no group
  // kNone: in no group.
  std::uint32_t of(std::size_t pose) const noexcept {
    return times_.empty() ? kNone : of_pose_[pose];
  }

 private:
  std::size_t others_;
  std::vector<double> times_;           // by group, in the order of their first poses
  std::vector<std::uint32_t> of_pose_;  // empty: there are no groups
};

// Poses in the order of their groups, and in their own order within a group.
class GroupedPoses {
 public:
  // The poses from `begin` to `end` - 1 in `count` groups from `first` on.
  void arrange(const TimeGroups& groups, std::size_t begin, std::size_t end, std::size_t first,
               std::size_t count) {
    end_.assign(count + 1, 0);
    poses_.resize(end - begin);
    for (std::size_t n = begin; n < end; ++n) {
      const std::size_t i = groups.of(n) - first;
      if (i < count) ++end_[i + 1];
    }
    for (std::size_t i = 1; i < end_.size(); ++i) end_[i] += end_[i - 1];
    for (std::size_t n = begin; n < end; ++n) {
      const std::size_t i = groups.of(n) - first;
      if (i < count) poses_[end_[i]++] = n;
    }
  }
  // The poses of group `first` + i.
  std::span<const std::size_t> of(std::size_t i) const noexcept {
    const std::size_t begin = i == 0 ? 0 : end_[i - 1];
    return std::span(poses_).subspan(begin, end_[i] - begin);
  }

 private:
  std::vector<std::size_t> poses_;
  std::vector<std::size_t> end_;  // by group; one more entry at the end
};

}  // namespace gjk
