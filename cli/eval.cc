// `attend eval`: scores a model, or a file of outputs, whoever made them, and word alignments; JSON on standard output.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/base/replacement.h"
#include "attend/data/alignment.h"
#include "attend/data/lines.h"
#include "attend/data/shallow_json.h"
#include "attend/data/utf8.h"
#include "attend/dist/company.h"
#include "attend/explain/alignment.h"
#include "attend/explain/heatmap.h"
#include "attend/explain/png.h"
#include "attend/models/glimpse.h"
#include "attend/tasks/explanation.h"
#include "attend/tasks/hearing.h"
#include "attend/train/agreement.h"
#include "attend/train/labels.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/model_argument.h"
#include "cli/progress.h"
#include "cli/quiet.h"

namespace attend::cli {
namespace {

namespace fs = std::filesystem;

struct EvalOptions {
  TestFlags test;
  bool labels = false;  // the model answers with labels
  std::string task, output, alignments, possible, answer, confusion, save_output, predictions;
  double alignment_threshold = 0, no_answer_threshold = 0;
  int64_t copies = 1;
  ThreadOption threads;

  template <class Visit>
  void fields(Visit&& visit) {
    test.fields(visit);
    if (!test.row) {
      visit("task", task, "whose scores: one of those that `attend list tasks` names",
            bounds::one_of(tasks::tasks(), {""}));
      visit("output", output,
            "outputs to score in place of a model's, one per line; of questions also JSON, {\"name\": \"answer\"}",
            bounds::files_to_read());
      visit("data", test.files.text.data, "their right answers in the task's own format, in place of --target",
            bounds::files_to_read());
    }
    if (test.is_pairs()) {
      visit("alignments", alignments,
            "word alignments to score in place of a model's, as 0-0 2-1, one sentence per line",
            bounds::files_to_read());
      visit("possible", possible, "word alignments that are possible, beside the sure ones of --gold",
            bounds::files_to_read());
      visit("alignment_threshold", alignment_threshold,
            "a model links all words with at least this weight; 0: each target word with its best source word",
            bounds::within(0, 1));
    }
    if (test.row && test.row->inputs.size() > 1) {
      visit("no_answer_threshold", no_answer_threshold,
            "networks that may give no answer: how much the score of one has to be above that; none: the model's own",
            bounds::within(-1e6, 1e6));
      visit("predictions", predictions,
            "file for the answers by the names of their questions, as SQuAD's scripts read them",
            bounds::file_to_write());
    }
    if (test.row) visit("answer", answer, "score this one answer to every example, to compare the model with");
    if (labels) {
      visit("confusion", confusion, "file for the confusion matrix as a picture: .svg or .png",
            bounds::file_to_write());
    }
    if (test.row && test.row->input().is_image()) {
      visit("copies", copies, "glimpse network: the mean of the answers of so many drawn episodes", bounds::layers());
    }
    visit("save_output", save_output, "file for the model's outputs", bounds::file_to_write());
    threads.fields(visit);
  }
};

std::vector<data::Links> read_links(const std::string& path) {
  std::vector<data::Links> links;
  for (const std::string& line : data::read_lines(path)) {
    links.push_back(data::parse_links(path + ":" + std::to_string(links.size() + 1), line));
  }
  return links;
}

void require_as_many(size_t first, const std::string& first_path, size_t second, const std::string& second_path) {
  const auto count = [](size_t lines, const std::string& path) {
    return std::to_string(lines) + (lines == 1 ? " line in " : " lines in ") + path;
  };
  require(first == second, "expected as many lines in both files, got ", count(first, first_path), " and ",
          count(second, second_path));
  require(first > 0, "expected at least one line, got none in ", first_path);
}

/// Possible links, where they are named.
std::vector<data::Links> read_possible(const EvalOptions& options, size_t sure) {
  if (options.possible.empty()) return {};
  std::vector<data::Links> possible = read_links(options.possible);
  require_as_many(possible.size(), options.possible, sure, options.test.files.gold);
  return possible;
}

nlohmann::ordered_json alignment_json(std::span<const data::Links> links, std::span<const data::Links> sure,
                                      std::span<const data::Links> possible) {
  const train::AlignmentScore score = train::alignment_score(links, sure, possible);
  return {{"aer", score.error_rate}, {"precision", score.precision}, {"recall", score.recall}, {"lines", links.size()}};
}

double percent(double value) { return std::round(value * 1e4) / 1e4; }

/// sacreBLEU takes a byte order mark for a letter of the first word; labels, tags and trees have none.
data::ByteOrderMark mark_for(const tasks::TaskRow& row) {
  const bool as_sacrebleu = std::ranges::any_of(row.scores, [](auto name) { return name == "bleu" || name == "chrf"; });
  return as_sacrebleu ? data::ByteOrderMark::kept : data::ByteOrderMark::dropped;
}

/// Of an example without a name, its number.
std::string prediction_name(const tasks::Example& example, int64_t number) {
  return example.name.empty() ? std::to_string(number) : example.name;
}

/// {"name": "answer"}, in the order of the examples.
std::vector<std::string> named_outputs(const std::string& path, const tasks::Examples& examples) {
  const nlohmann::json all = data::shallow_json(read_file(path, size_t{1} << 30), 1);
  require(all.is_object(), path, ": expected a JSON object {\"name of a question\": \"answer\"}, got something else");
  std::vector<std::string> outputs;
  for (int64_t i = 0; i < examples.count; ++i) {
    const std::string name = prediction_name(examples.at(i), i);
    const auto found = all.find(name);
    require(found != all.end() && found->is_string(), path, ": expected the answer to the question named ",
            quoted(name), ", got none");
    outputs.push_back(*found);
  }
  return outputs;
}

/// Outputs beside the right answers of files in the task's own format.
train::Judged judged_by_data(const EvalOptions& options, const tasks::TaskRow& row) {
  const tasks::TaskConfig config(SettingList{{"task", std::string(row.name), "--task"}});
  const tasks::Examples examples = tasks::read_test(config, options.test.files);
  train::Judged judged{.outputs = fs::path(options.output).extension() == ".json"
                                      ? named_outputs(options.output, examples)
                                      : data::read_lines(options.output)};
  for (int64_t i = 0; i < examples.count; ++i) tasks::add_example(examples.at(i), judged);
  require_as_many(judged.outputs.size(), options.output, judged.right.size(), options.test.files.text.data.at(0));
  return judged;
}

train::Judged judged_by_lines(const EvalOptions& options, const tasks::TaskRow& row) {
  const data::ByteOrderMark mark = mark_for(row);
  train::Judged judged{.outputs = data::read_lines(options.output, mark)};
  const std::string& target = options.test.files.text.target.at(0);
  for (std::string& line : data::read_lines(target, mark)) judged.right.push_back({std::move(line)});
  require_as_many(judged.outputs.size(), options.output, judged.right.size(), target);
  return judged;
}

/// Outputs and alignments of files, whoever made them.
nlohmann::ordered_json score_files(const EvalOptions& options, const train::BleuOptions& bleu) {
  nlohmann::ordered_json report = nlohmann::ordered_json::object();
  const tasks::TaskRow& row = options.task.empty() ? tasks::tasks()[0] : tasks::task_named(options.task);
  if (!options.output.empty()) {
    const train::Judged judged =
        options.test.files.text.data.empty() ? judged_by_lines(options, row) : judged_by_data(options, row);
    report = train::report_of(row.scores, judged, bleu);
    report["lines"] = judged.outputs.size();
  }
  if (options.alignments.empty()) return report;
  const std::vector<data::Links> links = read_links(options.alignments), gold = read_links(options.test.files.gold);
  require_as_many(links.size(), options.alignments, gold.size(), options.test.files.gold);
  report["alignment"] = alignment_json(links, gold, read_possible(options, gold.size()));
  return report;
}

void add_gaze(const tasks::TaskModel& model, const tasks::Examples& examples, nlohmann::ordered_json& json) {
  Progress bar("where words looked", static_cast<long>(examples.count));
  const auto show = [&](int64_t done) { bar.show(static_cast<long>(done), ""); };
  const explain::Gaze looked = tasks::gaze(model, examples, show);
  json["attention_on_object"] = percent(looked.on_object());
  json["on_object_by_chance"] = percent(looked.by_chance());
}

void add_times(const tasks::TaskModel& model, const tasks::Examples& examples, nlohmann::ordered_json& json) {
  for (const tasks::HeardBy by : tasks::heard_by(model)) {
    Progress bar("when words were said", static_cast<long>(examples.count));
    const auto show = [&](int64_t done) { bar.show(static_cast<long>(done), ""); };
    const tasks::TimeErrors errors = tasks::time_errors(model, examples, by, show);
    json["times_ms"][by == tasks::HeardBy::ctc ? "ctc" : "attention"] = {{"middle", percent(1000 * errors.middle)},
                                                                         {"outside", percent(1000 * errors.outside)},
                                                                         {"boundary", percent(1000 * errors.boundary)},
                                                                         {"words", errors.words}};
  }
}

void add_support(const tasks::TaskModel& model, const tasks::Examples& examples, nlohmann::ordered_json& json) {
  Progress bar("which sentences were read", static_cast<long>(examples.count));
  const auto show = [&](int64_t done) { bar.show(static_cast<long>(done), ""); };
  const tasks::Support read = tasks::support(model, examples, show);
  json["most_read_supports"] = percent(read.read);
  json["supports_by_chance"] = percent(read.by_chance);
}

void save_outputs(const std::string& path, const tasks::Scored& scored, bool titles) {
  std::string text;
  for (size_t i = 0; i < scored.judged.outputs.size(); ++i) {
    text += (titles ? scored.titles[i] + "\t" : "") + data::on_one_line(scored.judged.outputs[i]) + "\n";
  }
  write_file(path, text);
}

void save_predictions(const std::string& path, const tasks::Examples& examples, const tasks::Scored& scored) {
  nlohmann::ordered_json all = nlohmann::ordered_json::object();
  for (size_t i = 0; i < scored.judged.outputs.size(); ++i) {
    const auto number = static_cast<int64_t>(i);
    all[prediction_name(examples.at(number), number)] = scored.judged.outputs[i];
  }
  write_file(path, all.dump(2) + "\n");
}

/// How often each label (rows) was taken for each (columns), in shares of its row.
void draw_confusion(const fs::path& path, const train::Judged& judged) {
  const train::LabelScores scores = train::label_scores(judged.outputs, judged.references());
  const int64_t labels = static_cast<int64_t>(scores.labels.size());
  explain::Grid grid{Tensor::zeros({labels, labels}), scores.labels, scores.labels, {.most = 1}, "confusion"};
  for (int64_t r = 0; r < labels; ++r) {
    const auto& row = scores.confusion[static_cast<size_t>(r)];
    const double sum = static_cast<double>(std::accumulate(row.begin(), row.end(), int64_t{0}));
    for (int64_t c = 0; c < labels && sum > 0; ++c) {
      grid.values.data()[r * labels + c] = static_cast<real>(static_cast<double>(row[static_cast<size_t>(c)]) / sum);
    }
  }
  const std::string svg = explain::svg_heatmap(grid);
  path.extension() == ".png" ? explain::write_png(path, svg) : write_file(path, svg);
}

tasks::Scored answered(const tasks::TaskModel& model, const tasks::Examples& examples,
                       const tasks::AnswerOptions& answer, train::Company& company) {
  Progress bar(model.row().input().is_image() ? "looking" : "answering", static_cast<long>(examples.count));
  tasks::EvaluateOptions how{.answer = answer, .loss = !model.row().input().streamed, .company = &company};
  how.align = model.row().input().streamed && tasks::has_links(examples) && explain::attends_to_source(model.model());
  how.done = [&](int64_t done) { bar.show(static_cast<long>(done), ""); };
  return tasks::evaluate(model, examples, how);
}

nlohmann::ordered_json score_model(const tasks::TaskModel& model, const EvalOptions& options,
                                   const tasks::AnswerOptions& answer, const train::BleuOptions& bleu,
                                   train::Company& company) {
  const bool text = options.test.is_text(), given = !options.answer.empty();
  const tasks::Examples examples = tasks::read_test(model.config(), options.test.files, model.output().labels());
  const tasks::Scored scored =
      given ? tasks::evaluate_answer(model, examples, options.answer) : answered(model, examples, answer, company);
  if (!company.leads()) return {};  // what follows takes no time, or cannot be shared
  nlohmann::ordered_json report = nlohmann::ordered_json::object();
  if (!text) report[std::string(model.row().input().several)] = scored.examples;
  if (!text && !given) report["loss"] = scored.loss;
  if (!scored.judged.outputs.empty()) report.update(train::report_of(model.row().scores, scored.judged, bleu));
  if (text) report["lines"] = scored.examples;
  if (!scored.links.empty()) {
    report["alignment"] = alignment_json(scored.links, scored.gold, read_possible(options, scored.gold.size()));
  }
  if (!given && tasks::has_gaze(model, examples)) add_gaze(model, examples, report);
  if (!given && tasks::has_support(model, examples)) add_support(model, examples, report);
  if (!given && tasks::has_times(model, examples)) add_times(model, examples, report);
  if (!options.confusion.empty()) draw_confusion(options.confusion, scored.judged);
  if (!options.save_output.empty()) save_outputs(options.save_output, scored, !text);
  if (!options.predictions.empty()) save_predictions(options.predictions, examples, scored);
  return report;
}

/// What is wrong with these flags together; "" if nothing is.
std::string objection(bool model, const EvalOptions& o) {
  const tasks::TestFiles& files = o.test.files;
  if (!o.possible.empty() && files.gold.empty()) return "--possible needs --gold";
  const std::string ending = fs::path(o.confusion).extension().string();
  if (!o.confusion.empty() && ending != ".svg" && ending != ".png") {
    return "--confusion: expected a file that ends in .svg or .png, got " + o.confusion;
  }
  if (model) {
    if (!o.alignments.empty()) return "--alignments scores a file in place of a model: name one or the other";
    return o.test.objection();
  }
  if (o.output.empty() && o.alignments.empty()) {
    return "name a model's folder, --output and --target, or --alignments and --gold";
  }
  if (!files.text.source.empty()) return "--source needs a model's folder before it";
  if (!files.text.data.empty()) {
    if (o.task.empty()) return "--data needs --task, whose format it is in";
    if (!files.text.target.empty()) return "--data or --target, not both";
    if (o.output.empty()) return "--data without a model's folder needs --output";
    if (tasks::task_named(o.task).format == "pairs")
      return "--data: the files of " + o.task + " are pairs; name --target";
  } else if (o.output.empty() != files.text.target.empty()) {
    return "--output and --target go together";
  }
  if (o.alignments.empty() != files.gold.empty()) return "--alignments and --gold go together";
  return "";
}

/// Sets how many episodes of a glimpse network are averaged.
void set_copies(tasks::TaskModel& model, int64_t copies) {
  auto* network = dynamic_cast<models::GlimpseNetwork*>(&model.model());
  require(network != nullptr, "copies: expected a glimpse network, got ", model.config().model.name);
  try {
    network->set_copies_in_use(copies);
  } catch (const OptionError& error) {
    fail_usage("--copies: ", error.reason());
  }
}

nlohmann::ordered_json score_loaded(const ModelArgument& given, const EvalOptions& options,
                                    const tasks::AnswerOptions& answer, const train::BleuOptions& bleu, bool copies,
                                    train::Company& company) {
  tasks::TaskModel model = given.load();
  if (copies) set_copies(model, options.copies);
  return score_model(model, options, answer, bleu, company);
}

}  // namespace

int eval(int argc, char** argv) {
  const ModelArgument given = model_argument(argc, argv);
  std::string folder;
  EvalOptions options{.test = {.row = given.row()}};
  options.labels = given.config && &given.config->output() == &tasks::kLabelOutput;
  train::BleuOptions bleu;
  tasks::AnswerOptions answer;
  answer.search = given.search();
  Flags flags("eval",
              "scores a model, or outputs that anyone made, with the scores of its task (which files it takes depends "
              "on the task: attend eval DIR --help)");
  flags.argument("DIR", folder, "folder of the model", false).options("files", options);
  if (!given.config || (!given.row()->scores.empty() && given.row()->scores[0] == "bleu")) flags.options("BLEU", bleu);
  flags.options("search", answer.search);
  if (!given.config) flags.defaults_are(kModelsOwn);
  if (const auto code = flags.parse(argc, argv)) return *code;
  if (given.config || !folder.empty()) require_first(given, folder);
  complete_search(flags, answer.search);
  const bool copies = flags.given("copies");
  if (copies && given.config->model.name != "glimpse") {
    return flags.refuse("--copies is for glimpse networks, got " + given.config->model.name);
  }
  const std::string wrong = objection(given.config.has_value(), options);
  if (!wrong.empty()) return flags.refuse(wrong);
  flags.check_files();
  options.threads.apply();
  answer.threshold = options.alignment_threshold;
  if (flags.given("no_answer_threshold")) answer.no_answer = options.no_answer_threshold;
  const std::unique_ptr<train::Company> company = dist::company();
  if (!company->leads()) set_quiet(true);
  nlohmann::ordered_json report;
  flags.check([&] {  // of a search for which there is no memory
    report = given.config ? score_loaded(given, options, answer, bleu, copies, *company) : score_files(options, bleu);
  });
  if (company->leads()) std::cout << report.dump(2) << '\n';
  return 0;
}

}  // namespace attend::cli
