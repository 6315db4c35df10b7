// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Prints what the kernel answers for every pair of a corpus, alone and in batches, and for scenes
// of them, to the last bit. Run on two machines, or with two instruction sets, the output must be
// the same.
#include "answers.hpp"

#include <bit>
#include <cinttypes>
#include <cstdio>
#include <numeric>
#include <string>

#include "calls.hpp"
#include "corpus.hpp"
#include "isas.hpp"

namespace gjk::verify {
namespace {

constexpr const char* kUsage =
    "usage: gjk_answers [--isa=NAME] CORPUS   answers, with that instruction set or the widest\n"
    "       gjk_answers --isas                names those that this processor has\n";

void print(const char* name, std::initializer_list<double> values) {
  std::printf(" %s", name);
  for (const double v : values) std::printf(" %016" PRIx64, std::bit_cast<std::uint64_t>(v));
}

void print(const Answers& answers) {
  const Closest& near = answers.closest;
  std::printf(" verdicts %d %d %d %d %d", static_cast<int>(answers.collide),
              static_cast<int>(answers.swapped), static_cast<int>(answers.classify),
              static_cast<int>(answers.in_batch), static_cast<int>(answers.at_poses));
  print("distance", {answers.distance.lower, answers.distance.upper});
  for (const OfHulls& of : {answers.of_points, answers.of_disordered}) {
    std::printf(" hulls %d", static_cast<int>(of.collide));
    print("distance", {of.distance.lower, of.distance.upper, of.closest.lower, of.closest.upper});
  }
  print("closest", {near.distance, near.lower_bound, near.point_a.x, near.point_a.y, near.point_b.x,
                    near.point_b.y, near.direction.x, near.direction.y});
  std::printf(" features %d %d %d %d\n", near.feature_a.first, near.feature_a.second,
              near.feature_b.first, near.feature_b.second);
}

Shape shape_of(const Polygon& polygon, double radius) {
  std::vector<Vec2> vertices;
  for (int i = 0; i < polygon.size(); ++i) vertices.push_back(polygon.vertex(i));
  Shape shape;
  shape.add_part(vertices, radius);
  return shape;
}

// The second shapes of all pairs as one scene, asked by each of the first.
void answer_scene(const std::vector<Pair>& pairs) {
  Scene scene;
  for (const Pair& pair : pairs) scene.add(shape_of(pair.q, pair.q_radius), pair.q_pose);
  scene.build();
  for (const Pair& pair : pairs) {
    const Shape shape = shape_of(pair.p, pair.p_radius);
    Scene::Ego ego(shape);
    std::printf("scene");
    for (const Mode mode : {Mode::collide, Mode::distance, Mode::witness}) {
      const PoseResult result =
          scene.check(ego, pair.p_pose, {.margin = pair.margin, .mode = mode});
      std::printf(" verdict %d status %d nearest %lld", static_cast<int>(result.verdict),
                  static_cast<int>(result.status), static_cast<long long>(result.nearest));
      if (mode == Mode::collide) continue;
      print("distance",
            {result.distance, result.lower_bound, result.witness_ego.x, result.witness_ego.y,
             result.witness_obstacle.x, result.witness_obstacle.y});
    }
    std::printf("\n");
  }
}

// All pairs in one call of each batch query.
void answer_call(const std::vector<const Pair*>& pairs, const std::vector<std::size_t>& indices) {
  const std::vector<InCall> answers = Call(pairs, indices).answer();
  for (std::size_t k = 0; k < answers.size(); ++k) {
    std::printf("call %zu verdicts %d %d\n", indices[k], static_cast<int>(answers[k].collide),
                static_cast<int>(answers[k].classify));
  }
}

// Once as they stand, once by their sizes.
void answer_calls(const std::vector<Pair>& pairs) {
  std::vector<const Pair*> all;
  for (const Pair& pair : pairs) all.push_back(&pair);
  std::vector<std::size_t> indices(all.size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  answer_call(all, indices);
  for (const auto& group : by_size(all)) answer_call(all, group);
}

int run(const char* name) {
  constexpr std::size_t kScene = 32;  // pairs that become a scene
  std::FILE* file = std::fopen(name, "rb");
  if (file == nullptr) {
    std::fprintf(stderr, "gjk_answers: cannot read %s\n", name);
    return 2;
  }
  std::vector<Pair> all;
  std::vector<Pair> pairs;
  Pair pair;
  for (long i = 0; read(file, pair); ++i) {
    std::printf("%ld", i);
    print(answer(pair));
    all.push_back(pair);
    pairs.push_back(pair);
    if (pairs.size() == kScene) {
      answer_scene(pairs);
      pairs.clear();
    }
  }
  std::fclose(file);
  answer_calls(all);
  return 0;
}

}  // namespace
}  // namespace gjk::verify

int main(int argc, char** argv) {
  using namespace gjk::verify;
  if (argc == 2 && std::string(argv[1]) == "--isas") {
    for (const auto isa : available_isas()) std::printf("%s\n", name_of(isa).data());
    return 0;
  }
  if (argc != 2 && argc != 3) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  for (const auto isa : available_isas()) {
    if (argc == 2 || argv[1] == "--isa=" + std::string(name_of(isa))) {
      gjk::simd::isa = isa;
      return run(argv[argc - 1]);
    }
  }
  std::fputs(kUsage, stderr);
  return 2;
}
