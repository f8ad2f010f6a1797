// The bytes of a file, a pipe or memory, chunk by chunk; gzip is decompressed on the way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace attend::data {

class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// The next bytes, valid until the next call; none at the end. `where` begins any message.
  virtual std::span<const char> next(const std::string& where) = 0;
  /// Whether next() would have to wait for bytes that have not arrived yet.
  virtual bool waits() const { return false; }
};

/// A file or a pipe; "-" is standard input.
std::unique_ptr<ByteStream> file_bytes(const std::filesystem::path& path);
/// `bytes` must outlive the stream.
std::unique_ptr<ByteStream> memory_bytes(std::span<const std::byte> bytes);
/// Bytes that have been read already, then the rest of their stream.
std::unique_ptr<ByteStream> put_back(std::string_view front, std::unique_ptr<ByteStream> rest);
/// Gzip (RFC 1952) is recognised by its first two bytes; several members in a row are one text. Anything else is passed
/// on unchanged. Throws Error once it has unpacked 64 MiB and 200 times what was packed.
std::unique_ptr<ByteStream> unpacked(std::unique_ptr<ByteStream> bytes, const std::string& name);

/// Reads a given number of bytes at a time from a stream.
class ByteReader {
 public:
  ByteReader(std::unique_ptr<ByteStream> bytes, std::string name) : name_(std::move(name)), bytes_(std::move(bytes)) {}

  /// Reads into.size() bytes, or fewer at the end; returns how many.
  size_t read(std::span<uint8_t> into);
  bool at_end();
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  std::unique_ptr<ByteStream> bytes_;
  std::span<const char> chunk_;  // read, but not yet given
};

}  // namespace attend::data
