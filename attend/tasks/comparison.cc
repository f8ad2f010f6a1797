#include "attend/tasks/comparison.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/base/replacement.h"
#include "attend/explain/grid.h"
#include "attend/explain/heatmap.h"
#include "attend/explain/image_picture.h"
#include "attend/tasks/explanation.h"
#include "attend/tasks/model_folder.h"
#include "attend/train/events.h"

namespace attend::tasks {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kCache = "compare.json";
constexpr size_t kMostCached = size_t{1} << 30;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

int64_t words_in(std::string_view text) {
  int64_t words = 0;
  bool before = true;  // a blank
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\t';
    words += before && !blank ? 1 : 0;
    before = blank;
  }
  return words;
}

int64_t letters_in(std::string_view text) {
  return std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

/// Lengths at which a group ends, from coarse to fine.
const std::vector<int64_t> kBounds[] = {
    {10, 15, 20, 30, 40, 60, 80, 120}, {5, 10, 15, 20, 25, 30},         {3, 6, 9, 12, 15, 18},
    {2, 4, 6, 8, 10, 12, 14},          {1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
};

/// From the front: a group ends at the first bound at which it has enough; what is left over joins the last one.
std::vector<LengthGroup> groups_at(std::span<const int64_t> bounds, std::span<const int64_t> lengths, int64_t least) {
  std::vector<LengthGroup> groups;
  const int64_t longest = *std::ranges::max_element(lengths);
  const auto counted = [&](LengthGroup group) {
    group.count = std::ranges::count_if(lengths, [&](int64_t n) { return group.has(n); });
    return group;
  };
  int64_t first = 1;
  for (const int64_t bound : bounds) {
    if (bound >= longest) break;
    const LengthGroup group = counted({first, bound});
    if (group.count < least) continue;
    groups.push_back(group);
    first = bound + 1;
  }
  const LengthGroup rest = counted({first, {}});
  if (rest.count >= least || groups.empty()) {
    groups.push_back(rest);
  } else {
    groups.back() = counted({groups.back().first, {}});
  }
  groups.front().first = std::max<int64_t>(1, *std::ranges::min_element(lengths));
  return groups;
}

bool reads_letters(const TaskConfig& config) { return config.options.tokeniser.kind == "characters"; }

/// A number that changes with any of the examples' titles, answers and links.
std::string fingerprint_of(const Examples& examples) {
  std::string all;
  for (int64_t i = 0; i < examples.count; ++i) {
    const Example one = examples.at(i);
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
          {"config", train::crc32c(read_file(folder / kConfig, size_t{1} << 20))},
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

/// What was kept under that key; nothing where there is none, or it belongs to another one.
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
  explain::Grid grid = map_grid(trace, trace.maps.at(0), reads_letters(model.config()) ? "tokens" : "words");
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

bool has_links(const Examples& examples) {
  for (int64_t i = 0; i < examples.count; ++i) {
    if (!examples.at(i).links.empty()) return true;
  }
  return false;
}

Measured made(const fs::path& folder, const TestSet& test, std::span<const size_t> shown, const Done& done) {
  const TaskModel model = TaskModel::load(folder);
  const Explainable known = explainable(model);
  EvaluateOptions how;
  how.align = known.attends() && has_links(test.examples), how.done = done;
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
  for (const std::string_view name : row.scores) {
    const double value = measured.judged.outputs.empty() ? kNone : score_named(name).score(measured.judged);
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
    for (const std::string& name : files.text.all()) test.name += (test.name.empty() ? "" : " and ") + name;
    if (test.name.empty()) test.name = files.images.images;
    test.examples = read_test(config, files);
  } else if (!o.corpus.empty()) {
    test = {"held-out examples of the built-in corpus " + o.corpus, read_test(config, {}), ""};
  } else {
    TestFiles valid{.text = o.valid_text};
    valid.images = o.images, valid.images.images = o.images.valid_images;
    valid.images.labels = o.images.valid_labels, valid.images.names = o.images.valid_names;
    if (valid.images.images.empty() && !o.images.valid_names.empty()) valid.images.images = o.images.images;
    require(valid.named(), config.row().input().files[0],
            ": name files to score with, as the recipe names no validation files");
    std::string names;
    for (const std::string& name : valid.text.all()) names += (names.empty() ? "" : ", ") + name;
    test = {"the validation files " + (names.empty() ? valid.images.images : names), read_test(config, valid), ""};
  }
  test.fingerprint = fingerprint_of(test.examples);
  return test;
}

std::string LengthGroup::text() const {
  if (!last) return std::to_string(first) + "+";
  return *last == first ? std::to_string(first) : std::to_string(first) + "–" + std::to_string(*last);
}

std::vector<LengthGroup> length_groups(std::span<const int64_t> lengths, int64_t least) {
  constexpr size_t kWanted = 4;
  if (lengths.empty()) return {};
  std::vector<LengthGroup> best;
  for (const std::vector<int64_t>& bounds : kBounds) {
    std::vector<LengthGroup> groups = groups_at(bounds, lengths, least);
    if (groups.size() > best.size()) best = std::move(groups);
    if (best.size() >= kWanted) break;
  }
  return best;
}

std::vector<int64_t> source_lengths(const Examples& examples, bool letters) {
  std::vector<int64_t> lengths;
  for (int64_t i = 0; i < examples.count; ++i) {
    const Example one = examples.at(i);
    const auto* text = std::get_if<std::string>(&one.inputs.at(0));
    if (!text) return {};
    lengths.push_back(letters ? letters_in(*text) : words_in(*text));
  }
  return lengths;
}

std::vector<double> score_by_length(const ScoreRow& score, const Judged& judged, std::span<const int64_t> lengths,
                                    std::span<const LengthGroup> groups) {
  require(judged.outputs.size() == lengths.size(), "score_by_length: expected ", lengths.size(), " outputs, got ",
          judged.outputs.size());
  std::vector<double> scores;
  for (const LengthGroup& group : groups) {
    Judged some;
    for (size_t i = 0; i < lengths.size(); ++i) {
      if (group.has(lengths[i])) some.outputs.push_back(judged.outputs[i]), some.right.push_back(judged.right[i]);
    }
    scores.push_back(some.outputs.empty() ? kNone : score.score(some));
  }
  return scores;
}

std::vector<size_t> examples_to_show(const Examples& examples, size_t count) {
  constexpr int64_t kMostWords = 16;
  const std::vector<int64_t> lengths = source_lengths(examples, false);
  std::vector<size_t> places;
  for (size_t i = 0; i < static_cast<size_t>(examples.count); ++i) {
    if (lengths.empty() || (lengths[i] > 0 && lengths[i] <= kMostWords)) places.push_back(i);
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
  score(*measured, task_of(read_config(folder)), test);
  return *measured;
}

Curve read_curve(const fs::path& folder, const ScoreRow& score) {
  Curve curve;
  std::ifstream in(folder / "log.jsonl");
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
