// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The fields of an answer, by the names of its message.
//
// Next to each answer there is a function
//
//   fields(answer, known, f)
//
// which calls f(name, member, value) for each field that depends on this answer. `known` is the
// snapshot, which has the ids and the sources of obstacles. member(message) is the field of
// the message. Messages and Python dictionaries are filled by these functions, so a name is written
// once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// Calls f for the field `name`.
#define GJK_FIELD(f, name, value) f(#name, [](auto& m) -> auto& { return m.name; }, value)

namespace gjk::detail {

// One value of each item.
template <class Item, class Of>
auto column(const std::vector<Item>& items, Of of) {
  std::vector<std::decay_t<std::invoke_result_t<Of&, const Item&>>> values;
  values.reserve(items.size());
  for (const Item& each : items) values.push_back(of(each));
  return values;
}

template <class Known>
std::vector<std::int64_t> ids_of(const std::vector<std::int64_t>& obstacles, const Known& known) {
  return column(obstacles, [&](std::int64_t index) -> std::int64_t { return known.id_of(index); });
}

}  // namespace gjk::detail
