// Questions about documents: spans as tokens and as text, windows over what is long, and when there is no answer.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "attend/autograd/tape.h"
#include "attend/base/random.h"
#include "attend/models/memory.h"
#include "attend/tasks/explanation.h"
#include "attend/tasks/training.h"
#include "attend/tasks/typed.h"
#include "tests/support/folder.h"
#include "tests/support/message.h"
#include "tests/support/stop_at.h"
#include "tests/support/untrained.h"

namespace attend::tasks {
namespace {

using test::message_of;
using test::TestFolder;

constexpr double kTolerance = sizeof(real) == 8 ? 1e-9 : 1e-4;

Example asked(const std::string& document, const std::string& question) { return test::question(document, question); }

/// With new weights, which say nothing sensible; but always the same.
TaskModel reader(const SettingList& more = {}) {
  return test::untrained(test::small_reader(more), test::question_corpus());
}

std::vector<Answer> answers_to(const TaskModel& model, const Example& example, int64_t n_best = 1) {
  AnswerOptions options;
  options.search = model.config().options.search;
  options.search.n_best = options.search.beam = n_best;
  return model.answer(std::span(&example, 1), options).at(0);
}

/// So many letters, with odd blanks and marks between them.
std::string letters(int64_t count, uint64_t seed = 3) {
  Random random(seed);
  std::string text;
  for (int64_t i = 0; i < count; ++i) {
    text += static_cast<char>('a' + random.below(26));
    text += random.below(8) == 0 ? "\n " : " ";
  }
  return text;
}

TEST(Spans, AreTokensAndTheExactTextAgain) {
  const TaskModel model = reader();
  const std::string text = " In (1886–1900), “Zoë Ñandú” ate\u00A0猫耳朵's  noodles …\tfor £3.50!\n";
  const Ready ready = model.ready(asked(text, "what?"));
  for (const std::string& answer : std::vector<std::string>{"1886–1900", "Zoë Ñandú", "“Zoë Ñandú”", "ate\u00A0猫耳朵", "£3.50", "!",
                                   "noodles …\tfor £3.50!", "In (1886–1900), “Zoë Ñandú” ate\u00A0猫耳朵's  noodles"}) {
    const std::vector<int32_t> ids = model.output().encode(answer, ready);
    ASSERT_EQ(ids.size(), 2u);
    EXPECT_LE(ids[0], ids[1]);
    EXPECT_EQ(model.output().written(ids, ready), answer);
    const data::TextRange place = model.output().place(ids, ready).value();
    EXPECT_EQ(data::text_in(text, place), answer);
  }
  const std::string part = "and";
  EXPECT_EQ(model.output().written(model.output().encode(part, ready), ready), "Ñandú") << "tokens are taken whole";
  const std::string missing = "dog", nothing;
  EXPECT_EQ(message_of([&] { (void)model.output().encode(missing, ready); }),
            "answer: expected one that stands in the text, got \"dog\"");
  EXPECT_FALSE(model.output().has(missing, ready));
  EXPECT_NE(message_of([&] { (void)model.output().encode(nothing, ready); }).find("model.no_answer"), std::string::npos);
}

/// Of an answer that stands in the text twice, the place that is told counts.
TEST(Spans, AreFoundWhereTheyAreSaidToBe) {
  const TaskModel model = reader();
  const Ready ready = model.ready(asked("a b a b a", "where?"));
  const std::string answer = "b";
  const data::TextRange second{6, 7}, unknown{};
  EXPECT_EQ(model.output().encode(answer, ready), (std::vector<int32_t>{1, 1}));
  EXPECT_EQ(model.output().encode({answer, &second}, ready), (std::vector<int32_t>{3, 3}));
  EXPECT_EQ(model.output().encode({answer, &unknown}, ready), (std::vector<int32_t>{1, 1}));
}

TEST(Windows, HaveAllTokensAndOverlap) {
  const TaskModel model = reader({{"model.encoder.letters.kind", "convolution", ""}});
  const std::string text = "  " + letters(100);
  const Ready whole = model.ready(asked(text, "where is a?"));
  const std::vector<Ready> windows = model.parts(asked(text, "where is a?"));
  ASSERT_EQ(windows.size(), 5u) << "0…40, 15…55, 30…70, 45…85, 60…100";
  for (size_t w = 0; w < windows.size(); ++w) {
    const Ready& one = windows[w];
    ASSERT_EQ(one.length(), 40);
    EXPECT_EQ(one.further.at(0).tokens.ids, whole.further.at(0).tokens.ids);
    for (size_t t = 0; t < 40; ++t) {
      EXPECT_EQ(one.tokens.ids[t], whole.tokens.ids[15 * w + t]);
      EXPECT_EQ(one.letters[t], whole.letters[15 * w + t]);
      const data::TextRange range = one.tokens.ranges[t], in_whole = whole.tokens.ranges[15 * w + t];
      EXPECT_EQ(range.begin + one.offset, in_whole.begin);
      EXPECT_EQ(data::text_in(one.text, range), data::text_in(text, in_whole));
      EXPECT_EQ(one.tokens.words.at(static_cast<size_t>(one.tokens.word_of[t])), data::text_in(one.text, range));
    }
  }
  EXPECT_EQ(model.parts(asked(letters(40), "where?")).size(), 1u);
  EXPECT_EQ(model.parts(asked("", "where?")).size(), 1u);
}

TEST(Windows, GiveTheBestOfTheirAnswersOnce) {
  const TaskModel model = reader(), wide = reader({{"document.window", "1000", ""}});
  const Example fits = asked(letters(39), "where is b?"), longer = asked(letters(150), "where is b?");
  const std::vector<Answer> alone = answers_to(wide, fits, 5), same = answers_to(model, fits, 5);
  ASSERT_EQ(same.size(), 5u);
  for (size_t k = 0; k < 5; ++k) {
    EXPECT_EQ(same[k].text, alone[k].text);
    EXPECT_NEAR(same[k].score, alone[k].score, kTolerance);
  }
  std::vector<std::pair<double, data::TextRange>> each;
  for (const Ready& window : model.parts(longer)) {
    for (const Answer& one : answers_to(wide, asked(window.text, "where is b?"), 20)) {
      each.push_back({one.score, {one.found->begin + window.offset, one.found->end + window.offset}});
    }
  }
  std::ranges::stable_sort(each, std::greater(), [](const auto& one) { return one.first; });
  const std::vector<Answer> best = answers_to(model, longer, 10);
  ASSERT_EQ(best.size(), 10u);
  EXPECT_EQ(best[0].parts, static_cast<int64_t>(model.parts(longer).size()));
  EXPECT_EQ(*best[0].found, each[0].second);
  for (size_t k = 0; k < best.size(); ++k) {
    EXPECT_EQ(best[k].text, data::text_in(longer.text(), *best[k].found));
    const auto known = std::ranges::find(each, *best[k].found, [](const auto& one) { return one.second; });
    ASSERT_NE(known, each.end());
    EXPECT_NEAR(best[k].score, known->first, kTolerance) << "its best score in any window";
    for (size_t other = 0; other < k; ++other) {
      EXPECT_NE(*best[other].found, *best[k].found);
      EXPECT_GE(best[other].score, best[k].score);
    }
  }
}

TEST(Windows, AnswersDependOnNothingElseThatIsAsked) {
  const TaskModel model = reader();
  std::vector<Example> all;
  for (uint64_t i = 0; i < 9; ++i) all.push_back(asked(letters(10 + 25 * static_cast<int64_t>(i), i), "where is c?"));
  all.push_back(asked("", "where?")), all.push_back(asked("a b", " "));
  AnswerOptions options;
  options.search = model.config().options.search;
  const auto together = model.answer(all, options);
  for (size_t i = 0; i < all.size(); ++i) {
    const std::vector<Answer> alone = answers_to(model, all[i]);
    EXPECT_EQ(together[i].at(0).text, alone.at(0).text) << i;
    EXPECT_NEAR(together[i][0].score, alone[0].score, kTolerance);
  }
  EXPECT_EQ(together[9][0].text + together[10][0].text, "");
}

TEST(Windows, ThatTheAnswerIsFromIsExplained) {
  const TaskModel model = reader();
  const Example example = asked(letters(150), "where is b?");
  const Answer answer = answers_to(model, example).at(0);
  const explain::Trace trace = explain_text(model, example, {});
  EXPECT_EQ(trace.target.text, answer.text);
  ASSERT_TRUE(trace.found);
  EXPECT_EQ(data::text_in(trace.source.text, *trace.found), answer.text);
  ASSERT_EQ(trace.inputs.size(), 1u);
  EXPECT_EQ(trace.inputs[0].name, "question");
  EXPECT_EQ(trace.source.name, "document");
}

TEST(NoAnswer, IsGivenUnlessTheScoreIsAboveTheThreshold) {
  const TaskModel model = reader({{"model.no_answer", "true", ""}});
  const Example example = asked(letters(90), "where is b?");
  AnswerOptions options;
  options.search = model.config().options.search;
  options.search.n_best = options.search.beam = 3;
  const auto with = [&](double threshold) {
    options.no_answer = threshold;
    return model.answer(std::span(&example, 1), options).at(0);
  };
  const std::vector<Answer> never = with(1e5), always = with(-1e5);
  ASSERT_EQ(never.size(), 3u);
  EXPECT_TRUE(never[0].none);
  EXPECT_EQ(never[0].text, "");
  EXPECT_FALSE(never[0].found);
  EXPECT_FALSE(always.at(0).none);
  EXPECT_EQ(always[0].text, never[1].text) << "the rest is in order";
  const double margin = always[0].score - never[0].score;
  EXPECT_FALSE(with(margin - 1e-3)[0].none);
  EXPECT_TRUE(with(margin + 1e-3)[0].none);
  int nones = 0;
  for (const Answer& one : with(0)) nones += one.none;
  EXPECT_LE(nones, 1) << "one for all windows";
  const Ready ready = model.ready(example);
  const std::string nothing;
  EXPECT_EQ(model.output().encode(nothing, ready), (std::vector<int32_t>(2, static_cast<int32_t>(ready.length()))));
}

TEST(Documents, OneVocabularyIsSharedAndSaved) {
  const TestFolder folder;
  const SettingList settings{
      {"task", "answer", ""}, {"model.encoder.size", "8", ""}, {"tokeniser.min_count", "1", ""}};
  const Corpus corpus{.stream = std::make_shared<test::ListStream>(std::vector{asked("the cat sat", "who sat ?")})};
  test::save_untrained(folder.path() / "m", settings, corpus);
  const TaskModel model = TaskModel::load(folder.path() / "m");
  EXPECT_EQ(model.input(0).tokeniser(), model.input(1).tokeniser());
  const std::vector<int32_t> ids = model.ready(asked("who sat", "the ?")).tokens.ids;
  EXPECT_EQ(std::ranges::count(ids, data::kUnknown), 0) << "words of questions are known in documents";
  EXPECT_EQ(message_of([&] { (void)model.ready({.inputs = {std::string("a")}}); }),
            "answer: expected document and question, got 1 input");
}

/// A label is a word if it is one token of the input's vocabulary, however it is written; saved and loaded as well.
TEST(Documents, AnswersThatAreWordsShareTheVectorsOfAMemory) {
  const auto example = [](const char* right) { return test::question("Mary took the Milk .", "Where is Mary ?", {right}); };
  const Corpus corpus{.stream = std::make_shared<test::ListStream>(
                          std::vector{example("milk"), example("yes"), example("MARY"), example("milk,mary")})};
  const SettingList tied{{"task", "answer", ""},        {"model.name", "memory", ""},
                         {"model.size", "4", ""},       {"model.tied_output", "true", ""},
                         {"tokeniser.lowercase", "true", ""}, {"tokeniser.min_count", "1", ""}};
  const TestFolder folder;
  test::save_untrained(folder.path() / "m", tied, corpus);
  TaskModel loaded = TaskModel::load(folder.path() / "m");
  for (const nn::NamedParam& p : nn::parameters(loaded.model())) {
    if (p.name == "answers") {
      EXPECT_EQ(p.var.shape(), (Shape{2, 4})) << "of \"milk,mary\" and \"yes\"";
    }
    EXPECT_EQ(p.name.find("output"), p.name.npos);
  }
  const auto& memory = dynamic_cast<const models::Memory&>(loaded.model());
  const auto tables = nn::parameters(loaded.model());
  const auto read = std::ranges::find(tables, "encoder.words.3", &nn::NamedParam::name);
  ASSERT_NE(read, tables.end());
  const TapePause pause;
  Var words = read->var;
  const int32_t milk = loaded.input(0).tokeniser()->encode("milk").at(0);
  const Ready ready = loaded.ready(asked("Mary took the", "Where is Mary?"));  // without the word
  const std::array<const Ready*, 1> one{&ready};
  const Tensor before = memory.logits(loaded.source(one)).value().clone();
  for (int64_t d = 0; d < 4; ++d) words.value().data()[milk * 4 + d] += 1;
  const Tensor after = memory.logits(loaded.source(one)).value();
  for (int32_t label = 0; label < 4; ++label) {
    const bool is_milk = loaded.output().written(std::array{label}, ready) == "milk";
    EXPECT_EQ(after.data()[label] != before.data()[label], is_milk) << label;
  }
}

TEST(Typed, LinesHaveAllInputsOrWhatIsMissing) {
  const TaskRow& row = task_named("answer");
  const auto texts = [&](const std::vector<std::string>& given, const std::string& line) {
    std::vector<std::string> all;
    for (const Value& one : typed_example(row, given, "line 3", line).inputs) all.push_back(std::get<std::string>(one));
    return all;
  };
  const std::vector<std::string> both{"a b", "why?"};
  EXPECT_EQ(texts({}, "a b\twhy?"), both);
  EXPECT_EQ(texts({}, R"({"question": "why?", "document": "a b"})"), both);
  EXPECT_EQ(texts({}, R"({"question": "why?", "document": "a b", "answer": ["b"], "name": "q1"})"), both);
  EXPECT_EQ(texts({"a b"}, "why?"), both);
  EXPECT_EQ(texts({"a b"}, R"({"question": "why?"})"), both);
  EXPECT_EQ(message_of([&] { texts({"a b"}, "why?\twho?"); }),
            "line 3: expected a question or {\"question\": …}, got 2 columns in \"why?\\x09who?\"");
  const auto refused = [&](const std::string& line) { return message_of([&] { texts({}, line); }); };
  EXPECT_EQ(refused("a b"),
            "line 3: expected \"document<tab>question\" or {\"document\": …, \"question\": …}, got 1 column in \"a b\"");
  EXPECT_NE(refused("a\tb\tc").find("got 3 columns"), std::string::npos);
  EXPECT_EQ(refused("\twhy?"), "line 3: expected a document with at least one word, got an empty one");
  EXPECT_EQ(refused("a\t "), "line 3: expected a question with at least one word, got an empty one");
  EXPECT_EQ(refused(R"({"document": "a"})"),
            "line 3: expected {\"document\": …, \"question\": …}, got no \"question\"");
  EXPECT_EQ(refused(R"({"document": "a", "question": 3})"), "line 3: expected text in \"question\", got number");
  EXPECT_NE(refused(R"({"document": "a", "questoin": "b"})").find("the nearest is \"question\""), std::string::npos);
  EXPECT_NE(refused("{\"document\": [[[[").find("expected a JSON object"), std::string::npos);
}

/// "… red is k7 …", of k0 … k39, and what k7 is.
std::string facts(Random& random, int64_t count, int64_t key, std::string& answer) {
  constexpr const char* kColours[] = {"red", "blue", "green", "black", "white"};
  std::string text;
  const int64_t at = static_cast<int64_t>(random.below(static_cast<uint64_t>(count)));
  for (int64_t i = 0; i < count; ++i) {
    const std::string colour = kColours[random.below(5)];
    const int64_t name = i == at ? key : (key + 1 + static_cast<int64_t>(random.below(39))) % 40;
    text += "k" + std::to_string(name) + " is " + colour + " . ";
    if (i == at) answer = colour;
  }
  return text;
}

/// It learns to look where the question's word stands; and finds it wherever that is in a document of 20,000 words.
TEST(DocumentsSlow, AnAnswerInTheLastWindowOfALongDocumentIsFound) {
  const TestFolder folder;
  Random random(4);
  std::string lines;
  for (int i = 0; i < 1500; ++i) {
    const int64_t key = static_cast<int64_t>(random.below(40));
    std::string answer;
    const std::string document = facts(random, 6, key, answer);
    lines += document + "\twhat is k" + std::to_string(key) + " ?\t" + answer + "\n";
  }
  lines += "k1 is red .\twhat is k1 ?\tpurple\n";
  const TaskConfig config({{"task", "answer", ""},
                           {"data", folder.file("facts.tsv", lines).string(), "", true},
                           {"model.encoder.size", "24", ""},
                           {"model.encoder.letters.kind", "none", ""},
                           {"model.dropout", "0", ""},
                           {"document.window", "60", ""},
                           {"document.stride", "40", ""},
                           {"batch.tokens", "800", ""},
                           {"train.rate", "5e-3", ""},
                           {"train.epochs", "6", ""}});
  TaskTraining training(config, folder.path() / "m", false, [](const std::string&) {});
  EXPECT_NE(training.summary().find("1 question left out"), std::string::npos) << training.summary();
  EXPECT_NE(training.summary().find("what is k1 ?"), std::string::npos);
  test::run(training);
  const TaskModel model = TaskModel::load(folder.path() / "m");
  std::string document;
  for (int64_t words = 0; words < 20'000; words += 4) {
    std::string any, fact;
    do fact = facts(random, 1, static_cast<int64_t>(random.below(40)), any);
    while (fact.starts_with("k7 "));
    document += fact;
  }
  for (const char* colour : {"red", "white"}) {
    const Answer answer = answers_to(model, asked(document + "k7 is " + colour + " .", "what is k7 ?")).at(0);
    EXPECT_EQ(answer.text, colour);
    EXPECT_EQ(answer.found->begin, static_cast<int64_t>(document.size() + 6));
    EXPECT_GT(answer.parts, 300);
  }
}

/// Networks that answer in words of their own read both texts, one after the other.
TEST(Documents, WordsOfOnesOwnDependOnTheQuestion) {
  for (const char* network : {"recurrent", "transformer", "encoder_decoder"}) {
    SCOPED_TRACE(network);
    const SettingList settings{{"task", "answer", ""}, {"tokeniser.min_count", "1", ""}, {"model.name", network, ""}};
    const Example example = test::question("a b c d e", "where is b ?", {"c"});
    const TaskModel model =
        test::untrained(settings, {.stream = std::make_shared<test::ListStream>(std::vector{example})});
    const auto score = [&](const std::string& question) {
      return answers_to(model, asked("a b c d e", question)).at(0).log_probability;
    };
    EXPECT_NE(score("where is b ?"), score("where is e ?"));
    ExplainOptions options;
    options.search = model.config().options.search;
    for (const std::string& method : explainable(model).methods) {
      options.method = method;
      EXPECT_EQ(explain_text(model, example, options).source.words.size(), 5u) << method;
    }
  }
}

TEST(Documents, AQuestionHasRoomBesideEveryWindow) {
  const TaskModel model = reader();
  EXPECT_EQ(answers_to(model, asked(letters(90), letters(40))).size(), 1u);
  EXPECT_EQ(message_of([&] { (void)answers_to(model, asked("a b", letters(41))); }),
            "question: expected at most 40 tokens, as many as are read at once, got 41");
}

TEST(Documents, SupportIsTheMostReadSentenceOfThoseThatFitAWindow) {
  const TaskModel model = reader();
  Example fits = asked("a b. c d. e f.", "where is b?"), longer = asked(letters(150), "where is b?");
  EXPECT_FALSE(has_support(model, examples_of({fits}))) << "nobody knows its sentences";
  longer.support = {0};
  EXPECT_FALSE(has_support(model, examples_of({longer})));
  std::vector<Example> each;
  for (int32_t sentence = 0; sentence < 3; ++sentence) fits.support = {sentence}, each.push_back(fits);
  ASSERT_TRUE(has_support(model, examples_of(each)));
  EXPECT_NEAR(support(model, examples_of(each)).read, 100.0 / 3, 1e-9) << "one of the three is read most";
  EXPECT_NEAR(support(model, examples_of(each)).by_chance, 100.0 / 3, 1e-9);
  fits.support = {0, 1, 2};
  EXPECT_EQ(support(model, examples_of({fits, longer})).read, 100);
}

}  // namespace
}  // namespace attend::tasks
