// Inflected forms of regular English words, for generated corpora.
#pragma once

#include <string>
#include <string_view>

namespace attend::data {

/// dogs, boxes, ladies; walks, watches, carries.
std::string with_s(std::string_view stem);
/// walked, baked, carried, hopped.
std::string with_ed(std::string_view stem);
/// walking, baking, carrying, hopping.
std::string with_ing(std::string_view stem);
/// taller, later, happier, bigger.
std::string with_er(std::string_view stem);
/// tallest, latest, happiest, biggest.
std::string with_est(std::string_view stem);
/// quickly, happily, gently.
std::string with_ly(std::string_view stem);

}  // namespace attend::data
