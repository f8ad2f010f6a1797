// `attend info` and the card beside a model: what they say is what the folder has.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/model_card.h"
#include "tests/support/command.h"
#include "tests/support/folder.h"
#include "tests/support/small_run.h"

namespace {

namespace fs = std::filesystem;
using namespace attend::test;

class InfoSlow : public testing::Test {
 protected:
  void SetUp() override {
    const fs::path tsv = folder_.file("pairs.tsv", small_corpus());
    const fs::path recipe = folder_.file("recipe.yml", small_recipe(tsv, 40));
    const Result trained = attend_with("train " + in_quotes(recipe) + " --out " + in_quotes(out()) + " 2>&1");
    ASSERT_EQ(trained.code, 0) << trained.output;
  }
  fs::path out() const { return folder_.path() / "model"; }
  Result info(const std::string& flags = "") const { return attend_with("info " + in_quotes(out()) + flags + " 2>&1"); }

  TestFolder folder_;
};

TEST_F(InfoSlow, ToldIsWhatTheFolderHas) {
  const Result said = info();
  EXPECT_EQ(said.code, 0) << said.output;
  for (const char* part : {"model\n", "translate: one language to another", "recurrent: ", "parameters", "pairs.tsv",
                           "finished: 40 steps", "loss ", "perplexity", "BLEU", "model.hidden 8  (default 256)",
                           "train.rate 0.02  (default 0.002)", "tokeniser.kind words"}) {
    EXPECT_TRUE(has(said.output, part)) << part << " in: " << said.output;
  }
  EXPECT_FALSE(has(said.output, "vocabulary 0")) << said.output;
  EXPECT_FALSE(has(said.output, "search.beam")) << "as it is by default: " << said.output;
}

TEST_F(InfoSlow, TheSameAsJson) {
  const auto json = nlohmann::json::parse(info(" --json").output);
  const auto result = nlohmann::json::parse(folder_.bytes("model/result.json"));
  EXPECT_EQ(json["task"], "translate");
  EXPECT_EQ(json["network"], "recurrent");
  EXPECT_EQ(json["steps"], 40);
  EXPECT_EQ(json["examples"], result["examples"]);
  EXPECT_EQ(json["seconds"], result["seconds"]);
  EXPECT_EQ(json["version"], result["version"]);
  EXPECT_EQ(json["weights_bytes"], fs::file_size(out() / "weights.safetensors"));
  EXPECT_GT(json["parameters"], 100);
  EXPECT_TRUE(json["validation"].contains("loss") && json["validation"].contains("bleu")) << json;
  EXPECT_EQ(json["options"]["model.embedding"]["value"], "6");
  EXPECT_FALSE(json["options"].contains("model.source_vocabulary")) << "that follows from the data";
  EXPECT_FALSE(json["options"].contains("tsv")) << "that is the data";
}

TEST_F(InfoSlow, ACardLiesBesideTheModel) {
  const std::string card = folder_.bytes("model/model-card.md");
  for (const char* part : {"# model\n", "| network | recurrent: ", "pairs.tsv", "## Scores", "| BLEU | ", "## Use",
                           "attend run model < in.txt", "| train.rate | 0.02 | 0.002 |"}) {
    EXPECT_TRUE(has(card, part)) << part << " in: " << card;
  }
  EXPECT_TRUE(has(card, "attend " + nlohmann::json::parse(folder_.bytes("model/result.json"))["version"].get<std::string>()));
}

TEST_F(InfoSlow, AFolderThatLacksMostIsToldAsFarAsItGoes) {
  for (const char* file : {"result.json", "log.jsonl", "weights.safetensors", "model-card.md"}) fs::remove(out() / file);
  const Result said = info();
  EXPECT_EQ(said.code, 0) << said.output;
  EXPECT_TRUE(has(said.output, "not finished: 0 steps")) << said.output;
  folder_.file("model/log.jsonl", "{\"step\":10,\"best\":true,\"valid_loss\":\"x\"}\n{\"step\":20,\"se");
  folder_.file("model/result.json", "[]");
  EXPECT_TRUE(has(info().output, "10 steps")) << "the whole lines of the log";
}

TEST(Info, AskedWronglyItSaysSo) {
  const Result result = attend_with("info nowhere 2>&1");
  EXPECT_EQ(result.code, 2);
  EXPECT_TRUE(has(result.output, "nowhere: not a model folder")) << result.output;
  EXPECT_EQ(attend_with("info 2>&1").code, 2);
}

TEST(Info, NamesInACardAreText) {
  attend::tasks::ModelFacts facts{.name = "a|b*c", .row = &attend::tasks::tasks()[0], .network = "recurrent"};
  facts.files = {"x`y\n# z"};
  const std::string card = attend::cli::model_card(facts);
  EXPECT_TRUE(card.starts_with("# a\\|b\\*c\n")) << card;
  EXPECT_TRUE(has(card, "x\\`y \\# z")) << card;
}

}  // namespace
