#include "cli/progress.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <thread>

#include "cli/terminal.h"

namespace attend::cli {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Progress, TimesAndNumbersAreShort) {
  EXPECT_EQ(clock_time(7.4), "0:07");
  EXPECT_EQ(clock_time(201), "3:21");
  EXPECT_EQ(clock_time(3723), "1:02:03");
  EXPECT_EQ(clock_time(-1), "0:00");
  EXPECT_EQ(clock_time(INFINITY), clock_time(1e9));
  EXPECT_EQ(short_number(950), "950");
  EXPECT_EQ(short_number(999.6), "1.0k");
  EXPECT_EQ(short_number(12'340), "12.3k");
  EXPECT_EQ(short_number(999'960), "1.0M");
  EXPECT_EQ(short_number(4.5e6), "4.5M");
  EXPECT_EQ(short_number(-2e9), "-2.0G");
  EXPECT_EQ(short_number(NAN), "?");
}

/// What is written to a file that is no terminal.
template <class Act>
std::string written(Act act) {
  std::FILE* file = std::tmpfile();
  act(file);
  std::rewind(file);
  std::string text(1 << 16, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

TEST(Progress, ElsewhereThanOnATerminalItIsPlainLinesNowAndThen) {
  const std::string text = written([](std::FILE* out) {
    Progress bar("training", 100, out);
    for (long i = 0; i < 100; ++i) bar.show(i, "loss 1");
    bar.say("validation 0.5");
    bar.finish(100, "loss 2");
  });
  EXPECT_TRUE(text.starts_with("validation 0.5\ntraining █")) << text << "what comes within 5 seconds is not shown";
  EXPECT_TRUE(has(text, "100 %  loss 2  0:00\n")) << text;
  EXPECT_FALSE(has(text, "\r")) << text;
  EXPECT_FALSE(has(text, "\033")) << text;
}

TEST(Progress, WithoutATotalItCounts) {
  const std::string text = written([](std::FILE* out) { Progress("reading", 0, out).finish(1234, "3.0k lines/s"); });
  EXPECT_EQ(text, "reading 1234  3.0k lines/s  0:00\n");
}

TEST(Progress, WhatWasDoneBeforeTellsNothingOfTheTimeLeft) {
  const std::string text = written([](std::FILE* out) {
    Progress bar("x", 1'000'000, out, 500'000);
    bar.finish(500'000, "");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    bar.finish(500'001, "");
  });
  const size_t second = text.find('\n') + 1;
  EXPECT_TRUE(has(text.substr(0, second), " 50 %\n")) << text;
  EXPECT_TRUE(has(text.substr(second), "ETA ")) << text;
  EXPECT_FALSE(has(text.substr(second), "ETA 0:")) << "20 ms for one, and half a million are left: " << text;
}

TEST(Progress, TheNextRunUnderOneBarHasItsOwnNameAndWhatIsSkippedTakesNoTime) {
  const std::string text = written([](std::FILE* out) {
    Progress bar("first", 1'000'000, out);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    bar.skip(300'000), bar.skip(200'000);
    bar.relabel("second");
    bar.finish(500'000, "");
    bar.finish(500'001, "");
  });
  const size_t second = text.find('\n') + 1;
  EXPECT_TRUE(text.starts_with("second █")) << text;
  EXPECT_TRUE(has(text.substr(0, second), " 50 %\n")) << "nothing is done yet in this run: " << text;
  EXPECT_TRUE(has(text.substr(second), "ETA ")) << text;
  EXPECT_FALSE(has(text.substr(second), "ETA 0:")) << "20 ms for one, and half a million are left: " << text;
}

/// A terminal of so many columns; what is written to it is read back.
class Terminal {
 public:
  explicit Terminal(unsigned short columns) : master_(posix_openpt(O_RDWR | O_NOCTTY)) {
    if (master_ < 0 || grantpt(master_) != 0 || unlockpt(master_) != 0) return;
    file_ = std::fopen(ptsname(master_), "r+");
    const winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    if (file_ != nullptr) ioctl(master_, TIOCSWINSZ, &size);
  }
  ~Terminal() {
    if (file_ != nullptr) std::fclose(file_);
    if (master_ >= 0) close(master_);
  }
  std::FILE* file() const { return file_; }
  std::string read_back() const {
    std::string text(1 << 14, '\0');
    fcntl(master_, F_SETFL, O_NONBLOCK);
    size_t size = 0;
    for (ssize_t count; (count = ::read(master_, text.data() + size, text.size() - size)) > 0;) {
      size += static_cast<size_t>(count);
    }
    text.resize(size);
    return text;
  }

 private:
  int master_;
  std::FILE* file_ = nullptr;
};

/// The widest of the lines as a terminal shows them.
size_t widest(const std::string& text) {
  size_t most = 0;
  std::string line;
  for (const char c : text + "\n") {
    if (c == '\r' || c == '\n') {
      most = std::max(most, data::display_width(line));
      line.clear();
    } else {
      line += c;
    }
    if (line.ends_with("\033[K")) line.clear();
  }
  return most;
}

TEST(Progress, NeverWrapsOnATerminal) {
  for (const unsigned short columns : {10, 30, 60, 80, 200}) {
    const Terminal terminal(columns);
    if (terminal.file() == nullptr) GTEST_SKIP() << "no pseudo terminal here";
    Progress bar("training", 1000, terminal.file());
    bar.show(10, "loss 2.134  ppl 8.4  12.3k tok/s");
    bar.finish(500, "loss 2.134  ppl 8.4  12.3k tok/s");
    const std::string text = terminal.read_back();
    EXPECT_LT(widest(text), columns) << text;
    EXPECT_TRUE(has(text, "\r\033[K")) << text;
    if (columns >= 80) {
      EXPECT_TRUE(has(text, " 50 %  loss 2.134  ppl 8.4  12.3k tok/s  ETA 0:00")) << text;
    }
  }
}

TEST(Progress, LinesAreSaidAboveTheBar) {
  const Terminal terminal(80);
  if (terminal.file() == nullptr) GTEST_SKIP() << "no pseudo terminal here";
  Progress bar("x", 10, terminal.file());
  bar.say("before\n");
  bar.show(1, "note");
  bar.say("above");
  const std::string text = terminal.read_back();
  EXPECT_TRUE(text.starts_with("before\r\n\r\033[Kx █")) << text;
  const size_t above = text.find("\r\033[Kabove\r\n");
  ASSERT_NE(above, std::string::npos) << text;
  EXPECT_TRUE(has(text.substr(above), "\nx █")) << "the bar goes on below: " << text;
}

TEST(Progress, LeavesItsLineWhenItEndsEarly) {
  const Terminal terminal(80);
  if (terminal.file() == nullptr) GTEST_SKIP() << "no pseudo terminal here";
  {
    Progress bar("x", 10, terminal.file());
    bar.show(1, "note");
  }
  std::fflush(terminal.file());
  EXPECT_TRUE(terminal.read_back().ends_with("\n"));
}

}  // namespace
}  // namespace attend::cli
