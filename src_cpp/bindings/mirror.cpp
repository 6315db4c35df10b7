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
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "gjk/rules/age.hpp"
#include "gjk/rules/pauses.hpp"
#include "gjk/rules/servers.hpp"
#include "known_snapshot.hpp"

namespace gjk::bindings {
namespace {

template <class T>
T field(const py::handle& message, const char* name) {
  return message.attr(name).cast<T>();
}
template <class T>
std::vector<T> numbers(const py::handle& message, const char* name) {
  const Array<T> array(message.attr(name));
  return {array.data(), array.data() + array.size()};
}
template <class T>
std::vector<T> messages(const py::handle& message, const char* name) {
  std::vector<T> found;
  for (const py::handle each : message.attr(name)) found.emplace_back(each);
  return found;
}

struct TimeFields {
  std::int64_t sec;
  std::int64_t nanosec;
  explicit TimeFields(const py::handle& m)
      : sec(field<std::int64_t>(m, "sec")), nanosec(field<std::int64_t>(m, "nanosec")) {}
};
struct HeaderFields {
  TimeFields stamp;
  std::string frame_id;
  explicit HeaderFields(const py::handle& m)
      : stamp(m.attr("stamp")), frame_id(field<std::string>(m, "frame_id")) {}
};
struct VerdictFields {
  std::uint16_t status;
  std::string message;
  explicit VerdictFields(const py::handle& m)
      : status(field<std::uint16_t>(m, "status")), message(field<std::string>(m, "message")) {}
};
struct InfoFields {
  HeaderFields header;
  std::uint64_t snapshot_id;
  std::uint32_t config_hash;
  std::string footprint;
  double footprint_age;
  double max_obstacle_age;
  explicit InfoFields(const py::handle& m)
      : header(m.attr("header")),
        snapshot_id(field<std::uint64_t>(m, "snapshot_id")),
        config_hash(field<std::uint32_t>(m, "config_hash")),
        footprint(field<std::string>(m, "footprint")),
        footprint_age(field<double>(m, "footprint_age")),
        max_obstacle_age(field<double>(m, "max_obstacle_age")) {}
};
struct FootprintFields {
  std::string name;
  std::vector<std::uint32_t> offsets;
  std::vector<double> xy, radius;
  explicit FootprintFields(const py::handle& m)
      : name(field<std::string>(m, "name")),
        offsets(numbers<std::uint32_t>(m, "offsets")),
        xy(numbers<double>(m, "xy")),
        radius(numbers<double>(m, "radius")) {}
};
struct ObstacleFields {
  HeaderFields header;
  std::string source;
  std::vector<std::int64_t> ids;
  std::vector<std::uint8_t> kinds;
  std::vector<std::uint32_t> offsets;
  std::vector<double> xy, radius, poses, velocities;
  std::vector<std::uint32_t> path_offsets;
  std::vector<double> path_times, path_poses, margins, margin_rates;
  explicit ObstacleFields(const py::handle& m)
      : header(m.attr("header")),
        source(field<std::string>(m, "source")),
        ids(numbers<std::int64_t>(m, "ids")),
        kinds(numbers<std::uint8_t>(m, "kinds")),
        offsets(numbers<std::uint32_t>(m, "offsets")),
        xy(numbers<double>(m, "xy")),
        radius(numbers<double>(m, "radius")),
        poses(numbers<double>(m, "poses")),
        velocities(numbers<double>(m, "velocities")),
        path_offsets(numbers<std::uint32_t>(m, "path_offsets")),
        path_times(numbers<double>(m, "path_times")),
        path_poses(numbers<double>(m, "path_poses")),
        margins(numbers<double>(m, "margins")),
        margin_rates(numbers<double>(m, "margin_rates")) {}
};
struct SnapshotFields {
  InfoFields info;
  std::uint64_t sequence;
  VerdictFields verdict, data_verdict;
  std::vector<FootprintFields> footprints;
  std::vector<std::string> footprint_names;
  bool footprint_by_speed;
  std::vector<std::string> footprint_sources;
  std::vector<TimeFields> footprint_stamps;
  std::vector<double> footprint_timeouts, footprint_receipt_ages;
  std::vector<ObstacleFields> obstacles;
  std::vector<std::string> sources;
  std::vector<double> timeouts, receipt_ages;
  TimeFields time_zero;
  std::string region_source;
  std::vector<double> region_boundary, region_radii;
  double region_inflation;
  double safety_margin;
  std::string concave_policy;
  std::string prediction_policy;
  double prediction_horizon;
  double toi_tolerance;
  std::uint32_t max_poses;
  double max_future_stamp;
  double heartbeat_limit;
  std::uint64_t static_revision;
  explicit SnapshotFields(const py::handle& m)
      : info(m.attr("info")),
        sequence(field<std::uint64_t>(m, "sequence")),
        verdict(m.attr("verdict")),
        data_verdict(m.attr("data_verdict")),
        footprints(messages<FootprintFields>(m, "footprints")),
        footprint_names(field<std::vector<std::string>>(m, "footprint_names")),
        footprint_by_speed(field<bool>(m, "footprint_by_speed")),
        footprint_sources(field<std::vector<std::string>>(m, "footprint_sources")),
        footprint_stamps(messages<TimeFields>(m, "footprint_stamps")),
        footprint_timeouts(numbers<double>(m, "footprint_timeouts")),
        footprint_receipt_ages(numbers<double>(m, "footprint_receipt_ages")),
        obstacles(messages<ObstacleFields>(m, "obstacles")),
        sources(field<std::vector<std::string>>(m, "sources")),
        timeouts(numbers<double>(m, "timeouts")),
        receipt_ages(numbers<double>(m, "receipt_ages")),
        time_zero(m.attr("time_zero")),
        region_source(field<std::string>(m, "region_source")),
        region_boundary(numbers<double>(m, "region_boundary")),
        region_radii(numbers<double>(m, "region_radii")),
        region_inflation(field<double>(m, "region_inflation")),
        safety_margin(field<double>(m, "safety_margin")),
        concave_policy(field<std::string>(m, "concave_policy")),
        prediction_policy(field<std::string>(m, "prediction_policy")),
        prediction_horizon(field<double>(m, "prediction_horizon")),
        toi_tolerance(field<double>(m, "toi_tolerance")),
        max_poses(field<std::uint32_t>(m, "max_poses")),
        max_future_stamp(field<double>(m, "max_future_stamp")),
        heartbeat_limit(field<double>(m, "heartbeat_limit")),
        static_revision(field<std::uint64_t>(m, "static_revision")) {}
};
struct HeartbeatInfoFields {
  std::uint64_t snapshot_id;
  std::uint32_t config_hash;
  explicit HeartbeatInfoFields(const py::handle& m)
      : snapshot_id(field<std::uint64_t>(m, "snapshot_id")),
        config_hash(field<std::uint32_t>(m, "config_hash")) {}
};
struct HeartbeatFields {
  HeaderFields header;
  std::uint64_t counter;
  std::uint64_t snapshot_sequence;
  HeartbeatInfoFields info;
  VerdictFields verdict;
  explicit HeartbeatFields(const py::handle& m)
      : header(m.attr("header")),
        counter(field<std::uint64_t>(m, "counter")),
        snapshot_sequence(field<std::uint64_t>(m, "snapshot_sequence")),
        info(m.attr("info")),
        verdict(m.attr("verdict")) {}
};

// A message that cannot be read is one that cannot be used.
Mirror::Content read(const py::handle& message) {
  try {
    const SnapshotFields fields(message);
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
  for (const Snapshot& view : shared->views()) {
    found.push_back({view,
                     [shared](std::int64_t index) { return shared->id_of(index); },
                     [shared](std::int64_t index) { return shared->source_of(index); },
                     {}});
  }
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
      .def_static("read", &read, py::arg("message"))
      .def_static(
          "unusable",
          [](std::string rule) {
            return Mirror::unusable({Status::internal_error, "message", -1, std::move(rule)});
          },
          py::arg("rule"))
      .def(
          "receive_snapshot",
          [](Mirror& mirror, const Mirror::Content& content, std::int64_t now, std::int64_t steady,
             std::int64_t earliest) {
            return mirror.receive_snapshot(content, {{now, steady}, earliest});
          },
          py::kw_only(), py::arg("content"), py::arg("now"), py::arg("steady"), py::arg("earliest"))
      .def(
          "receive_heartbeat",
          [](Mirror& mirror, const py::handle& message, std::int64_t now, std::int64_t steady,
             std::int64_t earliest) {
            mirror.receive_heartbeat(HeartbeatFields(message), {{now, steady}, earliest});
          },
          py::kw_only(), py::arg("message"), py::arg("now"), py::arg("steady"), py::arg("earliest"))
      .def("ask", &ask, py::kw_only(), py::arg("footprints"), py::arg("at"), py::arg("required"),
           py::arg("frame"), py::arg("now"), py::arg("steady"))
      .def(
          "fault",
          [](Mirror& mirror, const Mirror::Asked& asked, std::int64_t now, std::int64_t steady) {
            return pair_of(mirror.fault(asked, {now, steady}));
          },
          py::arg("asked"), py::kw_only(), py::arg("now"), py::arg("steady"));
  module.def("too_old", &too_old, py::arg("age"), py::arg("silence"), py::arg("timeout"),
             "Why data is too old; empty: it is not. Two ages [ns] and their limit [s].");
  module.def("too_far_ahead", &too_far_ahead, py::arg("ahead"), py::arg("limit"),
             "Why a stamp is too far ahead of the clock [ns]; empty: it is not. `limit`: s.");
  py::class_<Servers> servers(
      module, "Servers", "The servers whose messages were received under one name. Times in ns.");
  servers.attr("OTHER") = Servers::kOther;
  servers.def(py::init<>())
      .def("note", &Servers::note, py::arg("epoch"), py::arg("steady"))
      .def(
          "fault",
          [](const Servers& known, std::uint64_t epoch, std::int64_t steady) {
            return pair_of(known.fault(epoch, steady));
          },
          py::arg("epoch"), py::arg("steady"));
  py::class_<Pauses> pauses(module, "Pauses",
                            "Detects times when the process took no messages. Times in ns.");
  pauses.attr("PERIOD") = Pauses::kPeriod;
  pauses.attr("NOTICED") = Pauses::kNoticed;
  pauses.attr("SETTLED") = Pauses::kSettled;
  pauses.def(py::init<std::int64_t>(), py::arg("steady"))
      .def("note_activity", &Pauses::note_activity, py::arg("steady"))
      .def("earliest", &Pauses::earliest, py::arg("steady"), py::arg("sent"))
      .def_static("sending_time", &Pauses::sending_time, py::arg("source"), py::arg("received"),
                  py::arg("steady"), py::arg("system"));
}

}  // namespace gjk::bindings
