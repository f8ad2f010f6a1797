// Lines of text files, plain or gzip. The text is not trusted: invalid UTF-8 is rejected, with file and line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attend/base/error.h"
#include "attend/data/byte_stream.h"
#include "attend/data/utf8.h"

namespace attend::data {

enum class ByteOrderMark { dropped, kept };

/// A line that is not text, or too long. The lines behind it can still be read.
class BadLine : public Error {
 public:
  using Error::Error;
};

/// Reads one line after another, with only the current one in memory. Gzip is recognised by its first two bytes, not by
/// the file's name; several members in a row are one text. "\n" and "\r\n" end a line; the last line may lack an
/// ending. A byte order mark at the start is dropped, unless it is to be kept.
class LineReader {
 public:
  static constexpr size_t kLongest = size_t{16} << 20;

  /// A file or a pipe; "-" is standard input.
  explicit LineReader(const std::filesystem::path& path, ByteOrderMark mark = ByteOrderMark::dropped);
  /// `bytes` as if they were a file of that name; they must outlive the reader.
  LineReader(std::span<const std::byte> bytes, std::string name);
  LineReader(std::string name, std::unique_ptr<ByteStream> bytes);
  LineReader(LineReader&&) noexcept;
  LineReader& operator=(LineReader&&) noexcept;
  ~LineReader();

  /// False after the last line. Throws BadLine with file and line for invalid UTF-8, a zero byte or a line of more than
  /// kLongest bytes, and Error for what cannot be read on: damaged gzip.
  bool next(std::string& line);
  /// Whether next() would wait: neither a whole line nor the end has arrived yet. Reads what is there, and throws as
  /// next() does if it cannot.
  bool waits();
  /// Number of the line last returned by next(), counted from 1; 0 before the first.
  int64_t number() const { return number_; }
  const std::string& name() const { return name_; }
  /// "file:line".
  std::string where() const { return name_ + ":" + std::to_string(number_); }

 private:
  void fill(const std::string& where);
  bool read_line(std::string& line);
  void drop_rest();

  std::string name_;
  std::unique_ptr<ByteStream> bytes_;
  ByteOrderMark mark_ = ByteOrderMark::dropped;
  bool opened_ = false, ended_ = false;
  bool drops_ = false;           // what is left of a line that was too long
  std::string partial_;          // start of the next line, which continues in chunk_
  std::span<const char> chunk_;  // read, but not yet given
  int64_t number_ = 0;
};

/// All lines of a file; throws Error if they take more than `most` bytes of memory.
std::vector<std::string> read_lines(const std::filesystem::path& path, ByteOrderMark mark = ByteOrderMark::dropped,
                                    size_t most = size_t{1} << 30);

}  // namespace attend::data
