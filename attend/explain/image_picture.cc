#include "attend/explain/image_picture.h"

#include <algorithm>
#include <cmath>

#include "attend/base/error.h"
#include "attend/explain/colours.h"
#include "attend/explain/gif.h"
#include "attend/explain/image_draw.h"
#include "attend/explain/labels.h"
#include "attend/explain/png.h"

namespace attend::explain {
namespace {

constexpr double kLookWide = 1040;      // of the whole, where there is much to show
constexpr double kLookNarrowest = 420;  // of its texts
constexpr double kTile = 160, kStage = 320, kColumn = 176, kLookGap = 16, kMargin = 20;
constexpr std::string_view kWrong = "#a65f2f";

/// Side by side, in as many rows as the width asks for.
Fragment flowing(const std::vector<Fragment>& parts, double width) {
  Fragment all;
  double x = 0, y = 0, high = 0;
  for (const Fragment& part : parts) {
    if (x > 0 && x + part.width > width) x = 0, y += high + kLookGap, high = 0;
    all.svg += placed(part, x, y);
    high = std::max(high, part.height);
    all.width = std::max(all.width, x + part.width);
    x += part.width + kLookGap;
  }
  all.height = y + high;
  return all;
}

Fragment side_by_side(const Fragment& a, const Fragment& b, double gap) {
  return {placed(a, 0, 0) + placed(b, a.width + gap, 0), a.width + gap + b.width, std::max(a.height, b.height)};
}

std::string about(const ImageLook& look) {
  std::string text;
  const std::string network = look.network == look.task ? "" : look.network;
  for (const std::string& part : {look.name, look.model, look.task, network}) {
    if (!part.empty()) text += (text.empty() ? "" : " · ") + part;
  }
  return text;
}

/// "7 (93 %)", and in another colour what it should have been.
Fragment heading(const std::string& answer, std::optional<double> probability, const std::string& right, double width) {
  const std::string said = answer + (probability ? " (" + percent(*probability) + ")" : "");
  const bool wrong = !right.empty() && right != answer;
  return stacked({paragraph(said, width, {kTitle, kInk, true}),
                  wrong ? paragraph("wrong: it is " + right, width, {kText, kWrong}) : Fragment{}},
                 2);
}

std::optional<double> probability_of(const GlimpseLook& look) {
  const auto label = std::ranges::find(look.labels, look.answer);
  if (label == look.labels.end()) return std::nullopt;
  return look.glances.back().probabilities[static_cast<size_t>(label - look.labels.begin())];
}

Fragment captioned(Fragment picture, const std::string& text, const std::string& beside) {
  picture.svg += "<text" + attribute("x", picture.width / 2) + attribute("y", picture.height + 18) +
                 attribute("font-size", kText) + attribute("text-anchor", "middle") + attribute("fill", kInk) + ">" +
                 xml_escaped(isolated(shortened_picture(text, picture.width / kText))) + "</text>\n";
  picture.height += 24;
  if (beside.empty()) return picture;
  picture.svg += "<text" + attribute("x", picture.width / 2) + attribute("y", picture.height + 9) +
                 attribute("font-size", kSmall) + attribute("text-anchor", "middle") + attribute("fill", kFaint) + ">" +
                 xml_escaped(beside) + "</text>\n";
  picture.height += 14;
  return picture;
}

Fragment references_of(const CaptionLook& caption, double width) {
  constexpr size_t kMost = 5;
  std::vector<Fragment> lines;
  for (size_t i = 0; i < std::min(kMost, caption.references.size()); ++i) {
    lines.push_back(paragraph("· " + caption.references[i], width, {kSmall, kFaint}, 2));
  }
  if (lines.empty()) return {};
  lines.insert(lines.begin(), paragraph("what people said of it", width, {kSmall, kInk}));
  return stacked(lines, 1);
}

Fragment drawn(const ImageLook& look, const CaptionLook& caption) {
  std::vector<Fragment> tiles{captioned(draw_image(look.image, kTile), "", "")};
  for (size_t i = 0; i < caption.words.size(); ++i) {
    const std::string sure = caption.log_probabilities.empty() ? "" : percent(std::exp(caption.log_probabilities[i]));
    tiles.push_back(captioned(draw_word(look, caption, i, kTile), caption.words[i], sure));
  }
  const Fragment all = flowing(tiles, kLookWide);
  const double width = std::max(kLookNarrowest, all.width);
  const std::string legend = caption.hard ? "frame: the cell that the word chose; under a word, its probability"
                             : caption.method == "attention"
                                 ? "the clearer, the more the word looked at it, of the largest weight that it has "
                                   "anywhere; under a word, its probability"
                                 : caption.label + ": the clearer, the more; under a word, its probability";
  return stacked(
      {paragraph(answer_of(look), width, {kTitle, kInk, true}), paragraph(about(look), width, {kText, kFaint}), all,
       paragraph(legend, width, {kSmall, kFaint}), references_of(caption, width)},
      kLookGap);
}

/// The image, and for each glance P(tile | state) over it.
Fragment tiles_drawn(const ImageLook& look, const GlimpseLook& glimpses) {
  std::vector<Fragment> columns{stacked({draw_image(look.image, kColumn), Fragment{}}, 6)};
  for (size_t i = 0; i < glimpses.glances.size(); ++i) {
    columns.push_back(stacked({draw_tiles(look, glimpses, i, kColumn), draw_glance(glimpses, i, kColumn)}, 6));
  }
  const Fragment all = flowing(columns, 4 * kColumn + 3 * kLookGap);
  const bool hard = !glimpses.glances[0].drawn.empty();
  const std::string legend = std::string(
                                 "the clearer a tile, the likelier it was to be looked at, given what had been "
                                 "seen, of the likeliest one; ") +
                             (hard ? "frame: the tile that was read" : "all of them were read, each by its share") +
                             "; bars: the likeliest labels after each glance";
  return stacked(
      {heading(glimpses.answer, probability_of(glimpses), glimpses.right, all.width),
       paragraph(about(look), all.width, {kText, kFaint}), all, paragraph(legend, all.width, {kSmall, kFaint})},
      kLookGap);
}

Fragment drawn(const ImageLook& look, const GlimpseLook& glimpses) {
  if (glimpses.rows > 0) return tiles_drawn(look, glimpses);
  const Fragment path = draw_path(look, glimpses, glimpses.glances.size(), kStage, false);
  std::vector<Fragment> glances;
  for (size_t i = 0; i < glimpses.glances.size(); ++i) glances.push_back(draw_glance(glimpses, i, kColumn));
  const Fragment strip = flowing(glances, 3 * kColumn + 2 * kLookGap);
  const Fragment all = side_by_side(path, strip, 1.5 * kLookGap);
  const std::string legend =
      "dots: where it looked, in order; squares: how much it saw, coarsely in the large ones; bars: the likeliest "
      "labels "
      "after each glance";
  return stacked(
      {heading(glimpses.answer, probability_of(glimpses), glimpses.right, all.width),
       paragraph(about(look), all.width, {kText, kFaint}), all, paragraph(legend, all.width, {kSmall, kFaint})},
      kLookGap);
}

Fragment ramp() {
  constexpr double kSwatch = 12;
  constexpr int kSteps = 32;
  Fragment fragment{"", 0, kSwatch + 4};
  const auto text = [&](const std::string& words) {
    fragment.svg += "<text" + attribute("x", fragment.width) + attribute("y", 0.85 * kSwatch) +
                    attribute("font-size", kSmall) + attribute("fill", kFaint) + ">" + words + "</text>\n";
    fragment.width += kSmall * text_width(words) + 6;
  };
  text("nothing");
  for (int i = 0; i < kSteps; ++i) {
    fragment.svg += "<rect" + attribute("x", fragment.width + 4 * i) + attribute("width", 4.2) +
                    attribute("height", kSwatch) + attribute("fill", hex(sequential(i / (kSteps - 1.0)))) + "/>\n";
  }
  fragment.width += 4 * kSteps + 6;
  text("most");
  return fragment;
}

Fragment drawn(const ImageLook& look, const SaliencyLook& saliency) {
  constexpr double kPanel = 260;
  const Fragment all = flowing({captioned(draw_image(look.image, kPanel), "the image", ""),
                                captioned(draw_map_over(look, saliency, kPanel), "what the answer depended on", ""),
                                captioned(draw_map(look, saliency, kPanel), "the map alone", "")},
                               kLookWide);
  return stacked({heading(saliency.answer, saliency.probability, saliency.right, all.width),
                  paragraph(about(look), all.width, {kText, kFaint}), all,
                  paragraph(saliency.label, all.width, {kText, kFaint}), ramp()},
                 kLookGap);
}

/// The words in lines; the one at `at` stands out, those after it are still to come.
Fragment words_up_to(const CaptionLook& caption, size_t at, double width) {
  constexpr double kFont = 15, kLine = 26, kPad = 5;
  Fragment lines{"", width, kLine};
  double x = 0, y = 0;
  for (size_t i = 0; i < caption.words.size(); ++i) {
    const std::string word = shortened_picture(caption.words[i], (width - 2 * kPad) / kFont);
    const double wide = kFont * text_width(word) + 2 * kPad;
    if (x > 0 && x + wide > width) x = 0, y += kLine;
    if (i == at) {
      lines.svg += "<rect" + attribute("x", x) + attribute("y", y) + attribute("width", wide) +
                   attribute("height", kLine - 4) + attribute("rx", 4.0) + attribute("fill", kAccent) + "/>\n";
    }
    const std::string_view ink = i == at ? "#ffffff" : i < at ? kInk : "#b4bcc6";
    lines.svg += "<text" + attribute("x", x + wide / 2) + attribute("y", y + 16) + attribute("font-size", kFont) +
                 attribute("text-anchor", "middle") + attribute("fill", ink) + ">" + xml_escaped(isolated(word)) +
                 "</text>\n";
    x += wide;
  }
  lines.height = y + kLine;
  return lines;
}

Fragment step_of(const ImageLook& look, const CaptionLook& caption, size_t step) {
  const Fragment image = draw_word(look, caption, step, kStage);
  return stacked({image, words_up_to(caption, step, std::max(image.width, kStage))}, 10);
}

Fragment step_of(const ImageLook& look, const GlimpseLook& glimpses, size_t step) {
  Fragment glance = draw_glance(glimpses, step, kColumn);
  for (size_t i = 0; i < glimpses.glances.size(); ++i) {
    glance.height = std::max(glance.height, draw_glance(glimpses, i, kColumn).height);
  }
  if (glimpses.rows > 0) return side_by_side(draw_tiles(look, glimpses, step, kStage), glance, kLookGap);
  return side_by_side(draw_path(look, glimpses, step + 1, kStage, true), glance, kLookGap);
}

Fragment step_of(const ImageLook& look, const SaliencyLook& saliency, size_t) {
  return draw_map_over(look, saliency, kStage);
}

/// How long a step is shown, and the last one.
constexpr int64_t kShown = 110, kLast = 300;

}  // namespace

std::string svg_picture(const ImageLook& look) {
  check_look("picture", look);
  return svg_document(std::visit([&](const auto& seen) { return drawn(look, seen); }, look.seen), kMargin);
}

std::string svg_step(const ImageLook& look, size_t step) {
  check_look("picture", look);
  require(step < steps_of(look), "picture: expected a step below ", steps_of(look), ", got ", step);
  return svg_document(std::visit([&](const auto& seen) { return step_of(look, seen, step); }, look.seen), kMargin / 2);
}

std::string gif_picture(const ImageLook& look) {
  check_look("picture", look);
  std::vector<GifFrame> frames;
  if (std::holds_alternative<SaliencyLook>(look.seen)) {
    frames.push_back({drawn_svg(svg_document(draw_image(look.image, kStage), kMargin / 2), 1), kShown});
  }
  require(steps_of(look) > 0, "picture: expected a word, got an empty caption");
  for (size_t step = 0; step < steps_of(look); ++step) frames.push_back({drawn_svg(svg_step(look, step), 1), kShown});
  frames.back().centiseconds = kLast;
  return encode_gif(frames);
}

}  // namespace attend::explain
