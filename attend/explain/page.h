// The page on which traces can be looked at and pointed at: its files, and the page as one file.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "attend/base/embedded.h"
#include "attend/explain/image_trace.h"
#include "attend/explain/picture.h"

namespace attend::explain {

/// The files of attend/explain/page/: theme.css, the modules of the view, heatmap.css and those of the page that is one file.
std::span<const EmbeddedFile> page_files();

/// One HTML file with everything in it, which works without a network: the traces, and the view of them. Throws Error where
/// there is no trace, or one that cannot be drawn. Of long texts weights are left out (each side's of itself first), and the page
/// says which: of 650 words a Transformer has 60 MB of them.
std::string html_picture(const std::vector<Trace>& traces, const PictureOptions& options);
/// The same of images that were looked at: words or glances one step after another, by buttons, keys or themselves.
std::string html_picture(std::span<const ImageLook> looks);

}  // namespace attend::explain
