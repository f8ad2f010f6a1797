#include "attend/train/tags.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>
#include <vector>

#include "attend/base/utf8.h"
#include "attend/train/line_pairs.h"

namespace attend::train {
namespace {

/// "B-PER" as split by seqeval: its first character, and what follows the first dash after that.
struct Mark {
  std::string_view prefix = "O", type;

  Mark() = default;
  explicit Mark(std::string_view tag) : prefix(tag.substr(0, std::max<size_t>(1, character_bytes(tag)))) {
    const std::string_view rest = tag.substr(prefix.size());
    const size_t dash = rest.find('-');
    type = dash == rest.npos ? rest : rest.substr(dash + 1);
    if (type.empty()) type = "_";
  }
  bool is(std::string_view letters) const { return prefix.size() == 1 && letters.find(prefix) != letters.npos; }
};

/// Whether a span ends between two words.
bool ends(const Mark& before, const Mark& mark) {
  return before.is("ES") || (before.is("BI") && mark.is("BSO")) || (!before.is("O.") && before.type != mark.type);
}

bool begins(const Mark& before, const Mark& mark) {
  return mark.is("BS") || (before.is("ESO") && mark.is("EI")) || (!mark.is("O.") && before.type != mark.type);
}

/// Type, first and last word.
using Span = std::tuple<std::string_view, size_t, size_t>;

/// Collects the spans of all sentences; words are counted consecutively, with a gap of one between sentences.
class Spans {
 public:
  void add(const std::vector<std::string_view>& tags) {
    for (const std::string_view tag : tags) step(Mark(tag));
    step(Mark("O"));
  }
  const std::set<Span>& all() const { return all_; }

 private:
  void step(const Mark& mark) {
    if (ends(before_, mark)) all_.emplace(before_.type, begin_, at_ - 1);
    if (begins(before_, mark)) begin_ = at_;
    before_ = mark;
    ++at_;
  }

  std::set<Span> all_;
  Mark before_;
  size_t begin_ = 0, at_ = 0;
};

using Tags = std::vector<std::string_view>;

/// Calls visit(tags of the output, tags of the reference) for each sentence.
template <class Visit>
void each_sentence(const char* where, std::span<const std::string> outputs, std::span<const std::string> references,
                   Visit visit) {
  check_counts(where, outputs.size(), references.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tags output = data::split_words(outputs[i]), reference = data::split_words(references[i]);
    require(output.size() == reference.size(), where, ": expected as many tags in output ", i + 1,
            " as in its reference, ", reference.size(), ", got ", output.size());
    visit(output, reference);
  }
}

void count_tags(const Tags& output, const Tags& reference, TagScores& scores) {
  int64_t right = 0;
  for (size_t i = 0; i < output.size(); ++i) right += output[i] == reference[i];
  scores.words += static_cast<int64_t>(output.size());
  scores.right += right;
  scores.sentences += 1;
  scores.exact += right == static_cast<int64_t>(output.size());
}

}  // namespace

TagScores tag_scores(std::span<const std::string> outputs, std::span<const std::string> references) {
  TagScores scores;
  each_sentence("tag_scores", outputs, references,
                [&](const Tags& output, const Tags& reference) { count_tags(output, reference, scores); });
  return scores;
}

SpanScores span_scores(std::span<const std::string> outputs, std::span<const std::string> references) {
  SpanScores scores;
  Spans said, right;
  each_sentence("span_scores", outputs, references, [&](const Tags& output, const Tags& reference) {
    count_tags(output, reference, scores.tags);
    said.add(output);
    right.add(reference);
  });
  for (const Span& span : right.all()) ++scores.types[std::string(std::get<0>(span))].references;
  for (const Span& span : said.all()) {
    Matches& type = scores.types[std::string(std::get<0>(span))];
    ++type.outputs;
    type.right += right.all().contains(span);
  }
  for (const auto& [name, type] : scores.types) {
    scores.all.right += type.right;
    scores.all.outputs += type.outputs;
    scores.all.references += type.references;
  }
  return scores;
}

}  // namespace attend::train
