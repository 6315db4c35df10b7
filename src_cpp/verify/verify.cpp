// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Holds the kernel against integer arithmetic over random pairs of every type, and prints what it
// found. Exit 0: no disagreement, no UNKNOWN, every bound true, all instruction sets alike.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>

#include "calls.hpp"
#include "cases.hpp"
#include "certificates.hpp"
#include "check.hpp"
#include "corpus.hpp"
#include "isas.hpp"
#include "lanes.hpp"
#include "motions.hpp"
#include "scenes.hpp"

namespace gjk::verify {
namespace {

constexpr const char* kUsage =
    R"(usage: gjk_verify [--pairs=1000000] [--families=PAIRS/5] [--scenes=FAMILIES/50] [--certificates=FAMILIES]
                  [--types=distant,touching,...,lanes] [--seed=1] [--threads=2]
       gjk_verify --write=FILE [--pairs=...] [--types=...] [--seed=...]

For each type of pair: how many collide, how many per 1000 GJK's floating-point loop alone leaves open, how
many per 1000 collide() decides in exact arithmetic, how many verdicts were UNKNOWN or wrong, how many bounds or witnesses were not true, how many
answers another instruction set, or a batch, gave otherwise, and the widest gap between the bounds relative to the
distance (of the polygons, without their radii).

The types from closed_rings on are families of outlines and poses built to break a check. For these also --scenes scenes at rest and as many that move, of some 30 answers each: how
many answers, how many were not FREE, and each kind of failure with its first case.

The type lanes is --pairs/50 batches of up to 24 poses near contact and near each other, with each instruction set: how
many poses, how many were not FREE, how many the lanes left open, and each kind of failure with its first case.

--certificates pairs of each type: how many were FREE and have a certificate, how many of these the checker refuses,
how many of three times as many spoilt ones it accepts since they are still true, and each kind of failure.

--write only writes the pairs, for gjk_answers.
)";

struct Options {
  std::int64_t pairs = 1000000;    // of each type that is not a family
  std::int64_t families = -1;      // pairs of each family; -1: a fifth of these
  std::int64_t certificates = -1;  // pairs of each type; -1: as of each family
  std::int64_t scenes = -1;        // of each family, at rest and moving; -1: one for 50 pairs
  std::vector<Type> types;
  bool lanes = true;
  std::uint64_t seed = 1;
  int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  std::string write;

  std::int64_t pairs_of(Type type) const {
    if (!is_family(type)) return pairs;
    return families >= 0 ? families : pairs / 5;
  }
  std::int64_t certificates_of_type() const {
    return certificates >= 0 ? certificates : pairs_of(Type::first_family);
  }
  std::int64_t scenes_of_family() const {
    return scenes >= 0 ? scenes : pairs_of(Type::first_family) / 50;
  }
};

struct Tally {
  std::int64_t pairs = 0;
  std::int64_t collisions = 0;
  std::int64_t left_open = 0;
  std::int64_t to_exact = 0;
  std::int64_t unknown = 0;
  std::int64_t wrong = 0;
  std::int64_t untrue = 0;
  std::int64_t unlike = 0;  // between instruction sets, or in a batch
  double widest = 0.0;
  // The first failure of each kind, and how many there were.
  struct Failure {
    std::int64_t count = 0;
    std::int64_t block = 0;
    std::string what;
  };
  std::map<std::string, Failure> kinds;

