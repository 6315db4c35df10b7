// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Shapes of obstacles from occupancy grids, laser scans and points.
#include <cstddef>
#include <limits>
#include <utility>

#include "bindings.hpp"
#include "gjk/shape/grid.hpp"

namespace gjk::bindings {
namespace {

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

void append(py::list& shapes, std::span<const Vec2> vertices, double radius) {
  Shape shape;
  shape.add_part(vertices, radius);
  shapes.append(py::cast(std::move(shape)));
}

// Calls `visit` with the four corners of each rectangle, at most `limit` + 1 of them. `cells`:
// shape (rows, columns), nonzero: occupied. `resolution` and `origin` are checked.
template <typename Visit>
void each_rectangle(const Array<std::uint8_t>& cells, double resolution, const PoseValues& origin,
                    std::size_t limit, const Visit& visit) {
  if (cells.ndim() != 2) throw py::value_error("cells: two dimensions");
  const auto rows = static_cast<std::size_t>(cells.shape(0));
  const auto columns = static_cast<std::size_t>(cells.shape(1));
  const GridFrame frame(rows, columns, resolution, checked_pose(origin.data(), "origin", -1));
  if (!frame.is_resolved()) {
    refuse("resolution", Status::coord_range,
           "the grid must lie within 1e15 m, and its cells must be larger than the rounding error "
           "of its coordinates" +
               got(resolution));
  }
  Vec2 corners[4];
  for (const CellRectangle& rectangle : cover_cells(view(cells), columns, limit)) {
    frame.corners(rectangle, corners);
    visit(std::span<const Vec2>(corners));
  }
}

py::list grid_shapes(const Array<std::uint8_t>& cells, double resolution,
                     const PoseValues& origin) {
  py::list shapes;
  each_rectangle(cells, resolution, origin, kNoLimit,
                 [&](std::span<const Vec2> corners) { append(shapes, corners, 0.0); });
  return shapes;
}

// The same as flat coordinates, 8 for each rectangle. If there are more than `limit`, the result
// has `limit` + 1 of them.
py::array_t<double> grid_corners(const Array<std::uint8_t>& cells, double resolution,
                                 const PoseValues& origin, std::size_t limit) {
  std::vector<double> xy;
  each_rectangle(cells, resolution, origin, limit, [&](std::span<const Vec2> corners) {
    for (const Vec2 corner : corners) xy.insert(xy.end(), {corner.x, corner.y});
  });
  return column(xy);
}

py::list circles(const Doubles& xy, double radius) {
  refuse(per_vertex(check_coordinates(view(xy), "xy")));
  checked_radius(radius, "radius");
  py::list shapes;
  for (const Vec2 center : points(view(xy))) append(shapes, {&center, 1}, radius);
  return shapes;
}

// The rule for a range, as in REP 117: a distance, +inf: no object, -inf: closer than range_min.
// Other values are not a measurement: free space must not be concluded from them.
// Calls `visit` with the index of each beam that has an object, its points and their radius.
template <typename Visit>
void each_return(const Doubles& ranges, double angle_min, double angle_increment, double range_min,
                 double range_max, double radius, const Visit& visit) {
  refuse(
      detail::check_within(range_min, "range_min", 0.0, kMaxCoordinate, "must lie in [0, 1e15] m"));
  refuse(detail::check_within(range_max, "range_max", range_min, kMaxCoordinate,
                              "must lie in [range_min, 1e15] m"));
  checked_radius(radius, "radius");
  checked_number(angle_min, "angle_min", -1, kMaxYaw, "1e6 rad");
  checked_number(angle_increment, "angle_increment", -1, kMaxYaw, "1e6 rad");
  const auto last = static_cast<double>(length(ranges));
  checked_number(angle_min + last * angle_increment, "angle_increment", -1, kMaxYaw,
                 "1e6 rad for the last beam");
  for (std::size_t i = 0; i < length(ranges); ++i) {
    const double range = ranges.data()[i];
    if (range == kInfinity) continue;
    const bool is_close = range == -kInfinity;
    if (!is_close && !(range >= range_min && range <= range_max)) {
      refuse(
          {std::isnan(range) ? Status::non_finite : Status::invalid_input, "ranges",
           static_cast<long>(i),
           "must lie in [range_min, range_max]; use inf if there is no return, -inf if the object "
           "is closer than range_min" +
               got(range)});
    }
    const double angle = angle_min + static_cast<double>(i) * angle_increment;
    const SinCos beam = sin_cos(angle);
    const double reach = is_close ? range_min : range;
    const Vec2 ends[2] = {{reach * beam.cos, reach * beam.sin}, {}};
    // The angle is rounded by at most 2 u of its terms, its sine and cosine by 4 u each, and the
    // products by u.
    const double turned = std::fabs(angle_min) + std::fabs(angle - angle_min);
    const double error = (16.0 + 4.0 * turned) * kUnitRoundoff * reach;
    visit(i, std::span<const Vec2>(ends, is_close && reach > 0.0 ? 2 : 1),
          sum_outwards(radius, error));
  }
}

py::list scan_shapes(const Doubles& ranges, double angle_min, double angle_increment,
                     double range_min, double range_max, double radius) {
  py::list shapes;
  each_return(ranges, angle_min, angle_increment, range_min, range_max, radius,
              [&](std::size_t, std::span<const Vec2> points, double reach) {
                append(shapes, points, reach);
              });
  return shapes;
}

// The same as arrays: the beams (n), the number of points of each (n), x and y, the radii (n).
py::tuple scan_points(const Doubles& ranges, double angle_min, double angle_increment,
                      double range_min, double range_max, double radius) {
  std::vector<std::int64_t> beams;
  std::vector<std::int64_t> counts;
  std::vector<double> xy;
  std::vector<double> radii;
  each_return(ranges, angle_min, angle_increment, range_min, range_max, radius,
              [&](std::size_t beam, std::span<const Vec2> points, double reach) {
                beams.push_back(static_cast<std::int64_t>(beam));
                counts.push_back(static_cast<std::int64_t>(points.size()));
                for (const Vec2 point : points) xy.insert(xy.end(), {point.x, point.y});
                radii.push_back(reach);
              });
  return py::make_tuple(column(beams), column(counts), column(xy), column(radii));
}

}  // namespace

void bind_convert(py::module_& module) {
  module.def("grid_shapes", &grid_shapes, "cells"_a, "resolution"_a, "origin"_a);
  module.def("grid_corners", &grid_corners, "cells"_a, "resolution"_a, "origin"_a, "limit"_a);
  module.def("circles", &circles, "xy"_a, "radius"_a);
  module.def("scan_shapes", &scan_shapes, "ranges"_a, "angle_min"_a, "angle_increment"_a,
             "range_min"_a, "range_max"_a, "radius"_a);
  module.def("scan_points", &scan_points, "ranges"_a, "angle_min"_a, "angle_increment"_a,
             "range_min"_a, "range_max"_a, "radius"_a);
}

}  // namespace gjk::bindings
