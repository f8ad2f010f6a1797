// Flags of one command, parsed by CLI11 with our exit codes.
#pragma once

#include <CLI/CLI.hpp>
#include <iostream>
#include <optional>
#include <string>

#include "attend/base/names.h"

namespace attend::cli {

/// Parses into what `app` declares. Empty if the command should go on; else the exit code: 0 after --help, 2 after a
/// mistake, which is told in one line.
inline std::optional<int> parse_arguments(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::CallForHelp&) {
    std::cout << app.help();
    return 0;
  } catch (const CLI::ParseError& error) {
    std::cerr << "attend " << argv[0] << ": " << error.what() << " (see: attend " << argv[0] << " --help)\n";
    return 2;
  }
}

/// For CLI::Option::check: the name of a row of `table`; other names are refused with the nearest.
template <class Table>
auto a_row_of(const Table& table) {
  return [table](const std::string& name) -> std::string {
    try {
      row_named("", table, name);
      return "";
    } catch (const Error& error) {
      return std::string(error.what()).substr(2);  // CLI11 writes the option and ": " before it
    }
  };
}

}  // namespace attend::cli
