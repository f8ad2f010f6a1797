// Numbers as idx and PNG files have them.
#pragma once

#include <cstdint>
#include <string>

namespace attend::data {

inline std::string big_endian(uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

}  // namespace attend::data
