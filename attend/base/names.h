// Menus: tables whose rows have a name. An unknown name is refused with the nearest one.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/base/error.h"

namespace attend {

/// How many letters have to be changed, added or left out to get from one to the other, capitals aside.
size_t edit_distance(std::string_view from, std::string_view to);

/// Text of unknown origin for a message: in quotes, on one line, cut where it is long.
std::string quoted(std::string_view text);
// Without these, a std::string would find std::quoted, which shows control characters as they are and cuts nothing.
inline std::string quoted(const std::string& text) { return quoted(std::string_view(text)); }
inline std::string quoted(std::string& text) { return quoted(std::string_view(text)); }
inline std::string quoted(const char* text) { return quoted(std::string_view(text)); }

/// "wanted one of a, b, c, got "x"; the nearest is "b"": thrown as an Error.
[[noreturn]] void refuse_name(std::string_view where, std::span<const std::string_view> known, std::string_view name);

/// The row of that name; throws Error with all names and the nearest one where there is none.
template <class Table>
const auto& row_named(std::string_view where, const Table& table, std::string_view name) {
  std::vector<std::string_view> known;
  for (const auto& row : table) {
    if (row.name == name) return row;
    known.push_back(row.name);
  }
  refuse_name(where, known, name);
}

/// A table that may be added to without moving its rows, which others point at.
template <class Row>
std::vector<Row> with_room(std::initializer_list<Row> rows) {
  std::vector<Row> table;
  table.reserve(64);
  table.assign(rows);
  return table;
}

}  // namespace attend
