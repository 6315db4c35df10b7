// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// FREE answers of a mutant of the kernel that are false: how many, and of how many the checker
// accepts the certificate. Usage: certificates PAIRS; prints both numbers.
#include "verify/certificates.hpp"

#include <cstdio>
#include <cstdlib>

int main(int argc, const char** argv) {
  using namespace gjk::verify;
  const long pairs = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 1000;
  Report report;
  for (std::size_t type = 0; type < kAllTypes; ++type) {
    Random random(type);
    for (long i = 0; i < pairs; ++i) {
      check_certificate(draw(static_cast<Type>(type), random), random, report);
    }
  }
  const auto count = [&](const char* kind) {
    const auto found = report.kinds().find(kind);
    return found == report.kinds().end() ? 0L : static_cast<long>(found->second.first);
  };
  const long accepted = count(kAcceptedInContact);
  std::printf("%ld %ld\n", count(kRefusedInContact) + accepted, accepted);
}
