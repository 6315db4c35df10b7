// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Answers of the mirror and of the client beside running servers. Built and run by
// test/ros/test_cpp_client.py, which writes one command per line to stdin:
//   ask      four questions to the mirror, at a place without obstacles
//   invalid  five questions to the mirror that are not valid
//   held     three questions to the mirror. The line "computing" says that their computations have
//            begun. After a further line on stdin, they end when the server has been silent for
//            too long
//   late     a question to the client, whose thread is stopped until the time limit has passed.
//            The reply comes before
// The result of a command is one line of JSON: [is_free, verdict, status] of each answer.
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <iostream>
#include <limits>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

// Not "...": that would be the files beside this one, and not those that are installed.
#include <gjk_collision/client.hpp>
#include <gjk_collision/mirror.hpp>

using namespace std::chrono_literals;

namespace {

using gjk_collision::CollisionClient;
using gjk_collision::CollisionMirror;
using gjk_collision::msg::Verdict;
namespace srv = gjk_collision::srv;

constexpr double kFar = 50.0;  // m, x of a place without obstacles

// Wakes another thread. Both functions may be called in a signal handler.
class Gate {
 public:
  Gate() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  }
  ~Gate() {
    for (const int end : ends_) ::close(end);
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  // Lets one call of wait() return.
  void open() const noexcept {
    while (::write(ends_[1], "", 1) < 0 && errno == EINTR) continue;
  }
  void wait() const noexcept {
    char byte = 0;
    while (::read(ends_[0], &byte, 1) < 0 && errno == EINTR) continue;
  }

 private:
  std::array<int, 2> ends_{};
};

struct Result {
  bool is_free = false;
  Verdict verdict;
};

template <class Reply>
Result result_of(const Reply& reply) {
  return {reply.is_free, reply.response.verdict};
}

// `is_free`: of the reply or of any of its poses.
Result result_of(const gjk_collision::Reply<srv::CheckPoses>& reply) {
  const auto& verdicts = reply.response.verdicts;
  const bool has_free =
      std::find(verdicts.begin(), verdicts.end(), Verdict::FREE) != verdicts.end();
  return {reply.is_free || has_free, reply.response.verdict};
}

void print(const std::vector<Result>& results) {
  std::string line;
  for (const Result& each : results) {
    line += (line.empty() ? "[" : ", [") + std::string(each.is_free ? "true" : "false") + ", " +
            std::to_string(each.verdict.verdict) + ", " + std::to_string(each.verdict.status) + "]";
  }
  std::printf("[%s]\n", line.c_str());
  std::fflush(stdout);
}

// ---- mirror

std::vector<Result> ask(CollisionMirror& mirror) {
  const gjk::Pose pose{kFar, 0.0, 0.0};
  const std::vector<double> poses{kFar, 0.0, 0.0, kFar + 1.0, 0.0, 0.0};
  return {result_of(mirror.collide(pose)), result_of(mirror.distance(pose)),
          result_of(mirror.check_poses(poses)), result_of(mirror.check_path(poses))};
}

std::vector<Result> ask_invalid(CollisionMirror& mirror) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const gjk::Pose pose{kFar, 0.0, 0.0}, bad{nan, 0.0, 0.0};
  const std::vector<double> poses{nan, 0.0, 0.0};
  gjk_collision::Question nobody;
  nobody.footprint = "nobody";
  return {result_of(mirror.collide(bad)), result_of(mirror.collide(pose, nobody)),
          result_of(mirror.distance(pose, 1, -1.0)), result_of(mirror.check_poses(poses)),
          result_of(mirror.check_path(poses))};
}

// Poses that cannot be read before release(): a thread that reads them waits.
class HeldPoses {
 public:
  explicit HeldPoses(std::span<const double> poses) : size_(poses.size()) {
    void* const page =
        ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) throw std::bad_alloc();
    poses_ = static_cast<double*>(page);
    std::copy(poses.begin(), poses.end(), poses_);
    last = this;
    struct sigaction action{};
    action.sa_sigaction = wait;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGSEGV, &action, nullptr);
    ::mprotect(poses_, bytes(), PROT_NONE);
  }
  ~HeldPoses() {
    ::signal(SIGSEGV, SIG_DFL);
    ::munmap(poses_, bytes());
  }
  HeldPoses(const HeldPoses&) = delete;
  HeldPoses& operator=(const HeldPoses&) = delete;

  std::span<const double> poses() const noexcept { return {poses_, size_}; }
  // Waits until a thread reads them.
  void wait_for_reader() const noexcept { reader_.wait(); }
  // Lets this number of readers continue.
  void release(int readers) const noexcept {
    ::mprotect(poses_, bytes(), PROT_READ);
    for (int i = 0; i < readers; ++i) released_.open();
  }

 private:
  static void wait(int, siginfo_t* info, void*) noexcept {
    if (info->si_addr < last->poses_ || info->si_addr >= last->poses_ + last->size_) std::abort();
    last->reader_.open();
    last->released_.wait();
  }
  std::size_t bytes() const noexcept { return size_ * sizeof(double); }

  inline static HeldPoses* last = nullptr;
  std::size_t size_;
  double* poses_ = nullptr;
  Gate reader_, released_;
};

