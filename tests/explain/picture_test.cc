// Pictures of whole traces: SVG, small multiples, PNG, and the page that is one file.
#include "attend/explain/picture.h"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <string>

#include "attend/base/options.h"
#include "attend/explain/grid.h"
#include "attend/explain/multiples.h"
#include "attend/explain/page.h"
#include "attend/explain/png.h"
#include "tests/support/folder.h"
#include "tests/support/message.h"
#include "tests/support/text.h"
#include "tests/support/traces.h"
#include "tests/support/xml.h"

namespace attend::explain {
namespace {

using test::count;

TEST(TraceGrid, WordsAreMadeOfTokens) {
  const Trace trace = test::hindi_trace();
  const Grid words = site_grid(trace, "decoder.memory", 0, 0, "words");
  ASSERT_EQ(words.values.shape(), (Shape{5, 4}));
  for (size_t i = 0; i < words.values.size(); ++i) {
    EXPECT_NEAR(words.values.data()[i], trace.maps[0].words.data()[i], 1e-6) << i;
  }
  EXPECT_EQ(site_grid(trace, "decoder.memory", -1, -1, "tokens").columns, trace.source.tokens);
}

TEST(TraceGrid, KeysThatWereReadBeforeBeginWithTheBeginning) {
  const Grid words = site_grid(test::heads_trace(), "decoder.self", 1, 2, "words");
  EXPECT_EQ(words.columns, (std::vector<std::string>{"<s>", "main", "ghar", "ja", "rahi", "hoon"}));
  EXPECT_EQ(words.rows, (std::vector<std::string>{"main", "ghar", "ja", "rahi", "hoon"}));
  const Grid tokens = site_grid(test::heads_trace(), "decoder.self", 1, 2, "tokens");
  EXPECT_EQ(tokens.columns, (std::vector<std::string>{"<s>", "▁main", "▁ghar", "▁ja", "▁rahi", "▁hoon"}));
}

TEST(TraceGrid, ADecoderAloneLooksAtTheSourceAndThenAtWhatItReadBefore) {
  const Trace trace = test::alone_trace();
  const Grid words = site_grid(trace, "decoder.self", 0, 0, "words");
  EXPECT_EQ(words.columns,
            (std::vector<std::string>{"i", "am", "going", "home", "<s>", "main", "ghar", "ja", "rahi", "hoon"}));
  EXPECT_NEAR(words.values.data()[1 * 10 + 3], 0.93 / 2, 1e-6) << "ghar ← home";
  EXPECT_NEAR(words.values.data()[1 * 10 + 5], 0.5, 1e-6) << "ghar ← main";
  const Grid tokens = site_grid(trace, "decoder.self", 0, 0, "tokens");
  ASSERT_EQ(tokens.columns.size(), 11u);
  EXPECT_EQ(tokens.columns[5], "<s>");
  EXPECT_NE(html_picture({trace}, {}), "");
  EXPECT_NE(svg_picture(trace, {.heads = true}), "");
}

TEST(TraceGrid, WindowsInTokensAndInWords) {
  const Trace trace = test::local_trace();
  const auto tokens = map_grid(trace, trace.maps[0], "tokens").look.windows;
  ASSERT_EQ(tokens.size(), 6u);
  EXPECT_EQ(tokens[1]->first, 3);  // centre 3.4, reach 1: 2.4 … 4.4
  EXPECT_EQ(tokens[1]->last, 4);
  EXPECT_NEAR(tokens[1]->centre, 3.4, 1e-6);
  const auto words = map_grid(trace, trace.maps[0], "words").look.windows;
  ASSERT_EQ(words.size(), 5u);
  EXPECT_EQ(words[1]->first, 3);  // both tokens are of the last word
  EXPECT_EQ(words[1]->last, 3);
  EXPECT_NEAR(words[1]->centre, 2.5 + 0.9 / 2, 1e-6);
}

TEST(TraceGrid, MeansOverHeadsHaveNoWindow) {
  Trace trace = test::local_trace();
  trace.sites.push_back(trace.sites[0]);
  trace.sites[1].layer = 1;
  EXPECT_TRUE(map_grid(trace, trace.maps[0], "words").look.windows.empty());
  EXPECT_FALSE(site_grid(trace, "decoder.memory", 1, -1, "words").look.windows.empty());
}

TEST(TraceGrid, PartsThatDisagreeAreRefused) {
  const auto refused = [](auto&& damage) {
    Trace trace = test::local_trace();
    damage(trace);
    EXPECT_NE(test::message_of([&] { html_picture({trace}, {}); }), "");
    return test::message_of([&] { svg_picture(trace, {.heads = true}); });
  };
  EXPECT_EQ(refused([](Trace& trace) { trace.maps.clear(), trace.sites.clear(); }),
            "picture: expected a trace with a map, got one without");
  EXPECT_EQ(refused([](Trace& trace) { trace.maps[0].words = {}; }),
            "trace: expected a map with words, got one without (attention)");
  EXPECT_EQ(refused([](Trace& trace) {
              trace.maps[0].words = Tensor::zeros({4, 5});
            }),
            "trace: map: expected weights [5,4], got [4, 5]");
  EXPECT_EQ(refused([](Trace& trace) { trace.source.word_of.pop_back(); }),
            "trace: source: expected word_of of 5 tokens, got 4");
  EXPECT_EQ(refused([](Trace& trace) { trace.target.word_of[0] = 9; }),
            "trace: target: word_of: expected a word below 5, got 9");
  EXPECT_EQ(refused([](Trace& trace) {
              trace.sites[0].weights = Tensor::zeros({1, 6, 4});
            }),
            "trace: decoder.memory: expected weights [1, 6, 5], as it has tokens, got [1, 6, 4]");
  EXPECT_EQ(refused([](Trace& trace) {
              trace.sites[0].centres = Tensor::zeros({1, 3});
            }),
            "trace: decoder.memory: expected centres [1, 6], got [1, 3]");
  EXPECT_NE(refused([](Trace& trace) { trace.sites[0].heads = 3; }), "");
  EXPECT_NE(refused([](Trace& trace) { trace.sites[0].queries = "here"; }), "");
  EXPECT_EQ(test::message_of([] { svg_picture(test::hindi_trace(), {.level = "letters"}); }),
            "level: expected words or tokens, got 'letters'");
  EXPECT_EQ(test::message_of([] { svg_multiples(test::hindi_trace(), "encoder.self"); }),
            "trace: expected a site with weights, got none called encoder.self");
  EXPECT_EQ(test::message_of([] { html_picture({}, {}); }), "picture: expected a trace, got none");
}

TEST(SvgPicture, IsXmlOfEveryKindOfTrace) {
  for (const Trace& trace : {test::hindi_trace(), test::signed_trace(), test::hard_trace(), test::local_trace(),
                             test::heads_trace(), test::odd_trace()}) {
    for (const char* level : {"words", "tokens"}) {
      EXPECT_EQ(test::xml_complaint(svg_picture(trace, {level, true})), "") << trace.maps[0].label;
    }
  }
  EXPECT_EQ(test::xml_complaint(svg_multiples(test::heads_trace(), "decoder.self")), "");
}

TEST(SvgPicture, SaysWhatItShows) {
  const std::string svg = svg_picture(test::signed_trace(), {});
  EXPECT_NE(svg.find(">i am going home<"), svg.npos);
  EXPECT_NE(svg.find(">→ main ghar ja rahi hoon<"), svg.npos);
  EXPECT_NE(svg.find(">saliency: gradient × embedding<"), svg.npos);
  EXPECT_NE(svg.find(" against<"), svg.npos);
  EXPECT_NE(svg.find(">−2.10<"), svg.npos) << "evidence";
  EXPECT_NE(svg_picture(test::hindi_trace(), {}).find(">93 %<"), svg.npos) << "the end of the scale";
}

TEST(SvgPicture, DotsOfChoicesAndWindowsOfCentres) {
  EXPECT_EQ(count(svg_picture(test::hard_trace(), {.level = "tokens"}), "class=\"choice\""), 6u + 1u)
      << "and the legend";
  const std::string local = svg_picture(test::local_trace(), {.level = "tokens"});
  EXPECT_EQ(count(local, "class=\"window\""), 6u);
  EXPECT_EQ(count(local, "class=\"centre\""), 6u);
}

TEST(SvgPicture, HeadsAreNamedAndLabelledOnce) {
  const std::string svg = svg_picture(test::heads_trace(), {.heads = true});
  EXPECT_NE(svg.find(">layer 0 · head 0<"), svg.npos);
  EXPECT_NE(svg.find(">layer 1 · head 3<"), svg.npos);
  EXPECT_EQ(count(svg, ">layer "), 8u);
  EXPECT_EQ(count(svg, ">ghar<"), 1u + 2u) << "the map, and one per row of heads";
  EXPECT_EQ(count(svg, ">going<"), 1u + 4u) << "the map, and one per column of heads";
}

TEST(SvgPicture, HeadsHaveAHeadingWhateverTheMethod) {
  EXPECT_NE(svg_picture(test::signed_trace(), {.heads = true}).find("attention: all heads of decoder.memory"),
            std::string::npos);
  EXPECT_EQ(svg_picture(test::signed_trace(), {}).find("all heads"), std::string::npos);
  EXPECT_NE(svg_picture(test::signed_trace(), {}).find("for or against"), std::string::npos);
}

TEST(SvgPicture, OptionsByName) {
  PictureOptions options;
  set_options("picture", options, {{"level", "tokens"}, {"heads", "true"}});
  EXPECT_EQ(options.level, "tokens");
  EXPECT_TRUE(options.heads);
}

TEST(PageFiles, AreTheFilesAsTheyAre) {
  ASSERT_FALSE(page_files().empty());
  for (const EmbeddedFile& file : page_files()) {
    std::ifstream in(std::string(ATTEND_SOURCE_DIR "/attend/explain/page/") + std::string(file.name), std::ios::binary);
    EXPECT_TRUE(file.bytes == std::string(std::istreambuf_iterator<char>(in), {})) << file.name;
  }
  EXPECT_EQ(embedded_file(page_files(), "heatmap.js").type, "text/javascript; charset=utf-8");
  EXPECT_EQ(embedded_file(page_files(), "theme.css").type, "text/css; charset=utf-8");
  EXPECT_EQ(test::message_of([] { embedded_file(page_files(), "x.js"); }),
            "embedded_file: expected the name of a file that is built in, got 'x.js'");
}

TEST(HtmlPicture, LoadsNothing) {
  const std::string page = html_picture({test::heads_trace()}, {.heads = true});
  for (const char* load : {"http:", "https:", "src=", "href=", "\nimport ", "url(", "@import", "import("}) {
    EXPECT_EQ(page.find(load), page.npos) << load;
  }
  EXPECT_NE(page.find("<title>i am going home → main ghar ja rahi hoon</title>"), page.npos);
  EXPECT_NE(page.find("{\"heads\":true,\"leftOut\":\"\",\"level\":\"words\"}"), page.npos);
  for (const char* part : {"{theme.css}", "{style}", "{script}", "{traces}", "{title}"}) {
    EXPECT_EQ(page.find(part), page.npos);
  }
}

TEST(HtmlPicture, LeavesOutWeightsOfALongTextAndSaysWhich) {
  const auto page = [](int64_t tokens) {
    Trace trace = test::large_trace(tokens);
    for (const auto& [site, queries, keys] :
         {std::array{"encoder.self", "source", "source"}, std::array{"decoder.memory", "target", "source"}}) {
      trace.sites.push_back({.site = site, .queries = queries, .keys = keys});
      trace.sites.back().weights = Tensor::full({1, tokens, tokens}, 0.125);
    }
    return html_picture({trace}, {});
  };
  const auto says = [](const std::string& text, const char* part) { return text.find(part) != text.npos; };
  EXPECT_FALSE(says(page(100), "left out of this page")) << "what is small is whole";
  const std::string one = page(800);
  EXPECT_TRUE(says(one, "the weights of encoder.self are left out of this page"));
  EXPECT_TRUE(says(one, "0.125,0.125")) << "the others are there";
  EXPECT_TRUE(says(page(1100), "the weights of encoder.self, decoder.memory are left out"));
}

TEST(HtmlPicture, NoTokenCanEndTheScript) {
  const std::string page = html_picture({test::odd_trace(), test::hindi_trace()}, {});
  EXPECT_EQ(count(page, "</script>"), 3u) << "those of the page alone";
  EXPECT_NE(page.find("\\u003c/script>"), page.npos);
  EXPECT_NE(page.find("\"{title}\""), page.npos) << "a token that looks like a place of the page";
  const std::string data = page.substr(page.find("id=\"traces\">") + 12);
  const std::string first = data.substr(1, data.find('\n') - 2);
  EXPECT_EQ(parse_trace(first).source.words, test::odd_trace().source.words);
}

TEST(Png, HasTwiceTheSizeOfTheSvg) {
  if (!can_write_png()) GTEST_SKIP() << "librsvg is not installed";
  const test::TestFolder folder;
  write_png(folder.path() / "x.png", "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"30\" height=\"20\"/>");
  const std::string png = folder.bytes("x.png");
  ASSERT_GT(png.size(), 24u);
  EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
  const auto number = [&](size_t at) {
    size_t value = 0;
    for (size_t i = 0; i < 4; ++i) value = value * 256 + static_cast<unsigned char>(png[at + i]);
    return value;
  };
  EXPECT_EQ(number(16), 60u);
  EXPECT_EQ(number(20), 40u);
  write_png(folder.path() / "picture.png", svg_picture(test::odd_trace(), {}));
  EXPECT_GT(folder.bytes("picture.png").size(), 5000u);
}

TEST(Png, WhatIsNoSvgIsRefusedAndNothingIsLeft) {
  if (!can_write_png()) GTEST_SKIP() << "librsvg is not installed";
  const test::TestFolder folder;
  for (const char* text :
       {"", "<svg", "<html/>", "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"0\" height=\"0\"/>"}) {
    EXPECT_TRUE(test::message_of([&] { write_png(folder.path() / "x.png", text); }).starts_with("png: expected an SVG that "))
        << text;
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace attend::explain
