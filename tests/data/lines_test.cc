#include "attend/data/lines.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "attend/base/error.h"
#include "tests/support/folder.h"
#include "tests/support/message.h"

namespace attend::data {
namespace {

using test::message_of;
using test::says;
using test::TestFolder;

using Lines = std::vector<std::string>;

Lines lines_of(std::string_view bytes) {
  LineReader reader(std::as_bytes(std::span(bytes)), "text");
  Lines lines;
  for (std::string line; reader.next(line);) lines.push_back(line);
  return lines;
}

std::string lines_refusal(std::string_view bytes) {
  return message_of([&] { lines_of(bytes); });
}

/// What `printf 'one\ntwo\n' | gzip -n` writes.
constexpr char kGzipBytes[] =
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xcb\xcf\x4b\xe5\x2a\x29\xcf\xe7\x02\x00\xe6\x0b\xba\x12\x08\x00\x00\x00";
const std::string kGzip(kGzipBytes, sizeof(kGzipBytes) - 1);

TEST(Lines, EndInNewlinesOrReturns) {
  EXPECT_EQ(lines_of("one\ntwo\r\n\nlast"), (Lines{"one", "two", "", "last"}));
  EXPECT_EQ(lines_of("one\n"), Lines{"one"});
  EXPECT_EQ(lines_of("\n"), Lines{""});
  EXPECT_EQ(lines_of(""), Lines{});
}

TEST(Lines, AByteOrderMarkIsDroppedAtTheStartOnly) {
  EXPECT_EQ(lines_of("\xEF\xBB\xBFone\n\xEF\xBB\xBFtwo"), (Lines{"one", "\xEF\xBB\xBFtwo"}));
}

TEST(Lines, AreTheSameWhateverTheChunks) {
  Lines lines;
  std::string text;
  for (int i = 0; i < 3000; ++i) {
    lines.push_back(std::string(static_cast<size_t>(i * 7 % 901), static_cast<char>('a' + i % 26)) + "ä");
    text += lines.back() + "\n";
  }
  EXPECT_EQ(lines_of(text), lines);
}

TEST(Lines, GzipIsKnownByItsBytes) {
  EXPECT_EQ(lines_of(kGzip), (Lines{"one", "two"}));
  EXPECT_EQ(lines_of(kGzip + kGzip + kGzip), (Lines{"one", "two", "one", "two", "one", "two"}));
  const TestFolder folder;
  EXPECT_EQ(read_lines(folder.file("plain.gz", "one\ntwo\n")), read_lines(folder.file("packed.txt", kGzip)));
}

TEST(Lines, DamagedGzipIsRefused) {
  for (size_t size = 2; size < kGzip.size(); ++size) {
    EXPECT_TRUE(says(lines_refusal(kGzip.substr(0, size)), "text:")) << size << " bytes";
  }
  std::string damaged = kGzip;
  damaged[kGzip.size() - 6] ^= 1;  // the checksum
  EXPECT_TRUE(says(lines_refusal(damaged), "text:3: expected gzip data, got: incorrect data check"))
      << lines_refusal(damaged);
  EXPECT_TRUE(says(lines_refusal(kGzip + "rubbish"), "expected gzip data")) << lines_refusal(kGzip + "rubbish");
}

TEST(Lines, WhatIsNotUtf8IsRefusedByLine) {
  EXPECT_EQ(lines_refusal("one\nd\xE9j\xE0\n"),
            "text:2: expected UTF-8, got the byte 0xE9 at column 2, which is not UTF-8");
  for (const char* bad : {"\x80", "\xC3", "\xC0\xAF", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
                          "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE2\x82", "\xF0\x9F\x98", "\xC3\x28"}) {
    EXPECT_TRUE(says(lines_refusal(std::string("padding ") + bad), "text:1: expected UTF-8")) << bad;
  }
  for (const char* good :
       {"\x7F", "\xC2\x80", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_EQ(lines_of(good), Lines{good});
  }
  EXPECT_TRUE(says(lines_refusal(std::string("\xFF\xFEo\0n\0", 6)), "UTF-16"));
}

TEST(Lines, ZeroBytesAndEndlessLinesAreRefused) {
  EXPECT_TRUE(says(lines_refusal(std::string("a\nb\0c", 5)), "text:2: expected text, got a zero byte"));
  const std::string longest(LineReader::kLongest, 'x');
  EXPECT_EQ(lines_of(longest).front().size(), longest.size());
  EXPECT_TRUE(says(lines_refusal("a\n" + longest + "x"), "text:2: expected a line of at most 16777216 bytes"));
}

TEST(Lines, FilesThatCannotBeReadAreNamed) {
  const TestFolder folder;
  const std::string missing = (folder.path() / "missing").native();
  EXPECT_EQ(message_of([&] { LineReader reader{std::filesystem::path(missing)}; }),
            missing + ": cannot open the file: No such file or directory");
  EXPECT_EQ(message_of([&] { LineReader reader{folder.path()}; }),
            folder.path().native() + ": expected a file, got a folder");
  const std::filesystem::path closed = folder.file("closed", "x");
  ::chmod(closed.c_str(), 0);
  if (::access(closed.c_str(), R_OK) == 0) GTEST_SKIP() << "this user may read everything";
  EXPECT_TRUE(says(message_of([&] { LineReader reader{closed}; }), "Permission denied"));
}

TEST(Lines, AreNumbered) {
  constexpr std::string_view kText = "a\nb\n";
  LineReader reader(std::as_bytes(std::span(kText)), "text");
  std::string line;
  EXPECT_EQ(reader.number(), 0);
  EXPECT_TRUE(reader.next(line) && reader.next(line));
  EXPECT_EQ(reader.where(), "text:2");
  EXPECT_FALSE(reader.next(line));
  EXPECT_FALSE(reader.next(line));
  EXPECT_EQ(reader.number(), 2);
}

TEST(Lines, BehindABadOneAreStillRead) {
  const std::string text = "a\n\xff\n" + std::string(LineReader::kLongest + 70'000, 'x') + "\nb\n" + std::string("c\0\nd", 4);
  for (const bool asked : {false, true}) {
    LineReader reader(std::as_bytes(std::span(text)), "text");
    std::vector<std::string> read;
    int bad = 0;
    for (bool left = true; left;) {
      EXPECT_FALSE(asked && reader.waits());
      try {
        std::string line;
        left = reader.next(line);
        if (left) read.push_back(line);
      } catch (const BadLine&) {
        ++bad;
      }
    }
    EXPECT_EQ(read, (std::vector<std::string>{"a", "b", "d"})) << asked;
    EXPECT_EQ(bad, 3);
    EXPECT_EQ(reader.number(), 6);
  }
}

TEST(Lines, OfAPipeAreKnownToWait) {
  const TestFolder folder;
  const std::filesystem::path path = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const int both = ::open(path.c_str(), O_RDWR);
  LineReader reader(path);
  const auto write = [&](std::string_view bytes) {
    return ::write(both, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
  };
  std::string line;
  EXPECT_TRUE(reader.waits());
  ASSERT_TRUE(write("one"));
  EXPECT_TRUE(reader.waits()) << "the line has not ended";
  ASSERT_TRUE(write(" line\ntwo\nth"));
  EXPECT_FALSE(reader.waits());
  EXPECT_TRUE(reader.next(line));
  EXPECT_EQ(line, "one line");
  EXPECT_FALSE(reader.waits());
  EXPECT_TRUE(reader.next(line));
  EXPECT_EQ(line, "two");
  EXPECT_TRUE(reader.waits());
  ASSERT_TRUE(write("ree"));
  EXPECT_TRUE(reader.waits());
  ::close(both);
  EXPECT_FALSE(reader.waits()) << "the end has come";
  EXPECT_TRUE(reader.next(line));
  EXPECT_EQ(line, "three");
  EXPECT_FALSE(reader.next(line));
  EXPECT_EQ(reader.number(), 3);
}

TEST(Unicode, WordsLieBetweenWhiteSpace) {
  using Words = std::vector<std::string_view>;
  EXPECT_EQ(split_words(" a \t b\nc\v\f\rd"), (Words{"a", "b", "c", "d"}));
  EXPECT_EQ(split_words(""), Words{});
  EXPECT_EQ(split_words(" \t"), Words{});
  EXPECT_EQ(split_words("a\u00A0b"), Words{"a\u00A0b"});
}

}  // namespace
}  // namespace attend::data
