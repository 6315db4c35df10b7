// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Replies of the collision server, as clients get them: a reply that is missing, late or
// contradictory is never free.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "gjk/rules/questions.hpp"
#include "gjk_collision/msg/verdict.hpp"
#include "gjk_collision/srv/check_path.hpp"
#include "gjk_collision/srv/check_poses.hpp"
#include "gjk_collision/srv/collide.hpp"
#include "gjk_collision/srv/distance.hpp"
#include "gjk_collision/srv/nearest_free.hpp"

namespace gjk_collision {

// A reply of a service. It has no truth value.
template <class Service>
struct Reply {
  // The whole response is consistent, its verdict is FREE, its status is SUCCESS, and it names the
  // snapshot that it was computed from.
  bool is_free = false;
  // As received, except: if it is missing or contradictory, its verdict is UNKNOWN, its message
  // says why, and the other results have their values for "none". `is_free` is that above.
  typename Service::Response response;
  // From the request to the response (s). Infinity: no response in time.
  double round_trip = std::numeric_limits<double>::infinity();

  explicit operator bool() const = delete;
};

// What a request of CheckPoses asked for, to judge the response; nothing for other services.
struct PosesAsked {
  std::size_t poses = 0;
  std::vector<std::uint32_t> group_offsets;

  std::size_t groups() const noexcept {
    return group_offsets.empty() ? 0 : group_offsets.size() - 1;
  }
};

template <class Request>
PosesAsked asked_by(const Request&) {
  return {};
}
inline PosesAsked asked_by(const srv::CheckPoses::Request& request) {
  return {request.poses.size() / 3, request.group_offsets};
}

namespace detail {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

inline bool is_verdict_free(const msg::Verdict& verdict) noexcept {
  return verdict.verdict == msg::Verdict::FREE && verdict.status == msg::Verdict::SUCCESS;
}

template <class To, class T>
void assign(To& to, const T& value) {
  to = static_cast<To>(value);
}
// From Lyrical on, a field uint8[] is a rosidl::Buffer, not a std::vector.
template <class To, class T>
void assign(To& to, const std::vector<T>& values) {
  to.clear();
  for (const T& each : values) to.push_back(static_cast<typename To::value_type>(each));
}
template <std::size_t N>
void assign(std::vector<double>& to, const std::vector<std::array<double, N>>& rows) {
  to.clear();
  for (const auto& each : rows) to.insert(to.end(), each.begin(), each.end());
}

// Sets the fields of a response that depend on an answer, see gjk/rules/fields.hpp.
template <class Response, class Answer, class Known>
void fill(Response& response, const Answer& answer, const Known& known) {
  fields(answer, known,
         [&](const char*, auto member, const auto& value) { assign(member(response), value); });
}

// Set the results of a response to their values for "none", except the verdict.
inline void clear(srv::Collide::Response& response, const PosesAsked&) {
  fill(response, gjk::CollideAnswer(), gjk::Snapshot());
}
inline void clear(srv::Distance::Response& response, const PosesAsked&) {
  fill(response, gjk::DistanceAnswer(), gjk::Snapshot());
}
inline void clear(srv::CheckPoses::Response& response, const PosesAsked& asked) {
  fill(response, gjk::PosesAnswer(), gjk::Snapshot());
  response.verdicts.assign(asked.poses, msg::Verdict::UNKNOWN);
  response.statuses.assign(asked.poses, response.verdict.status);
  response.nearest_ids.assign(asked.poses, -1);
  response.group_first_invalid.assign(asked.groups(), 0);
}
inline void clear(srv::CheckPath::Response& response, const PosesAsked&) {
  fill(response, gjk::PathAnswer(), gjk::Snapshot());
}
inline void clear(srv::NearestFree::Response& response, const PosesAsked&) {
  fill(response, gjk::NearestFreeAnswer(), gjk::Snapshot());
}

// Why the fields of a response contradict each other; "": they do not.
template <class Response>
std::string contradiction_in_head(const Response& response) {
  if (response.verdict.verdict > msg::Verdict::MARGIN) {
    return "verdict " + std::to_string(response.verdict.verdict) + " is not defined";
  }
  if (response.is_free != is_verdict_free(response.verdict)) {
    return std::string("is_free is ") + (response.is_free ? "true" : "false") +
           ", but the verdict is " + std::to_string(response.verdict.verdict) + " with status " +
           std::to_string(response.verdict.status);
  }
  if (response.is_free && response.info.snapshot_id == 0) {
    return "is_free is true, but info.snapshot_id is 0";
  }
  return {};
}

// The same beside these fields.
inline std::string contradiction(const srv::Collide::Response&, const PosesAsked&) { return {}; }

inline std::string contradiction(const srv::NearestFree::Response& response, const PosesAsked&) {
  const std::size_t size = response.free_pose.size();
  return size == (response.is_free ? 3U : 0U) ? "" : "free_pose does not fit is_free";
}

inline std::string contradiction(const srv::Distance::Response& response, const PosesAsked&) {
  const std::size_t n = response.ids.size();
  const bool is_equal = response.sources.size() == n && response.distances.size() == n &&
                        response.lower_bounds.size() == n && response.statuses.size() == n;
  const bool is_double = response.witness_ego.size() == 2 * n &&
                         response.witness_obstacle.size() == 2 * n &&
                         response.directions.size() == 2 * n;
  return is_equal && is_double ? "" : "the arrays do not have one entry per obstacle";
}

// Index of the first pose in [begin, end) that is not FREE; `end`: all are FREE.
inline std::size_t first_not_free(const srv::CheckPoses::Response& response, std::size_t begin,
                                  std::size_t end) noexcept {
  while (begin < end && response.verdicts[begin] == msg::Verdict::FREE &&
         response.statuses[begin] == msg::Verdict::SUCCESS) {
    ++begin;
  }
  return begin;
}

inline std::string contradiction(const srv::CheckPoses::Response& response,
                                 const PosesAsked& asked) {
  const std::size_t n = asked.poses;
  // A request that was refused as a whole has no entries.
  if (response.verdicts.empty() && response.statuses.empty() && !response.is_free) return {};
  const auto fits = [](std::size_t size, std::size_t wanted) {
    return size == wanted || size == 0;
  };
  const std::size_t pairs = response.gradient_ids.size();
  if (response.verdicts.size() != n || response.statuses.size() != n ||
      response.nearest_ids.size() != n || !fits(response.distances.size(), n) ||
      !fits(response.lower_bounds.size(), n) || !fits(response.witnesses.size(), 4 * n) ||
      (n > 0 && pairs % n != 0) || response.gradient_distances.size() != pairs ||
      response.gradients.size() != 3 * pairs || response.gradient_rates.size() != pairs ||
      response.gradient_smooth.size() != pairs) {
    return "the arrays do not have one entry for each of " + std::to_string(n) + " poses";
  }
  const std::size_t free = first_not_free(response, 0, n);
  if (response.is_free != (n > 0 && free == n)) {
    return std::string("is_free is ") + (response.is_free ? "true" : "false") + ", but " +
           (free == n ? "all poses are" : "pose " + std::to_string(free) + " is not") + " FREE";
  }
  const std::int64_t first = free == n ? -1 : static_cast<std::int64_t>(free);
  if (response.first_invalid_index != first) {
    return "first_invalid_index is " + std::to_string(response.first_invalid_index) + ", not " +
           std::to_string(first);
  }
  if (response.group_first_invalid.size() != asked.groups()) {
    return "group_first_invalid does not have one entry for each of " +
           std::to_string(asked.groups()) + " groups";
  }
  for (std::size_t g = 0; g < asked.groups(); ++g) {
    const std::size_t begin = asked.group_offsets[g];
    const std::size_t end = asked.group_offsets[g + 1];
    if (begin > end || end > n) return "the request has wrong group_offsets, but was answered";
    const std::size_t own = first_not_free(response, begin, end);
    if (response.group_first_invalid[g] !=
        (own == end ? -1 : static_cast<std::int64_t>(own - begin))) {
      return "group_first_invalid[" + std::to_string(g) + "] is " +
             std::to_string(response.group_first_invalid[g]) + ", but pose " + std::to_string(own) +
             " is the first that is not FREE";
    }
  }
  return {};
}

inline std::string contradiction(const srv::CheckPath::Response& response, const PosesAsked&) {
  return gjk::has_consistent_end(response) ? "" : "the end of the free part does not fit is_free";
}

}  // namespace detail

// A reply that is UNKNOWN, with a status and a reason.
template <class Service>
Reply<Service> unknown_reply(std::uint16_t status, std::string why, const PosesAsked& asked = {}) {
  Reply<Service> reply;
  reply.response.verdict.verdict = msg::Verdict::UNKNOWN;
  reply.response.verdict.status = status;
  reply.response.verdict.message = std::move(why);
  reply.response.info.footprint_age = detail::kNaN;
  reply.response.info.max_obstacle_age = detail::kNaN;
  detail::clear(reply.response, asked);
  return reply;
}

// A reply for which there is no response.
template <class Service>
Reply<Service> no_reply(std::string why, const PosesAsked& asked = {}) {
  return unknown_reply<Service>(msg::Verdict::UNDEFINED, std::move(why), asked);
}

// The reply for a response that was received after `round_trip` (s).
template <class Service>
Reply<Service> reply_of(typename Service::Response response, double round_trip,
                        const PosesAsked& asked = {}) {
  Reply<Service> reply{false, std::move(response), round_trip};
  std::string contradiction = detail::contradiction_in_head(reply.response);
  if (contradiction.empty()) contradiction = detail::contradiction(reply.response, asked);
  if (!contradiction.empty()) {
    reply.response.is_free = false;
    reply.response.verdict.verdict = msg::Verdict::UNKNOWN;
    reply.response.verdict.status = msg::Verdict::UNDEFINED;
    reply.response.verdict.message = "the reply contradicts itself: " + contradiction;
    detail::clear(reply.response, asked);
  } else if constexpr (std::is_same_v<Service, srv::CheckPoses>) {
    if (reply.response.verdicts.empty()) detail::clear(reply.response, asked);
  }
  reply.is_free = reply.response.is_free;
  return reply;
}

}  // namespace gjk_collision
