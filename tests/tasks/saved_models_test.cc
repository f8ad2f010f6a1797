// Folders of models that version 0.1.0 trained (saved/make.sh): they load, and they answer as they did then.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attend/base/replacement.h"
#include "attend/data/lines.h"
#include "attend/explain/image_trace.h"
#include "attend/tasks/explanation.h"
#include "tests/support/untrained.h"

namespace attend::tasks {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double kSavedTolerance = 1e-3;  // instruction sets round differently
constexpr size_t kMostBytes = size_t{1} << 20;

const fs::path kSaved = ATTEND_SOURCE_DIR "/tests/tasks/saved";

/// All that was there is there, numbers but for rounding; objects may have gained more.
void expect_alike(const json& got, const json& wanted, const std::string& where) {
  if (wanted.is_number()) {
    ASSERT_TRUE(got.is_number()) << where;
    EXPECT_NEAR(got.get<double>(), wanted.get<double>(),
                kSavedTolerance * std::max(1.0, std::abs(wanted.get<double>())))
        << where;
  } else if (wanted.is_structured()) {
    ASSERT_EQ(got.type(), wanted.type()) << where;
    if (wanted.is_array()) {
      ASSERT_EQ(got.size(), wanted.size()) << where << ": " << got;
    }
    for (const auto& [key, value] : wanted.items()) {
      if (wanted.is_object()) {
        ASSERT_TRUE(got.contains(key)) << where << "." << key;
      }
      expect_alike(wanted.is_object() ? got.at(key) : got.at(std::stoul(key)), value, where + "." + key);
    }
  } else {
    EXPECT_EQ(got, wanted) << where;
  }
}

/// The answers of `attend run --scores`: "score<tab>answer".
void expect_answers(const TaskModel& model, const fs::path& folder) {
  const std::vector<std::string> questions = data::read_lines(folder / "questions.txt"),
                                 wanted = data::read_lines(folder / "answers.txt");
  const auto answers = model.answer(test::typed(questions), {.search = model.config().options.search});
  ASSERT_EQ(answers.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    const size_t tab = wanted[i].find('\t');
    ASSERT_NE(tab, std::string::npos);
    EXPECT_EQ(answers[i].at(0).text, wanted[i].substr(tab + 1)) << questions[i];
    EXPECT_NEAR(answers[i][0].score, std::stod(wanted[i]), kSavedTolerance) << questions[i];
  }
}

/// A look without its images, which may be packed differently.
json without_images(json look) {
  look["image"].erase("png");
  if (look.contains("glimpses")) {
    for (json& glance : look["glimpses"]["glances"]) glance.erase("patches");
  }
  return look;
}

/// What `attend explain --example 0` wrote.
void expect_look(const TaskModel& model, const fs::path& folder) {
  const std::string text = read_file(folder / "look.json", kMostBytes);
  const Example first = read_test(model.config(), {}, model.output().labels()).at(0);
  ExplainOptions options;
  options.search = model.config().options.search;
  const auto look = std::get<explain::ImageLook>(explain(model, first, options));
  EXPECT_EQ(look.image.pixels, explain::parse_look(text).image.pixels);
  EXPECT_EQ(explain::answer_of(look) + "\n", read_file(folder / "answers.txt", kMostBytes));
  expect_alike(without_images(json::parse(explain::look_json(look))), without_images(json::parse(text)), "look");
}

/// What `attend eval` printed.
void expect_report(const TaskModel& model, const fs::path& folder) {
  EvaluateOptions how{.loss = true};
  how.answer.search = model.config().options.search;
  const Scored scored = evaluate(model, read_test(model.config(), {}, model.output().labels()), how);
  nlohmann::ordered_json report{{"images", scored.examples}, {"loss", scored.loss}};
  if (!scored.judged.outputs.empty()) report.update(train::report_of(model.row().scores, scored.judged, {}));
  expect_alike(json::parse(report.dump()), json::parse(read_file(folder / "answers.txt", kMostBytes)), "report");
}

void expect_as_then(const std::string& name) {
  const fs::path folder = kSaved / name;
  const TaskModel model = TaskModel::load(folder);
  EXPECT_EQ(model.name(), name);
  if (fs::exists(folder / "questions.txt")) return expect_answers(model, folder);
  fs::exists(folder / "look.json") ? expect_look(model, folder) : expect_report(model, folder);
}

bool is_scored(const fs::path& folder) {
  return !fs::exists(folder / "questions.txt") && !fs::exists(folder / "look.json");
}

std::vector<std::string> folders(bool scored) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kSaved)) {
    if (entry.is_directory() && is_scored(entry.path()) == scored) names.push_back(entry.path().filename().string());
  }
  return names;
}

TEST(SavedModels, AnswerAsTheyDid) {
  const std::vector<std::string> names = folders(false);
  EXPECT_GE(names.size(), 9u);
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    expect_as_then(name);
  }
}

TEST(SavedModels, HaveTheScoresThatTheyHad) {
  const std::vector<std::string> names = folders(true);
  EXPECT_GE(names.size(), 2u);
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    expect_as_then(name);
  }
}

}  // namespace
}  // namespace attend::tasks
