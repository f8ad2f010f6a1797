#include "attend/tasks/comparison.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/base/recipe.h"
#include "attend/base/replacement.h"
#include "attend/data/pairs.h"
#include "attend/explain/alignment.h"
#include "attend/explain/grid.h"
#include "attend/tasks/explanation.h"
#include "attend/tasks/task.h"
#include "attend/train/bleu.h"
#include "attend/train/chrf.h"
#include "attend/train/events.h"

namespace attend::tasks {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kCache = "compare.json";
constexpr size_t kMostCached = size_t{1} << 30;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::vector<TextPair> read_pairs(data::PairFiles files) {
  data::PairReader reader(std::move(files));
  std::vector<TextPair> pairs;
  for (data::Pair pair; reader.next(pair);) pairs.push_back({pair.source, pair.target, {}});
  return pairs;
}

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

bool reads_letters(const TextConfig& config) { return config.options.tokeniser.kind == "characters"; }

/// A number that changes with any of the sentences.
std::string fingerprint(const TestSet& test, std::span<const size_t> shown) {
  std::string all;
  for (const TextPair& pair : test.pairs) {
    all += pair.source + '\n' + pair.target + '\n' + data::print_links(pair.links) + '\n';
  }
  for (const size_t i : shown) all += std::to_string(i) + ' ';
  return std::to_string(train::crc32c(all)) + "-" + std::to_string(all.size());
}

/// What the translations hang on: they are made again where any of it has changed.
json key_of(const fs::path& folder, const TestSet& test, std::span<const size_t> shown) {
  const fs::path weights = folder / "weights.safetensors";
  require(fs::exists(weights), folder.string(),
          ": a trained model is wanted, got a folder without weights.safetensors");
  return {{"weights_bytes", fs::file_size(weights)},
          {"weights_time", fs::last_write_time(weights).time_since_epoch().count()},
          {"config", train::crc32c(read_file(folder / kConfig, size_t{1} << 20))},
          {"sentences", fingerprint(test, shown)},
          {"shown_by", reads_letters(TextConfig(read_recipe(folder / kConfig))) ? "letters" : "words"}};
}

json json_of(const ShownAnswer& shown) {
  const Answer& a = shown.answer;
  json weights = json::array();
  if (a.weights.defined()) {
    for (const real w : a.weights.values()) weights.push_back(std::round(1e4 * static_cast<double>(w)) / 1e4);
  }
  return {{"number", shown.number}, {"text", a.text}, {"source", a.source}, {"target", a.target}, {"weights", weights}};
}

ShownAnswer shown_of(const json& entry) {
  ShownAnswer shown{entry.at("number").get<size_t>(), {}};
  Answer& a = shown.answer;
  a.text = entry.at("text").get<std::string>();
  entry.at("source").get_to(a.source), entry.at("target").get_to(a.target);
  std::vector<real> weights;
  entry.at("weights").get_to(weights);
  require(weights.empty() || weights.size() == a.source.size() * a.target.size(), "weights of another shape");
  if (weights.empty()) return shown;
  a.weights = Tensor::of({static_cast<int64_t>(a.target.size()), static_cast<int64_t>(a.source.size())}, weights);
  return shown;
}

void save(const fs::path& path, const json& key, const Measured& measured) {
  json links = json::array(), shown = json::array();
  for (const data::Links& one : measured.links) links.push_back(data::print_links(one));
  for (const ShownAnswer& one : measured.shown) shown.push_back(json_of(one));
  const json all{{"key", key},
                 {"parameters", measured.parameters},
                 {"outputs", measured.outputs},
                 {"links", links},
                 {"shown", shown}};
  write_file(path, all.dump() + "\n");
}

/// What was kept under that key; nothing where it is of another one, or no such file.
std::optional<Measured> kept(const fs::path& path, const json& key, size_t sentences) {
  if (!fs::exists(path)) return {};
  try {
    const json all = json::parse(read_file(path, kMostCached));
    if (all.at("key") != key) return {};
    Measured measured;
    all.at("outputs").get_to(measured.outputs);
    all.at("parameters").get_to(measured.parameters);
    for (const json& line : all.at("links")) {
      measured.links.push_back(data::parse_links(path.string(), line.get<std::string>()));
    }
    for (const json& entry : all.at("shown")) measured.shown.push_back(shown_of(entry));
    if (measured.outputs.size() != sentences) return {};
    return measured;
  } catch (const std::exception&) {  // damaged: made again
    return {};
  }
}

/// With the weights between letters: between words, a text of one word has one weight, and that is 1.
Answer answer_by_letters(const TextModel& model, const std::string& text, const decode::SearchOptions& search) {
  ExplainOptions how;
  how.method = "attention", how.search = search;
  const explain::Trace trace = explain(model, text, how);
  const explain::Grid letters = map_grid(trace, trace.maps[0], "tokens");
  const auto rows =
      static_cast<int64_t>(trace.token_log_probabilities.size()) - (trace.ended ? 1 : 0);  // not the end's
  Answer answer{.text = trace.target.text, .score = trace.score, .log_probability = trace.log_probability};
  answer.source = letters.columns, answer.target = {letters.rows.begin(), letters.rows.begin() + rows};
  const auto columns = static_cast<int64_t>(letters.columns.size());
  answer.weights = Tensor({rows, columns});
  std::copy_n(letters.values.data(), rows * columns, answer.weights.data());
  return answer;
}

Measured made(const fs::path& folder, const TestSet& test, std::span<const size_t> shown, const Told& told) {
  TextModel model = TextModel::load(folder);
  const bool attends = explain::attends_to_source(model.model());
  const bool gold = std::ranges::any_of(test.pairs, [](const TextPair& pair) { return !pair.links.empty(); });
  AnswerOptions options{.search = model.config().options.search, .align = attends && gold};
  Translations all = translate(model, test.pairs, options, told);
  Measured measured{.outputs = std::move(all.outputs)};
  if (options.align) measured.links = std::move(all.links);
  for (const nn::NamedParam& p : nn::parameters(model.model())) {
    measured.parameters += static_cast<int64_t>(p.var.size());
  }
  options.align = attends;
  for (const size_t number : shown) {
    const std::vector<std::string> line{test.pairs[number].source};
    const bool letters = attends && reads_letters(model.config()) && model.parts(line[0]).size() == 1;
    measured.shown.push_back({number, letters ? answer_by_letters(model, line[0], options.search)
                                              : model.answer(line, options).at(0).at(0)});
  }
  return measured;
}

void score(Measured& measured, const TestSet& test) {
  std::vector<std::string> references;
  std::vector<data::Links> gold;
  for (const TextPair& pair : test.pairs) references.push_back(pair.target), gold.push_back(pair.links);
  measured.bleu = train::bleu(measured.outputs, references).score;
  measured.chrf = train::chrf(measured.outputs, references);
  measured.exact = train::exact_match(measured.outputs, references);
  if (!measured.links.empty()) measured.alignment = train::alignment_score(measured.links, gold);
}

double number_or_none(const json& entry, std::string_view name) {
  const auto found = entry.find(name);
  return found != entry.end() && found->is_number() ? found->get<double>() : kNone;
}

constexpr ScoreRow kScores[] = {
    {"bleu", "BLEU", "BLEU",
     [](std::span<const std::string> outputs, std::span<const std::string> references) {
       return train::bleu(outputs, references).score;
     }},
    {"exact", "Exact match", "exact match, %",
     [](std::span<const std::string> outputs, std::span<const std::string> references) {
       return 100 * train::exact_match(outputs, references);
     }},
};

}  // namespace

