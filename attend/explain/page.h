// The page on which traces can be looked at and pointed at: its files, and the page as one file.
#pragma once

#include <span>

#include "attend/base/embedded.h"

namespace attend::explain {

/// The files of attend/explain/page/: theme.css, grid.js, heatmap.js, heatmap.css and those of the page that is one file.
std::span<const EmbeddedFile> page_files();

}  // namespace attend::explain
