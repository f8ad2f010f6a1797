// `attend serve`: models over HTTP.
#include <csignal>
#include <iostream>
#include <string>
#include <vector>

#include "attend/tasks/manifest.h"
#include "attend/tasks/model_folder.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/quiet.h"
#include "serve/server.h"

namespace attend::cli {
namespace {

/// Waits for Ctrl-C or SIGTERM, which no thread of the server may take.
class StopSignals {
 public:
  StopSignals() {
    ::sigemptyset(&signals_);
    ::sigaddset(&signals_, SIGINT), ::sigaddset(&signals_, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  }
  /// Once one came, a second one ends the program as it would any other.
  void wait() const {
    int number = 0;
    ::sigwait(&signals_, &number);
    ::pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
  }

 private:
  sigset_t signals_{};
};

}  // namespace

int serve(int argc, char** argv) {
  std::vector<std::string> folders;
  attend::serve::ServeOptions options;
  Flags flags("serve", "answers over HTTP and shows a page in the browser: attend serve DIR [DIR …]");
  flags.arguments("DIR", folders, "folders of the models; the first one answers where a request names none")
      .options("serve", options)
      .options("limits of one request", options.limits)
      .options("limits of all together", options.traffic);
  if (const auto code = flags.parse(argc, argv)) return *code;
  if (folders.empty() && options.lab.empty()) return flags.refuse("expected DIR (folder of a model), or --lab DIR");
  for (const std::string& folder : folders) tasks::check_folder(folder);
  for (const std::string& folder : folders) {
    if (const std::string unchecked = tasks::unchecked_note(folder); !unchecked.empty()) note(unchecked);
  }
  const StopSignals stop;
  attend::serve::Server server(folders, options);
  for (const std::string& left_out : server.notes()) note(left_out + " (left out)");
  server.start();
  if (!quiet()) std::cout << "open " << server.address() << (folders.empty() ? "/lab" : "") << std::endl;
  stop.wait();
  server.stop();
  return 0;
}

}  // namespace attend::cli
