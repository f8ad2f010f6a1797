#include "attend/data/npz.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "tests/data/zip_file.h"
#include "tests/support/folder.h"
#include "tests/support/message.h"

namespace attend::data {
namespace {

using test::message_of;
using test::npy_bytes;
using test::says;
using test::ZipFile;

std::vector<float> counted(size_t count) {
  std::vector<float> values;
  for (size_t i = 0; i < count; ++i) values.push_back(static_cast<float>(i) / 4);
  return values;
}

std::string archive(bool deflated, bool large) {
  ZipFile zip(deflated, large);
  zip.add("an251-fash-b.npy", npy_bytes(40, 13, counted(40 * 13)));
  zip.add("notes.txt", "not an array");
  zip.add("b.npy", npy_bytes(1, 2, {0.5F, -1}));
  return zip.finished();
}

std::string npz_refusal(const std::string& bytes, const char* array = "b") {
  return message_of([&] { NpzFile(bytes, "x").read(array); });
}

TEST(Npz, ArraysAreReadByName) {
  for (const bool deflated : {false, true}) {
    for (const bool large : {false, true}) {
      const NpzFile file(archive(deflated, large), "x");
      EXPECT_EQ(file.names(), (std::vector<std::string>{"an251-fash-b", "b"}));
      EXPECT_TRUE(file.has("b"));
      EXPECT_FALSE(file.has("notes"));
      EXPECT_EQ(file.shape("an251-fash-b"), Shape({40, 13}));
      const Tensor frames = file.read("an251-fash-b");
      EXPECT_EQ(frames.shape(), Shape({40, 13}));
      EXPECT_EQ(frames.data()[40 * 13 - 1], static_cast<real>(40 * 13 - 1) / 4);
      EXPECT_EQ(file.read("b").data()[1], -1);
    }
  }
}

TEST(Npz, IsWhatNumpyWrites) {
  for (const char* name : {"frames.npz", "packed_frames.npz"}) {
    const NpzFile file(std::string(ATTEND_SOURCE_DIR "/tests/golden/") + name);
    EXPECT_EQ(file.names(), (std::vector<std::string>{"one", "two"})) << name;
    const Tensor two = file.read("two");
    ASSERT_EQ(two.shape(), Shape({3, 2}));
    for (size_t i = 0; i < 6; ++i) EXPECT_EQ(two.data()[i], static_cast<real>(i) - 2);
    EXPECT_EQ(file.shape("one"), Shape({5, 4}));
  }
}

TEST(Npz, IsReadBySeveralThreads) {
  const test::TestFolder folder;
  const NpzFile file(folder.file("a.npz", archive(true, false)));
  std::vector<std::jthread> threads;
  std::vector<int> wrong(4, 0);
  for (size_t k = 0; k < wrong.size(); ++k) {
    threads.emplace_back([&, k] {
      for (int i = 0; i < 50; ++i) wrong[k] += file.read("an251-fash-b").data()[7] != real(1.75);
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST(Npz, RefusesWhatIsDamaged) {
  const std::string good = archive(true, false), stored = archive(false, false);
  EXPECT_TRUE(
      says(npz_refusal(""), "x: expected an .npz file, a zip archive of .npy files, got one without a directory"));
  EXPECT_TRUE(says(npz_refusal("PK\5\6"), "without a directory"));
  EXPECT_TRUE(says(npz_refusal(good.substr(0, good.size() / 2)), "without a directory"));
  EXPECT_TRUE(says(npz_refusal(good.substr(100)), "expected"));
  EXPECT_TRUE(says(npz_refusal(good, "c"), "x: expected an array \"c\", got none of that name"));
  std::string changed = stored;
  changed[changed.find("(1, 2)") + 20] = '\t';
  EXPECT_TRUE(says(npz_refusal(changed), "x:b: expected bytes with the checksum"));
  changed = good;
  changed[good.find("b.npy", good.find("notes.txt")) + 25] ^= 0x7F;
  EXPECT_TRUE(says(npz_refusal(changed), "x:b: "));
  changed = good;
  const size_t entry = good.rfind(std::string_view("PK\1\2", 4));  // of b in the directory
  changed.replace(entry + 24, 4, "\xFF\xFF\xFF\x3F");              // its size
  EXPECT_TRUE(says(npz_refusal(changed), "x:b: expected what"));
  changed.replace(entry + 24, 4, "\xFF\xFF\xFF\x7F");
  EXPECT_TRUE(says(npz_refusal(changed), "x:b: expected at most 1073741824 bytes"));
  changed = good;
  changed[entry + 10] = 12;  // bzip2
  EXPECT_TRUE(says(npz_refusal(changed), "x:b: expected an array that is stored or deflated, got the method 12"));
  changed = good;
  changed[entry + 8] = 1;
  EXPECT_TRUE(says(npz_refusal(changed), "x:b: expected an array without a password"));
  changed = good;
  changed.replace(entry + 42, 4, "\x07\0\0\0", 4);
  EXPECT_TRUE(says(npz_refusal(changed), "x:b: expected a member of the archive at byte 7, got something else"));
}

TEST(Npz, RefusesWhereverOneByteIsLost) {
  for (const bool large : {false, true}) {
    const std::string good = archive(true, large);
    for (size_t size = 0; size < good.size(); ++size) EXPECT_NE(npz_refusal(good.substr(0, size)), "") << size;
  }
}

TEST(Npz, RefusesANameThatOccursTwice) {
  ZipFile zip;
  for (int i = 0; i < 2; ++i) zip.add("a.npy", npy_bytes(1, 1, {1}));
  EXPECT_TRUE(says(npz_refusal(zip.finished()), "x: expected each array once, got \"a\" again"));
}

}  // namespace
}  // namespace attend::data
