// `attend explain`: what a model looked at, or what its answer depended on; in the terminal, or as a file.
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <optional>
#include <span>
#include <string_view>

#include "attend/base/error.h"
#include "attend/base/joined.h"
#include "attend/base/names.h"
#include "attend/base/replacement.h"
#include "attend/explain/answer_text.h"
#include "attend/explain/document.h"
#include "attend/explain/document_text.h"
#include "attend/explain/sound_text.h"
#include "attend/explain/heard.h"
#include "attend/explain/heatmap.h"
#include "attend/explain/image_picture.h"
#include "attend/explain/image_text.h"
#include "attend/explain/methods.h"
#include "attend/explain/page.h"
#include "attend/explain/picture.h"
#include "attend/explain/png.h"
#include "attend/tasks/explanation.h"
#include "attend/tasks/typed.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/input_flags.h"
#include "cli/model_argument.h"
#include "cli/quiet.h"
#include "cli/terminal.h"

namespace attend::cli {
namespace {

namespace fs = std::filesystem;
using explain::ImageLook;
using explain::Trace;
using tasks::Explanation;

struct ExplainFlags {
  explicit ExplainFlags(const tasks::TaskRow* row) : inputs(row) {}

  InputFlags inputs;
  std::string out, target, right, example;
  std::string colour = "auto";
  ThreadOption threads;

