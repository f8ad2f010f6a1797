// Bytes that can be read at any place: those of a file or of memory, and of a pipe those that have just come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace attend::data {

class SeekableBytes {
 public:
  virtual ~SeekableBytes() = default;
  /// Of a pipe: more than anything has.
  virtual int64_t size() const = 0;
  /// Copies the bytes from `at` on, as many as there are; returns how many. Of a file and of memory, several threads may read.
  virtual size_t read(int64_t at, std::span<char> into) = 0;
  /// Whether they come through a pipe, so that only those behind the ones that were read last are to be had.
  virtual bool piped() const { return false; }
  /// From now on, a pipe's bytes are read in order and need not be kept.
  virtual void forget() {}
};

/// A regular file.
std::unique_ptr<SeekableBytes> seekable_file(const std::filesystem::path& path);
/// `bytes` must outlive it.
std::unique_ptr<SeekableBytes> seekable_memory(std::span<const std::byte> bytes);
/// These bytes, kept within.
std::unique_ptr<SeekableBytes> seekable_memory(std::string bytes);

}  // namespace attend::data
