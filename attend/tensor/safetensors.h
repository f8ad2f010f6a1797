// safetensors: named tensors in one file, in the format that other toolkits exchange weights in
// (github.com/huggingface/safetensors). 8 bytes hold N, little-endian; N bytes of JSON hold, for each tensor,
// {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}; the rest is the data, every byte in one tensor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/base/shape.h"
#include "attend/tensor/tensor.h"

namespace attend {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

/// Writes the tensors in this order, as F32 in every build (a double is rounded), under a temporary name that is synced
/// and then takes the place of `path`: a kill or an error at any moment leaves what was there before.
void write_safetensors(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata = {});

/// The same with a checksum (base/checksum.h) of the whole file in its metadata, which verify() compares.
void write_checked_safetensors(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors,
                               const std::map<std::string, std::string>& metadata = {});

/// What a file says about one tensor; its bytes are [begin, end) of the data after the header.
struct SafetensorsEntry {
  std::string name;
  std::string dtype;  // as in the file: "F32", "BF16", "I64", …
  Shape shape;
  uint64_t begin = 0;
  uint64_t end = 0;
};

class ByteSource;

/// A file opened for reading. Its header is checked in full before anything else; memory for a tensor is allocated only
/// when that tensor is read, by which time its bytes are known to exist. Copies share the open file.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path);
  /// The same over bytes in memory, which must outlive it; `name` stands for the path in errors.
  SafetensorsFile(std::span<const std::byte> bytes, std::string name);

  /// The tensors in the order of their bytes.
  const std::vector<SafetensorsEntry>& entries() const { return entries_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  /// The entry of that name, or nullptr.
  const SafetensorsEntry* find(std::string_view name) const;

  /// Reads the file once and throws Error where it carries a checksum and is not what was written.
  void verify() const;

  /// F32, F64, F16 and BF16, rounded to `real` where that is narrower; rejects types that are not real numbers.
  Tensor read(std::string_view name) const;
  /// The same; rejects a tensor with an element that is infinite or not a number, and says which.
  Tensor read_finite(std::string_view name) const;
  /// All of them, in the order of entries().
  std::vector<NamedTensor> read_all() const;

 private:
  void read_header();
  void check_sizes() const;
  void index_names();
  void check_cover() const;
  Tensor read(const SafetensorsEntry& entry) const;

  std::string name_;
  std::shared_ptr<const ByteSource> source_;
  std::vector<SafetensorsEntry> entries_;
  std::vector<size_t> by_name_;  // places in entries_, sorted by name
  std::map<std::string, std::string> metadata_;
  uint64_t data_at_ = 0;
};

}  // namespace attend
