// Menus: tables of named rows. An unknown name is rejected, and the nearest one suggested.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/base/error.h"

namespace attend {

/// How many letters must be changed, added or removed to turn one into the other, ignoring case.
size_t edit_distance(std::string_view from, std::string_view to);

/// The one of `known` that was probably meant by `name`: differs in few letters; "" if there is none.
std::string_view nearest_name(std::span<const std::string_view> known, std::string_view name);
/// How many letters a misspelt name of this length may differ in.
size_t misspelt_by(size_t length);

/// Untrusted text for a message: in quotes, on one line, shortened if it is long.
std::string quoted(std::string_view text);
// Without these, a std::string would find std::quoted, which shows control characters as they are and cuts nothing.
inline std::string quoted(const std::string& text) { return quoted(std::string_view(text)); }
inline std::string quoted(std::string& text) { return quoted(std::string_view(text)); }
inline std::string quoted(const char* text) { return quoted(std::string_view(text)); }

/// "expected one of a, b, c, got "x"; the nearest is "b"", the last only if there is one near.
std::string not_among(std::span<const std::string_view> known, std::string_view name);
/// Throws that as an OptionError of the option `where`.
[[noreturn]] void refuse_name(std::string_view where, std::span<const std::string_view> known, std::string_view name);

/// The row of that name; if there is none, throws an OptionError that lists all names and suggests the nearest.
template <class Table>
const auto& row_named(std::string_view where, const Table& table, std::string_view name) {
  std::vector<std::string_view> known;
  for (const auto& row : table) {
    if (row.name == name) return row;
    known.push_back(row.name);
  }
  refuse_name(where, known, name);
}

/// A table that can grow without moving its rows, which others point to.
template <class Row>
std::vector<Row> with_room(std::initializer_list<Row> rows) {
  std::vector<Row> table;
  table.reserve(64);
  table.assign(rows);
  return table;
}

}  // namespace attend
