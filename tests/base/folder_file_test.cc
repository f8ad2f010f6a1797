#include "attend/base/folder_file.h"

#include <gtest/gtest.h>

#include "tests/support/folder.h"
#include "tests/support/message.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using test::message_of;
using test::says;
using test::TestFolder;

TEST(FolderFile, IsARegularFileOfTheFolder) {
  const TestFolder folder;
  folder.file("a", "12345");
  EXPECT_EQ(file_within(folder.path(), "a"), folder.path() / "a");
  EXPECT_EQ(file_within(folder.path(), "missing"), folder.path() / "missing") << "for its reader to report";
  EXPECT_EQ(file_within(folder.path(), "a", 5), folder.path() / "a");
  EXPECT_EQ(message_of([&] { file_within(folder.path(), "a", 4); }),
            (folder.path() / "a").string() + ": expected at most 4 bytes, got 5");
  fs::create_directory(folder.path() / "b");
  EXPECT_TRUE(says(message_of([&] { file_within(folder.path(), "b"); }), "b: expected a regular file"));
}

TEST(FolderFile, MayBeALinkThatStaysThere) {
  const TestFolder folder, other;
  folder.file("a", ""), other.file("a", "");
  fs::create_symlink("a", folder.path() / "inside");
  EXPECT_EQ(file_within(folder.path(), "inside"), folder.path() / "inside");
  fs::create_symlink(other.path() / "a", folder.path() / "outside");
  EXPECT_TRUE(says(message_of([&] { file_within(folder.path(), "outside"); }), "leads out of it"));
  fs::create_symlink("../" + other.path().filename().string() + "/a", folder.path() / "beside");
  EXPECT_TRUE(says(message_of([&] { file_within(folder.path(), "beside"); }), "leads out of it"));
  // A folder whose name begins with this one's is another.
  fs::create_directory(folder.path().string() + "-2");
  std::ofstream(folder.path().string() + "-2/a") << "x";
  fs::create_symlink(folder.path().string() + "-2/a", folder.path() / "alike");
  EXPECT_TRUE(says(message_of([&] { file_within(folder.path(), "alike"); }), "leads out of it"));
  fs::remove_all(folder.path().string() + "-2");
}

}  // namespace
}  // namespace attend