// The last result is that of fault_at_return().
std::vector<Result> ask_held(CollisionMirror& mirror) {
  const std::vector<double> free{kFar, 0.0, 0.0, kFar + 1.0, 0.0, 0.0};
  for (;;) {
    const auto asked = mirror.ask({});
    const HeldPoses held(free);
    auto poses = std::async(std::launch::async, [&] { return mirror.check_poses(held.poses()); });
    auto path = std::async(std::launch::async, [&] { return mirror.check_path(held.poses()); });
    held.wait_for_reader();
    held.wait_for_reader();
    const bool was_valid = !asked.view().fault && !mirror.fault();
    if (was_valid) {
      std::printf("computing\n");
      std::fflush(stdout);
      std::string line;
      std::getline(std::cin, line);
      const auto is_silent = [&] {
        const auto fault = mirror.fault();
        return fault && fault->status == gjk::Status::undefined;
      };
      while (!is_silent()) std::this_thread::sleep_for(10ms);
    }
    held.release(2);
    std::vector<Result> results{result_of(poses.get()), result_of(path.get()), {}};
    const auto fault = mirror.fault_at_return(asked);
    results[2].is_free = !fault;
    if (fault) results[2].verdict.status = static_cast<std::uint16_t>(fault->status);
    if (was_valid) return results;  // otherwise the machine was too slow: once more
  }
}

// ---- client

// A server that replies FREE.
class FreeServer {
 public:
  FreeServer(rclcpp::Node& node, const std::string& name)
      : thread_(node.get_node_base_interface()) {
    service_ = node.create_service<srv::Collide>(
        name + "/collide",
        [this](const srv::Collide::Request::SharedPtr&,
               const srv::Collide::Response::SharedPtr& response) {
          if (is_held_) {
            received.open();
            may_reply.wait();
          }
          response->is_free = true;
          response->verdict.verdict = Verdict::FREE;
          response->verdict.status = Verdict::SUCCESS;
          response->info.snapshot_id = 7;
        },
        rclcpp::ServicesQoS().keep_last(64), thread_.group());
    thread_.start(50ms, [] {});
  }

  // From now on, each reply waits for `may_reply`.
  void hold() noexcept { is_held_ = true; }

  Gate received;  // a request
  Gate may_reply;

 private:
  std::atomic<bool> is_held_{false};
  rclcpp::Service<srv::Collide>::SharedPtr service_;
  gjk_collision::OwnThread thread_;  // the last member: it uses the others
};

// Stops a thread until resume() is called.
class Stop {
 public:
  explicit Stop(std::thread& thread) {
    last = this;
    ::signal(SIGUSR1, [](int) {
      last->stopped_.open();
      last->resumed_.wait();
    });
    ::pthread_kill(thread.native_handle(), SIGUSR1);
    stopped_.wait();
  }
  void resume() const noexcept { resumed_.open(); }

 private:
  inline static Stop* last = nullptr;
  Gate stopped_, resumed_;
};

Result ask_late(rclcpp::Node& node) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kTimeout = 1s;
  FreeServer server(node, "free_server");
  CollisionClient client(node, {.server = "free_server", .timeout = kTimeout});
  const srv::Collide::Request request;
  while (!client.collide(request).is_free) std::this_thread::sleep_for(10ms);
  server.hold();
  for (;;) {
    Result result;
    Gate returned;
    const auto before = Clock::now();
    std::thread caller([&] {
      result = result_of(client.collide(request));
      returned.wait();  // so that it can be stopped at any time
    });
    server.received.wait();
    const auto after = Clock::now();  // the time limit ends from `before` to `after` + kTimeout
    const Stop stop(caller);
    server.may_reply.open();
    while (client.outstanding() != 0 && Clock::now() < before + kTimeout) {
      std::this_thread::sleep_for(1ms);
    }
    // Nothing but the reply ends the request within this time.
    const bool is_in_time = client.outstanding() == 0 && Clock::now() < before + kTimeout;
    std::this_thread::sleep_until(after + kTimeout + 1ms);
    stop.resume();
    returned.open();
    caller.join();
    if (is_in_time) return result;  // otherwise the machine was too slow: once more
  }
}

}  // namespace

int main(int argc, char** argv) {
  rclcpp::init(argc, argv);
  {
    rclcpp::Node node("live_test");
    const std::string server = node.declare_parameter("server", "collision_server");
    CollisionMirror mirror(node, "odom", server);
    for (std::string command; std::getline(std::cin, command);) {
      if (command == "ask") print(ask(mirror));
      if (command == "invalid") print(ask_invalid(mirror));
      if (command == "held") print(ask_held(mirror));
      if (command == "late") print({ask_late(node)});
    }
  }
  rclcpp::shutdown();
  return 0;
}
