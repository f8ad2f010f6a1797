// Questions about documents: SQuAD's JSON, bAbI's stories, lines of columns and of JSON.
#include "attend/data/questions.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "attend/data/babi.h"
#include "attend/data/question_lines.h"
#include "attend/data/sentences.h"
#include "attend/data/squad.h"
#include "tests/support/folder.h"
#include "tests/support/message.h"

namespace attend::data {
namespace {

using nlohmann::json;
using test::message_of;
using test::says;
using Texts = std::vector<std::string>;
using Places = std::vector<TextRange>;

std::vector<Example> questions_in(std::string_view text, const std::string& name = "file") {
  const auto reader = questions(name, memory_bytes(std::as_bytes(std::span(text))));
  std::vector<Example> all;
  for (Example example; reader->next(example);) {
    EXPECT_TRUE(reader->where().starts_with(name + ":")) << reader->where();
    for (size_t i = 0; i < example.found.size(); ++i) {
      const TextRange& place = example.found[i];
      const std::string& answer = i == 0 ? example.target : example.also.at(i - 1);
      if (place == TextRange{}) continue;
      EXPECT_EQ(example.source.substr(static_cast<size_t>(place.begin), static_cast<size_t>(place.end - place.begin)),
                answer);
    }
    all.push_back(example);
  }
  Example none;
  EXPECT_FALSE(reader->next(none)) << "the end stays the end";
  return all;
}

std::string questions_refused(std::string_view text) {
  return message_of([&] { questions_in(text); });
}

json squad_answer(const std::string& text, int64_t start) { return {{"text", text}, {"answer_start", start}}; }

json squad_question(const std::string& id, json answers) {
  return {{"id", id}, {"question", "Who?"}, {"answers", std::move(answers)}};
}

std::string squad_file(const std::string& context, json qas) {
  const json paragraph = {{"context", context}, {"qas", std::move(qas)}};
  return json{{"version", "x"}, {"data", {{{"title", "T"}, {"paragraphs", json::array({paragraph})}}}}}.dump();
}

TEST(SquadFiles, HavePlacesInCodePoints) {
  const json three = {squad_answer("Al", 17), squad_answer("Ümit", 8), squad_answer("Al", 17)};
  const auto all = questions_in(squad_file(
      "Zoë and Ümit met Al.", {squad_question("q1", three), squad_question("q2", {squad_answer("Zoë", 0)})}));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].source, "Zoë and Ümit met Al.");
  EXPECT_EQ(all[0].further, Texts{"Who?"});
  EXPECT_EQ(all[0].target, "Al");
  EXPECT_EQ(all[0].also, Texts{"Ümit"}) << "each once";
  EXPECT_EQ(all[0].found, (Places{{19, 21}, {9, 14}}));
  EXPECT_EQ(all[0].name, "q1");
  EXPECT_EQ(all[1].found, (Places{{0, 4}}));
}

TEST(SquadFiles, MayHaveQuestionsWithoutAnAnswer) {
  json impossible = squad_question("no", json::array());
  impossible["is_impossible"] = true;
  impossible["plausible_answers"] = {squad_answer("b", 1)};
  json possible = squad_question("yes", {squad_answer("a", 0)});
  possible["is_impossible"] = false;
  const auto all = questions_in(squad_file("a b", {impossible, possible}));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].target, "");
  EXPECT_TRUE(all[0].also.empty() && all[0].found.empty());
  EXPECT_EQ(all[1].target, "a");
}

TEST(SquadFiles, MayHaveTheirKeysInAnyOrder) {
  const auto all = questions_in(
      R"({"data":[{"paragraphs":[{"qas":[{"answers":[{"answer_start":2,"text":"b"}],"id":"7","x":{"y":[[{}]]},
          "question":"Q?"}],"context":"a b"}],"title":null}],"version":2.0})");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].found, (Places{{2, 3}}));
}

TEST(SquadFiles, TakeTheNearestPlaceIfTheStartIsWrong) {
  const std::string context = "in May or in June or in July";
  const auto all = questions_in(squad_file(context, {squad_question("a", {squad_answer("in", 12)}),
                                                     squad_question("b", {squad_answer("in", 3)}),
                                                     squad_question("c", {squad_answer("in", 9999)})}));
  EXPECT_EQ(all.at(0).found, (Places{{10, 12}}));
  EXPECT_EQ(all.at(1).found, (Places{{0, 2}}));
  EXPECT_EQ(all.at(2).found, (Places{{21, 23}}));
}

