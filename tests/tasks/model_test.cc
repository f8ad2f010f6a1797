// What a model answers: example by example, whatever else is answered with it.
#include "attend/tasks/model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "attend/base/joined.h"
#include "tests/support/message.h"
#include "tests/support/untrained.h"

namespace attend::tasks {
namespace {

using test::typed;

constexpr double kTolerance = sizeof(real) == 8 ? 1e-9 : 1e-5;

SettingList small(const char* tokens) {
  return {{"tsv", "none", "", true},     {"tokeniser.kind", tokens, ""}, {"model.name", "recurrent", ""},
          {"model.embedding", "8", ""},  {"model.hidden", "12", ""},     {"filter.longest", "4", ""},
          {"search.max_length", "6", ""}};
}

/// With new weights, which say nothing sensible; but always the same.
const TaskModel& model() {
  static const TaskModel made =
      test::untrained(small("words"), test::text_corpus("a b c d e f g h , .", "A B C D E F G H"));
  return made;
}

AnswerOptions with_search() {
  AnswerOptions options;
  options.search = model().config().options.search;
  return options;
}

std::vector<std::string> texts(const std::vector<std::vector<Answer>>& answers) {
  std::vector<std::string> all;
  for (const std::vector<Answer>& line : answers) all.push_back(line.at(0).text);
  return all;
}

std::vector<Answer> answer_alone(const std::string& line, const AnswerOptions& options) {
  return model().answer(typed({line}), options).at(0);
}

const std::vector<std::string> kLines{"a b c", "d", "", "e f g h", "h a", "   ", "c c c c", "b", "a h", "g f e"};

TEST(TaskModel, AnswersLineByLineInTheirOrder) {
  const auto together = model().answer(typed(kLines), with_search());
  ASSERT_EQ(together.size(), kLines.size());
  bool different = false;
  for (size_t i = 0; i < kLines.size(); ++i) {
    const std::vector<Answer> alone = answer_alone(kLines[i], with_search());
    ASSERT_EQ(together[i].size(), 1u);
    EXPECT_EQ(together[i][0].text, alone.at(0).text) << kLines[i];
    EXPECT_NEAR(together[i][0].score, alone.at(0).score, kTolerance) << kLines[i];
    EXPECT_EQ(together[i][0].parts, 1);
    different = different || together[i][0].text != together[0][0].text;
  }
  EXPECT_TRUE(different) << "there is something to tell apart";
  EXPECT_TRUE(model().answer({}, with_search()).empty());
}

TEST(TaskModel, AWordThatIsTooLongIsCutBetweenItsLettersAndStaysOneWord) {
  const TaskModel letters = test::untrained(small("characters"), test::text_corpus("añb", "AB"));
  AnswerOptions options;
  options.search = letters.config().options.search;
  options.align = true;
  const Answer answer = letters.answer(typed({"ab ñññññññññ b"}), options).at(0).at(0);
  EXPECT_GT(answer.parts, 2);
  EXPECT_EQ(answer.source, (std::vector<std::string>{"ab", "ñññññññññ", "b"}));
  ASSERT_EQ(answer.weights.shape(), Shape({static_cast<int64_t>(answer.target.size()), 3}));
  for (const data::Link& link : answer.links) EXPECT_LT(link.source, 3);
}

TEST(TaskModel, AnEmptyLineHasAnEmptyAnswer) {
  AnswerOptions options = with_search();
  options.align = true;
  for (const char* line : {"", " ", "\t  "}) {
    const std::vector<Answer> answers = answer_alone(line, options);
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_EQ(answers[0].text, "");
    EXPECT_TRUE(answers[0].ended);
    EXPECT_TRUE(answers[0].links.empty());
  }
}

TEST(TaskModel, DrawnAnswersDependOnTheirLineAlone) {
  AnswerOptions options = with_search();
  options.search.sample = true, options.search.seed = 5, options.search.n_best = 2;
  std::vector<std::string> lines = kLines;
  lines.insert(lines.begin() + 4, "a b c d e f g h a b");  // answered in parts
  const auto together = model().answer(typed(lines), options);
  for (size_t i = 0; i < lines.size(); ++i) {
    AnswerOptions alone = options;
    alone.search.first_sentence = static_cast<int64_t>(i);
    const std::vector<Answer> answers = answer_alone(lines[i], alone);
    ASSERT_EQ(together[i].size(), answers.size());
    for (size_t k = 0; k < answers.size(); ++k)
      EXPECT_EQ(together[i][k].text, answers[k].text) << i << ": " << lines[i];
  }
  EXPECT_EQ(texts(model().answer(typed(lines), options)), texts(together));
  options.search.seed = 6;
  EXPECT_NE(texts(model().answer(typed(lines), options)), texts(together));
  options.search.seed = 5, options.search.first_sentence = 1;
  EXPECT_NE(texts(model().answer(typed(lines), options)), texts(together));
}

TEST(TaskModel, PartsOfALineAreDrawnEachByItself) {
  AnswerOptions options = with_search();
  options.search.sample = true, options.search.seed = 5, options.search.max_length = 20;
  const Answer answer = answer_alone("a b c d a b c d a b c d", options).at(0);
  ASSERT_EQ(answer.parts, 3);
  const std::string once = answer_alone("a b c d", options).at(0).text;
  EXPECT_NE(answer.text, once + " " + once + " " + once);
}

TEST(TaskModel, NBestAnswersAreSortedAndEnoughOfThem) {
  AnswerOptions options = with_search();
  options.search.beam = 5, options.search.n_best = 3;
  for (const std::vector<Answer>& answers : model().answer(typed({"a b c", "d"}), options)) {
    ASSERT_EQ(answers.size(), 3u);
    EXPECT_NE(answers[0].text, answers[1].text);
    EXPECT_NE(answers[1].text, answers[2].text);
  }
}

TEST(TaskModel, AnswersBeginAsTheyHaveTo) {
  const std::vector<std::string> lines{"a b c", "", "d"}, prefixes{"H G", "A", ""};
  AnswerOptions options = with_search();
  options.prefixes = prefixes;
  const auto answers = model().answer(typed(lines), options);
  EXPECT_TRUE(answers[0][0].text.starts_with("H G")) << answers[0][0].text;
  EXPECT_EQ(answers[1][0].text, "");
  EXPECT_EQ(answers[2][0].text, answer_alone("d", with_search()).at(0).text);
  options.prefixes = std::span(prefixes).first(1);
  EXPECT_EQ(test::message_of([&] { model().answer(typed(lines), options); }),
            "answer: expected as many prefixes as examples, 3, got 1");
}

TEST(TaskModel, LongLinesAreAnsweredInPartsThatEndWithAClause) {
  AnswerOptions options = with_search();
  options.align = true;
  const std::string line = "a b , c d e f g";
  const std::vector<std::string> parts{"a b ,", "c d e f", "g"};
  const Answer whole = answer_alone(line, options).at(0);
  EXPECT_EQ(whole.parts, 3);
  EXPECT_EQ(joined(whole.source, " "), line);
  const int64_t columns = static_cast<int64_t>(whole.source.size());
  ASSERT_EQ(whole.weights.shape(), Shape({static_cast<int64_t>(whole.target.size()), columns}));
  std::vector<std::string> text;
  data::Links links;
  Tensor wanted = Tensor::zeros(whole.weights.shape());
  int64_t row = 0, column = 0;
  double log_probability = 0;
  for (const std::string& part : parts) {
    const Answer answer = answer_alone(part, options).at(0);
    if (!answer.text.empty()) text.push_back(answer.text);
    log_probability += answer.log_probability;
    for (const data::Link& link : answer.links) {
      links.push_back({static_cast<int32_t>(link.source + column), static_cast<int32_t>(link.target + row)});
    }
    ASSERT_LE(row + answer.weights.dim(0), wanted.dim(0)) << part;
    ASSERT_LE(column + answer.weights.dim(1), columns) << part;
    for (int64_t r = 0; r < answer.weights.dim(0); ++r) {
      for (int64_t c = 0; c < answer.weights.dim(1); ++c) {
        wanted.data()[(row + r) * columns + column + c] = answer.weights.data()[r * answer.weights.dim(1) + c];
      }
    }
    row += static_cast<int64_t>(answer.target.size()), column += static_cast<int64_t>(answer.source.size());
  }
  ASSERT_EQ(row, wanted.dim(0));
  ASSERT_EQ(column, columns);
  EXPECT_EQ(whole.text, joined(text, " "));
  EXPECT_EQ(whole.links, links);
  EXPECT_FALSE(links.empty());
  EXPECT_NEAR(whole.log_probability, log_probability, kTolerance);
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(whole.weights.data()[i], wanted.data()[i], kTolerance);
}

TEST(TaskModel, AlignmentsAreOfWords) {
  AnswerOptions options = with_search();
  options.align = true;
  const auto answers = model().answer(typed(kLines), options);
  for (size_t i = 0; i < kLines.size(); ++i) {
    const Answer& answer = answers[i].at(0);
    if (answer.source.empty()) continue;
    EXPECT_EQ(joined(answer.target, " "), answer.text);
    EXPECT_EQ(answer.links.size(), answer.target.size()) << "the best source word of each";
  }
  options.threshold = 1e-6;
  const Answer all = answer_alone("a b c", options).at(0);
  EXPECT_EQ(all.links.size(), 3 * all.target.size());
}

TEST(TaskModel, UnknownWordsBecomeTheSourceWordLookedAtMost) {
  AnswerOptions options = with_search();
  const std::vector<std::string> lines{"a zzz c", "d", "e zzz"}, prefixes(3, "A ? ?");
  options.prefixes = prefixes;
  const auto plain = model().answer(typed(lines), options);
  options.align = true;
  const auto aligned = model().answer(typed(lines), options);
  options.replace_unknown = true, options.align = false;
  const auto replaced = model().answer(typed(lines), options);
  for (size_t i = 0; i < lines.size(); ++i) {
    EXPECT_TRUE(plain[i][0].text.starts_with("A ⁇ ⁇")) << plain[i][0].text;
    const Answer& seen = aligned[i][0];
    std::vector<std::string> wanted = seen.target;
    for (size_t t = 0; t < wanted.size(); ++t) {
      const real* row = seen.weights.data() + t * seen.source.size();
      const auto most = static_cast<size_t>(std::max_element(row, row + seen.source.size()) - row);
      if (wanted[t] == data::Tokeniser::kUnknownText) wanted[t] = seen.source[most];
    }
    EXPECT_EQ(replaced[i][0].text, joined(wanted, " "));
    EXPECT_EQ(replaced[i][0].text.find(data::Tokeniser::kUnknownText), std::string::npos);
  }
}

TEST(TaskModel, TellsOfItsAnswerWhileItSearchesAndCanBeEnded) {
  std::vector<std::string> told;
  AnswerOptions options = with_search();
  options.partial = [&](const std::string& text) { told.push_back(text); };
  const Answer answer = answer_alone("a b c", options).at(0);
  EXPECT_GE(told.size(), 2u);
  EXPECT_EQ(answer.text, answer_alone("a b c", with_search()).at(0).text);
  struct Enough {};
  options.check = [] { throw Enough(); };
  EXPECT_THROW(answer_alone("a b c", options), Enough);
}

TEST(TaskModel, RefusesInputsOfAnotherKind) {
  const Example image = test::image_example(data::Image(4, 4, 1));
  EXPECT_EQ(test::message_of([&] { model().answer(std::span(&image, 1), with_search()); }),
            "text: expected a text, got an image");
}

TEST(TaskModel, MovedItAnswersTheSame) {
  const auto corpus = test::text_corpus("a b c d e f g h , .", "A B C D E F G H");
  auto first = std::make_unique<TaskModel>(test::untrained(small("words"), corpus));
  const TaskModel second = std::move(*first);
  first.reset();  // inputs and output read the options of the model that they belong to
  EXPECT_EQ(texts(second.answer(typed(kLines), with_search())), texts(model().answer(typed(kLines), with_search())));
}

}  // namespace
}  // namespace attend::tasks
