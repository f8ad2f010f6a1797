// A library that is loaded before others (LD_PRELOAD) and lets one call that changes files fail, or kills the program there.
//
//   ATTEND_FAULT_FOLDER=DIR      only files below DIR count
//   ATTEND_FAULT_COUNT=FILE      at the end, writes to FILE how many such calls there were
//   ATTEND_FAULT=kill:N          dies by SIGKILL just before the Nth call
//   ATTEND_FAULT=torn:N          the same, but a write has stored half of its bytes by then
//   ATTEND_FAULT=EIO:N, ENOSPC:N the Nth call fails, and changes nothing
//
// The calls: write, fsync, rename, unlink, mkdir and ftruncate with their variants. A program that only computes between two of
// them cannot tell apart the moments at which it is killed there, so that N covers all of them.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

struct Plan {
  std::string folder, count_file;
  std::string action;
  long at = 0;

  Plan() {
    const auto text = [](const char* name) -> std::string {
      const char* value = std::getenv(name);
      return value ? value : "";
    };
    folder = text("ATTEND_FAULT_FOLDER");
    count_file = text("ATTEND_FAULT_COUNT");
    const std::string fault = text("ATTEND_FAULT");
    const size_t colon = fault.find(':');
    if (colon != std::string::npos) action = fault.substr(0, colon), at = std::atol(fault.c_str() + colon + 1);
  }
};

const Plan& plan() {
  static const Plan* const made = new Plan;  // alive until the last call of the program
  return *made;
}

std::atomic<long> calls{0};

__attribute__((destructor)) void report() {
  if (plan().count_file.empty()) return;
  if (std::FILE* file = std::fopen(plan().count_file.c_str(), "w")) {
    std::fprintf(file, "%ld\n", calls.load());
    std::fclose(file);
  }
}

bool counts(const std::string& path) { return !plan().folder.empty() && path.starts_with(plan().folder); }

std::string path_of(int descriptor) {
  char name[64], target[PATH_MAX];
  std::snprintf(name, sizeof(name), "/proc/self/fd/%d", descriptor);
  const ssize_t length = ::readlink(name, target, sizeof(target));
  return length > 0 ? std::string(target, static_cast<size_t>(length)) : "";
}

std::string path_of(int folder, const char* path) {
  if (path[0] == '/') return path;
  if (folder != AT_FDCWD) return path_of(folder) + "/" + path;
  char here[PATH_MAX];
  return ::getcwd(here, sizeof(here)) ? std::string(here) + "/" + path : path;
}

[[noreturn]] void die() {
  ::kill(::getpid(), SIGKILL);
  for (;;) ::pause();
}

/// Whether this is the call at which something happens. Then either the program ends here, or errno says what failed.
/// `before_death` may still do a part of the call.
template <class BeforeDeath>
bool fails(const std::string& path, BeforeDeath&& before_death) {
  if (!counts(path) || ++calls != plan().at) return false;
  if (plan().action == "torn") before_death();
  if (plan().action == "torn" || plan().action == "kill") die();
  errno = plan().action == "ENOSPC" ? ENOSPC : EIO;
  return true;
}
bool fails(const std::string& path) {
  return fails(path, [] {});
}

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

// `name` as the C library has it, unless `path` is that of the call at which it fails.
#define ATTEND_INTERPOSE(result, name, parameters, arguments, path)              \
  extern "C" result name parameters {                                           \
    static const auto original = next<result(*) parameters>(#name);             \
    return fails(path) ? -1 : original arguments;                               \
  }

ATTEND_INTERPOSE(int, fsync, (int file), (file), path_of(file))
ATTEND_INTERPOSE(int, fdatasync, (int file), (file), path_of(file))
ATTEND_INTERPOSE(int, ftruncate, (int file, off_t size), (file, size), path_of(file))
ATTEND_INTERPOSE(int, ftruncate64, (int file, off64_t size), (file, size), path_of(file))
ATTEND_INTERPOSE(int, mkdir, (const char* path, mode_t mode), (path, mode), path_of(AT_FDCWD, path))
ATTEND_INTERPOSE(int, unlink, (const char* path), (path), path_of(AT_FDCWD, path))
ATTEND_INTERPOSE(int, rmdir, (const char* path), (path), path_of(AT_FDCWD, path))
ATTEND_INTERPOSE(int, remove, (const char* path), (path), path_of(AT_FDCWD, path))
ATTEND_INTERPOSE(int, unlinkat, (int folder, const char* path, int flags), (folder, path, flags), path_of(folder, path))
ATTEND_INTERPOSE(int, rename, (const char* from, const char* to), (from, to), path_of(AT_FDCWD, to))
ATTEND_INTERPOSE(int, renameat2, (int a, const char* from, int b, const char* to, unsigned flags), (a, from, b, to, flags),
                 path_of(b, to))

extern "C" ssize_t write(int file, const void* bytes, size_t count) {
  static const auto original = next<ssize_t (*)(int, const void*, size_t)>("write");
  return fails(path_of(file), [&] { original(file, bytes, count / 2); }) ? -1 : original(file, bytes, count);
}

extern "C" ssize_t writev(int file, const iovec* parts, int count) {
  static const auto original = next<ssize_t (*)(int, const iovec*, int)>("writev");
  return fails(path_of(file), [&] { original(file, parts, count / 2); }) ? -1 : original(file, parts, count);
}
