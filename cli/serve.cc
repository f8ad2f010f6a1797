// `attend serve`: models over HTTP.
#include <csignal>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "attend/tasks/manifest.h"
#include "attend/tasks/model_folder.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/quiet.h"
#include "serve/keys.h"
#include "serve/server.h"

namespace attend::cli {
namespace {

/// Waits for Ctrl-C, SIGTERM or SIGHUP, which no thread of the server may take.
class Signals {
 public:
  Signals() {
    ::sigemptyset(&signals_);
    for (const int one : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&signals_, one);
    ::pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  }
  /// True: to read again what may have changed. Once it is to end, a second signal ends the program as it would any other.
  bool reload() const {
    int number = 0;
    ::sigwait(&signals_, &number);
    if (number == SIGHUP) return true;
    ::pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
    return false;
  }

 private:
  sigset_t signals_{};
};

/// What there is to know besides where to serve and what.
struct Once {
  std::string make_key;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("make_key", make_key,
          "name for which a new key is printed, and its line for the file of --keys; nothing is served");
  }
};

int print_key(const std::string& name) {
  const attend::serve::NewKey made = attend::serve::make_key(name);
  std::cout << "key (for " << name << ", not shown again): " << made.key << "\nline (for --keys FILE): " << made.line
            << std::endl;
  return 0;
}

}  // namespace

int serve(int argc, char** argv) {
  std::vector<std::string> folders;
  attend::serve::ServeOptions options;
  Once once;
  Flags flags("serve", "answers over HTTP and shows a page in the browser: attend serve DIR [DIR …]");
  flags.arguments("DIR", folders, "folders of the models; the first one answers where a request names none")
      .options("serve", options)
      .options("limits of one request", options.limits)
      .options("limits of all together", options.traffic)
      .options("who may ask", options.security)
      .options("keys", once);
  if (const auto code = flags.parse(argc, argv)) return *code;
  if (!once.make_key.empty()) return print_key(once.make_key);
  if (folders.empty() && options.lab.empty() && options.models.empty()) {
    return flags.refuse("expected DIR (folder of a model), --models DIR or --lab DIR");
  }
  for (const std::string& folder : folders) tasks::check_folder(folder);
  for (const std::string& folder : folders) {
    if (const std::string unchecked = tasks::unchecked_note(folder); !unchecked.empty()) note(unchecked);
  }
  const Signals signals;
  std::optional<attend::serve::Server> server;
  flags.check([&] { server.emplace(folders, options); });
  for (const std::string& one : server->notes()) note(one);
  server->start();
  const bool lab_alone = folders.empty() && options.models.empty();
  if (!quiet()) std::cout << "open " << server->address() << (lab_alone ? "/lab" : "") << std::endl;
  while (signals.reload()) {
    for (const std::string& one : server->reload()) note(one);
  }
  server->stop();
  return 0;
}

}  // namespace attend::cli
