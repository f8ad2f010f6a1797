// Writes the pictures of traces made by hand into a folder, to look at and for a browser to open.
#include <cstdio>
#include <exception>
#include <filesystem>

#include "attend/base/replacement.h"
#include "attend/explain/heatmap.h"
#include "attend/explain/multiples.h"
#include "attend/explain/page.h"
#include "attend/explain/png.h"
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

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) return std::fputs("usage: picture_program FOLDER\n", stderr), 2;
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
  write(folder, "large", test::large_trace(500), false);
  write_file(folder / "multiples.svg", explain::svg_multiples(test::heads_trace(6, 8), "decoder.memory"));
  write_file(folder / "several.html",
             explain::html_picture({test::hindi_trace(), test::signed_trace(), test::heads_trace()}, {}));
  for (const auto& trace : {test::hindi_trace(), test::signed_trace(), test::hard_trace(), test::local_trace()}) {
    const explain::Grid grid = explain::map_grid(trace, trace.maps[0], "tokens");
    std::puts(explain::text_heatmap(grid, {}).c_str());
    std::puts(explain::text_heatmap(grid, {explain::Ink::true_colour, 80}).c_str());
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
