// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Several servers with one name: each request gets a reply of each of them. The server, the clients
// and the mirrors call this. It reads no clock: the caller passes the times.
#pragma once

#include <cstdint>
#include <optional>

#include "gjk/rules/fault.hpp"

namespace gjk {

// The epoch of the server that made a snapshot. It differs between processes and between
// activations. 0: no snapshot.
inline std::uint64_t epoch_of(std::uint64_t snapshot_id) noexcept { return snapshot_id >> 32; }

// The servers whose messages were received under one name. A server that is activated again has the
// next epoch; it is not another one, and a late message of its last activation does not count.
class Servers {
 public:
  // The longest time between two heartbeats of a server is 1 s, and up to two may be lost [ns].
  static constexpr std::int64_t kOther = 3'000'000'000;

  // A message of the server with this epoch was received; 0: not known.
  void note(std::uint64_t epoch, std::int64_t steady) noexcept {
    if (epoch == 0 || epoch + 1 == last_.epoch) return;
    if (epoch != last_.epoch && epoch != last_.epoch + 1) other_ = last_;
    last_ = {epoch, steady};
  }

  // Why no answer of the server with this epoch may be used: within kOther, a message of another
  // server was received; nothing: there was none.
  std::optional<Fault> fault(std::uint64_t epoch, std::int64_t steady) const {
    const auto is_other = [&](const Server& server) noexcept {
      return server.epoch != 0 && server.epoch != epoch && server.epoch + 1 != epoch &&
             steady - server.steady <= kOther;
    };
    if (!is_other(last_) && !is_other(other_)) return {};
    return Fault{Status::snapshot_mismatch,
                 "within the last 3 s, a message of another server with this name was received: "
                 "stop the other server (or the playback of its topics), or give each server its "
                 "own name or namespace; after a restart, wait 3 s"};
  }

 private:
  struct Server {
    std::uint64_t epoch = 0;  // 0: none
    std::int64_t steady = 0;  // time of its last message, ns
  };

  Server last_;
  Server other_;  // the last one that is not `last_`
};

}  // namespace gjk
