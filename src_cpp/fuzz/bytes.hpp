// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The fuzzer's bytes, read as what a target needs.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gjk::fuzz {

// Zero where the bytes have come to an end.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}

  template <class T>
  T take() {
    T value{};
    if (left_ < sizeof value) {
      left_ = 0;
      return value;
    }
    std::memcpy(&value, data_, sizeof value);
    data_ += sizeof value;
    left_ -= sizeof value;
    return value;
  }
  // In [0, n).
  int below(int n) { return take<std::uint8_t>() % n; }
  bool empty() const { return left_ == 0; }

 private:
  const std::uint8_t* data_;
  std::size_t left_;
};

}  // namespace gjk::fuzz
