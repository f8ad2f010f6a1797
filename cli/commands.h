// The commands of `attend`: one file each, one row each in the table of main.cc. argv[0] is the command's own name.
// A command returns its exit code or throws, which main reports (exit_code.h).
#pragma once

namespace attend::cli {

int compare(int argc, char** argv);
int demo(int argc, char** argv);
int eval(int argc, char** argv);
int run(int argc, char** argv);
int serve(int argc, char** argv);
int train(int argc, char** argv);
int explain(int argc, char** argv);
int list(int argc, char** argv);
int bench(int argc, char** argv);

}  // namespace attend::cli
