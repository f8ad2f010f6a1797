// `attend explain`: what a model looked at, or hung on, when it answered a text; in the terminal, or as a file.
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <optional>
#include <span>
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
#include "cli/picture_files.h"
#include "cli/searching.h"
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
  bool together;          // all parts of a text in one file
  void (*write)(const fs::path& path, std::span<const Trace> parts, const explain::PictureOptions& options);
};

constexpr Format kFormats[] = {
    {".html", true,
     [](const fs::path& path, std::span<const Trace> parts, const explain::PictureOptions& options) {
       write_file(path, explain::html_picture({parts.begin(), parts.end()}, options));
     }},
    {".svg", false,
     [](const fs::path& path, std::span<const Trace> parts, const explain::PictureOptions& options) {
       write_file(path, explain::svg_picture(parts[0], options));
     }},
    {".png", false,
     [](const fs::path& path, std::span<const Trace> parts, const explain::PictureOptions& options) {
       explain::write_png(path, explain::svg_picture(parts[0], options));
     }},
    {".json", true,
     [](const fs::path& path, std::span<const Trace> parts, const explain::PictureOptions&) {
       explain::TraceWriter writer(path);
       for (const Trace& part : parts) writer.add(part);
     }},
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

std::string_view side_named(const std::string& side) {
  return side == "target" ? "answer" : side == "before" ? "what it had said" : "source";
}

/// Every head that looks at the source, each in a scale of its own.
void print_heads(const Trace& trace, const std::string& level, const explain::TextOptions& how) {
  for (const explain::TraceSite& site : trace.sites) {
    if (!site.keys.starts_with("source") || site.queries != "target") continue;
    for (int64_t head = 0; head < site.heads; ++head) {
      const explain::Grid grid = explain::site_grid(trace, site.site, site.layer, head, level);
      std::cout << "\nattention of " << grid.label << "\n\n"
                << explain::text_heatmap(grid, how) << "\n"
                << explain::text_legend(grid, how);
    }
  }
}

void print(const Trace& trace, const explain::PictureOptions& picture, const std::string& colour) {
  if (trace.part > 0) std::cout << (trace.part > 1 ? "\n" : "") << "part " << trace.part << "\n\n";
  std::cout << "    " << trace.source.text << "\n  → " << trace.target.text << (trace.given ? "   (given)" : "")
            << "\n\n"
            << trace.maps[0].label << ": " << side_named(trace.maps[0].keys) << " above, "
            << side_named(trace.maps[0].queries) << " to the left\n\n";
  const explain::TextOptions how{true_colour(colour) ? explain::Ink::true_colour : explain::Ink::shades,
                                 terminal_width(STDOUT_FILENO, 0)};
  const explain::Grid map = explain::map_grid(trace, trace.maps[0], picture.level);
  std::cout << explain::text_heatmap(map, how) << "\n" << explain::text_legend(map, how);
  if (picture.heads) print_heads(trace, picture.level, how);
  std::cout << std::flush;
  print_evidence(trace);
}

const Format* format_of(const std::string& out) {
  std::string ending = fs::path(out).extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto found = std::ranges::find(kFormats, ending, &Format::name);
  return found == std::end(kFormats) ? nullptr : &*found;
}

/// Writes all parts of a text; a format that takes one alone gets files x.1.svg, x.2.svg. Says which.
void write(const std::string& out, std::span<const Trace> parts, const explain::PictureOptions& picture) {
  const Format& format = *format_of(out);
  const size_t files = format.together ? 1 : parts.size();
  for (size_t i = 0; i < files; ++i) {
    const fs::path path = numbered(out, i, files);
    format.write(path, format.together ? parts : parts.subspan(i, 1), picture);
    std::cerr << "wrote " << path.string() << '\n';
  }
}

/// What the flags ask of this model that it cannot do is asked wrongly.
std::string objection(const ExplainFlags& flags, const tasks::ExplainOptions& options,
                      const explain::PictureOptions& picture) {
  const std::string_view levels[] = {"words", "tokens"}, colours[] = {"auto", "always", "never"};
  const fs::path folder = fs::path(flags.out).parent_path();
  if (!flags.out.empty() && !format_of(flags.out)) {
    return "--out: a file that ends in .html, .svg, .png or .json is wanted, got " + flags.out;
  }
  if (!folder.empty() && !fs::is_directory(folder)) {
    return "--out: a folder that is there is wanted, there is no " + folder.string();
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

/// Flags about attention that were given where another method was used; "" if none was.
std::string unused_part(const Flags& flags, const std::string& method) {
  for (const char* name : {"site", "layer", "head", "combine"}) {
    if (method != "attention" && flags.given(name)) {
      return "--" + std::string(name) + " chooses among attentions, but the method is " + method;
    }
  }
  return "";
}

/// What a text is explained in: the parts in which `attend run` answers it. An answer that is given belongs to all of it.
std::vector<std::string> parts_of(const tasks::TextModel& model, const std::string& text, bool given) {
  std::vector<std::string> parts = model.parts(text);
  if (parts.size() < 2) return {text};
  std::cerr << "attend explain: the text has more than " << model.longest()
            << " tokens, the longest that training saw; explained in ";
  if (!given) {
    std::cerr << parts.size() << " parts, as it is answered\n";
    return parts;
  }
  std::cerr << "one piece, as --target is one answer to it\n";
  return {text};
}

std::vector<Trace> explained(const tasks::TextModel& model, const std::vector<std::string>& parts,
                             const tasks::ExplainOptions& options) {
  std::vector<Trace> traces;
  for (const std::string& part : parts) {
    traces.push_back(tasks::explain(model, part, options));
    if (parts.size() > 1) traces.back().part = static_cast<int64_t>(traces.size());
    if (!traces.back().ended && !options.target) {
      std::cerr << "attend explain: the answer reached its greatest length before the end (--max-length)\n";
    }
  }
  return traces;
}

}  // namespace

int explain(int argc, char** argv) {
  if (looks_at_images(named_folder(argc, argv))) return explain_images(argc, argv);
  std::string folder;
  std::vector<std::string> words;
  ExplainFlags flags_of;
  explain::PictureOptions picture;
  tasks::ExplainOptions options;
  std::optional<tasks::TextModel> model;
  Flags flags("explain",
              "shows what a model looked at: attend explain DIR \"some text\" (of a model that looks at images: attend "
              "explain DIR --help)");
  flags.argument("DIR", folder, "folder of the model")
      .arguments("TEXT", words, "what it is to answer; several words are one text")
      .options("explain", flags_of)
      .options("method", options)
      .options("picture", picture)
      .options("search", options.search)
      .defaults_are(kModelsOwn);
  if (const auto code = flags.parse(argc, argv)) return *code;
  if (words.empty()) return flags.refuse("TEXT is wanted: what the model is to answer");
  try {
    model.emplace(tasks::TextModel::load(folder));
  } catch (const Error& error) {
    return flags.refuse(error.what());
  }
  options.search = model->config().options.search;  // and once more, over the model's own way of searching
  if (const auto code = flags.parse(argc, argv)) return *code;
  if (const std::string wrong = objection(flags_of, options, picture); !wrong.empty()) return flags.refuse(wrong);
  if (flags.given("target")) options.target = flags_of.target;
  std::vector<Trace> traces;
  try {
    traces = explained(*model, parts_of(*model, tasks::joined(words), options.target.has_value()), options);
  } catch (const Error& error) {  // the model is whole: what it cannot explain was asked wrongly
    return flags.refuse(error.what());
  }
  if (const std::string unused = unused_part(flags, traces[0].maps[0].method); !unused.empty()) {
    return flags.refuse(unused);
  }
  for (const Trace& trace : traces) {
    if (flags_of.out.empty()) print(trace, picture, flags_of.colour);
  }
  if (!flags_of.out.empty()) {
    std::string answer;
    for (const Trace& trace : traces) answer += (answer.empty() ? "" : " ") + trace.target.text;
    std::cout << answer << "\n";
    write(flags_of.out, traces, picture);
  }
  return 0;
}

}  // namespace attend::cli