TEST(SquadFiles, NameAllQuestionsWhoseAnswersAreNowhere) {
  EXPECT_EQ(questions_refused(squad_file("a b", {squad_question("q1", {squad_answer("c", 0)}),
                                                 squad_question("q2", {squad_answer("a", 0)}),
                                                 squad_question("q3", {squad_answer("d e", 1)})})),
            "file: expected answers that stand in their contexts, got 2 that do not; correct or remove them:\n"
            "  file:1, question \"q1\": \"c\"\n  file:1, question \"q3\": \"d e\"");
}

TEST(SquadFiles, ThatLackAnythingAreRefused) {
  const auto one = [](const char* context, const json& question) {
    return questions_refused(squad_file(context, {question}));
  };
  const json right = squad_question("q", {squad_answer("a", 0)});
  EXPECT_EQ(one("a", right), "");
  EXPECT_EQ(one("", right), "file:1, question \"q\": expected a document, got an empty one");
  EXPECT_EQ(one(" \n ", right), "file:1, question \"q\": expected a document, got nothing but white space");
  const auto with = [&](const char* key, json value) {
    json changed = right;
    changed[key] = std::move(value);
    return one("a", changed);
  };
  EXPECT_EQ(with("question", ""), "file:1, question \"q\": expected a question, got an empty one");
  EXPECT_EQ(with("answers", json::array()),
            "file:1, question \"q\": expected answers, or \"is_impossible\": true, got neither");
  EXPECT_EQ(with("is_impossible", true),
            "file:1, question \"q\": expected answers, or \"is_impossible\": true without any, got both");
  EXPECT_EQ(with("answers", {squad_answer("", 0)}), "file:1, question \"q\": expected the text of an answer, got none");
  EXPECT_EQ(with("answers", "a"), "file:1: expected a list in \"answers\", got text");
  EXPECT_EQ(with("answers", {squad_answer("a", -1)}),
            "file:1: expected a whole number from 0 in \"answer_start\", got another value");
  EXPECT_EQ(with("question", std::string("a\0b", 3)),
            "file:1, question \"q\": expected a question without zero bytes, got one with some");
  EXPECT_TRUE(says(questions_refused("{\"version\": \"1.1\"}"), "file: expected SQuAD's layout"));
  EXPECT_EQ(questions_refused("{\"data\": []}"), "file: expected questions, got none");
  EXPECT_EQ(questions_refused("{\"data\": [1]}"), "file:1: expected an object, got a whole number from 0");
}

TEST(SquadFiles, ThatAreBrokenOrDeepAreRefused) {
  const std::string whole = squad_file("a b", {squad_question("q", {squad_answer("a", 0)})});
  for (size_t size = 1; size < whole.size(); ++size) {
    EXPECT_NE(questions_refused(whole.substr(0, size)), "") << whole.substr(0, size);
  }
  EXPECT_EQ(questions_refused("{\"data\":\n [}"),
            "file:2: expected JSON, got what is not, after \"\"data\":<U+000A> [}\"");
  EXPECT_TRUE(says(questions_refused("{\"data\": \"\xFF\"}"), "file:1: expected JSON"));
  EXPECT_TRUE(says(questions_refused(whole + "{}"), "file:1: expected JSON"));
  const std::string deep = "{\"x\": " + std::string(1 << 20, '[');
  EXPECT_EQ(questions_refused(deep), "file:1: expected JSON at most 64 lists and objects deep, got more");
}

TEST(SquadFiles, MayBeOneLongLine) {
  const std::string context = std::string(size_t{5} << 20, 'x') + " end";
  std::vector<json> qas;
  for (int i = 0; i < 4; ++i) qas.push_back(squad_question(std::to_string(i), {squad_answer("end", (5 << 20) + 1)}));
  const auto all = questions_in(squad_file(context, qas));
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[3].found[0].begin, (5 << 20) + 1);
}

constexpr std::string_view kStories =
    "1 Mary moved to the bathroom.\n2 John took the milk. John left.\n3 Where is Mary? \tbathroom\t1\n"
    "4 Mary went to the garden.\r\n5 Where is Mary?\tgarden\t4 1\n\n6 What is here?\tapple,football\n"
    "1 Gertrude is a mouse.\n2 What is gertrude?\tyes\t1\n";

TEST(BabiFiles, AreStoriesWithQuestions) {
  const auto all = questions_in(kStories, "en/qa2_two-facts_train.txt.gz");
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].source, "Mary moved to the bathroom.\nJohn took the milk. John left.");
  EXPECT_EQ(all[0].further, Texts{"Where is Mary?"});
  EXPECT_EQ(all[0].target, "bathroom");
  EXPECT_EQ(all[0].support, std::vector<int32_t>{0});
  EXPECT_EQ(all[0].group, "qa2_two-facts");
  EXPECT_EQ(all[0].found, (Places{{18, 26}}));
  EXPECT_EQ(all[1].source, all[0].source + "\nMary went to the garden.") << "without the question between";
  EXPECT_EQ(all[1].support, (std::vector<int32_t>{3, 0})) << "the second line has two sentences";
  EXPECT_EQ(split_sentences(all[1].source).size(), 4u);
  EXPECT_EQ(all[2].target, "apple,football");
  EXPECT_TRUE(all[2].support.empty() && all[2].found.empty());
  EXPECT_EQ(all[3].source, "Gertrude is a mouse.");
  EXPECT_TRUE(all[3].found.empty());
}

