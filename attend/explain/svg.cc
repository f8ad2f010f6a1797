#include "attend/explain/svg.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "attend/explain/labels.h"

namespace attend::explain {

std::string svg_number(double value) {
  char text[48];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, 2).ptr;
  std::string out(text, end);
  while (out.ends_with('0')) out.pop_back();
  if (out.ends_with('.')) out.pop_back();
  return out == "-0" ? "0" : out;
}

std::string attribute(std::string_view name, std::string_view value) {
  return " " + std::string(name) + "=\"" + std::string(value) + "\"";
}

std::string attribute(std::string_view name, double value) { return attribute(name, svg_number(value)); }

Fragment text_lines(std::span<const std::string> lines, const TextStyle& style) {
  Fragment fragment;
  const double line_height = std::round(1.4 * style.size);
  for (const std::string& line : lines) {
    fragment.svg += "<text" + attribute("y", fragment.height + style.size) + attribute("font-size", style.size) +
                    attribute("fill", style.colour) + (style.bold ? attribute("font-weight", "bold") : "") + ">" +
                    xml_escaped(line) + "</text>\n";
    fragment.width = std::max(fragment.width, style.size * text_width(line) * (style.bold ? 1.12 : 1));
    fragment.height += line_height;
  }
  return fragment;
}

Fragment paragraph(const std::string& text, double width, const TextStyle& style, size_t most,
                   const std::string& lead) {
  const double bold = style.bold ? 1.12 : 1;
  std::vector<std::string> lines = wrapped(text, width / style.size / bold - text_width(lead), most);
  for (std::string& line : lines) line = isolated(line);
  if (!lines.empty()) lines[0] = lead + lines[0];
  return text_lines(lines, style);
}

std::string svg_text(const std::string& text, double x, double y, double size, std::string_view colour,
                     const std::string& more) {
  return "<text" + attribute("x", x) + attribute("y", y) + attribute("font-size", size) + attribute("fill", colour) +
         more + ">" + xml_escaped(isolated(text)) + "</text>\n";
}

std::string svg_box(double x, double y, double width, double height, const std::string& more) {
  return "<rect" + attribute("x", x) + attribute("y", y) + attribute("width", width) + attribute("height", height) +
         more + "/>\n";
}

std::string svg_line(double x, double y, double width, std::string_view colour, double thick, std::string_view name) {
  return "<line" + attribute("class", name) + attribute("x1", x) + attribute("x2", x + width) + attribute("y1", y) +
         attribute("y2", y) + attribute("stroke", colour) + attribute("stroke-width", thick) + "/>\n";
}

std::string placed(const Fragment& fragment, double x, double y) {
  return "<g" + attribute("transform", "translate(" + svg_number(x) + " " + svg_number(y) + ")") + ">\n" +
         fragment.svg + "</g>\n";
}

Fragment stacked(const std::vector<Fragment>& fragments, double gap) {
  Fragment all;
  for (const Fragment& one : fragments) {
    if (one.svg.empty()) continue;
    if (!all.svg.empty()) all.height += gap;
    all.svg += placed(one, 0, all.height);
    all.width = std::max(all.width, one.width);
    all.height += one.height;
  }
  return all;
}

Fragment beside(const std::vector<Fragment>& fragments, double gap) {
  Fragment all;
  for (const Fragment& one : fragments) {
    if (one.svg.empty()) continue;
    if (!all.svg.empty()) all.width += gap;
    all.svg += placed(one, all.width, 0);
    all.width += one.width;
    all.height = std::max(all.height, one.height);
  }
  return all;
}

std::string svg_document(const Fragment& fragment, double margin) {
  const std::string width = svg_number(std::ceil(fragment.width + 2 * margin));
  const std::string height = svg_number(std::ceil(fragment.height + 2 * margin));
  return "<svg" + attribute("xmlns", "http://www.w3.org/2000/svg") +
         attribute("viewBox", "0 0 " + width + " " + height) + attribute("width", width) + attribute("height", height) +
         attribute("font-family", "system-ui, 'DejaVu Sans', 'Noto Sans', sans-serif") + ">\n<rect" +
         attribute("width", width) + attribute("height", height) + attribute("rx", "6") + attribute("fill", "#ffffff") +
         "/>\n" + placed(fragment, margin, margin) + "</svg>\n";
}

}  // namespace attend::explain
