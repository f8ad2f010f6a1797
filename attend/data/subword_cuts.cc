#include "attend/data/subword_cuts.h"

#include <algorithm>
#include <cmath>

#include "attend/base/error.h"
#include "attend/base/log_add.h"
#include "attend/base/options.h"
#include "attend/data/utf8.h"

namespace attend::data {
namespace {

constexpr std::string_view kWordBegins = "\u2581";
constexpr int32_t kNoPiece = -1;

uint64_t both(int32_t first, int32_t second) {
  return uint64_t{static_cast<uint32_t>(first)} << 32 | static_cast<uint32_t>(second);
}

using IdsByText = std::unordered_map<std::string_view, int32_t>;

IdsByText ids_by_text(std::span<const SubwordPiece> pieces) {
  IdsByText ids;
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].is_text) ids.emplace(pieces[i].text, static_cast<int32_t>(i));
  }
  return ids;
}

int32_t id_of(const IdsByText& ids, std::string_view text) {
  const auto found = ids.find(text);
  return found == ids.end() ? kNoPiece : found->second;
}

/// The ids of the characters; empty if one has none.
std::vector<int32_t> letters_of(std::string_view text, const IdsByText& ids) {
  std::vector<int32_t> letters;
  while (!text.empty()) {
    const size_t bytes = std::max<size_t>(1, character_bytes(text));
    letters.push_back(id_of(ids, text.substr(0, bytes)));
    if (letters.back() == kNoPiece) return {};
    text.remove_prefix(bytes);
  }
  return letters;
}

}  // namespace

SubwordCuts::SubwordCuts(std::span<const SubwordPiece> pieces, const SubwordCutOptions& options) : options_(options) {
  check_bounds(options);
  require((options.dropout > 0) != (options.alpha > 0),
          "subwords: expected either dropout (bpe) or alpha (unigram), got ", options.dropout, " and ", options.alpha);
  const IdsByText ids = ids_by_text(pieces);
  for (const SubwordPiece& piece : pieces) {
    const auto id = static_cast<int32_t>(letters_.size());
    scores_.push_back(piece.score);
    is_text_.push_back(piece.is_text);
    begins_word_.push_back(piece.text.starts_with(kWordBegins));
    letters_.push_back(piece.is_text ? letters_of(piece.text, ids) : std::vector<int32_t>{});
    if (letters_.back().empty()) letters_.back() = {id};
  }
  options.dropout > 0 ? add_merges(pieces) : add_paths();
}

/// As SentencePiece merges: any two neighbours that together are a piece.
void SubwordCuts::add_merges(std::span<const SubwordPiece> pieces) {
  const IdsByText ids = ids_by_text(pieces);
  for (size_t i = 0; i < pieces.size(); ++i) {
    const std::string_view text = pieces[i].text;
    for (size_t at = character_bytes(text); pieces[i].is_text && at > 0 && at < text.size();) {
      const int32_t left = id_of(ids, text.substr(0, at)), right = id_of(ids, text.substr(at));
      if (left != kNoPiece && right != kNoPiece) merges_.emplace(both(left, right), static_cast<int32_t>(i));
      at += std::max<size_t>(1, character_bytes(text.substr(at)));
    }
  }
}

void SubwordCuts::add_paths() {
  piece_at_.push_back(kNoPiece);  // the root
  for (size_t i = 0; i < letters_.size(); ++i) {
    if (!is_text_[i]) continue;
    int32_t node = 0;
    for (const int32_t letter : letters_[i]) {
      const auto [next, is_new] = paths_.emplace(both(node, letter), static_cast<int32_t>(piece_at_.size()));
      if (is_new) piece_at_.push_back(kNoPiece);
      node = next->second;
    }
    piece_at_[static_cast<size_t>(node)] = static_cast<int32_t>(i);
  }
}

