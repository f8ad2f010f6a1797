// The page around a report: one file that loads nothing from elsewhere, with its style, its figures within the text and tables
// whose headings sort them; and what reports have in common with their Markdown.
#pragma once

#include <string>

namespace attend::explain {

/// `body` with all that a page needs around it. A heading of a <table class="sorted"> sorts by its column: the first by its
/// text, the others by the number in data-v.
std::string report_page(const std::string& title, const std::string& body);

/// An SVG without its namespace, which it needs only as a file of its own.
std::string inlined(std::string svg);
/// An SVG within a page.
std::string figure(const std::string& svg, const std::string& caption);

/// For a cell of a Markdown table.
std::string in_markdown(const std::string& text);
/// "12.3" of 12.34 with one digit.
std::string fixed(double value, int digits = 1);

}  // namespace attend::explain
