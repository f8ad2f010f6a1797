#include "attend/data/spool.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <map>
#include <mutex>
#include <span>

#include "attend/base/error.h"

namespace attend::data {
namespace {

namespace fs = std::filesystem;

/// All copies of this process: whoever reads a file knows its name and nothing else.
struct Copies {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const Descriptor>> by_name;
};

Copies& copies() {
  static Copies all;
  return all;
}

/// A pipe that is being copied.
class Copying {
 public:
  Copying(std::string name, const fs::path& folder)
      : name_(std::move(name)), from_(open(name_)), copy_(std::make_shared<Descriptor>(unnamed_file(folder))) {
    if (!from_.open()) fail(shown_name(name_), ": cannot open the pipe: ", system_reason(errno));
  }

  const std::string& name() const { return name_; }
  int from() const { return from_.number(); }
  const std::shared_ptr<Descriptor>& copy() const { return copy_; }

  /// Copies what has come; false at the end.
  bool read_some() {
    std::array<char, size_t{1} << 16> part;
    const ssize_t count = ::read(from_.number(), part.data(), part.size());
    if (count > 0) write(std::span(part).first(static_cast<size_t>(count)));
    if (count >= 0) return count > 0;
    if (errno != EINTR && errno != EAGAIN) fail(shown_name(name_), ": cannot read on: ", system_reason(errno));
    return true;
  }

 private:
  // Without waiting for who writes into it: that may open several pipes, in an order of its own.
  static int open(const std::string& name) {
    return name == kStandardInput ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                  : ::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  }

  void write(std::span<const char> bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::write(copy_->number(), bytes.data(), bytes.size());
      if (count < 0 && errno != EINTR) {
        fail(shown_name(name_), ": cannot be kept on disk to be read again: ", system_reason(errno));
      }
      if (count > 0) bytes = bytes.subspan(static_cast<size_t>(count));
    }
  }

  std::string name_;
  Descriptor from_;
  std::shared_ptr<Descriptor> copy_;
};

/// All of them at once: one program may write into several, by turns.
void copy_to_the_end(std::vector<std::unique_ptr<Copying>>& pipes) {
  std::vector<pollfd> open;
  for (const auto& pipe : pipes) open.push_back({pipe->from(), POLLIN, 0});
  for (size_t left = open.size(); left > 0;) {
    if (::poll(open.data(), open.size(), -1) < 0 && errno != EINTR) fail("poll: ", system_reason(errno));
    for (size_t i = 0; i < open.size(); ++i) {
      if (open[i].revents == 0 || pipes[i]->read_some()) continue;
      open[i].fd = -1;  // which poll passes over
      --left;
    }
  }
}

}  // namespace

std::string shown_name(const fs::path& path) { return path == kStandardInput ? "standard input" : path.string(); }

bool is_pipe(const fs::path& path) {
  if (path == kStandardInput) return true;
  std::error_code missing;
  const fs::file_status status = fs::status(path, missing);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

Spool::Spool(const fs::path& folder, const std::vector<std::string>& pipes) : Spool() {
  std::vector<std::unique_ptr<Copying>> all;
  for (const std::string& name : pipes) all.push_back(std::make_unique<Copying>(name, folder));
  copy_to_the_end(all);
  const std::scoped_lock lock(copies().mutex);
  for (const auto& pipe : all) {
    require(copies().by_name.emplace(pipe->name(), pipe->copy()).second, shown_name(pipe->name()),
            ": expected a pipe once, got it twice; it can be read only once");
    names_.push_back(pipe->name());
  }
}

Spool::~Spool() {
  const std::scoped_lock lock(copies().mutex);
  for (const std::string& name : names_) copies().by_name.erase(name);
}

std::shared_ptr<const Descriptor> spooled(const fs::path& path) {
  const std::scoped_lock lock(copies().mutex);
  const auto found = copies().by_name.find(path.native());
  return found == copies().by_name.end() ? nullptr : found->second;
}

}  // namespace attend::data
