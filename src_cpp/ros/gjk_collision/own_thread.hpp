// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// A thread that runs the callbacks of a client or of a mirror.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "rclcpp/rclcpp.hpp"

namespace gjk_collision {

// Spins one callback group of a node in a thread of its own, so that no other executor can keep its
// callbacks from running.
class OwnThread {
 public:
  explicit OwnThread(rclcpp::node_interfaces::NodeBaseInterface::SharedPtr node)
      : group_(node->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive, false)),
        node_(std::move(node)),
        executor_(options_of(*node_)) {}
  ~OwnThread() { stop(); }
  OwnThread(const OwnThread&) = delete;
  OwnThread& operator=(const OwnThread&) = delete;

  // Calls `also()` after each callback and at least once in `period`. Call once, after the
  // entities of the group are created.
  void start(std::chrono::nanoseconds period, std::function<void()> also) {
    executor_.add_callback_group(group_, node_);
    thread_ = std::thread([this, period, also = std::move(also)] {
      while (!is_stopped_ && node_->get_context()->is_valid()) {
        executor_.spin_once(period);
        also();
      }
    });
  }
  void stop() {
    is_stopped_ = true;
    executor_.cancel();
    if (thread_.joinable()) thread_.join();
  }

  const rclcpp::CallbackGroup::SharedPtr& group() const noexcept { return group_; }
  bool is_this_thread() const noexcept { return std::this_thread::get_id() == thread_.get_id(); }

 private:
  static rclcpp::ExecutorOptions options_of(rclcpp::node_interfaces::NodeBaseInterface& node) {
    rclcpp::ExecutorOptions options;
    options.context = node.get_context();
    return options;
  }

  rclcpp::CallbackGroup::SharedPtr group_;
  rclcpp::node_interfaces::NodeBaseInterface::SharedPtr node_;
  rclcpp::executors::SingleThreadedExecutor executor_;
  std::atomic<bool> is_stopped_{false};
  std::thread thread_;
};

}  // namespace gjk_collision
