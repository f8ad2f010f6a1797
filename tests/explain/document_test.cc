// Documents in pictures and in a terminal: what was looked at, where an answer starts and ends, hops, and what was
// copied.
#include "attend/explain/document.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attend/data/display_width.h"
#include "attend/explain/document_picture.h"
#include "attend/explain/document_text.h"
#include "attend/explain/page.h"
#include "attend/explain/picture.h"
#include "tests/support/document_traces.h"
#include "tests/support/message.h"
#include "tests/support/text.h"
#include "tests/support/traces.h"
#include "tests/support/xml.h"

namespace attend::explain {
namespace {

using test::has;

std::vector<Trace> documents() {
  return {test::span_trace(), test::hops_trace(), test::hops_trace(60), test::summary_trace(),
          test::odd_document_trace()};
}

TEST(Document, OnlyLongOrReadTogetherWithSomethingIsOne) {
  for (const Trace& trace : documents()) EXPECT_TRUE(is_document(trace)) << trace.task;
  EXPECT_FALSE(is_document(test::hindi_trace()));
  EXPECT_FALSE(is_document(test::tree_trace()));
  EXPECT_FALSE(is_document(test::tags_trace()));
  EXPECT_NE(test::message_of([] { (void)document_of(test::hindi_trace()); }), "");
  Trace summary = test::summary_trace();
  summary.copied.clear();
  EXPECT_TRUE(is_document(summary)) << "much longer than its answer";
  while (summary.target.words.size() * 5 < summary.source.words.size() * 2) summary.target.words.emplace_back("word");
  EXPECT_FALSE(is_document(summary)) << "a translation of equal length is best seen as a map";
  Trace unknown = test::span_trace();
  unknown.source.word_ranges.clear();
  EXPECT_FALSE(is_document(unknown)) << "nobody knows where its words are";
  Trace elsewhere = test::span_trace();
  elsewhere.maps[0].queries = "source", elsewhere.maps[0].keys = "question";
  EXPECT_FALSE(is_document(elsewhere));
}

TEST(Document, WordsAndSentencesKnowTheirBytes) {
  const Trace trace = test::span_trace();
  const TraceSide& source = trace.source;
  ASSERT_EQ(source.word_ranges.size(), source.words.size());
  for (size_t w = 0; w < source.words.size(); ++w) {
    const auto [begin, end] = source.word_ranges[w];
    EXPECT_EQ(source.text.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin)), source.words[w]);
  }
  const std::vector<std::string> sentences = sentences_of(source);
  ASSERT_EQ(sentences.size(), 4u);
  EXPECT_TRUE(sentences[1].starts_with("Its old") && sentences[1].ends_with("Aalborg.")) << sentences[1];
  TraceSide other = source;
  other.words.pop_back();
  EXPECT_TRUE(has(test::message_of([&] { locate(other); }), "expected the"));
}

TEST(Document, ASpanIsLookedForTwiceAndAMemoryHopByHop) {
  const Document span = document_of(test::span_trace());
  ASSERT_EQ(span.looks.size(), 2u);
  EXPECT_EQ(span.looks[0].name, "start");
  EXPECT_EQ(span.looks[1].name, "end");
  EXPECT_FALSE(span.by_sentence);
  const Document hops = document_of(test::hops_trace());
  ASSERT_EQ(hops.looks.size(), 3u);
  EXPECT_TRUE(hops.by_sentence);
  EXPECT_EQ(hops.looks[2].name, "hop 3");
  EXPECT_NEAR(hops.looks[0].values[4], 0.72, 1e-6);
  EXPECT_NEAR(hops.scale.most, 0.94, 1e-6);
  const Document summary = document_of(test::summary_trace());
  ASSERT_EQ(summary.looks.size(), 1u);
  double sum = 0;
  for (const double value : summary.looks[0].values) sum += value;
  EXPECT_NEAR(sum, 1, 1e-5) << "the mean of shares is a share";
}

TEST(Document, EachSentenceIsReadAsMuchAsAllLooksReadIt) {
  const Trace span = test::span_trace();
  const std::vector<double> read = read_sentences(span);
  ASSERT_EQ(read.size(), 4u);
  double all = 0, second = 0;
  for (const DocumentLook& look : document_of(span).looks) {
    for (size_t w = 0; w < look.values.size(); ++w) {
      const data::TextRange word = span.source.word_ranges[w], sentence = span.source.sentences[1];
      all += look.values[w];
      if (word.begin >= sentence.begin && word.end <= sentence.end) second += look.values[w];
    }
  }
  EXPECT_NEAR(read[1], second, 1e-9);
  EXPECT_NEAR(read[0] + read[1] + read[2] + read[3], all, 1e-9);
  EXPECT_NEAR(read_sentences(test::hops_trace())[3], 0.01 + 0.81 + 0.94, 1e-6);
}

