// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The contents of shapes and scenes as arrays, and back, for pickle.
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "pieces.hpp"

namespace gjk::bindings {
namespace {

using ObstacleOffsets = Array<std::uint64_t>;

// Convex parts: part k has the vertices offsets[k] to offsets[k + 1] - 1 and the radius radii[k].
struct PartArrays {
  std::vector<std::uint64_t> offsets{0};
  std::vector<double> xy;
  std::vector<double> radii;

  void add(const Convex& part) {
    for (int i = 0; i < part.size; ++i) {
      xy.push_back(part.x[i]);
      xy.push_back(part.y[i]);
    }
    offsets.push_back(xy.size() / 2);
    radii.push_back(part.radius);
  }
  py::tuple arrays() const { return py::make_tuple(column(offsets), column(xy), column(radii)); }
};

// Refuses offsets that are not those of `count` ranges up to `end`.
void check_ranges(const ObstacleOffsets& offsets, std::size_t count, std::size_t end) {
  if (!are_ranges(view(offsets), count, end)) throw py::value_error("the state is damaged");
}

// The shape of the parts [begin, end) of the arrays. Refuses one without parts, and empty parts.
Shape shape_of(const ObstacleOffsets& offsets, const Doubles& xy, const Doubles& radii,
               std::size_t begin, std::size_t end) {
  Shape shape;
  bool is_whole = begin < end;
  for (std::size_t k = begin; k < end; ++k) {
    const std::size_t first = offsets.data()[k];
    const std::size_t size = offsets.data()[k + 1] - first;
    is_whole &= size > 0;
    shape.add_part(points(view(xy).subspan(2 * first, 2 * size)), radii.data()[k]);
  }
  for (int k = 0; k < shape.parts(); ++k) {
    const Convex part = shape.part(k);
    is_whole &= in_domain(part, part) && part.radius >= 0.0;
  }
  if (!is_whole) throw py::value_error("the state is damaged");
  return shape;
}

py::tuple state_of_shape(const Shape& shape) {
  PartArrays parts;
  for (int k = 0; k < shape.parts(); ++k) parts.add(shape.part(k));
  return parts.arrays();
}

Shape shape_from_state(const ObstacleOffsets& offsets, const Doubles& xy, const Doubles& radii) {
  check_ranges(offsets, length(radii), length(xy) / 2);
  return shape_of(offsets, xy, radii, 0, length(radii));
}

// The obstacles of a scene, without its region: the first part of each, the arrays of all parts,
// and their poses, stamps, margins, lifetimes, motions and local origin.
py::tuple state_of_scene(const Scene& scene) {
  const Obstacles& all = scene.obstacles();
  const Outlines& outlines = all.outlines();
  PartArrays parts;
  std::vector<std::uint64_t> first_part{0};
  std::vector<std::uint64_t> first_piece{0};
  std::vector<Pose> poses;
  std::vector<double> stamps;
  std::vector<double> margins;
  std::vector<double> margin_rates;
  std::vector<double> lifetimes;
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < scene.size(); ++i) {
    for (std::size_t k = outlines.begin(i); k < outlines.end(i); ++k) parts.add(outlines.part(k));
    first_part.push_back(outlines.end(i));
    poses.push_back(all.pose(i));
    stamps.push_back(all.stamp(i));
    margins.push_back(all.margins().fixed(i));
    margin_rates.push_back(all.margins().rate(i));
    const Interval life = all.lifetimes().given(i);
    lifetimes.insert(lifetimes.end(), {life.begin, life.end});
    pieces.insert(pieces.end(), all.motion(i).begin(), all.motion(i).end());
    first_piece.push_back(first_piece.back() + all.motion(i).size());
  }
  return py::make_tuple(column(first_part), parts.arrays(), table(poses), column(stamps),
                        column(margins), column(margin_rates), column(lifetimes),
                        column(first_piece), table(pieces, &row_of), xy(all.origin()),
                        all.time_error());
}

std::unique_ptr<Scene> scene_from_state(const ObstacleOffsets& first_part,
                                        const std::tuple<ObstacleOffsets, Doubles, Doubles>& parts,
                                        const Doubles& poses, const Doubles& stamps,
                                        const Doubles& margins, const Doubles& margin_rates,
                                        const Doubles& lifetimes,
                                        const ObstacleOffsets& first_piece, const Doubles& pieces,
                                        const std::pair<double, double>& origin, double time_error,
                                        std::shared_ptr<Region> region) {
  const auto& [offsets, coordinates, radii] = parts;
  const std::size_t count = length(stamps);
  const std::vector<Piece> all = pieces_of(pieces);
  check_ranges(offsets, length(radii), length(coordinates) / 2);
  check_ranges(first_part, count, length(radii));
  check_ranges(first_piece, count, all.size());
  const auto bounded = [](std::span<const double> values, double least) noexcept {
    return std::all_of(values.begin(), values.end(), [least](double v) noexcept {
      return v >= least && v <= std::numeric_limits<double>::max();
    });
  };
  constexpr double kLowest = std::numeric_limits<double>::lowest();
  const std::array at_origin{origin.first, origin.second};
  bool are_lives = length(lifetimes) == 2 * count;
  for (std::size_t i = 0; are_lives && i < count; ++i) {
    const Interval life{lifetimes.data()[2 * i], lifetimes.data()[2 * i + 1]};
    are_lives = life.begin <= life.end && life.begin < kInfinity && life.end > -kInfinity;
  }
  if (!are_lives || length(margins) != count || length(margin_rates) != count ||
      length(poses) != 3 * count || !bounded(view(margins), 0.0) ||
      !bounded(view(margin_rates), 0.0) || !bounded({&time_error, 1}, 0.0) ||
      !bounded(view(stamps), kLowest) || !bounded(at_origin, -kMaxCoordinate)) {
    throw py::value_error("the state is damaged");
  }
  auto scene = std::make_unique<Scene>();
  scene->reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t begin = first_piece.data()[i];
    scene->add(
        shape_of(offsets, coordinates, radii, first_part.data()[i], first_part.data()[i + 1]),
        valid_pose(poses.data() + 3 * i, "poses", static_cast<long>(i)),
        std::span(all).subspan(begin, first_piece.data()[i + 1] - begin), stamps.data()[i]);
  }
  scene->set_region(std::move(region));
  scene->set_margins(view(margins), view(margin_rates));
  scene->set_lifetimes(view(lifetimes));
  scene->set_time_error(time_error);
  const Vec2 at{origin.first, origin.second};
  scene->build(&at);
  return scene;
}

