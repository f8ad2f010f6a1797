#include "attend/data/lines.h"

#include <cstring>
#include <utility>

#include "attend/base/error.h"
#include "attend/data/spool.h"

namespace attend::data {
namespace {

void drop_byte_order_mark(std::string& line) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (line.starts_with(kMark)) line.erase(0, kMark.size());
}

}  // namespace

LineReader::LineReader(std::string name, std::unique_ptr<ByteStream> bytes)
    : name_(std::move(name)), bytes_(std::move(bytes)) {}

LineReader::LineReader(const std::filesystem::path& path, ByteOrderMark mark)
    : LineReader(shown_name(path), file_bytes(path)) {
  mark_ = mark;
}

LineReader::LineReader(std::span<const std::byte> bytes, std::string name)
    : LineReader(std::move(name), memory_bytes(bytes)) {}

LineReader::LineReader(LineReader&&) noexcept = default;
LineReader& LineReader::operator=(LineReader&&) noexcept = default;
LineReader::~LineReader() = default;

bool LineReader::next(std::string& line) {
  line.clear();
  while (drops_ && !ended_) {
    if (chunk_.empty()) fill(where());
    drop_rest();
  }
  const bool continued = !partial_.empty();
  if (continued) line.swap(partial_);
  ++number_;
  if (!read_line(line) && !continued) {
    --number_;
    return false;
  }
  if (number_ == 1 && mark_ == ByteOrderMark::dropped) drop_byte_order_mark(line);
  if (line.ends_with('\r')) line.pop_back();
  try {
    check_utf8(where(), line);
    require(line.find('\0') == line.npos, where(), ": expected text, got a zero byte");
  } catch (const Error& error) {
    throw BadLine(error.what());
  }
  return true;
}

bool LineReader::waits() {
  for (;;) {
    drop_rest();
    const std::string_view read(chunk_.data(), chunk_.size());
    if (ended_ || read.find('\n') != read.npos) return false;
    partial_.append(read);
    chunk_ = {};
    if (partial_.size() > kLongest) return false;  // which next() rejects
    if (bytes_->waits()) return true;
    fill(name_ + ":" + std::to_string(number_ + 1));
  }
}

/// The next bytes as chunk_; at the end there are none. `where` begins a message.
void LineReader::fill(const std::string& where) {
  if (std::exchange(ended_, true)) return;  // otherwise a terminal, or a file with an error, would be read again
  // Not earlier: opening a pipe must not wait for its data.
  if (!std::exchange(opened_, true)) bytes_ = unpacked(std::move(bytes_), where);
  chunk_ = bytes_->next(where);
  ended_ = chunk_.empty();
}

/// All up to the next "\n", which is not part of it; false if there is nothing more.
bool LineReader::read_line(std::string& line) {
  bool any = false;
  for (;;) {
    if (chunk_.empty()) fill(where());
    if (chunk_.empty()) return any;
    any = true;
    const char* end = static_cast<const char*>(std::memchr(chunk_.data(), '\n', chunk_.size()));
    const size_t count = end != nullptr ? static_cast<size_t>(end - chunk_.data()) : chunk_.size();
    if (line.size() > kLongest || count > kLongest - line.size()) {
      drops_ = true;
      throw BadLine(where() + ": expected a line of at most " + std::to_string(kLongest) + " bytes, got a longer one");
    }
    line.append(chunk_.data(), count);
    chunk_ = chunk_.subspan(count + (end != nullptr ? 1 : 0));
    if (end != nullptr) return true;
  }
}

/// As far as it has been read.
void LineReader::drop_rest() {
  if (!drops_) return;
  const std::string_view read(chunk_.data(), chunk_.size());
  const size_t end = read.find('\n');
  drops_ = end == read.npos;
  chunk_ = chunk_.subspan(drops_ ? chunk_.size() : end + 1);
}

std::vector<std::string> read_lines(const std::filesystem::path& path, ByteOrderMark mark, size_t most) {
  LineReader reader(path, mark);
  std::vector<std::string> lines;
  size_t held = 0;
  for (std::string line; reader.next(line);) {
    held += sizeof(line) + line.size();
    require(held <= most, reader.where(), ": expected lines that fit into ", most >> 20, " MiB, got more");
    lines.push_back(line);
  }
  return lines;
}

}  // namespace attend::data
