// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Drives around moving obstacles by model predictive path integral control (Williams et al., 2017).
// Each cycle checks all poses of all rollouts in one call.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <gjk/gjk.hpp>
#include <random>
#include <vector>

namespace {

constexpr std::size_t kRollouts = 300, kSteps = 25;
constexpr double kPeriod = 0.1;  // s
constexpr double kSpeed = 6.0;   // m/s
constexpr double kWheelbase = 2.7;
constexpr double kSpread = 0.15;       // rad, standard deviation of the steering angle
constexpr double kTemperature = 1.0;   // of the weights
constexpr double kComfort = 1.0;       // m, nearer to an obstacle costs
constexpr double kCollision = 1000.0;  // cost

using Controls = std::vector<double>;  // rad, steering angle per step

gjk::Pose drive(const gjk::Pose& p, double steering) {
  const double ahead = kSpeed * kPeriod;
  return {p.x + ahead * std::cos(p.yaw), p.y + ahead * std::sin(p.yaw),
          p.yaw + ahead * std::tan(steering) / kWheelbase};
}

// Two pedestrians that cross the road, and a parked car.
gjk::Scene obstacles_at_start() {
  gjk::Shape pedestrian, parked;
  const gjk::Vec2 center;
  gjk::make_hull({&center, 1}, pedestrian, 0.4);
  gjk::make_box(4.4, 1.8, parked);
  const gjk::Piece up = gjk::Piece::moving({18.0, -4.0, 0.0}, {0.0, 1.2, 0.0});
  const gjk::Piece down = gjk::Piece::moving({28.0, 5.0, 0.0}, {0.0, -1.0, 0.0});
  const gjk::Piece still = gjk::Piece::still({10.0, -1.2, 0.0});
  gjk::Scene scene;
  scene.add(pedestrian, up.from, {&up, 1});
  scene.add(pedestrian, down.from, {&down, 1});
  scene.add(parked, still.from, {&still, 1});
  scene.build();
  return scene;
}

class Controller {
 public:
  Controller(const gjk::Scene& scene, const gjk::Shape& car) : scene_(scene), car_(car) {}

  // The steering angle for the next period.
  double steer(const gjk::Pose& pose, double time) {
    std::normal_distribution<double> noise(0.0, kSpread);
    for (std::size_t r = 0; r < kRollouts; ++r) {
      gjk::Pose at = pose;
      for (std::size_t s = 0; s < kSteps; ++s) {
        const std::size_t n = r * kSteps + s;
        controls_[n] = std::clamp(mean_[s] + (r > 0 ? noise(random_) : 0.0), -0.5, 0.5);
        poses_[n] = at = drive(at, controls_[n]);
        times_[n] = time + static_cast<double>(s + 1) * kPeriod;
      }
    }
    scene_.check(car_, poses_, times_, {.mode = gjk::Mode::distance}, results_, 2);

    std::vector<double> cost(kRollouts);
    for (std::size_t n = 0; n < results_.size(); ++n) {
      const gjk::PoseResult& result = results_[n];
      const gjk::Pose& p = poses_[n];
      cost[n / kSteps] += 0.1 * p.y * p.y + p.yaw * p.yaw;
      // UNKNOWN is not free either.
      if (!gjk::is_free(result.verdict)) {
        cost[n / kSteps] += kCollision;
      } else if (result.distance < kComfort) {
        cost[n / kSteps] += 5.0 * (kComfort - result.distance);
      }
    }
    const double least = *std::min_element(cost.begin(), cost.end());
    double sum = 0.0;
    mean_.assign(kSteps, 0.0);
    for (std::size_t r = 0; r < kRollouts; ++r) {
      const double weight = std::exp((least - cost[r]) / kTemperature);
      sum += weight;
      for (std::size_t s = 0; s < kSteps; ++s) mean_[s] += weight * controls_[r * kSteps + s];
    }
    for (double& each : mean_) each /= sum;
    const double steering = mean_.front();
    std::rotate(mean_.begin(), mean_.begin() + 1, mean_.end());
    return steering;
  }

 private:
  const gjk::Scene& scene_;
  const gjk::Shape& car_;
  std::mt19937 random_{1};
  Controls mean_ = Controls(kSteps);
  Controls controls_ = Controls(kRollouts * kSteps);
  std::vector<gjk::Pose> poses_ = std::vector<gjk::Pose>(kRollouts * kSteps);
  std::vector<double> times_ = std::vector<double>(kRollouts * kSteps);
  std::vector<gjk::PoseResult> results_ = std::vector<gjk::PoseResult>(kRollouts * kSteps);
};

}  // namespace

int main() {
  gjk::Shape car;
  gjk::make_box(4.4, 1.8, car, {1.3, 0.0});
  const gjk::Scene scene = obstacles_at_start();
  Controller controller(scene, car);
  std::vector<gjk::Pose> driven{{}};
  std::vector<double> times{0.0};
  while (driven.back().x < 35.0) {
    driven.push_back(drive(driven.back(), controller.steer(driven.back(), times.back())));
    times.push_back(times.back() + kPeriod);
  }
  // The motion between the poses, too.
  const gjk::PathResult result = gjk::check_path(scene, car, driven, times, {});
  std::printf("%zu cycles, driven path: %s, at least %.2f m from the obstacles\n",
              driven.size() - 1, gjk::to_string(result).c_str(), result.distance.lower);
  return gjk::is_free(result.verdict) ? 0 : 1;
}
