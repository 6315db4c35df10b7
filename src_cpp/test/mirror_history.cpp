// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// A mirror with given times: test/simulation/cpp_planner.py writes what happens to stdin, and
// compares the answers with those of the mirror in Python.
//
// stdin: the steady time at which the process begins, then records. A record is one character and
// fields without padding, in the byte order of the machine. Strings and arrays begin with their
// length (uint32). Times are in ns.
//   A  steady                                      the process is active
//   S  steady, ROS time, time sent, msg/Snapshot   a message was received
//   H  the same, msg/CollisionState
//   B  steady, ROS time, at, footprint, margin, poses, times   a question begins. Questions are
//                                                              numbered from 0
//   E  steady, ROS time, number                    its answer is returned
//   C  steady, ROS time                            a question whose answer is not needed
// stdout: a line for each B and E, with the answer from the data of the question if it is returned
// then: verdict, status, number of poses, three values per pose (verdict, status, id), a tab and
// the message.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gjk/snapshot/mirror.hpp"
#include "gjk/snapshot/pauses.hpp"
#include "gjk/snapshot/questions.hpp"
#include "messages.hpp"

namespace gjk::mirror_history {
namespace {

namespace msg = messages;

// Reads fields from stdin.
class Input {
 public:
  // Returns whether there is a further record.
  static bool next(char& kind) { return std::fread(&kind, 1, 1, stdin) == 1; }

  template <class... Fields>
  void read(Fields&... fields) {
    (field(fields), ...);
  }

  template <class T>
  T take() {
    T value{};
    field(value);
    return value;
  }

 private:
  static void bytes(void* to, std::size_t size) {
    if (size == 0 || std::fread(to, size, 1, stdin) == 1) return;
    std::fputs("mirror_history: the input ends within a record\n", stderr);
    std::exit(2);
  }

  template <class Number>
  void field(Number& value) {
    bytes(&value, sizeof value);
  }
  void field(std::string& value) {
    value.resize(take<std::uint32_t>());
    bytes(value.data(), value.size());
  }
  template <class T>
  void field(std::vector<T>& values) {
    values.resize(take<std::uint32_t>());
    for (T& each : values) field(each);
  }
  void field(msg::Time& m) { read(m.sec, m.nanosec); }
  void field(msg::Header& m) { read(m.stamp, m.frame_id); }
  void field(msg::VerdictMessage& m) { read(m.status, m.message); }
  void field(msg::InfoMessage& m) { read(m.header, m.snapshot_id, m.config_hash, m.footprint); }
  void field(msg::FootprintMessage& m) { read(m.name, m.offsets, m.xy, m.radius); }
  void field(msg::ObstaclesMessage& m) {
    read(m.header, m.source, m.ids, m.kinds, m.offsets, m.xy, m.radius, m.poses, m.velocities,
         m.path_offsets, m.path_times, m.path_poses, m.margins, m.margin_rates);
  }
  void field(msg::SnapshotMessage& m) {
    read(m.info, m.sequence, m.verdict, m.data_verdict, m.footprints, m.footprint_names,
         m.footprint_by_speed, m.footprint_sources, m.footprint_stamps, m.footprint_timeouts,
         m.footprint_receipt_ages, m.obstacles, m.sources, m.timeouts, m.receipt_ages, m.time_zero,
         m.region_source, m.region_boundary, m.region_radii, m.region_inflation, m.safety_margin,
         m.concave_policy, m.prediction_policy, m.prediction_horizon, m.toi_tolerance, m.max_poses,
         m.max_future_stamp, m.heartbeat_limit, m.static_revision);
  }
  void field(msg::HeartbeatMessage& m) {
    read(m.header.stamp, m.counter, m.snapshot_sequence, m.info.snapshot_id, m.info.config_hash,
         m.verdict);
  }
};

// A question that is being answered.
struct Thinking {
  Mirror::Asked asked;
  std::vector<double> poses, times;
  double margin = 0.0;
};

class Process {
 public:
  explicit Process(Input& input) : input_(input), pauses_(input.take<std::int64_t>()) {}

  void handle(char kind) {
    const auto steady = input_.take<std::int64_t>();
    if (kind == 'A') return pauses_.note_activity(steady);
    const Clocks clocks{input_.take<std::int64_t>(), steady};
    if (kind == 'S') {
      const Arrival arrival = this->arrival(clocks);
      mirror_.receive_snapshot(Mirror::read(input_.take<msg::SnapshotMessage>()), arrival);
    } else if (kind == 'H') {
      const Arrival arrival = this->arrival(clocks);
      mirror_.receive_heartbeat(input_.take<msg::HeartbeatMessage>(), arrival);
    } else if (kind == 'B') {
      Question question;
      Thinking thinking;
      input_.read(question.at, question.footprint, thinking.margin, thinking.poses, thinking.times);
      thinking.asked = mirror_.ask(question, 0, "odom", clocks);
      write(thinking, clocks);
      thinking_.emplace(number_++, std::move(thinking));
    } else if (kind == 'C') {
      mirror_.ask({}, 0, "odom", clocks);
    } else if (kind == 'E') {
      const auto found = thinking_.find(input_.take<std::uint64_t>());
      write(found->second, clocks);
      thinking_.erase(found);
    }
  }

 private:
  Arrival arrival(const Clocks& clocks) {
    return {clocks, pauses_.earliest(clocks.steady, input_.take<std::int64_t>())};
  }

  // Writes the answer that is returned at this time.
  void write(const Thinking& thinking, const Clocks& clocks) {
    Mirror::Asked asked = thinking.asked;
    const PosesAnswer found = Mirror::answer(
        asked,
        [&] {
          return check_poses(asked.view(), {.poses = thinking.poses,
                                            .times = thinking.times,
                                            .stamp = asked.view().stamp,
                                            .margin = thinking.margin});
        },
        [&] { return mirror_.fault_at_return(asked, clocks); });
    std::printf("%d %d %zu", static_cast<int>(found.answer.verdict),
                static_cast<int>(found.answer.status), found.verdicts.size());
    for (std::size_t i = 0; i < found.verdicts.size(); ++i) {
      std::printf(" %d %d %lld", static_cast<int>(found.verdicts[i]),
                  static_cast<int>(found.statuses[i]),
                  static_cast<long long>(asked.id_of(found.obstacles[i])));
    }
    std::printf("\t%s\n", found.answer.message.c_str());
    std::fflush(stdout);
  }

  Input& input_;
  Pauses pauses_;
  Mirror mirror_;
  std::uint64_t number_ = 0;  // of the next question
  std::map<std::uint64_t, Thinking> thinking_;
};

}  // namespace
}  // namespace gjk::mirror_history

int main() {
  gjk::mirror_history::Input input;
  gjk::mirror_history::Process process(input);
  for (char kind = 0; input.next(kind);) process.handle(kind);
  return 0;
}
