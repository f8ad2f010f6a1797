#include "attend/data/tokeniser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "attend/base/options.h"
#include "attend/base/random.h"
#include "attend/data/unicode.h"
#include "attend/data/utf8.h"
#include "tests/support/folder.h"
#include "tests/support/message.h"
#include "tests/support/text.h"

namespace attend::data {
namespace {

using test::joined;
using test::message_of;
using test::TestFolder;

NextLine each_of(std::vector<std::string> lines) {
  return [lines = std::move(lines), at = size_t{0}](std::string& line) mutable {
    if (at == lines.size()) return false;
    line = lines[at++];
    return true;
  };
}

/// A few hundred sentences of some words, with capitals, commas, and letters of more than one byte.
std::vector<std::string> sentences() {
  const std::vector<std::string> words = {"Der",     "große",   "Hund",  "läuft",   "über",  "die",         "Straße,",
                                          "während", "eine",    "Katze", "schläft", "und",   "Männer",      "warten.",
                                          "Ein",     "kleines", "Kind",  "spielt",  "mit",   "dem",         "Ball.",
                                          "Zwei",    "Frauen",  "gehen", "schnell", "durch", "gewöhnliche", "Gärten!"};
  Random random(5);
  std::vector<std::string> lines;
  for (int i = 0; i < 400; ++i) {
    std::string line;
    for (uint64_t k = 3 + random.below(9); k > 0; --k)
      line += (line.empty() ? "" : " ") + words[random.below(words.size())];
    lines.push_back(line);
  }
  return lines;
}

std::unique_ptr<Tokeniser> trained(TokeniserOptions options) {
  options.vocabulary = std::min<int64_t>(options.vocabulary, 120);
  return train_tokeniser(options, each_of(sentences()));
}

std::vector<std::string_view> kinds() {
  std::vector<std::string_view> names;
  for (const TokeniserRow& row : tokenisers()) names.push_back(row.name);
  return names;
}

class TokeniserKinds : public testing::TestWithParam<std::string_view> {
 protected:
  TokeniserOptions options() const { return {.kind = std::string(GetParam())}; }
};

INSTANTIATE_TEST_SUITE_P(All, TokeniserKinds, testing::ValuesIn(kinds()),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(TokeniserKinds, TextComesBack) {
  const auto tokeniser = trained(options());
  for (const std::string& line : sentences()) {
    const std::vector<int32_t> ids = tokeniser->encode(line);
    ASSERT_EQ(tokeniser->decode(ids), line);
    for (const int32_t id : ids) ASSERT_TRUE(id >= kFirstWord && id < tokeniser->size()) << id;
  }
}

TEST_P(TokeniserKinds, NoTextIsNoIds) {
  const auto tokeniser = trained(options());
  EXPECT_TRUE(tokeniser->encode("").empty());
  EXPECT_TRUE(tokeniser->encode(" \t ").empty());
  EXPECT_EQ(tokeniser->decode({}), "");
  EXPECT_TRUE(tokeniser->tokenise("").words.empty());
  EXPECT_TRUE(tokeniser->words({}).word_of.empty());
}

TEST_P(TokeniserKinds, WhiteSpaceOfAnyKindIsOneSpace) {
  const auto tokeniser = trained(options());
  EXPECT_EQ(tokeniser->encode("  Der\tHund \n läuft "), tokeniser->encode("Der Hund läuft"));
}

TEST_P(TokeniserKinds, TokensBelongToWordsInOrder) {
  const auto tokeniser = trained(options());
  for (const std::string& line : sentences()) {
    const TokenisedWords result = tokeniser->tokenise("  " + line + " ");
    ASSERT_EQ(result.ids, tokeniser->encode(line));
    ASSERT_EQ(joined(result.words), line);
    ASSERT_EQ(result.word_of.size(), result.ids.size());
    ASSERT_TRUE(std::is_sorted(result.word_of.begin(), result.word_of.end()));
    const std::set<int32_t> covered(result.word_of.begin(), result.word_of.end());
    ASSERT_EQ(covered.size(), result.words.size());
    ASSERT_EQ(*covered.begin(), 0);

    const TokenisedWords output = tokeniser->words(result.ids);
    ASSERT_EQ(output.words, result.words);
    ASSERT_EQ(output.word_of, result.word_of);
  }
}

/// The tokens of each word alone, without spaces, spell that word.
TEST_P(TokeniserKinds, TokensSpellTheirWords) {
  const auto tokeniser = trained(options());
  for (const std::string& line : sentences()) {
    const TokenisedWords result = tokeniser->tokenise(line);
    std::vector<std::vector<int32_t>> of(result.words.size());
    for (size_t i = 0; i < result.ids.size(); ++i) of[static_cast<size_t>(result.word_of[i])].push_back(result.ids[i]);
    for (size_t w = 0; w < of.size(); ++w) {
      const std::string text = tokeniser->decode(of[w]);
      ASSERT_EQ(text.substr(text.find_first_not_of(' ')), result.words[w]);
    }
  }
}

/// Ranges follow one another and hold every character but white space.
TEST_P(TokeniserKinds, TokensKnowTheirBytes) {
  const auto tokeniser = trained(options());
  for (const std::string text : {"  Der \t Hund läuft.\n Zwei,", "(Männer–warten)! \u00A0\u3000 猫\u0301x \xFF Kind", "", " "}) {
    const TokenisedWords result = tokeniser->tokenise(text);
    ASSERT_EQ(result.ranges.size(), result.ids.size());
    std::string covered;
    int64_t at = 0;
    for (const TextRange& range : result.ranges) {
      ASSERT_LE(at, range.begin);
      ASSERT_LE(range.begin, range.end);
      covered += text.substr(static_cast<size_t>(range.begin), static_cast<size_t>(range.end - range.begin));
      at = range.end;
    }
    std::string wanted;
    for (const std::string_view word : split_words(text)) wanted += word;
    for (const std::string blank : {"\u00A0", "\u3000"}) {  // may be part of a word, but of no separated one
      for (std::string* one : {&covered, &wanted}) {
        while (one->find(blank) != one->npos) one->erase(one->find(blank), blank.size());
      }
    }
    EXPECT_EQ(covered, wanted);
  }
}

TEST(Tokeniser, MarksStandByThemselves) {
  const auto tokeniser = train_tokeniser({.kind = "punctuated", .lowercase = true},
                                         each_of({"(1886–1900). It's $5,000\u00A0of “Déjà vu”!"}));
  const std::string text = " (1886–1900).\u00A0IT'S £7 zebra";
  const TokenisedWords result = tokeniser->tokenise(text);
  std::vector<std::string> pieces, bytes;
  for (size_t t = 0; t < result.ids.size(); ++t) {
    pieces.push_back(tokeniser->piece(result.ids[t]));
    const TextRange range = result.ranges[t];
    bytes.push_back(text.substr(static_cast<size_t>(range.begin), static_cast<size_t>(range.end - range.begin)));
  }
  EXPECT_EQ(pieces, (std::vector<std::string>{"(", "1886", "–", "1900", ")", ".", "it", "'", "s", "<unk>", "<unk>",
                                              "<unk>"}));
  EXPECT_EQ(bytes, (std::vector<std::string>{"(", "1886", "–", "1900", ")", ".", "IT", "'", "S", "£", "7", "zebra"}));
  EXPECT_EQ(tokeniser->decode(tokeniser->encode("(1886–1900). It's $5 of “Déjà vu”!")),
            "(1886–1900). it's $5 of “déjà vu”!");
}

TEST_P(TokeniserKinds, ReservedIdsShowNothing) {
  const auto tokeniser = trained(options());
  std::vector<int32_t> ids = tokeniser->encode("Der Hund");
  const TokenisedWords bare = tokeniser->words(ids);
  ids.insert(ids.begin(), kBegin);
  ids.insert(ids.end(), {kEnd, kPad, kPad});
  EXPECT_EQ(tokeniser->decode(ids), "Der Hund");
  const TokenisedWords framed = tokeniser->words(ids);
  EXPECT_EQ(framed.words, bare.words);
  EXPECT_EQ(framed.word_of.front(), -1);
  EXPECT_EQ(framed.word_of.back(), -1);
  EXPECT_EQ(std::vector<int32_t>(framed.word_of.begin() + 1, framed.word_of.end() - 3), bare.word_of);
  EXPECT_EQ(tokeniser->piece(kPad), "<pad>");
  EXPECT_EQ(tokeniser->piece(kUnknown), "<unk>");
  EXPECT_EQ(tokeniser->piece(kBegin), "<s>");
  EXPECT_EQ(tokeniser->piece(kEnd), "</s>");
}

TEST_P(TokeniserKinds, WhatIsUnknownIsShown) {
  const auto tokeniser = trained(options());
  const TokenisedWords result = tokeniser->tokenise("Der 猫 Hund");
  EXPECT_EQ(std::count(result.ids.begin(), result.ids.end(), kUnknown), 1);
  EXPECT_EQ(tokeniser->decode(result.ids), "Der ⁇ Hund");
  EXPECT_EQ(
      result
          .word_of[static_cast<size_t>(std::find(result.ids.begin(), result.ids.end(), kUnknown) - result.ids.begin())],
      1);
  EXPECT_EQ(tokeniser->words(result.ids).words, (std::vector<std::string>{"Der", "⁇", "Hund"}));
}

TEST_P(TokeniserKinds, AWrongIdIsRefused) {
  const auto tokeniser = trained(options());
  for (const int32_t id : {-1, static_cast<int32_t>(tokeniser->size())}) {
    EXPECT_NE(message_of([&] { tokeniser->piece(id); }), "");
    EXPECT_NE(message_of([&] { tokeniser->decode(std::vector{id}); }), "");
    EXPECT_NE(message_of([&] { tokeniser->words(std::vector{id}); }), "");
  }
}

TEST_P(TokeniserKinds, SavedIsLoaded) {
  const TestFolder folder;
  TokeniserOptions lower = options();
  lower.lowercase = true;
  for (const TokeniserOptions& one : {options(), lower}) {
    const auto tokeniser = trained(one);
    tokeniser->save(folder.path(), "source");
    const auto loaded = load_tokeniser(folder.path(), "source");
    ASSERT_EQ(loaded->size(), tokeniser->size());
    for (int32_t id = 0; id < loaded->size(); ++id) ASSERT_EQ(loaded->piece(id), tokeniser->piece(id));
    for (const std::string& line : sentences()) ASSERT_EQ(loaded->encode(line), tokeniser->encode(line));
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1) << "one file, no temporary ones";
}

TEST_P(TokeniserKinds, TheSameTextGivesTheSameVocabulary) {
  const auto one = trained(options()), two = trained(options());
  ASSERT_EQ(one->size(), two->size());
  for (int32_t id = 0; id < one->size(); ++id) ASSERT_EQ(one->piece(id), two->piece(id));
}

TEST_P(TokeniserKinds, SmallLetters) {
  TokeniserOptions lower = options();
  lower.lowercase = true;
  const auto tokeniser = trained(lower);
  for (const std::string& line : sentences()) {
    const TokenisedWords result = tokeniser->tokenise(line);
    ASSERT_EQ(tokeniser->decode(result.ids), lowercased(line));
    ASSERT_EQ(joined(result.words), line) << "the words stay as they are";
    ASSERT_EQ(tokeniser->words(result.ids).word_of, result.word_of);
  }
  EXPECT_EQ(tokeniser->encode("GROSSE GÄRTEN!"), tokeniser->encode("grosse gärten!"));
}

TEST_P(TokeniserKinds, TextsOfAnySizeWork) {
  for (const std::vector<std::string>& lines :
       {std::vector<std::string>{"a"}, {"", "a b", ""}, {"the same", "the same"}, {std::string(10000, 'x')}}) {
    const auto tokeniser = train_tokeniser(options(), each_of(lines));
    EXPECT_EQ(tokeniser->decode(tokeniser->encode(lines.back())), lines.back());
    EXPECT_LE(tokeniser->size(), 8000);
  }
}

TEST_P(TokeniserKinds, NoTextIsRefused) {
  EXPECT_EQ(message_of([&] { train_tokeniser(options(), each_of({})); }), "train_tokeniser: expected text, got none");
  EXPECT_NE(message_of([&] { train_tokeniser(options(), each_of({"", " "})); }), "");
  for (const char* blank : {"\u3000", "\u200B\uFEFF", "\u2581", "\u2585", "\u00A0", "\uFFFF", "\u0001"}) {
    for (const char* normalise : {"none", "nfkc"}) {  // refused or learned, whatever they are
      TokeniserOptions odd = options();
      odd.normalise = normalise;
      message_of([&] { train_tokeniser(odd, each_of({blank, blank})); });
    }
  }
  EXPECT_EQ(message_of([&] {
              train_tokeniser(options(), each_of({"a", "\xFF"}));
            }).find("train_tokeniser: line 2: expected UTF-8"),
            0u);
}

TEST_P(TokeniserKinds, NothingIsPrinted) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  const auto tokeniser = trained(options());
  tokeniser->decode(tokeniser->encode("Der 猫 \xFF Hund"));
  EXPECT_EQ(testing::internal::GetCapturedStderr() + testing::internal::GetCapturedStdout(), "");
}

/// A file with one byte changed, or cut short, is refused or read; nothing else happens.
TEST_P(TokeniserKinds, DamagedFilesAreRefusedOrRead) {
  const TestFolder folder;
  trained(options())->save(folder.path(), "x");
  const std::string name = std::filesystem::directory_iterator(folder.path())->path().filename();
  const std::string good = folder.bytes(name);
  Random random(11);
  const auto use = [&](const std::string& bytes) {
    folder.file(name, bytes);
    message_of([&] {
      const auto tokeniser = load_tokeniser(folder.path(), "x");
      tokeniser->decode(tokeniser->encode("Der große Hund läuft."));
    });
  };
  for (int i = 0; i < 100; ++i) {
    std::string bad = good;
    bad[random.below(bad.size())] = static_cast<char>(random.below(256));
    use(bad);
    use(good.substr(0, random.below(good.size())));
  }
}

TEST(Tokeniser, WordsAreOrderedByCountThenText) {
  const auto words = train_tokeniser({.kind = "words", .vocabulary = 7}, each_of({"y z x z y", "z a x"}));
  ASSERT_EQ(words->size(), 7);
  EXPECT_EQ(words->piece(4), "z");
  EXPECT_EQ(words->piece(5), "x");
  EXPECT_EQ(words->piece(6), "y");
  EXPECT_EQ(words->encode("a"), std::vector<int32_t>{kUnknown});
}

TEST(Tokeniser, RareWordsAreUnknown) {
  const auto words = train_tokeniser({.kind = "words", .min_count = 2}, each_of({"a b a"}));
  EXPECT_EQ(words->size(), kFirstWord + 1);
  EXPECT_EQ(words->decode(words->encode("a b")), "a ⁇");
}

TEST(Tokeniser, CoverageLeavesOutRareCharacters) {
  const TokeniserOptions options{.kind = "characters", .coverage = 0.9};
  const auto characters = train_tokeniser(options, each_of({"aaaaaaaaaabbbbbbbbbbc"}));
  EXPECT_EQ(characters->size(), kFirstWord + 2);
}

TEST(Tokeniser, ASpaceBelongsToTheWordAfterIt) {
  const auto characters = train_tokeniser({.kind = "characters"}, each_of({"ab c"}));
  const TokenisedWords result = characters->tokenise("ab  c");
  EXPECT_EQ(result.word_of, (std::vector<int32_t>{0, 0, 1, 1}));
  EXPECT_EQ(characters->piece(result.ids[2]), "▁");
  EXPECT_EQ(characters->decode(std::vector{result.ids[2]}), " ");
}

TEST(Tokeniser, ALoneMarkBelongsToTheWordAfterIt) {
  for (const char* kind : {"unigram", "bpe"}) {
    const auto subwords = trained({.kind = kind});
    const TokenisedWords result = subwords->tokenise("Der 猫 Hund");
    const auto unknown = std::find(result.ids.begin(), result.ids.end(), kUnknown) - result.ids.begin();
    ASSERT_EQ(subwords->piece(result.ids[static_cast<size_t>(unknown) - 1]), "▁") << kind;
    EXPECT_EQ(result.word_of[static_cast<size_t>(unknown) - 1], 1) << kind;
    EXPECT_EQ(result.word_of[static_cast<size_t>(unknown)], 1) << kind;
    EXPECT_EQ(subwords->words(result.ids).word_of, result.word_of);
  }
}

TEST(Tokeniser, NfkcMakesVariantsOne) {
  const auto subwords = trained({.kind = "bpe", .normalise = "nfkc"});
  EXPECT_EQ(subwords->encode("Ｄｅｒ\u00A0Hund"), subwords->encode("Der Hund"));
  const TokenisedWords result = subwords->tokenise("Ein Ｄｅｒ\u00A0Hund läuft");
  EXPECT_EQ(joined(result.words), "Ein Ｄｅｒ\u00A0Hund läuft");
  EXPECT_EQ(result.words.size(), 3u);
  EXPECT_EQ(result.word_of.back(), 2);
  const auto lower = trained({.kind = "unigram", .lowercase = true, .normalise = "nfkc"});
  EXPECT_EQ(lower->decode(lower->encode("Der HUND")), "der hund");
}

TEST(Tokeniser, LongLinesAreLearnedFrom) {
  std::string line;
  for (const std::string& sentence : sentences()) line += sentence + " ";
  const auto whole = train_tokeniser({.kind = "bpe", .vocabulary = 120}, each_of({line}));
  const auto apart = trained({.kind = "bpe"});
  for (const std::string& sentence : sentences()) ASSERT_EQ(whole->encode(sentence), apart->encode(sentence));
}

TEST(TokeniserSlow, HugeTextsAreSampled) {
  Random random(1);
  const std::vector<std::string> lines = sentences();
  int64_t left = 1'500'000;  // of some 50 bytes: more than is kept
  const auto tokeniser = train_tokeniser({.kind = "bpe", .vocabulary = 120}, [&](std::string& line) {
    line = lines[random.below(lines.size())];
    return left-- > 0;
  });
  for (const std::string& line : lines) ASSERT_EQ(tokeniser->decode(tokeniser->encode(line)), line);
}

TEST(Tokeniser, OptionsAreChecked) {
  const auto refusal = [](const TokeniserOptions& options) {
    return message_of([&] { train_tokeniser(options, each_of(sentences())); });
  };
  EXPECT_EQ(refusal({.kind = "unigramm"}),
            "kind: expected one of unigram, bpe, words, punctuated, characters, got \"unigramm\"; the nearest is \"unigram\"");
  EXPECT_NE(refusal({.vocabulary = 4}), "");
  EXPECT_NE(refusal({.vocabulary = 10}), "") << "fewer than there are letters";
  EXPECT_NE(refusal({.kind = "bpe", .vocabulary = 10}), "");
  EXPECT_NE(refusal({.normalise = "nfd"}), "");
  EXPECT_NE(refusal({.kind = "words", .normalise = "nfkc"}), "");
  EXPECT_NE(refusal({.coverage = 0}), "");
  EXPECT_NE(refusal({.coverage = 1.5}), "");
  EXPECT_NE(refusal({.min_count = 0}), "");
}

TEST(Tokeniser, OptionsAreListed) {
  TokeniserOptions options;
  set_options("test", options, {{"kind", "bpe"}, {"vocabulary", "500"}, {"lowercase", "true"}});
  EXPECT_EQ(options.vocabulary, 500);
  EXPECT_EQ(settings_of(options).size(), 6u);
}

TEST(Tokeniser, LoadingNamesWhatIsWrong) {
  const TestFolder folder;
  const auto refusal = [&](const std::string& file, std::string_view text) {
    folder.file(file, text);
    const std::string message = message_of([&] { load_tokeniser(folder.path(), "x"); });
    std::filesystem::remove(folder.path() / file);
    return message.substr(std::min(message.size(), folder.path().native().size() + 1));
  };
  EXPECT_EQ(message_of([&] { load_tokeniser(folder.path(), "x"); }),
            folder.path().native() + ": expected a vocabulary (x.spm, x.words, x.punctuated, x.characters), got none of them");
  EXPECT_EQ(refusal("x.words", ""),
            "x.words: expected \"attend words\", \"attend punctuated\" or \"attend characters\" in the first line, got \"\"");
  EXPECT_EQ(refusal("x.words", "attend words\na\t3\nb c\t2\n"),
            "x.words:3: expected one of the words, got \"b c\t2\"");
  EXPECT_EQ(refusal("x.words", "attend words\na\tmany\n"), "x.words:2: expected a count, got \"many\"");
  EXPECT_EQ(refusal("x.words", "attend words\na\nb\na\n"), "x.words: expected each of the words once, got one again");
  EXPECT_EQ(refusal("x.characters", "attend characters\nab\n"),
            "x.characters:2: expected one of the characters, got \"ab\"");
  EXPECT_NE(refusal("x.spm", ""), "");
  EXPECT_NE(refusal("x.spm", "rubbish"), "");
  folder.file("x.words", "attend words\n");
  EXPECT_NE(refusal("x.spm", "").find("got x.spm and x.words"), std::string::npos);
}

/// Rules of normalisation are a table of offsets, which SentencePiece trusts: all damage to them must be noticed, or be
/// harmless (the address sanitizer looks on).
TEST(Tokeniser, DamagedRulesAreNotFollowed) {
  const TestFolder folder;
  trained({.kind = "bpe", .normalise = "nfkc"})->save(folder.path(), "x");
  const std::string good = folder.bytes("x.spm");
  Random random(12);
  int refused = 0;
  for (int i = 0; i < 200; ++i) {
    std::string bad = good;
    for (int k = 0; k < 50; ++k) bad[random.below(bad.size())] = static_cast<char>(random.below(256));
    folder.file("x.spm", bad);
    const std::string message = message_of([&] {
      const auto tokeniser = load_tokeniser(folder.path(), "x");
      for (const char* text : {"Ｄｅｒ große …", "ﬁne ½ ①", "\u3000"}) tokeniser->encode(text);
    });
    refused += !message.empty();
  }
  EXPECT_GT(refused, 150);
}

}  // namespace
}  // namespace attend::data
