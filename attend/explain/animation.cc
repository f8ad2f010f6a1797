#include "attend/explain/animation.h"

#include <algorithm>

#include "attend/base/error.h"

namespace attend::explain {

Fragment animated(std::span<const Fragment> frames, double seconds, std::string_view name) {
  require(!frames.empty() && seconds > 0, "animated: expected pictures, each for some time, got ", frames.size(),
          " pictures for ", seconds, " s");
  const std::string of(name);
  const auto after = [&](size_t number) { return svg_number(seconds * static_cast<double>(number)) + "s"; };
  // Before its animation begins, only the first one is visible.
  Fragment all{.svg = "<style>." + of + ">g{visibility:hidden;animation:" + of + " " + after(frames.size()) +
                      " step-end infinite}." + of + ">g:first-child{visibility:visible}@keyframes " + of +
                      "{0%{visibility:visible}" + svg_number(100 / static_cast<double>(frames.size())) +
                      "%{visibility:hidden}}@media (prefers-reduced-motion:reduce){." + of +
                      ">g{animation:none}}@media print{." + of + ">g{animation:none}}</style>\n<g" +
                      attribute("class", of) + ">\n"};
  for (size_t i = 0; i < frames.size(); ++i) {
    const std::string hidden = i == 0 ? "" : attribute("visibility", "hidden");  // where styles are unknown
    all.svg += "<g" + hidden + attribute("style", "animation-delay:" + after(i)) + ">\n" + frames[i].svg + "</g>\n";
    all.width = std::max(all.width, frames[i].width), all.height = std::max(all.height, frames[i].height);
  }
  all.svg += "</g>\n";
  return all;
}

}  // namespace attend::explain
