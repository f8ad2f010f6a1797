#include "serve/page.h"

#include <vector>

#include "attend/base/embedded.h"

namespace attend::serve {

/// Made by cmake/embed.cmake from page/ and openapi.yaml.
std::span<const EmbeddedFile> embedded_files();

std::span<const PageFile> page_files() {
  static const std::vector<PageFile> all = [] {
    std::vector<PageFile> files;
    for (const EmbeddedFile& file : embedded_files()) {
      const std::string path = file.name == "index.html" ? "/" : "/" + std::string(file.name);
      files.push_back({path, file.name.ends_with(".yaml") ? "application/yaml" : file.type, file.bytes});
    }
    return files;
  }();
  return all;
}

}  // namespace attend::serve
