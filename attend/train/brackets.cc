#include "attend/train/brackets.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "attend/data/tree.h"
#include "attend/train/line_pairs.h"

namespace attend::train {
namespace {

using data::Tree;

constexpr int64_t kShort = 40;

bool is_deleted(std::string_view label) {
  constexpr std::string_view kDeleted[] = {"TOP", "-NONE-", ",", ":", "``", "''", "."};
  return std::find(std::begin(kDeleted), std::end(kDeleted), label) != std::end(kDeleted);
}

/// One representative of labels that count as the same.
std::string_view canonical(std::string_view label) { return label == "PRT" ? "ADVP" : label; }

struct Bracket {
  size_t begin, end;  // words [begin, end)
  std::string_view label;
  auto operator<=>(const Bracket&) const = default;
};

bool cross(const Bracket& a, const Bracket& b) {
  return (a.begin < b.begin && b.begin < a.end && a.end < b.end) ||
         (b.begin < a.begin && a.begin < b.end && b.end < a.end);
}

/// What evalb keeps of a tree; points into the tree.
struct Sentence {
  std::vector<std::string_view> words, tags;
  std::vector<Bracket> brackets;
  int64_t length = 0;  // all words but traces

  explicit Sentence(const Tree& tree) { add(tree); }

 private:
  void add(const Tree& tree) {
    if (tree.is_leaf()) {
      length += tree.label != "-NONE-";
      if (is_deleted(tree.label)) return;
      words.push_back(tree.word);
      tags.push_back(canonical(tree.label));
      return;
    }
    const size_t begin = words.size();
    for (const Tree& child : tree.children) add(child);
    const std::string_view label = std::string_view(tree.label).substr(0, tree.label.find_first_of("-="));
    if (begin < words.size() && !is_deleted(label)) brackets.push_back({begin, words.size(), canonical(label)});
  }
};

/// Σ min(count here, count there) over brackets.
int64_t count_shared(std::vector<Bracket> output, std::vector<Bracket> reference) {
  std::ranges::sort(output);
  std::ranges::sort(reference);
  std::vector<Bracket> both;
  std::ranges::set_intersection(output, reference, std::back_inserter(both));
  return static_cast<int64_t>(both.size());
}

/// Brackets of the output that cross at least one of the reference.
int64_t count_crossing(const Sentence& output, const Sentence& reference) {
  return std::ranges::count_if(output.brackets, [&](const Bracket& bracket) {
    return std::ranges::any_of(reference.brackets, [&](const Bracket& other) { return cross(bracket, other); });
  });
}

int64_t count_equal(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b) {
  int64_t count = 0;
  for (size_t i = 0; i < a.size(); ++i) count += a[i] == b[i];
  return count;
}

/// A sentence that counts.
BracketTotals compared(const Sentence& output, const Sentence& reference) {
  BracketTotals totals;
  totals.sentences = 1;
  totals.brackets = {count_shared(output.brackets, reference.brackets), static_cast<int64_t>(output.brackets.size()),
                     static_cast<int64_t>(reference.brackets.size())};
  totals.exact =
      totals.brackets.right == totals.brackets.outputs && totals.brackets.right == totals.brackets.references;
  totals.crossing = count_crossing(output, reference);
  totals.without_crossing = totals.crossing == 0;
  totals.with_two_at_most = totals.crossing <= 2;
  totals.words = static_cast<int64_t>(reference.words.size());
  totals.right_tags = count_equal(output.tags, reference.tags);
  return totals;
}

BracketTotals left_out(const Sentence& reference, int64_t BracketTotals::*why) {
  BracketTotals totals;
  totals.sentences = 1;
  totals.*why = 1;
  totals.missed = static_cast<int64_t>(reference.brackets.size());
  return totals;
}

BracketTotals scored(const std::optional<Tree>& output, bool blank, const Sentence& reference) {
  if (!output) return left_out(reference, blank ? &BracketTotals::skipped : &BracketTotals::failed);
  const Sentence sentence(*output);
  if (sentence.words.empty()) return left_out(reference, &BracketTotals::skipped);
  if (sentence.words != reference.words) return left_out(reference, &BracketTotals::failed);
  return compared(sentence, reference);
}

void add(BracketTotals& totals, const BracketTotals& more) {
  for (int64_t BracketTotals::*count :
       {&BracketTotals::sentences, &BracketTotals::failed, &BracketTotals::skipped, &BracketTotals::exact,
        &BracketTotals::crossing, &BracketTotals::without_crossing, &BracketTotals::with_two_at_most,
        &BracketTotals::words, &BracketTotals::right_tags, &BracketTotals::missed}) {
    totals.*count += more.*count;
  }
  totals.brackets.right += more.brackets.right;
  totals.brackets.outputs += more.brackets.outputs;
  totals.brackets.references += more.brackets.references;
}

std::optional<Tree> tree_in(const std::string& text) {
  try {
    return data::parse_tree("", text);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

BracketScores bracket_scores(std::span<const std::string> outputs, std::span<const std::string> references) {
  check_counts("bracket_scores", outputs.size(), references.size());
  BracketScores scores;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tree tree = data::parse_tree("bracket_scores: reference " + std::to_string(i + 1), references[i]);
    const Sentence reference(tree);
    const std::optional<Tree> output = tree_in(outputs[i]);
    const BracketTotals totals = scored(output, data::split_words(outputs[i]).empty(), reference);
    add(scores.all, totals);
    if (reference.length <= kShort) add(scores.up_to_40, totals);
    scores.well_formed += output && data::words_of(*output) == data::words_of(tree);
  }
  return scores;
}

}  // namespace attend::train