  // The kind is what precedes the first number, or the case.
  void fail(std::int64_t block, const std::string& what, std::int64_t count = 1) {
    const std::string kind = what.substr(0, what.find_first_of("\n0123456789"));
    Failure& failure = kinds[kind];
    if (failure.count == 0 || block < failure.block) {
      failure.block = block;
      failure.what = what;
    }
    failure.count += count;
  }
  void add(const Findings& found, const Answers& answers, std::int64_t block) {
    ++pairs;
    collisions += found.collides;
    left_open += answers.loop == Verdict::unknown;
    to_exact += answers.is_exact;
    unknown += found.unknown;
    wrong += found.wrong;
    untrue += found.untrue;
    widest = std::max(widest, found.widest);
    if (found.failed()) fail(block, found.what);
  }
  void add(const Tally& other) {
    pairs += other.pairs;
    collisions += other.collisions;
    left_open += other.left_open;
    to_exact += other.to_exact;
    unknown += other.unknown;
    wrong += other.wrong;
    untrue += other.untrue;
    unlike += other.unlike;
    widest = std::max(widest, other.widest);
    for (const auto& [kind, failure] : other.kinds)
      fail(failure.block, failure.what, failure.count);
  }
  std::int64_t failures() const { return unknown + wrong + untrue + unlike; }
};

// Pairs that share a seed, and what was answered.
constexpr std::int64_t kBlock = 1000;
struct Block {
  std::int64_t index = 0;
  std::vector<Pair> pairs;
  std::vector<Answers> answers;
  Tally tally;
};

Random random_of(Type type, std::uint64_t seed, std::int64_t block) {
  Random random((seed * 64 + static_cast<std::uint64_t>(type)) * 0x100000001ULL +
                static_cast<std::uint64_t>(block) * 7919);
  random.next();
  return random;
}

void draw_and_check(Block& block, Type type, std::uint64_t seed, std::int64_t pairs) {
  Random random = random_of(type, seed, block.index);
  for (std::int64_t i = 0; i < pairs; ++i) {
    block.pairs.push_back(draw(type, random));
    const Pair& pair = block.pairs.back();
    block.answers.push_back(answer(pair));
    const Findings found = check(pair, block.answers.back(), truth_of(pair), i % 8 == 0);
    block.tally.add(found, block.answers.back(), block.index);
  }
}

void compare(Block& block, simd::Isa isa) {
  for (std::size_t i = 0; i < block.pairs.size(); ++i) {
    if (answer(block.pairs[i]).same_as(block.answers[i])) continue;
    ++block.tally.unlike;
    block.tally.fail(block.index, std::string(name_of(isa)) + " answers otherwise than " +
                                      std::string(name_of(available_isas().front())) + "\n" +
                                      literal(block.pairs[i]));
  }
}

// Runs `work` on every item, on several threads.
template <class Item>
void for_each(std::vector<Item>& items, int threads, const std::function<void(Item&)>& work) {
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([&] {
      for (std::size_t i = next++; i < items.size(); i = next++) work(items[i]);
    });
  }
  for (std::thread& worker : workers) worker.join();
}

// The pairs of some blocks, asked in calls of the batch queries.
class Together {
 public:
  explicit Together(const std::vector<Block>& blocks) {
    for (const Block& block : blocks) {
      indices_.emplace_back();  // a call for each block, as it was drawn: a mixture
      for (std::size_t i = 0; i < block.pairs.size(); ++i) {
        indices_.back().push_back(pairs_.size());
        pairs_.push_back(&block.pairs[i]);
        blocks_.push_back(block.index);
      }
    }
    for (auto& group : by_size(pairs_)) indices_.push_back(std::move(group));
    for (std::size_t k = 0; k < indices_.size(); ++k) asked_.push_back({k, {}, {}, {}});
  }

  // Asks with the present instruction set, the first time each pair alone too.
  void compare(simd::Isa isa, int threads) {
    for_each<Asked>(asked_, threads, [&](Asked& asked) {
      if (!asked.call) ask_alone(asked);
      const std::vector<InCall> answers = asked.call->answer();
      for (std::size_t k = 0; k < answers.size(); ++k) {
        if (!answers[k].same_as(asked.alone[k])) {
          fail(asked, k, "a batch answers otherwise, with " + std::string(name_of(isa)));
        }
      }
    });
  }
  void add_to(Tally& tally) const {
    for (const Asked& asked : asked_) tally.add(asked.tally);
  }

 private:
  struct Asked {
    std::size_t index;
    std::optional<Call> call;
    std::vector<InCall> alone;
    Tally tally;
  };

  void ask_alone(Asked& asked) const {
    asked.call.emplace(pairs_, indices_[asked.index]);
    asked.alone = asked.call->answer_alone();
  }
  void fail(Asked& asked, std::size_t k, const std::string& what) const {
    const std::size_t i = indices_[asked.index][k];
    ++asked.tally.unlike;
    asked.tally.fail(blocks_[i], what + "\n" + literal(*pairs_[i]));
  }

  std::vector<const Pair*> pairs_;
  std::vector<std::int64_t> blocks_;
  std::vector<std::vector<std::size_t>> indices_;  // of the pairs of each call
  std::vector<Asked> asked_;
};