std::span<const ScoreRow> comparison_scores() { return kScores; }

const ScoreRow& score_of_task(std::string_view task) {
  const TaskRow& row = row_named("task", tasks(), task);
  return row_named("score", comparison_scores(), row.score);
}

TestSet test_files(const std::string& source, const std::string& target, const std::string& gold) {
  TestSet test{source + " and " + target, read_pairs({{source}, {target}, {}})};
  if (gold.empty()) return test;
  const std::vector<std::string> lines = data::read_lines(gold);
  require(lines.size() == test.pairs.size(), gold, ": as many lines of word alignments as sentences are wanted, ",
          test.pairs.size(), ", got ", lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    test.pairs[i].links = data::parse_links(gold + ":" + std::to_string(i + 1), lines[i]);
  }
  return test;
}

TestSet test_of(const TextConfig& config) {
  const TextOptions& o = config.options;
  if (!o.corpus.empty()) {
    return {"held-out sentences of the built-in corpus " + o.corpus, builtin_test(config)};
  }
  require(!o.valid_source.empty() || !o.valid_tsv.empty(),
          "--source and --target are wanted, files to score with: the recipe names no validation files");
  data::PairFiles files{{o.valid_source.begin(), o.valid_source.end()},
                        {o.valid_target.begin(), o.valid_target.end()},
                        {o.valid_tsv.begin(), o.valid_tsv.end()}};
  std::string names;
  for (const auto* list : {&o.valid_source, &o.valid_target, &o.valid_tsv}) {
    for (const std::string& name : *list) names += (names.empty() ? "" : ", ") + name;
  }
  return {"the validation files " + names, read_pairs(std::move(files))};
}

