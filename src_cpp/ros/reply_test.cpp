// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// A reply reads as free only if it is whole. Built by test/ros/test_cpp_client.py, without rclcpp.
#include "gjk_collision/reply.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

namespace gjk_collision {
namespace {

constexpr std::size_t kPoses = 3;
const PosesAsked kThree{kPoses, {}};

template <class Response>
Response free_head() {
  Response response;
  response.is_free = true;
  response.verdict.verdict = msg::Verdict::FREE;
  response.verdict.status = msg::Verdict::SUCCESS;
  response.info.snapshot_id = 7;
  return response;
}
srv::CheckPoses::Response free_poses() {
  auto response = free_head<srv::CheckPoses::Response>();
  response.verdicts.assign(kPoses, msg::Verdict::FREE);
  response.statuses.assign(kPoses, msg::Verdict::SUCCESS);
  response.nearest_ids.assign(kPoses, -1);
  response.first_invalid_index = -1;
  return response;
}
srv::CheckPath::Response free_path() {
  auto response = free_head<srv::CheckPath::Response>();
  response.first_invalid_segment = -1;
  response.last_valid_fraction = 1.0;
  return response;
}

template <class Service, class... Size>
void expect_refused(const typename Service::Response& response, Size... size) {
  const auto reply = reply_of<Service>(response, 0.1, size...);
  EXPECT_FALSE(reply.is_free);
  EXPECT_FALSE(reply.response.is_free);
  EXPECT_EQ(reply.response.verdict.verdict, msg::Verdict::UNKNOWN);
  EXPECT_NE(reply.response.verdict.message.find("contradicts itself: "), std::string::npos);
}

template <class Service, class... Size>
void expect_head_is_checked(const typename Service::Response& free, Size... size) {
  EXPECT_TRUE((reply_of<Service>(free, 0.1, size...).is_free));
  using Response = typename Service::Response;
  const std::vector<std::function<void(Response&)>> breaks = {
      [](Response& r) { r.is_free = false; },
      [](Response& r) { r.verdict.verdict = msg::Verdict::MARGIN; },
      [](Response& r) { r.verdict.verdict = 9; },
      [](Response& r) { r.verdict.status = msg::Verdict::TIME_BUDGET; },
      [](Response& r) { r.info.snapshot_id = 0; },
  };
  for (const auto& breaks_it : breaks) {
    Response response = free;
    breaks_it(response);
    expect_refused<Service>(response, size...);
  }
  EXPECT_FALSE((reply_of<Service>(Response(), 0.1, size...).is_free));
  EXPECT_FALSE((no_reply<Service>("late", size...).is_free));
  EXPECT_EQ((no_reply<Service>("late", size...).response.verdict.message), "late");
  EXPECT_TRUE(std::isinf(no_reply<Service>("late", size...).round_trip));
}

TEST(Reply, HeadOfEveryService) {
  expect_head_is_checked<srv::Collide>(free_head<srv::Collide::Response>());
  expect_head_is_checked<srv::Distance>(free_head<srv::Distance::Response>());
  expect_head_is_checked<srv::CheckPoses>(free_poses(), kThree);
  expect_head_is_checked<srv::CheckPath>(free_path());
}

TEST(Reply, EveryPoseIsFree) {
  using Response = srv::CheckPoses::Response;
  const std::vector<std::function<void(Response&)>> breaks = {
      [](Response& r) { r.verdicts[1] = msg::Verdict::UNKNOWN; },
      [](Response& r) { r.verdicts[2] = msg::Verdict::COLLISION; },
      [](Response& r) { r.statuses[0] = msg::Verdict::UNDEFINED; },
      [](Response& r) { r.verdicts.pop_back(); },
      [](Response& r) { r.statuses.push_back(msg::Verdict::SUCCESS); },
      [](Response& r) { r.verdicts.clear(), r.statuses.clear(), r.nearest_ids.clear(); },
      [](Response& r) { r.nearest_ids.clear(); },
      [](Response& r) { r.distances.resize(1); },
      [](Response& r) { r.witnesses.resize(kPoses); },
      [](Response& r) { r.first_invalid_index = 0; },
      [](Response& r) { r.group_first_invalid = {-1}; },
      [](Response& r) { r.gradient_ids = {1, 2, 3}; },
  };
  for (const auto& breaks_it : breaks) {
    Response response = free_poses();
    breaks_it(response);
    expect_refused<srv::CheckPoses>(response, kThree);
    // Whatever was received, there is one entry per pose to read.
    const auto reply = reply_of<srv::CheckPoses>(response, 0.1, kThree);
    EXPECT_EQ(reply.response.verdicts, std::vector<std::uint8_t>(kPoses, msg::Verdict::UNKNOWN));
    EXPECT_EQ(reply.response.nearest_ids, std::vector<std::int64_t>(kPoses, -1));
    EXPECT_EQ(reply.response.first_invalid_index, 0);
  }
}

TEST(Reply, OtherVerdictsAreKept) {
  auto response = free_poses();
  response.is_free = false;
  response.verdict.verdict = response.verdicts[1] = msg::Verdict::COLLISION;
  response.nearest_ids[1] = 5;
  response.first_invalid_index = 1;
  const auto reply = reply_of<srv::CheckPoses>(response, 0.1, kThree);
  EXPECT_FALSE(reply.is_free);
  EXPECT_EQ(reply.response, response);
}

TEST(Reply, RefusedRequestHasOneEntryPerPose) {
  srv::CheckPoses::Response response;
  response.verdict.status = msg::Verdict::NON_FINITE;
  response.verdict.message = "poses[2]: must be finite (got nan)";
  const auto reply = reply_of<srv::CheckPoses>(response, 0.1, kThree);
  EXPECT_EQ(reply.response.statuses, std::vector<std::uint16_t>(kPoses, msg::Verdict::NON_FINITE));
  EXPECT_EQ(reply.response.verdict.message, response.verdict.message);
}

TEST(Reply, GroupsAgreeWithTheirPoses) {
  const PosesAsked asked{kPoses, {0, 1, 3}};
  auto response = free_poses();
  response.group_first_invalid = {-1, -1};
  EXPECT_TRUE(reply_of<srv::CheckPoses>(response, 0.1, asked).is_free);
  response.is_free = false;
  response.verdict.verdict = response.verdicts[2] = msg::Verdict::MARGIN;
  response.first_invalid_index = 2;
  expect_refused<srv::CheckPoses>(response, asked);
  response.group_first_invalid = {-1, 1};
  EXPECT_EQ(reply_of<srv::CheckPoses>(response, 0.1, asked).response, response);
  response.group_first_invalid = {-1};
  expect_refused<srv::CheckPoses>(response, asked);
  EXPECT_EQ(reply_of<srv::CheckPoses>(response, 0.1, asked).response.group_first_invalid,
            (std::vector<std::int32_t>{0, 0}));
}

TEST(Reply, WholePathIsFree) {
  auto response = free_path();
  response.first_invalid_segment = 0;
  expect_refused<srv::CheckPath>(response);
  response = free_path();
  response.last_valid_fraction = std::nan("");
  expect_refused<srv::CheckPath>(response);
  response = free_path();
  response.is_free = false;
  response.verdict.verdict = msg::Verdict::COLLISION;
  expect_refused<srv::CheckPath>(response);
  response.first_invalid_segment = 2;
  response.last_valid_fraction = 0.5;
  EXPECT_EQ(reply_of<srv::CheckPath>(response, 0.1).response, response);
}

TEST(Reply, ArraysOfDistancesHaveOneLength) {
  auto response = free_head<srv::Distance::Response>();
  response.ids = {1};
  expect_refused<srv::Distance>(response);
  EXPECT_TRUE(reply_of<srv::Distance>(response, 0.1).response.ids.empty());
}

// As rosidl::Buffer, the type of a field uint8[] from Lyrical on: no std::vector.
struct Buffer {
  using value_type = std::uint8_t;
  void clear() { values.clear(); }
  void push_back(value_type value) { values.push_back(value); }
  std::vector<value_type> values;
};

TEST(Reply, AFieldOfBytesNeedNotBeAVector) {
  Buffer to{{7}};
  detail::assign(to, std::vector{gjk::Verdict::unknown, gjk::Verdict::margin});
  EXPECT_EQ(to.values, (std::vector<std::uint8_t>{msg::Verdict::UNKNOWN, msg::Verdict::MARGIN}));
}

}  // namespace
}  // namespace gjk_collision
