// Files of several pictures, where a format takes one alone.
#pragma once

#include <filesystem>
#include <string>

namespace attend::cli {

/// Of x.svg the i-th of `files`: x.1.svg, x.2.svg; where there is only one, x.svg itself.
inline std::filesystem::path numbered(std::filesystem::path path, size_t i, size_t files) {
  if (files > 1) path.replace_extension("." + std::to_string(i + 1) + path.extension().string());
  return path;
}

}  // namespace attend::cli
