// Lines of text files, plain or gzip. The text is distrusted: what is not UTF-8 is refused by file and line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attend/data/byte_stream.h"
#include "attend/data/utf8.h"

namespace attend::data {

/// Reads one line after the other; only the line at hand is in memory. Gzip is known by its first two bytes, not by the
/// file's name; several members in a row are one text. "\n" and "\r\n" end a line, the last one may go without. A byte order
/// mark at the start is dropped.
class LineReader {
 public:
  static constexpr size_t kLongest = size_t{16} << 20;

  /// A file or a pipe.
  explicit LineReader(const std::filesystem::path& path);
  /// `bytes` as if they were a file of that name; they have to outlive the reader.
  LineReader(std::span<const std::byte> bytes, std::string name);
  static LineReader standard_input();
  LineReader(LineReader&&) noexcept;
  LineReader& operator=(LineReader&&) noexcept;
  ~LineReader();

  /// False after the last line. Throws Error by file and line for: what is not UTF-8, a zero byte, a line of more than
  /// kLongest bytes, damaged gzip.
  bool next(std::string& line);
  /// Whether next() would wait: no whole line has come yet, and neither has the end. Reads what is there, and throws as
  /// next() does where that cannot be read.
  bool waits();
  /// Of the line that next() gave last, counted from 1; 0 before the first.
  int64_t number() const { return number_; }
  const std::string& name() const { return name_; }
  /// "file:line".
  std::string where() const { return name_ + ":" + std::to_string(number_); }

 private:
  LineReader(std::string name, std::unique_ptr<ByteStream> bytes);
  void fill(const std::string& where);
  bool read_line(std::string& line);

  std::string name_;
  std::unique_ptr<ByteStream> bytes_;
  bool opened_ = false, ended_ = false;
  std::string begun_;            // of the next line, before what is in chunk_
  std::span<const char> chunk_;  // read, but not yet given
  int64_t number_ = 0;
};

std::vector<std::string> read_lines(const std::filesystem::path& path);

}  // namespace attend::data
