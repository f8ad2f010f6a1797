#include "attend/train/agreement.h"

#include <algorithm>
#include <set>

#include "attend/base/error.h"
#include "attend/train/line_pairs.h"

namespace attend::train {
namespace {

using LinkSet = std::set<data::Link>;

LinkSet set_of(const data::Links& links) { return {links.begin(), links.end()}; }

double count_in(const LinkSet& links, const LinkSet& others) {
  return static_cast<double>(
      std::ranges::count_if(links, [&](const data::Link& link) { return others.contains(link); }));
}

}  // namespace

double exact_match(std::span<const std::string> outputs, std::span<const std::string> references, bool lowercase) {
  size_t right = 0;
  visit_lines("exact_match", outputs, references, lowercase, [&](std::u32string_view hyp, std::u32string_view ref) {
    right += data::without_trailing_blanks(hyp) == data::without_trailing_blanks(ref);
  });
  return 100 * static_cast<double>(right) / static_cast<double>(outputs.size());
}

AlignmentScore alignment_score(std::span<const data::Links> links, std::span<const data::Links> sure,
                               std::span<const data::Links> possible) {
  require(links.size() == sure.size() && (possible.empty() || possible.size() == sure.size()),
          "alignment_score: expected links of as many sentences, got ", links.size(), ", sure ones of ", sure.size(),
          " and possible ones of ", possible.size());
  double a = 0, s = 0, a_in_s = 0, a_in_p = 0;
  for (size_t i = 0; i < links.size(); ++i) {
    const LinkSet given = set_of(links[i]), sure_here = set_of(sure[i]);
    LinkSet possible_here = sure_here;
    if (!possible.empty()) possible_here.insert(possible[i].begin(), possible[i].end());
    a += static_cast<double>(given.size());
    s += static_cast<double>(sure_here.size());
    a_in_s += count_in(given, sure_here);
    a_in_p += count_in(given, possible_here);
  }
  AlignmentScore score;
  if (a + s > 0) score.error_rate = 1 - (a_in_s + a_in_p) / (a + s);
  if (a > 0) score.precision = a_in_p / a;
  if (s > 0) score.recall = a_in_s / s;
  return score;
}

}  // namespace attend::train
