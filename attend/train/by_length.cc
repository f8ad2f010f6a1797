#include "attend/train/by_length.h"

#include <algorithm>
#include <limits>

#include "attend/base/error.h"

namespace attend::train {
namespace {

int64_t words_in(std::string_view text) {
  int64_t words = 0;
  bool before = true;  // a blank
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\t';
    words += before && !blank ? 1 : 0;
    before = blank;
  }
  return words;
}

int64_t letters_in(std::string_view text) {
  return std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

/// Lengths at which a group ends, from coarse to fine.
const std::vector<int64_t> kBounds[] = {
    {10, 15, 20, 30, 40, 60, 80, 120}, {5, 10, 15, 20, 25, 30},         {3, 6, 9, 12, 15, 18},
    {2, 4, 6, 8, 10, 12, 14},          {1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
};

/// From the front: a group ends at the first bound at which it has enough; what is left over joins the last one.
std::vector<LengthGroup> groups_at(std::span<const int64_t> bounds, std::span<const int64_t> lengths, int64_t least) {
  std::vector<LengthGroup> groups;
  const int64_t longest = *std::ranges::max_element(lengths);
  const auto counted = [&](LengthGroup group) {
    group.count = std::ranges::count_if(lengths, [&](int64_t n) { return group.has(n); });
    return group;
  };
  int64_t first = 1;
  for (const int64_t bound : bounds) {
    if (bound >= longest) break;
    const LengthGroup group = counted({first, bound});
    if (group.count < least) continue;
    groups.push_back(group);
    first = bound + 1;
  }
  const LengthGroup rest = counted({first, {}});
  if (rest.count >= least || groups.empty()) {
    groups.push_back(rest);
  } else {
    groups.back() = counted({groups.back().first, {}});
  }
  groups.front().first = std::max<int64_t>(1, *std::ranges::min_element(lengths));
  return groups;
}

}  // namespace

int64_t length_of(std::string_view text, bool letters) { return letters ? letters_in(text) : words_in(text); }

std::string LengthGroup::text() const {
  if (!last) return std::to_string(first) + "+";
  return *last == first ? std::to_string(first) : std::to_string(first) + "–" + std::to_string(*last);
}

std::vector<LengthGroup> length_groups(std::span<const int64_t> lengths, int64_t least) {
  constexpr size_t kWanted = 4;
  if (lengths.empty()) return {};
  std::vector<LengthGroup> best;
  for (const std::vector<int64_t>& bounds : kBounds) {
    std::vector<LengthGroup> groups = groups_at(bounds, lengths, least);
    if (groups.size() > best.size()) best = std::move(groups);
    if (best.size() >= kWanted) break;
  }
  return best;
}

std::vector<double> score_by_length(const ScoreRow& score, const Judged& judged, std::span<const int64_t> lengths,
                                    std::span<const LengthGroup> groups) {
  require(judged.outputs.size() == lengths.size(), "score_by_length: expected ", lengths.size(), " outputs, got ",
          judged.outputs.size());
  std::vector<double> scores;
  for (const LengthGroup& group : groups) {
    Judged some;
    for (size_t i = 0; i < lengths.size(); ++i) {
      if (!group.has(lengths[i])) continue;
      some.outputs.push_back(judged.outputs[i]), some.right.push_back(judged.right[i]);
      if (!judged.sources.empty()) some.sources.push_back(judged.sources[i]);
      if (!judged.groups.empty()) some.groups.push_back(judged.groups[i]);
    }
    scores.push_back(some.outputs.empty() ? std::numeric_limits<double>::quiet_NaN() : score.score(some));
  }
  return scores;
}

}  // namespace attend::train
