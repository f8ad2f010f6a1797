// Answers that are stretches of the first input: two ids, the places of its first and its last token.
#include <algorithm>
#include <functional>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/data/answers.h"
#include "attend/tasks/output.h"

namespace attend::tasks {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNone = "(no answer)";

class SpanOutput : public Output {
 public:
  using Output::Output;
  void learn(const Corpus&, const Input&, const Prepared&) override {}
  void load(const fs::path&, const Input&) override {}
  void save(const fs::path&) const override {}
  Settings sizes() const override { return {}; }
  std::string summary() const override { return "answers within the text"; }

  std::vector<int32_t> encode(const Right& right, const Ready& input) const override {
    if (right.text.empty() && may_be_none()) return none(input);
    require(!right.text.empty(), "answer: expected one that stands in the text, as the network was not asked for more ",
            "(model.no_answer), got none");
    const std::vector<int32_t> tokens = tokens_in(right, input);
    require(!tokens.empty(), "answer: expected one that stands in the text, got ", quoted(right.text));
    return tokens;
  }
  bool has(const Right& right, const Ready& part) const override {
    return right.text.empty() ? may_be_none() : !tokens_in(right, part).empty();
  }
  std::vector<int32_t> none(const Ready& part) const override {
    if (!may_be_none()) return {};
    const auto end = static_cast<int32_t>(part.length());
    return {end, end};
  }

  /// As it stands in the text, with its capitals, spaces and marks.
  std::string written(std::span<const int32_t> ids, const Ready& input) const override {
    const std::optional<data::TextRange> range = within(ids, input);
    return range ? std::string(data::text_in(input.text, *range)) : "";
  }
  std::optional<data::TextRange> place(std::span<const int32_t> ids, const Ready& input) const override {
    std::optional<data::TextRange> range = within(ids, input);
    if (range) range->begin += input.offset, range->end += input.offset;
    return range;
  }
  bool is_none(std::span<const int32_t> ids, const Ready& input) const override {
    return ids.size() == 2 && ids[0] == static_cast<int32_t>(input.length());
  }
  /// Its two places: the words at which it starts and ends.
  explain::TraceSide side(std::span<const int32_t> ids, const Ready& input) const override {
    explain::TraceSide side;
    side.text = written(ids, input);
    for (const int32_t id : ids) {
      const bool known = id >= 0 && id < static_cast<int32_t>(input.tokens.ranges.size());
      side.word_of.push_back(static_cast<int32_t>(side.words.size()));
      side.tokens.push_back(known ? word_at(id, input) : kNone);
      side.words.push_back(side.tokens.back());
    }
    return side;
  }
  std::string piece(int32_t id) const override { return std::to_string(id); }

  bool searches() const override { return false; }
  /// All spans are looked at, whatever the beam. No answer is asked for beside the best of them, to be compared with.
  decode::SearchOptions search(const decode::SearchOptions& asked) const override {
    decode::SearchOptions all;
    all.n_best = all.beam = asked.n_best + (may_be_none() ? 1 : 0);
    all.first_sentence = asked.first_sentence, all.longest = asked.longest;
    return all;
  }
  /// The sum of the scores of both places, which is not normalised: a probability is one among the spans of a window, and says
  /// little about those of another (Clark & Gardner 2018, section 3).
  double score(const decode::Hypothesis& found) const override { return found.raw; }

  /// No answer is as likely as in the window that is the least sure of it (Devlin et al. 2019, section 4.3).
  std::vector<size_t> ranked(std::span<const Candidate> all, int64_t most, double threshold) const override {
    std::vector<size_t> order;
    const Candidate *none = nullptr, *best = nullptr;
    for (const Candidate& one : all) {
      const Candidate*& kept = one.none ? none : best;
      if (!kept || (one.none ? one.score < kept->score : one.score > kept->score)) kept = &one;
    }
    for (size_t i = 0; i < all.size(); ++i) {
      if (!all[i].none || &all[i] == none) order.push_back(i);
    }
    std::ranges::stable_sort(order, std::greater(), [&](size_t i) { return all[i].score; });
    if (none) {
      const bool answered = best && best->score - none->score > threshold;
      const size_t number = static_cast<size_t>(none - all.data());
      const auto at = std::ranges::find(order, number);
      if (!answered) std::rotate(order.begin(), at, at + 1);
      if (answered && at == order.begin()) std::rotate(at, at + 1, at + 2);
    }
    order.resize(std::min(order.size(), static_cast<size_t>(most)));
    return order;
  }

 private:
  bool may_be_none() const { return model_option("no_answer") == "true"; }

  /// The tokens that the answer's bytes touch; empty: it is not in this part.
  static std::vector<int32_t> tokens_in(const Right& right, const Ready& input) {
    std::optional<data::TextRange> range;
    if (right.found && right.found->end > right.found->begin) {
      range = {right.found->begin - input.offset, right.found->end - input.offset};
    } else {
      range = data::first_place(input.text, right.text);
    }
    if (!range || range->begin < 0 || range->end > static_cast<int64_t>(input.text.size())) return {};
    const std::vector<data::TextRange>& tokens = input.tokens.ranges;
    const auto first = std::ranges::find_if(tokens, [&](const auto& t) { return t.end > range->begin; });
    const auto after = std::find_if(first, tokens.end(), [&](const auto& t) { return t.begin >= range->end; });
    if (first >= after) return {};
    return {static_cast<int32_t>(first - tokens.begin()), static_cast<int32_t>(after - tokens.begin() - 1)};
  }

  static std::optional<data::TextRange> within(std::span<const int32_t> ids, const Ready& input) {
    const std::vector<data::TextRange>& tokens = input.tokens.ranges;
    if (ids.size() != 2 || ids[0] < 0 || ids[1] < ids[0] || static_cast<size_t>(ids[1]) >= tokens.size()) return {};
    return data::TextRange{tokens[static_cast<size_t>(ids[0])].begin, tokens[static_cast<size_t>(ids[1])].end};
  }

  static std::string word_at(int32_t token, const Ready& input) {
    return std::string(data::text_in(input.text, input.tokens.ranges[static_cast<size_t>(token)]));
  }
};

}  // namespace

constinit const OutputRow kSpanOutput{"span", make_output<SpanOutput>, {}};

}  // namespace attend::tasks
