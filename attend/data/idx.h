// IDX files, the format of MNIST and its relatives: grey images and their labels, plain or gzip.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "attend/data/image.h"

namespace attend::data {

/// Big-endian words 0x803, count, height, width, then count·height·width bytes, and nothing after them. Memory grows
/// with what is actually there, not with what the header claims.
std::vector<Image> read_idx_images(const std::filesystem::path& path);
std::vector<Image> read_idx_images(std::span<const std::byte> bytes, std::string name);

/// Big-endian words 0x801, count, then count bytes, and nothing after them.
std::vector<int32_t> read_idx_labels(const std::filesystem::path& path);
std::vector<int32_t> read_idx_labels(std::span<const std::byte> bytes, std::string name);

}  // namespace attend::data
