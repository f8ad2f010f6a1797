// Labels of pictures: how wide a text is, how it is shortened, and how it is written into XML.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attend::explain {

/// Width of a text in a sans-serif font, in units of its size. It is that of DejaVu Sans, a wide font: others need less.
double text_width(std::string_view text);

/// At most `columns` wide in a terminal; what is cut ends in "…". Marks stay with their letters.
std::string shortened(std::string_view text, size_t columns);
/// At most `width` wide in a picture.
std::string shortened_picture(std::string_view text, double width);
/// Lines of at most `width`, cut between words; a word that is wider is shortened, and so is the last of `most` lines where
/// there would be more.
std::vector<std::string> wrapped(std::string_view text, double width, size_t most);

/// A share of a whole: "93 %", "< 1 %".
std::string percent(double share);

/// Whether some of its letters are written from right to left.
bool right_to_left(std::string_view text);
/// Between marks that keep a text of any direction together and its surroundings in order.
std::string isolated(std::string_view text);

/// As the text of an element or the value of an attribute. Bytes that are not UTF-8 (a token may be part of a letter) and
/// signs that XML has no room for become "�".
std::string xml_escaped(std::string_view text);

}  // namespace attend::explain
