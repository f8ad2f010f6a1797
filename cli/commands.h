// The commands of `attend`: one file each, one row each in the table of main.cc. argv[0] is the command's own name.
// A command returns its exit code or throws, which main reports (exit_code.h).
#pragma once

#include <span>
#include <string_view>

namespace attend::cli {

struct Command {
  std::string_view name;
  std::string_view help;
  std::string_view example;
  int (*run)(int argc, char** argv);
  bool shared = false;  ///< several ranks (mpirun) work on it; all others are left to the first one
};
/// The table, in the order in which it is shown.
std::span<const Command> commands();

int compare(int argc, char** argv);
int demo(int argc, char** argv);
int eval(int argc, char** argv);
int info(int argc, char** argv);
int lab(int argc, char** argv);
int run(int argc, char** argv);
int serve(int argc, char** argv);
int train(int argc, char** argv);
int explain(int argc, char** argv);
int list(int argc, char** argv);
int bench(int argc, char** argv);
int completion(int argc, char** argv);
int man(int argc, char** argv);

/// `attend --complete WORD…`, for the scripts of `attend completion`: what the last word, still being typed, may become.
int complete(int argc, char** argv);

}  // namespace attend::cli
