#include "attend/base/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "attend/base/error.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

/// Whether the open file is still the one of this name: the previous holder of the lock may have removed it meanwhile.
bool is_named(int file, const fs::path& path) {
  struct stat open {
  }, named{};
  return ::fstat(file, &open) == 0 && ::stat(path.c_str(), &named) == 0 && open.st_ino == named.st_ino &&
         open.st_dev == named.st_dev;
}

int locked_file(const fs::path& path) {
  for (;;) {
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0 && errno == EINTR) continue;
    if (file < 0) fail(path.native(), ": cannot create it: ", system_reason(errno));
    const bool taken = ::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!taken && is_named(file, path)) return file;
    ::close(file);
    require(!taken, path.parent_path().native(),
            ": another run is writing into this folder; wait for its end, or name another one");
  }
}

}  // namespace

FolderLock::FolderLock(const fs::path& folder) : path_(folder / "lock"), file_(locked_file(path_)) {}

/// Removed while it is locked, so that nobody else can hold it.
FolderLock::~FolderLock() { ::unlink(path_.c_str()); }

}  // namespace attend
