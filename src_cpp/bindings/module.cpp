// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"

namespace py = pybind11;

PYBIND11_MODULE(_core, module) {
  module.doc() = "Bindings of the C++ kernel. For internal use: the names may change.";
  // NOLINTNEXTLINE(performance-unnecessary-value-param): pybind11 calls it with this type
  py::register_local_exception_translator([](std::exception_ptr error) {
    try {
      if (error) std::rethrow_exception(error);
    } catch (const gjk::bindings::InputIssue& refused) {
      const gjk::Issue& issue = refused.issue;
      const py::object type = py::module_::import("gjk_collision.errors").attr("InputError");
      const py::object index = issue.index < 0 ? py::object(py::none()) : py::int_(issue.index);
      const py::object value =
          type(static_cast<int>(issue.status), issue.argument, index, issue.rule);
      PyErr_SetObject(type.ptr(), value.ptr());
    }
  });
  module.attr("MAX_COORDINATE") = gjk::kMaxCoordinate;
  module.attr("SEVERITIES") = py::tuple(py::cast(gjk::kSeverities));
  module.def(
      "sums_outwards",
      [](const gjk::bindings::Doubles& values, const gjk::bindings::Doubles& by) {
        return gjk::bindings::Doubles(py::vectorize(&gjk::sum_outwards)(values, by));
      },
      py::arg("values"), py::arg("by"));
  gjk::bindings::bind_shape(module);
  gjk::bindings::bind_pairs(module);
  gjk::bindings::bind_casts(module);
  gjk::bindings::bind_trace(module);
  gjk::bindings::bind_region(module);
  gjk::bindings::bind_scene(module);
  gjk::bindings::bind_pairwise(module);
  gjk::bindings::bind_many(module);
  gjk::bindings::bind_curves(module);
  gjk::bindings::bind_state(module);
  gjk::bindings::bind_rules(module);
  gjk::bindings::bind_convert(module);
  gjk::bindings::bind_free_certificate(module);
  gjk::bindings::bind_mirror(module);
}
