// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Who sent the obstacles of a scene, and the ids that they have there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gjk {

// Obstacles are given by their indices in the scene; -1: none; the number of obstacles: the outside
// of the region.
struct Senders {
  // The id of the outside of the region, as gjk_collision.OUTSIDE.
  static constexpr std::int64_t kOutside = -2;

  struct Sender {
    std::string name;
    std::size_t count = 0;  // number of its obstacles
  };

  std::span<const std::int64_t> ids;
  std::vector<Sender> senders;  // in the order of their obstacles
  std::string region_source;    // sender of the region; "": none

  // -1: none.
  std::int64_t id_of(std::int64_t index) const noexcept {
    if (index < 0) return -1;
    const auto i = static_cast<std::size_t>(index);
    return i < ids.size() ? ids[i] : kOutside;
  }
  // "": none.
  std::string source_of(std::int64_t index) const {
    if (index < 0) return {};
    auto rest = static_cast<std::size_t>(index);
    for (const Sender& each : senders) {
      if (rest < each.count) return each.name;
      rest -= each.count;
    }
    return region_source;
  }
};

}  // namespace gjk
