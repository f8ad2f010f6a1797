// log.jsonl of a run: every line is an object, and a resumed run has each step once.
#include "attend/train/log.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "tests/support/folder.h"
#include "tests/support/learning.h"

namespace attend::train {
namespace {

using nlohmann::json;

std::unique_ptr<models::Model> make_tiny() {
  Random random(3);
  return models::make_model(
      "recurrent",
      {{"source_vocabulary", "9"}, {"target_vocabulary", "9"}, {"embedding", "4"}, {"hidden", "6"}, {"dropout", "0.1"}},
      random);
}

BatchSource batches() {
  return {[](int64_t) { return 5; },
          [](int64_t epoch, int64_t index) {
            Random random(static_cast<uint64_t>(epoch * 5 + index));
            return test::draw(test::copy_task(5), 1, 4, 4, random);
          }};
}

Validation validation(const models::Model&) {
  return {.loss = 0.5, .scores = {{"bleu", 12.5}}, .source = "a \"b\"", .reference = "घर", .output = "x"};
}

TrainerOptions options() {
  TrainerOptions options;
  options.steps = 60, options.validate_every = 20;
  return options;
}

/// Ends the run as a kill would: what has been logged is there, a checkpoint is not.
struct Kill : Watcher {
  int64_t steps = 0, at = 0;
  bool stop() override {
    if (++steps == at) throw std::runtime_error("killed");
    return false;
  }
};

void train(const test::TestFolder& folder, bool resume, int64_t kill_at = 0) {
  const auto model = make_tiny();
  Trainer trainer(*model, batches(), validation, options(), folder.path());
  if (resume) {
    trainer.resume();
  } else {
    trainer.save_start();
  }
  Log log(folder.path(), resume ? std::optional(trainer.step()) : std::nullopt);
  Kill kill;
  kill.at = kill_at;
  Watcher* const watchers[] = {&log, &kill};
  try {
    trainer.run(watchers);
  } catch (const std::runtime_error&) {
    ASSERT_GT(kill_at, 0);
  }
}

std::vector<json> entries(const test::TestFolder& folder) {
  std::vector<json> all;
  std::istringstream in(folder.bytes("log.jsonl"));
  for (std::string line; std::getline(in, line);) all.push_back(json::parse(line));
  for (json& entry : all) entry.erase("seconds");
  return all;
}

TEST(Log, HasTheLossesAndTheValidations) {
  const test::TestFolder folder;
  train(folder, false);
  std::vector<int64_t> steps, validated;
  for (const json& entry : entries(folder)) {
    if (entry.contains("valid_loss")) {
      validated.push_back(entry["step"]);
      EXPECT_EQ(entry["valid_loss"], 0.5);
      EXPECT_DOUBLE_EQ(entry["perplexity"], std::exp(0.5));
      EXPECT_EQ(entry["bleu"], 12.5);
      EXPECT_EQ(entry["best"], entry["step"] == 20);
      EXPECT_EQ(entry["source"], "a \"b\"");
      EXPECT_EQ(entry["reference"], "घर");
      EXPECT_EQ(entry["output"], "x");
    } else {
      steps.push_back(entry["step"]);
      EXPECT_GT(entry["loss"], 0);
      EXPECT_GT(entry["rate"].get<double>(), entry["step"] == 60 ? -1.0 : 0.0);
      EXPECT_GT(entry["tokens"], 0);
    }
  }
  EXPECT_EQ(steps, (std::vector<int64_t>{10, 20, 30, 40, 50, 60}));
  EXPECT_EQ(validated, (std::vector<int64_t>{20, 40, 60}));
  EXPECT_FALSE(std::filesystem::is_empty(folder.path() / "tensorboard"));
}

TEST(Log, OfARunThatWasKilledAndResumedIsThatOfOneThatWasNot) {
  const test::TestFolder straight;
  train(straight, false);
  for (const int64_t kill_at : {5, 20, 37, 55}) {  // before the first validation; before its checkpoint; later
    const test::TestFolder folder;
    train(folder, false, kill_at);
    train(folder, true);
    if (sizeof(real) == 4) {
      EXPECT_EQ(entries(folder), entries(straight)) << "killed at " << kill_at;
    } else {  // checkpoints have 32 bits
      EXPECT_EQ(entries(folder).size(), entries(straight).size()) << "killed at " << kill_at;
    }
  }
}

}  // namespace
}  // namespace attend::train
