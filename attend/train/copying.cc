#include "attend/train/copying.h"

#include <algorithm>
#include <set>
#include <vector>

#include "attend/base/error.h"
#include "attend/data/unicode.h"

namespace attend::train {
namespace {

using LowerWords = std::vector<std::u32string_view>;

void add_text(const std::string& text, const std::string& source, Novelty& sum) {
  const std::u32string lower = data::lower_case(data::code_points("text", text));
  const std::u32string lower_source = data::lower_case(data::code_points("source", source));
  const LowerWords words = data::split_at_blanks(lower), from = data::split_at_blanks(lower_source);
  const auto before = [](std::span<const std::u32string_view> a, std::span<const std::u32string_view> b) {
    return std::ranges::lexicographical_compare(a, b);
  };
  for (size_t n = 1; n <= Novelty::kOrders; ++n) {
    std::set<std::span<const std::u32string_view>, decltype(before)> there(before);
    for (size_t i = 0; i + n <= from.size(); ++i) there.insert(std::span(from).subspan(i, n));
    for (size_t i = 0; i + n <= words.size(); ++i) {
      ++sum.count[n - 1];
      sum.novel[n - 1] += !there.contains(std::span(words).subspan(i, n));
    }
  }
}

}  // namespace

double Novelty::novel_share(size_t n) const {
  return count.at(n - 1) == 0 ? 0 : static_cast<double>(novel[n - 1]) / static_cast<double>(count[n - 1]);
}

Novelty novelty(std::span<const std::string> texts, std::span<const std::string> sources) {
  require(texts.size() == sources.size(), "novelty: expected a source for each of ", texts.size(), " texts, got ",
          sources.size());
  Novelty sum;
  for (size_t i = 0; i < texts.size(); ++i) add_text(texts[i], sources[i], sum);
  return sum;
}

}  // namespace attend::train
