// `attend explain` of models that look at images: where they looked, in the terminal or as a file.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <string_view>

#include "attend/base/error.h"
#include "attend/base/replacement.h"
#include "attend/explain/image_picture.h"
#include "attend/explain/image_text.h"
#include "attend/explain/page.h"
#include "attend/explain/png.h"
#include "attend/tasks/image_explanation.h"
#include "cli/flags.h"
#include "cli/images.h"
#include "cli/terminal.h"

namespace attend::cli {
namespace {

namespace fs = std::filesystem;
using explain::ImageLook;

struct ExplainFlags {
  std::string out, target, right;
  std::string colour = "auto";

  template <class Visit>
  void fields(Visit&& visit) {
    visit("out", out, "file for the picture: .html, .svg, .png, .gif or .json; without it, the terminal");
    visit("target", target, "explain this caption or label in place of the model's own");
    visit("right", right, "the label that would be right, to be named in the picture");
    visit("colour", colour, "terminal: auto, always or never");
  }
};

struct Format {
  std::string_view name;  // the file's ending
  void (*write)(const fs::path& path, const ImageLook& look);
};

constexpr Format kFormats[] = {
    {".html",
     [](const fs::path& path, const ImageLook& look) { write_file(path, explain::html_picture(std::span(&look, 1))); }},
    {".svg", [](const fs::path& path, const ImageLook& look) { write_file(path, explain::svg_picture(look)); }},
    {".png", [](const fs::path& path, const ImageLook& look) { explain::write_png(path, explain::svg_picture(look)); }},
    {".gif", [](const fs::path& path, const ImageLook& look) { write_file(path, explain::gif_picture(look)); }},
    {".json", [](const fs::path& path, const ImageLook& look) { write_file(path, explain::look_json(look) + "\n"); }},
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

}  // namespace

int explain_images(int argc, char** argv) {
  std::string folder, file;
  ExplainFlags flags_of;
  tasks::LookOptions options;
  const tasks::ImageModel model = tasks::ImageModel::load(named_folder(argc, argv));
  options.search = model.config().options.search;
  Flags flags("explain", "shows what a model looked at: attend explain DIR image.png");
  flags.argument("DIR", folder, "folder of the model")
      .argument("IMAGE", file, "PNG or JPEG file")
      .options("explain", flags_of)
      .options("method", options)
      .options("search", options.search);
  if (const auto code = flags.parse(argc, argv)) return *code;
  if (const std::string wrong = objection(flags_of); !wrong.empty()) return flags.refuse(wrong);
  if (flags.given("target")) options.target = flags_of.target;
  const tasks::ImageExample example = tasks::read_example(file);
  ImageLook look;
  try {
    look = tasks::look(model, example, options);
  } catch (const Error& error) {  // the model is whole: what it cannot explain was asked wrongly
    return flags.refuse(error.what());
  }
  look.name = fs::path(file).filename().string();
  if (flags.given("right")) name_right(look, flags_of.right);
  if (flags_of.out.empty()) {
    print(look, flags_of.colour);
  } else {
    format_of(flags_of.out)->write(flags_of.out, look);
    std::cout << explain::answer_of(look) << "\n";
    std::cerr << "wrote " << flags_of.out << '\n';
  }
  return 0;
}

}  // namespace attend::cli
