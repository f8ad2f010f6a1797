#include "attend/base/replacement.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include "attend/base/error.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark = ".tmp-";

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

/// Whether `name` was made by Replacement: `file`.tmp-process-number.
bool is_temporary(std::string_view name, std::string_view file) {
  if (!name.starts_with(file)) return false;
  name.remove_prefix(file.size());
  if (!name.starts_with(kMark)) return false;
  name.remove_prefix(kMark.size());
  const size_t dash = name.find('-');
  const auto number = [](std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  return dash != std::string_view::npos && number(name.substr(0, dash)) && number(name.substr(dash + 1));
}

/// A writer holds a lock, which ends with its process: a temporary file that can be locked has been abandoned.
void remove_left(const fs::path& path) {
  std::error_code error;
  fs::directory_iterator entry(folder_of(path), error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (!is_temporary(entry->path().filename().native(), path.filename().native())) continue;
    const Descriptor left(::open(entry->path().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
    if (left.open() && ::flock(left.number(), LOCK_EX | LOCK_NB) == 0) ::unlink(entry->path().c_str());
  }
}

/// False with errno, where it cannot be.
bool folder_synced(const fs::path& path) {
  const Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // EINVAL: a file system that cannot sync a folder; there is nothing more to do there.
  return folder.open() && (::fsync(folder.number()) == 0 || errno == EINVAL);
}

/// Whether the file still has a name: before it was locked, another writer may have taken it for an abandoned one.
bool locked_in_time(int file) {
  while (::flock(file, LOCK_EX) != 0 && errno == EINTR) {
  }
  struct stat status {};
  return ::fstat(file, &status) == 0 && status.st_nlink > 0;
}

}  // namespace

std::string system_reason(int error) { return std::generic_category().message(error); }

bool Descriptor::close() { return number_ < 0 || ::close(std::exchange(number_, -1)) == 0; }

Replacement::Replacement(fs::path path, std::string_view where)
    : path_(std::move(path)),
      where_((where.empty() ? "" : std::string(where) + ": ") + path_.native()),
      file_(create()) {
  require_done(file_.open(), "create a file beside it");
}

Replacement::~Replacement() {
  if (!done_ && file_.open()) ::unlink(temporary_.c_str());
}

int Replacement::create() {
  static std::atomic<uint64_t> count{0};
  remove_left(path_);
  for (;;) {
    temporary_ = path_;
    temporary_ += std::string(kMark) + std::to_string(::getpid()) + "-" + std::to_string(count++);
    const int file = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0 && errno != EEXIST && errno != EINTR) return file;
    if (file >= 0 && locked_in_time(file)) return file;
    if (file >= 0) ::close(file);
  }
}

void Replacement::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file_.number(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    require_done(count >= 0, "write it");
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
}

void Replacement::commit() {
  require_done(::fsync(file_.number()) == 0, "sync it");
  // Renamed before it is closed, as closing would release the lock.
  require_done(::rename(temporary_.c_str(), path_.c_str()) == 0, "replace it");
  done_ = true;
  require_done(file_.close(), "close it");
  // The new name is on disk only once the folder is synced.
  require_done(folder_synced(folder_of(path_)), "sync its folder");
}

void Replacement::require_done(bool done, const char* what) const {
  if (!done) fail(where_, ": cannot ", what, ": ", system_reason(errno));
}

void write_file(const fs::path& path, std::string_view bytes) {
  Replacement file(path);
  file.write(std::as_bytes(std::span(bytes)));
  file.commit();
}

int unnamed_file(const fs::path& folder) {
  const int unnamed = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (unnamed >= 0) return unnamed;
  std::string name = (folder / "attend-XXXXXX").native();  // not every file system has files without names
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) fail(folder.native(), ": cannot create a temporary file: ", system_reason(errno));
  ::unlink(name.c_str());
  return file;
}

void sync_folder(const fs::path& folder) {
  if (!folder_synced(folder)) fail(folder.native(), ": cannot sync it: ", system_reason(errno));
}

void require_writable(const fs::path& folder) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  require(!problem, folder.native(), ": cannot make the folder: ", problem.message());
  const Replacement probe(folder / "probe");  // not committed: an existing file of that name is kept
}

std::string read_file(const fs::path& path, size_t most) {
  // O_NONBLOCK: a named pipe must be refused below, not waited for.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.open()) fail(path.native(), ": cannot open the file: ", system_reason(errno));
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) {
    fail(path.native(), ": cannot tell the file's size: ", system_reason(errno));
  }
  require(S_ISREG(status.st_mode), path.native(), ": expected a regular file, got a folder, a pipe or a device");
  std::string bytes;
  char part[1 << 16];
  for (;;) {  // to its end, whatever size was reported: it may grow, and files in /proc report none
    const ssize_t count = ::read(file.number(), part, sizeof(part));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(path.native(), ": cannot read it: ", system_reason(errno));
    if (count == 0) return bytes;
    bytes.append(part, static_cast<size_t>(count));
    require(bytes.size() <= most, path.native(), ": expected at most ", most, " bytes, got more");
  }
}

}  // namespace attend
