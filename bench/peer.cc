#include "bench/peer.h"

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "attend/kernels/parallel.h"
#include "bench/process.h"

namespace attend::bench {
namespace {

struct KnownPeer {
  const char *name, *module, *script, *flags;  // script "": the group's
};
constexpr KnownPeer kPeers[] = {{kPyTorch, "torch", "", ""},
                                {kCompiled, "torch", "", " --compiled"},
                                {kCTranslate2, "ctranslate2", "ctranslate2_decode.py", ""},
                                {kLibrosa, "librosa", "torch_sounds.py", " --librosa"}};

std::string names_for(const std::string& peer, const std::vector<Row>& rows) {
  std::string names;
  for (const Row& row : rows) {
    if (row.against(peer)) names += (names.empty() ? "" : ",") + row.name;
  }
  return names;
}

}  // namespace

Peers::Peers(const RunOptions& options) : options_(options) {
  const char* given = std::getenv("ATTEND_PEER_PYTHON");
  python_ = !options.peer_python.empty() ? options.peer_python : given ? given : "python3";
}

bool Peers::available(const std::string& module) {
  const auto [found, fresh] = imported_.try_emplace(module, false);
  if (fresh) found->second = run_command(shell_word(python_) + " -c 'import " + module + "' 2>/dev/null").succeeded;
  return found->second;
}

PeerFigures Peers::measure(const Group& group, const std::vector<Row>& rows) {
  using nlohmann::json;
  PeerFigures figures;
  for (const KnownPeer& peer : kPeers) {
    const std::string names = names_for(peer.name, rows), script = *peer.script ? peer.script : group.torch_script;
    const std::filesystem::path path = std::filesystem::path(options_.peer_scripts) / script;
    if (names.empty()) continue;
    std::string& state = state_[peer.name];
    if (!options_.peer) {
      state = std::string(peer.name) + " was not asked for";
    } else if (!std::filesystem::exists(path)) {
      state = std::string(peer.name) + " has no script " + path.string() + ": no ratios to it";
    } else if (!available(peer.module)) {
      state =
          std::string(peer.name) + " cannot be imported by " + python_ + " (set ATTEND_PEER_PYTHON): no ratios to it";
    } else if (peer.name == std::string(kCompiled) && !options_.compiled) {
      state = std::string(peer.name) + " was not asked for (--compiled)";
    } else {
      const Finished said = run_command(shell_word(python_) + " " + shell_word(path.string()) + peer.flags +
                                        " --seconds " + std::to_string(options_.seconds) + " --threads " +
                                        std::to_string(kernels::threads()) + " --rows " + shell_word(names));
      state = std::string(peer.name) + (said.succeeded ? "" : " (its script failed)");
      for (const std::string& line : said.lines) {
        const json fact = json::parse(line, nullptr, false);
        if (!fact.is_object()) continue;
        if (fact.contains(peer.module)) {
          state +=
              " " + fact[peer.module].get<std::string>() + ", " + std::to_string(fact.value("threads", 0)) + " threads";
        }
        if (!fact.contains("name")) continue;
        figures[peer.name][fact["name"].get<std::string>()] = {fact.value("ms", 0.0), fact.value("peak_mb", 0.0)};
      }
    }
  }
  return figures;
}

std::string Peers::state() const {
  std::string all;
  for (const auto& [name, state] : state_) all += (all.empty() ? "" : "; ") + state;
  return all.empty() ? "no row has a peer" : all;
}

}  // namespace attend::bench
