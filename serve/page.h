// Files that are built into the binary: the page and what it loads.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace attend::serve {

struct PageFile {
  std::string path;  ///< as in the address: "/", "/app.js"
  std::string_view type;
  std::string_view bytes;
};

std::span<const PageFile> page_files();

}  // namespace attend::serve
