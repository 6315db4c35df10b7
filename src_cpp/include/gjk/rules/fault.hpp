// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "gjk/verdict.hpp"

namespace gjk {

// Reason why data cannot be used, or why a question cannot be answered.
struct Fault {
  Status status = Status::undefined;
  std::string message;
};

}  // namespace gjk
