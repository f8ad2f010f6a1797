// Answers that are more than words, in pictures and in a terminal: trees, and tags below their words.
#include "attend/explain/tree_picture.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "attend/data/display_width.h"
#include "attend/explain/answer_text.h"
#include "attend/explain/page.h"
#include "attend/explain/picture.h"
#include "tests/support/message.h"
#include "tests/support/text.h"
#include "tests/support/traces.h"
#include "tests/support/xml.h"

namespace attend::explain {
namespace {

using test::has;
using test::lines_of;

TEST(TreePicture, OnlyATreeOverTheWordsIsOne) {
  EXPECT_TRUE(is_tree(test::tree_trace()));
  EXPECT_FALSE(is_tree(test::hindi_trace()));
  Trace cut = test::tree_trace();
  cut.target.tokens.resize(4), cut.ended = false;
  EXPECT_FALSE(is_tree(cut));
  Trace words = test::tree_trace();
  words.source.words.push_back("too");
  EXPECT_FALSE(is_tree(words));
  EXPECT_TRUE(has(test::message_of([&] { text_tree(words, {}); }), "tree_of: "));
}

TEST(TreePicture, ATerminalShowsWhatEachBracketLookedAt) {
  const std::vector<std::string> lines = lines_of(text_tree(test::tree_trace(), {}));
  // 0.06 + 0.06 of the two tokens of "unhappy"
  const std::vector<std::string> expected{
      "S                 ██ barks 70 %, unhappy 12 %", "├─ NP             ██ dog 70 %, unhappy 12 %",
      "│  ├─ DT the      ██ the 70 %, unhappy 12 %",   "│  ├─ JJ unhappy  ██ unhappy 76 %, the 6 %",
      "│  └─ NN dog      ██ dog 70 %, unhappy 12 %",   "├─ VP             ██ barks 70 %, unhappy 12 %",
      "│  └─ VBZ barks   ██ barks 70 %, unhappy 12 %", "└─ . .            ██ . 70 %, unhappy 12 %"};
  ASSERT_EQ(lines.size(), expected.size());
  for (size_t i = 0; i < lines.size(); ++i) EXPECT_EQ(lines[i], expected[i]);
}

TEST(TreePicture, ANarrowTerminalShortensIt) {
  for (const size_t width : {20u, 30u, 40u}) {
    for (const std::string& line : lines_of(text_tree(test::tree_trace(), {.width = width}))) {
      EXPECT_LE(data::display_width(line), std::max<size_t>(width, 27)) << line;
    }
  }
  EXPECT_TRUE(has(text_tree(test::tree_trace(), {.ink = Ink::true_colour}), "\x1b[48;2;"));
}

TEST(TreePicture, WithoutAMapTheTreeIsDrawnAlone) {
  Trace trace = test::tree_trace();
  trace.maps[0].queries = "source";  // of another site
  EXPECT_EQ(lines_of(text_tree(trace, {})).at(1), "├─ NP");
  trace.maps.clear();
  EXPECT_EQ(lines_of(text_tree(trace, {})).at(3), "│  ├─ JJ unhappy");
  EXPECT_FALSE(has(svg_tree(trace), "looked at"));
}

TEST(TreePicture, SvgHasWordsAndBracketsWithTheirLook) {
  const std::string svg = svg_tree(test::tree_trace());
  EXPECT_EQ(test::xml_complaint(svg), "");
  size_t brackets = 0, tags = 0;
  for (size_t at = svg.find("class=\""); at != svg.npos; at = svg.find("class=\"", at + 1)) {
    (svg.compare(at, 15, "class=\"bracket\"") == 0 ? brackets : tags) += 1;
  }
  EXPECT_EQ(brackets, 3u);
  EXPECT_EQ(tags, 5u);
  EXPECT_TRUE(has(svg, "dog"));
  EXPECT_TRUE(has(svg, "NP ← ")) << "the tooltip";
  EXPECT_TRUE(has(svg, "Below each bracket is the word that it looked at most"));
  Trace saliency = test::tree_trace();
  saliency.maps[0].method = "saliency", saliency.maps[0].is_signed = true;
  EXPECT_TRUE(has(svg_tree(saliency), "that it depended on most"));
}

TEST(TreePicture, PicturesOfATreeHaveItAndTheMap) {
  const std::string svg = svg_picture(test::tree_trace(), {});
  EXPECT_EQ(test::xml_complaint(svg), "");
  EXPECT_TRUE(has(svg, "class=\"bracket\""));
  EXPECT_TRUE(has(svg, "largest of its row"));
  EXPECT_FALSE(has(svg, "→")) << "it is drawn, and not written as well";
  Trace cut = test::tree_trace();
  cut.target.tokens[0] = "S";
  EXPECT_TRUE(has(svg_picture(cut, {}), "→ ")) << "what is no tree is written";
  const std::string html = html_picture({test::tree_trace()}, {});
  EXPECT_TRUE(has(html, "<title>the unhappy dog barks .</title>"));
  EXPECT_TRUE(has(html, "class TreeView"));
}

TEST(AnswerText, TagsStandBelowTheirWords) {
  EXPECT_EQ(text_answer(test::tags_trace(), {}),
            "    the  unhappy  dog  barks  .\n"
            "    DT   JJ       NN   VBZ    .\n");
  EXPECT_EQ(text_tags(test::tags_trace(), {.width = 20}),
            "    the  unhappy\n    DT   JJ\n\n"
            "    dog  barks  .\n    NN   VBZ    .\n");
  Trace fewer = test::tags_trace();
  fewer.target.words.pop_back();
  EXPECT_TRUE(has(test::message_of([&] { text_tags(fewer, {}); }), "a tag for each of 5 words, got 4"));
  EXPECT_TRUE(has(text_answer(fewer, {}), "  → DT JJ NN VBZ ."));
}

TEST(AnswerText, WordsFollowAnArrowAndATreeIsDrawn) {
  Trace trace = test::hindi_trace();
  EXPECT_EQ(text_answer(trace, {}), "    i am going home\n  → main ghar ja rahi hoon\n");
  trace.given = true;
  EXPECT_TRUE(has(text_answer(trace, {}), "hoon   (given)\n"));
  Trace tree = test::tree_trace();
  EXPECT_TRUE(text_answer(tree, {}).starts_with("    the unhappy dog barks .\n\nS  "));
  tree.given = true;
  EXPECT_TRUE(has(text_answer(tree, {}), "(given)"));
  Trace tags = test::tags_trace();
  tags.given = true;
  EXPECT_TRUE(has(text_answer(tags, {}), "(given)"));
}

}  // namespace
}  // namespace attend::explain
