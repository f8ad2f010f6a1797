#include "attend/data/seekable_bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/replacement.h"

namespace attend::data {
namespace {

class SeekableFile : public SeekableBytes {
 public:
  explicit SeekableFile(const std::filesystem::path& path)
      : name_(path.native()), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (!file_.open()) fail(name_, ": cannot open the file: ", system_reason(errno));
    struct stat status {};
    if (::fstat(file_.number(), &status) != 0) fail(name_, ": cannot tell its size: ", system_reason(errno));
    require(S_ISREG(status.st_mode), name_, ": expected a file, got a folder or a device");
    size_ = status.st_size;
  }

  int64_t size() const override { return size_; }
  size_t read(int64_t at, std::span<char> into) override {
    size_t filled = 0;
    while (filled < into.size()) {
      const ssize_t count =
          ::pread(file_.number(), into.data() + filled, into.size() - filled, at + static_cast<int64_t>(filled));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail(name_, ": cannot read on: ", system_reason(errno));
      if (count == 0) break;
      filled += static_cast<size_t>(count);
    }
    return filled;
  }

 private:
  std::string name_;
  Descriptor file_;
  int64_t size_ = 0;
};

class SeekableMemory : public SeekableBytes {
 public:
  explicit SeekableMemory(std::span<const std::byte> bytes)
      : bytes_(reinterpret_cast<const char*>(bytes.data()), bytes.size()) {}

  int64_t size() const override { return static_cast<int64_t>(bytes_.size()); }
  size_t read(int64_t at, std::span<char> into) override {
    if (at >= size()) return 0;
    return bytes_.copy(into.data(), into.size(), static_cast<size_t>(at));
  }

 private:
  std::string_view bytes_;
};

class KeptMemory : public SeekableBytes {
 public:
  explicit KeptMemory(std::string bytes) : bytes_(std::move(bytes)), view_(std::as_bytes(std::span(bytes_))) {}

  int64_t size() const override { return view_.size(); }
  size_t read(int64_t at, std::span<char> into) override { return view_.read(at, into); }

 private:
  std::string bytes_;
  SeekableMemory view_;
};

}  // namespace

std::unique_ptr<SeekableBytes> seekable_file(const std::filesystem::path& path) {
  return std::make_unique<SeekableFile>(path);
}

std::unique_ptr<SeekableBytes> seekable_memory(std::span<const std::byte> bytes) {
  return std::make_unique<SeekableMemory>(bytes);
}

std::unique_ptr<SeekableBytes> seekable_memory(std::string bytes) {
  return std::make_unique<KeptMemory>(std::move(bytes));
}

}  // namespace attend::data
