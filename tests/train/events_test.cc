#include "attend/train/events.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>
#include <limits>

#include "attend/base/error.h"

namespace attend::train {
namespace {

namespace fs = std::filesystem;

class EventsTest : public testing::Test {
 protected:
  EventsTest() {
    std::string name = (fs::path(testing::TempDir()) / "events_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = name;
  }
  ~EventsTest() override { fs::remove_all(folder_); }
  static std::string bytes(const fs::path& path) { return read_file(path, 1 << 20); }

  fs::path folder_;
};

TEST(Crc32c, OfKnownBytes) {  // RFC 3720, B.4
  EXPECT_EQ(crc32c(""), 0u);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  std::string rising;
  for (int i = 0; i < 32; ++i) rising += static_cast<char>(i);
  EXPECT_EQ(crc32c(rising), 0x46dd794eu);
}

/// The data of each record; the frames are checked.
std::vector<std::string> records(std::string_view file) {
  std::vector<std::string> all;
  while (!file.empty()) {
    uint64_t length = 0;
    if (file.size() < 16) throw std::runtime_error("a record that is cut off");
    std::memcpy(&length, file.data(), sizeof(length));
    if (file.size() - 16 < length) throw std::runtime_error("a record that is cut off");
    const std::string_view frame = file.substr(0, 16 + length), data = frame.substr(12, length);
    EXPECT_EQ(framed_record(data), frame);
    all.emplace_back(data);
    file.remove_prefix(frame.size());
  }
  return all;
}

std::string hex(std::string_view bytes) {
  std::string out;
  char pair[3];
  for (const char c : bytes) out.append(pair, static_cast<size_t>(std::snprintf(pair, 3, "%02x", c & 0xff)));
  return out;
}

TEST(EventRecord, HasTheBytesThatTensorFlowWrites) {
  // The first record of a file that TensorFlow wrote, with a time of 1.0: wall_time = 1, file_version = "brain.Event:2".
  const std::string data = std::string("\x09\0\0\0\0\0\0\xf0\x3f\x1a\x0d", 11) + "brain.Event:2";
  EXPECT_EQ(hex(framed_record(data)).substr(0, 24), "1800000000000000a37f4b22");
}

TEST_F(EventsTest, ScalarsAreRecords) {
  EventFile file(folder_ / "new");
  file.scalar("loss", 300, 0.5);
  const std::vector<std::string> all = records(bytes(file.path()));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(hex(all[0]).substr(18), "10001a0d" + hex("brain.Event:2"));
  EXPECT_EQ(all[1][0], '\x09') << "field 1, 64 bits: the time";
  double time = 0;
  std::memcpy(&time, all[1].data() + 1, sizeof(time));
  EXPECT_NEAR(time, static_cast<double>(::time(nullptr)), 100);
  // step = 300 (varint ac 02); summary { value { tag = "loss", simple_value = 0.5f } }
  EXPECT_EQ(hex(all[1]).substr(18), "10ac022a0d0a0b0a04" + hex("loss") + "150000003f");
}

TEST_F(EventsTest, EveryRunHasAFileOfItsOwnAndAResumedOneSaysSo) {
  const EventFile first(folder_), second(folder_, 41);
  EXPECT_NE(first.path(), second.path());
  EXPECT_LT(first.path(), second.path());
  EXPECT_NE(second.path().filename().string().find("tfevents"), std::string::npos);
  const std::vector<std::string> all = records(bytes(second.path()));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(hex(all[1]).substr(18), "102a3a020801") << "a start at the step after the last one";
}

TEST_F(EventsTest, WhatIsWrittenIsThereAtOnce) {
  EventFile file(folder_);
  JsonLog log(folder_ / "log.jsonl");
  for (int64_t step = 0; step < 5; ++step) {
    file.scalar("loss", step, 1);
    log.add(step, {{"loss", 1.0}});
    EXPECT_EQ(records(bytes(file.path())).size(), static_cast<size_t>(step) + 2);
    const std::string lines = bytes(folder_ / "log.jsonl");
    EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), step + 1);
  }
}

TEST_F(EventsTest, LogIsOneObjectPerLine) {
  JsonLog log(folder_ / "log.jsonl");
  log.add(1, {{"event", "train"}, {"loss", 0.5}, {"tokens", int64_t{1} << 40}, {"best", true}});
  log.add(2, {{"text", "a \"b\"\nघर \xff"}, {"loss", std::numeric_limits<double>::quiet_NaN()}, {"x", INFINITY}});
  EXPECT_EQ(bytes(folder_ / "log.jsonl"),
            "{\"step\":1,\"event\":\"train\",\"loss\":0.5,\"tokens\":1099511627776,\"best\":true}\n"
            "{\"step\":2,\"text\":\"a \\\"b\\\"\\nघर \ufffd\",\"loss\":null,\"x\":null}\n");
}

TEST_F(EventsTest, AResumedLogDropsWhatWillComeAgain) {
  const fs::path path = folder_ / "log.jsonl";
  const std::string kept = "{\"step\":1,\"loss\":3}\n{\"step\":2}\n", later = "{\"step\":3}\n{\"step\":4}\n";
  for (const std::string& end :
       {std::string(), std::string("{\"step\":1"), std::string("{\"step\":2}"), std::string("\n"), std::string("[]\n"),
        std::string(7, '\0') + "\n", std::string("{\"step\":\"x\"}\n")}) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << kept << later << end;
    JsonLog log(path, 2);
    EXPECT_EQ(bytes(path), kept) << end;
    log.add(3, {});
    EXPECT_EQ(bytes(path), kept + "{\"step\":3}\n") << end;
  }
  std::ofstream(path, std::ios::trunc) << kept;
  { const JsonLog anew(path); }
  EXPECT_EQ(bytes(path), "");
  fs::remove(path);
  { const JsonLog missing(path, 2); }
  EXPECT_EQ(bytes(path), "");
}

TEST_F(EventsTest, WhereNothingCanBeWrittenIsNamed) {
  std::ofstream(folder_ / "file") << "x";
  for (const auto& act : std::vector<std::function<void()>>{[&] { EventFile(folder_ / "file" / "a"); },
                                                            [&] { JsonLog(folder_ / "none" / "log.jsonl"); }}) {
    try {
      act();
      ADD_FAILURE() << "expected an Error";
    } catch (const Error& error) {
      EXPECT_TRUE(std::string_view(error.what()).starts_with(folder_.native())) << error.what();
    }
  }
}

}  // namespace
}  // namespace attend::train
