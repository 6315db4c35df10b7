// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// A function that a query calls, as an argument of code that is compiled once.
#pragma once

#include <memory>
#include <type_traits>

namespace gjk {

// Refers to a function object, which must outlive it.
template <class Result, class... Arguments>
class Callback {
 public:
  template <class Function>
    requires(!std::is_same_v<std::remove_cvref_t<Function>, Callback>)
  Callback(Function&& function) noexcept  // NOLINT: implicit, and not owned
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(function)))),
        call_([](void* object, Arguments... arguments) -> Result {
          return (*static_cast<std::remove_reference_t<Function>*>(object))(arguments...);
        }) {}

  Result operator()(Arguments... arguments) const { return call_(object_, arguments...); }

 private:
  void* object_;
  Result (*call_)(void*, Arguments...);
};

}  // namespace gjk
