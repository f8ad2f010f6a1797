#include "attend/data/byte_stream.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "attend/base/error.h"
#include "attend/base/replacement.h"
#include "attend/data/spool.h"

namespace attend::data {
namespace {

constexpr size_t kChunk = size_t{1} << 16;
// Text packs three to ten times smaller, and monotonous data a thousand times. Small files may be as monotonous as they
// like.
constexpr uint64_t kMostRatio = 200, kAnyRatio = uint64_t{64} << 20;

class FileBytes : public ByteStream {
 public:
  /// Bytes of an open file, which it closes; the number is negative if opening failed.
  FileBytes(int file, const std::string& name) : file_(file), buffer_(kChunk) {
    if (!file_.open()) fail(name, ": cannot open the file: ", system_reason(errno));
    struct stat status {};
    if (::fstat(file_.number(), &status) != 0) fail(name, ": cannot tell what kind of file it is: ",
                                                    system_reason(errno));
    require(!S_ISDIR(status.st_mode), name, ": expected a file, got a folder");
  }

  std::span<const char> next(const std::string& where) override {
    for (;;) {
      const ssize_t count = ::read(file_.number(), buffer_.data(), buffer_.size());
      if (count >= 0) return std::span(buffer_).first(static_cast<size_t>(count));
      if (errno != EINTR) fail(where, ": cannot read on: ", system_reason(errno));
    }
  }

  bool waits() const override {
    pollfd input{file_.number(), POLLIN, 0};
    return ::poll(&input, 1, 0) == 0;
  }

 private:
  Descriptor file_;
  std::vector<char> buffer_;
};

/// Of a file that others read as well, each at a place of its own.
class CopiedBytes : public ByteStream {
 public:
  explicit CopiedBytes(std::shared_ptr<const Descriptor> file) : file_(std::move(file)), buffer_(kChunk) {}

  std::span<const char> next(const std::string& where) override {
    for (;;) {
      const ssize_t count = ::pread(file_->number(), buffer_.data(), buffer_.size(), at_);
      if (count >= 0) {
        at_ += count;
        return std::span(buffer_).first(static_cast<size_t>(count));
      }
      if (errno != EINTR) fail(where, ": cannot read on: ", system_reason(errno));
    }
  }

 private:
  std::shared_ptr<const Descriptor> file_;
  std::vector<char> buffer_;
  off_t at_ = 0;
};

class MemoryBytes : public ByteStream {
 public:
  explicit MemoryBytes(std::span<const std::byte> bytes)
      : rest_(reinterpret_cast<const char*>(bytes.data()), bytes.size()) {}

  std::span<const char> next(const std::string&) override {
    const std::span<const char> part = rest_.first(std::min(rest_.size(), kChunk));
    rest_ = rest_.subspan(part.size());
    return part;
  }

 private:
  std::span<const char> rest_;
};

/// Chunks of another source, the first of which have been read already.
class Peeked : public ByteStream {
 public:
  Peeked(std::unique_ptr<ByteStream> from, std::string_view front)
      : from_(std::move(from)), front_(front.begin(), front.end()) {}
  /// Reads enough to decide whether it begins with `magic`.
  Peeked(std::unique_ptr<ByteStream> from, std::string_view magic, const std::string& where) : from_(std::move(from)) {
    // A pipe may deliver one byte at a time. But a single line end must be answered before anything else arrives.
    while (front().size() < magic.size() && magic.starts_with(front())) {
      const std::span<const char> part = from_->next(where);
      if (part.empty()) break;
      front_.insert(front_.end(), part.begin(), part.end());
    }
  }

  std::string_view front() const { return {front_.data(), front_.size()}; }

  std::span<const char> next(const std::string& where) override {
    if (given_) return from_->next(where);
    given_ = true;
    return front_.empty() ? from_->next(where) : std::span<const char>(front_);
  }
  bool waits() const override { return (given_ || front_.empty()) && from_->waits(); }

 private:
  std::unique_ptr<ByteStream> from_;
  std::vector<char> front_;
  bool given_ = false;
};

/// The contents of gzip members (RFC 1952), one after another. The file must end after the last one.
class GzipBytes : public ByteStream {
 public:
  explicit GzipBytes(std::unique_ptr<ByteStream> from) : from_(std::move(from)), buffer_(kChunk) {
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    require(inflateInit2(&stream_, kGzipOnly) == Z_OK, "gzip: no memory to unpack with");
  }
  ~GzipBytes() override { inflateEnd(&stream_); }

