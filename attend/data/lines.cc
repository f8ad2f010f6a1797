#include "attend/data/lines.h"

#include <fstream>

#include "attend/base/error.h"

namespace attend::data {

std::vector<std::string> read_lines(const std::filesystem::path& path) {
  std::ifstream file(path);
  require(file.is_open(), path.string(), ": a file to read is wanted, got none that can be opened");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  require(!file.bad(), path.string(), ": reading failed");
  return lines;
}

}  // namespace attend::data
