// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// A client of a running collision server, with time limits and a limit of outstanding requests.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "gjk/rules/servers.hpp"
#include "gjk_collision/own_thread.hpp"
#include "gjk_collision/reply.hpp"
#include "rclcpp/rclcpp.hpp"

namespace gjk_collision {

struct ClientOptions {
  // Name of the node of the server: absolute, or relative to the namespace of the node.
  std::string server = "collision_server";
  // Maximum time to wait for each reply; > 0.
  std::chrono::nanoseconds timeout = std::chrono::milliseconds(500);
  // Maximum number of requests without a reply, 1 to 64. It is limited because all clients share
  // the queue of the server.
  std::size_t max_outstanding = 16;
};

namespace detail {

srv::Collide service_of(const srv::Collide::Request&);
srv::Distance service_of(const srv::Distance::Request&);
srv::CheckPoses service_of(const srv::CheckPoses::Request&);
srv::CheckPath service_of(const srv::CheckPath::Request&);

}  // namespace detail

template <class Request>
using ServiceOf = decltype(detail::service_of(std::declval<const Request&>()));

// Client of one collision server. Any number of threads may use it.
//
// Replies are received by a thread of the client. So the blocking functions may be called anywhere,
// also in callbacks of any executor, spinning or not. There is one exception: in a callback that
// was passed to `send`, they return UNKNOWN at once, because they would wait for their own thread.
//
// If replies of several servers arrive within 3 s, all are UNKNOWN with SNAPSHOT_MISMATCH: each
// server must have its own name.
//
// A request is never repeated. The callback of each request is called exactly once, and each future
// is set: by the reply, or with UNKNOWN when the time is up, or when the client is destroyed. If
// `max_outstanding` requests have no reply yet, the answer to a further one is UNKNOWN at once.
class CollisionClient {
 public:
  template <class Service>
  using Callback = std::function<void(Reply<Service>)>;

  // Throws std::invalid_argument if an option is out of range. The node must outlive the client.
  template <class Node>
  explicit CollisionClient(Node& node, ClientOptions options = {})
      : options_(checked(std::move(options))), thread_(node.get_node_base_interface()) {
    std::apply([&](auto&... client) { (create(node, client), ...); }, clients_);
    const std::chrono::nanoseconds period = std::clamp<std::chrono::nanoseconds>(
        options_.timeout / 4, std::chrono::milliseconds(2), std::chrono::milliseconds(20));
    thread_.start(period, [this] { expire(Clock::now()); });
  }
  ~CollisionClient() {
    thread_.stop();
    expire(Clock::time_point::max());
  }
  CollisionClient(const CollisionClient&) = delete;
  CollisionClient& operator=(const CollisionClient&) = delete;

  // Waits for all services. Returns whether they are available.
  bool wait_for_server(std::chrono::nanoseconds timeout) const {
    const Clock::time_point deadline = Clock::now() + timeout;
    return std::apply(
        [&](const auto&... client) {
          return (client->wait_for_service(std::max<std::chrono::nanoseconds>(
                      std::chrono::nanoseconds(0), deadline - Clock::now())) &&
                  ...);
        },
        clients_);
  }

  // ---- blocking: at most for the time limit
  Reply<srv::Collide> collide(const srv::Collide::Request& request) {
    return call<srv::Collide>(request);
  }
  Reply<srv::Distance> distance(const srv::Distance::Request& request) {
    return call<srv::Distance>(request);
  }
  Reply<srv::CheckPoses> check_poses(const srv::CheckPoses::Request& request) {
    return call<srv::CheckPoses>(request);
  }
  Reply<srv::CheckPath> check_path(const srv::CheckPath::Request& request) {
    return call<srv::CheckPath>(request);
  }

  // ---- with a callback. It runs in the thread of the client, or in this one if the answer is
  // UNKNOWN at once. It must not throw, and must not destroy the client.
  template <class Request>
  void send(const Request& request, Callback<ServiceOf<Request>> done) {
    post<ServiceOf<Request>>(request, std::move(done));
  }

  // ---- with a future
  template <class Request>
  std::future<Reply<ServiceOf<Request>>> send(const Request& request) {
    using Service = ServiceOf<Request>;
    const auto promise = std::make_shared<std::promise<Reply<Service>>>();
    std::future<Reply<Service>> future = promise->get_future();
    send(request, [promise](Reply<Service> reply) { promise->set_value(std::move(reply)); });
    return future;
  }

  // Number of requests that have no reply yet.
  std::size_t outstanding() const {
    const std::lock_guard lock(mutex_);
    return pending_.size();
  }

 private:
  using Clock = std::chrono::steady_clock;
  template <class Service>
  using Client = typename rclcpp::Client<Service>::SharedPtr;

  // A request without a reply. The thread that removes it from `pending_` calls `give_up` or the
  // callback.
  struct Pending {
    Clock::time_point deadline;
    std::function<void()> give_up;
  };

  static ClientOptions checked(ClientOptions options) {
    if (options.timeout <= std::chrono::nanoseconds(0)) {
      throw std::invalid_argument("timeout: must be positive (got " +
                                  std::to_string(options.timeout.count()) + " ns)");
    }
    if (options.max_outstanding < 1 || options.max_outstanding > 64) {
      throw std::invalid_argument("max_outstanding: must be 1 to 64 (got " +
                                  std::to_string(options.max_outstanding) + ")");
    }
    return options;
  }

