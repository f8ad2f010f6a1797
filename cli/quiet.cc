#include "cli/quiet.h"

#include <csignal>
#include <cstdio>

namespace attend::cli {
namespace {

volatile std::sig_atomic_t is_quiet = 0;  // handlers of signals ask, too

}  // namespace

bool quiet() { return is_quiet != 0; }
void set_quiet(bool on) { is_quiet = on ? 1 : 0; }

void note(std::string_view line) {
  if (!quiet()) std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
}

}  // namespace attend::cli
