// Files that are replaced together: the old ones or the new ones, whenever it stops.
#include "attend/base/folder_replacement.h"

#include <gtest/gtest.h>

#include <string>

#include "attend/base/error.h"
#include "tests/support/folder.h"
#include "tests/support/message.h"
#include "tests/support/snapshot.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using test::message_of;
using test::TestFolder;
using test::Snapshot;
using test::snapshot;

void put_file(const fs::path& path, std::string_view bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

class Together : public testing::Test {
 protected:
  Together() {
    for (const auto& [name, bytes] : old_) put_file(path() / name, bytes);
  }
  const fs::path& path() const { return folder_.path(); }
  void make_new(const fs::path& where) const {
    put_file(where / "weights", "new weights");
    put_file(where / "other", "another file");
    put_file(where / "curves/2", "new curve");
  }

  TestFolder folder_;
  const Snapshot old_{{"weights", "old weights"}, {"words", "old words"}, {"curves/1", "old curve"}, {"notes", "mine"}};
  const Snapshot new_{{"weights", "new weights"}, {"other", "another file"}, {"curves/2", "new curve"}, {"notes", "mine"}};
  const std::vector<fs::path> obsolete_{"weights", "words", "curves/1"};
};

TEST_F(Together, WithoutACommitNothingHasHappened) {
  {
    FolderReplacement replacement(path());
    make_new(replacement.path());
    EXPECT_NE(snapshot(path()), old_) << "they are beside the old ones";
  }
  EXPECT_EQ(snapshot(path()), old_);
  EXPECT_FALSE(replacement_is_pending(path()));
}

TEST_F(Together, CommittedTheyTakeTheirPlacesAndOthersStay) {
  FolderReplacement replacement(path());
  make_new(replacement.path());
  replacement.commit(obsolete_);
  EXPECT_EQ(snapshot(path()), new_);
  EXPECT_FALSE(replacement_is_pending(path()));
}

TEST_F(Together, WhatAKilledProcessLeftIsFinishedOrRemoved) {
  make_new(path() / ".new");
  settle_replacement(path());
  EXPECT_EQ(snapshot(path()), old_) << "it was not committed";

  make_new(path() / ".whole");
  put_file(path() / ".whole/.obsolete", "words\ncurves/1\n");
  EXPECT_TRUE(replacement_is_pending(path()));
  settle_replacement(path());
  EXPECT_EQ(snapshot(path()), new_);

  put_file(path() / ".whole/curves/3", "moved last");  // the list and the others are through already
  put_file(path() / "words", "new words");
  const FolderReplacement next(path());
  EXPECT_EQ(folder_.bytes("curves/3"), "moved last");
  EXPECT_EQ(folder_.bytes("words"), "new words");
  EXPECT_FALSE(replacement_is_pending(path()));
}

TEST_F(Together, SomethingInTheWayIsNamedBeforeAnythingMoves) {
  put_file(path() / "other/in the way", "x");
  const Snapshot before = snapshot(path());
  {
    FolderReplacement replacement(path());
    make_new(replacement.path());
    const std::string message = message_of([&] { replacement.commit(obsolete_); });
    EXPECT_TRUE(message.starts_with((path() / "other").string())) << message;
  }
  EXPECT_EQ(snapshot(path()), before);
}

TEST_F(Together, NothingOutsideIsTouched) {
  const TestFolder outside;
  outside.file("mine", "x");
  fs::create_directory_symlink(outside.path(), path() / "link");
  put_file(path() / ".whole/.obsolete",
           "../" + outside.path().filename().string() + "/mine\nlink/mine\n" + (outside.path() / "mine").string() + "\n");
  settle_replacement(path());
  EXPECT_EQ(outside.bytes("mine"), "x");

  put_file(path() / ".whole/link/mine", "overwritten");
  EXPECT_NE(message_of([&] { settle_replacement(path()); }), "");
  EXPECT_EQ(outside.bytes("mine"), "x");
}

}  // namespace
}  // namespace attend
