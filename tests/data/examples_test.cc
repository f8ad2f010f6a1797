#include "attend/data/examples.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "attend/data/labelled.h"
#include "attend/data/pronunciations.h"
#include "attend/data/tagged.h"
#include "attend/data/treebank.h"
#include "tests/support/folder.h"
#include "tests/support/message.h"

namespace attend::data {
namespace {

using test::message_of;
using test::TestFolder;
using Texts = std::vector<std::string>;

using Open = std::unique_ptr<ExampleReader> (*)(LineReader);

/// "source|target|also@line" of each example of a file with this text.
Texts read(Open open, std::string_view text) {
  const auto reader = open(LineReader(std::as_bytes(std::span(text)), "file"));
  Texts all;
  for (Example example; reader->next(example);) {
    std::string printed = example.source + "|" + example.target;
    for (const std::string& other : example.also) printed += "|" + other;
    const std::string where = reader->where();
    EXPECT_TRUE(where.starts_with("file:")) << where;
    all.push_back(printed + "@" + where.substr(5));
  }
  Example none;
  EXPECT_FALSE(reader->next(none)) << "the end stays the end";
  return all;
}

std::string refusal(Open open, std::string_view text) {
  return message_of([&] { read(open, text); });
}

TEST(Labelled, LinesHaveALabelATabAndAText) {
  EXPECT_EQ(read(labelled_lines, "good\tso much  fun \r\n\n \nvery bad\ta\tb"),
            (Texts{"so much fun|good@1", "a b|very bad@4"}));
}

TEST(Labelled, LinesThatLackAnythingAreRefused) {
  EXPECT_EQ(
      refusal(labelled_lines, "a\tb\ngood fun\n"),
      "file:2: expected \"label<tab>text\", got no tab in \"good fun\"; put one between the label and the text");
  EXPECT_EQ(refusal(labelled_lines, " \tfun"), "file:1: expected \"label<tab>text\", got no label before the tab");
  EXPECT_EQ(refusal(labelled_lines, "good\t  "),
            "file:1: expected \"label<tab>text\", got no text after the label \"good\"");
  EXPECT_EQ(refusal(labelled_lines, "\n\n"), "file: expected lines \"label<tab>text\", got none");
}

class LabelledFolders : public testing::Test {
 protected:
  void add(const std::string& name, std::string_view text) {
    std::filesystem::create_directories((folder_.path() / name).parent_path());
    folder_.file(name, text);
  }
  /// "source|target@where" of each.
  Texts read() {
    const auto reader = open_examples("labels", folder_.path());
    Texts all;
    for (Example example; reader->next(example);) {
      all.push_back(example.source + "|" + example.target + "@" +
                    std::filesystem::relative(reader->where(), folder_.path()).native());
    }
    return all;
  }
  std::string name(const char* file) const { return (folder_.path() / file).native(); }

