#include "attend/tasks/comparison.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "attend/base/error.h"
#include "attend/base/folder_file.h"
#include "attend/base/joined.h"
#include "attend/base/replacement.h"
#include "attend/explain/alignment.h"
#include "attend/explain/grid.h"
#include "attend/explain/heard.h"
#include "attend/explain/heatmap.h"
#include "attend/explain/image_picture.h"
#include "attend/explain/picture.h"
#include "attend/tasks/explanation.h"
#include "attend/tasks/model_folder.h"
#include "attend/train/events.h"

namespace attend::tasks {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kCache = "compare.json";
constexpr size_t kMostCached = size_t{1} << 30, kMostLogBytes = size_t{1} << 30;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// A number that changes with any of the examples' titles, answers and links.
std::string fingerprint_of(const Examples& examples) {
  std::string all;
  for (int64_t i = 0; i < examples.count; ++i) {
    const Example one = examples.at(i);
    for (size_t k = 0; k + 1 < one.inputs.size(); ++k) all += std::get<std::string>(one.inputs[k]) + '\n';
    all += one.title() + '\n' + data::print_links(one.links) + '\n';
    for (const std::string& right : one.right) all += right + '\n';
  }
  return std::to_string(train::crc32c(all)) + "-" + std::to_string(all.size());
}

/// What the answers depend on: they are made again where any of it has changed.
json key_of(const fs::path& folder, const TestSet& test, std::span<const size_t> shown) {
  const fs::path weights = folder / "weights.safetensors";
  require(fs::exists(weights), folder.string(), ": not a trained model, as it has no weights.safetensors");
  return {{"weights_bytes", fs::file_size(weights)},
          {"weights_time", fs::last_write_time(weights).time_since_epoch().count()},
          {"config", train::crc32c(read_file(file_within(folder, kConfig), size_t{1} << 20))},
          {"examples", test.fingerprint},
          {"shown", std::vector<size_t>(shown.begin(), shown.end())}};
}

void save(const fs::path& path, const json& key, const Measured& measured) {
  json links = json::array(), shown = json::array();
  for (const data::Links& one : measured.links) links.push_back(data::print_links(one));
  for (const ShownAnswer& one : measured.shown) {
    shown.push_back({{"number", one.number},
                     {"title", one.title},
                     {"reference", one.reference},
                     {"text", one.text},
                     {"picture", one.picture}});
  }
  const json all{{"key", key},
                 {"parameters", measured.parameters},
                 {"outputs", measured.judged.outputs},
                 {"right", measured.judged.right},
                 {"links", links},
                 {"shown", shown}};
  write_file(path, all.dump() + "\n");
}

/// What was saved with that key; nothing where there is no file, or its key differs.
std::optional<Measured> kept(const fs::path& path, const json& key) {
  if (!fs::exists(path)) return {};
  try {
    const json all = json::parse(read_file(path, kMostCached));
    if (all.at("key") != key) return {};
    Measured measured;
    all.at("outputs").get_to(measured.judged.outputs);
    all.at("right").get_to(measured.judged.right);
    all.at("parameters").get_to(measured.parameters);
    for (const json& line : all.at("links")) {
      measured.links.push_back(data::parse_links(path.string(), line.get<std::string>()));
    }
    for (const json& one : all.at("shown")) {
      measured.shown.push_back({one.at("number"), one.at("title"), one.at("reference"), one.at("text"),
                                one.at("picture")});
    }
    return measured;
  } catch (const std::exception&) {  // damaged: made again
    return {};
  }
}

/// Where the model looked when it answered, as SVG.
std::string picture_of(const TaskModel& model, const Explanation& found) {
  if (const auto* look = std::get_if<explain::ImageLook>(&found)) return explain::svg_picture(*look);
  const auto& trace = std::get<explain::Trace>(found);
  const std::string level = model.config().reads_characters() ? "tokens" : "words";
  if (explain::is_sound(trace)) return explain::svg_picture(trace, {.level = level});
  explain::Grid grid = map_grid(trace, trace.maps.at(0), level);
  grid.look.most = 1;
  return explain::svg_heatmap(grid);
}

ShownAnswer shown_of(const TaskModel& model, const Example& example, size_t number, const AnswerOptions& answer,
                     const std::string& method) {
  ShownAnswer shown{number, example.title(), example.right.empty() ? "" : example.right[0], "", ""};
  shown.text = model.answer(std::span(&example, 1), answer).at(0).at(0).text;
  if (method.empty()) return shown;
  ExplainOptions how;
  how.method = method, how.search = answer.search;
  try {
    shown.picture = picture_of(model, explain(model, example, how));
  } catch (const Error&) {  // a text that is answered in parts has no picture
  }
  return shown;
}

/// What a model is shown by: attention, or the first method for images; "" where it does not attend.
std::string shown_method(const TaskModel& model, const Explainable& known) {
  if (known.attends()) return "attention";
  return model.row().input().streamed || known.methods.empty() ? "" : known.methods[0];
}

Measured made(const fs::path& folder, const TestSet& test, std::span<const size_t> shown, const Done& done) {
  const TaskModel model = TaskModel::load(folder);
  const Explainable known = explainable(model);
  EvaluateOptions how;
  how.align = has_links(test.examples) && explain::attends_to_source(model.model()), how.done = done;
  how.answer.search = model.config().options.search;
  Scored scored = evaluate(model, test.examples, how);
  Measured measured{.judged = std::move(scored.judged), .links = std::move(scored.links)};
  measured.parameters = model.parameters();
  for (const size_t number : shown) {
    const Example example = test.examples.at(static_cast<int64_t>(number));
    measured.shown.push_back(shown_of(model, example, number, how.answer, shown_method(model, known)));
  }
  return measured;
}

void score(Measured& measured, const TaskRow& row, const TestSet& test) {
  train::Judged about;
  for (int64_t i = 0; i < static_cast<int64_t>(measured.judged.outputs.size()); ++i) {
    add_example(test.examples.at(i), about);
  }
  measured.judged.sources = std::move(about.sources), measured.judged.groups = std::move(about.groups);
  for (const std::string_view name : row.scores) {
    const double value = measured.judged.outputs.empty() ? kNone : train::score_named(name).score(measured.judged);
    if (!std::isnan(value)) measured.scores[std::string(name)] = value;
  }
  if (measured.links.empty()) return;
  std::vector<data::Links> gold;
  for (int64_t i = 0; i < test.examples.count; ++i) gold.push_back(test.examples.at(i).links);
  measured.alignment = train::alignment_score(measured.links, gold);
}

double number_or_none(const json& entry, std::string_view name) {
  const auto found = entry.find(name);
  return found != entry.end() && found->is_number() ? found->get<double>() : kNone;
}

}  // namespace

