// `attend list`: every menu, in columns that fit, or as JSON.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "attend/attention/score.h"
#include "attend/data/tokeniser.h"
#include "attend/data/unicode.h"
#include "attend/models/zoo.h"
#include "attend/train/bleu.h"
#include "attend/train/optimiser.h"
#include "tests/support/command.h"

namespace {

using attend::test::attend_with;
using attend::test::has;
using attend::test::lines;
using attend::test::Result;

TEST(List, EveryMenuHasItsRowsWithPapers) {
  const Result result = attend_with("list");
  EXPECT_EQ(result.code, 0);
  for (const auto& row : attend::scores()) {
    EXPECT_TRUE(has(result.output, std::string(row.formula))) << row.name;
    EXPECT_TRUE(has(result.output, std::string(row.paper))) << row.name;
  }
  for (const auto& row : attend::models::zoo()) EXPECT_TRUE(has(result.output, std::string(row.name))) << row.name;
}

TEST(List, LinesFit) {
  std::istringstream output(attend_with("list").output);
  for (std::string line; std::getline(output, line);) {
    const std::u32string points = attend::data::code_points("list", line);
    const auto marks = std::count_if(points.begin(), points.end(), [](char32_t c) { return c >= 0x300 && c <= 0x36F; });
    EXPECT_LE(points.size() - static_cast<size_t>(marks), 120u) << line;
    EXPECT_FALSE(line.ends_with(' ')) << line;
  }
}

TEST(List, PapersBeginInOneColumnWhateverTheFormulasAreMadeOf) {
  const std::string output = attend_with("list scores").output;
  std::set<size_t> columns;
  for (const auto& row : attend::scores()) {
    if (row.paper.empty()) continue;
    const size_t name = output.find("\n  " + std::string(row.name) + " ");
    ASSERT_NE(name, std::string::npos) << row.name;
    const size_t paper = output.find(row.paper, name);
    columns.insert(attend::data::code_points("list", output.substr(name, paper - name)).size());
  }
  EXPECT_EQ(columns.size(), 1u) << output;
}

TEST(List, OneSectionAlone) {
  const Result result = attend_with("list scores");
  EXPECT_EQ(result.code, 0);
  EXPECT_TRUE(result.output.starts_with("scores")) << result.output;
  EXPECT_TRUE(has(result.output, "vᵀtanh(Wq + Uk + b)")) << result.output;
  EXPECT_FALSE(has(result.output, "sparsemax")) << result.output;
}

TEST(List, UnknownSectionIsRefusedWithTheNearest) {
  const Result result = attend_with("list scor 2>&1");
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(lines(result.output), 1) << result.output;
  EXPECT_TRUE(result.output.starts_with("attend list: SECTION: expected one of tasks, recipes, models, ")) << result.output;
  EXPECT_TRUE(has(result.output, "the nearest is \"scores\"")) << result.output;
  EXPECT_EQ(attend_with("list scor 2>/dev/null").output, "");
}

TEST(List, JsonHasWholeRows) {
  const auto all = nlohmann::json::parse(attend_with("list --json").output);
  EXPECT_EQ(all["scores"].size(), attend::scores().size());
  EXPECT_EQ(all["models"].size(), attend::models::zoo().size());
  const auto& adam = all["optimisers"][1];
  EXPECT_EQ(adam["name"], "adam");
  EXPECT_EQ(adam["formula"], attend::train::optimisers()[1].formula);
  EXPECT_EQ(adam["paper"], attend::train::optimisers()[1].paper);
  const auto one = nlohmann::json::parse(attend_with("list bleu-tokenisers --json").output);
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one["bleu-tokenisers"][0]["name"], "13a");
}

// The paper numbers the softmax (7), location (8), the predicted centre (9) and its Gaussian (10), but not the three scores.
TEST(List, EquationsOfLuongAreThoseOfThePaper) {
  const auto all = nlohmann::json::parse(attend_with("list --json").output);
  const auto paper = [&](const char* section, const std::string& name) {
    for (const auto& row : all[section]) {
      if (row["name"] == name) return row["paper"].get<std::string>();
    }
    return std::string();
  };
  for (const char* score : {"dot", "general", "concat"}) {
    EXPECT_EQ(paper("scores", score), "Luong et al. 2015, section 3.1");
  }
  EXPECT_EQ(paper("scores", "location"), "Luong et al. 2015, eq. 8");
  EXPECT_EQ(paper("windows", "local_m"), "Luong et al. 2015, section 3.2");
  EXPECT_EQ(paper("windows", "local_p"), "Luong et al. 2015, eq. 9–10");
}

TEST(List, TokenisersAreThoseOfAModelAndThoseOfBleuApart) {
  const auto all = nlohmann::json::parse(attend_with("list --json").output);
  ASSERT_EQ(all["tokenisers"].size(), attend::data::tokenisers().size());
  EXPECT_EQ(all["tokenisers"][0]["name"], "unigram");
  EXPECT_EQ(all["bleu-tokenisers"].size(), attend::train::bleu_tokenisers().size());
}

}  // namespace
