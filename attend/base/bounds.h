// Bounds: which values an option may have. A struct lists them behind an option's help, and whatever sets the option
// (flags, recipes, requests, saved configurations) is checked against them.
//
//   visit("beam", beam, "hypotheses kept per sentence", bounds::within(1, 10'000));
//   visit("score", score, "how a query is compared with a key", bounds::one_of(scores()));
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace attend {

struct Bounds {
  double least = -std::numeric_limits<double>::infinity(), most = std::numeric_limits<double>::infinity();
  bool above = false, below = false;         ///< without `least` itself; without `most` itself
  std::vector<std::string_view> names = {};  ///< of a text: one of these; none: any text
  bool widths = false;                       ///< a text of whole numbers with commas between them, each within the bounds
  bool reads = false;                        ///< a text or list that names files or folders to be read
  bool writes = false;                       ///< a text that names a file to be written, into a folder that is there
  bool destroys = false;                     ///< switches on what cannot be undone: never suggested for a misspelt name
};

namespace bounds {

inline Bounds at_least(double least) { return {.least = least}; }
inline Bounds above(double least) { return {.least = least, .above = true}; }
inline Bounds within(double least, double most) { return {.least = least, .most = most}; }
inline Bounds between(double least, double most) { return {least, most, true, true}; }
inline Bounds above_up_to(double least, double most) { return {.least = least, .most = most, .above = true}; }
/// [0, 1): a share that must leave something.
inline Bounds share() { return {.least = 0, .most = 1, .below = true}; }
inline Bounds one_of(std::initializer_list<std::string_view> names) { return {.names = names}; }
/// The names of a table's rows, and `also`.
template <class Table>
Bounds one_of(const Table& table, std::initializer_list<std::string_view> also = {}) {
  Bounds menu{.names = also};
  for (const auto& row : table) menu.names.push_back(row.name);
  return menu;
}
/// "32,64": as many as there are layers, windows or stages.
inline Bounds widths() { return {.least = 1, .most = 1 << 16, .widths = true}; }
/// The names of files that must be there when they are read.
inline Bounds files_to_read() { return {.reads = true}; }
inline Bounds file_to_write() { return {.writes = true}; }
inline Bounds destructive() { return {.destroys = true}; }

// Sizes of networks: more than anyone trains, less than what overflows.
inline Bounds width() { return within(1, 1 << 16); }
inline Bounds width_or_none() { return within(0, 1 << 16); }
inline Bounds layers() { return within(1, 1 << 10); }
/// How many there are of something that is counted in data: words, labels, positions.
inline Bounds count_or_none() { return within(0, 1 << 28); }

}  // namespace bounds

/// "expected at least 1, got 0"; "" for a value within the bounds.
std::string objection(double value, const Bounds& bounds);
std::string objection(int64_t value, const Bounds& bounds);
std::string objection(const std::string& value, const Bounds& bounds);
inline std::string objection(float value, const Bounds& bounds) {
  return objection(static_cast<double>(value), bounds);
}
inline std::string objection(bool, const Bounds&) { return ""; }
inline std::string objection(const std::vector<std::string>&, const Bounds&) { return ""; }

}  // namespace attend
