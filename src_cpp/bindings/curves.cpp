// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Shortest curves of a car.
#include "bindings.hpp"
#include "gjk/motion/dubins.hpp"
#include "gjk/motion/reeds_shepp.hpp"
#include "gjk/scene/path.hpp"

namespace gjk::bindings {
namespace {

// Returns the number of arcs of each curve, shape (n,), and curvature (1/m) and signed length (m)
// of each arc, shape (n, 5, 2).
template <Curve (*shortest)(const Pose&, const Pose&, double)>
py::tuple curves(const Doubles& a, const Doubles& b, double radius) {
  const std::size_t n = length(a) / 3;
  const std::vector<Pose> from = checked_poses(a, n, "a");
  const std::vector<Pose> to = checked_poses(b, n, "b");
  refuse(explain_curve({}, {}, radius));
  py::array_t<std::uint32_t> counts(static_cast<py::ssize_t>(n));
  py::array_t<double> arcs({static_cast<py::ssize_t>(n), py::ssize_t{5}, py::ssize_t{2}});
  std::uint32_t* const count = counts.mutable_data();
  double* const values = arcs.mutable_data();
  Issue issue;
  without_gil([&] {
    for (std::size_t i = 0; i < n && !issue; ++i) {
      const Curve curve = shortest(from[i], to[i], radius);
      if (!std::isfinite(curve.length())) {
        issue = explain_curve(from[i], to[i], radius);
        issue.index = static_cast<long>(i);
      }
      count[i] = static_cast<std::uint32_t>(curve.count);
      for (std::size_t k = 0; k < curve.arcs.size(); ++k) {
        values[2 * (curve.arcs.size() * i + k)] = curve.arcs[k].curvature;
        values[2 * (curve.arcs.size() * i + k) + 1] = curve.arcs[k].length;
      }
    }
  });
  refuse(std::move(issue));
  return py::make_tuple(counts, arcs);
}

// The motion between two states of a planner.
enum class Steering { straight, dubins, symmetric_dubins, reeds_shepp };

// Curves from a to b, and their number. One of them is the shortest.
struct Candidates {
  std::array<Curve, 4> curves;
  std::size_t count = 0;

