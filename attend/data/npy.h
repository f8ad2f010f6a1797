// NumPy's .npy files: one array each, such as the grid of features that another network computed from an image.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "attend/base/shape.h"
#include "attend/tensor/tensor.h"

namespace attend::data {

/// Versions 1 to 3; float32 or float64, little-endian, in C order, every value finite. The header is checked against the
/// number of bytes before anything is allocated.
Tensor read_npy(const std::filesystem::path& path, size_t most_bytes = size_t{1} << 30);
Tensor decode_npy(std::span<const std::byte> bytes, const std::string& name);

/// Version 1, float32: what read_npy reads.
std::string encode_npy(const Tensor& array);

/// Only the extents; of the file, no more than this many bytes are needed.
inline constexpr size_t kLongestNpyFront = (size_t{1} << 16) + 12;
Shape read_npy_shape(const std::filesystem::path& path);
Shape decode_npy_shape(std::span<const std::byte> front, const std::string& name);

}  // namespace attend::data