Translations translate(const TextModel& model, std::span<const TextPair> pairs, const AnswerOptions& options,
                       const Told& told) {
  constexpr size_t kAtOnce = 256;  // in pieces, so that a bar moves
  Translations all;
  for (size_t at = 0; at < pairs.size(); at += kAtOnce) {
    std::vector<std::string> lines;
    for (const TextPair& pair : pairs.subspan(at, std::min(kAtOnce, pairs.size() - at))) lines.push_back(pair.source);
    for (const std::vector<Answer>& answers : model.answer(lines, options)) {
      all.outputs.push_back(answers.at(0).text), all.links.push_back(answers.at(0).links);
    }
    if (told) told(all.outputs.size());
  }
  return all;
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

std::vector<int64_t> source_lengths(std::span<const TextPair> pairs, bool letters) {
  std::vector<int64_t> lengths;
  for (const TextPair& pair : pairs) lengths.push_back(letters ? letters_in(pair.source) : words_in(pair.source));
  return lengths;
}

std::vector<double> score_by_length(const ScoreRow& score, std::span<const std::string> outputs,
                                    std::span<const TextPair> pairs, std::span<const int64_t> lengths,
                                    std::span<const LengthGroup> groups) {
  require(outputs.size() == pairs.size() && lengths.size() == pairs.size(), "score_by_length: ", pairs.size(),
          " outputs and lengths are wanted, got ", outputs.size(), " and ", lengths.size());
  std::vector<double> scores;
  for (const LengthGroup& group : groups) {
    std::vector<std::string> said, wanted;
    for (size_t i = 0; i < pairs.size(); ++i) {
      if (group.has(lengths[i])) said.push_back(outputs[i]), wanted.push_back(pairs[i].target);
    }
    scores.push_back(said.empty() ? kNone : score.score(said, wanted));
  }
  return scores;
}

std::vector<size_t> sentences_to_show(std::span<const TextPair> pairs, size_t count) {
  constexpr int64_t kMostWords = 16;
  std::vector<size_t> places;
  const std::vector<int64_t> lengths = source_lengths(pairs, false);
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (lengths[i] > 0 && lengths[i] <= kMostWords) places.push_back(i);
  }
  std::ranges::stable_sort(places, {}, [&](size_t i) { return lengths[i]; });
  std::vector<size_t> chosen;
  for (size_t k = 0; k < count && k < places.size(); ++k) {  // the middle of each third
    chosen.push_back(places[(2 * k + 1) * places.size() / (2 * std::min(count, places.size()))]);
  }
  return chosen;
}

Measured measure(const fs::path& folder, const TestSet& test, std::span<const size_t> shown, const Told& told) {
  require(!test.pairs.empty(), "measure: at least one sentence is wanted, got none of ", test.name);
  const json key = key_of(folder, test, shown);
  std::optional<Measured> measured = kept(folder / kCache, key, test.pairs.size());
  if (!measured) {
    measured = made(folder, test, shown, told);
    save(folder / kCache, key, *measured);
  }
  score(*measured, test);
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
