// Splitting documents into sentences.
#include "attend/data/sentences.h"

#include <gtest/gtest.h>

#include <string>

namespace attend::data {
namespace {

std::vector<std::string> sentences_of(std::string_view text) {
  std::vector<std::string> sentences;
  for (const TextRange& range : split_sentences(text)) {
    sentences.emplace_back(
        text.substr(static_cast<size_t>(range.begin), static_cast<size_t>(range.end - range.begin)));
  }
  return sentences;
}

using Sentences = std::vector<std::string>;

TEST(Sentences, EndAtMarksAndAtLineBreaks) {
  EXPECT_EQ(sentences_of("Mary went home. Where is she?  At home!\nNo mark here\n\n\r\nThe end."),
            (Sentences{"Mary went home.", "Where is she?", "At home!", "No mark here", "The end."}));
}

TEST(Sentences, DoNotEndWithinWordsAndNumbers) {
  EXPECT_EQ(sentences_of("It grew by 3.5 % at example.org. Then...what? it fell"),
            (Sentences{"It grew by 3.5 % at example.org.", "Then...what?", "it fell"}));
}

TEST(Sentences, KeepTheQuotesThatCloseBehindTheMark) {
  EXPECT_EQ(sentences_of("He said \"Go!\" (She did.) “Well…?!” »Ja.« 'No.' Done"),
            (Sentences{"He said \"Go!\"", "(She did.)", "“Well…?!”", "»Ja.« 'No.'", "Done"}));
}

TEST(Sentences, AreNoneInWhiteSpace) {
  EXPECT_EQ(sentences_of(""), Sentences{});
  EXPECT_EQ(sentences_of(" \n\t\r\n "), Sentences{});
  EXPECT_EQ(sentences_of("."), Sentences{"."});
  EXPECT_EQ(sentences_of("a.\n."), (Sentences{"a.", "."}));
}

TEST(Sentences, AreByteRanges) {
  const std::string text = "  é è. \xFF? x";  // not UTF-8, which is not its business
  EXPECT_EQ(split_sentences(text), (std::vector<TextRange>{{2, 8}, {9, 11}, {12, 13}}));
}

}  // namespace
}  // namespace attend::data
