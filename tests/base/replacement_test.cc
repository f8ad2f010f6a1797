#include "attend/base/replacement.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <thread>
#include <vector>

#include "attend/base/error.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

class ReplacementTest : public testing::Test {
 protected:
  ReplacementTest() {
    std::string name = (fs::path(testing::TempDir()) / "replacement_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = name;
  }
  ~ReplacementTest() override { fs::remove_all(folder_); }

  fs::path path(const std::string& name) const { return folder_ / name; }
  std::string text(const std::string& name) const { return read_file(path(name), 1 << 20); }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_)) found.push_back(entry.path().filename().string());
    std::sort(found.begin(), found.end());
    return found;
  }
  template <class Act>
  static std::string error_of(Act act) {
    try {
      act();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  fs::path folder_;
};
using Names = std::vector<std::string>;

TEST_F(ReplacementTest, AFileIsReplacedAsAWhole) {
  write_file(path("a"), "old");
  {
    Replacement file(path("a"));
    file.write(bytes_of("new, "));
    EXPECT_EQ(text("a"), "old");
    file.write(bytes_of("and longer"));
    file.commit();
  }
  EXPECT_EQ(text("a"), "new, and longer");
  write_file(path("a"), "");
  EXPECT_EQ(text("a"), "");
  EXPECT_EQ(names(), Names{"a"});
}

TEST_F(ReplacementTest, WithoutCommitNothingChanges) {
  write_file(path("a"), "old");
  {
    Replacement file(path("a"));
    file.write(bytes_of("new"));
    EXPECT_EQ(names().size(), 2u);
  }
  EXPECT_EQ(text("a"), "old");
  EXPECT_EQ(names(), Names{"a"});
}

TEST_F(ReplacementTest, WhatAKilledWriterLeftIsRemovedByTheNextWriterOfThatFile) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Replacement a(path("a")), b(path("b"));
    a.write(bytes_of("half"));
    _exit(0);  // no destructor runs, as after a kill
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  ASSERT_EQ(names().size(), 2u);
  write_file(path("a"), "whole");
  const Names left = names();
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0], "a");
  EXPECT_TRUE(left[1].starts_with("b.tmp-")) << left[1];
}

TEST_F(ReplacementTest, ATemporaryNameThatIsTakenIsSteppedOver) {
  for (int i = 0; i < 200; ++i)
    fs::create_directory(path("a.tmp-" + std::to_string(getpid()) + "-" + std::to_string(i)));
  write_file(path("a"), "new");
  EXPECT_EQ(text("a"), "new");
  EXPECT_EQ(names().size(), 201u);
}

TEST_F(ReplacementTest, OtherFilesAreLeftAlone) {
  const Names others{"a.tmp-", "a.tmp-1", "a.tmp-1-", "a.tmp-1-2x", "a.tmp-old-1", "aa.tmp-1-2", "b.tmp-1-2"};
  for (const std::string& name : others) std::ofstream(path(name)) << "mine";
  write_file(path("a"), "new");
  Names expected = others;
  expected.insert(expected.begin(), "a");
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(names(), expected);
}

TEST_F(ReplacementTest, TwoWritersDoNotDisturbEachOther) {
  Replacement first(path("a"));
  first.write(bytes_of("first"));
  write_file(path("a"), "second");
  EXPECT_EQ(text("a"), "second");
  first.commit();
  EXPECT_EQ(text("a"), "first");
  EXPECT_EQ(names(), Names{"a"});
}

TEST_F(ReplacementTest, ManyWritersAtOnceEachLeaveAWholeFile) {
  std::vector<std::thread> writers;
  for (char letter = 'a'; letter < 'e'; ++letter) {
    writers.emplace_back([this, letter] {
      for (int i = 0; i < 25; ++i) write_file(path("x"), std::string(1000, letter));
    });
  }
  for (std::thread& writer : writers) writer.join();
  const std::string last = text("x");
  EXPECT_EQ(last, std::string(1000, last[0]));
  EXPECT_EQ(names(), Names{"x"});
}

TEST_F(ReplacementTest, ErrorsNameThePathWhatWasTriedAndTheReason) {
  EXPECT_EQ(error_of([&] { write_file(path("none") / "a", "x"); }),
            (path("none") / "a").native() + ": cannot create a file beside it: No such file or directory");
  fs::create_directory(path("folder"));
  EXPECT_EQ(error_of([&] { write_file(path("folder"), "x"); }),
            path("folder").native() + ": cannot replace it: Is a directory");
  EXPECT_EQ(
      error_of([&] { Replacement file(path("none") / "a", "save"); }),
      "save: " + (path("none") / "a").native() + ": cannot create a file beside it: No such file or directory");
  EXPECT_EQ(names(), Names{"folder"});
}

TEST_F(ReplacementTest, ReadingStopsAtTheLimitAndAtWhatIsNoFile) {
  write_file(path("a"), "12345");
  EXPECT_EQ(read_file(path("a"), 5), "12345");
  EXPECT_EQ(error_of([&] { read_file(path("a"), 4); }), path("a").native() + ": expected at most 4 bytes, got more");
  EXPECT_EQ(error_of([&] { read_file(folder_, 4); }),
            folder_.native() + ": expected a regular file, got a folder, a pipe or a device");
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(error_of([&] { read_file(path("pipe"), 4); }),
            path("pipe").native() + ": expected a regular file, got a folder, a pipe or a device");
  EXPECT_EQ(error_of([&] { read_file(path("none"), 4); }),
            path("none").native() + ": cannot open the file: No such file or directory");
}

}  // namespace
}  // namespace attend
