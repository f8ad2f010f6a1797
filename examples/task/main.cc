// Trains the task of initials.h on its own corpus, and uses the model as that of any task.
#include <filesystem>
#include <iostream>

#include "initials.h"

using namespace attend;

int main() {
  initials::add();
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "attend-initials";
  tasks::TaskTraining training(tasks::TaskConfig({{"task", "initials", ""}}), folder, false, [](const std::string&) {});
  std::cout << training.summary() << '\n';
  training.trainer().run({});

  const tasks::TaskModel model = tasks::TaskModel::load(folder);
  const tasks::Example sentence{.inputs = {"old cats sing in the river"}};
  std::cout << model.answer(std::span(&sentence, 1), {}).at(0).at(0).text << '\n';

  const tasks::Scored scored = tasks::evaluate(model, tasks::read_test(model.config(), {}), {});
  std::cout << "exact: " << scored.scores(model.row()).at("exact") << " % of " << scored.examples << '\n';

  const explain::Trace trace = tasks::explain_text(model, "old cats sing", {});
  std::cout << explain::text_heatmap(explain::map_grid(trace, trace.maps.at(0), "words"), {}) << '\n';
  std::filesystem::remove_all(folder);
}
