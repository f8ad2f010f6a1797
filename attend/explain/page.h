// The interactive page that shows traces: its files, and the page as a single file.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "attend/base/embedded.h"
#include "attend/explain/image_trace.h"
#include "attend/explain/picture.h"

namespace attend::explain {

/// The files of attend/explain/page/: theme.css, the modules of the view, heatmap.css and those of the single-file
/// page.
std::span<const EmbeddedFile> page_files();

/// A self-contained HTML file that works offline: the traces, and the view of them. Throws Error if there is no trace,
/// or one that cannot be drawn. For long texts weights are left out (self-attention first), and the page says which:
/// for 650 words a Transformer has 60 MB of them.
std::string html_picture(const std::vector<Trace>& traces, const PictureOptions& options);
/// The same for images: words or glances one step after another, by button, by key or played automatically.
std::string html_picture(std::span<const ImageLook> looks);

}  // namespace attend::explain
