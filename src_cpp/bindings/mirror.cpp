// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The rules of a mirror, for messages of rclpy and of rosbags: they are read by the names of their
// fields.
#include "gjk/rules/mirror.hpp"

#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "gjk/rules/age.hpp"
#include "gjk/rules/pauses.hpp"
#include "gjk/rules/servers.hpp"
#include "known_snapshot.hpp"

namespace gjk::bindings {
namespace {

// A message whose fields are read when this is made. Each initialises a member of a derived class.
struct Message {
  py::handle handle;

  // Converted to the type of the member.
  struct Field {
    py::object value;

    template <class T>
    operator T() const {  // NOLINT(misc-explicit-constructor)
      if constexpr (std::is_base_of_v<Message, T>) return T{{value}};
      if constexpr (!std::is_base_of_v<Message, T>) return value.cast<T>();
    }
    template <class T>
    operator std::vector<T>() const {  // NOLINT(misc-explicit-constructor)
      std::vector<T> values;
      if constexpr (std::is_arithmetic_v<T>) {
        const Array<T> array(value);
        values.assign(array.data(), array.data() + array.size());
      } else {
        for (const py::handle each : value)
          values.push_back(Field{py::reinterpret_borrow<py::object>(each)});
      }
      return values;
    }
  };
  Field of(const char* name) const { return {handle.attr(name)}; }
};

struct TimeFields : Message {
  std::int64_t sec = of("sec");
  std::int64_t nanosec = of("nanosec");
};
struct HeaderFields : Message {
  TimeFields stamp = of("stamp");
  std::string frame_id = of("frame_id");
};
struct VerdictFields : Message {
  std::uint16_t status = of("status");
  std::string message = of("message");
};
struct InfoFields : Message {
  HeaderFields header = of("header");
  std::uint64_t snapshot_id = of("snapshot_id");
  std::uint32_t config_hash = of("config_hash");
  std::string footprint = of("footprint");
  double footprint_age = of("footprint_age");
  double max_obstacle_age = of("max_obstacle_age");
};
struct FootprintFields : Message {
  std::string name = of("name");
  std::vector<std::uint32_t> offsets = of("offsets");
  std::vector<double> xy = of("xy");
  std::vector<double> radius = of("radius");
};
struct ObstacleFields : Message {
  HeaderFields header = of("header");
  std::string source = of("source");
  std::vector<std::int64_t> ids = of("ids");
  std::vector<std::uint8_t> kinds = of("kinds");
  std::vector<std::uint32_t> offsets = of("offsets");
  std::vector<double> xy = of("xy");
  std::vector<double> radius = of("radius");
  std::vector<double> poses = of("poses");
  std::vector<double> velocities = of("velocities");
  std::vector<std::uint32_t> path_offsets = of("path_offsets");
  std::vector<double> path_times = of("path_times");
  std::vector<double> path_poses = of("path_poses");
  std::vector<double> margins = of("margins");
  std::vector<double> margin_rates = of("margin_rates");
};
struct AgeLimitFields : Message {
  std::string source = of("source");
  TimeFields stamp = of("stamp");
  double timeout = of("timeout");
  double receipt_age = of("receipt_age");
};
struct SenderFields : Message {
  AgeLimitFields age_limit = of("age_limit");
  ObstacleFields obstacles = of("obstacles");
  std::string prediction_policy = of("prediction_policy");
};
struct SeenFields : Message {
  std::string source = of("source");
  std::vector<double> boundary = of("boundary");
  std::vector<double> radii = of("radii");
};
struct SnapshotFields : Message {
  InfoFields info = of("info");
  std::uint64_t sequence = of("sequence");
  VerdictFields verdict = of("verdict");
  VerdictFields data_verdict = of("data_verdict");
  std::vector<FootprintFields> footprints = of("footprints");
  std::vector<std::string> footprint_names = of("footprint_names");
  bool footprint_selected = of("footprint_selected");
  std::vector<AgeLimitFields> footprint_limits = of("footprint_limits");
  std::vector<SenderFields> senders = of("senders");
  TimeFields time_zero = of("time_zero");
  std::string region_source = of("region_source");
  std::vector<double> region_boundary = of("region_boundary");
  std::vector<double> region_radii = of("region_radii");
  double region_inflation = of("region_inflation");
  bool require_seen = of("require_seen");
  std::vector<SeenFields> seen = of("seen");
  double safety_margin = of("safety_margin");
  std::string concave_policy = of("concave_policy");
  double prediction_horizon = of("prediction_horizon");
  double toi_tolerance = of("toi_tolerance");
  std::uint32_t max_poses = of("max_poses");
  double max_future_stamp = of("max_future_stamp");
  double heartbeat_limit = of("heartbeat_limit");
  std::uint64_t static_revision = of("static_revision");
};
struct HeartbeatFields : Message {
  HeaderFields header = of("header");
  std::uint64_t counter = of("counter");
  std::uint64_t snapshot_sequence = of("snapshot_sequence");
  InfoFields info = of("info");
  VerdictFields verdict = of("verdict");
};

// A message that cannot be read is one that cannot be used.
Mirror::Content read(const py::handle& message) {
  try {
    const SnapshotFields fields{{message}};
    const py::gil_scoped_release release;
    return Mirror::read(fields);
  } catch (const std::exception& error) {
    return Mirror::unusable({Status::internal_error, "message", -1, error.what()});
  }
}

Mirror::Asked ask(Mirror& mirror, const std::vector<std::string>& footprints, std::int64_t at,
                  std::uint64_t required, const std::optional<std::string>& frame, std::int64_t now,
                  std::int64_t steady) {
  return mirror.ask(footprints, at, required, frame ? &*frame : nullptr, {now, steady});
}

// The data with each footprint of the question.
std::vector<KnownSnapshot> snapshots_of(const Mirror::Asked& asked) {
  const auto shared = std::make_shared<const Mirror::Asked>(asked);
  std::vector<KnownSnapshot> found;
  for (const Snapshot& view : shared->views()) found.push_back({view, shared, {}});
  return found;
}

// Status and message, or None.
std::optional<std::pair<int, std::string>> pair_of(const std::optional<Fault>& fault) {
  if (!fault) return {};
  return std::pair{static_cast<int>(fault->status), fault->message};
}

}  // namespace

void bind_mirror(py::module_& module) {
  py::class_<Mirror::Content>(module, "MirrorContent", "A message on ~/snapshot that was read.")
      .def_property_readonly("error", [](const Mirror::Content& content) {
        return content.issue ? text_of(content.issue) : std::string();
      });
  py::class_<Mirror::Asked>(module, "MirrorAsked", "A question to a mirror: the data for it.")
      .def_property_readonly("snapshot_id", &Mirror::Asked::id)
      .def_property_readonly("at", [](const Mirror::Asked& asked) { return asked.view().stamp; })
      .def_property_readonly("fault",
                             [](const Mirror::Asked& asked) { return pair_of(asked.view().fault); })
      .def_property_readonly("snapshots", &snapshots_of)
      .def_property_readonly("footprint", &Mirror::Asked::footprint)
      .def_property_readonly("footprint_age", &Mirror::Asked::footprint_age)
      .def_property_readonly("max_obstacle_age", &Mirror::Asked::max_obstacle_age);
  py::class_<Mirror>(module, "Mirror", "The last snapshot of a server, and whether it is valid.")
      .def(py::init<>())
      .def_static("read", &read, "message"_a)
      .def_static(
          "unusable",
          [](std::string rule) {
            return Mirror::unusable({Status::internal_error, "message", -1, std::move(rule)});
          },
          "rule"_a)
      .def(
          "receive_snapshot",
          [](Mirror& mirror, const Mirror::Content& content, std::int64_t now, std::int64_t steady,
             std::int64_t earliest) {
            return mirror.receive_snapshot(content, {{now, steady}, earliest});
          },
          py::kw_only(), "content"_a, "now"_a, "steady"_a, "earliest"_a)
      .def(
          "receive_heartbeat",
          [](Mirror& mirror, const py::handle& message, std::int64_t now, std::int64_t steady,
             std::int64_t earliest) {
            mirror.receive_heartbeat(HeartbeatFields{{message}}, {{now, steady}, earliest});
          },
          py::kw_only(), "message"_a, "now"_a, "steady"_a, "earliest"_a)
      .def("ask", &ask, py::kw_only(), "footprints"_a, "at"_a, "required"_a, "frame"_a, "now"_a,
           "steady"_a)
      .def(
          "fault",
          [](Mirror& mirror, const Mirror::Asked& asked, std::int64_t now, std::int64_t steady) {
            return pair_of(mirror.fault(asked, {now, steady}));
          },
          "asked"_a, py::kw_only(), "now"_a, "steady"_a);
  module.def("too_old", &too_old, "age"_a, "silence"_a, "timeout"_a,
             "Why data is too old; empty: it is not. Two ages [ns] and their limit [s].");
  module.def("too_far_ahead", &too_far_ahead, "ahead"_a, "limit"_a,
             "Why a stamp is too far ahead of the clock [ns]; empty: it is not. `limit`: s.");
  py::class_<Servers> servers(
      module, "Servers", "The servers whose messages were received under one name. Times in ns.");
  servers.attr("OTHER") = Servers::kOther;
  servers.def(py::init<>())
      .def("note", &Servers::note, "epoch"_a, "steady"_a)
      .def(
          "fault",
          [](const Servers& known, std::uint64_t epoch, std::int64_t steady) {
            return pair_of(known.fault(epoch, steady));
          },
          "epoch"_a, "steady"_a);
  py::class_<Pauses> pauses(module, "Pauses",
                            "Detects times when the process took no messages. Times in ns.");
  pauses.attr("PERIOD") = Pauses::kPeriod;
  pauses.attr("NOTICED") = Pauses::kNoticed;
  pauses.attr("SETTLED") = Pauses::kSettled;
  pauses.def(py::init<std::int64_t>(), "steady"_a)
      .def("note_activity", &Pauses::note_activity, "steady"_a)
      .def("earliest", &Pauses::earliest, "steady"_a, "sent"_a)
      .def_static("sending_time", &Pauses::sending_time, "source"_a, "received"_a, "steady"_a,
                  "system"_a);
}

}  // namespace gjk::bindings
