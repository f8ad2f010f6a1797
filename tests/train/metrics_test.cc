// BLEU and chrF against what sacreBLEU itself says (tests/golden/metrics.json); agreement against numbers by hand.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attend/base/error.h"
#include "attend/train/agreement.h"
#include "attend/train/bleu.h"
#include "attend/train/chrf.h"

namespace {

using attend::Error;
using namespace attend::train;
using Lines = std::vector<std::string>;

struct Goldens {
  nlohmann::json all;
  Lines outputs, references;

  Goldens() {
    std::ifstream file(ATTEND_SOURCE_DIR "/tests/golden/metrics.json");
    all = nlohmann::json::parse(file);
    outputs = all["outputs"].get<Lines>();
    references = all["references"].get<Lines>();
  }
  /// Calls visit(outputs, references, what sacreBLEU says, where) for every subset of lines.
  template <class Visit>
  void subsets(const nlohmann::json& results, Visit&& visit) const {
    const auto& cuts = all["subsets"];
    ASSERT_EQ(results["scores"].size(), cuts.size());
    for (size_t i = 0; i < cuts.size(); ++i) {
      const size_t first = cuts[i][0], count = cuts[i][1];
      visit(std::span(outputs).subspan(first, count), std::span(references).subspan(first, count), results["scores"][i],
            results["signature"].get<std::string>() + ", " + std::to_string(count) + " from " + std::to_string(first));
    }
  }
};

/// Equal but for the rounding of another ln and exp.
void expect_sacre(double ours, double theirs, const std::string& where) {
  EXPECT_NEAR(ours, theirs, 1e-11 * (1 + theirs)) << where;
}

TEST(Metrics, GoldensAreOfTheReleaseThatSignaturesName) {
  const Goldens goldens;
  EXPECT_EQ(goldens.all["sacrebleu"], kSacreBleuVersion);
  EXPECT_GE(goldens.outputs.size(), 300u);
}

TEST(Metrics, BleuOfSeveralReferencesIsSacreBleus) {
  const Goldens goldens;
  const auto others = goldens.all["others"].get<std::vector<Lines>>();
  for (const auto& results : goldens.all["several"]) {
    const BleuOptions options{.tokenise = results["tokenise"]};
    EXPECT_EQ(bleu_signature(options, 3), results["signature"]);
    goldens.subsets(results,
                    [&](auto outputs, auto references, const nlohmann::json& expected, const std::string& where) {
                      const size_t first = static_cast<size_t>(outputs.data() - goldens.outputs.data());
                      std::vector<Lines> all;
                      for (size_t i = 0; i < references.size(); ++i) {
                        all.push_back({references[i], others[0][first + i], others[1][first + i]});
                      }
                      const BleuScore score = bleu(outputs, all, options);
                      EXPECT_EQ(score.text(), expected["text"]) << where;
                      expect_sacre(score.brevity, expected["bp"], where);
                      if (score.score == 0) return;  // smoothing counts orders without a match up to the fourth
                      for (size_t k = 1; k <= BleuScore::kOrders; ++k)
                        expect_sacre(score.up_to(k), expected["up_to"][k - 1], where);
                    });
  }
}

TEST(Metrics, BleuIsSacreBleus) {
  const Goldens goldens;
  for (const auto& results : goldens.all["bleu"]) {
    const BleuOptions options{results["tokenise"], results["smooth"], results["lowercase"]};
    EXPECT_EQ(bleu_signature(options), results["signature"]);
    goldens.subsets(results,
                    [&](auto outputs, auto references, const nlohmann::json& expected, const std::string& where) {
                      const BleuScore score = bleu(outputs, references, options);
                      EXPECT_EQ(score.text(), expected["text"]) << where;
                      expect_sacre(score.score, expected["score"], where);
                      expect_sacre(score.brevity, expected["bp"], where);
                      for (size_t n = 0; n < BleuScore::kOrders; ++n)
                        expect_sacre(score.precisions[n], expected["precisions"][n], where);
                    });
  }
}

TEST(Metrics, EveryTokeniserAndSmoothingHasGoldens) {
  const Goldens goldens;
  const auto seen = [&](const char* key, std::string_view name) {
    for (const auto& results : goldens.all["bleu"]) {
      if (results[key] == name) return true;
    }
    return false;
  };
  for (const auto& row : bleu_tokenisers()) EXPECT_TRUE(seen("tokenise", row.name)) << row.name;
  for (const auto& row : bleu_smoothings()) EXPECT_TRUE(seen("smooth", row.name)) << row.name;
}

TEST(Metrics, ChrfIsSacreBleus) {
  const Goldens goldens;
  for (const auto& results : goldens.all["chrf"]) {
    const ChrfOptions options{.word_order = results["word_order"], .lowercase = results["lowercase"]};
    EXPECT_EQ(chrf_signature(options), results["signature"]);
    EXPECT_EQ(chrf_name(options), results["name"]);
    goldens.subsets(results,
                    [&](auto outputs, auto references, const nlohmann::json& expected, const std::string& where) {
                      expect_sacre(chrf(outputs, references, options), expected, where);
                    });
  }
}

/// What the Error says that `call` throws.
template <class Call>
std::string refusal(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(Metrics, WrongRequestsAreRefused) {
  const Lines none, one{"a"}, two{"a", "b"}, broken{"a\xff"};
  const std::string counts = "expected as many outputs as references, got 1 outputs and 2 references";
  EXPECT_EQ(refusal([&] { bleu(one, two); }), "bleu: " + counts);
  EXPECT_EQ(refusal([&] { chrf(one, two); }), "chrf: " + counts);
  EXPECT_EQ(refusal([&] { exact_match(one, two); }), "exact_match: " + counts);
  EXPECT_EQ(refusal([&] { bleu(none, none); }), "bleu: expected at least one line, got none");
  EXPECT_EQ(refusal([&] { bleu(one, broken); }), "bleu: reference 1: expected UTF-8, got other bytes at byte 1");
  EXPECT_EQ(refusal([&] { bleu(one, one, {.tokenise = "inlt"}); }),
            "BLEU's tokeniser: expected one of 13a, intl, char, none, got \"inlt\"; the nearest is \"intl\"");
  EXPECT_EQ(refusal([&] { bleu(one, one, {.smooth = "addk"}); }),
            "BLEU's smoothing: expected one of exp, floor, add-k, none, got \"addk\"; the nearest is \"add-k\"");
  EXPECT_EQ(refusal([&] { chrf(one, one, {.char_order = 0}); }),
            "chrf: expected char_order and beta of at least 1 and a word_order of at least 0, got 0, 2 and 0");
}

TEST(Metrics, ExactMatchLooksPastBlanksAtTheEndAlone) {
  const Lines outputs{"a b", "a b ", "a  b", " a b", "A b"}, references(5, "a b");
  EXPECT_DOUBLE_EQ(exact_match(outputs, references), 40);
  EXPECT_DOUBLE_EQ(exact_match(outputs, references, true), 60);
}

using AllLinks = std::vector<attend::data::Links>;

TEST(Metrics, AlignmentErrorRateCountsSureAndPossibleLinks) {
  // |A| = 4 and 1, |S| = 2 and 2, |A∩S| = 2 and 0, |A∩P| = 3 and 0; a link that is given twice counts once.
  const AllLinks links{{{0, 0}, {1, 1}, {2, 1}, {3, 3}, {0, 0}}, {{5, 5}}};
  const AllLinks sure{{{0, 0}, {1, 1}}, {{0, 1}, {1, 0}}};
  const AllLinks possible{{{2, 1}, {2, 2}}, {}};
  const AlignmentScore both = alignment_score(links, sure, possible);
  EXPECT_DOUBLE_EQ(both.error_rate, 1 - 5.0 / 9);
  EXPECT_DOUBLE_EQ(both.precision, 3.0 / 5);
  EXPECT_DOUBLE_EQ(both.recall, 2.0 / 4);
  const AlignmentScore sure_alone = alignment_score(links, sure);
  EXPECT_DOUBLE_EQ(sure_alone.error_rate, 1 - 4.0 / 9);
  EXPECT_DOUBLE_EQ(sure_alone.precision, 2.0 / 5);
}

TEST(Metrics, AlignmentsThatSayNothingAreRight) {
  EXPECT_DOUBLE_EQ(alignment_score(AllLinks(2), AllLinks(2)).error_rate, 0);
  EXPECT_DOUBLE_EQ(alignment_score(AllLinks(1), AllLinks{{{0, 0}}}).error_rate, 1);
  EXPECT_THROW(alignment_score(AllLinks(1), AllLinks(2)), Error);
  EXPECT_THROW(alignment_score(AllLinks(2), AllLinks(2), AllLinks(1)), Error);
}

}  // namespace
