#include "attend/data/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "attend/base/error.h"

namespace attend::data {
namespace {

namespace fs = std::filesystem;

void require_done(bool done, const fs::path& path, const char* what) {
  if (!done) fail(path.native(), ": wanted to ", what, ", got: ", std::generic_category().message(errno));
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

/// A name that is removed at the end unless it was renamed.
struct Temporary {
  std::string name;
  bool kept = false;
  ~Temporary() {
    if (!kept) ::unlink(name.c_str());
  }
};

void write_all(int file, std::string_view bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    require_done(count >= 0, path, "write it");
    bytes.remove_prefix(static_cast<size_t>(count));
  }
}

}  // namespace

std::string read_file(const fs::path& path, size_t most) {
  // O_NONBLOCK: a named pipe must be refused below, not waited for.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  require_done(file.number() >= 0, path, "open the file");
  struct stat status {};
  require_done(::fstat(file.number(), &status) == 0, path, "know its size");
  require(S_ISREG(status.st_mode), path.native(), ": wanted a regular file, got a folder, a pipe or a device");
  require(static_cast<uint64_t>(status.st_size) <= most, path.native(), ": wanted at most ", most, " bytes, got ",
          status.st_size);
  std::string bytes(static_cast<size_t>(status.st_size), '\0');
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t count = ::read(file.number(), bytes.data() + at, bytes.size() - at);
    if (count < 0 && errno == EINTR) continue;
    require_done(count >= 0, path, "read it");
    require(count > 0, path.native(), ": wanted ", bytes.size(), " bytes, got the end of the file after ", at);
    at += static_cast<size_t>(count);
  }
  return bytes;
}

void write_file(const fs::path& path, std::string_view bytes) {
  Temporary temporary{path.native() + ".tmp-XXXXXX"};
  const Descriptor file(::mkostemp(temporary.name.data(), O_CLOEXEC));
  require_done(file.number() >= 0, path, "create a file beside it");
  ::fchmod(file.number(), 0644);  // mkostemp gives 0600
  write_all(file.number(), bytes, path);
  require_done(::fsync(file.number()) == 0, path, "sync it");
  require_done(::rename(temporary.name.c_str(), path.c_str()) == 0, path, "replace it");
  temporary.kept = true;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const Descriptor open_folder(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // EINVAL: a file system that cannot sync a folder.
  require_done(open_folder.number() >= 0 && (::fsync(open_folder.number()) == 0 || errno == EINVAL), path,
               "sync its folder");
}

}  // namespace attend::data
