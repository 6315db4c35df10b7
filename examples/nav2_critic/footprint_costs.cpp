// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
#include "footprint_costs.hpp"

#include <algorithm>
#include <cmath>
#include <gjk/scene/scene.hpp>
#include <gjk/shape/grid.hpp>
#include <limits>

namespace nav2_critic {
namespace {

constexpr std::uint8_t kLethal = 254, kUnknown = 255;
constexpr std::size_t kOutside = std::numeric_limits<std::size_t>::max();

using Marks = std::vector<std::uint8_t>;  // one per cell; nonzero: marked

// Marks the cells of a line with a marked one at most `n` cells before them. The outside is marked.
void widen(const std::uint8_t* in, std::uint8_t* out, std::size_t size, std::ptrdiff_t stride,
           std::size_t n) {
  std::size_t since = 0;
  for (; size > 0; --size, in += stride, out += stride) {
    since = *in != 0 ? 0 : since + 1;
    if (since <= n) *out = 1;
  }
}

// Marks all cells at most `n` rows and columns from a marked one or from the outside.
Marks widened(const Marks& marks, std::size_t columns, std::size_t n) {
  const std::size_t rows = marks.size() / columns;
  const auto stride = static_cast<std::ptrdiff_t>(columns);
  Marks in_rows = marks;
  for (std::size_t first = 0; first < marks.size(); first += columns) {
    const std::size_t last = first + columns - 1;
    widen(&marks[first], &in_rows[first], columns, 1, n);
    widen(&marks[last], &in_rows[last], columns, -1, n);
  }
  Marks all = in_rows;
  for (std::size_t column = 0; column < columns; ++column) {
    const std::size_t last = (rows - 1) * columns + column;
    widen(&in_rows[column], &all[column], rows, stride, n);
    widen(&in_rows[last], &all[last], rows, -stride, n);
  }
  return all;
}

class Checker {
 public:
  Checker(const Costmap& costmap, const gjk::Shape& footprint, const CostRules& rules)
      : costmap_(costmap),
        footprint_(footprint),
        rules_(rules),
        rows_(costmap.columns > 0 ? costmap.cells.size() / costmap.columns : 0) {
    const gjk::Vec2 origin = costmap.origin;
    const double resolution = costmap.resolution;
    const gjk::GridFrame frame(rows_, costmap.columns, resolution, {origin.x, origin.y, 0.0});
    is_usable_ = rows_ > 0 && rows_ * costmap.columns == costmap.cells.size() &&
                 frame.is_resolved() && footprint.parts() > 0 && footprint.radius() == 0.0;
    if (!is_usable_) return;
    Marks occupied(costmap.cells.size());
    std::ranges::transform(costmap.cells, occupied.begin(), [&](std::uint8_t cost) {
      return cost == kLethal || (cost == kUnknown && rules.unknown_is_occupied) ? 1 : 0;
    });
    for (const gjk::CellRectangle& each : gjk::cover_cells(occupied, costmap.columns)) {
      gjk::Vec2 corners[4];
      frame.corners(each, corners);
      gjk::Shape rectangle;
      rectangle.add_part(corners, 0.0);
      scene_.add(rectangle, {});
    }
    scene_.build();
    for (int k = 0; k < footprint.parts(); ++k) {
      const gjk::Convex part = footprint.part(k);
      for (int i = 0; i < part.size; ++i) reach_ = std::fmax(reach_, norm(part.vertex(i)));
    }
    // One cell more, because the cell of a pose is rounded.
    const auto most = static_cast<double>(std::max(rows_, costmap.columns));
    const double cells = std::fmin(std::ceil(reach_ / resolution) + 1.0, most);
    near_ = widened(occupied, costmap.columns, static_cast<std::size_t>(cells));
    const double rounding =
        1e-12 * (most * resolution + reach_ + std::fabs(origin.x) + std::fabs(origin.y));
    low_ = origin + gjk::Vec2{rounding, rounding};
    high_ = origin + gjk::Vec2{static_cast<double>(costmap.columns) * resolution - rounding,
                               static_cast<double>(rows_) * resolution - rounding};
  }

  RolloutCosts costs(const Rollouts& rollouts) {
    const std::size_t count = rollouts.steps > 0 ? rollouts.x.size() / rollouts.steps : 0;
    const std::size_t step = rules_.trajectory_point_step;
    RolloutCosts result{std::vector<float>(count), std::vector<bool>(count, !is_usable_)};
    if (is_usable_) {
      // A rollout collides at its first collision. So few poses of each rollout come first, then
      // the other poses of the rollouts that are left.
      if (has_distances()) distances_.resize(rollouts.x.size());
      check_some(rollouts, true, result.collides);
      check_some(rollouts, false, result.collides);
    }
    const auto poses = static_cast<float>((rollouts.steps + step - 1) / step);
    for (std::size_t r = 0; r < count; ++r) {
      float cost = result.collides[r] ? rules_.collision_cost : 0.0F;
      for (std::size_t s = 0; s < rollouts.steps && !result.collides[r]; s += step) {
        cost += cost_at(rollouts, r * rollouts.steps + s);
      }
      cost *= rules_.cost_weight / 254.0F / poses;  // as CostCritic
      const auto power = static_cast<float>(rules_.cost_power);
      result.costs[r] = rules_.cost_power > 1 ? std::pow(cost, power) : cost;
      if (!result.collides[r]) result.all_collide = false;
    }
    return result;
  }