  template <class Service>
  static const char* name_of() {
    if constexpr (std::is_same_v<Service, srv::Collide>) return "/collide";
    if constexpr (std::is_same_v<Service, srv::Distance>) return "/distance";
    if constexpr (std::is_same_v<Service, srv::CheckPoses>) return "/check_poses";
    if constexpr (std::is_same_v<Service, srv::CheckPath>) return "/check_path";
  }

  template <class Node, class Service>
  void create(Node& node, std::shared_ptr<rclcpp::Client<Service>>& client) {
    // Requests and replies of many clients share the queues; a full queue loses them.
    client = rclcpp::create_client<Service>(
        node.get_node_base_interface(), node.get_node_graph_interface(),
        node.get_node_services_interface(), options_.server + name_of<Service>(),
        rclcpp::ServicesQoS().keep_last(256), thread_.group());
  }

  std::string timeout_text() const {
    return std::to_string(std::chrono::duration<double>(options_.timeout).count()) + " s";
  }

  // Returns a number for the request, or 0 if `done` has been called with UNKNOWN.
  template <class Service>
  std::uint64_t post(const typename Service::Request& request, Callback<Service> done) {
    const PosesAsked asked = asked_by(request);
    const Client<Service>& client = std::get<Client<Service>>(clients_);
    const Clock::time_point sent = Clock::now();
    // The numbers of rclcpp are known only after the reply may have come.
    auto number_of_rclcpp = std::make_shared<std::atomic<std::int64_t>>(0);
    std::uint64_t number = 0;
    {
      const std::unique_lock lock(mutex_);
      if (pending_.size() < options_.max_outstanding) {
        number = ++last_number_;
        pending_[number] = {sent + options_.timeout, [=, this] {
                              client->remove_pending_request(*number_of_rclcpp);
                              std::string why = "no reply within " + timeout_text();
                              if (!client->service_is_ready()) {
                                why += std::string(": the service ") + client->get_service_name() +
                                       " is not available";
                              }
                              done(no_reply<Service>(std::move(why), asked));
                            }};
      }
    }
    if (number == 0) {
      done(no_reply<Service>("not sent: " + std::to_string(options_.max_outstanding) +
                                 " requests have no reply yet (max_outstanding)",
                             asked));
      return 0;
    }
    const auto receive = [=, this](typename rclcpp::Client<Service>::SharedFuture future) {
      const std::chrono::duration<double> passed = Clock::now() - sent;
      Pending taken;
      if (!take(number, taken)) return;  // late
      if (passed > options_.timeout) return taken.give_up();
      const auto response = future.get();
      Reply<Service> reply = reply_of<Service>(*response, passed.count(), asked);
      if (const auto fault = note_server(response->info.snapshot_id)) {
        reply = unknown_reply<Service>(static_cast<std::uint16_t>(fault->status), fault->message,
                                       asked);
        reply.round_trip = passed.count();
      }
      done(std::move(reply));
    };
    const auto handle =
        client->async_send_request(std::make_shared<typename Service::Request>(request), receive);
    *number_of_rclcpp = handle.request_id;
    return number;
  }

  template <class Service>
  Reply<Service> call(const typename Service::Request& request) {
    const PosesAsked asked = asked_by(request);
    if (thread_.is_this_thread()) {
      return no_reply<Service>("a blocking call in a callback of this client: use send()", asked);
    }
    const auto promise = std::make_shared<std::promise<Reply<Service>>>();
    std::future<Reply<Service>> future = promise->get_future();
    const Clock::time_point deadline = Clock::now() + options_.timeout;
    const std::uint64_t number = post<Service>(
        request, [promise](Reply<Service> reply) { promise->set_value(std::move(reply)); });
    if (future.wait_until(deadline) != std::future_status::ready) {
      Pending taken;
      if (take(number, taken)) taken.give_up();
    }
    Reply<Service> reply = future.get();  // the thread that took the request sets it now
    // This thread may have been stopped after the reply arrived.
    if (Clock::now() <= deadline || !reply.is_free) return reply;
    return no_reply<Service>("no reply within " + timeout_text(), asked);
  }

  // Why a reply from a snapshot cannot be used: other servers of this name reply, too.
  std::optional<gjk::Fault> note_server(std::uint64_t snapshot_id) {
    const std::uint64_t epoch = gjk::epoch_of(snapshot_id);
    if (epoch == 0) return {};  // never FREE
    const std::chrono::nanoseconds now = Clock::now().time_since_epoch();
    const std::lock_guard lock(mutex_);
    servers_.note(epoch, now.count());
    return servers_.fault(epoch, now.count());
  }

  bool take(std::uint64_t number, Pending& taken) {
    const std::lock_guard lock(mutex_);
    const auto found = pending_.find(number);
    if (found == pending_.end()) return false;
    taken = std::move(found->second);
    pending_.erase(found);
    return true;
  }

  void expire(Clock::time_point now) {
    std::vector<Pending> expired;
    {
      const std::lock_guard lock(mutex_);
      // All requests have the same time limit, so that they expire in their order.
      while (!pending_.empty() && pending_.begin()->second.deadline <= now) {
        expired.push_back(std::move(pending_.begin()->second));
        pending_.erase(pending_.begin());
      }
    }
    for (Pending& each : expired) each.give_up();
  }

  const ClientOptions options_;
  mutable std::mutex mutex_;  // protects the four members that follow
  gjk::Servers servers_;
  std::map<std::uint64_t, Pending> pending_;
  std::uint64_t last_number_ = 0;
  std::tuple<Client<srv::Collide>, Client<srv::Distance>, Client<srv::CheckPoses>,
             Client<srv::CheckPath>>
      clients_;
  OwnThread thread_;  // the last member: it uses the others
};

}  // namespace gjk_collision
