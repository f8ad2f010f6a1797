#include "attend/base/folder_lock.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

#include "attend/base/error.h"
#include "tests/support/folder.h"
#include "tests/support/message.h"

namespace attend {
namespace {

using test::message_of;
using test::TestFolder;

TEST(FolderLock, IsHeldByOneAtATime) {
  const TestFolder folder;
  std::optional<FolderLock> first(std::in_place, folder.path());
  const std::string message = message_of([&] { FolderLock second(folder.path()); });
  EXPECT_TRUE(message.starts_with(folder.path().native() + ": another run")) << message;
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "lock")) << "the second one has not taken it away";
  first.reset();
  EXPECT_EQ(message_of([&] { FolderLock second(folder.path()); }), "");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(FolderLock, EndsWithAProcessThatIsKilled) {
  const TestFolder folder;
  int held[2];
  ASSERT_EQ(::pipe(held), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const FolderLock lock(folder.path());
    [[maybe_unused]] const ssize_t written = ::write(held[1], "x", 1);
    for (;;) ::pause();
  }
  char c;
  ASSERT_EQ(::read(held[0], &c, 1), 1);
  EXPECT_NE(message_of([&] { FolderLock lock(folder.path()); }), "");
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "lock"));
  EXPECT_EQ(message_of([&] { FolderLock lock(folder.path()); }), "");
  ::close(held[0]), ::close(held[1]);
}

TEST(FolderLock, AFolderThatIsNoneIsNamed) {
  const TestFolder folder;
  const std::string missing = (folder.path() / "missing").native();
  EXPECT_TRUE(message_of([&] { FolderLock lock(missing); }).starts_with(missing));
}

}  // namespace
}  // namespace attend
