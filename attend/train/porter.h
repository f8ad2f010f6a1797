// Porter's stemmer (Porter 1980), with the changes that NLTK makes by default.
#pragma once

#include <string>
#include <string_view>

namespace attend::train {

/// The stem of a lower-case word: "relational" → "relat". Digits and all bytes but a, e, i, o, u and y are consonants.
std::string porter_stem(std::string_view word);

}  // namespace attend::train
