// Writes the pictures of traces and images made by hand into a folder, to look at and for a browser to open; and of a photo, if
// one is named.
#include <cstdio>
#include <exception>
#include <filesystem>

#include "attend/base/replacement.h"
#include "attend/data/image_file.h"
#include "attend/explain/answer_text.h"
#include "attend/explain/document_text.h"
#include "attend/explain/heatmap.h"
#include "attend/explain/image_picture.h"
#include "attend/explain/image_text.h"
#include "attend/explain/multiples.h"
#include "attend/explain/page.h"
#include "attend/explain/png.h"
#include "attend/explain/sound_text.h"
#include "tests/support/document_traces.h"
#include "tests/support/looks.h"
#include "tests/support/sound_traces.h"
#include "tests/support/traces.h"

using namespace attend;

namespace {

void write(const std::filesystem::path& folder, const char* name, const explain::Trace& trace, bool heads) {
  for (const char* level : {"words", "tokens"}) {
    const explain::PictureOptions options{level, heads};
    const std::string path = (folder / (std::string(name) + "-" + level)).string();
    const std::string svg = explain::svg_picture(trace, options);
    write_file(path + ".svg", svg);
    write_file(path + ".html", explain::html_picture({trace}, options));
    if (explain::can_write_png()) explain::write_png(path + ".png", svg);
  }
}

void write(const std::filesystem::path& folder, const char* name, const explain::ImageLook& look) {
  const std::string path = (folder / name).string(), svg = explain::svg_picture(look);
  write_file(path + ".svg", svg);
  write_file(path + ".json", explain::look_json(look));
  write_file(path + ".html", explain::html_picture(std::vector{look}));
  std::puts(explain::text_picture(look, {explain::Ink::true_colour, 100}).c_str());
  std::puts(explain::text_picture(look, {explain::Ink::shades, 100}).c_str());
  if (!explain::can_write_png()) return;
  explain::write_png(path + ".png", svg);
  write_file(path + ".gif", explain::gif_picture(look));
}

/// As if a captioner had looked at it.
explain::ImageLook photo_look(const char* path) {
  explain::ImageLook look = test::caption_look();
  look.name = std::filesystem::path(path).filename().string(), look.image = data::read_image(path);
  auto& caption = std::get<explain::CaptionLook>(look.seen);
  caption.words = {"two", "dogs", "are", "running", "through", "the", "grass", "."};
  caption.rows = caption.columns = 14;
  caption.weights = test::bells({{0.4, 0.5, 0.3},
                                 {0.35, 0.55, 0.12},
                                 {0.6, 0.5, 0.2},
                                 {0.6, 0.7, 0.15},
                                 {0.5, 0.8, 0.3},
                                 {0.2, 0.9, 0.3},
                                 {0.7, 0.9, 0.2},
                                 {0.5, 0.5, 1.0}},
                                14, 14);
  caption.log_probabilities.assign(8, -0.4);
  return look;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2 && argc != 3) return std::fputs("usage: picture_program FOLDER [PHOTO]\n", stderr), 2;
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  write(folder, "plain", test::hindi_trace(), false);
  write(folder, "signed", test::signed_trace(), false);
  write(folder, "hard", test::hard_trace(), false);
  write(folder, "local", test::local_trace(), false);
  write(folder, "heads", test::heads_trace(), true);
  write(folder, "alone", test::alone_trace(), true);
  write(folder, "self", test::self_trace(), false);
  write(folder, "broken", test::broken_trace(), false);
  write(folder, "odd", test::odd_trace(), false);
  write(folder, "tree", test::tree_trace(), false);
  write(folder, "tags", test::tags_trace(), false);
  write(folder, "large", test::large_trace(500), false);
  write(folder, "span", test::span_trace(), false);
  write(folder, "hops", test::hops_trace(), false);
  write(folder, "many-hops", test::hops_trace(60), false);
  write(folder, "summary", test::summary_trace(), false);
  write(folder, "odd-document", test::odd_document_trace(), false);
  for (const auto& trace : {test::span_trace(), test::hops_trace(60), test::summary_trace()}) {
    std::puts(explain::text_document(trace, {.width = 80}).c_str());
    std::puts(explain::text_document(trace, {explain::Ink::true_colour, 80}).c_str());
  }
  write_file(folder / "multiples.svg", explain::svg_multiples(test::heads_trace(6, 8), "decoder.memory"));
  write_file(folder / "several.html",
             explain::html_picture({test::hindi_trace(), test::signed_trace(), test::heads_trace()}, {}));
  for (const auto& trace : {test::hindi_trace(), test::signed_trace(), test::hard_trace(), test::local_trace()}) {
    const explain::Grid grid = explain::map_grid(trace, trace.maps[0], "tokens");
    std::puts(explain::text_heatmap(grid, {}).c_str());
    std::puts(explain::text_heatmap(grid, {explain::Ink::true_colour, 80}).c_str());
  }
  for (const auto& trace : {test::hindi_trace(), test::tags_trace(), test::tree_trace()}) {
    std::puts(explain::text_answer(trace, {}).c_str());
    std::puts(explain::text_answer(trace, {explain::Ink::true_colour, 60}).c_str());
  }
  write(folder, "listen", test::listen_trace(), false);
  write(folder, "listen-long", test::listen_trace(5), false);
  write(folder, "listen-ctc", test::ctc_trace(), false);
  write(folder, "listen-saliency", test::sound_saliency_trace(), false);
  write(folder, "frames", test::frames_trace(), false);
  for (const auto& trace : {test::listen_trace(2), test::ctc_trace(), test::frames_trace()}) {
    std::puts(explain::text_sound(trace, "tokens", {}).c_str());
    std::puts(explain::text_sound(trace, "words", {explain::Ink::true_colour, 90}).c_str());
  }
  write(folder, "caption", test::caption_look());
  write(folder, "caption-hard", test::hard_caption_look());
  write(folder, "glimpses", test::glimpse_look());
  write(folder, "saliency", test::saliency_look());
  write(folder, "gradcam", test::cam_look());
  write_file(folder / "images.html", explain::html_picture(std::vector{test::caption_look(), test::glimpse_look()}));
  if (argc == 3) write(folder, "photo", photo_look(argv[2]));
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
