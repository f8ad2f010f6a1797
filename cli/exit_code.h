// Exit codes, one rule for all commands:
//   0    done
//   1    it failed: damaged files, a full disk, not enough memory
//   2    it was asked wrongly: an option, a name, a file that does not exist, a recipe (UsageError)
//   130  Ctrl-C stopped it; after another signal 128 and its number
#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace attend::cli {

/// 2 for a UsageError, 1 for everything else.
int exit_code(const std::exception& error);

/// What was wrong, for people: on a few lines, whatever it quotes.
std::string message_of(const std::exception& error);

/// Says on standard error what was wrong, and returns the exit code: "attend run: … (see: attend run --help)" for what
/// was asked wrongly, "attend: …" for what failed. `command` may be empty.
int report(std::string_view command, const std::exception& error);

}  // namespace attend::cli