Tally verify(Type type, const Options& options) {
  constexpr std::int64_t kRound = 64;  // blocks in memory
  const std::int64_t pairs = options.pairs_of(type);
  const std::int64_t count = (pairs + kBlock - 1) / kBlock;
  Tally tally;
  for (std::int64_t begin = 0; begin < count; begin += kRound) {
    std::vector<Block> blocks(static_cast<std::size_t>(std::min(kRound, count - begin)));
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      blocks[i].index = begin + static_cast<std::int64_t>(i);
    }
    const std::vector<simd::Isa> isas = available_isas();
    simd::isa = isas.front();
    for_each<Block>(blocks, options.threads, [&](Block& block) {
      draw_and_check(block, type, options.seed, std::min(kBlock, pairs - block.index * kBlock));
    });
    Together together(blocks);
    together.compare(isas.front(), options.threads);
    for (std::size_t k = 1; k < isas.size(); ++k) {
      simd::isa = isas[k];
      for_each<Block>(blocks, options.threads, [&](Block& block) { compare(block, isas[k]); });
      together.compare(isas[k], options.threads);
    }
    for (const Block& block : blocks) tally.add(block.tally);
    together.add_to(tally);
  }
  return tally;
}

// What is asked of a family beside its pairs.
struct Subject {
  const char* name;
  void (*ask)(Family, Random&, Report&);
};
constexpr Subject kSubjects[]{
    {"scenes", [](Family family, Random& random,
                  Report& report) { check_world(draw_world(family, random), report); }},
    {"motions",
     [](Family family, Random& random, Report& report) {
       check_moving_world(draw_moving_world(family, random), random, report);
     }},
};

// Calls ask(random, report) for each of `scenes`, on several threads.
template <class Ask>
Report verify(const Ask& ask, Type type, const Options& options, std::int64_t scenes) {
  constexpr std::int64_t kScenes = 25;  // that share a seed
  struct Batch {
    std::int64_t index;
    Report report;
  };
  std::vector<Batch> batches;
  for (std::int64_t i = 0; i * kScenes < scenes; ++i) batches.push_back({i, {}});
  for_each<Batch>(batches, options.threads, [&](Batch& batch) {
    Random random = random_of(type, options.seed, batch.index);
    const std::int64_t end = std::min(scenes, (batch.index + 1) * kScenes);
    for (std::int64_t i = batch.index * kScenes; i < end; ++i) {
      ask(random, batch.report);
    }
  });
  Report all;
  for (const Batch& batch : batches) all.add(batch.report);
  return all;
}

// Prints a row of a table of scenes or batches, which were asked since `start`, and its failures.
void print_row(std::string_view name, std::int64_t number, const Report& report,
               std::chrono::steady_clock::time_point start) {
  const auto integer = [](std::int64_t v) { return static_cast<long long>(v); };
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("%-14s%10lld%12lld%10lld%10lld%10lld%8.1f\n", name.data(), integer(number),
              integer(report.asked), integer(report.hits), integer(report.unknown),
              integer(report.failures()), seconds);
  for (const auto& [kind, failure] : report.kinds()) {
    std::printf("%lld times %s, first: %s", integer(failure.first), kind.c_str(),
                failure.second.c_str());
  }
  std::fflush(stdout);
}

std::int64_t run_subjects(const Options& options) {
  const std::int64_t scenes = options.scenes_of_family();
  std::int64_t failures = 0;
  simd::isa = available_isas().front();
  for (const Subject& subject : kSubjects) {
    std::printf("\n%-14s%10s%12s%10s%10s%10s%8s\n", subject.name, "number", "answers", "not free",
                "UNKNOWN", "failures", "s");
    for (const Type type : options.types) {
      if (!is_family(type)) continue;
      const auto start = std::chrono::steady_clock::now();
      const auto ask = [&](Random& random, Report& found) {
        subject.ask(family_of(type), random, found);
      };
      const Report report = verify(ask, type, options, scenes);
      print_row(name_of(type), scenes, report, start);
      failures += report.failures();
    }
  }
  return failures;
}

std::int64_t run_lanes(const Options& options) {
  const std::int64_t batches = options.pairs / 50;
  std::int64_t failures = 0;
  std::printf("\n%-14s%10s%12s%10s%10s%10s%8s\n", "lanes", "batches", "poses", "not free",
              "left open", "failures", "s");
  for (const simd::Isa isa : available_isas()) {
    const auto start = std::chrono::steady_clock::now();
    simd::isa = isa;
    const auto ask = [](Random& random, Report& found) {
      check_lane_world(draw_lane_world(random), found);
    };
    const Report report = verify(ask, Type::first_family, options, batches);
    print_row(name_of(isa), batches, report, start);
    failures += report.failures();
  }
  return failures;
}