TestSet test_set(const TaskConfig& config, const TestFiles& files) {
  const TaskOptions& o = config.options;
  TestSet test;
  if (files.named()) {
    test.name = files.shown();
    test.examples = read_test(config, files);
  } else if (!o.corpus.empty()) {
    test = {"held-out examples of the built-in corpus " + o.corpus, read_test(config, {}), ""};
  } else {
    TestFiles valid{.text = o.valid_text};
    valid.sounds = o.sound, valid.sounds.sounds = o.sound.valid_sounds;
    valid.images = o.images, valid.images.images = o.images.valid_images;
    valid.images.labels = o.images.valid_labels, valid.images.names = o.images.valid_names;
    if (valid.images.images.empty() && !o.images.valid_names.empty()) valid.images.images = o.images.images;
    require_usage(valid.named(), "--", config.row().input().files[0],
                  ": name files to score with, as the recipe names no validation files");
    test = {"the validation files " + valid.shown(), read_test(config, valid), ""};
  }
  test.fingerprint = fingerprint_of(test.examples);
  return test;
}

std::vector<int64_t> source_lengths(const Examples& examples, bool letters) {
  std::vector<int64_t> lengths;
  for (int64_t i = 0; i < examples.count; ++i) {
    if (examples.length) {  // of sounds, which need not be read for that
      lengths.push_back(train::length_of(examples.right(i).at(0), false));
      continue;
    }
    const Example one = examples.at(i);
    const auto* text = std::get_if<std::string>(&one.inputs.at(0));
    if (!text) return {};
    lengths.push_back(train::length_of(*text, letters));
  }
  return lengths;
}

std::vector<size_t> examples_to_show(const Examples& examples, size_t count) {
  const bool documents = examples.count > 0 && examples.at(0).inputs.size() > 1;
  const int64_t most_words = documents ? 200 : 16;
  const std::vector<int64_t> lengths = source_lengths(examples, false);
  std::vector<size_t> places;
  for (size_t i = 0; i < static_cast<size_t>(examples.count); ++i) {
    if (lengths.empty() || (lengths[i] > 0 && lengths[i] <= most_words)) places.push_back(i);
  }
  if (!lengths.empty()) std::ranges::stable_sort(places, {}, [&](size_t i) { return lengths[i]; });
  std::vector<size_t> chosen;
  for (size_t k = 0; k < count && k < places.size(); ++k) {  // the middle of each third
    chosen.push_back(places[(2 * k + 1) * places.size() / (2 * std::min(count, places.size()))]);
  }
  return chosen;
}

Measured measure(const fs::path& folder, const TestSet& test, std::span<const size_t> shown, const Done& done) {
  require(test.examples.count > 0, "measure: expected at least one example, got none from ", test.name);
  const json key = key_of(folder, test, shown);
  std::optional<Measured> measured = kept(folder / kCache, key);
  if (!measured) {
    measured = made(folder, test, shown, done);
    save(folder / kCache, key, *measured);
  }
  score(*measured, read_config(folder).row(), test);
  return *measured;
}

Curve read_curve(const fs::path& folder, const train::ScoreRow& score) {
  Curve curve;
  std::ifstream in(file_within(folder, "log.jsonl", kMostLogBytes));
  double seconds = 0;
  for (std::string line; std::getline(in, line);) {
    const json entry = json::parse(line, nullptr, false);
    if (!entry.is_object()) continue;  // the last line of a run that was killed
    if (entry.contains("seconds")) seconds = number_or_none(entry, "seconds");
    if (!entry.contains("valid_loss")) continue;
    const double step = number_or_none(entry, "step");
    if (!curve.steps.empty() && curve.steps.back() == step) continue;  // the mean of weights, tried in the end
    curve.steps.push_back(step), curve.minutes.push_back(seconds / 60);
    curve.loss.push_back(number_or_none(entry, "valid_loss"));
    curve.score.push_back(number_or_none(entry, score.name));
  }
  return curve;
}

}  // namespace attend::tasks
