// Composable pieces of an SVG picture: each is drawn from its own corner and knows how large it is.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attend::explain {

struct Fragment {
  std::string svg;
  double width = 0, height = 0;
};

/// A length or position in SVG: at most two digits after the point, whatever the locale.
std::string svg_number(double value);
/// ` name="value"`; the value needs no escaping.
std::string attribute(std::string_view name, std::string_view value);
std::string attribute(std::string_view name, double value);

/// Colours of text: the main text, secondary text, accents.
inline constexpr std::string_view kInk = "#1b2027", kFaint = "#5b6673", kAccent = "#1d5fb4";

struct TextStyle {
  double size = 13;
  std::string_view colour = kInk;
  bool bold = false;
};
/// Sizes of text.
inline constexpr double kTitle = 16, kText = 13, kSmall = 11;
/// Lines of plain text below one another.
Fragment text_lines(std::span<const std::string> lines, const TextStyle& style);
/// A text in `most` lines of that width; `lead` stands before the first, whatever the direction of the text.
Fragment paragraph(const std::string& text, double width, const TextStyle& style, size_t most = 3,
                   const std::string& lead = "");

/// One line of text; y is its base line, `more` further attributes.
std::string svg_text(const std::string& text, double x, double y, double size, std::string_view colour,
                     const std::string& more = "");
/// A rectangle; its fill is in `more`.
std::string svg_box(double x, double y, double width, double height, const std::string& more);
/// A level line.
std::string svg_line(double x, double y, double width, std::string_view colour, double thick, std::string_view name);

/// Moved to (x, y).
std::string placed(const Fragment& fragment, double x, double y);
/// One below the other; those that are empty are left out.
Fragment stacked(const std::vector<Fragment>& fragments, double gap);
/// One beside the other, their upper edges level.
Fragment beside(const std::vector<Fragment>& fragments, double gap);
/// As a whole file: on a white card, so that it is readable on dark pages too.
std::string svg_document(const Fragment& fragment, double margin);

}  // namespace attend::explain
