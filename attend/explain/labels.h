// Labels of pictures: how wide a text is, how it is shortened, and how it is written into XML.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attend::explain {

/// Width of a text in a sans-serif font, in units of its size; measured for DejaVu Sans, a wide font: others need less.
double text_width(std::string_view text);

/// At most `columns` wide in a terminal; a shortened text ends in "…". Combining marks stay with their letters.
std::string shortened(std::string_view text, size_t columns);
/// At most `width` wide in a picture.
std::string shortened_picture(std::string_view text, double width);
/// Lines of at most `width`, broken between words; a wider word is shortened, and so is the last of `most` lines if
/// there would be more.
std::vector<std::string> wrapped(std::string_view text, double width, size_t most);

/// A share of a whole: "93 %", "< 1 %".
std::string percent(double share);

/// Whether any of its letters are written from right to left.
bool right_to_left(std::string_view text);
/// Wrapped in marks that keep a text of any direction together and its surroundings in order.
std::string isolated(std::string_view text);

/// For the text of an element or the value of an attribute. Bytes that are not UTF-8 (a token may be part of a letter)
/// and characters that XML does not allow become "�".
std::string xml_escaped(std::string_view text);

}  // namespace attend::explain
