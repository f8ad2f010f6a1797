// `attend explain` of models that look at images: where they looked, in the terminal or as a file.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <string_view>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/base/replacement.h"
#include "attend/explain/image_picture.h"
#include "attend/explain/image_text.h"
#include "attend/explain/page.h"
#include "attend/explain/png.h"
#include "attend/tasks/image_explanation.h"
#include "cli/flags.h"
#include "cli/images.h"
#include "cli/picture_files.h"
#include "cli/terminal.h"

namespace attend::cli {
namespace {

namespace fs = std::filesystem;
using explain::ImageLook;

struct ExplainFlags {
  std::string out, target, right, example;
  std::string colour = "auto";

  template <class Visit>
  void fields(Visit&& visit) {
    visit("out", out, "file for the picture: .html, .svg, .png, .gif or .json; without it, the terminal");
    visit("target", target, "explain this caption or label in place of the model's own");
    visit("right", right, "the label that would be right, to be named in the picture");
    visit("example", example, "in place of files: test images by their numbers from 0, as in 0,5,17");
    visit("colour", colour, "terminal: auto, always or never");
  }
};

struct Format {
  std::string_view name;  // the file's ending
  bool together;          // all images in one file
  void (*write)(const fs::path& path, std::span<const ImageLook> looks);
};

constexpr Format kFormats[] = {
    {".html", true,
     [](const fs::path& path, std::span<const ImageLook> looks) { write_file(path, explain::html_picture(looks)); }},
    {".svg", false,
     [](const fs::path& path, std::span<const ImageLook> looks) { write_file(path, explain::svg_picture(looks[0])); }},
    {".png", false,
     [](const fs::path& path, std::span<const ImageLook> looks) {
       explain::write_png(path, explain::svg_picture(looks[0]));
     }},
    {".gif", false,
     [](const fs::path& path, std::span<const ImageLook> looks) { write_file(path, explain::gif_picture(looks[0])); }},
    {".json", false,
     [](const fs::path& path, std::span<const ImageLook> looks) {
       write_file(path, explain::look_json(looks[0]) + "\n");
     }},
};

const Format* format_of(const std::string& out) {
  const std::string ending = fs::path(out).extension().string();
  const auto found = std::ranges::find(kFormats, ending, &Format::name);
  return found == std::end(kFormats) ? nullptr : &*found;
}

std::string objection(const ExplainFlags& flags) {
  const std::string_view colours[] = {"auto", "always", "never"};
  if (!flags.out.empty() && !format_of(flags.out)) {
    return "--out: a file that ends in .html, .svg, .png, .gif or .json is wanted, got " + flags.out;
  }
  if (std::ranges::find(colours, flags.colour) == std::end(colours)) {
    return "--colour: auto, always or never is wanted, got " + flags.colour;
  }
  return "";
}

void name_right(ImageLook& look, const std::string& right) {
  if (auto* caption = std::get_if<explain::CaptionLook>(&look.seen)) caption->references = {right};
  if (auto* glimpses = std::get_if<explain::GlimpseLook>(&look.seen)) glimpses->right = right;
  if (auto* saliency = std::get_if<explain::SaliencyLook>(&look.seen)) saliency->right = right;
}

void print(const ImageLook& look, const std::string& colour) {
  const explain::TextOptions how{true_colour(colour) ? explain::Ink::true_colour : explain::Ink::shades,
                                 terminal_width(STDOUT_FILENO, 0)};
  std::cout << explain::answer_of(look) << "\n\n" << explain::text_picture(look, how) << std::flush;
}

/// A format that takes one image alone gets files x.1.svg, x.2.svg. Says which.
void write(const std::string& out, std::span<const ImageLook> looks) {
  const Format& format = *format_of(out);
  for (const ImageLook& look : looks) std::cout << explain::answer_of(look) << '\n';
  const size_t files = format.together ? 1 : looks.size();
  for (size_t i = 0; i < files; ++i) {
    const fs::path path = numbered(out, i, files);
    format.write(path, format.together ? looks : looks.subspan(i, 1));
    std::cerr << "wrote " << path.string() << '\n';
  }
}

/// Numbers between commas; throws Error where they are none, or not below `count`.
std::vector<int64_t> numbers_of(const std::string& list, int64_t count) {
  std::vector<int64_t> numbers;
  std::istringstream parts(list);
  for (std::string part; std::getline(parts, part, ',');) {
    const bool digits =
        !part.empty() && part.size() < 10 && std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
    const int64_t number = digits ? std::stoll(part) : -1;
    require(number >= 0 && number < count, "--example: numbers of 0 to ", count - 1, " are wanted, got ", quoted(part));
    numbers.push_back(number);
  }
  return numbers;
}

std::vector<tasks::ImageExample> read_examples(const std::vector<std::string>& files) {
  std::vector<tasks::ImageExample> examples;
  for (const std::string& file : files) {
    examples.push_back(tasks::read_example(file));
    examples.back().name = fs::path(file).filename().string();
  }
  return examples;
}

}  // namespace

int explain_images(int argc, char** argv) {
  std::string folder;
  std::vector<std::string> files;
  ExplainFlags flags_of;
  KnownImages known;
  tasks::LookOptions options;
  const tasks::ImageModel model = tasks::ImageModel::load(named_folder(argc, argv));
  options.search = model.config().options.search;
  Flags flags("explain", "shows what a model looked at: attend explain DIR image.png");
  flags.argument("DIR", folder, "folder of the model")
      .arguments("IMAGES", files, "PNG or JPEG files")
      .options("explain", flags_of)
      .options("example", known)
      .options("method", options)
      .options("search", options.search);
  if (const auto code = flags.parse(argc, argv)) return *code;
  if (const std::string wrong = objection(flags_of); !wrong.empty()) return flags.refuse(wrong);
  if (files.empty() && flags_of.example.empty()) {
    return flags.refuse("an image is wanted: attend explain " + folder + " a.png, or --example 0");
  }
  if (flags.given("target")) options.target = flags_of.target;
  std::vector<tasks::ImageExample> examples = read_examples(files);
  const tasks::ImageExamples all = flags_of.example.empty() ? tasks::ImageExamples() : read_known(model, known);
  std::vector<ImageLook> looks;
  try {
    for (const int64_t number : numbers_of(flags_of.example, all.count)) examples.push_back(all.at(number));
    for (const tasks::ImageExample& example : examples) looks.push_back(tasks::look(model, example, options));
  } catch (const Error& error) {  // all is read and whole: what cannot be explained was asked wrongly
    return flags.refuse(error.what());
  }
  if (flags.given("right")) {
    for (ImageLook& look : looks) name_right(look, flags_of.right);
  }
  if (!flags_of.out.empty()) {
    write(flags_of.out, looks);
  } else {
    for (const ImageLook& look : looks) print(look, flags_of.colour);
  }
  return 0;
}

}  // namespace attend::cli
