// The commands of `attend`: one file each, one row each in the table of main.cc. argv[0] is the command's own name.
// A command returns its exit code (0 done, 1 it failed, 2 you asked wrongly) or throws, which main reports as 1.
#pragma once

namespace attend::cli {

int compare(int argc, char** argv);
int demo(int argc, char** argv);
int eval(int argc, char** argv);
int info(int argc, char** argv);
int run(int argc, char** argv);
int serve(int argc, char** argv);
int train(int argc, char** argv);
int explain(int argc, char** argv);
int list(int argc, char** argv);
int bench(int argc, char** argv);

}  // namespace attend::cli
