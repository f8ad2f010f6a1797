#include "serve/page.h"

#include <vector>

#include "attend/base/embedded.h"
#include "attend/explain/page.h"

namespace attend::serve {

/// Made by cmake/embed.cmake from page/ and openapi.yaml.
std::span<const EmbeddedFile> embedded_files();

namespace {

void add(std::span<const EmbeddedFile> from, std::vector<PageFile>& files) {
  for (const EmbeddedFile& file : from) {
    const std::string path = file.name == "index.html" ? "/" : "/" + std::string(file.name);
    files.push_back({path, file.name.ends_with(".yaml") ? "application/yaml" : file.type, file.bytes});
  }
}

}  // namespace

// The explorer shares the modules of the heat map with the pictures.
std::span<const PageFile> page_files() {
  static const std::vector<PageFile> all = [] {
    std::vector<PageFile> files;
    add(embedded_files(), files);
    add(explain::page_files(), files);
    return files;
  }();
  return all;
}

}  // namespace attend::serve