TEST(Document, HopsWithoutWeightsAreTheirMap) {
  Trace trace = test::hops_trace();
  for (TraceSite& site : trace.sites) site.weights = {};
  const Document document = document_of(trace);
  ASSERT_EQ(document.looks.size(), 1u);
  EXPECT_TRUE(document.by_sentence);
  EXPECT_NEAR(document.looks[0].values[3], (0.01 + 0.81 + 0.94) / 3, 1e-6);
}

TEST(Document, SentencesThatNobodyLookedAtAreLeftOutOfMany) {
  EXPECT_EQ(sentence_runs(document_of(test::hops_trace())).size(), 1u);
  const std::vector<SentenceRun> runs = sentence_runs(document_of(test::hops_trace(60)));
  ASSERT_FALSE(runs.empty());
  EXPECT_FALSE(runs[0].shown);
  EXPECT_EQ(runs[0].end, 60u);
  for (size_t i = 1; i < runs.size(); ++i) EXPECT_TRUE(runs[i].shown) << "a single one is not worth leaving out";
}

TEST(Document, LinesBreakWhereTheTextDoes) {
  const TraceSide text = test::input_side("document", "one two three\nfour\n\nfive six");
  const auto wide = [](const std::string& word) { return static_cast<double>(word.size()); };
  using Lines = std::vector<std::vector<size_t>>;
  EXPECT_EQ(wrapped_words(text, 100, 1, wide), (Lines{{0, 1, 2}, {3}, {}, {4, 5}}));
  EXPECT_EQ(wrapped_words(text, 7, 1, wide), (Lines{{0, 1}, {2}, {3}, {}, {4}, {5}}));
  EXPECT_EQ(wrapped_words(text, 1, 1, wide).size(), 7u) << "a word that is too wide has a line of its own";
}

TEST(DocumentText, MarksStandUnderWhatWasLookedAt) {
  const std::vector<std::string> lines = test::lines_of(text_document(test::span_trace(), {.width = 60}));
  EXPECT_EQ(lines[0], "    Who built the lighthouse?");
  EXPECT_EQ(lines[1], "  → Søren Kjær Hansen");
  const auto answered = [](const std::string& line) { return has(line, "[Søren Kjær Hansen],"); };
  const auto found = std::ranges::find_if(lines, answered);
  ASSERT_NE(found, lines.end()) << text_document(test::span_trace(), {.width = 60});
  const auto column = [](const std::string& line, const std::string& part) {
    return data::display_width(line.substr(0, line.find(part)));
  };
  EXPECT_TRUE((found + 1)->starts_with("start"));
  EXPECT_EQ(column(*(found + 1), "█"), column(*found, "Søren"));
  EXPECT_TRUE((found + 2)->starts_with("end"));
  EXPECT_EQ(column(*(found + 2), "█"), column(*found, "Hansen"));
  for (const std::string& line : lines) EXPECT_LE(data::display_width(line), 60u) << line;
}

TEST(DocumentText, HopsAreColumnsAndCopiedWordsSaySo) {
  const std::string hops = text_document(test::hops_trace(60), {.width = 80});
  EXPECT_TRUE(has(hops, "    hop 1   hop 2   hop 3\n")) << hops;
  EXPECT_TRUE(has(hops, "… 60 sentences that no hop looked at")) << hops;
  EXPECT_TRUE(has(hops, "▓▓ 72 %     4 %     1 % Joe left the milk.")) << hops;
  const std::string summary = text_document(test::summary_trace(), {.width = 80});
  EXPECT_TRUE(has(summary, "Karlskrona  ██ Karlskrona, 93 %   copied 99 %")) << summary;
  EXPECT_FALSE(has(summary, "flames 20 %, fought 10 %   copied"));
  EXPECT_TRUE(has(text_document(test::summary_trace(), {Ink::true_colour, 80}), "\x1b[48;2;"));
}

TEST(DocumentText, AnyWidthDoes) {
  for (const Trace& trace : documents()) {
    for (const size_t width : {0u, 1u, 20u, 47u}) {
      for (const Ink ink : {Ink::shades, Ink::true_colour}) EXPECT_NE(text_document(trace, {ink, width}), "");
    }
  }
}

TEST(DocumentPicture, ItIsWellFormedAndNotTooWide) {
  for (const Trace& trace : documents()) {
    const std::string svg = svg_picture(trace, {});
    EXPECT_EQ(test::xml_complaint(svg), "") << trace.target.text;
    EXPECT_LE(draw_document(trace).width, 1200) << trace.target.text;
  }
}

TEST(DocumentPicture, ShowsHalvesOfASpanAndWhatItSpans) {
  const std::string svg = svg_picture(test::span_trace(), {});
  EXPECT_EQ(test::count(svg, "class=\"word\""), test::span_trace().source.words.size());
  EXPECT_EQ(test::count(svg, "class=\"span\""), 3u);
  EXPECT_TRUE(has(svg, "<title>Søren start 7")) << "78 %, and its part of the rest";
  Trace none = test::span_trace();
  none.found.reset(), none.target.text = "";
  EXPECT_EQ(test::count(svg_picture(none, {}), "class=\"span\""), 0u);
  EXPECT_TRUE(has(svg_picture(none, {}), "→ (no answer)"));
  EXPECT_TRUE(has(text_document(none, {}), "→ (no answer)\n"));
}

