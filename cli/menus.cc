#include "cli/menus.h"

#include <algorithm>
#include <sstream>

#include "attend/attention/align.h"
#include "attend/attention/attention.h"
#include "attend/attention/reinforce.h"
#include "attend/attention/score.h"
#include "attend/attention/window.h"
#include "attend/data/builtin.h"
#include "attend/data/image_set.h"
#include "attend/data/tokeniser.h"
#include "attend/explain/methods.h"
#include "attend/models/encoder.h"
#include "attend/models/encoder_decoder_options.h"
#include "attend/models/glimpse.h"
#include "attend/models/zoo.h"
#include "attend/tasks/sound_corpus.h"
#include "attend/tasks/task.h"
#include "attend/train/bleu.h"
#include "attend/train/optimiser.h"
#include "attend/train/schedule.h"
#include "attend/train/scores.h"
#include "cli/commands.h"
#include "cli/completion.h"
#include "cli/list.h"
#include "cli/recipes.h"

namespace attend::cli {
namespace {

using Names = std::vector<Candidate>;

/// The rows of a menu, with what `help` says of each.
template <auto menu, auto help>
Names menu_of(const Usage&) {
  Names names;
  for (const auto& row : menu()) names.push_back({std::string(row.name), std::string(row.*help)});
  return names;
}
template <auto menu>
Names names_of(const Usage&) {
  Names names;
  for (const auto& row : menu()) names.push_back({std::string(row.name), ""});
  return names;
}

const tasks::TaskRow& task_of_usage(const Usage& usage) {
  const Usage::Option* const task = usage.find("--task");
  return task && !task->value.empty() ? tasks::task_named(task->value) : tasks::tasks()[0];
}

Names networks(const Usage& usage) {
  Names names;
  for (const std::string_view name : task_of_usage(usage).networks) {
    names.push_back({std::string(name), std::string(models::model_row(name).summary)});
  }
  return names;
}

Names validation_scores(const Usage& usage) {
  Names names{{"loss", ""}};
  for (const std::string_view name : task_of_usage(usage).scores) {
    names.push_back({std::string(name), ""});
  }
  return names;
}

Names corpora(const Usage& usage) {
  if (task_of_usage(usage).input().reads == models::Reads::sound) {
    return menu_of<tasks::spoken_corpora, &tasks::SpokenCorpus::summary>(usage);
  }
  return task_of_usage(usage).input().streamed ? menu_of<data::builtin_corpora, &data::BuiltinRow::summary>(usage)
                                         : menu_of<data::image_corpora, &data::ImageCorpusRow::summary>(usage);
}

/// Options whose names end so ("score": model.attention.score, too) take these names. The first row that fits counts.
struct MenuRow {
  std::string_view option;
  Names (*names)(const Usage& usage);
};
constexpr MenuRow kMenus[] = {
    {"task", menu_of<tasks::tasks, &tasks::TaskRow::summary>},
    {"corpus", corpora},
    {"model.name", networks},
    {"train.optimiser", menu_of<train::optimisers, &train::OptimiserRow::formula>},
    {"train.schedule", menu_of<train::schedules, &train::ScheduleRow::formula>},
    {"train.best_by", validation_scores},
    {"tokeniser.kind", menu_of<data::tokenisers, &data::TokeniserRow::summary>},
    {"tokeniser.target_kind", menu_of<data::tokenisers, &data::TokeniserRow::summary>},
    {"letters.kind", names_of<models::letter_readers>},
    {"encoder.kind", menu_of<models::encoders, &models::EncoderRow::formula>},
    {"decoder.kind", names_of<models::decoders>},
    {"decoder.input", menu_of<models::decoder_inputs, &models::DecoderInputRow::formula>},
    {"decoder.start", names_of<models::starts>},
    {"decoder.readout", names_of<models::readouts>},
    {"score", menu_of<attend::scores, &ScoreRow::formula>},
    {"window", menu_of<attend::windows, &WindowRow::formula>},
    {"align", menu_of<attend::aligns, &AlignRow::formula>},
    {"query_projection", names_of<attend::projections>},
    {"key_projection", names_of<attend::projections>},
    {"value_projection", names_of<attend::projections>},
    {"baseline", names_of<attend::baselines>},
    {"policy", names_of<models::policies>},
    {"first", names_of<models::first_looks>},
    {"core", names_of<models::cores>},
    {"reward", names_of<models::rewards>},
    {"method", menu_of<explain::methods, &explain::MethodRow::formula>},
    {"tokenise", menu_of<train::bleu_tokenisers, &train::BleuTokeniserRow::summary>},
    {"smooth", menu_of<train::bleu_smoothings, &train::BleuSmoothingRow::formula>},
};

/// Options that name a folder; all others that take a text may name a file.
constexpr std::string_view kFolders[] = {"rebuilt", "start_from", "peer_scripts"};

bool ends_with_name(std::string_view option, std::string_view name) {
  return option == name || (option.ends_with(name) && option[option.size() - name.size() - 1] == '.');
}

/// Where results go: a folder, unless its help speaks of a file.
bool is_folder(const Usage::Option& option) {
  if (option.name == "out") return option.help.starts_with("folder");
  return std::ranges::any_of(kFolders, [&](std::string_view name) { return ends_with_name(option.name, name); });
}

/// Names without an explanation.
template <auto list>
Names names_in(const Usage&) {
  Names names;
  for (const std::string_view name : list()) names.push_back({std::string(name), ""});
  return names;
}

Names recipes(const Usage&) {
  Names names;
  for (const NamedRecipe& recipe : named_recipes()) names.push_back({recipe.name, recipe.summary});
  return names;
}

Names no_names(const Usage&) { return {}; }

struct ArgumentRow {
  std::string_view name;
  Names (*names)(const Usage&);
  Paths paths;
};
constexpr ArgumentRow kArguments[] = {
    {"TASK", menu_of<tasks::tasks, &tasks::TaskRow::summary>, Paths::none},
    {"RECIPE", recipes, Paths::files},
    {"DIR", no_names, Paths::folders},
    {"FILES", no_names, Paths::files},
    {"SECTION", names_in<list_sections>, Paths::none},
    {"SHELL", names_in<shells>, Paths::none},
    {"COMMAND", menu_of<commands, &Command::help>, Paths::none},
};

}  // namespace

Choices choices_of(const Usage::Option& option, const Usage& usage) {
  if (option.type != "text" && option.type != "list") return {};
  for (const MenuRow& row : kMenus) {
    if (ends_with_name(option.name, row.option)) return {row.names(usage), Paths::none};
  }
  return {{}, is_folder(option) ? Paths::folders : Paths::files};
}

Choices choices_of_argument(const std::string& name) {
  Choices all;
  std::istringstream parts(name);
  for (std::string part; std::getline(parts, part, '|');) {
    const auto row = std::ranges::find(kArguments, part, &ArgumentRow::name);
    if (row == std::end(kArguments)) continue;
    std::ranges::move(row->names({}), std::back_inserter(all.names));
    if (all.paths != Paths::files && row->paths != Paths::none) all.paths = row->paths;
  }
  return all;
}

}  // namespace attend::cli