 private:
  bool has_distances() const { return rules_.cost_scaling_factor > 0.0; }

  std::size_t cell_at(double x, double y) const {
    const double column = std::floor((x - costmap_.origin.x) / costmap_.resolution);
    const double row = std::floor((y - costmap_.origin.y) / costmap_.resolution);
    const bool is_inside = column >= 0.0 && column < static_cast<double>(costmap_.columns) &&
                           row >= 0.0 && row < static_cast<double>(rows_);
    if (!is_inside) return kOutside;  // also NaN
    return static_cast<std::size_t>(row) * costmap_.columns + static_cast<std::size_t>(column);
  }

  bool is_on_costmap(gjk::Vec2 p) const {
    return p.x > low_.x && p.x < high_.x && p.y > low_.y && p.y < high_.y;
  }

  // False only if the footprint is certainly on the costmap.
  bool leaves(const gjk::Pose& pose) const {
    const gjk::Vec2 at{pose.x, pose.y}, reach{reach_, reach_};
    if (is_on_costmap(at - reach) && is_on_costmap(at + reach)) return false;
    const gjk::Transform transform = gjk::Transform::from_pose(pose);
    for (int k = 0; k < footprint_.parts(); ++k) {
      const gjk::Convex part = footprint_.part(k);
      for (int i = 0; i < part.size; ++i) {
        if (!is_on_costmap(transform.apply(part.vertex(i)))) return true;
      }
    }
    return false;
  }

  // Checks each eighth pose of the rollouts that are not known to collide, or the other poses.
  void check_some(const Rollouts& rollouts, bool eighth, std::vector<bool>& collides) {
    poses_.clear();
    numbers_.clear();
    for (std::size_t r = 0; r < collides.size(); ++r) {
      for (std::size_t k = 0; k * rules_.trajectory_point_step < rollouts.steps; ++k) {
        if (collides[r]) break;
        if ((k % 8 == 0) != eighth) continue;
        const std::size_t n = r * rollouts.steps + k * rules_.trajectory_point_step;
        const gjk::Pose pose{rollouts.x[n], rollouts.y[n], rollouts.yaw[n]};
        const std::size_t cell = cell_at(pose.x, pose.y);
        if (cell == kOutside || !std::isfinite(pose.yaw)) {
          collides[r] = true;
        } else if (has_distances() || near_[cell] != 0) {
          collides[r] = leaves(pose);
          poses_.push_back(pose);
          numbers_.push_back(n);
        }
      }
    }
    verdicts_.assign(poses_.size(), gjk::Verdict::unknown);
    const gjk::Shape* const shape = &footprint_;
    gjk::CheckOptions options;
    options.mode = has_distances() ? gjk::Mode::distance : gjk::Mode::collide;
    scene_.check_each(
        {&shape, 1}, {}, poses_, {}, options,
        [&](std::size_t begin, std::size_t end, const gjk::PoseResult& result) noexcept {
          for (std::size_t k = begin; k < end; ++k) {
            verdicts_[k] = result.verdict;
            if (has_distances()) distances_[numbers_[k]] = result.distance;
          }
        },
        rules_.threads);
    for (std::size_t k = 0; k < numbers_.size(); ++k) {
      if (!is_free(verdicts_[k])) collides[numbers_[k] / rollouts.steps] = true;
    }
  }

  // The cost of a free pose, as CostCritic.
  float cost_at(const Rollouts& rollouts, std::size_t n) const {
    const double cost = has_distances()
                            ? 252.0 * std::exp(-rules_.cost_scaling_factor * distances_[n])
                            : costmap_.cells[cell_at(rollouts.x[n], rollouts.y[n])];
    if (cost >= rules_.near_collision_cost) return rules_.critical_cost;
    return rules_.is_near_goal ? 0.0F : static_cast<float>(cost);
  }

  const Costmap& costmap_;
  const gjk::Shape& footprint_;
  const CostRules& rules_;
  std::size_t rows_;
  bool is_usable_ = false;
  gjk::Scene scene_;  // the occupied cells
  Marks near_;  // cells from which the footprint may reach an occupied cell or leave the costmap
  double reach_ = 0.0;                  // m, from the origin of the footprint to its vertices
  gjk::Vec2 low_, high_;                // m, corners of the costmap, less what may be rounded
  std::vector<gjk::Pose> poses_;        // that are checked
  std::vector<std::size_t> numbers_;    // of these poses in the rollouts
  std::vector<gjk::Verdict> verdicts_;  // of these poses
  std::vector<double> distances_;       // m, of all poses; empty if they are not needed
};

}  // namespace

RolloutCosts footprint_costs(const Costmap& costmap, const gjk::Shape& footprint,
                             const Rollouts& rollouts, const CostRules& rules) {
  return Checker(costmap, footprint, rules).costs(rollouts);
}

}  // namespace nav2_critic