TEST(DocumentPicture, UnderlinesWhatWasCopiedAndHasAStripForEachWord) {
  const std::string svg = svg_picture(test::summary_trace(), {});
  EXPECT_EQ(test::count(svg, "class=\"copied\""), 3u);
  EXPECT_EQ(test::count(svg, "class=\"sentence\""), 3u) << "between four sentences";
  EXPECT_TRUE(has(svg, "<title>Karlskrona ← Karlskrona, 93 %</title>"));
  const std::string hops = svg_picture(test::hops_trace(), {});
  EXPECT_EQ(test::count(hops, "class=\"most\""), 3u) << "one of each hop";
}

TEST(DocumentPicture, TenThousandWordsHaveASaneWidth) {
  Trace trace = test::summary_trace();
  std::string text;
  for (int i = 0; i < 10000; ++i) text += "word" + std::to_string(i) + (i % 20 == 19 ? ". " : " ");
  trace.source = test::input_side("", text);
  const std::vector<real> row = test::peaked_row(trace.source, {{"word7000", 0.9}});
  test::set_map(trace, {row, row, row, row, row}, "source", "decoder.memory");
  trace.sites.clear();
  EXPECT_LE(draw_document(trace).width, 1200);
  EXPECT_TRUE(has(svg_picture(trace, {}), "fire ← word7000")) << "of cells with several words the largest counts";
}

TEST(DocumentPage, HasTheQuestionAsItsTitleAndTheTraceWithIt) {
  for (const Trace& trace : documents()) {
    const std::string page = html_picture({trace}, {});
    EXPECT_TRUE(has(page, "class DocumentView")) << "the view is part of the page";
    EXPECT_FALSE(has(page, "<script><b>"));
  }
  EXPECT_TRUE(has(html_picture({test::hops_trace()}, {}), "<title>Where is the milk? → office</title>"));
  EXPECT_TRUE(has(html_picture({test::summary_trace()}, {}), "<title>fire destroys warehouse in Karlskrona</title>"));
}

TEST(DocumentTrace, IsReadBackAsItWas) {
  for (const Trace& trace : documents()) {
    const std::string text = trace_json(trace);
    const Trace again = parse_trace(text);
    EXPECT_EQ(trace_json(again), text);
    EXPECT_EQ(again.source.word_ranges, trace.source.word_ranges);
    EXPECT_EQ(again.source.sentences, trace.source.sentences);
    ASSERT_EQ(again.inputs.size(), trace.inputs.size());
    EXPECT_EQ(again.found, trace.found);
    EXPECT_EQ(again.copied.size(), trace.copied.size());
    for (size_t i = 0; i < trace.sites.size(); ++i) EXPECT_EQ(again.sites[i].purpose, trace.sites[i].purpose);
  }
}

TEST(DocumentTrace, PlacesOutsideTheTextAreRefused) {
  using nlohmann::json;
  const auto refusal = [](const std::function<void(json&)>& change) {
    json trace = json::parse(trace_json(test::span_trace()));
    change(trace);
    return test::message_of([&] { (void)parse_trace(trace.dump()); });
  };
  EXPECT_EQ(refusal([](json&) {}), "");
  EXPECT_TRUE(has(refusal([](json& t) { t["source"]["word_ranges"][3] = {5, 100000}; }), "within"));
  EXPECT_TRUE(has(refusal([](json& t) { t["source"]["sentences"][1] = {-1, 3}; }), "within"));
  EXPECT_TRUE(has(refusal([](json& t) { t["source"]["sentences"][1] = {0, 3}; }), "one after another"));
  EXPECT_TRUE(has(refusal([](json& t) { t["source"]["word_ranges"].erase(0); }), "one for each"));
  EXPECT_TRUE(has(refusal([](json& t) { t["target"]["found"] = {1}; }), "[begin, end]"));
  EXPECT_TRUE(has(refusal([](json& t) { t["target"]["found"] = {3, 1}; }), "within"));
  EXPECT_NE(refusal([](json& t) { t["inputs"][0].erase("text"); }), "");
}

TEST(DocumentTrace, SitesMayLookAtAQuestionOrAtSentences) {
  const Trace span = test::span_trace();
  const Grid question = site_grid(span, "reader.question", 0, -1, "words");
  EXPECT_EQ(question.columns, span.inputs[0].words);
  EXPECT_EQ(question.rows, span.source.words);
  const Grid hop = site_grid(test::hops_trace(), "memory.hop", 1, -1, "words");
  EXPECT_EQ(hop.columns.at(3), "Joe travelled to the office.");
  Trace nameless = span;
  nameless.inputs.clear();
  EXPECT_TRUE(has(test::message_of([&] { (void)site_grid(nameless, "reader.question", 0, -1, "words"); }), "question"));
}

}  // namespace
}  // namespace attend::explain
