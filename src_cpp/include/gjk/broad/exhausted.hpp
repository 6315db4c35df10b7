// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Proof that a tree search was complete.
#pragma once

namespace gjk {

// Only a search can create one that is complete.
class Exhausted {
 public:
  Exhausted() = default;  // no search
  // The search reached its end: everything it did not visit is outside the requested range.
  bool is_complete() const noexcept { return is_complete_; }

 private:
  friend class Bvh;
  explicit Exhausted(bool is_complete) noexcept : is_complete_(is_complete) {}

  bool is_complete_ = false;
};

}  // namespace gjk
