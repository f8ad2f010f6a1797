// NumPy's .npz files: zip archives of .npy files, one array each, such as ready-made features by name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attend/base/shape.h"
#include "attend/tensor/tensor.h"

namespace attend::data {

/// Arrays that are read when they are asked for; only their names and places are kept. Stored or deflated, as numpy.savez and
/// savez_compressed write them. May be used from several threads.
class NpzFile {
 public:
  /// `most_bytes`: of one array, unpacked.
  explicit NpzFile(const std::filesystem::path& path, size_t most_bytes = size_t{1} << 30);
  /// `bytes` as if they were a file of that name.
  NpzFile(std::string bytes, std::string name, size_t most_bytes = size_t{1} << 30);
  NpzFile(NpzFile&&) noexcept;
  NpzFile& operator=(NpzFile&&) noexcept;
  ~NpzFile();

  /// Names without ".npy", in the order of the file.
  const std::vector<std::string>& names() const;
  bool has(std::string_view name) const;
  /// The array of that name; its checksum and all that read_npy checks are checked.
  Tensor read(std::string_view name) const;
  /// Only its extents, for which just the array's header is unpacked.
  Shape shape(std::string_view name) const;

 private:
  class Archive;
  std::unique_ptr<Archive> archive_;
};

}  // namespace attend::data
