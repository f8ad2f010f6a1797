// What commands say besides their results: on standard error, and nothing after -q. Errors are not silenced.
#pragma once

#include <string_view>

namespace attend::cli {

inline constexpr std::string_view kQuietHelp = "say nothing but results and errors";

bool quiet();
void set_quiet(bool on);
/// A line on standard error, unless it is quiet.
void note(std::string_view line);

}  // namespace attend::cli