Shape obstacle(const Scene& scene, std::size_t i) {
  if (i >= scene.size()) throw py::index_error();
  Shape shape;
  shape.add(scene.obstacles().outlines().shape(i));
  return shape;
}

// The poses of the obstacles; at a time (s), NaN where a pose is not known, or the obstacle does
// not exist.
Doubles poses_of(const Scene& scene, const std::optional<double>& time) {
  const Obstacles& all = scene.obstacles();
  std::vector<Pose> poses;
  for (std::size_t i = 0; i < scene.size(); ++i) {
    Pose pose = all.pose(i);
    const Motion motion = all.motion(i);
    const double since = time ? all.local_time(i, *time).time : 0.0;
    std::size_t hint = 0;
    const bool exists = !time || all.lifetimes().at(i).holds(*time);
    const Piece* const piece = time && exists ? piece_at(motion, since, hint) : nullptr;
    if (piece != nullptr) {
      pose = piece->at(since, 0.0).pose;
    } else if (time && !(exists && motion.empty() && since == 0.0)) {
      pose = {kNaN, kNaN, kNaN};
    }
    poses.push_back(pose);
  }
  return table(poses);
}

// Whether each obstacle exists at a time (s).
py::array_t<bool> exist_at(const Scene& scene, double time) {
  py::array_t<bool> exist(static_cast<py::ssize_t>(scene.size()));
  for (std::size_t i = 0; i < scene.size(); ++i) {
    exist.mutable_data()[i] = scene.obstacles().lifetimes().at(i).holds(time);
  }
  return exist;
}

}  // namespace

void bind_state(py::module_& module) {
  module.def("state_of_shape", &state_of_shape, "shape"_a);
  module.def("shape_from_state", &shape_from_state, "offsets"_a, "xy"_a, "radii"_a);
  module.def("state_of_scene", &state_of_scene, "scene"_a);
  module.def("scene_from_state", &scene_from_state, "first_part"_a, "parts"_a, "poses"_a,
             "stamps"_a, "margins"_a, "margin_rates"_a, "lifetimes"_a, "first_piece"_a, "pieces"_a,
             "origin"_a, "time_error"_a, "region"_a);
  module.def("obstacle", &obstacle, "scene"_a, "index"_a);
  module.def("exist_at", &exist_at, "scene"_a, "time"_a);
  module.def("poses_of", &poses_of, "scene"_a, "time"_a);
}

}  // namespace gjk::bindings
