// Questions about documents over HTTP: inputs by their names, and where answers were found.
#include <gtest/gtest.h>

#include <fstream>

#include "tests/serve/served.h"

namespace attend::test {
namespace {

std::string reader_folder(const TestFolder& folder) {
  save_untrained(folder.path() / "reader", small_reader(), question_corpus());
  std::ofstream(folder.path() / "reader" / "valid.jsonl")
      << R"({"source":"why?","reference":"a","output":"b","chrf":1.5,"inputs":{"document":"a b","question":"why?"}})" << '\n';
  return (folder.path() / "reader").string();
}

const Served& reader() {
  static const Served one({}, [](const TestFolder& folder) {
    return std::vector{reader_folder(folder), tiny_model(folder, "tiny")};
  });
  return one;
}

json asked(const json& body) {
  const auto result = reader().post("/v1/run", body.dump());
  return result ? json::parse(result->body) : json();
}
std::string refusal(const json& body) { return asked(body).value("error", json::object()).value("message", ""); }

TEST(ServedDocuments, AreDescribedByTheirInputs) {
  const json model = json::parse(reader().get("/v1/models")->body)["models"][0];
  EXPECT_EQ(model["inputs"], json::parse(R"([{"name":"document","kind":"text"},{"name":"question","kind":"text"}])"));
  EXPECT_EQ(model["answers"], "span");
}

TEST(ServedDocuments, AnswersSayWhereTheyWereFound) {
  const std::string document = "“é” a b c d — e f g";
  const json reply = asked({{"document", document}, {"question", "where is b ?"}, {"n_best", 3}});
  ASSERT_EQ(reply["answers"].size(), 1u) << reply;
  ASSERT_EQ(reply["answers"][0].size(), 3u);
  for (const json& one : reply["answers"][0]) {
    const size_t begin = one["found"]["bytes"][0], end = one["found"]["bytes"][1];
    EXPECT_EQ(document.substr(begin, end - begin), one["text"]);
    const size_t first = one["found"]["characters"][0], last = one["found"]["characters"][1];
    EXPECT_LE(first, begin);
    EXPECT_LE(last - first, end - begin);
    EXPECT_LE(last, 19u);
  }
  json streamed{{"document", document}, {"question", "where is b ?"}, {"stream", true}};
  const std::string lines = reader().post("/v1/run", streamed.dump())->body;
  const size_t last = lines.find_last_of('\n', lines.size() - 2) + 1;
  EXPECT_EQ(json::parse(lines.substr(last))["answers"][0][0], reply["answers"][0][0]) << lines;
}

TEST(ServedDocuments, QuestionsOfTheGalleryCanBeAskedAgain) {
  const json gallery = json::parse(reader().get("/v1/models/reader/gallery")->body);
  ASSERT_EQ(gallery["sentences"].size(), 1u) << gallery;
  EXPECT_EQ(gallery["sentences"][0]["inputs"].dump(), R"({"document":"a b","question":"why?"})");
}

TEST(ServedDocuments, SeveralQuestionsAreAskedAtOnce) {
  const json document = "a b c d e f g", other = "h i j k";
  const auto texts = [](const json& reply) {
    std::vector<std::string> all;
    for (const json& one : reply["answers"]) all.push_back(one[0]["text"]);
    return all;
  };
  const auto one = [&](const json& about, const char* question) {
    return texts(asked({{"document", about}, {"question", question}})).at(0);
  };
  EXPECT_EQ(texts(asked({{"document", document}, {"question", {"where is b ?", "where is g ?"}}})),
            (std::vector{one(document, "where is b ?"), one(document, "where is g ?")}));
  EXPECT_EQ(texts(asked({{"document", {document, other}}, {"question", {"where is b ?", "where is i ?"}}})),
            (std::vector{one(document, "where is b ?"), one(other, "where is i ?")}));
}

TEST(ServedDocuments, LongOnesAreReadInWindows) {
  std::string document;
  for (int i = 0; i < 500; ++i) document += std::string(1, static_cast<char>('a' + i * 7 % 26)) + " ";
  const json reply = asked({{"document", document}, {"question", "where is b ?"}});
  EXPECT_GT(reply["answers"][0][0]["parts"], 10) << reply;
  EXPECT_NE(reply["notes"].dump().find("windows that overlap"), std::string::npos);
}

TEST(ServedDocuments, WhatIsMissingIsNamed) {
  EXPECT_EQ(refusal({{"document", "a"}}),
            "question: the model \"reader\" reads document and question, got no question");
  EXPECT_NE(refusal({{"text", "a"}}).find("document"), std::string::npos);
  EXPECT_NE(refusal({{"document", " "}, {"question", "a"}}).find("document: expected a text with at least one word"),
            std::string::npos);
  EXPECT_NE(refusal({{"document", "a"}, {"question", json::array()}}).find("question: expected a list of at least one"),
            std::string::npos);
  EXPECT_NE(refusal({{"document", {"a", "b"}}, {"question", {"a", "b", "c"}}}).find("document: expected one, or one for each"),
            std::string::npos);
  EXPECT_NE(refusal({{"document", "a"}, {"question", "b"}, {"text", "c"}}).find("got text and document"),
            std::string::npos);
  EXPECT_EQ(refusal({{"model", "tiny"}, {"document", "a"}, {"question", "b"}}),
            "document: the model \"tiny\" reads text, got a document");
  EXPECT_NE(refusal({{"document", std::string(500'000, 'a')}, {"question", "b"}}).find("at most 400000 characters"),
            std::string::npos);
}

TEST(ServedDocuments, AreExplained) {
  const auto result = reader().post("/v1/explain", json{{"document", "a b c d"}, {"question", "where is b ?"}}.dump());
  ASSERT_EQ(result->status, 200) << result->body;
  const json trace = json::parse(result->body);
  EXPECT_EQ(trace["source"]["name"], "document");
  EXPECT_EQ(trace["inputs"][0]["name"], "question");
  const std::string text = trace["target"]["text"];
  EXPECT_EQ(std::string("a b c d").find(text), trace["target"]["found"][0].get<size_t>());
}

}  // namespace
}  // namespace attend::test
