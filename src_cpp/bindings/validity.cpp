// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The rules that tell whether a mirror may answer from its snapshot, and when a message can have
// arrived.
#include "gjk/snapshot/validity.hpp"

#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "gjk/snapshot/pauses.hpp"

namespace gjk::bindings {
namespace {

using Limit = std::tuple<std::string, std::uint16_t, std::int64_t, double, double>;

SnapshotFacts snapshot_facts(std::uint64_t id, std::uint64_t sequence, std::uint32_t config_hash,
                             std::int64_t stamp, std::uint64_t static_revision,
                             double heartbeat_limit, double max_future_stamp,
                             const std::vector<Limit>& limits, std::uint16_t status,
                             std::string message, std::uint16_t data_status) {
  SnapshotFacts facts{
      id, sequence, config_hash, stamp, static_revision, heartbeat_limit, max_future_stamp, {}, {}};
  for (const auto& [source, stale, data_stamp, timeout, receipt_age] : limits) {
    facts.limits.push_back({source, static_cast<Status>(stale), data_stamp, timeout, receipt_age});
  }
  facts.fault = {static_cast<Status>(status), std::move(message)};
  facts.data_status = static_cast<Status>(data_status);
  return facts;
}

HeartbeatFacts heartbeat_facts(std::uint64_t counter, std::uint64_t id, std::uint64_t sequence,
                               std::uint32_t config_hash, std::int64_t stamp, std::uint16_t status,
                               std::string message) {
  return {counter,     id,    sequence,
          config_hash, stamp, {static_cast<Status>(status), std::move(message)}};
}

// The status and the message of the fault; None: valid.
std::optional<std::pair<int, std::string>> check_validity(Validity& validity, std::int64_t at,
                                                          std::int64_t now, std::int64_t steady,
                                                          bool is_named, const py::object& used) {
  const Validity::Held* const held = used.is_none() ? nullptr : used.cast<const Validity::Held*>();
  const std::optional<Fault> fault = validity.check(at, {now, steady}, is_named, held);
  if (!fault) return {};
  return std::pair{static_cast<int>(fault->status), fault->message};
}

}  // namespace

void bind_validity(const py::module_& module) {
  py::class_<SnapshotFacts>(module, "SnapshotFacts")
      .def(py::init(&snapshot_facts), py::kw_only(), py::arg("id"), py::arg("sequence"),
           py::arg("config_hash"), py::arg("stamp"), py::arg("static_revision"),
           py::arg("heartbeat_limit"), py::arg("max_future_stamp"), py::arg("limits"),
           py::arg("status"), py::arg("message"), py::arg("data_status"));
  py::class_<HeartbeatFacts>(module, "HeartbeatFacts")
      .def(py::init(&heartbeat_facts), py::kw_only(), py::arg("counter"), py::arg("id"),
           py::arg("sequence"), py::arg("config_hash"), py::arg("stamp"), py::arg("status"),
           py::arg("message"));
  const py::class_<Validity::Held, std::shared_ptr<Validity::Held>> held(module, "HeldSnapshot");
  py::class_<Validity>(module, "Validity", "Tells whether a mirror may answer from its snapshot.")
      .def(py::init<>())
      .def(
          "receive_snapshot",
          [](Validity& validity, const SnapshotFacts& facts, std::int64_t now, std::int64_t steady,
             std::int64_t earliest) {
            return validity.receive_snapshot(facts, {{now, steady}, earliest});
          },
          py::arg("facts"), py::arg("now"), py::arg("steady"), py::arg("earliest"))
      .def(
          "receive_heartbeat",
          [](Validity& validity, const HeartbeatFacts& facts, std::int64_t now, std::int64_t steady,
             std::int64_t earliest) {
            validity.receive_heartbeat(facts, {{now, steady}, earliest});
          },
          py::arg("facts"), py::arg("now"), py::arg("steady"), py::arg("earliest"))
      .def("check", &check_validity, py::arg("at"), py::arg("now"), py::arg("steady"),
           py::arg("is_named"), py::arg("used"))
      .def("held",
           [](const Validity& validity) {
             return std::const_pointer_cast<Validity::Held>(validity.held());
           })
      .def("reset", &Validity::reset);
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
