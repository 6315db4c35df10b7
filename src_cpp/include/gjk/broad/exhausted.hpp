// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// What a search of a tree leaves as a proof that it left nothing out.
#pragma once

namespace gjk {

// Only a search can make one that is complete.
class Exhausted {
 public:
  Exhausted() = default;  // no search
  // It went to its end: all that it did not visit is beyond what it was asked for.
  bool is_complete() const noexcept { return is_complete_; }

 private:
  friend class Bvh;
  explicit Exhausted(bool is_complete) noexcept : is_complete_(is_complete) {}

  bool is_complete_ = false;
};

}  // namespace gjk
