// Bodies of requests: what is read out of good ones, and how bad ones are refused.
#include "serve/request.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <nlohmann/json.hpp>

namespace attend::serve {
namespace {

using nlohmann::json;

const Limits kLimits;

/// "400 bad_request beam: …" of what a parser refuses; "" where it takes it.
template <class Parse>
std::string refusal(Parse&& parse, const std::string& body, const Limits& limits = kLimits) {
  try {
    (void)parse(body, limits);
    return "";
  } catch (const Refusal& refused) {
    return std::to_string(refused.status()) + " " + refused.code() + " " + refused.what();
  }
}

struct Row {
  std::string body, status, part;
};

template <class Parse>
void expect_refused(Parse&& parse, std::initializer_list<Row> rows) {
  for (const Row& row : rows) {
    const std::string said = refusal(parse, row.body);
    EXPECT_TRUE(said.starts_with(row.status)) << row.body.substr(0, 80) << "\n" << said;
    EXPECT_NE(said.find(row.part), std::string::npos) << row.body.substr(0, 80) << "\n" << said;
  }
}

std::string value(const SettingList& settings, const std::string& name) {
  const Setting* found = find_setting(settings, name);
  return found == nullptr ? "" : found->value;
}

TEST(Request, ReadsATextWithAllThatMayGoWithIt) {
  const RunRequest run =
      parse_run(R"({"model": "demo", "text": "a b", "beam": 3, "length_penalty": 0.5, "sample": false,
                                      "prefix": "A", "stream": true, "seed": null})",
                kLimits);
  EXPECT_EQ(run.model, "demo");
  EXPECT_EQ(run.texts, std::vector<std::string>{"a b"});
  EXPECT_EQ(run.prefix, "A");
  EXPECT_TRUE(run.stream);
  EXPECT_EQ(value(run.search, "beam"), "3");
  EXPECT_EQ(value(run.search, "length_penalty"), "0.5");
  EXPECT_EQ(value(run.search, "sample"), "false");
  EXPECT_EQ(value(run.search, "seed"), "") << "null is as if it were not there";
  EXPECT_EQ(parse_run(R"({"texts": ["a", "b c"]})", kLimits).texts, (std::vector<std::string>{"a", "b c"}));
  EXPECT_EQ(parse_run(R"({"text": "a", "prefix_tokens": [4, 0, 2147483647]})", kLimits).prefix_tokens,
            (std::vector<int32_t>{4, 0, INT32_MAX}));
  EXPECT_EQ(parse_run("{\"text\": \"\\u00e9\\ud83d\\ude00 日本\"}", kLimits).texts[0], "é😀 日本");
}

TEST(Request, ReadsAnImageWithAndWithoutAnAddressBeforeIt) {
  for (const char* body : {R"({"image": "iVBORw=="})", R"({"image": "data:image/png;base64,iVBORw=="})"}) {
    EXPECT_EQ(parse_run(body, kLimits).image, "\x89PNG") << body;
    EXPECT_TRUE(parse_run(body, kLimits).texts.empty());
    EXPECT_EQ(parse_explain(body, kLimits).image, "\x89PNG") << body;
  }
  EXPECT_TRUE(parse_run(R"({"image": "iVBORw==", "stream": true})", kLimits).stream);
  EXPECT_EQ(parse_explain(R"({"image": "iVBORw==", "method": "gradcam", "weights": true})", kLimits).named,
            (std::vector<std::string>{"weights", "method"}));
  expect_refused(
      parse_run,
      {{R"({"image": ""})", "400 bad_request", "image: expected a PNG or JPEG file in base64, got an empty"},
       {R"({"image": 3})", "400 bad_request", "image: expected a PNG or JPEG file in base64, got 3"},
       {R"({"image": ["AAAA"]})", "400 bad_request", ", got a list"},
       {R"({"image": "AAA"})", "400 bad_request", "image: expected base64 in groups of 4 letters, got 3"},
       {R"({"image": "AA!A"})", "400 bad_request", "image: expected base64, got another sign at 2"},
       {R"({"image": "===="})", "400 bad_request", "image: expected base64"},
       {R"({"image": "data:image/png,AAAA"})", "400 bad_request", "expected a data address in base64"},
       {R"({"image": "data:image/png;base64"})", "400 bad_request", "expected a data address in base64"},
       {R"({"image": "data:image/png;base64,"})", "400 bad_request", "got an empty one"}});
}

TEST(Request, ReadsWhatToExplain) {
  const ExplainRequest asked = parse_explain(
      R"({"text": "a", "target": "B", "method": "saliency", "layer": 1, "head": 0, "evidence": true, "weights": true})",
      kLimits);
  EXPECT_EQ(asked.texts, std::vector<std::string>{"a"});
  EXPECT_EQ(asked.options.target, "B");
  EXPECT_EQ(asked.options.method, "saliency");
  EXPECT_EQ(asked.options.layer, 1);
  EXPECT_EQ(asked.options.head, 0);
  EXPECT_TRUE(asked.options.evidence && asked.options.weights);
  EXPECT_FALSE(parse_explain(R"({"text": "a"})", kLimits).options.weights) << "they are large";
}

