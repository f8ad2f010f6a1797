// `attend info`: what a model is, from its folder alone.
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "attend/tasks/facts.h"
#include "attend/tasks/model_folder.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/model_card.h"

namespace attend::cli {
namespace {

struct InfoOptions {
  bool json = false;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("json", json, "as JSON");
  }
};

}  // namespace

int info(int argc, char** argv) {
  std::string folder;
  InfoOptions options;
  Flags flags("info", "says what a model is: its network, size, data, scores and options");
  flags.argument("DIR", folder, "folder of the model").options("info", options);
  if (const auto code = flags.parse(argc, argv)) return *code;
  tasks::check_folder(folder);
  const tasks::ModelFacts facts = tasks::facts_of(folder);
  std::cout << (options.json ? tasks::json_of(facts).dump(2) + "\n" : info_text(facts));
  return 0;
}

}  // namespace attend::cli
