// `attend eval`: scores a model, or a file of outputs, whoever made them, and word alignments; JSON on standard output.
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/base/replacement.h"
#include "attend/data/alignment.h"
#include "attend/data/lines.h"
#include "attend/explain/alignment.h"
#include "attend/kernels/parallel.h"
#include "attend/tasks/comparison.h"
#include "attend/tasks/text.h"
#include "cli/commands.h"
#include "cli/evaluation.h"
#include "cli/flags.h"
#include "cli/folders.h"
#include "cli/images.h"
#include "cli/progress.h"
#include "cli/searching.h"

namespace attend::cli {
namespace {

struct EvalOptions {
  std::string source, target, output, alignments, gold, possible, save_output;
  double alignment_threshold = 0;
  int64_t threads = 0;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("source", source, "sentences for the model, plain or .gz; none: the held-out ones of its built-in corpus");
    visit("target", target, "references, one a line");
    visit("output", output, "outputs to score in place of a model's, one a line");
    visit("save_output", save_output, "file for the model's outputs");
    visit("alignments", alignments, "word alignments to score in place of a model's, as 0-0 2-1, one sentence a line");
    visit("gold", gold, "word alignments that are sure");
    visit("possible", possible, "word alignments that are possible, beside the sure ones");
    visit("alignment_threshold", alignment_threshold,
          "a model links all words with at least this weight; 0: each target word with its best source word");
    visit("threads", threads, "0: as many as the machine has");
  }
};

/// What is scored, with what it is scored against; links are empty where there are none.
struct Evaluated {
  std::vector<std::string> outputs, references;
  std::vector<data::Links> links, gold, possible;
};

std::vector<data::Links> read_links(const std::string& path) {
  std::vector<data::Links> links;
  for (const std::string& line : data::read_lines(path)) {
    links.push_back(data::parse_links(path + ":" + std::to_string(links.size() + 1), line));
  }
  return links;
}

template <class First, class Second>
void require_as_many(const First& first, const std::string& first_path, const Second& second,
                     const std::string& second_path) {
  const auto count = [](size_t lines, const std::string& path) {
    return std::to_string(lines) + (lines == 1 ? " line in " : " lines in ") + path;
  };
  require(first.size() == second.size(), "as many lines in both files are wanted, got ",
          count(first.size(), first_path), " and ", count(second.size(), second_path));
  require(!first.empty(), "at least one line is wanted, got none in ", first_path);
}

void read_gold(const EvalOptions& options, Evaluated& all) {
  if (options.gold.empty()) return;
  all.gold = read_links(options.gold);
  if (options.possible.empty()) return;
  all.possible = read_links(options.possible);
  require_as_many(all.possible, options.possible, all.gold, options.gold);
}

Evaluated read_files(const EvalOptions& options) {
  Evaluated all;
  if (!options.output.empty()) {
    all.outputs = data::read_lines(options.output), all.references = data::read_lines(options.target);
    require_as_many(all.outputs, options.output, all.references, options.target);
  }
  if (!options.alignments.empty()) {
    all.links = read_links(options.alignments);
    read_gold(options, all);
    require_as_many(all.links, options.alignments, all.gold, options.gold);
  }
  return all;
}

std::vector<tasks::TextPair> pairs_to_translate(const tasks::TextModel& model, const EvalOptions& options) {
  if (options.source.empty()) {
    std::vector<tasks::TextPair> test = tasks::builtin_test(model.config());
    require(!test.empty(), "--source and --target are wanted: the model was trained on files");
    return test;
  }
  return tasks::test_files(options.source, options.target).pairs;
}

Evaluated translated(const tasks::TextModel& model, const EvalOptions& options, tasks::AnswerOptions answer) {
  const std::vector<tasks::TextPair> pairs = pairs_to_translate(model, options);
  Evaluated all;
  read_gold(options, all);
  if (options.source.empty() && options.gold.empty()) {
    for (const tasks::TextPair& pair : pairs) all.gold.push_back(pair.links);
    const auto linked = [](const data::Links& links) { return !links.empty(); };
    const bool known = std::ranges::any_of(all.gold, linked) && explain::attends_to_source(model.model());
    if (!known) all.gold.clear();
  }
  require(all.gold.empty() || all.gold.size() == pairs.size(), "as many alignments as sentences are wanted, got ",
          all.gold.size(), " and ", pairs.size());
  answer.align = !all.gold.empty();
  answer.threshold = options.alignment_threshold;
  Progress bar("translating", static_cast<long>(pairs.size()));
  tasks::Translations said =
      tasks::translate(model, pairs, answer, [&](size_t done) { bar.show(static_cast<long>(done), ""); });
  all.outputs = std::move(said.outputs), all.links = std::move(said.links);
  for (const tasks::TextPair& pair : pairs) all.references.push_back(pair.target);
  if (!options.save_output.empty()) {
    std::string text;
    for (const std::string& line : all.outputs) text += line + "\n";
    write_file(options.save_output, text);
  }
  return all;
}

nlohmann::ordered_json scored(const Evaluated& all, const train::BleuOptions& options) {
  nlohmann::ordered_json result = nlohmann::ordered_json::object();
  if (!all.outputs.empty()) result = scores(all.outputs, all.references, options);
  if (!all.gold.empty()) result["alignment"] = alignment_scores(all.links, all.gold, all.possible);
  return result;
}

/// "" if both are names of rows; else which is not, and the nearest one.
std::string unknown_row(const train::BleuOptions& bleu) {
  try {
    row_named("--tokenise", train::bleu_tokenisers(), bleu.tokenise);
    row_named("--smooth", train::bleu_smoothings(), bleu.smooth);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

/// What is wrong with these flags together; "" if nothing is.
std::string objection(const std::string& folder, const EvalOptions& o) {
  if (!o.possible.empty() && o.gold.empty()) return "--possible wants --gold";
  if (folder.empty()) {
    if (o.output.empty() && o.alignments.empty()) {
      return "a model's folder, --output and --target, or --alignments and --gold are wanted";
    }
    if (!o.source.empty()) return "--source wants a model's folder before it";
    if (o.output.empty() != o.target.empty()) return "--output and --target are wanted, both or none";
    if (o.alignments.empty() != o.gold.empty()) return "--alignments and --gold are wanted, both or none";
    return "";
  }
  if (!o.output.empty()) return "a model's folder or --output is wanted, not both";
  if (!o.alignments.empty()) return "a model's folder or --alignments is wanted, not both";
  return o.source.empty() == o.target.empty() ? "" : "--source and --target are wanted, both or none";
}

}  // namespace

int eval(int argc, char** argv) {
  if (looks_at_images(named_folder(argc, argv))) return eval_images(argc, argv);
  std::string folder;
  EvalOptions options;
  train::BleuOptions bleu;
  tasks::AnswerOptions answer;
  std::optional<tasks::TextModel> model;
  Flags flags("eval",
              "scores a model, or outputs that anyone made: BLEU and chrF as sacreBLEU has them, exact match (of a "
              "model that looks at images: attend eval DIR --help)");
  const auto load = [&](const std::string& from) {  // its own way of searching is the default
    const std::string wrong = folder_objection(from);
    if (wrong.empty()) model.emplace(tasks::TextModel::load(from)), answer.search = model->config().options.search;
    return wrong;
  };
  if (argc > 1 && argv[1][0] != '-') {
    if (const std::string wrong = load(argv[1]); !wrong.empty()) return flags.refuse(wrong);
  }
  flags.argument("DIR", folder, "folder of the model", false)
      .options("files", options)
      .options("BLEU", bleu)
      .options("search", answer.search);
  if (!model) flags.defaults_are(kModelsOwn);
  if (const auto code = flags.parse(argc, argv)) return *code;
  if (const std::string wrong = objection(folder, options); !wrong.empty()) return flags.refuse(wrong);
  if (const std::string wrong = unknown_row(bleu); !wrong.empty()) return flags.refuse(wrong);
  if (!folder.empty() && !model) {  // flags came before DIR: once more, over its own way of searching
    if (const std::string wrong = load(folder); !wrong.empty()) return flags.refuse(wrong);
    if (const auto code = flags.parse(argc, argv)) return *code;
  }
  if (const std::string none = search_objection(answer.search); !none.empty()) return flags.refuse(none);
  if (options.threads > 0) kernels::set_threads(static_cast<int>(options.threads));
  const Evaluated all = model ? translated(*model, options, answer) : read_files(options);
  std::cout << scored(all, bleu).dump(2) << '\n';
  return 0;
}

}  // namespace attend::cli