TEST(Request, OfANameThatComesTwiceTheLastCounts) {
  EXPECT_EQ(parse_run(R"({"text": "a", "text": "b"})", kLimits).texts[0], "b");
  EXPECT_EQ(value(parse_run(R"({"text": "a", "beam": 2, "beam": 3})", kLimits).search, "beam"), "3");
  expect_refused(parse_run, {{R"({"text": "a", "text": 3})", "400 bad_request", "text: expected a text, got 3"}});
}

TEST(Request, RefusesWhatIsNoObject) {
  std::string deep = "{\"text\": ";
  for (int i = 0; i < 100'000; ++i) deep += '[';
  expect_refused(parse_run, {{"", "400 bad_request", "body: expected JSON, got nothing"},
                             {"{\"text\": \"a\"", "400 bad_request", "expected JSON, got parse error at line 1"},
                             {"{\"text\": \"a\"} x", "400 bad_request", "expected JSON"},
                             {"{'text': 'a'}", "400 bad_request", "expected JSON"},
                             {"null", "400 bad_request", "expected an object {\"text\": …}, got null"},
                             {"\"text\"", "400 bad_request", ", got \"text\""},
                             {"[]", "400 bad_request", ", got a list"},
                             {"{\"text\": NaN}", "400 bad_request", "expected JSON"},
                             {deep, "400 bad_request", "got a deeper one"},
                             {R"({"text": {"a": {"b": {"c": {"d": 1}}}}})", "400 bad_request", "got a deeper one"},
                             {std::string("{\"text\": \"a\0b\"}", 15), "400 bad_request", "expected JSON"}});
}

TEST(Request, RefusesWhatIsNoUtf8) {
  for (const char* bytes : {"\xff", "\xc3", "\xe2\x82", "\xc0\xaf", "\xed\xa0\x80", "\xf5\x80\x80\x80"}) {
    expect_refused(parse_run, {{"{\"text\": \"a" + std::string(bytes) + "\"}", "400 bad_request", "expected JSON"}});
    expect_refused(parse_run, {{"{\"a" + std::string(bytes) + "\": 1}", "400 bad_request", "expected JSON"}});
  }
  expect_refused(parse_run, {{R"({"text": "\ud800"})", "400 bad_request", "expected JSON"}});
}

TEST(Request, RefusesWrongTypes) {
  expect_refused(parse_run,
                 {{R"({"text": 3})", "400 bad_request", "text: expected a text, got 3"},
                  {R"({"text": ["a"]})", "400 bad_request", "text: expected a text, got a list"},
                  {R"({"text": {}})", "400 bad_request", "text: expected a text, got an object"},
                  {R"({"texts": "a"})", "400 bad_request", "expected a list of at least one text, got \"a\""},
                  {R"({"texts": ["a", 1]})", "400 bad_request", "texts[1]: expected a text, got 1"},
                  {R"({"text": "a", "model": 1})", "400 bad_request", "model: expected a text, got 1"},
                  {R"({"text": "a", "stream": 1})", "400 bad_request", "stream: expected true or false, got 1"},
                  {R"({"text": "a", "sample": "yes"})", "400 bad_request", "sample: expected true or false"},
                  {R"({"text": "a", "beam": "4"})", "400 bad_request", "beam: expected a whole number, got \"4\""},
                  {R"({"text": "a", "beam": 4.5})", "400 bad_request", "beam: expected a whole number, got 4.5"},
                  {R"({"text": "a", "beam": true})", "400 bad_request", "beam: expected a whole number, got true"},
                  {R"({"text": "a", "beam": 99999999999999999999})", "400 bad_request", "beam"},
                  {R"({"text": "a", "top_p": "half"})", "400 bad_request", "top_p: expected a number, got \"half\""},
                  {R"({"text": "a", "top_p": 1e999})", "400 bad_request", "expected JSON"},
                  {R"({"text": "a", "prefix": 1})", "400 bad_request", "prefix: expected a text, got 1"},
                  {R"({"text": "a", "prefix_tokens": "4"})", "400 bad_request", "a list of token numbers"},
                  {R"({"text": "a", "prefix_tokens": [1.5]})", "400 bad_request", "from 0, got 1.5"},
                  {R"({"text": "a", "prefix_tokens": [2147483648]})", "400 bad_request", "got 2147483648"}});
  expect_refused(parse_explain,
                 {{R"({"text": "a", "layer": 0.5})", "400 bad_request", "layer: expected a whole number"},
                  {R"({"text": "a", "method": 1})", "400 bad_request", "method"},
                  {R"({"text": "a", "target": 1})", "400 bad_request", "target: expected a text"},
                  {R"({"text": "a", "target": " "})", "400 bad_request", "target: expected a text with at least"}});
}

TEST(Request, RefusesWhatIsMissingTooMuchOrUnknown) {
  expect_refused(parse_run,
                 {{"{}", "400 bad_request", "expected \"text\", \"image\" or \"sound\", got none"},
                  {R"({"text": null})", "400 bad_request", "expected \"text\", \"image\" or \"sound\", got none"},
                  {R"({"text": "a", "texts": ["a"]})", "400 bad_request", "got text and texts"},
                  {R"({"texts": ["a"], "image": "AAAA"})", "400 bad_request", "got texts and image"},
                  {R"({"text": ""})", "400 bad_request", "text: expected a text with at least one word, got an empty"},
                  {R"({"text": " \n\t"})", "400 bad_request", "at least one word"},
                  {R"({"texts": ["a", ""]})", "400 bad_request", "texts[1]: expected a text with at least one word"},
                  {R"({"texts": []})", "400 bad_request", "got an empty one"},
                  {R"({"texts": ["a", "b"], "stream": true})", "400 bad_request", "stream: expected one text"},
                  {R"({"texts": ["a", "b"], "prefix_tokens": [4]})", "400 bad_request", "prefix_tokens: expected one text"},
                  {R"({"text": "a", "prefix": "A", "prefix_tokens": [4]})", "400 bad_request", "got both"},
                  {R"({"text": "a", "bem": 4})", "400 bad_request", "the nearest is \"beam\""},
                  {R"({"text": "a", "method": "attention"})", "400 bad_request", "unknown field"},
                  {"{\"text\": \"a\", \"" + std::string(5000, 'x') + "\": 1}", "400 bad_request", "unknown field"}});
  expect_refused(parse_explain, {{"{}", "400 bad_request", "expected \"text\", \"image\" or \"sound\", got none"},
                                 {R"({"text": "a", "image": "AAAA"})", "400 bad_request", "got text and image"},
                                 {R"({"texts": ["a"]})", "400 bad_request", "the nearest is \"text\""}});
}

TEST(Request, RefusesWhatIsHuge) {
  const std::string longest(10'000, 'a');
  EXPECT_EQ(refusal(parse_run, json{{"text", longest}}.dump()), "");
  std::string signs;
  for (int i = 0; i < 10'000; ++i) signs += "é";
  EXPECT_EQ(refusal(parse_run, json{{"text", signs}}.dump()), "") << "characters, not bytes";
  const std::string big = longest + "a";
  expect_refused(parse_run, {{json{{"text", big}}.dump(), "413 too_large", "text: expected at most 10000 characters"},
                             {json{{"texts", {"a", big}}}.dump(), "413 too_large", "texts[1]: expected at most 10000"},
                             {json{{"text", "a"}, {"prefix", big}}.dump(), "413 too_large", "prefix: expected at most 10000"},
                             {json{{"texts", std::vector<std::string>(257, "a")}}.dump(), "413 too_large",
                              "texts: expected at most 256, got 257"},
                             {json{{"text", "a"}, {"prefix_tokens", std::vector<int>(513, 4)}}.dump(), "413 too_large",
                              "prefix_tokens: expected at most 512"}});
  expect_refused(parse_explain,
                 {{json{{"text", "a"}, {"target", big}}.dump(), "413 too_large", "target: expected at most 10000"}});
}

TEST(Request, ASearchKeepsToTheLimits) {
  const auto asked = [](const SettingList& settings) {
    return refusal([&](const std::string&, const Limits& limits) { return search_of({}, settings, limits); }, "");
  };
  EXPECT_EQ(asked({{"beam", "32", ""}, {"max_length", "2000", ""}}), "");
  EXPECT_TRUE(asked({{"beam", "33", ""}}).starts_with("400 over_limit beam: expected at most 32 here, got 33"));
  EXPECT_TRUE(asked({{"n_best", "33", ""}}).starts_with("400 over_limit n_best"));
  EXPECT_TRUE(asked({{"max_length", "2001", ""}}).starts_with("400 over_limit max_length"));
  EXPECT_TRUE(asked({{"min_length", "2001", ""}}).starts_with("400 over_limit min_length"));
  EXPECT_TRUE(asked({{"sample", "true", ""}, {"beam", "3", ""}}).starts_with("400 bad_request expected sample or beam"));
  const decode::SearchOptions search = search_of({.beam = 2}, {{"n_best", "5", ""}}, kLimits);
  EXPECT_EQ(search.beam, 5) << "as many as were asked for";
  EXPECT_EQ(search.longest, kLimits.answer_tokens);
  const decode::SearchOptions own = search_of({.beam = 50, .n_best = 40, .max_length = 3000}, {}, kLimits);
  EXPECT_EQ(own.beam, 32) << "what the model was trained with is brought within them";
  EXPECT_EQ(own.n_best, 32);
  EXPECT_EQ(own.max_length, 2000);
}

}  // namespace
}  // namespace attend::serve