  template <class Visit>
  void fields(Visit&& visit) {
    inputs.fields(visit);
    visit("out", out, "file for the picture: .html, .svg, .png, .json, of images .gif too; without it, the terminal",
          bounds::file_to_write());
    visit("target", target, "explain this answer in place of the model's own");
    visit("right", right, "images: the answer that would be right, to be named in the picture");
    visit("example", example, "in place of texts or files: test examples by their numbers from 0, as in 0,5,17");
    visit("colour", colour, "terminal: auto, always or never", bounds::one_of({"auto", "always", "never"}));
    threads.fields(visit);
  }
};

template <class One>
std::vector<One> all_of(std::span<const Explanation> parts) {
  std::vector<One> all;
  for (const Explanation& part : parts) all.push_back(std::get<One>(part));
  return all;
}

std::string svg_of(const Explanation& part, const explain::PictureOptions& options) {
  if (const auto* look = std::get_if<ImageLook>(&part)) return explain::svg_picture(*look);
  return explain::svg_picture(std::get<Trace>(part), options);
}

std::string html_of(std::span<const Explanation> parts, const explain::PictureOptions& options) {
  if (std::holds_alternative<ImageLook>(parts[0])) return explain::html_picture(all_of<ImageLook>(parts));
  return explain::html_picture(all_of<Trace>(parts), options);
}

void write_json(const fs::path& path, std::span<const Explanation> parts) {
  if (const auto* look = std::get_if<ImageLook>(&parts[0])) return write_file(path, explain::look_json(*look) + "\n");
  explain::TraceWriter writer(path);
  for (const Trace& part : all_of<Trace>(parts)) writer.add(part);
}

/// A kind of file. Texts in parts share one where they can; of images only a page takes several.
struct Format {
  std::string_view name;  // the file's ending
  bool texts_together, images_together;
  void (*write)(const fs::path& path, std::span<const Explanation> parts, const explain::PictureOptions& options);
};

constexpr Format kFormats[] = {
    {".html", true, true,
     [](const fs::path& path, std::span<const Explanation> parts, const explain::PictureOptions& options) {
       write_file(path, html_of(parts, options));
     }},
    {".svg", false, false,
     [](const fs::path& path, std::span<const Explanation> parts, const explain::PictureOptions& options) {
       write_file(path, svg_of(parts[0], options));
     }},
    {".png", false, false,
     [](const fs::path& path, std::span<const Explanation> parts, const explain::PictureOptions& options) {
       explain::write_png(path, svg_of(parts[0], options));
     }},
    {".json", true, false,
     [](const fs::path& path, std::span<const Explanation> parts, const explain::PictureOptions&) {
       write_json(path, parts);
     }},
    {".gif", false, false,
     [](const fs::path& path, std::span<const Explanation> parts, const explain::PictureOptions&) {
       write_file(path, explain::gif_picture(std::get<ImageLook>(parts[0])));
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

void print(const ImageLook& look, const explain::PictureOptions&, const explain::TextOptions& how) {
  std::cout << explain::answer_of(look) << "\n\n" << explain::text_picture(look, how) << std::flush;
}

void print(const Trace& trace, const explain::PictureOptions& picture, const explain::TextOptions& how) {
  if (trace.part > 0) std::cout << (trace.part > 1 ? "\n" : "") << "part " << trace.part << "\n\n";
  if (explain::is_document(trace)) {
    std::cout << explain::text_document(trace, how);
  } else if (explain::is_sound(trace)) {
    std::cout << explain::text_sound(trace, picture.level, how);
  } else {
    const explain::Grid map = explain::map_grid(trace, trace.maps[0], picture.level);
    std::cout << explain::text_answer(trace, how) << "\n"
              << trace.maps[0].label << ": " << side_named(trace.maps[0].keys) << " above, "
              << side_named(trace.maps[0].queries) << " to the left\n\n"
              << explain::text_heatmap(map, how) << "\n"
              << explain::text_legend(map, how);
  }
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

std::string answer_of(const Explanation& part) {
  const auto* look = std::get_if<ImageLook>(&part);
  return look ? explain::answer_of(*look) : std::get<Trace>(part).target.text;
}

/// Of x.svg the i-th of `files`: x.1.svg, x.2.svg; where there is only one, x.svg itself.
fs::path numbered(fs::path path, size_t i, size_t files) {
  if (files > 1) path.replace_extension("." + std::to_string(i + 1) + path.extension().string());
  return path;
}

/// Writes all of them; a format that takes one alone gets files x.1.svg, x.2.svg. Says which.
void write(const std::string& out, std::span<const Explanation> parts, const explain::PictureOptions& picture) {
  const Format& format = *format_of(out);
  const bool together = std::holds_alternative<ImageLook>(parts[0]) ? format.images_together : format.texts_together;
  const size_t files = together ? 1 : parts.size();
  for (size_t i = 0; i < files; ++i) {
    const fs::path path = numbered(out, i, files);
    format.write(path, together ? parts : parts.subspan(i, 1), picture);
    note("wrote " + path.string());
  }
}

/// What is wrong with these flags; "" if nothing is.
std::string objection(const ExplainFlags& flags, bool image) {
  if (!flags.out.empty() && (!format_of(flags.out) || (!image && format_of(flags.out)->name == ".gif"))) {
    return std::string("--out: expected a file that ends in .html, .svg, .png") + (image ? ", .gif" : "") +
           " or .json, got " + flags.out;
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

void name_right(ImageLook& look, const std::string& right) {
  if (auto* caption = std::get_if<explain::CaptionLook>(&look.seen)) caption->references = {right};
  if (auto* glimpses = std::get_if<explain::GlimpseLook>(&look.seen)) glimpses->right = right;
  if (auto* saliency = std::get_if<explain::SaliencyLook>(&look.seen)) saliency->right = right;
}

std::string in_seconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f s", seconds);
  return text;
}

/// Why it is explained in parts: "the text has more than 100 tokens".
std::string too_long(const tasks::TaskModel& model, const tasks::Ready& part) {
  if (part.is_sound()) return "the sound is longer than " + in_seconds(model.config().options.sound.longest);
  return "the text has more than " + std::to_string(model.longest()) + " tokens";
}

/// The part of an example as one of its own.
tasks::Example alone(const tasks::TaskModel& model, const tasks::Example& whole, const tasks::Ready& part) {
  if (!part.is_sound()) return {.inputs = {part.text}};
  tasks::Example one{.inputs = {}, .name = whole.name + " from " + in_seconds(part.begins)};
  if (part.sound) {
    one.inputs.push_back(data::Sound(*part.sound));
  } else {  // a part has frames as the network hears them
    const auto begin = std::llround(part.begins * 1000 / model.config().options.features.hop);
    one.inputs.push_back(std::get<Tensor>(whole.inputs[0]).rows(begin, begin + part.frames.dim(0)));
  }
  return one;
}

/// What is explained: a text or a sound in the parts in which a network can take it (an answer that is given belongs to all of
/// it), or one image after another.
std::vector<tasks::Example> parts_of(const tasks::TaskModel& model, const tasks::Example& example, bool given) {
  const std::vector<tasks::Ready> parts = model.parts(example);
  if (parts.size() < 2) return {example};
  if (model.reads_documents()) {
    note("attend explain: the " + model.input().name() + " was read in " + std::to_string(parts.size()) +
         " windows; shown is the one that the answer is from");
    return {example};
  }
  const char* const how = parts[0].is_sound() ? " parts, each by itself" : " parts, as it is answered";
  note("attend explain: " + too_long(model, parts[0]) + ", the longest that training saw; explained in " +
       (given ? "one piece, as --target is one answer to it" : std::to_string(parts.size()) + how));
  if (given) return {example};
  std::vector<tasks::Example> all;
  for (const tasks::Ready& part : parts) all.push_back(alone(model, example, part));
  return all;
}

std::vector<Explanation> explained(const tasks::TaskModel& model, const tasks::Example& example,
                                   const tasks::ExplainOptions& options) {
  std::vector<Explanation> all;
  const std::vector<tasks::Example> parts = parts_of(model, example, options.target.has_value());
  for (const tasks::Example& part : parts) {
    all.push_back(tasks::explain(model, part, options));
    auto* trace = std::get_if<Trace>(&all.back());
    if (trace && parts.size() > 1) trace->part = static_cast<int64_t>(all.size());
    if (trace && !trace->ended && !options.target) {
      note("attend explain: the answer reached its greatest length before the end (--max-length)");
    }
  }
  return all;
}

/// What is wrong with the texts that were given to a task of several inputs; "" if nothing is.
std::string texts_objection(const tasks::TaskRow& row, const InputFlags& inputs, size_t given) {
  if (row.inputs.size() == 1 || given == 0 || inputs.any() || given == row.inputs.size()) return inputs.objection();
  const std::string first(row.inputs[0].name), last(row.inputs.back().name);
  return "say what the model is to answer: --" + first + " FILE and a " + last + ", or " + tasks::input_names(row) +
         " as " + std::to_string(row.inputs.size()) + " texts";
}

/// The inputs that come before those of a person's words, and these.
tasks::Example example_of(const tasks::TaskRow& row, std::vector<std::string> texts,
                          const std::vector<std::string>& given) {
  const bool one = row.inputs.size() - texts.size() == 1;
  if (one) texts.push_back(joined(given, " "));
  if (!one) texts.insert(texts.end(), given.begin(), given.end());
  tasks::Example example;
  for (size_t i = 0; i < texts.size(); ++i) {
    tasks::check_typed("explain", row.inputs[i].name, texts[i]);
    example.inputs.emplace_back(std::move(texts[i]));
  }
  return example;
}

/// What is to be named of one input: "a text", "an image file".
std::string article_of(const tasks::InputRow& input) {
  if (input.streamed) return "a text";
  return std::string(input.is_image() ? "an " : "a ") + std::string(input.name) + " file";
}

/// What a person gave: texts are one text, files one image each, numbers test examples.
std::vector<tasks::Example> examples_of(const tasks::TaskModel& model, const std::vector<std::string>& before,
                                        const std::vector<std::string>& given, const std::string& numbers,
                                        const tasks::TestFiles& files) {
  std::vector<tasks::Example> examples;
  if (!given.empty() && model.reads_documents()) {
    examples.push_back(example_of(model.row(), before, given));
  } else if (!given.empty() && model.row().input().streamed) {
    examples.push_back({.inputs = {joined(given, " ")}});
  } else {
    for (const std::string& file : given) {
      std::error_code problem;
      require_usage(fs::exists(file, problem), "there is no file ", quoted(file));
      examples.push_back({.inputs = {model.input().typed(file)}, .name = fs::path(file).filename().string()});
    }
  }
  if (numbers.empty()) return examples;
  const tasks::Examples all = tasks::read_test(model.config(), files, model.output().labels());
  for (const int64_t number : numbers_of(numbers, all.count)) examples.push_back(all.at(number));
  return examples;
}

}  // namespace

int explain(int argc, char** argv) {
  const ModelArgument named = model_argument(argc, argv);
  std::string folder;
  std::vector<std::string> given;
  ExplainFlags flags_of(named.row());
  TestFlags known{.row = named.row()};
  explain::PictureOptions picture;
  tasks::ExplainOptions options;
  options.search = named.search();
  if (named.config && named.config->reads_characters()) picture.level = "tokens";
  Flags flags("explain", "shows what a model looked at: attend explain DIR \"some text\", attend explain DIR image.png");
  flags.argument("DIR", folder, "folder of the model")
      .arguments("TEXT|FILES", given, "what it is to answer; several words are one text")
      .options("explain", flags_of);
  if (!known.is_pairs()) flags.options("example", known);  // where files are pairs, --target is the answer to explain
  flags.options("method", options)
      .options("picture", picture)
      .options("search", options.search);
  if (!named.config) flags.defaults_are(kModelsOwn);
  if (const auto code = flags.parse(argc, argv)) return *code;
  require_first(named, folder);
  if (given.empty() && flags_of.example.empty()) {
    const bool about = named.row()->inputs.size() > 1;
    return flags.refuse("say what the model is to answer: " +
                        (about ? "a " + std::string(named.row()->inputs.back().name) : article_of(named.row()->input())) +
                        ", or --example 0");
  }
  if (const std::string wrong = texts_objection(*named.row(), flags_of.inputs, given.size()); !wrong.empty()) {
    return flags.refuse(wrong);
  }
  const bool image = named.row()->input().is_image();
  complete_search(flags, options.search);
  if (const std::string wrong = objection(flags_of, image); !wrong.empty()) return flags.refuse(wrong);
  flags.check_files();
  flags_of.threads.apply();
  if (flags.given("target")) options.target = flags_of.target;
  const std::vector<std::string> before = flags_of.inputs.read();
  const tasks::TaskModel model = named.load();
  std::vector<Explanation> parts;
  const std::vector<tasks::Example> examples = examples_of(model, before, given, flags_of.example, known.files);
  flags.check([&] {
    try {
      for (const tasks::Example& example : examples) {
        std::ranges::move(explained(model, example, options), std::back_inserter(parts));
      }
    } catch (const OptionError&) {
      throw;
    } catch (const Error& error) {  // all is read and whole: what cannot be explained was asked wrongly
      const std::vector<std::string> methods = tasks::explainable(model).methods;
      require_usage(image || !flags.given("method") || std::ranges::find(methods, options.method) != methods.end(),
                    "--method: this model has ", joined(methods), "; got ", quoted(options.method));
      throw UsageError(error.what());
    }
  });
  if (const auto* trace = std::get_if<Trace>(&parts[0]); trace && !trace->maps.empty()) {
    if (const std::string unused = unused_part(flags, trace->maps[0].method); !unused.empty()) return flags.refuse(unused);
  }
  for (Explanation& part : parts) {
    if (flags.given("right") && image) name_right(std::get<ImageLook>(part), flags_of.right);
  }
  const explain::TextOptions how{true_colour(flags_of.colour) ? explain::Ink::true_colour : explain::Ink::shades,
                                 terminal_width(STDOUT_FILENO, 0)};
  std::string answer;
  for (const Explanation& part : parts) {
    if (flags_of.out.empty()) std::visit([&](const auto& one) { print(one, picture, how); }, part);
    answer += (answer.empty() ? "" : image ? "\n" : " ") + answer_of(part);
  }
  if (flags_of.out.empty()) return 0;
  std::cout << answer << '\n';
  write(flags_of.out, parts, picture);
  return 0;
}

}  // namespace attend::cli
