#include "lab/story.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "attend/data/utf8.h"
#include "attend/tasks/model_folder.h"
#include "lab/experiment.h"

namespace attend::lab {
namespace {

using nlohmann::ordered_json;

constexpr int64_t kLooked = 400;                             // examples of a test, of which some are kept
constexpr size_t kOfALength = 3, kFew = 24, kExamples = 60;  // that are kept: of each length, and in all
constexpr size_t kLongestExample = 2000;                     // bytes

bool is_text(const tasks::Example& example) {
  return std::ranges::all_of(example.inputs,
                             [](const tasks::Value& value) { return std::holds_alternative<std::string>(value); });
}

size_t bytes_of(const tasks::Example& example) {
  size_t bytes = 0;
  for (const tasks::Value& value : example.inputs) bytes += std::get<std::string>(value).size();
  return bytes;
}

/// Words, or letters of a text that is a single word.
size_t length_of(const std::string& text) {
  const size_t words = data::split_words(text).size();
  return words > 1 ? words : text.size();
}

/// As the page's lists of validation examples have them.
ordered_json json_of(const tasks::Example& example, const tasks::TaskRow& row) {
  ordered_json json = {{"source", std::get<std::string>(example.inputs.back())}};
  if (example.inputs.size() > 1) {
    for (size_t i = 0; i < example.inputs.size(); ++i)
      json["inputs"][std::string(row.inputs[i].name)] = std::get<std::string>(example.inputs[i]);
  }
  json["reference"] = example.right.empty() ? "" : example.right[0];
  return json;
}

/// A few of every length, the shortest first.
ordered_json some_of(const tasks::Examples& examples, const tasks::TaskRow& row) {
  std::map<size_t, std::vector<ordered_json>> by_length;
  for (int64_t i = 0; i < std::min(examples.count, kLooked); ++i) {
    const tasks::Example example = examples.at(i);
    if (!is_text(example)) break;
    if (bytes_of(example) > kLongestExample) continue;
    by_length[length_of(std::get<std::string>(example.inputs.back()))].push_back(json_of(example, row));
  }
  ordered_json all = ordered_json::array();
  const size_t lengths = std::max<size_t>(1, by_length.size());
  const size_t of_each = std::max(kOfALength, kFew / lengths);
  const size_t stride = (lengths * of_each + kExamples - 1) / kExamples;  // of many lengths, every second one, or fewer
  size_t number = 0;
  for (const auto& [length, alike] : by_length) {
    if (number++ % stride != 0) continue;
    for (size_t i = 0; i < std::min(of_each, alike.size()); ++i) all.push_back(alike[i]);
  }
  return all;
}

/// "by-length" → "By length".
std::string title_of_file(std::string name) {
  std::ranges::replace(name, '-', ' ');
  if (!name.empty()) name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  return name;
}

ordered_json json_of(const Table& table) {
  return {
      {"kind", "table"}, {"title", table.title}, {"head", table.head}, {"rows", table.rows}, {"words", table.words}};
}

ordered_json text_json(const std::string& text) { return {{"kind", "text"}, {"text", text}}; }

ordered_json command_json(const std::string& why, const std::string& command) {
  return {{"kind", "command"}, {"text", why}, {"command", command}};
}

/// Steps as they are made from blocks: a heading begins one, and so does a second figure or table.
class Steps {
 public:
  void begin(const std::string& title) {
    steps_.push_back({{"title", title}, {"blocks", ordered_json::array()}});
    shown_ = false;
  }
  void add(ordered_json block) { steps_.back()["blocks"].push_back(std::move(block)); }
  void add_block(const Block& block) {
    std::visit([this](const auto& one) { take(one); }, block);
  }
  ordered_json steps() && { return std::move(steps_); }

 private:
  void take(const Text& text) {
    if (!text.title.empty() || steps_.size() == kOwn) begin(text.title);
    if (!text.text.empty()) add(text_json(text.text));
  }
  void take(const Table& table) {
    room_for(table.title.empty() ? "In numbers" : table.title);
    add(json_of(table));
  }
  void take(const Figure& figure) {
    room_for(title_of_file(figure.name));
    add({{"kind", "figure"}, {"name", figure.name}, {"caption", figure.caption}});
  }
  void take(const Live& live) {
    if (!live.title.empty() || steps_.size() == kOwn) begin(live.title.empty() ? "Try it yourself" : live.title);
    add({{"kind", "live"},
         {"text", live.text},
         {"runs", live.runs},
         {"sliders", live.sliders},
         {"longest", live.longest}});
  }
  void room_for(const std::string& title) {
    if (shown_ || steps_.size() == kOwn) begin(title);
    shown_ = true;
  }

  static constexpr size_t kOwn = 2;  // the claim, and whether it held: no block of the report belongs to them
  ordered_json steps_ = ordered_json::array();
  bool shown_ = false;  // the step has a figure or a table
};

}  // namespace

std::vector<Model> models_of(const std::vector<Run>& runs, const Results& results) {
  std::vector<Model> models;
  for (const Run& run : runs) {
    for (const int64_t seed : results.seeds(run.name))
      models.push_back({run.name, seed, tasks::folder_name(results.folder(run.name, seed))});
  }
  return models;
}

std::vector<Tested> tests_of(const Results& results) {
  std::vector<Tested> tests;
  std::map<std::string, size_t> known;  // by fingerprint
  for (const std::string& run : results.runs()) {
    const int64_t seed = results.seeds(run).at(0);
    const tasks::TestSet& test = results.test(run, seed);
    const auto [found, is_new] = known.emplace(test.fingerprint, tests.size());
    if (is_new) tests.push_back({{}, some_of(test.examples, tasks::read_config(results.folder(run, seed)).row())});
    tests[found->second].runs.push_back(run);
  }
  std::erase_if(tests, [](const Tested& test) { return test.examples.empty(); });
  return tests;
}

std::vector<Live> lives_of(const std::vector<Run>& runs) {
  std::vector<Live> lives;
  std::map<std::string, size_t> known;  // by task
  for (const Run& run : runs) {
    const auto [found, is_new] = known.emplace(run.settings.substr(0, run.settings.find(' ')), lives.size());
    if (is_new)
      lives.push_back({"Try it yourself", "Ask the models of this experiment, and compare what they answer."});
    lives[found->second].runs.push_back(run.name);
  }
  return lives;
}

ordered_json story_of(const Report& report) {
  Steps steps;
  steps.begin("The claim");
  steps.add(text_json(report.set_up));
  steps.add(json_of(report.runs));
  if (!report.common.empty()) steps.add(command_json("All of them:", report.common));
  steps.begin("Did it hold?");
  steps.add({{"kind", "checks"}});
  for (const Block& block : report.blocks) steps.add_block(block);
  if (!report.next.empty()) steps.begin("What to try next");
  for (const Next& next : report.next) steps.add(command_json(next.why, next.command));
  return std::move(steps).steps();
}

}  // namespace attend::lab
