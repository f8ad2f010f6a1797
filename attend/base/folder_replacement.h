// Several files of a folder that are replaced together. They are made in a folder within it; then one rename decides that they
// count, and they are moved to their places. A kill before that leaves the old files, all of them; after a kill later on,
// settle_replacement finishes what was decided. Other files of the folder are left alone, and so is its own name: it may be a
// link, a mount point or the current folder.
#pragma once

#include <filesystem>
#include <vector>

namespace attend {

class FolderReplacement {
 public:
  /// No other program may write into `folder` (FolderLock); what a killed one has left there is settled.
  explicit FolderReplacement(std::filesystem::path folder);
  FolderReplacement(const FolderReplacement&) = delete;
  FolderReplacement& operator=(const FolderReplacement&) = delete;
  /// Removes the new files, unless they were committed.
  ~FolderReplacement();

  /// Where the new files are made; they may be in folders of their own.
  const std::filesystem::path& path() const { return path_; }
  /// The new files take their places. `obsolete`: old ones, by their paths within the folder, that go; unless there is a new
  /// one in their place.
  void commit(const std::vector<std::filesystem::path>& obsolete = {});
  /// Whether it was decided that they count, even if moving them has failed since.
  bool is_committed() const { return done_; }

 private:
  std::filesystem::path folder_, path_;
  bool done_ = false;
};

/// Whether files were committed that have not yet reached their places: what is there now may belong to both.
bool replacement_is_pending(const std::filesystem::path& folder);
/// Finishes a replacement that was committed, and removes what was not. No other program may write into `folder`.
void settle_replacement(const std::filesystem::path& folder);

}  // namespace attend
