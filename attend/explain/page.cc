#include "attend/explain/page.h"

#include <map>
#include <nlohmann/json.hpp>

#include "attend/explain/document.h"
#include "attend/explain/grid.h"
#include "attend/explain/heard.h"
#include "attend/explain/labels.h"
#include "attend/explain/tree_picture.h"

namespace attend::explain {
namespace {

constexpr size_t kMostNumbers = 1'000'000;  // of weights in a page: about 6 MB

std::string file(std::string_view name) { return std::string(embedded_file(page_files(), name).bytes); }

/// A module as part of one script: what it would load precedes it. Each import is on its own line.
std::string without_imports(const std::string& module) {
  std::string script;
  for (size_t at = 0; at < module.size();) {
    const size_t end = std::min(module.find('\n', at), module.size() - 1) + 1;
    const std::string_view line = std::string_view(module).substr(at, end - at);
    if (!line.starts_with("import ")) script += line;
    at = end;
  }
  return script;
}

/// For the text of a <script>: the JSON keeps its meaning, and no tag can begin.
std::string script_json(const std::string& json) {
  std::string safe;
  for (const char c : json) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

/// Replaces each {name} with its value; values themselves are not expanded.
std::string filled(const std::string& text, const std::map<std::string, std::string>& values) {
  std::string page;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text[at] == '{' ? text.find('}', at) : std::string::npos;
    const auto found = end == std::string::npos ? values.end() : values.find(text.substr(at + 1, end - at - 1));
    if (found == values.end()) {
      page += text[at++];
    } else {
      page += found->second;
      at = end + 1;
    }
  }
  return page;
}

struct OneFile {
  std::string title, options, traces;  // the latter two are JSON
  std::vector<std::string_view> styles, modules;
};

std::string page_of(const OneFile& parts) {
  std::string style, script;
  for (const std::string_view name : parts.styles) style += file(name);
  for (const std::string_view name : parts.modules) script += without_imports(file(name));
  return filled(file("picture.html"), {{"title", xml_escaped(parts.title)},
                                       {"style", style},
                                       {"options", script_json(parts.options)},
                                       {"traces", script_json(parts.traces)},
                                       {"script", script}});
}

/// Everything that the page draws must be present: a browser would report less, and later.
void check(const Trace& trace, const PictureOptions& options) {
  if (is_sound(trace)) return (void)heard_of(trace, options.level);
  require(!trace.maps.empty() || !trace.sites.empty(),
          "picture: expected a trace with a map or a site, got one without");
  for (const TraceMap& map : trace.maps) map_grid(trace, map, options.level);
  for (const TraceSite& site : trace.sites) {
    if (site.weights.defined()) site_grid(trace, site.site, site.layer, -1, options.level);
  }
}

size_t numbers_of(const std::vector<Trace>& traces) {
  size_t count = 0;
  for (const Trace& trace : traces) {
    for (const TraceSite& site : trace.sites) count += site.weights.defined() ? site.weights.size() : 0;
  }
  return count;
}

/// Leaves out weights until the rest can be loaded: those of self-attention first, then all. Describes which; "" if
/// nothing was left out.
std::string lighten(std::vector<Trace>& traces, size_t most) {
  std::string named;
  for (const bool all : {false, true}) {
    if (numbers_of(traces) <= most) break;
    for (Trace& trace : traces) {
      for (TraceSite& site : trace.sites) {
        const bool crosses = site.queries == "target" && (site.keys.starts_with("source") || site.keys == "sentences");
        if (!site.weights.defined() || (crosses && (!all || trace.maps.empty()))) continue;
        site.weights = {}, site.centres = {};
        if (named.find(site.site) == named.npos) named += (named.empty() ? "" : ", ") + site.site;
      }
    }
  }
  if (named.empty()) return "";
  return "The text is long: the weights of " + named + " are left out of this page. A trace (--out x.json) has them.";
}

/// What was asked and what was answered; a tree is drawn, and so are a document and the labels of a sound.
std::string title_of(const Trace& trace) {
  if (is_tree(trace) || (is_sound(trace) && trace.target.kind == "tags")) return isolated(trace.source.text);
  if (!is_document(trace)) return isolated(trace.source.text) + " → " + isolated(trace.target.text);
  const std::string answer = isolated(answer_in(trace));
  return trace.inputs.empty() ? answer : isolated(trace.inputs[0].text) + " → " + answer;
}

}  // namespace

std::string html_picture(const std::vector<Trace>& all, const PictureOptions& options) {
  require(!all.empty(), "picture: expected a trace, got none");
  for (const Trace& trace : all) check(trace, options);
  std::vector<Trace> traces = all;
  const std::string left_out = lighten(traces, kMostNumbers);
  std::string list;
  for (const Trace& trace : traces) {
    list += (list.empty() ? "" : ",\n") + trace_json(trace);
  }
  const nlohmann::json chosen{{"level", options.level}, {"heads", options.heads}, {"leftOut", left_out}};
  const char* const several = traces[0].source.sound ? " sounds" : " sentences";
  const std::string title = traces.size() == 1 ? title_of(traces[0]) : std::to_string(traces.size()) + several;
  return page_of({title,
                  chosen.dump(),
                  "[" + list + "]",
                  {"theme.css", "heatmap.css", "tree.css", "document.css", "sound.css", "picture.css"},
                  {"grid.js", "draw.js", "switches.js", "canvas.js", "heatmap.js", "pointing.js", "tree.js",
                   "document.js", "heard.js", "player.js", "sound.js", "picture.js"}});
}

std::string html_picture(std::span<const ImageLook> looks) {
  require(!looks.empty(), "picture: expected an image, got none");
  std::string list;
  for (const ImageLook& look : looks) list += (list.empty() ? "" : ",\n") + look_json(look);
  const std::string title =
      looks.size() == 1 ? isolated(answer_of(looks[0])) : std::to_string(looks.size()) + " images";
  return page_of({title,
                  "{}",
                  "[" + list + "]",
                  {"theme.css", "heatmap.css", "look.css", "picture.css"},
                  {"draw.js", "switches.js", "shares.js", "look.js", "looks.js"}});
}

}  // namespace attend::explain
