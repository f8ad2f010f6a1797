// Explanations of text models: traces as files, and what is refused.
#include "attend/tasks/explanation.h"

#include <gtest/gtest.h>

#include <fstream>

#include "attend/explain/grid.h"
#include "attend/explain/methods.h"
#include "tests/support/folder.h"
#include "tests/support/message.h"
#include "tests/support/untrained.h"

namespace attend::tasks {
namespace {

using test::message_of;

TaskModel made(const std::string& network, const SettingList& more) {
  SettingList settings{{"tsv", "none", "", true},
                       {"tokeniser.kind", "words", ""},
                       {"model.name", network, ""},
                       {"search.max_length", "6", ""}};
  settings.insert(settings.end(), more.begin(), more.end());
  return test::untrained(settings, test::text_corpus("a b c d e f g h", "A B C D E F G H"));
}

const TaskModel& recurrent() {
  static const TaskModel model = made("recurrent", {{"model.embedding", "8", ""}, {"model.hidden", "12", ""}});
  return model;
}
const TaskModel& transformer() {
  static const TaskModel model = made("transformer", {{"model.size", "8", ""},
                                                      {"model.heads", "2", ""},
                                                      {"model.hidden", "12", ""},
                                                      {"model.encoder_layers", "2", ""},
                                                      {"model.decoder_layers", "2", ""}});
  return model;
}
const TaskModel& fixed() {
  static const TaskModel model =
      made("recurrent",
           {{"model.embedding", "8", ""}, {"model.hidden", "12", ""}, {"model.decoder.input", "initial_state", ""}});
  return model;
}

ExplainOptions how(const TaskModel& model, const std::string& method = "auto") {
  ExplainOptions options;
  options.search = model.config().options.search;
  options.method = method;
  return options;
}

TEST(Explain, AnswersAsTheModelDoes) {
  for (const TaskModel* model : {&recurrent(), &transformer(), &fixed()}) {
    const AnswerOptions plain{.search = model->config().options.search};
    const Answer answer = model->answer(test::typed({"a b c d"}), plain).at(0).at(0);
    const explain::Trace trace = explain_text(*model, "a b c d", how(*model));
    EXPECT_EQ(trace.target.text, answer.text);
    EXPECT_EQ(trace.log_probability, answer.log_probability);
    EXPECT_EQ(trace.maps.at(0).method, model == &fixed() ? "jacobian" : "attention");
    EXPECT_EQ(trace.maps.at(0).tokens.shape(), Shape({static_cast<int64_t>(trace.target.tokens.size()), 4}));
    EXPECT_EQ(trace.target.tokens.size(), trace.token_log_probabilities.size());
    EXPECT_EQ(trace.target.tokens.size(), trace.target.word_of.size());
  }
}

TEST(Explain, EveryMethodGivesAMapOfEveryModelThatItFits) {
  for (const TaskModel* model : {&recurrent(), &transformer(), &fixed()}) {
    for (const explain::MethodRow& method : explain::methods()) {
      const auto map = [&] { return explain_text(*model, "a b c", how(*model, std::string(method.name))).maps.at(0); };
      if (method.needs_attention && model == &fixed()) {
        EXPECT_THROW(map(), Error);
        continue;
      }
      EXPECT_EQ(map().words.dim(1), 3) << method.name;
      EXPECT_EQ(map().is_signed, method.is_signed);
    }
  }
}

TEST(Explain, KnowsWhatCanBeAskedOfAModel) {
  const TaskModel alone = made("language_model", {{"model.size", "8", ""},
                                                  {"model.heads", "2", ""},
                                                  {"model.hidden", "12", ""},
                                                  {"model.decoder_layers", "2", ""}});
  const auto methods = [](const TaskModel& model) { return explainable(model).methods; };
  using Names = std::vector<std::string>;
  EXPECT_EQ(methods(recurrent()), (Names{"attention", "rollout", "saliency", "jacobian", "occlusion"}));
  EXPECT_EQ(methods(fixed()), (Names{"saliency", "jacobian", "occlusion"}));
  EXPECT_EQ(methods(alone), (Names{"attention", "saliency", "jacobian", "occlusion"}))
      << "it has no memory to roll out";
  EXPECT_EQ(method_for(explainable(recurrent()), "auto"), "attention");
  EXPECT_EQ(method_for(explainable(fixed()), "auto"), "jacobian");
  EXPECT_EQ(method_for({{}, {"occlusion"}}, "auto"), "occlusion");
  EXPECT_EQ(method_for(explainable(fixed()), "attention"), "attention") << "what is named is left to check_explain";
  const Explainable known = explainable(transformer());
  ASSERT_EQ(known.sites.size(), 6u);
  EXPECT_FALSE(known.sites[0].weights.defined());
  EXPECT_TRUE(known.attends());
  EXPECT_FALSE(explainable(fixed()).attends());
}

TEST(Explain, RefusesBeforeItComputesWhatItWouldRefuseAfterwards) {
  const Explainable known = explainable(transformer());
  const auto refusal = [&](const std::string& text, auto&& change) {
    ExplainOptions options = how(transformer());
    options.check = [] { ADD_FAILURE() << "it computes"; };
    change(options);
    return message_of([&] { check_explain(transformer(), known, test::text_example(text), options); });
  };
  const auto asked = [&](auto&& change) { return refusal("a b", change); };
  using O = ExplainOptions;
  EXPECT_EQ(asked([](O&) {}), "");
  EXPECT_NE(refusal("", [](O&) {}).find("at least one word"), std::string::npos);
  EXPECT_NE(asked([](O& o) { o.site = "nowhere"; }).find("decoder.memory"), std::string::npos);
  EXPECT_NE(asked([](O& o) { o.head = 2; }).find("expected head 0 to 1, or -1 for all; got 2"), std::string::npos);
  EXPECT_NE(asked([](O& o) { o.site = "encoder.self", o.evidence = true; }).find("looks at the source"), std::string::npos);
  EXPECT_NE(asked([](O& o) { o.combine = "sum"; }).find("mean or max"), std::string::npos);
  EXPECT_NE(asked([](O& o) { o.method = "magic"; }).find("magic"), std::string::npos);
  EXPECT_NE(asked([](O& o) { o.target = ""; }).find("target"), std::string::npos);
  EXPECT_NE(asked([](O& o) { o.search.beam = 0; }).find("beam"), std::string::npos);
  EXPECT_NE(asked([](O& o) { o.prefix = "A B C D E F G"; }).find("prefix"), std::string::npos);
  const std::string none =
      message_of([] { check_explain(fixed(), explainable(fixed()), test::text_example("a"), how(fixed(), "attention")); });
  EXPECT_NE(none.find("saliency, jacobian, occlusion; got \"attention\""), std::string::npos) << none;
}

TEST(Explain, EverySiteIsDrawnWithItsOwnRowsAndColumns) {
  const auto map_of = [](const std::string& site) {
    ExplainOptions options = how(transformer());
    options.site = site, options.target = "C B A";
    const explain::Trace trace = explain_text(transformer(), "a b c d", options);
    const explain::Trace again = explain::parse_trace(explain::trace_json(trace));
    const explain::Grid grid = explain::map_grid(again, again.maps.at(0), "words");
    const explain::Grid mean = explain::site_grid(trace, site, -1, -1, "words");
    for (size_t i = 0; i < mean.values.size(); ++i) {
      EXPECT_NEAR(grid.values.data()[i], mean.values.data()[i], 1e-3) << site;
    }
    return grid;
  };
  using Labels = std::vector<std::string>;
  EXPECT_EQ(map_of("encoder.self").rows, (Labels{"a", "b", "c", "d"}));
  EXPECT_EQ(map_of("encoder.self").columns, (Labels{"a", "b", "c", "d"}));
  EXPECT_EQ(map_of("decoder.self").rows, (Labels{"C", "B", "A"}));
  EXPECT_EQ(map_of("decoder.self").columns, (Labels{"<s>", "C", "B", "A"}));
  EXPECT_EQ(map_of("decoder.memory").columns, (Labels{"a", "b", "c", "d"}));
}

TEST(Explain, AnAnswerThatIsGivenIsExplained) {
  ExplainOptions options = how(transformer());
  options.target = "C B A";
  const explain::Trace trace = explain_text(transformer(), "a b c", options);
  EXPECT_TRUE(trace.given);
  EXPECT_EQ(trace.target.words, (std::vector<std::string>{"C", "B", "A"}));
  EXPECT_EQ(trace.target.tokens.back(), "</s>");
  EXPECT_EQ(trace.sites.size(), 6u);
}

TEST(Explain, ABranchIsTakenByItsTokens) {
  const explain::Trace first = explain_text(recurrent(), "a b c", how(recurrent()));
  int32_t other = -1;
  for (const explain::TraceNode& node : first.beam) {
    if (node.parent < 0 && node.id >= data::kFirstWord && node.token != first.target.tokens[0]) other = node.id;
  }
  ASSERT_GE(other, 0);
  ExplainOptions options = how(recurrent());
  options.prefix_tokens = {other};
  const explain::Trace branch = explain_text(recurrent(), "a b c", options);
  EXPECT_EQ(branch.target.tokens[0], recurrent().output().piece(other));
}

TEST(Explain, LooksOnlyWhereSomebodyAsks) {
  ExplainOptions options = how(transformer());
  options.map = options.weights = false;
  EXPECT_TRUE(explain_text(transformer(), "a b c", options).sites.empty());
  options = how(transformer(), "saliency");
  options.weights = false, options.numbers = 1;
  EXPECT_EQ(explain_text(transformer(), "a b c", options).sites.size(), 6u) << "named, with nothing kept of them";
  options.method = "attention";
  EXPECT_THROW(explain_text(transformer(), "a b c", options), explain::TooLarge);
}

TEST(Explain, NotesWhatTheVocabularyDoesNotKnow) {
  const explain::Trace trace = explain_text(recurrent(), "a yak b zebra yak", how(recurrent()));
  EXPECT_EQ(trace.source.unknown, (std::vector<int32_t>{1, 3, 4}));
  EXPECT_EQ(trace.notes,
            (std::vector<std::string>{"The vocabulary does not contain “yak”, “zebra”: all that the model sees "
                                      "there is that it is unknown."}));
  const explain::Trace read = explain::parse_trace(explain::trace_json(trace));
  EXPECT_EQ(read.source.unknown, trace.source.unknown);
  EXPECT_EQ(read.notes, trace.notes);
  EXPECT_TRUE(explain_text(recurrent(), "a b", how(recurrent())).notes.empty());
  const std::string many = explain_text(recurrent(), "1 2 3 4 5 6 7", how(recurrent())).notes.at(0);
  EXPECT_NE(many.find("“5” and 2 more:"), std::string::npos) << many;
}

TEST(Explain, TellsWhatItSaysSoFar) {
  std::vector<std::string> partial;
  ExplainOptions options = how(recurrent());
  options.partial = [&](const std::string& text) { partial.push_back(text); };
  const explain::Trace trace = explain_text(recurrent(), "a b c", options);
  ASSERT_FALSE(partial.empty());
  struct Enough {};
  options.partial = [](const std::string&) { throw Enough(); };
  EXPECT_THROW(explain_text(recurrent(), "a b c", options), Enough) << "who listens may end it";
}

TEST(Explain, RefusesWhatCannotBe) {
  const auto with = [](auto change) {
    ExplainOptions options = how(transformer());
    change(options);
    return message_of([&] { (void)explain_text(transformer(), "a b", options); });
  };
  EXPECT_EQ(message_of([] { (void)explain_text(recurrent(), "  ", how(recurrent())); }),
            "explain: expected a text with at least one word, got an empty one");
  EXPECT_EQ(with([](auto& o) { o.head = 7; }), "attention: expected head 0 to 1, or -1 for all; got 7");
  EXPECT_EQ(with([](auto& o) { o.head = -2; }), "attention: expected head 0 to 1, or -1 for all; got -2");
  EXPECT_EQ(
      with([](auto& o) { o.layer = -2; }),
      "attention: expected a layer of decoder.memory or -1 for all: 0 (2 heads), 1 (2 heads); got -2");
  EXPECT_EQ(with([](auto& o) { o.site = "encoder"; }),
            "attention: expected a site that the model has: decoder.memory, decoder.self, encoder.self; got encoder");
  EXPECT_NE(with([](auto& o) { o.site = "encoder.self", o.evidence = true; }).find("evidence: expected a site that looks at the source"),
            std::string::npos);
  EXPECT_NE(with([](auto& o) { o.method = "atention"; }).find("attention"), std::string::npos);
  EXPECT_NE(with([](auto& o) { o.combine = "sum"; }).find("mean or max"), std::string::npos);
  EXPECT_EQ(with([](auto& o) { o.target = ""; }),
            "explain: expected a target with at least one word, got an empty one");
}

TEST(Trace, SurvivesAFile) {
  const test::TestFolder folder;
  ExplainOptions options = how(transformer());
  options.evidence = true;
  const std::vector<explain::Trace> traces{explain_text(transformer(), "a b c", options),
                                           explain_text(recurrent(), "h <g> \"f\"", how(recurrent()))};
  for (const size_t inline_numbers : {size_t{1} << 20, size_t{0}}) {
    const auto path = folder.path() / "t.jsonl";
    {
      explain::TraceWriter writer(path, inline_numbers);
      for (const explain::Trace& trace : traces) writer.add(trace);
    }
    EXPECT_EQ(std::filesystem::exists(path.string() + ".1.safetensors"), inline_numbers == 0);
    const std::vector<explain::Trace> again = explain::read_traces(path);
    ASSERT_EQ(again.size(), 2u);
    for (size_t i = 0; i < 2; ++i) {
      if (inline_numbers > 0) {
        EXPECT_EQ(explain::trace_json(again[i]), explain::trace_json(traces[i]));
      }
      ASSERT_EQ(again[i].sites.size(), traces[i].sites.size());
      for (size_t s = 0; s < traces[i].sites.size(); ++s) {
        const Tensor &got = again[i].sites[s].weights, &wanted = traces[i].sites[s].weights;
        ASSERT_EQ(got.shape(), wanted.shape());
        for (size_t k = 0; k < got.size(); ++k) {
          EXPECT_NEAR(got.data()[k], wanted.data()[k], inline_numbers == 0 ? 1e-7 : 5e-4 * wanted.data()[k]);
        }
      }
    }
  }
}

TEST(Trace, RefusesWhatIsNone) {
  for (const char* text : {"", "{", "[]", "{\"format\":\"attend-trace/2\"}", "{\"format\":\"attend-trace/1\"}",
                           "{\"format\":\"attend-trace/1\",\"model\":3}"}) {
    EXPECT_EQ(message_of([&] { (void)explain::parse_trace(text); }).substr(0, 6), "trace:") << text;
  }
}

TEST(Answers, HaveTheirTraces) {
  const std::vector<std::string> lines{"a b c", "", "d e f g h", "b"};
  AnswerOptions options{.search = transformer().config().options.search};
  const auto plain = transformer().answer(test::typed(lines), options);
  options.trace = true;
  const auto traced = transformer().answer(test::typed(lines), options);
  for (size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(plain[i][0].text, traced[i][0].text);
    EXPECT_EQ(plain[i][0].log_probability, traced[i][0].log_probability);
    ASSERT_EQ(traced[i][0].traces.size(), lines[i].empty() ? 0u : 1u);
    if (lines[i].empty()) continue;
    const explain::Trace alone = explain_text(transformer(), lines[i], how(transformer()));
    const explain::Trace& together = traced[i][0].traces[0];
    EXPECT_EQ(together.target.text, traced[i][0].text);
    ASSERT_EQ(together.sites.size(), alone.sites.size());
    for (size_t s = 0; s < alone.sites.size(); ++s) {
      ASSERT_EQ(together.sites[s].weights.shape(), alone.sites[s].weights.shape()) << alone.sites[s].site;
      for (size_t k = 0; k < alone.sites[s].weights.size(); ++k) {
        EXPECT_NEAR(together.sites[s].weights.data()[k], alone.sites[s].weights.data()[k], 2e-5);
      }
    }
  }
}

}  // namespace
}  // namespace attend::tasks
