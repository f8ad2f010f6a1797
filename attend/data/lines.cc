#include "attend/data/lines.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "attend/base/error.h"
#include "attend/base/replacement.h"

namespace attend::data {
namespace {

constexpr size_t kChunk = size_t{1} << 16;

}  // namespace

/// The bytes of a text, chunk by chunk.
class TextBytes {
 public:
  virtual ~TextBytes() = default;
  /// The next bytes, which stay until the next call; none at the end. `where` begins a message.
  virtual std::span<const char> next(const std::string& where) = 0;
};

namespace {

class FileBytes : public TextBytes {
 public:
  explicit FileBytes(const std::string& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), buffer_(kChunk) {
    if (file_.number() < 0) fail(path, ": wanted to open the file, got: ", system_reason(errno));
    struct stat status {};
    if (::fstat(file_.number(), &status) != 0) fail(path, ": wanted its kind, got: ", system_reason(errno));
    require(!S_ISDIR(status.st_mode), path, ": a file is wanted, got a folder");
  }

  std::span<const char> next(const std::string& where) override {
    for (;;) {
      const ssize_t count = ::read(file_.number(), buffer_.data(), buffer_.size());
      if (count >= 0) return std::span(buffer_).first(static_cast<size_t>(count));
      if (errno != EINTR) fail(where, ": wanted to read on, got: ", system_reason(errno));
    }
  }

 private:
  Descriptor file_;
  std::vector<char> buffer_;
};

class MemoryBytes : public TextBytes {
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

/// Chunks of another source with its first ones put together, so that they hold what tells gzip from text.
class Peeked : public TextBytes {
 public:
  Peeked(std::unique_ptr<TextBytes> from, size_t wanted, const std::string& where) : from_(std::move(from)) {
    while (front_.size() < wanted) {  // a pipe may bring one byte at a time
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

 private:
  std::unique_ptr<TextBytes> from_;
  std::vector<char> front_;
  bool given_ = false;
};

/// What gzip members (RFC 1952) hold, one after the other. Behind the last one the file has to end.
class GzipBytes : public TextBytes {
 public:
  explicit GzipBytes(std::unique_ptr<TextBytes> from) : from_(std::move(from)), buffer_(kChunk) {
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    require(inflateInit2(&stream_, kGzipOnly) == Z_OK, "gzip: wanted memory to unpack, got none");
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
    return std::span<const char>(buffer_).first(filled);
  }

 private:
  /// False at the end of the file, which has to be the end of a member, too.
  bool refill(const std::string& where) {
    if (stream_.avail_in > 0 || more_out_ || damaged_) return true;
    const std::span<const char> part = from_->next(where);
    require(!part.empty() || at_end_of_member_, where, ": wanted the rest of the gzip data, got the end of the file");
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));  // zlib only reads it
    stream_.avail_in = static_cast<uInt>(part.size());
    return !part.empty();
  }

  void unpack(const std::string& where) {
    if (at_end_of_member_) {
      inflateReset(&stream_);
      at_end_of_member_ = false;
    }
    const int result = inflate(&stream_, Z_NO_FLUSH);
    // Z_BUF_ERROR: all that was there is unpacked, and more input is wanted.
    damaged_ = result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR;
    // What was unpacked before the damage is given first, so that the message names the right line.
    require(!damaged_ || stream_.avail_out < buffer_.size(), where,
            ": wanted gzip data, got: ", stream_.msg != nullptr ? stream_.msg : "damaged ones");
    at_end_of_member_ = result == Z_STREAM_END;
    more_out_ = !at_end_of_member_ && stream_.avail_out == 0;
  }

  std::unique_ptr<TextBytes> from_;
  std::vector<char> buffer_;
  z_stream stream_{};
  bool at_end_of_member_ = false, more_out_ = false, damaged_ = false;
};

std::unique_ptr<TextBytes> unpacked(std::unique_ptr<TextBytes> bytes, const std::string& name) {
  constexpr std::string_view kGzip = "\x1F\x8B";
  auto peeked = std::make_unique<Peeked>(std::move(bytes), kGzip.size(), name);
  if (!peeked->front().starts_with(kGzip)) return peeked;
  return std::make_unique<GzipBytes>(std::move(peeked));
}

}  // namespace

void drop_byte_order_mark(std::string& line) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (line.starts_with(kMark)) line.erase(0, kMark.size());
}

LineReader::LineReader(const std::filesystem::path& path)
    : name_(path.native()), bytes_(unpacked(std::make_unique<FileBytes>(name_), name_)) {}

LineReader::LineReader(std::span<const std::byte> bytes, std::string name)
    : name_(std::move(name)), bytes_(unpacked(std::make_unique<MemoryBytes>(bytes), name_)) {}

LineReader::LineReader(LineReader&&) noexcept = default;
LineReader& LineReader::operator=(LineReader&&) noexcept = default;
LineReader::~LineReader() = default;

bool LineReader::next(std::string& line) {
  line.clear();
  ++number_;
  if (!read_line(line)) {
    --number_;
    return false;
  }
  if (number_ == 1) drop_byte_order_mark(line);
  if (line.ends_with('\r')) line.pop_back();
  check_utf8(where(), line);
  require(line.find('\0') == line.npos, where(), ": text is wanted, got a zero byte");
  return true;
}

/// All up to the next "\n", which is not part of it; false if there is nothing more.
bool LineReader::read_line(std::string& line) {
  bool any = false;
  for (;;) {
    if (chunk_.empty()) chunk_ = bytes_->next(where());
    if (chunk_.empty()) return any;
    any = true;
    const char* end = static_cast<const char*>(std::memchr(chunk_.data(), '\n', chunk_.size()));
    const size_t count = end != nullptr ? static_cast<size_t>(end - chunk_.data()) : chunk_.size();
    require(count <= kLongest - line.size(), where(), ": a line of at most ", kLongest,
            " bytes is wanted, got a longer one");
    line.append(chunk_.data(), count);
    chunk_ = chunk_.subspan(count + (end != nullptr ? 1 : 0));
    if (end != nullptr) return true;
  }
}

std::vector<std::string> read_lines(const std::filesystem::path& path) {
  LineReader reader(path);
  std::vector<std::string> lines;
  for (std::string line; reader.next(line);) lines.push_back(line);
  return lines;
}

}  // namespace attend::data
