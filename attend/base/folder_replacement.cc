#include "attend/base/folder_replacement.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <system_error>

#include "attend/base/error.h"
#include "attend/base/replacement.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNew = ".new";      // files that are being made
constexpr const char* kWhole = ".whole";  // files that were committed, on their way
constexpr const char* kObsolete = ".obsolete";
constexpr size_t kMostObsolete = size_t{1} << 24;  // of the list of obsolete files

void require_done(const std::error_code& problem, const fs::path& path, const char* what) {
  require(!problem, path.native(), ": cannot ", what, ": ", problem.message());
}

/// Links are not followed: a folder may be a stranger's, and nothing outside of it is touched.
bool is_folder(const fs::path& path) {
  std::error_code none;
  return fs::symlink_status(path, none).type() == fs::file_type::directory;
}

/// Whether `name` stays within `folder`, through real folders alone.
bool is_within(const fs::path& folder, const fs::path& name) {
  fs::path at = folder;
  for (const fs::path& part : name.parent_path()) {
    at /= part;
    if (part == ".." || !is_folder(at)) return false;
  }
  return name.is_relative() && name.has_filename() && name.filename() != "..";
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::error_code problem;
  std::vector<fs::path> all;
  for (fs::directory_iterator at(folder, problem); !problem && at != fs::directory_iterator(); at.increment(problem)) {
    all.push_back(at->path());
  }
  require_done(problem, folder, "list it");
  return all;
}

/// What is in the way of a move: a folder where a file goes, or the other way round.
void check_places(const fs::path& from, const fs::path& to) {
  for (const fs::path& entry : entries_of(from)) {
    const fs::path place = to / entry.filename();
    std::error_code none;
    const bool there = fs::exists(fs::symlink_status(place, none));
    require(!there || is_folder(place) == is_folder(entry), place.native(), ": expected a ",
            is_folder(entry) ? "folder" : "file", " in its place, got something else; move it away");
    if (there && is_folder(entry)) check_places(entry, place);
  }
}

void move_into(const fs::path& from, const fs::path& to) {
  std::error_code problem;
  for (const fs::path& entry : entries_of(from)) {
    const fs::path place = to / entry.filename();
    if (!is_folder(entry)) {
      fs::rename(entry, place, problem);
      require_done(problem, place, "replace it");
      continue;
    }
    if (!is_folder(place)) fs::create_directory(place, problem);
    require_done(problem, place, "make the folder");
    require(is_folder(place), place.native(), ": expected a folder, got a link to one");
    move_into(entry, place);
  }
}

void remove_obsolete(const fs::path& folder, const fs::path& list) {
  if (!fs::exists(list)) return;
  std::istringstream lines(read_file(list, kMostObsolete));
  for (std::string line; std::getline(lines, line);) {
    if (!is_within(folder, line)) continue;
    std::error_code problem, kept;
    fs::remove(folder / line, problem);
    require_done(problem, folder / line, "remove it");
    const fs::path inner = fs::path(line).parent_path();
    if (!inner.empty()) fs::remove(folder / inner, kept);  // unless something else is in it
  }
}

void remove_tree(const fs::path& path) {
  std::error_code problem;
  fs::remove_all(path, problem);
  require_done(problem, path, "remove it");
}

/// Every step may be taken again after a kill: obsolete files have names that no new one has.
void finish(const fs::path& folder) {
  const fs::path whole = folder / kWhole;
  remove_obsolete(folder, whole / kObsolete);
  std::error_code problem;
  fs::remove(whole / kObsolete, problem);
  require_done(problem, whole / kObsolete, "remove it");
  move_into(whole, folder);
  sync_folder(folder);
  remove_tree(whole);
}

}  // namespace

FolderReplacement::FolderReplacement(fs::path folder) : folder_(std::move(folder)), path_(folder_ / kNew) {
  settle_replacement(folder_);
  std::error_code problem;
  fs::create_directory(path_, problem);
  require_done(problem, path_, "make the folder");
}

FolderReplacement::~FolderReplacement() {
  std::error_code ignored;
  if (!done_) fs::remove_all(path_, ignored);
}

void FolderReplacement::commit(const std::vector<fs::path>& obsolete) {
  check_places(path_, folder_);
  std::string list;
  for (const fs::path& name : obsolete) {
    if (!fs::exists(path_ / name)) list += name.native() + "\n";
  }
  write_file(path_ / kObsolete, list);
  std::error_code problem;
  fs::rename(path_, folder_ / kWhole, problem);
  require_done(problem, path_, "rename it");
  done_ = true;
  sync_folder(folder_);
  finish(folder_);
}

bool replacement_is_pending(const fs::path& folder) { return is_folder(folder / kWhole); }

void settle_replacement(const fs::path& folder) {
  if (replacement_is_pending(folder)) finish(folder);
  remove_tree(folder / kNew);
}

}  // namespace attend
