#include "cli/progress.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "cli/terminal.h"
#include "tests/support/text.h"

namespace attend::cli {
namespace {

using test::has;

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

/// A clock that stands still until it is moved.
struct HandClock {
  double seconds = 1000;
  Seconds now() {
    return [this] { return seconds; };
  }
};

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
  HandClock clock;
  const std::string text = written([&](std::FILE* out) {
    Progress bar("training", 100, out, 0, clock.now());
    clock.seconds += 4.9;
    for (long i = 0; i < 100; ++i) bar.show(i, "too soon");
    bar.say("validation 0.5");
    clock.seconds += 0.2;
    for (long i = 50; i < 60; ++i) bar.show(i, "loss 1");
    clock.seconds += 5.1;
    bar.show(60, "too soon: the second pause is longer");
    clock.seconds += 1.5;
    bar.show(70, "loss 1");
    clock.seconds += 60;
    bar.finish(100, "loss 2");
  });
  EXPECT_EQ(text,
            "validation 0.5\n"
            "training ███████████████░░░░░░░░░░░░░░░  50 %  loss 1  ETA 0:05\n"
            "training █████████████████████░░░░░░░░░  70 %  loss 1  ETA 0:05\n"
            "training ██████████████████████████████ 100 %  loss 2  1:12\n");
}

TEST(Progress, WithoutATotalItCounts) {
  HandClock clock;
  const std::string text = written([&](std::FILE* out) {
    Progress bar("reading", 0, out, 0, clock.now());
    clock.seconds += 61;
    bar.finish(1234, "3.0k lines/s");
  });
  EXPECT_EQ(text, "reading 1234  3.0k lines/s  1:01\n");
}

TEST(Progress, WhatWasDoneBeforeTellsNothingOfTheTimeLeft) {
  HandClock clock;
  const std::string text = written([&](std::FILE* out) {
    Progress bar("x", 1'000'000, out, 500'000, clock.now());
    clock.seconds += 1;
    bar.finish(500'000, "");
    clock.seconds += 1;
    bar.finish(500'100, "");
  });
  const size_t second = text.find('\n') + 1;
  EXPECT_TRUE(text.substr(0, second).ends_with(" 50 %\n")) << text;
  // 2 seconds for 100, and 499,900 are left.
  EXPECT_TRUE(text.ends_with(" 50 %  ETA 2:46:38\n")) << text;
}

TEST(Progress, TheNextRunUnderOneBarHasItsOwnNameAndWhatIsSkippedTakesNoTime) {
  HandClock clock;
  const std::string text = written([&](std::FILE* out) {
    Progress bar("first", 1'000'000, out, 0, clock.now());
    clock.seconds += 2;
    bar.skip(300'000), bar.skip(200'000);
    bar.relabel("second");
    bar.finish(500'000, "");
    bar.finish(500'100, "");
  });
  const size_t second = text.find('\n') + 1;
  EXPECT_TRUE(text.starts_with("second █")) << text;
  EXPECT_TRUE(text.substr(0, second).ends_with(" 50 %\n")) << "nothing is done yet in this run: " << text;
  EXPECT_TRUE(text.ends_with(" 50 %  ETA 2:46:38\n")) << text;
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
    HandClock clock;
    Progress bar("training", 1000, terminal.file(), 0, clock.now());
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

TEST(Progress, ATerminalIsRedrawnTenTimesASecond) {
  const Terminal terminal(80);
  if (terminal.file() == nullptr) GTEST_SKIP() << "no pseudo terminal here";
  HandClock clock;
  Progress bar("x", 1000, terminal.file(), 0, clock.now());
  for (long i = 0; i < 100; ++i, clock.seconds += 0.03125) bar.show(i, "");  // every fourth is 0.125 s after the last
  const std::string text = terminal.read_back();
  EXPECT_EQ(std::ranges::count(text, '\r'), 25) << text;
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
