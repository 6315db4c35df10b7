// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// How old data may be, and how far its stamp may be ahead of the clock. The server and the mirrors
// call these functions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

#include "gjk/arithmetic.hpp"

namespace gjk {

namespace detail {

template <class... Values>
std::string formatted(const char* format, Values... values) {
  char buffer[160];
  std::snprintf(buffer, sizeof buffer, format, values...);
  return buffer;
}

inline double in_seconds(std::int64_t nanoseconds) noexcept {
  return static_cast<double>(nanoseconds) * 1e-9;
}

}  // namespace detail

// A parameter (s) in ns.
inline std::int64_t nanoseconds(double seconds) noexcept {
  return static_cast<std::int64_t>(std::nearbyint(seconds * 1e9));
}

// Why data is too old: by its stamp (`age`, ns), or by the time since this stamp was first received
// (`silence`, ns, by the steady clock); empty: it is not. `timeout`: s.
inline std::string too_old(std::int64_t age, std::int64_t silence, double timeout) {
  const std::int64_t limit = nanoseconds(timeout);
  if (std::max(age, silence) <= limit) return {};
  if (age <= limit) {
    return detail::formatted("no new stamp received for %.3f s, limit %g s",
                             detail::in_seconds(silence), timeout);
  }
  std::string text = detail::formatted("%.3f s old, limit %g s", detail::in_seconds(age), timeout);
  if (age - silence > limit) {
    text += detail::formatted(
        "; it was %.3f s old when it was received: compare the clocks (is a source "
        "that is sent once static?)",
        detail::in_seconds(age - silence));
  }
  return text;
}

// Why a stamp is too far ahead of the clock (`ahead`, ns); empty: it is not. `limit`: s.
inline std::string too_far_ahead(std::int64_t ahead, double limit) {
  if (ahead <= nanoseconds(limit)) return {};
  return detail::formatted("the stamp is %.3f s ahead of the clock, limit %g s: compare the clocks",
                           detail::in_seconds(ahead), limit);
}

}  // namespace gjk