TEST(BabiFiles, FindAnswersInTheirSupport) {
  const auto all = questions_in(
      "1 A is in the den.\n2 B is in the den.\n3 B was in the dens.\n4 Where is A?\tden\t1\n5 Where is B?\tden\n");
  EXPECT_EQ(all.at(0).found, (Places{{12, 15}}));
  EXPECT_EQ(all.at(1).found, (Places{{29, 32}})) << "the last one that is a whole word";
}

TEST(BabiFiles, ThatLackAnythingAreRefused) {
  const std::string start = "1 A is in.\n";
  EXPECT_EQ(questions_refused(start + "3 B is in.\n"),
            "file:2: expected the number 2, or 1 for a new story, got 3");
  EXPECT_EQ(questions_refused(start + "B is in.\n"),
            "file:2: expected a line number and a sentence, \"1 Mary went home.\", got \"B is in.\"");
  EXPECT_EQ(questions_refused(start + "2\n"),
            "file:2: expected a line number and a sentence, \"1 Mary went home.\", got \"2\"");
  EXPECT_EQ(questions_refused(start + "2 Who?\tA\t1\n3 Who?\tA\t2"),
            "file:3: expected the numbers of statements before the question in its story, got \"2\" in \"2\"");
  EXPECT_EQ(questions_refused(start + "2 Who?\tA\tone\n"),
            "file:2: expected the numbers of statements before the question in its story, got \"one\" in \"one\"");
  EXPECT_EQ(questions_refused(start + "2 Who?\t\t1\n"),
            "file:2: expected \"question<tab>answer\", got no answer after \"Who?\"");
  EXPECT_EQ(questions_refused(start + "2  \tA\t1\n"), "file:2: expected a question, got an empty one");
  EXPECT_EQ(questions_refused(start + "1 Who?\tA\n"),
            "file:2: expected a statement before the first question of a story, got \"Who?\\x09A\"");
  EXPECT_TRUE(says(questions_refused(start + "2 Who?\tA\t1\tWhere?\tB\n"), "got 5 columns"));
  EXPECT_EQ(questions_refused(start), "file: expected stories with questions, got no question");
  EXPECT_TRUE(says(questions_refused(start + "99999999999999999999 x"), "file:2: expected a line number"));
}

TEST(BabiTasks, FollowFromTheNameOfTheFile) {
  EXPECT_EQ(task_of_file("a/b/qa1_single-supporting-fact_train.txt"), "qa1_single-supporting-fact");
  EXPECT_EQ(task_of_file("qa1_test.txt.gz"), "qa1");
  EXPECT_EQ(task_of_file("stories"), "stories");
  EXPECT_EQ(task_of_file("_test"), "_test");
}

TEST(QuestionLinesRead, ColumnsAndJson) {
  const auto all = questions_in(
      "Al saw the Alps. \tWho saw?\tAl\tthe Alps\tnobody\t\tAl\r\n \n"
      "a b\tNothing?\t\n"
      "{\"document\": \"a\\tb\\nc\", \"question\": \"Q\", \"answer\": [\"c\", \"b\"], \"name\": \"n\", "
      "\"group\": \"g\"}\n"
      " {\"document\": \"a b\", \"question\": \"Q\", \"answer\": \"x\"}\n"
      "{\"answer\": [], \"document\": \"a b\", \"question\": \"Q\"}");
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(all[0].source, "Al saw the Alps.");
  EXPECT_EQ(all[0].further, Texts{"Who saw?"});
  EXPECT_EQ(all[0].target, "Al");
  EXPECT_EQ(all[0].also, (Texts{"the Alps", "nobody"}));
  EXPECT_EQ(all[0].found, (Places{{0, 2}, {7, 15}, {}}));
  EXPECT_EQ(all[1].target, "");
  EXPECT_TRUE(all[1].found.empty());
  EXPECT_EQ(all[2].source, "a\tb\nc");
  EXPECT_EQ(all[2].found, (Places{{4, 5}, {2, 3}}));
  EXPECT_EQ(all[2].name + all[2].group, "ng");
  EXPECT_TRUE(all[3].found.empty()) << "an answer need not stand in its document";
  EXPECT_EQ(all[4].target, "");
}

