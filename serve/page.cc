#include "serve/page.h"

#include <vector>

#include "attend/base/embedded.h"
#include "attend/explain/page.h"

namespace attend::serve {

/// Made by cmake/embed.cmake from page/ and openapi.yaml.
std::span<const EmbeddedFile> embedded_files();

namespace {

/// "index.html" → "/", "lab.html" → "/lab"; others are called as they are.
std::string path_of(std::string_view name) {
  constexpr std::string_view kPage = ".html";
  if (name == "index.html") return "/";
  if (name.ends_with(kPage)) name.remove_suffix(kPage.size());
  return "/" + std::string(name);
}

void add(std::span<const EmbeddedFile> from, std::vector<PageFile>& files) {
  for (const EmbeddedFile& file : from) {
    files.push_back({path_of(file.name), file.name.ends_with(".yaml") ? "application/yaml" : file.type, file.bytes});
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
