#include "serve/history.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/support/folder.h"
#include "tests/support/message.h"

namespace attend::serve {
namespace {

using test::message_of;
using test::says;

TEST(History, IsReadFromFilesOfTheFolderAlone) {
  const test::TestFolder folder, other;
  EXPECT_TRUE(best_of(folder.path(), "bleu", 1).is_null()) << "none is no error";
  other.file("log.jsonl", R"({"step":1,"valid_loss":2,"bleu":3})");
  std::filesystem::create_symlink(other.path() / "log.jsonl", folder.path() / "log.jsonl");
  EXPECT_TRUE(says(message_of([&] { best_of(folder.path(), "bleu", 1); }), "log.jsonl: expected a file of the folder"));
  ASSERT_EQ(::mkfifo((folder.path() / "valid.jsonl").c_str(), 0600), 0);
  EXPECT_TRUE(says(message_of([&] { valid_lines(folder.path()); }), "valid.jsonl: expected a regular file"));
}

}  // namespace
}  // namespace attend::serve
