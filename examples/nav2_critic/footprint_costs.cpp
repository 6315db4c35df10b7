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
        columns_(costmap.columns),
        rows_(columns_ > 0 ? costmap.cells.size() / columns_ : 0),
        cells_per_meter_(1.0 / costmap.resolution) {
    const gjk::Vec2 origin = costmap.origin;
    const double resolution = costmap.resolution;
    const gjk::GridFrame frame(rows_, columns_, resolution, {origin.x, origin.y, 0.0});
    is_usable_ = rows_ > 0 && rows_ * columns_ == costmap.cells.size() && frame.is_resolved() &&
                 footprint.parts() > 0 && footprint.radius() == 0.0;
    if (!is_usable_) return;
    Marks occupied(costmap.cells.size());
    std::ranges::transform(costmap.cells, occupied.begin(), [&](std::uint8_t cost) {
      return cost == kLethal || (cost == kUnknown && rules.unknown_is_occupied) ? 1 : 0;
    });
    for (const gjk::CellRectangle& each : gjk::cover_cells(occupied, columns_)) {
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
    const auto most = static_cast<double>(std::max(rows_, columns_));
    const double cells = std::fmin(std::ceil(reach_ / resolution) + 1.0, most);
    near_ = widened(occupied, columns_, static_cast<std::size_t>(cells));
    const double rounding =
        1e-12 * (most * resolution + reach_ + std::fabs(origin.x) + std::fabs(origin.y));
    low_ = origin + gjk::Vec2{rounding, rounding};
    high_ = origin + gjk::Vec2{static_cast<double>(columns_) * resolution - rounding,
                               static_cast<double>(rows_) * resolution - rounding};
  }

  RolloutCosts costs(const Rollouts& rollouts) {
    const std::size_t count = rollouts.steps > 0 ? rollouts.x.size() / rollouts.steps : 0;
    RolloutCosts result{std::vector<float>(count), std::vector<bool>(count, !is_usable_)};
    if (is_usable_) {
      // One pose that collides decides a rollout. So few poses of each rollout come first, then the
      // other poses of the rollouts that are left.
      check_some(rollouts, true, result);
      check_some(rollouts, false, result);
    }
    const std::size_t step = rules_.trajectory_point_step;
    const auto poses = static_cast<float>((rollouts.steps + step - 1) / step);
    const auto power = static_cast<float>(rules_.cost_power);
    for (std::size_t r = 0; r < count; ++r) {
      float& cost = result.costs[r];
      if (result.collides[r]) cost = rules_.collision_cost;
      cost *= rules_.cost_weight / 254.0F / poses;  // as CostCritic
      if (rules_.cost_power > 1) cost = std::pow(cost, power);
      if (!result.collides[r]) result.all_collide = false;
    }
    return result;
  }

 private:
  bool has_distances() const { return rules_.cost_scaling_factor > 0.0; }

  std::size_t cell_at(const gjk::Pose& pose) const {
    const double column = (pose.x - costmap_.origin.x) * cells_per_meter_;
    const double row = (pose.y - costmap_.origin.y) * cells_per_meter_;
    const bool is_inside = column >= 0.0 && column < static_cast<double>(columns_) && row >= 0.0 &&
                           row < static_cast<double>(rows_);
    if (!is_inside) return kOutside;  // also NaN
    // From int64: conversions to unsigned integers are slow.
    return static_cast<std::size_t>(static_cast<std::int64_t>(row)) * columns_ +
           static_cast<std::size_t>(static_cast<std::int64_t>(column));
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

  // Checks each eighth pose of the rollouts that are not known to collide, or the other poses, and
  // adds their costs.
  void check_some(const Rollouts& rollouts, bool eighth, RolloutCosts& result) {
    poses_.clear();
    numbers_.clear();
    for (std::size_t r = 0; r < result.collides.size(); ++r) {
      bool collides = result.collides[r];
      for (std::size_t k = eighth ? 0 : 1; !collides; k += eighth ? 8 : (k % 8 == 7 ? 2 : 1)) {
        const std::size_t s = k * rules_.trajectory_point_step;
        if (s >= rollouts.steps) break;
        const std::size_t n = r * rollouts.steps + s;
        const gjk::Pose pose{rollouts.x[n], rollouts.y[n], rollouts.yaw[n]};
        const std::size_t cell = cell_at(pose);
        if (cell == kOutside || !std::isfinite(pose.yaw)) {
          collides = true;
          break;
        }
        if (!has_distances()) result.costs[r] += cost_of(costmap_.cells[cell]);
        if (!has_distances() && near_[cell] == 0) continue;
        collides = leaves(pose);
        poses_.push_back(pose);
        numbers_.push_back(r);
      }
      result.collides[r] = collides;
    }
    verdicts_.assign(poses_.size(), gjk::Verdict::unknown);
    distances_.resize(has_distances() ? poses_.size() : 0);
    const gjk::Shape* const shape = &footprint_;
    gjk::CheckOptions options;
    options.mode = has_distances() ? gjk::Mode::distance : gjk::Mode::collide;
    scene_.check_each(
        {&shape, 1}, {}, poses_, {}, options,
        [&](std::size_t begin, std::size_t end, const gjk::PoseResult& checked) noexcept {
          for (std::size_t k = begin; k < end; ++k) {
            verdicts_[k] = checked.verdict;
            if (has_distances()) distances_[k] = checked.distance;
          }
        },
        rules_.threads);
    for (std::size_t k = 0; k < poses_.size(); ++k) {
      if (!is_free(verdicts_[k])) {
        result.collides[numbers_[k]] = true;
      } else if (has_distances()) {
        const double cost = 252.0 * std::exp(-rules_.cost_scaling_factor * distances_[k]);
        result.costs[numbers_[k]] += cost_of(static_cast<float>(cost));
      }
    }
  }

  // Of a free pose with this cost in the costmap, as CostCritic.
  float cost_of(float cost) const {
    if (cost >= static_cast<float>(rules_.near_collision_cost)) return rules_.critical_cost;
    return rules_.is_near_goal ? 0.0F : cost;
  }

  const Costmap& costmap_;
  const gjk::Shape& footprint_;
  const CostRules& rules_;
  std::size_t columns_, rows_;
  double cells_per_meter_;
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