TEST(QuestionLinesRead, FindWholeWordsFirst) {
  EXPECT_EQ(questions_in("The category of the cat\tWhat?\tcat\n").at(0).found, (Places{{20, 23}}));
  EXPECT_EQ(questions_in("concatenate\tWhat?\tcat\n").at(0).found, (Places{{3, 6}}));
  EXPECT_EQ(questions_in("it cost $5.\tWhat?\t$5\n").at(0).found, (Places{{8, 10}}));
}

TEST(QuestionLinesRead, WhatLacksAnythingIsRefused) {
  EXPECT_EQ(questions_refused("a b\n"),
            "file:1: expected \"document<tab>question\", got no tab in \"a b\"; put one between the document and the "
            "question");
  EXPECT_EQ(questions_refused("a\tb\n"),
            "file:1: expected a document, a question and its answer, got no answer in \"a\\x09b\"; leave it empty if "
            "there is none");
  EXPECT_EQ(questions_refused(" \tb\tc"), "file:1: expected a document, got an empty one");
  EXPECT_EQ(questions_refused("a\t\tc"), "file:1: expected a question, got an empty one");
  EXPECT_TRUE(says(questions_refused("a\tb\t\tc"), "got an empty one before others"));
  EXPECT_EQ(questions_refused(""), "file: expected lines \"document<tab>question<tab>answer\", got none");
  EXPECT_EQ(questions_refused("\n \n"), "file: expected lines \"document<tab>question<tab>answer\", got none");
  EXPECT_TRUE(says(questions_refused("a\tb\tc\n{\"document\": "), "file:2: expected a JSON object"));
  EXPECT_EQ(questions_refused("{\"document\": \"a\", \"answer\": \"b\"}"),
            "file:1: expected {\"document\": …, \"question\": …}, got no \"question\"");
  EXPECT_EQ(questions_refused("{\"document\": \"a\", \"questoin\": \"b\"}"),
            "file:1: expected one of document, question, answer, name, group, got \"questoin\"; the nearest is "
            "\"question\"");
  EXPECT_EQ(questions_refused("{\"document\": 1, \"question\": \"b\"}"),
            "file:1: expected text in \"document\", got number");
  EXPECT_TRUE(says(questions_refused("{\"document\": " + std::string(1 << 20, '[')), "file:1: expected a JSON object"));
  EXPECT_TRUE(says(questions_refused(std::string(17 << 20, 'x') + "\ty\tz"), "expected a line of at most"));
  EXPECT_EQ(questions_in(std::string(5 << 20, 'x') + " end\ty?\tend").at(0).found[0].begin, (5 << 20) + 1);
}

TEST(QuestionLine, IsWhatSomebodyAsks) {
  const Example tabbed = parse_question_line("line 1", "A b.\tWho?");
  EXPECT_EQ(tabbed.source + "|" + tabbed.further.at(0) + "|" + tabbed.target, "A b.|Who?|");
  const Example object = parse_question_line("line 1", R"({"question": "Who?", "document": "A\nb.", "answer": "b"})");
  EXPECT_EQ(object.source + "|" + object.further.at(0) + "|" + object.target, "A\nb.|Who?|b");
  const auto refused = [](std::string_view line) { return message_of([&] { parse_question_line("line 1", line); }); };
  EXPECT_EQ(refused("a\tb?\tc?"),
            "line 1: expected \"document<tab>question\", got 3 columns; give one question a line");
  EXPECT_EQ(refused("a\t"), "line 1: expected a question, got an empty one");
  EXPECT_EQ(refused("\tb"), "line 1: expected a document, got an empty one");
  EXPECT_TRUE(says(refused("ab"), "got no tab"));
  EXPECT_TRUE(says(refused("\xFF\tb"), "expected UTF-8"));
  EXPECT_TRUE(says(refused(""), "got no tab"));
}

TEST(QuestionFiles, AreRecognisedByTheirBeginning) {
  const std::string mark = "\xEF\xBB\xBF";
  const std::string squad = squad_file("a b", {squad_question("q", {squad_answer("b", 2)})});
  for (const std::string& text : {mark + squad, "\n " + squad}) EXPECT_EQ(questions_in(text).at(0).found[0].begin, 2);
  EXPECT_EQ(questions_in(mark + std::string(kStories)).size(), 4u);
  EXPECT_EQ(questions_in("\n" + std::string(kStories)).size(), 4u);
  EXPECT_EQ(questions_in("1 a\tb\tc\n").at(0).source, "1 a") << "a story does not begin with a question";
  const test::TestFolder folder;
  EXPECT_EQ(read_examples("questions", folder.file("qa1_test.txt", kStories)).at(0).group, "qa1");
  EXPECT_TRUE(says(message_of([&] { read_examples("questions", folder.path()); }), "expected a file, got a folder"));
}

}  // namespace
}  // namespace attend::data