  std::span<const char> next(const std::string& where) override {
    size_t filled = 0;
    while (filled == 0 && refill(where)) {
      stream_.next_out = reinterpret_cast<Bytef*>(buffer_.data());
      stream_.avail_out = static_cast<uInt>(buffer_.size());
      unpack(where);
      filled = buffer_.size() - stream_.avail_out;
    }
    out_ += filled;
    require(out_ <= kAnyRatio || out_ / kMostRatio <= in_, where, ": expected gzip data that unpack to at most ",
            kMostRatio, " times their size, got more than ", out_, " bytes from ", in_,
            "; if that is meant, unpack the file first (gunzip)");
    return std::span<const char>(buffer_).first(filled);
  }
  bool waits() const override { return !has_input() && from_->waits(); }

 private:
  bool has_input() const { return stream_.avail_in > 0 || more_out_ || damaged_; }

  /// False at the end of the file, which must also be the end of a member.
  bool refill(const std::string& where) {
    if (has_input()) return true;
    const std::span<const char> part = from_->next(where);
    require(!part.empty() || at_end_of_member_, where, ": expected the rest of the gzip data, got the end of the file");
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));  // zlib only reads it
    stream_.avail_in = static_cast<uInt>(part.size());
    in_ += part.size();
    return !part.empty();
  }

  void unpack(const std::string& where) {
    if (at_end_of_member_) {
      inflateReset(&stream_);
      at_end_of_member_ = false;
    }
    const int result = inflate(&stream_, Z_NO_FLUSH);
    // Z_BUF_ERROR: everything so far is unpacked, and more input is needed.
    damaged_ = result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR;
    // What was unpacked before the damage is delivered first, so that the message names the right line.
    require(!damaged_ || stream_.avail_out < buffer_.size(), where,
            ": expected gzip data, got: ", stream_.msg != nullptr ? stream_.msg : "damaged ones");
    at_end_of_member_ = result == Z_STREAM_END;
    more_out_ = !at_end_of_member_ && stream_.avail_out == 0;
  }

  std::unique_ptr<ByteStream> from_;
  std::vector<char> buffer_;
  z_stream stream_{};
  uint64_t in_ = 0, out_ = 0;
  bool at_end_of_member_ = false, more_out_ = false, damaged_ = false;
};

}  // namespace

std::unique_ptr<ByteStream> file_bytes(const std::filesystem::path& path) {
  if (auto copy = spooled(path)) return std::make_unique<CopiedBytes>(std::move(copy));
  const int file = path == kStandardInput ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                          : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  return std::make_unique<FileBytes>(file, shown_name(path));
}

std::unique_ptr<ByteStream> memory_bytes(std::span<const std::byte> bytes) {
  return std::make_unique<MemoryBytes>(bytes);
}

std::unique_ptr<ByteStream> put_back(std::string_view front, std::unique_ptr<ByteStream> rest) {
  return std::make_unique<Peeked>(std::move(rest), front);
}

std::unique_ptr<ByteStream> unpacked(std::unique_ptr<ByteStream> bytes, const std::string& name) {
  constexpr std::string_view kGzip = "\x1F\x8B";
  auto peeked = std::make_unique<Peeked>(std::move(bytes), kGzip, name);
  if (!peeked->front().starts_with(kGzip)) return peeked;
  return std::make_unique<GzipBytes>(std::move(peeked));
}

size_t ByteReader::read(std::span<uint8_t> into) {
  size_t filled = 0;
  while (filled < into.size() && !at_end()) {
    const size_t count = std::min(chunk_.size(), into.size() - filled);
    std::copy_n(chunk_.begin(), count, into.begin() + static_cast<ptrdiff_t>(filled));
    chunk_ = chunk_.subspan(count);
    filled += count;
  }
  return filled;
}

bool ByteReader::at_end() {
  if (chunk_.empty()) chunk_ = bytes_->next(name_);
  return chunk_.empty();
}

}  // namespace attend::data