std::int64_t run_certificates(const Options& options) {
  std::int64_t failures = 0;
  simd::isa = available_isas().front();
  std::printf("\n%-14s%10s%12s%10s%10s%10s%8s\n", "certificates", "pairs", "free", "refused",
              "true yet", "failures", "s");
  for (const Type type : options.types) {
    const auto start = std::chrono::steady_clock::now();
    const auto ask = [&](Random& random, Report& found) {
      check_certificate(draw(type, random), random, found);
    };
    const std::int64_t pairs = options.certificates_of_type();
    const Report report = verify(ask, type, options, pairs);
    print_row(name_of(type), pairs, report, start);
    failures += report.failures();
  }
  return failures;
}

int run(const Options& options) {
  const auto integer = [](std::int64_t v) { return static_cast<long long>(v); };
  std::printf("instruction sets:");
  for (const simd::Isa isa : available_isas()) std::printf(" %s", name_of(isa).data());
  std::printf("; seed %llu\n%-14s%10s%9s%12s%12s%9s%7s%8s%8s%12s%8s\n",
              static_cast<unsigned long long>(options.seed), "type", "pairs", "collide",
              "loop open", "to exact", "UNKNOWN", "wrong", "untrue", "unlike", "widest gap", "s");
  Tally all;
  for (const Type type : options.types) {
    const auto start = std::chrono::steady_clock::now();
    const Tally tally = verify(type, options);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const auto per_mille = [&](std::int64_t part) {
      return 1000.0 * static_cast<double>(part) / static_cast<double>(tally.pairs);
    };
    std::printf("%-14s%10lld%8.1f%%%10.3f/k%10.3f/k%9lld%7lld%8lld%8lld%12.2g%8.1f\n",
                name_of(type).data(), integer(tally.pairs), per_mille(tally.collisions) / 10.0,
                per_mille(tally.left_open), per_mille(tally.to_exact), integer(tally.unknown),
                integer(tally.wrong), integer(tally.untrue), integer(tally.unlike), tally.widest,
                seconds);
    for (const auto& [kind, failure] : tally.kinds) {
      std::printf("%lld times, first: %s", integer(failure.count), failure.what.c_str());
    }
    std::fflush(stdout);
    all.add(tally);
  }
  std::printf("%lld pairs, %lld failures\n", integer(all.pairs), integer(all.failures()));
  std::int64_t failures = all.failures() + run_subjects(options);
  if (options.lanes) failures += run_lanes(options);
  failures += run_certificates(options);
  return failures == 0 ? 0 : 1;
}

int write_pairs(const Options& options) {
  std::FILE* file = std::fopen(options.write.c_str(), "wb");
  if (file == nullptr) {
    std::fprintf(stderr, "gjk_verify: cannot write %s\n", options.write.c_str());
    return 2;
  }
  for (const Type type : options.types) {
    Random random = random_of(type, options.seed, 0);
    for (std::int64_t i = 0; i < options.pairs; ++i) write(file, draw(type, random));
  }
  return std::fclose(file) == 0 ? 0 : 2;
}

std::vector<Type> types_of(const std::string& list) {
  std::vector<Type> types;
  for (std::size_t i = 0; i < kAllTypes; ++i) {
    const auto type = static_cast<Type>(i);
    const bool named =
        ("," + list + ",").find("," + std::string(name_of(type)) + ",") != std::string::npos;
    if (list.empty() || named) types.push_back(type);
  }
  return types;
}

}  // namespace
}  // namespace gjk::verify

int main(int argc, char** argv) {
  using namespace gjk::verify;
  Options options;
  options.types = types_of("");
  const std::map<std::string, std::function<void(const std::string&)>> take{
      {"--pairs", [&](const std::string& value) { options.pairs = std::stoll(value); }},
      {"--families", [&](const std::string& value) { options.families = std::stoll(value); }},
      {"--scenes", [&](const std::string& value) { options.scenes = std::stoll(value); }},
      {"--certificates",
       [&](const std::string& value) { options.certificates = std::stoll(value); }},
      {"--types",
       [&](const std::string& value) {
         options.types = types_of(value);
         options.lanes = value.empty() || ("," + value + ",").find(",lanes,") != std::string::npos;
       }},
      {"--seed", [&](const std::string& value) { options.seed = std::stoull(value); }},
      {"--threads", [&](const std::string& value) { options.threads = std::stoi(value); }},
      {"--write", [&](const std::string& value) { options.write = value; }},
  };
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equals = argument.find('=');
    const auto found = take.find(argument.substr(0, equals));
    if (found == take.end() || equals == std::string::npos) {
      std::fputs(kUsage, stderr);
      return argument == "--help" ? 0 : 2;
    }
    found->second(argument.substr(equals + 1));
  }
  return options.write.empty() ? run(options) : write_pairs(options);
}
