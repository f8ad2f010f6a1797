// `attend explain`: what a model looked at, or hung on, when it answered a text; in the terminal, or as a file.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string_view>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/base/replacement.h"
#include "attend/explain/heatmap.h"
#include "attend/explain/methods.h"
#include "attend/explain/page.h"
#include "attend/explain/picture.h"
#include "attend/explain/png.h"
#include "attend/tasks/explanation.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/images.h"
#include "cli/terminal.h"

namespace attend::cli {
namespace {

namespace fs = std::filesystem;
using explain::Trace;

struct ExplainFlags {
  std::string out, target;
  std::string colour = "auto";

  template <class Visit>
  void fields(Visit&& visit) {
    visit("out", out, "file for the picture: .html, .svg, .png or .json; without it, the terminal");
    visit("target", target, "explain this answer in place of the model's own");
    visit("colour", colour, "terminal: auto, always or never");
  }
};

struct Format {
  std::string_view name;  // the file's ending
  void (*write)(const fs::path& path, const Trace& trace, const explain::PictureOptions& options);
};

constexpr Format kFormats[] = {
    {".html",
     [](const fs::path& path, const Trace& trace, const explain::PictureOptions& options) {
       write_file(path, explain::html_picture({trace}, options));
     }},
    {".svg", [](const fs::path& path, const Trace& trace,
                const explain::PictureOptions& options) { write_file(path, explain::svg_picture(trace, options)); }},
    {".png",
     [](const fs::path& path, const Trace& trace, const explain::PictureOptions& options) {
       explain::write_png(path, explain::svg_picture(trace, options));
     }},
    {".json", [](const fs::path& path, const Trace& trace,
                 const explain::PictureOptions&) { explain::TraceWriter(path).add(trace); }},
};

bool of_a_head(const explain::TraceEvidence& line) { return line.change.ends_with(" off"); }

/// What each change does, and of the heads those that matter most.
void print_evidence(const Trace& trace) {
  constexpr std::ptrdiff_t kHeads = 6;
  if (trace.evidence.empty()) return;
  std::printf("\nis it so? mean log-probability of the answer's tokens: %.3f\n", trace.evidence[0].before);
  std::vector<explain::TraceEvidence> lines = trace.evidence;
  const auto heads = std::ranges::find_if(lines, of_a_head);
  std::stable_sort(heads, lines.end(), [](const auto& a, const auto& b) { return a.after < b.after; });
  const std::ptrdiff_t others = lines.end() - heads - kHeads;
  if (others > 0) lines.erase(lines.end() - others, lines.end());
  for (const explain::TraceEvidence& line : lines) {
    std::printf("  %8.3f  %s\n", line.after, line.change.c_str());
    if (!of_a_head(line)) std::printf("            %s\n", line.meaning.c_str());
  }
  if (others > 0) std::printf("            (%td heads matter less; --out x.json has all)\n", others);
}

void print(const Trace& trace, const explain::PictureOptions& picture, const std::string& colour) {
  std::cout << "    " << trace.source.text << "\n  → " << trace.target.text << (trace.given ? "   (given)" : "")
            << "\n\n"
            << trace.maps[0].label << ": source above, answer to the left\n\n";
  const explain::TextOptions how{true_colour(colour) ? explain::Ink::true_colour : explain::Ink::shades,
                                 terminal_width(STDOUT_FILENO, 0)};
  std::cout << explain::text_heatmap(explain::map_grid(trace, trace.maps[0], picture.level), how);
  if (picture.heads) {
    for (const explain::TraceSite& site : trace.sites) {
      if (site.keys != "source" || site.queries != "target") continue;
      for (int64_t head = 0; head < site.heads; ++head) {
        std::cout << "\nlayer " << site.layer << ", head " << head << "\n\n"
                  << explain::text_heatmap(explain::site_grid(trace, site.site, site.layer, head, picture.level), how);
      }
    }
  }
  std::cout << std::flush;
  print_evidence(trace);
}

const Format* format_of(const std::string& out) {
  const std::string ending = fs::path(out).extension().string();
  const auto found = std::ranges::find(kFormats, ending, &Format::name);
  return found == std::end(kFormats) ? nullptr : &*found;
}

/// What the flags ask of this model that it cannot do is asked wrongly.
std::string objection(const ExplainFlags& flags, const tasks::ExplainOptions& options,
                      const explain::PictureOptions& picture) {
  const std::string_view levels[] = {"words", "tokens"}, colours[] = {"auto", "always", "never"};
  if (!flags.out.empty() && !format_of(flags.out)) {
    return "--out: a file that ends in .html, .svg, .png or .json is wanted, got " + flags.out;
  }
  if (std::ranges::find(levels, picture.level) == std::end(levels)) {
    return "--level: words or tokens is wanted, got " + picture.level;
  }
  if (std::ranges::find(colours, flags.colour) == std::end(colours)) {
    return "--colour: auto, always or never is wanted, got " + flags.colour;
  }
  try {
    if (options.method != "auto") (void)explain::method_named(options.method);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

int explain(int argc, char** argv) {
  if (looks_at_images(named_folder(argc, argv))) return explain_images(argc, argv);
  std::string folder, text;
  ExplainFlags flags_of;
  explain::PictureOptions picture;
  tasks::ExplainOptions options;
  std::optional<tasks::TextModel> model;
  Flags flags("explain", "shows what a model looked at: attend explain DIR \"some text\"");
  flags.argument("DIR", folder, "folder of the model")
      .argument("TEXT", text, "what it is to answer")
      .options("explain", flags_of)
      .options("method", options)
      .options("picture", picture)
      .options("search", options.search);
  if (const auto code = flags.parse(argc, argv)) return *code;
  try {
    model.emplace(tasks::TextModel::load(folder));
  } catch (const Error& error) {
    return flags.refuse(error.what());
  }
  options.search = model->config().options.search;  // and once more, over the model's own way of searching
  if (const auto code = flags.parse(argc, argv)) return *code;
  if (const std::string wrong = objection(flags_of, options, picture); !wrong.empty()) return flags.refuse(wrong);
  if (flags.given("target")) options.target = flags_of.target;
  std::optional<Trace> trace;
  try {
    trace = tasks::explain(*model, text, options);
  } catch (const Error& error) {  // the model is whole: what it cannot explain was asked wrongly
    return flags.refuse(error.what());
  }
  if (flags_of.out.empty()) {
    print(*trace, picture, flags_of.colour);
  } else {
    format_of(flags_of.out)->write(flags_of.out, *trace, picture);
    std::cout << trace->target.text << "\n";
    std::cerr << "wrote " << flags_of.out << '\n';
  }
  return 0;
}

}  // namespace attend::cli
