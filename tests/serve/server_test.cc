// The endpoints, as a client sees them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "attend/data/utf8.h"
#include "serve/api.h"
#include "tests/serve/served.h"

namespace attend::test {
namespace {

Served& served() {
  static Served one;
  return one;
}

TEST(Server, SaysThatItIsWell) {
  const auto result = served().get("/healthz");
  EXPECT_EQ(body_of(result), json({{"status", "ok"}, {"models", 2}, {"running", 0}, {"waiting", 0}}));
  EXPECT_EQ(result->get_header_value("X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(served().client().Head("/healthz")->status, 200);
}

TEST(Server, NamesItsModelsWithAllThatAFormNeeds) {
  const json models = body_of(served().get("/v1/models"))["models"];
  ASSERT_EQ(models.size(), 2u);
  EXPECT_EQ(models[0]["name"], "tiny");
  EXPECT_EQ(models[1]["name"], "tiny-2");
  EXPECT_EQ(models[0]["network"], "recurrent");
  EXPECT_GT(models[0]["parameters"], 100);
  EXPECT_EQ(models[0]["source_vocabulary"], 14);
  EXPECT_EQ(models[0]["longest"], 40);
  EXPECT_EQ(models[0]["attends"], true);
  EXPECT_EQ(models[0]["methods"][0], "attention");
  EXPECT_EQ(models[0]["sites"][0], json({{"site", "decoder.memory"}, {"layer", 0}, {"heads", 1}, {"queries", "target"}, {"keys", "source"}}));
  EXPECT_EQ(models[0]["search"]["beam"], 4);
  EXPECT_EQ(models[0]["search"]["max_length"], 6);
  EXPECT_TRUE(models[0]["scores"].is_array());
}

TEST(Server, AnswersOneTextAndSeveral) {
  const json one = body_of(served().post("/v1/run", R"({"text": "a b c", "beam": 2})"));
  EXPECT_EQ(one["model"], "tiny");
  ASSERT_EQ(one["answers"].size(), 1u);
  ASSERT_EQ(one["answers"][0].size(), 1u);
  EXPECT_LT(one["answers"][0][0]["log_probability"], 0);
  EXPECT_TRUE(one["answers"][0][0]["ended"].is_boolean());
  std::string texts = R"("d")";
  for (int i = 0; i < 40; ++i) texts += R"(, "a b c")";  // more than one group
  const json all = body_of(served().post("/v1/run", R"({"model": "tiny-2", "beam": 2, "texts": [)" + texts + "]}"));
  EXPECT_EQ(all["model"], "tiny-2");
  ASSERT_EQ(all["answers"].size(), 41u);
  EXPECT_EQ(all["answers"][40][0]["text"], one["answers"][0][0]["text"]);
}

TEST(Server, KeepsTheOptionsOfASearch) {
  const json best = body_of(served().post("/v1/run", R"({"text": "a b c", "n_best": 3})"));
  EXPECT_EQ(best["answers"][0].size(), 3u);
  const char* drawn = R"({"text": "a b c", "sample": true, "n_best": 2, "seed": 5, "temperature": 0.7})";
  EXPECT_EQ(body_of(served().post("/v1/run", drawn)), body_of(served().post("/v1/run", drawn)));
  const json begun = body_of(served().post("/v1/run", R"({"text": "a b c", "prefix": "B B"})"));
  EXPECT_TRUE(begun["answers"][0][0]["text"].get<std::string>().starts_with("B B")) << begun;
}

TEST(Server, StreamsWhatItSaysAndThenTheAnswer) {
  const auto result = served().post("/v1/run", R"({"text": "a b c", "beam": 2, "stream": true})");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, 200);
  EXPECT_EQ(result->get_header_value("Content-Type"), "application/x-ndjson");
  std::istringstream lines(result->body);
  std::vector<json> all;
  for (std::string line; std::getline(lines, line);) all.push_back(json::parse(line));
  ASSERT_GE(all.size(), 1u);
  for (size_t i = 0; i + 1 < all.size(); ++i) EXPECT_TRUE(all[i].contains("partial")) << result->body;
  EXPECT_EQ(all.back(), body_of(served().post("/v1/run", R"({"text": "a b c", "beam": 2})")));
}

TEST(Server, StreamsEventsWhereTheyAreAskedFor) {
  const httplib::Headers headers{{"Accept", "text/event-stream"}};
  const auto result = served().client().Post("/v1/run", headers, R"({"text": "a b c", "beam": 2, "stream": true})",
                                             "application/json");
  expect_described("post", "/v1/run", result);
  EXPECT_EQ(result->get_header_value("Content-Type"), "text/event-stream");
  std::istringstream lines(result->body);
  std::string event, data, empty;
  bool ended = false;
  while (std::getline(lines, event)) {
    ASSERT_FALSE(ended) << "the answer is the last one";
    ASSERT_TRUE(std::getline(lines, data) && std::getline(lines, empty));
    EXPECT_EQ(empty, "");
    ASSERT_TRUE(event.starts_with("event: ") && data.starts_with("data: ")) << result->body;
    const json said = json::parse(data.substr(6));
    ended = event == "event: answer";
    EXPECT_TRUE(ended || (event == "event: partial" && said.contains("partial"))) << result->body;
    if (ended) {
      EXPECT_EQ(said, body_of(served().post("/v1/run", R"({"text": "a b c", "beam": 2})")));
    }
  }
  EXPECT_TRUE(ended);
}

TEST(Server, TakesADeadlineWithinItsOwn) {
  EXPECT_EQ(served().post("/v1/run", R"({"text": "a b", "seconds": 30})")->status, 200);
  EXPECT_EQ(served().post("/v1/explain", R"({"text": "a b", "seconds": 30})")->status, 200);
  for (const char* path : {"/v1/run", "/v1/explain"}) {
    expect_error(served().post(path, R"({"text": "a b", "seconds": 0})"), 400, "bad_request", "seconds: expected more");
    expect_error(served().post(path, R"({"text": "a b", "seconds": 61})"), 400, "over_limit",
                 "seconds: expected at most 60 here, got 61");
  }
}

TEST(Server, StreamsNoPartsOfATextThatIsTooLongForOnePiece) {
  std::string text = "a";
  for (int i = 0; i < 60; ++i) text += " b";
  const auto result = served().post("/v1/run", json{{"text", text}, {"stream", true}}.dump());
  EXPECT_EQ(json::parse(result->body)["answers"][0][0]["parts"], 2);
}

TEST(Server, SaysWhatToKnowBeforeOneTrustsAnAnswer) {
  using Notes = std::vector<std::string>;
  const auto run = [](const json& body) {
    return body_of(served().post("/v1/run", body.dump()))["notes"].get<Notes>();
  };
  EXPECT_EQ(run({{"text", "a b"}}), Notes());
  const Notes strange = run({{"texts", {"a b", "a zebra zebra"}}});
  ASSERT_EQ(strange.size(), 1u);
  EXPECT_TRUE(strange[0].starts_with("texts[1]: The vocabulary does not contain “zebra”:")) << strange[0];
  std::string text = "a";
  for (int i = 0; i < 60; ++i) text += " b";
  const Notes cut = run({{"text", text}});
  ASSERT_EQ(cut.size(), 1u);
  EXPECT_EQ(
      cut[0],
      "This text has 61 tokens, more than any in training (at most 40): it was answered in 2 parts, each by itself.");
  const json trace = body_of(served().post("/v1/explain", json{{"text", text + " zebra"}}.dump()));
  ASSERT_EQ(trace["notes"].size(), 2u);
  EXPECT_EQ(trace["notes"][0],
            "This text has 62 tokens, more than any in training (at most 40): expect a worse answer than usual.");
  EXPECT_EQ(trace["source"]["unknown"], json({61}));
}

TEST(Server, ExplainsAnAnswer) {
  const json trace = body_of(served().post("/v1/explain", R"({"text": "a b c", "beam": 2})"));
  EXPECT_EQ(trace["format"], "attend-trace/1");
  EXPECT_EQ(trace["model"]["name"], "tiny");
  EXPECT_EQ(trace["source"]["text"], "a b c");
  EXPECT_FALSE(trace["sites"][0].contains("weights"));
  const json given = body_of(served().post("/v1/explain", R"({"text": "a b c", "target": "B A"})"));
  EXPECT_EQ(given["target"]["text"], "B A");
  EXPECT_EQ(given["target"]["given"], true);
}

TEST(Server, ShowsCurvesThinnedAndTheWorstSentencesFirst) {
  std::ofstream log(served().folder().path() / "tiny/log.jsonl");
  for (int step = 1; step <= 3000; ++step) log << json{{"step", step}, {"loss", 1.0 / step}} << '\n';
  log << json{{"step", 3000}, {"valid_loss", 0.5}, {"bleu", 12.5}, {"output", "x"}} << "\n{\"cut";
  log.close();
  const json curves = body_of(served().get("/v1/models/tiny/curves"));
  EXPECT_LE(curves["train"].size(), 501u);
  EXPECT_GE(curves["train"].size(), 250u);
  EXPECT_EQ(curves["train"].back()["step"], 3000);
  EXPECT_EQ(curves["valid"], json::parse(R"([{"step": 3000, "valid_loss": 0.5, "bleu": 12.5}])"));
  EXPECT_EQ(body_of(served().get("/v1/models/tiny-2/curves")), json::parse(R"({"train": [], "valid": []})"));

  EXPECT_TRUE(body_of(served().get("/v1/models/tiny/gallery")).contains("note"));
  std::ofstream(served().folder().path() / "other/tiny/valid.jsonl")
      << R"({"source":"a","reference":"A","output":"A","chrf":100})" << '\n'
      << R"({"source":"b","reference":"B","output":"C","chrf":3.5})" << '\n';
  const json gallery = body_of(served().get("/v1/models/tiny-2/gallery"));
  ASSERT_EQ(gallery["sentences"].size(), 2u);
  EXPECT_EQ(gallery["sentences"][0]["source"], "b");
}

TEST(Server, GivesThePageWithATagAndAPolicy) {
  const auto page = served().get("/");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->status, 200);
  EXPECT_TRUE(page->get_header_value("Content-Type").starts_with("text/html"));
  EXPECT_TRUE(page->get_header_value("Content-Security-Policy").starts_with("default-src 'self'"));
  EXPECT_EQ(page->get_header_value("Cache-Control"), "no-cache");
  const auto again = served().client().Get("/", {{"If-None-Match", page->get_header_value("ETag")}});
  EXPECT_EQ(again->status, 304);
  EXPECT_EQ(again->body, "");
}

TEST(Server, RefusesWhatIsAskedWrongly) {
  struct Row {
    const char *body, *part;
  };
  for (const auto& [body, part] : std::initializer_list<Row>{
           {"", "body: expected JSON, got nothing"},
           {"{\"text\": ", "expected JSON"},
           {"[1]", "an object"},
           {"[[[[[[[[1]]]]]]]]", "deeper"},
           {"{}", "expected \"text\", \"image\" or \"sound\""},
           {R"({"text": 3})", "text: expected a text, got 3"},
           {R"({"text": "  "})", "at least one word"},
           {R"({"text": "a", "texts": ["a"]})", "got text and texts"},
           {R"({"texts": []})", "an empty one"},
           {R"({"texts": [""]})", "texts[0]: expected a text with at least one word, got an empty one"},
           {R"({"text": "a", "bem": 4})", "the nearest is \"beam\""},
           {R"({"text": "a", "beam": "4"})", "beam: expected a whole number, got \"4\""},
           {R"({"text": "a", "beam": 0})", "beam"},
           {R"({"text": "a", "beam": 1e99})", "beam"},
           {R"({"text": "a", "beam": 99999999999999999999})", "beam"},
           {R"({"text": "a", "temperature": 0, "sample": true})", "temperature"},
           {R"({"text": "a", "sample": true, "beam": 3})", "both"},
           {R"({"texts": ["a", "b"], "stream": true})", "stream: expected one text"},
           {R"({"text": "a", "prefix": "A", "prefix_tokens": [4]})", "both"},
           {R"({"text": "a", "prefix_tokens": [99]})", "below 12"},
           {R"({"text": "a", "prefix_tokens": [3]})", "none of kPad, kBegin and kEnd, got 3"},
           {R"({"text": "a", "prefix_tokens": [4, 4, 4], "max_length": 2})", "prefix must not be longer"},
           {R"({"text": "a", "prefix": "A A A", "max_length": 2})", "prefix must not be longer"},
           {R"({"text": "a", "beam": 0, "stream": true})", "beam: expected 1 to 10000, got 0"},
           {R"({"text": "a", "top_p": 2})", "top_p: expected more than 0 and at most 1, got 2"},
           {R"({"text": "a", "prefix_tokens": [-1]})", "from 0"},
           {R"({"text": "a", "prefix_tokens": [18446744073709551615]})", "from 0"},
       }) {
    SCOPED_TRACE(body);
    expect_error(served().post("/v1/run", body), 400, "bad_request", part);
  }
  for (const char* body : {R"({"text": "a", "method": "magic"})", R"({"text": "a", "site": "nowhere"})",
                           R"({"text": "a", "head": 7})", R"({"text": "a", "layer": 0.5})", R"({"text": ""})",
                           R"({"text": "a", "combine": "sum"})", R"({"text": "a", "prefix_tokens": [99]})"}) {
    SCOPED_TRACE(body);
    expect_error(served().post("/v1/explain", body), 400, "bad_request", "got");
  }
}

TEST(Server, WhatAModelCannotDoIsOurMistake) {
  testing::internal::CaptureStderr();
  const serve::Reply reply = serve::reply_to(std::make_exception_ptr(Error("search: the logits must be numbers")));
  EXPECT_EQ(reply.status, 500);
  EXPECT_EQ(reply.body.find("logits"), std::string::npos) << "for the log alone";
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "attend serve: search: the logits must be numbers\n");
  EXPECT_EQ(serve::reply_to(std::make_exception_ptr(Error("memory: wanted 9 bytes"))).status, 503);
}

TEST(Server, RefusesWhatIsTooLarge) {
  expect_error(served().post("/v1/run", R"({"text": "a", "beam": 33})"), 400, "over_limit", "beam: expected at most 32");
  expect_error(served().post("/v1/run", R"({"text": "a", "n_best": 33})"), 400, "over_limit", "n_best: expected at most 32");
  expect_error(served().post("/v1/run", R"({"text": "a", "max_length": 3000})"), 400, "over_limit", "2000");
  expect_error(served().post("/v1/run", json{{"text", std::string(10'001, 'a')}}.dump()), 413, "too_large", "10001");
  expect_error(served().post("/v1/run", json{{"texts", std::vector<std::string>(257, "a")}}.dump()), 413, "too_large",
               "at most 256");
  expect_error(served().post("/v1/run", std::string((1 << 20) + 1, ' ')), 413, "too_large", "1048576 bytes");
  expect_error(served().get("/" + std::string(2000, 'x')), 414, "too_large", "address");
  serve::ServeOptions options;
  options.limits.weights = 5;
  options.limits.answer_tokens = 5;
  const Served narrow(options);
  expect_error(narrow.post("/v1/explain", R"({"text": "a b c"})"), 413, "too_large", "--weights");
  EXPECT_EQ(narrow.post("/v1/explain", R"({"text": "a b c", "method": "saliency"})")->status, 200);
  const json said =
      body_of(narrow.post("/v1/run", R"({"text": "a b c d", "max_length": 0, "beam": 1, "no_repeat_ngram": 4})"));
  EXPECT_LE(data::split_words(said["answers"][0][0]["text"].get<std::string>()).size(), 5u) << "not 2·4 + 10";
}

TEST(Server, RefusesWhatDoesNotExistWithWhatDoes) {
  expect_error(served().get("/v2/run"), 404, "not_found", "POST /v1/run");
  expect_error(served().post("/nowhere", "{}"), 404, "not_found", "GET /healthz");
  expect_error(served().post("/v1/run", R"({"text": "a", "model": "big"})"), 404, "no_such_model", "tiny, tiny-2");
  expect_error(served().get("/v1/models/big/curves"), 404, "no_such_model", "tiny, tiny-2");
  expect_error(served().get("/v1/run"), 405, "method_not_allowed", "expected POST");
  const auto deleted = served().client().Delete("/healthz");
  expect_error(deleted, 405, "method_not_allowed", "expected GET");
  EXPECT_EQ(deleted->get_header_value("Allow"), "GET");
  EXPECT_EQ(served().client().Post("/v1/models/tiny", "{}", "application/json")->get_header_value("Allow"), "GET, PUT, DELETE");
}

TEST(Server, SaysWhichMethodsThereAreBeforeItLooksAtABody) {
  const auto put = served().client().Put("/v1/run", "x", "text/plain");
  expect_error(put, 405, "method_not_allowed", "expected POST, got \"PUT\"");
  EXPECT_EQ(put->get_header_value("Allow"), "POST");
  EXPECT_EQ(served().client().Options("/v1/run")->status, 405);
  EXPECT_EQ(served().client().Patch("/healthz", "{}", "application/json")->status, 405);
}

TEST(Server, AnswersOnlyToItsOwnNames) {
  const auto get = [&](const std::string& host) { return served().client().Get("/healthz", {{"Host", host}}); };
  for (const char* own : {"localhost", "LocalHost:80", "127.0.0.1", "127.0.0.1:8080", "[::1]", "[::1]:9"}) {
    EXPECT_EQ(get(own)->status, 200) << own;
  }
  for (const char* other : {"evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example",
                            "[::2]", "192.168.1.1"}) {
    expect_error(get(other), 403, "wrong_host", "or localhost, got");
  }
  expect_error(get("127.0.0.1@evil"), 400, "bad_request", "Host: expected one name");
  serve::ServeOptions options;
  options.host = "0.0.0.0";
  const Served everywhere(options);
  EXPECT_EQ(everywhere.client().Get("/healthz", {{"Host", "translate.example"}})->status, 200) << "it has any name";
  options.host = "127.0.0.2";
  const Served named(options);
  httplib::Client client("127.0.0.2", named.port());
  EXPECT_EQ(client.Get("/healthz")->status, 200);
}

TEST(Server, TakesJsonAloneAndAsItIs) {
  const auto post = [&](const httplib::Headers& headers, const char* type) {
    return served().client().Post("/v1/run", headers, R"({"text": "a"})", type);
  };
  EXPECT_EQ(post({}, "application/json; charset=utf-8")->status, 200);
  expect_error(post({}, "text/plain"), 415, "unsupported", "expected Content-Type: application/json");
  expect_error(post({}, "multipart/form-data; boundary=x"), 415, "unsupported", "expected Content-Type: application/json");
  expect_error(post({{"Content-Encoding", "gzip"}}, "application/json"), 415, "unsupported", "gzip");
  RawClient chunks(served().port());
  chunks.send(
      "POST /v1/run HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n");
  EXPECT_TRUE(chunks.receive().starts_with("HTTP/1.1 411")) << "no length";
}

TEST(Server, GivesTextsBackWhateverTheirLetters) {
  for (const char* body : {R"({"text": "\u0000 a"})", R"({"text": "日本 😀 é"})", R"({"text": "a\nb\t\u2028"})"}) {
    EXPECT_EQ(served().post("/v1/run", body)->status, 200) << body;
  }
  expect_error(served().post("/v1/run", "{\"text\": \"\xff\"}"), 400, "bad_request", "expected JSON");
  expect_error(served().post("/v1/run", R"({"text": "\ud800"})"), 400, "bad_request", "expected JSON");
}

/// Paths of the description and the examples of their requests, one per line of the file.
TEST(Server, DoesWhatItsDescriptionSays) {
  const Served both({}, [](const TestFolder& folder) {
    return std::vector{tiny_model(folder, "tiny"), tiny_image_model(folder, "glimpse")};
  });
  std::istringstream in(both.get("/openapi.yaml")->body);
  std::set<std::string> described;
  std::string path;
  bool request = false;
  size_t examples = 0;
  for (std::string line; std::getline(in, line);) {
    const std::string text = line.substr(std::min(line.find_first_not_of(' '), line.size()));
    if (line.starts_with("  /")) path = text.substr(0, text.size() - 1), request = false;
    const std::map<std::string, std::string> methods{
        {"get:", "GET "}, {"post:", "POST "}, {"put:", "PUT "}, {"delete:", "DELETE "}};
    if (const auto method = methods.find(text); method != methods.end()) described.insert(method->second + path);
    if (text == "requestBody:" || text == "responses:") request = text == "requestBody:";
    if (!request || !text.starts_with("value: ")) continue;
    const auto result = both.post(path, text.substr(7));
    EXPECT_EQ(result->status, 200) << line << "\n" << result->body;
    EXPECT_EQ(result->body.find("\"error\""), std::string::npos) << line << "\n" << result->body;
    ++examples;
  }
  std::set<std::string> there;
  for (const serve::Endpoint& one : serve::endpoints())
    there.insert(std::string(one.method) + " " + std::string(one.path));
  EXPECT_EQ(described, there);
  EXPECT_GE(examples, 10u);
}

TEST(Server, DescribesEveryStatusThatAnEndpointCanGive) {
  for (const serve::Endpoint& one : serve::endpoints()) {
    const std::string path(one.path);
    std::string method(one.method);
    std::ranges::transform(method, method.begin(), [](char c) { return static_cast<char>(std::tolower(c)); });
    const bool open = one.access == serve::Access::everyone, removes = method == "delete";
    const bool named = path.find("{name}") != path.npos, asks = method == "post", puts = method == "put";
    std::set<std::string> all{removes ? "204" : "200", "400", "403", "408", "414", "431", "500", "503"};
    if (!open) all.insert({"401", "429"});
    if (named || asks) all.insert("404");
    if (puts) all.insert("409");
    if (asks || path.ends_with("curves") || path.ends_with("gallery")) all.insert("504");  // computed
    if (asks || puts || removes) all.insert({"411", "413", "415"});                        // with a body
    EXPECT_EQ(described_statuses(method, path), all) << path;
  }
}

TEST(Server, TakesNullForEveryFieldThatIsDescribed) {
  for (const char* endpoint : {"run", "explain"}) {
    json body = json::object();
    const json properties = described_properties(endpoint == std::string("run") ? "Run" : "Explain");
    for (const auto& [name, schema] : properties.items()) {
      EXPECT_EQ(schema.value("nullable", "false"), "true") << name;
      body[name] = nullptr;
    }
    EXPECT_GE(body.size(), 20u);
    body["text"] = "a b";
    EXPECT_EQ(served().post("/v1/" + std::string(endpoint), body.dump())->status, 200);
  }
}

TEST(Server, GivesNullWhereItsDescriptionSaysSo) {
  const Served bare;
  std::ofstream(bare.folder().path() / "tiny/valid.jsonl") << R"({"source":"a","chrf":null})" << '\n';
  const json gallery = body_of(bare.get("/v1/models/tiny/gallery"));
  EXPECT_EQ(gallery["sentences"][0],
            json({{"source", "a"}, {"reference", nullptr}, {"output", nullptr}, {"chrf", nullptr}}));
}

}  // namespace
}  // namespace attend::test
