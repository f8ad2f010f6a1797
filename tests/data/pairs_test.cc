#include "attend/data/pairs.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "attend/data/alignment.h"
#include "tests/support/folder.h"
#include "tests/support/message.h"

namespace attend::data {
namespace {

using test::message_of;
using test::TestFolder;

class Pairs : public testing::Test {
 protected:
  /// "source|target|links@where" of each pair.
  static std::vector<std::string> read(const PairFiles& files) {
    PairReader reader(files);
    std::vector<std::string> all;
    for (Pair pair; reader.next(pair);) {
      const std::string where = std::filesystem::path(reader.where()).filename();
      all.push_back(pair.source + "|" + pair.target + "|" + pair.links + "@" + where);
    }
    return all;
  }
  std::string name(const char* file) const { return (folder_.path() / file).native(); }

  TestFolder folder_;
};

TEST_F(Pairs, ComeFromAllFilesInOrder) {
  const PairFiles files{{folder_.file("a.de", "eins\nzwei\n"), folder_.file("b.de", "drei")},
                        {folder_.file("a.en", "one\ntwo\n"), folder_.file("b.en", "three\n")},
                        {folder_.file("c.tsv", "vier\tfour\nfünf\tfive\t0-0\tmore\n")}};
  EXPECT_EQ(read(files), (std::vector<std::string>{"eins|one|@a.de:1", "zwei|two|@a.de:2", "drei|three|@b.de:1",
                                                   "vier|four|@c.tsv:1", "fünf|five|0-0@c.tsv:2"}));
}

TEST_F(Pairs, UnequalFilesAreRefusedWithBothCounts) {
  const auto two = folder_.file("two", "1\n2\n"), five = folder_.file("five", "1\n2\n3\n4\n5\n");
  EXPECT_EQ(message_of([&] {
              read({{two}, {five}, {}});
            }),
            name("two") + " and " + name("five") + ": expected as many lines in both, got 2 and 5");
  EXPECT_EQ(message_of([&] {
              read({{five}, {two}, {}});
            }),
            name("five") + " and " + name("two") + ": expected as many lines in both, got 5 and 2");
}

TEST_F(Pairs, ALineWithoutATabIsRefused) {
  const auto file = folder_.file("c.tsv", "a\tb\nno tab\n");
  EXPECT_EQ(message_of([&] {
              read({{}, {}, {file}});
            }),
            name("c.tsv") + ":2: expected source<tab>target, got a line without a tab");
}

TEST_F(Pairs, ACorpusWithoutPairsIsRefused) {
  const auto empty = folder_.file("empty", ""), also = folder_.file("also", "");
  EXPECT_EQ(message_of([&] {
              read({{empty}, {also}, {}});
            }),
            name("empty") + ", " + name("also") + ": expected pairs, got none");
  EXPECT_EQ(message_of([&] { PairReader reader({}); }), "pairs: expected files, got none");
  EXPECT_EQ(message_of([&] {
              PairReader reader({{empty}, {}, {}});
            }),
            "pairs: expected a target file for each source file, got 1 of sources and 0 of targets");
}

TEST_F(Pairs, AnEmptyFileAmongOthersIsNone) {
  const auto empty = folder_.file("empty", ""), full = folder_.file("full", "a\tb\n");
  EXPECT_EQ(read({{}, {}, {empty, full, empty}}), std::vector<std::string>{"a|b|@full:1"});
}

}  // namespace
}  // namespace attend::data