  void add(const Curve& curve) { curves[count++] = curve; }
  double shortest() const {  // m
    double least = kInfinity;
    for (std::size_t i = 0; i < count; ++i) least = std::fmin(least, curves[i].length());
    return least;
  }
};

Candidates steer(Steering steering, const Pose& a, const Pose& b, double radius) {
  if (steering == Steering::reeds_shepp) return {reeds_shepp_candidates(a, b, radius), 4};
  Candidates found;
  for (const Curve& curve : dubins_candidates(a, b, radius)) found.add(curve);
  if (steering == Steering::dubins) return found;
  for (const Curve& curve : dubins_candidates(b, a, radius)) found.add(curve.reversed());
  return found;
}

bool is_same(const Curve& a, const Curve& b, double rounding) {
  bool same = a.count == b.count;
  for (std::size_t i = 0; i < a.arcs.size(); ++i) {
    same &= a.arcs[i].curvature == b.arcs[i].curvature &&
            std::fabs(a.arcs[i].length - b.arcs[i].length) <= rounding;
  }
  return same;
}

// Several curves may be shortest: all of them, each once.
Candidates shortest_of(const Candidates& candidates, double radius) {
  const double rounding = 1e-9 * (radius + candidates.shortest());
  const double longest = candidates.shortest() + rounding;
  Candidates found;
  for (std::size_t i = 0; i < candidates.count; ++i) {
    const Curve& curve = candidates.curves[i];
    bool skip = !(curve.length() <= longest);
    for (std::size_t k = 0; k < i; ++k) skip |= is_same(candidates.curves[k], curve, rounding);
    if (!skip) found.add(curve);
  }
  return found;
}

// Poses on a curve: fraction of the length, x, y, yaw. Between two of them, and before the first
// one, the curve is a straight line or an arc of at most 2.4 rad. The last one is its end.
py::list knots(const Pose& start, const Curve& curve) {
  py::list poses;
  Along along(start);
  const double all = curve.length();
  double driven = 0.0;
  for (const Arc& arc : curve.view()) {
    const double turn = std::fmin(kMaxYaw, std::fabs(arc.curvature * arc.length));
    const int parts = 1 + static_cast<int>(turn / 2.4);
    const Arc part{arc.curvature, arc.length / parts};
    for (int i = 0; i < parts; ++i) {
      const double size = std::fabs(part.length);
      const Pose pose = along.next(part, 0.0, size).on_arc(size).pose;
      driven += size;
      poses.append(py::make_tuple(driven / all, pose.x, pose.y, pose.yaw));
    }
  }
  return poses;
}

Pose pose_on(const ArcPath& curve, double distance) {
  Along along(curve.start);
  Pose pose = curve.start;
  for (const Arc& arc : curve.arcs) {
    const double size = std::fmin(distance, std::fabs(arc.length));
    const Arc part{arc.curvature, std::copysign(size, arc.length)};
    pose = along.next(part, 0.0, size).on_arc(size).pose;
    distance -= size;
    if (!(distance > 0.0)) break;
  }
  return pose;
}

// Whether the shape is free at poses of a curve: its middle, its quarters, and so on. This finds
// most of the collisions in a fraction of the time of the certified check.
bool is_free_at_poses(const Scene& scene, Scene::Ego& ego, const Pose& start, const Curve& curve,
                      const CheckOptions& options, double radius) {
  const double all = curve.length();
  for (int parts = 2; parts <= 16 && all / parts > 0.0625 * radius; parts *= 2) {
    for (int i = 1; i < parts; i += 2) {
      const Pose pose = pose_on({start, curve.view()}, all * i / parts);
      if (!is_free(scene.check(ego, pose, options).verdict)) return false;
    }
  }
  return true;
}

// Returns the first of the shortest curves, from number `first` on, that is certified free: its
// number, length (m) and knots, or None. A straight line has no knots.
py::object free_curve(const Scene& scene, const Shape& shape, int steering, const PoseValues& start,
                      const PoseValues& goal, double radius, double margin, double tolerance,
                      std::size_t first) {
  const std::array<Pose, 2> ends{checked_pose(start.data(), "start", -1),
                                 checked_pose(goal.data(), "end", -1)};
  const PathOptions options{.margin = checked_radius(margin, "margin"),
                            .tolerance = checked_tolerance(tolerance),
                            .has_distance = false};
  const auto kind = static_cast<Steering>(steering);
  Scene::Ego ego(shape);
  const CheckOptions at_pose{.margin = margin};
  if (!is_free(scene.check(ego, ends[1], at_pose).verdict)) return py::none();
  if (kind == Steering::straight) {
    const Verdict verdict = check_path(scene, shape, ends, {}, options).verdict;
    return is_free(verdict) ? py::object(py::make_tuple(0, 0.0, py::list())) : py::none();
  }
  const Candidates shortest = shortest_of(steer(kind, ends[0], ends[1], radius), radius);
  for (std::size_t i = first; i < shortest.count; ++i) {
    const Curve& curve = shortest.curves[i];
    if (!is_free_at_poses(scene, ego, ends[0], curve, at_pose, radius)) continue;
    const ArcPath path{ends[0], curve.view()};
    if (is_free(check_path(scene, shape, path, {}, options).verdict)) {
      return py::make_tuple(i, curve.length(), knots(ends[0], curve));
    }
  }
  return py::none();
}

// Returns all of the shortest curves, free or not: length (m) and knots of each.
py::list shortest_curves(int steering, const PoseValues& start, const PoseValues& goal,
                         double radius) {
  const Pose from = checked_pose(start.data(), "start", -1);
  const Pose to = checked_pose(goal.data(), "end", -1);
  const Candidates shortest =
      shortest_of(steer(static_cast<Steering>(steering), from, to, radius), radius);
  py::list found;
  for (std::size_t i = 0; i < shortest.count; ++i) {
    found.append(py::make_tuple(shortest.curves[i].length(), knots(from, shortest.curves[i])));
  }
  return found;
}

// Curves: number k has the start starts[k] and the arcs first[k] to first[k + 1] - 1.
class Curves {
 public:
  Curves(const Doubles& starts, const Array<std::uint64_t>& first, const Doubles& arcs)
      : starts_(pose_rows(starts)), first_(view(first)), arcs_(arc_rows(arcs)) {
    if (!are_ranges(first_, starts_.size(), arcs_.size())) {
      throw py::value_error("first: offsets of the arcs");
    }
  }

  std::size_t size() const noexcept { return starts_.size(); }
  std::size_t arcs() const noexcept { return arcs_.size(); }
  ArcPath operator[](std::size_t k) const noexcept {
    return {starts_[k], arcs_.subspan(first_[k], first_[k + 1] - first_[k])};
  }

