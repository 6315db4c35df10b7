// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Runs a batch on several threads. They are started for each call, which takes about 18 us: a pool
// would have to survive fork(), which Python's process pools use, and calls of several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "gjk/arithmetic.hpp"
#include "gjk/callback.hpp"

namespace gjk {

// Calls run() on this thread and on threads - 1 others, or fewer if the system does not provide
// them.
void run_on_threads(std::size_t threads, const Callback<void>& run);

// Calls both functions, at the same time if `parallel` and if the system provides a thread.
void in_parallel(const Callback<void>& first, const Callback<void>& second, bool parallel);

// Calls worker(begin, end) for consecutive chunks of [0, count). Each thread has its own worker,
// from make_worker(), and takes the lowest remaining chunk. The system may provide fewer threads.
template <class MakeWorker>
void for_each_chunk(std::size_t count, std::size_t chunk, unsigned threads,
                    const MakeWorker& make_worker) {
  std::atomic<std::size_t> next{0};
  const auto run = [&] {
    auto worker = make_worker();  // NOLINT(misc-const-correctness): some workers are mutable
    while (true) {
      const std::size_t begin = next.fetch_add(chunk);
      if (begin >= count) return;
      worker(begin, std::min(begin + chunk, count));
    }
  };
  const std::size_t chunks = (count + chunk - 1) / chunk;
  run_on_threads(std::min<std::size_t>(threads, chunks), run);
}

}  // namespace gjk

#ifdef GJK_KERNEL
#include <system_error>
#include <thread>
#include <vector>

namespace gjk {

GJK_KERNEL void run_on_threads(std::size_t threads, const Callback<void>& run) {
  std::vector<std::jthread> others;
  try {
    while (others.size() + 1 < threads) others.emplace_back(run);
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): fewer threads do the work
  }
  run();
}

GJK_KERNEL void in_parallel(const Callback<void>& first, const Callback<void>& second,
                            bool parallel) {
  std::jthread other;
  try {
    if (parallel) other = std::jthread(first);
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): this thread does the work
  }
  if (!other.joinable()) first();
  second();
}

}  // namespace gjk
#endif
