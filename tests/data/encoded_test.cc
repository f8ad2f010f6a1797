#include "attend/data/encoded.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <numeric>
#include <string>
#include <vector>

#include "attend/base/random.h"
#include "tests/support/folder.h"
#include "tests/support/message.h"

namespace attend::data {
namespace {

using test::message_of;
using test::TestFolder;

using Row = std::vector<int32_t>;

Row numbered(size_t length, int32_t from) {
  Row row(length);
  std::iota(row.begin(), row.end(), from);
  return row;
}

Row copied(std::span<const int32_t> ids) { return {ids.begin(), ids.end()}; }

TEST(Encoded, PairsComeBack) {
  const TestFolder folder;
  EncodedPairsWriter writer(folder.path(), {.longest = 0, .ratio = 0});
  std::vector<std::pair<Row, Row>> expected;
  Random random(7);
  for (int32_t i = 0; i < 20000; ++i) {  // several buffers
    expected.push_back({numbered(1 + random.below(40), i), numbered(1 + random.below(40), -i)});
    ASSERT_TRUE(writer.add(expected.back().first, expected.back().second));
  }
  expected.push_back({numbered(300'000, 5), numbered(1, 6)});  // longer than the buffer
  writer.add(expected.back().first, expected.back().second);
  const EncodedPairs pairs = writer.finish();
  ASSERT_EQ(pairs.size(), static_cast<int64_t>(expected.size()));
  for (int64_t i = 0; i < pairs.size(); ++i) {
    ASSERT_EQ(copied(pairs.source(i)), expected[static_cast<size_t>(i)].first) << i;
    ASSERT_EQ(copied(pairs.target(i)), expected[static_cast<size_t>(i)].second) << i;
    ASSERT_EQ(pairs.target_length(i), static_cast<int64_t>(pairs.target(i).size()));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "the file has no name";
}

TEST(Encoded, PairsOutliveTheirWriterAndCopies) {
  const TestFolder folder;
  EncodedPairs kept;
  {
    EncodedPairsWriter writer(folder.path());
    writer.add(Row{4, 5}, Row{6});
    const EncodedPairs pairs = writer.finish();
    kept = pairs;
  }
  EXPECT_EQ(copied(kept.source(0)), (Row{4, 5}));
  EXPECT_EQ(message_of([&] { kept.target(1); }), "EncodedPairs: expected a pair from 0 to 0, got 1");
}

TEST(Encoded, TheFilterCountsWhatItLeavesOut) {
  const TestFolder folder;
  EncodedPairsWriter writer(folder.path(), {.longest = 10, .ratio = 2.5});
  const auto add = [&](size_t source, size_t target) { return writer.add(Row(source, 4), Row(target, 4)); };
  EXPECT_TRUE(add(10, 10));
  EXPECT_TRUE(add(2, 5));
  EXPECT_TRUE(add(1, 1));
  EXPECT_FALSE(add(0, 5));
  EXPECT_FALSE(add(5, 0));
  EXPECT_FALSE(add(0, 0));
  EXPECT_FALSE(add(11, 10));
  EXPECT_FALSE(add(10, 11));
  EXPECT_FALSE(add(6, 2));
  EXPECT_EQ(writer.report().text(),
            "9 pairs read; 3 kept; 3 with an empty side; 2 longer than 10 tokens; "
            "1 with a side over 2.5 times as long as the other");
  EXPECT_EQ(writer.finish().size(), 3);
  EXPECT_EQ((FilterReport{.read = 1029000, .kept = 1029000}.text()), "1,029,000 pairs read; 1,029,000 kept");
}

TEST(Encoded, NothingIsAddedAfterTheEnd) {
  const TestFolder folder;
  EncodedPairsWriter writer(folder.path());
  EXPECT_EQ(writer.finish().size(), 0);
  EXPECT_NE(message_of([&] { writer.add(Row{4}, Row{4}); }), "");
  EXPECT_NE(message_of([&] { writer.finish(); }), "");
}

TEST(Encoded, AFolderThatIsMissingIsNamed) {
  EXPECT_EQ(message_of([] { EncodedPairsWriter writer("/no/such/folder"); }),
            "/no/such/folder: cannot create a temporary file: No such file or directory");
}

/// No file may grow beyond so many bytes while this lives: to a writer this is what a full disk is.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    ignored_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, ignored_);
  }

 private:
  rlimit before_{};
  void (*ignored_)(int) = SIG_DFL;
};

TEST(Encoded, AFullDiskIsReported) {
  const TestFolder folder;
  EncodedPairsWriter writer(folder.path(), {.longest = 0, .ratio = 0});
  std::string message;
  {
    const FileLimit limit(1'000'000);
    message = message_of([&] { writer.add(Row(250'000, 4), Row(250'000, 4)); });
  }
  EXPECT_EQ(message, folder.path().native() +
                         ": cannot write 48,576 bytes of encoded pairs after 1,000,000: File too large");
}

}  // namespace
}  // namespace attend::data