std::vector<int32_t> SubwordCuts::operator()(std::span<const int32_t> ids, Random& random) const {
  std::vector<int32_t> all, word;
  all.reserve(ids.size() * 2);
  for (const int32_t id : ids) {
    require(id >= 0 && static_cast<size_t>(id) < letters_.size(), "subwords: expected ids from 0 to ",
            letters_.size() - 1, ", got ", id);
    const auto at = static_cast<size_t>(id);
    if (!is_text_[at] || begins_word_[at]) cut(word, random, all);
    if (is_text_[at]) {
      word.insert(word.end(), letters_[at].begin(), letters_[at].end());
    } else {
      all.push_back(id);
    }
  }
  cut(word, random, all);
  return all;
}

/// A word of letters, which is empty afterwards.
void SubwordCuts::cut(std::vector<int32_t>& word, Random& random, std::vector<int32_t>& into) const {
  if (word.empty()) return;
  if (options_.dropout > 0) {
    merged(word, random);
    into.insert(into.end(), word.begin(), word.end());
  } else {
    const std::vector<int32_t> pieces = drawn(word, random);
    into.insert(into.end(), pieces.begin(), pieces.end());
  }
  word.clear();
}

int32_t SubwordCuts::merge_of(int32_t left, int32_t right) const {
  const auto found = merges_.find(both(left, right));
  return found == merges_.end() ? kNoPiece : found->second;
}

/// Provilkov et al. 2020, algorithm 1: each merge that is possible is left out of a step by chance; the first of the others
/// is done, until a step has none.
void SubwordCuts::merged(std::vector<int32_t>& word, Random& random) const {
  std::vector<int32_t> possible(word.size(), kNoPiece);  // of each and the next one
  for (size_t i = 0; i + 1 < word.size(); ++i) possible[i] = merge_of(word[i], word[i + 1]);
  const auto share = static_cast<float>(options_.dropout);
  while (true) {
    size_t best = word.size();
    for (size_t i = 0; i + 1 < word.size(); ++i) {
      if (possible[i] == kNoPiece || random.uniform() < share) continue;
      const auto score = [&](size_t at) { return scores_[static_cast<size_t>(possible[at])]; };
      if (best == word.size() || score(i) > score(best)) best = i;
    }
    if (best == word.size()) return;
    const auto next = static_cast<std::ptrdiff_t>(best + 1);
    word[best] = possible[best];
    word.erase(word.begin() + next), possible.erase(possible.begin() + next);
    possible[best] = best + 1 < word.size() ? merge_of(word[best], word[best + 1]) : kNoPiece;
    if (best > 0) possible[best - 1] = merge_of(word[best - 1], word[best]);
  }
}

/// Kudo 2018, section 3.3, with all cuts (l → ∞): forwards ln Σ p^α of all cuts of the first i letters, then a draw backwards.
std::vector<int32_t> SubwordCuts::drawn(std::span<const int32_t> word, Random& random) const {
  struct Ending {
    size_t from;
    int32_t piece;
    double log_sum;  // of all cuts that end with it
  };
  std::vector<std::vector<Ending>> endings(word.size() + 1);
  std::vector<double> log_sums(word.size() + 1, kLogZero);
  log_sums[0] = 0;
  for (size_t begin = 0; begin < word.size(); ++begin) {
    if (log_sums[begin] == kLogZero) continue;
    int32_t node = 0;
    for (size_t end = begin + 1; end <= word.size(); ++end) {
      const auto next = paths_.find(both(node, word[end - 1]));
      if (next == paths_.end()) break;
      node = next->second;
      const int32_t piece = piece_at_[static_cast<size_t>(node)];
      if (piece == kNoPiece) continue;
      const double log_sum =
          log_sums[begin] + options_.alpha * static_cast<double>(scores_[static_cast<size_t>(piece)]);
      endings[end].push_back({begin, piece, log_sum});
      log_sums[end] = log_add(log_sums[end], log_sum);
    }
  }
  std::vector<int32_t> pieces;
  for (size_t end = word.size(); end > 0;) {
    const std::vector<Ending>& choices = endings[end];
    double left = random.uniform53();
    size_t k = 0;
    for (; k + 1 < choices.size(); ++k) {
      left -= std::exp(choices[k].log_sum - log_sums[end]);
      if (left < 0) break;
    }
    pieces.push_back(choices[k].piece);
    end = choices[k].from;
  }
  std::ranges::reverse(pieces);
  return pieces;
}

}  // namespace attend::data
