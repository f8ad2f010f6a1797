// NumPy's .npy files: one array each, such as the grid of features that another network computed from an image.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "attend/tensor/tensor.h"

namespace attend::data {

/// Versions 1 to 3; float32 or float64, little-endian, in C order, every value finite. The header is checked against the
/// number of bytes before anything is allocated.
Tensor read_npy(const std::filesystem::path& path, size_t most_bytes = size_t{1} << 30);
Tensor decode_npy(std::span<const std::byte> bytes, const std::string& name);

}  // namespace attend::data
