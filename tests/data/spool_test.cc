#include "attend/data/spool.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "attend/base/error.h"
#include "attend/data/lines.h"
#include "tests/support/folder.h"
#include "tests/support/message.h"

namespace attend::data {
namespace {

namespace fs = std::filesystem;
using test::message_of;
using test::says;
using test::TestFolder;

class SpoolTest : public testing::Test {
 protected:
  fs::path make_pipe(const char* name) const {
    const fs::path path = folder_.path() / name;
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
    return path;
  }
  static void write(const fs::path& path, std::string_view text) {
    const int file = ::open(path.c_str(), O_WRONLY);
    EXPECT_EQ(::write(file, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    ::close(file);
  }

  TestFolder folder_, disk_;
};

TEST_F(SpoolTest, PipesAreReadAsOftenAsAsked) {
  const fs::path one = make_pipe("one"), other = make_pipe("other");
  std::thread writer([&] { write(other, "c\n"), write(one, "a\nb\n"); });  // in another order than they are named
  {
    const Spool spool(disk_.path(), {one, other});
    writer.join();
    EXPECT_TRUE(fs::is_empty(disk_.path())) << "files without a name";
    LineReader first(one), second(one);  // each at a place of its own
    std::string a, b;
    EXPECT_TRUE(first.next(a) && first.next(a) && second.next(b));
    EXPECT_EQ(a + b, "ba");
    EXPECT_EQ(read_lines(other), std::vector<std::string>{"c"});
    EXPECT_EQ(read_lines(other), std::vector<std::string>{"c"});
    EXPECT_EQ(first.where(), one.string() + ":2") << "named as it was given";
  }
  EXPECT_EQ(spooled(one), nullptr);
}

TEST_F(SpoolTest, WhatFailsLeavesNoneBehind) {
  const fs::path one = make_pipe("one");
  std::thread writer([&] { write(one, "a\n"); });
  const std::string twice = message_of([&] { Spool(disk_.path(), {one, one}); });
  writer.join();
  EXPECT_TRUE(says(twice, "expected a pipe once, got it twice")) << twice;
  EXPECT_EQ(spooled(one), nullptr);
  const std::string nowhere = message_of([&] { Spool(folder_.path() / "nowhere", {one}); });
  EXPECT_TRUE(says(nowhere, "cannot create a temporary file")) << nowhere;
}

TEST_F(SpoolTest, KnowsPipesFromFiles) {
  EXPECT_TRUE(is_pipe("-"));
  EXPECT_TRUE(is_pipe(make_pipe("pipe")));
  EXPECT_TRUE(is_pipe("/dev/null"));
  EXPECT_FALSE(is_pipe(folder_.file("file", "text")));
  EXPECT_FALSE(is_pipe(folder_.path()));
  EXPECT_FALSE(is_pipe(folder_.path() / "nothing"));
  EXPECT_EQ(shown_name("-"), "standard input");
  EXPECT_EQ(shown_name("a/b"), "a/b");
}

}  // namespace
}  // namespace attend::data