  TestFolder folder_;
};

TEST_F(LabelledFolders, HaveAFolderPerLabelAndAFilePerText) {
  add("pos/2.txt", "fine\r\n  work\n");
  add("pos/10.txt.gz", "plain,\ttoo");
  add("neg/1.txt", "meh");
  add("neg/.hidden", "not a text");
  add("README", "not a label");
  EXPECT_EQ(read(), (Texts{"meh|neg@neg/1.txt", "plain, too|pos@pos/10.txt.gz", "fine work|pos@pos/2.txt"}));
}

TEST_F(LabelledFolders, ThatAreNoneAreRefused) {
  EXPECT_EQ(
      message_of([&] { read(); }),
      folder_.path().native() + ": expected a folder per label with .txt or .txt.gz files in it, got no folder");
  add("pos/1.txt", "x");
  std::filesystem::create_directory(folder_.path() / "neg");
  EXPECT_EQ(message_of([&] { read(); }),
            name("neg") + ": expected .txt or .txt.gz files, got none; remove the empty folder");
  add("neg/1.html", "x");
  EXPECT_EQ(message_of([&] { read(); }), name("neg/1.html") + ": expected .txt or .txt.gz files in " + name("neg") +
                                             ", got something else; move it elsewhere, or rename it");
  std::filesystem::rename(name("neg/1.html"), name("neg/1.txt"));
  EXPECT_EQ(read().size(), 2u);
  add("neg/1.txt", " \n\n");
  EXPECT_EQ(message_of([&] { read(); }),
            name("neg/1.txt") + ": expected a text, got nothing but white space; remove the file");
}

TEST(Tagged, ColumnsAreAWordPerLine) {
  EXPECT_EQ(read(tagged_sentences, "EU B-ORG\nrejects O\n\n\nPeter B-PER\r\n"),
            (Texts{"EU rejects|B-ORG O@1", "Peter|B-PER@5"}));
  EXPECT_EQ(read(tagged_sentences, "the DT  B-NP\nc\td\tI-NP\n"), Texts{"the c|B-NP I-NP@1"});
  EXPECT_EQ(read(tagged_sentences, "a\t\tX \nb\t y\tY\n"), Texts{"a b|X Y@1"}) << "other columns may be empty";
}

TEST(Tagged, DocumentsAndCommentsAreLeftOut) {
  EXPECT_EQ(
      read(tagged_sentences,
           "# a corpus\n-DOCSTART- -X- O\n\n# id 1\na x O\n# x O\nb x O\n-DOCSTART- -X- O\nc x O\n\n# x O\nd x O\n"),
      (Texts{"a # b|O O O@5", "c|O@9", "# d|O O@11"}))
      << "within a sentence, and with a known tag, \"#\" is a word";
  EXPECT_EQ(read(tagged_sentences, "a O\n\n# newdoc\nb O\n"), (Texts{"a|O@1", "b|O@4"}));
}

TEST(Tagged, RowsThatDoNotFitAreRefused) {
  EXPECT_EQ(refusal(tagged_sentences, "a X O\n\nb O\n"), "file:3: expected 3 columns as in line 1, got 2 in \"b O\"");
  EXPECT_EQ(refusal(tagged_sentences, "a X O\nb X O O\n"),
            "file:2: expected 3 columns as in line 1, got 4 in \"b X O O\"");
  EXPECT_EQ(refusal(tagged_sentences, "word\n"),
            "file:1: expected a word and its tag as the first and last column, or word/TAG word/TAG, got \"word\"");
  EXPECT_EQ(
      refusal(tagged_sentences, "a\tO\nNew York\tB-LOC\n"),
      "file:2: expected a word or a tag without white space, got \"New York\"; split it into a line per word, or "
      "join it with \"_\"");
  EXPECT_EQ(refusal(tagged_sentences, "a\tO\n\tO\n"),
            "file:2: expected a word in the first column and its tag in the last, got \"\\x09O\" with an empty one");
  EXPECT_EQ(refusal(tagged_sentences, "# text = a\n1\ta\ta\tDET\tDT\t_\t0\troot\t_\t_\n"),
            "file:2: expected the word in the first column and its tag in the last, got CoNLL-U; take its columns of "
            "words and tags: grep -v '^#' FILE | cut -f 2,4");
  EXPECT_EQ(refusal(tagged_sentences, "\n# nothing\n\n"), "file: expected sentences with tags, got none");
  EXPECT_EQ(refusal(tagged_sentences, ""), "file: expected sentences with tags, got none");
}

TEST(Tagged, TreesGiveThePartsOfSpeechOfTheirLeaves) {
  const TestFolder folder;
  const char* trees = "( (S (NP-SBJ (DT the) (NN dog)) (VP (VBZ barks) (NP (-NONE- *))) (. .)))\n";
  for (const char* name : {"a.trees", "a.mrg"}) {
    const std::vector<Example> examples = read_examples("tags", folder.file(name, trees));
    ASSERT_EQ(examples.size(), 1u) << name;
    EXPECT_EQ(examples[0].source, "the dog barks .");
    EXPECT_EQ(examples[0].target, "DT NN VBZ .");
  }
  EXPECT_TRUE(message_of([&] { read_examples("tags", folder.file("b.trees", "(S (NP\n")); }).find("b.trees:1") != std::string::npos);
}

TEST(Tagged, SlashesAreALinePerSentence) {
  EXPECT_EQ(read(tagged_sentences, "# mine\nthe/DT dog/NN\n\n1/2/CD 3\\/4/CD x/NN\\/JJ #/#\n"),
            (Texts{"the dog|DT NN@2", "1/2 3/4 x #|CD CD NN/JJ #@4"}));
  EXPECT_EQ(read(tagged_sentences, "\\//SYM"), Texts{"/|SYM@1"});
  EXPECT_EQ(refusal(tagged_sentences, "the/DT dog/NN\na/DT dog\n"),
            "file:2: expected word/TAG, got \"dog\"; a slash within a word or a tag is written \\/");
}

// What decides is the first line with words, and nothing else.
TEST(Tagged, TheFirstLineTellsTheLayout) {
  EXPECT_EQ(read(tagged_sentences, "1/2 CD\na/b NN\n"), Texts{"1/2 a/b|CD NN@1"});
  EXPECT_EQ(read(tagged_sentences, "1/2\tCD/x\n"), Texts{"1/2|CD/x@1"});
  EXPECT_EQ(read(tagged_sentences, "1/2 CD/x\n"), Texts{"1 CD|2 x@1"});
  EXPECT_EQ(read(tagged_sentences, "/ SYM\n"), Texts{"/|SYM@1"}) << "a slash with nothing beside it parts nothing";
}

TEST(Treebank, TreesLieOnOneLineOrSeveral) {
  EXPECT_EQ(read(treebank, "(S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .))\n\n  ( (NP (NN a)))(NP (NN b))\n"),
            (Texts{"the dog barks .|(S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .))@1", "a|(NP (NN a))@3",
                   "b|(NP (NN b))@3"}));
  EXPECT_EQ(read(treebank, "\n( (S \r\n    (NP-SBJ (NNP Pierre) )\n\n    (VP (MD will) )\n    (. .) ))\n(X (Y z))"),
            (Texts{"Pierre will .|(S (NP (NNP Pierre)) (VP (MD will)) (. .))@2", "z|(X (Y z))@7"}));
}

TEST(Treebank, FaultsAreNamedByTheirLine) {
  EXPECT_EQ(
      refusal(treebank, "(S (A b))\n\n(S\n (A b)\n (C d)\n"),
      "file:3: expected balanced brackets, got 1 still open at the end of the file in the tree that begins here");
  EXPECT_EQ(refusal(treebank, "(S (A b))\n(S (A b)))\n"),
            "file:2: expected a tree, which begins with a bracket, got \")\"; there is a closing bracket too many "
            "before it");
  EXPECT_EQ(refusal(treebank, "(S (A b))\nwords\n"),
            "file:2: expected a tree, which begins with a bracket, got \"words\"");
  EXPECT_EQ(
      refusal(treebank, "(S\n (A b)\n ((C d)))"),
      "file:3: expected a label after the bracket, got \"((C d)))\"; only the outermost bracket may go without");
  EXPECT_EQ(refusal(treebank, "(S\n (A b)\n (C))"), "file:3: expected words, got an empty bracket: \"(C)\"");
  EXPECT_EQ(
      refusal(treebank, "(S\n (A b)\n (C (D e) f))"),
      "file:3: expected every word with its part of speech, (NN dog), got \"f\" without one in \"(C (D e) f)\"");
  EXPECT_EQ(refusal(treebank, "(S\n (A b\n c))"),
            "file:3: expected every word with its part of speech, (NN dog), got \"c\" beside \"b\" in one bracket");
  EXPECT_EQ(refusal(treebank, "(S (NP (-NONE- *)))"),
            "file:1: expected a tree with words, got traces (-NONE-) alone in \"(S (NP (-NONE- *)))\"");
  EXPECT_EQ(
      refusal(treebank, "( (A b) (C d))"),
      "file:1: expected a label after the outermost bracket, as there are 2 constituents in it, got none in \"( "
      "(A b) (C d))\"");
  EXPECT_EQ(refusal(treebank, "  \n"), "file: expected bracketed trees, got none");
}

TEST(PronunciationsOf, AWordAreOneExample) {
  EXPECT_EQ(read(pronunciations,
                 ";;; a comment\nhello HH AH0 L OW1\r\nread R EH1 D\nhello(2)  HH EH0 L OW1 # rare\n\nread(2) R IY1 D\n"
                 "read(3) R EH1 D\n"),
            (Texts{"hello|HH AH0 L OW1|HH EH0 L OW1@2", "read|R EH1 D|R IY1 D@3"}));
  EXPECT_EQ(read(pronunciations, "(paren P\n(2) T UW1\n#hash HH\nx(y) K\n:-)(1) S"),
            (Texts{"(paren|P@1", "(2)|T UW1@2", "#hash|HH@3", "x(y)|K@4", ":-)|S@5"}));
}

TEST(PronunciationsOf, NothingAreRefused) {
  EXPECT_EQ(refusal(pronunciations, "a AH0\nhello # HH\n"),
            "file:2: expected a word and its phonemes, \"hello HH AH0 L OW1\", got \"hello # HH\" without phonemes");
  EXPECT_EQ(refusal(pronunciations, ";;; nothing\n"), "file: expected lines \"word PH ON EMES\", got none");
}

TEST(ExampleFormats, AreRows) {
  const TestFolder folder;
  const std::map<std::string_view, std::string_view> texts = {{"pairs", "a b\tc d\t0-0"},
                                                              {"labels", "c d\ta b"},
                                                              {"tags", "a c\nb d"},
                                                              {"trees", "(c (x a) (d b))"},
                                                              {"pronunciations", "a c d"},
                                                              {"questions", "a b\te\tc d"}};
  ASSERT_EQ(example_formats().size(), texts.size());
  for (const ExampleFormat& format : example_formats()) {
    const std::filesystem::path path = folder.file("file", texts.at(format.name));
    const std::vector<Example> all = read_examples(format.name, path);
    ASSERT_EQ(all.size(), 1u) << format.name;
    EXPECT_EQ(all[0].source, format.name == "pronunciations" ? "a" : "a b") << format.name;
    EXPECT_EQ(all[0].target, format.name == "trees" ? texts.at("trees") : "c d") << format.name;
    EXPECT_FALSE(format.summary.empty());
    EXPECT_NE(message_of([&] { open_examples(format.name, folder.path() / "none"); }).find("none: cannot open"),
              std::string::npos)
        << format.name;
  }
  EXPECT_EQ(message_of([] { open_examples("tree", "x"); }),
            "format: expected one of pairs, labels, tags, trees, pronunciations, questions, got \"tree\"; the nearest is \"trees\"");
}

TEST(Parts, FollowFromTheSourceAlone) {
  std::map<Split, int> counts;
  for (int i = 0; i < 20000; ++i) {
    const std::string word = "word" + std::to_string(i);
    const Split part = split_of(word, 0.05, 0.1);
    EXPECT_EQ(split_of(word, 0.05, 0.1), part);
    ++counts[part];
  }
  EXPECT_NEAR(counts[Split::kTest], 2000, 150);
  EXPECT_NEAR(counts[Split::kValid], 1000, 110);
  // Fixed values: another machine or release must split them the same way.
  std::string parts;
  for (const char* word :
       {"hello", "world", "read", "colonel", "choir", "queue", "yacht", "island", "knight", "debris"}) {
    parts += "tvT"[static_cast<int>(split_of(word, 0.3, 0.3))];
  }
  EXPECT_EQ(parts, "TTtTtvtvtt");
  EXPECT_EQ(split_of("x", 0, 0), Split::kTrain);
  EXPECT_EQ(split_of("x", 0, 1), Split::kTest);
  EXPECT_EQ(message_of([] { split_of("x", 0.6, 0.5); }),
            "part_of: expected shares of 0 to 1 together, got 0.6 and 0.5");
}

}  // namespace
}  // namespace attend::data
