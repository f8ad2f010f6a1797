// Text files that are built into the program: pages, scripts, style sheets. cmake/embed.cmake makes the tables.
#pragma once

#include <span>
#include <string_view>

#include "attend/base/error.h"

namespace attend {

struct EmbeddedFile {
  std::string_view name;   ///< "heatmap.js"
  std::string_view type;   ///< as in HTTP: "text/javascript; charset=utf-8"
  std::string_view bytes;  ///< the file's contents at build time
};

/// The file of that name; throws Error if there is none.
inline const EmbeddedFile& embedded_file(std::span<const EmbeddedFile> files, std::string_view name) {
  for (const EmbeddedFile& file : files) {
    if (file.name == name) return file;
  }
  fail("embedded_file: expected the name of a file that is built in, got '", name, "'");
}

}  // namespace attend
