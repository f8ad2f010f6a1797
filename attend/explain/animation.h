// Pictures that follow one another as one SVG, which plays by itself: offline, without a script, within a page or as a file.
#pragma once

#include <span>
#include <string_view>

#include "attend/explain/svg.h"

namespace attend::explain {

/// Each of them for so many seconds, over and over. Only the first where motion is not wanted or not known: on paper, as a
/// bitmap, and for readers who prefer less of it. `name` is that of its style, which no other on the page may have.
Fragment animated(std::span<const Fragment> frames, double seconds, std::string_view name);

}  // namespace attend::explain