 private:
  std::span<const Pose> starts_;
  std::span<const std::uint64_t> first_;
  std::span<const Arc> arcs_;
};

// The start of each curve and the ends of its arcs, one curve after the other.
Doubles curve_knots(const Doubles& starts, const Array<std::uint64_t>& first, const Doubles& arcs) {
  const Curves curves(starts, first, arcs);
  std::vector<Pose> poses;
  for (std::size_t k = 0; k < curves.size(); ++k) {
    Along along(curves[k].start);
    poses.push_back(curves[k].start);
    for (const Arc& arc : curves[k].arcs) {
      const double size = std::fabs(arc.length);
      poses.push_back(along.next(arc, 0.0, size).on_arc(size).pose);
    }
  }
  return table(poses);
}

// The poses on each curve at `count` distances (m) of its own.
Doubles curve_poses(const Doubles& starts, const Array<std::uint64_t>& first, const Doubles& arcs,
                    const Doubles& distances) {
  const Curves curves(starts, first, arcs);
  const std::size_t count = curves.size() > 0 ? length(distances) / curves.size() : 0;
  if (length(distances) != count * curves.size()) throw py::value_error("distances: whole rows");
  std::vector<Pose> poses;
  for (std::size_t i = 0; i < length(distances); ++i) {
    poses.push_back(pose_on(curves[i / count], distances.data()[i]));
  }
  return table(poses);
}

// m. The lengths of the curves.
Doubles curve_lengths(const Doubles& starts, const Array<std::uint64_t>& first,
                      const Doubles& arcs) {
  const Curves curves(starts, first, arcs);
  std::vector<double> lengths;
  for (std::size_t k = 0; k < curves.size(); ++k) lengths.push_back(curves[k].length());
  return column(lengths);
}

// Calls visit(pose as seen from a frame, index of the frame) for all poses and the first frame,
// then for the next one.
template <class Visit>
void visit_moved(std::span<const Pose> poses, const Doubles& frames, const Visit& visit) {
  for (std::size_t s = 0; s < length(frames) / 3; ++s) {
    const long index = static_cast<long>(s);
    const Pose frame = checked_pose(frames.data() + 3 * s, "poses", index);
    const Transform at = Transform::from_pose(frame);
    for (const Pose& pose : poses) {
      const Vec2 position = at.apply({pose.x, pose.y});
      const std::array moved{position.x, position.y, frame.yaw + pose.yaw};
      visit(valid_pose(moved.data(), "poses", index), index);
    }
  }
}

Doubles moved_poses(const Doubles& poses, const Doubles& frames) {
  std::vector<Pose> moved;
  visit_moved(pose_rows(poses), frames, [&](const Pose& pose, long) { moved.push_back(pose); });
  return table(moved);
}

// Refuses curves with these starts, and the same number of arcs each.
void check_curves(const Doubles& starts, const Doubles& arcs) {
  const std::span<const Pose> placed = pose_rows(starts);
  const std::span<const Arc> all = arc_rows(arcs);
  const std::size_t each = all.size() / placed.size();
  for (std::size_t k = 0; k < placed.size(); ++k) {
    refuse(detail::check_range({placed[k], all.subspan(k * each, each)}, static_cast<long>(k)));
  }
}

// All curves as seen from each of `frames`: the starts, the offsets of the arcs, and the arcs.
py::tuple moved_curves(const Doubles& starts, const Array<std::uint64_t>& first,
                       const Doubles& arcs, const Doubles& frames) {
  const Curves curves(starts, first, arcs);
  const std::size_t count = length(frames) / 3;
  std::vector<Pose> placed;
  std::vector<std::uint64_t> offsets{0};
  Doubles all({static_cast<py::ssize_t>(curves.arcs() * count), py::ssize_t{2}});
  for (std::size_t s = 0; s < count; ++s) {
    std::copy_n(arcs.data(), length(arcs), all.mutable_data() + s * length(arcs));
  }
  visit_moved(pose_rows(starts), frames, [&](const Pose& pose, long index) {
    const ArcPath curve{pose, curves[placed.size() % curves.size()].arcs};
    if (!curve.is_in_domain()) {
      refuse({Status::coord_range, "poses", index,
              "the yaw of the start and all turns of a path must sum up to at most 1e6 rad"});
    }
    offsets.push_back(offsets.back() + curve.arcs.size());
    placed.push_back(pose);
  });
  return py::make_tuple(table(placed), column(offsets), all);
}

}  // namespace

void bind_curves(py::module_& module) {
  module.def("dubins", &curves<&dubins>, "a"_a, "b"_a, "radius"_a);
  module.def("reeds_shepp", &curves<&reeds_shepp>, "a"_a, "b"_a, "radius"_a);
  module.def("free_curve", &free_curve, "scene"_a, "shape"_a, "steering"_a, "start"_a, "end"_a,
             "radius"_a, "margin"_a, "tolerance"_a, "first"_a);
  module.def("shortest_curves", &shortest_curves, "steering"_a, "start"_a, "end"_a, "radius"_a);
  module.def(
      "check_arcs", [](const Doubles& arcs) { refuse(detail::check_arcs(arc_rows(arcs))); },
      "arcs"_a);
  module.def("check_curves", &check_curves, "starts"_a, "arcs"_a);
  module.def("curve_knots", &curve_knots, "starts"_a, "first"_a, "arcs"_a);
  module.def("curve_poses", &curve_poses, "starts"_a, "first"_a, "arcs"_a, "distances"_a);
  module.def("curve_lengths", &curve_lengths, "starts"_a, "first"_a, "arcs"_a);
  module.def("moved_poses", &moved_poses, "poses"_a, "frames"_a);
  module.def("moved_curves", &moved_curves, "starts"_a, "first"_a, "arcs"_a, "frames"_a);
}

}  // namespace gjk::bindings
