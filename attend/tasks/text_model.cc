#include <algorithm>
#include <numeric>

#include "attend/base/error.h"
#include "attend/base/recipe.h"
#include "attend/base/replacement.h"
#include "attend/data/lines.h"
#include "attend/explain/alignment.h"
#include "attend/explain/recorder.h"
#include "attend/tasks/explanation.h"
#include "attend/tasks/text.h"

namespace attend::tasks {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kBatchTokens = 2048, kBatchSentences = 64;  // of one search

bool ends_clause(const std::string& word) {
  return !word.empty() && std::string_view(".,;:!?").find(word.back()) != std::string_view::npos;
}

/// After how many of these words to cut so that the part before has at most `longest` tokens: after the last word that ends
/// a clause if that is not in the first half, else after the last word that fits; after one in any case.
size_t cut_after(std::span<const std::string> words, std::span<const int64_t> tokens, int64_t longest) {
  size_t fits = 0, clause = 0;
  for (int64_t sum = 0; fits < words.size() && (sum += tokens[fits]) <= longest; ++fits) {
    if (ends_clause(words[fits]) && sum > longest / 2) clause = fits + 1;
  }
  return std::max<size_t>(1, clause > 0 ? clause : fits);
}

/// A part of a line; its first word may go on from the last one of the part before.
struct Part {
  std::string text;
  bool continues = false;
};

/// A word that is too long in itself (a text without spaces), by halves between characters.
void split_word(const data::Tokeniser& tokeniser, std::string_view word, int64_t longest, bool continues,
                std::vector<Part>& parts) {
  size_t middle = word.size() / 2;
  while (middle > 0 && (static_cast<unsigned char>(word[middle]) & 0xC0) == 0x80) --middle;  // not within a character
  if (middle == 0 || static_cast<int64_t>(tokeniser.encode(word).size()) <= longest) {
    parts.push_back({std::string(word), continues});
    return;
  }
  split_word(tokeniser, word.substr(0, middle), longest, continues, parts);
  split_word(tokeniser, word.substr(middle), longest, true, parts);
}

/// A line in parts that the model can take.
std::vector<Part> split_line(const data::Tokeniser& tokeniser, const std::string& line, int64_t longest) {
  const data::TokenisedWords whole = tokeniser.tokenise(line);
  if (longest <= 0 || static_cast<int64_t>(whole.ids.size()) <= longest) return {{line}};
  std::vector<int64_t> tokens(whole.words.size(), 0);
  for (const int32_t word : whole.word_of) {
    if (word >= 0) ++tokens[static_cast<size_t>(word)];
  }
  std::vector<Part> parts;
  for (size_t at = 0; at < whole.words.size();) {
    const std::span words = std::span(whole.words).subspan(at);
    const size_t count = cut_after(words, std::span(tokens).subspan(at), longest);
    if (count == 1) {
      split_word(tokeniser, words[0], longest, false, parts);
    } else {
      parts.push_back({joined(words.first(count))});
    }
    at += count;
  }
  return parts;
}

/// Two matrices along the diagonal; the first column of `b` is the last one of `a` where they share it.
Tensor along_diagonal(const Tensor& a, const Tensor& b, bool share) {
  const int64_t rows = a.dim(0), columns = a.dim(1), begin = columns - (share ? 1 : 0), wide = begin + b.dim(1);
  Tensor both = Tensor::zeros({rows + b.dim(0), wide});
  for (int64_t r = 0; r < rows; ++r) std::copy_n(a.data() + r * columns, columns, both.data() + r * wide);
  for (int64_t r = 0; r < b.dim(0); ++r) {
    std::copy_n(b.data() + r * b.dim(1), b.dim(1), both.data() + (rows + r) * wide + begin);
  }
  return both;
}

/// Answers to the parts of one line as one answer.
void append_answer(Answer& whole, Answer part, bool continues) {
  const bool share = continues && !whole.source.empty() && !part.source.empty();
  const size_t columns = whole.source.size() - (share ? 1 : 0), rows = whole.target.size();
  for (data::Link& link : part.links) {
    link.source += static_cast<int32_t>(columns), link.target += static_cast<int32_t>(rows);
  }
  whole.links.insert(whole.links.end(), part.links.begin(), part.links.end());
  if (part.weights.defined()) whole.weights = along_diagonal(whole.weights, part.weights, share);
  whole.text += (whole.text.empty() || part.text.empty() ? "" : " ") + part.text;
  whole.score += part.score, whole.log_probability += part.log_probability;
  whole.ended = whole.ended && part.ended;
  whole.parts += part.parts;
  std::ranges::move(part.traces, std::back_inserter(whole.traces));
  if (share) whole.source.back() += part.source.front();
  whole.source.insert(whole.source.end(), part.source.begin() + (share ? 1 : 0), part.source.end());
  whole.target.insert(whole.target.end(), part.target.begin(), part.target.end());
}

/// Asks after each step whether to go on.
class Checked : public decode::SearchWatcher {
 public:
  explicit Checked(const std::function<void()>& check) : check_(check) {}
  void predicted(const decode::Predicted&) override {}
  void stepped() override { check_(); }

 private:
  const std::function<void()>& check_;
};

Settings vocabularies(int64_t source, int64_t target) {
  return {{"source_vocabulary", std::to_string(source)}, {"target_vocabulary", std::to_string(target)}};
}

}  // namespace

std::string joined(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// A line, or a part of a long one.
struct TextModel::Piece {
  size_t line = 0;
  int64_t part = 0;
  bool continues = false;  // its first word is the last one of the part before
  data::TokenisedWords source;
  std::vector<int32_t> prefix;

  /// What answers are drawn by: the number of its line, so that it does not matter which lines are answered at once; the
  /// further parts of a line are far from all lines.
  int64_t number() const { return static_cast<int64_t>(line) + (part << 40); }
};

TextModel::TextModel(TextConfig config, std::shared_ptr<data::Tokeniser> source,
                     std::shared_ptr<data::Tokeniser> target)
    : config_(std::move(config)), source_(std::move(source)), target_(std::move(target)) {
  config_.model.find_out(vocabularies(source_->size(), target_->size()));
  model_ = config_.model.make(config_.options.train.seed);
  for (const nn::NamedParam& p : nn::parameters(*model_)) parameters_ += static_cast<int64_t>(p.var.size());
}

void TextModel::try_model(const TextConfig& config) {
  ModelChoice tried = config.model;
  tried.find_out(vocabularies(data::kFirstWord + 1, data::kFirstWord + 1));
  (void)tried.make(0);
}

TextModel TextModel::load(const fs::path& folder) {
  TextConfig config(read_config(folder));
  std::shared_ptr<data::Tokeniser> source = data::load_tokeniser(folder, "source");
  std::shared_ptr<data::Tokeniser> target =
      config.options.tokeniser.joint ? source : data::load_tokeniser(folder, "target");
  TextModel model(std::move(config), std::move(source), std::move(target));
  models::load_weights(*model.model_, folder / "weights.safetensors");
  model.name_ = folder_name(folder);
  return model;
}

void TextModel::save(const fs::path& folder) const {
  source_->save(folder, "source");
  if (target_ != source_) target_->save(folder, "target");
  write_file(folder / kConfig, print_recipe(config_.all(), true));
}

void TextModel::forget(const fs::path& folder) {
  fs::remove(folder / kConfig);
  for (const char* side : {"source", "target"}) data::remove_tokeniser(folder, side);
}

int64_t TextModel::longest() const {
  const auto option = [&](std::string_view name) {
    const auto found = std::ranges::find(config_.model.options, name, &OptionInfo::name);
    return found == config_.model.options.end() ? std::string() : found->value;
  };
  const int64_t seen = config_.options.filter.longest;
  if (option("model.positions") != "learned") return seen;
  const int64_t learned = std::stoll(option("model.longest"));
  return seen > 0 ? std::min(seen, learned) : learned;
}

std::vector<std::string> TextModel::parts(const std::string& line) const {
  std::vector<std::string> texts;
  for (Part& part : split_line(*source_, line, longest())) texts.push_back(std::move(part.text));
  return texts;
}

std::vector<TextModel::Piece> TextModel::pieces(std::span<const std::string> lines,
                                                std::span<const std::string> prefixes) const {
  require(prefixes.empty() || prefixes.size() == lines.size(), "answer: as many prefixes as lines are wanted, ",
          lines.size(), ", got ", prefixes.size());
  std::vector<Piece> all;
  for (size_t l = 0; l < lines.size(); ++l) {
    for (const Part& part : split_line(*source_, lines[l], longest())) {
      const bool first = all.empty() || all.back().line != l;
      Piece piece{l, first ? 0 : all.back().part + 1, part.continues, source_->tokenise(part.text), {}};
      if (!prefixes.empty() && first) piece.prefix = target_->encode(prefixes[l]);
      all.push_back(std::move(piece));
    }
  }
  return all;
}

/// Word alignments of every answer of a batch, and what replaces its unknown words; in groups of like size, as each makes
/// logits for all of its target tokens.
void TextModel::align(std::span<const Piece* const> batch, const std::vector<std::vector<decode::Hypothesis>>& found,
                      const AnswerOptions& options, std::vector<std::vector<Answer>>& answers) const {
  struct Row {
    const data::TokenisedWords* source;
    const std::vector<int32_t>* target;
    Answer* answer;
  };
  std::vector<Row> rows;
  for (size_t b = 0; b < batch.size(); ++b) {
    for (size_t k = 0; k < found[b].size(); ++k) {
      rows.push_back({&batch[b]->source, &found[b][k].tokens, &answers[b][k]});
    }
  }
  for (size_t at = 0; at < rows.size();) {
    std::vector<std::vector<int32_t>> sources, targets;
    size_t longest = 1, end = at;
    for (; end < rows.size(); ++end) {
      longest = std::max({longest, rows[end].source->ids.size(), rows[end].target->size()});
      if (end > at && static_cast<int64_t>(longest * (end - at + 1)) > kBatchTokens) break;
      sources.push_back(rows[end].source->ids), targets.push_back(*rows[end].target);
    }
    const std::vector<Tensor> weights =
        explain::memory_weights(*model_, {data::Sequences(sources), data::Sequences(targets)});
    for (size_t i = at; i < end; ++i) {
      align_one(*rows[i].source, *rows[i].target, weights[i - at], options, *rows[i].answer);
    }
    at = end;
  }
}

void TextModel::align_one(const data::TokenisedWords& source, const std::vector<int32_t>& tokens, const Tensor& weights,
                          const AnswerOptions& options, Answer& answer) const {
  data::TokenisedWords target = target_->words(tokens);
  for (size_t t = 0; t < tokens.size() && options.replace_unknown; ++t) {
    if (tokens[t] != data::kUnknown || target.word_of[t] < 0) continue;
    const real* row = weights.data() + t * source.ids.size();
    const int32_t word = source.word_of[static_cast<size_t>(std::max_element(row, row + source.ids.size()) - row)];
    std::string& text = target.words[static_cast<size_t>(target.word_of[t])];
    const size_t unknown = text.find(data::Tokeniser::kUnknownText);
    if (word < 0 || unknown == text.npos) continue;
    text.replace(unknown, data::Tokeniser::kUnknownText.size(), source.words[static_cast<size_t>(word)]);
  }
  if (options.replace_unknown) answer.text = joined(target.words);
  answer.source = source.words, answer.target = target.words;
  answer.weights =
      explain::word_weights(weights, source.word_of, target.word_of, static_cast<int64_t>(source.words.size()),
                            static_cast<int64_t>(target.words.size()));
  answer.links = explain::links_of(answer.weights, options.threshold);
}

std::vector<std::vector<Answer>> TextModel::answer_batch(std::span<const Piece* const> batch,
                                                         const AnswerOptions& options) const {
  std::vector<std::vector<int32_t>> sources, prefixes;
  bool forced = false;
  for (const Piece* piece : batch) {
    sources.push_back(piece->source.ids), prefixes.push_back(piece->prefix);
    forced |= !piece->prefix.empty();
  }
  decode::SearchOptions search = options.search;
  if (search.sample) search.beam = 1;  // the beam that a recipe names is for the likeliest answers
  search.first_sentence += batch.front()->number();
  explain::Recorder recorder([&](const explain::Recorder&) {
    if (options.check) options.check();
  });
  Checked checked(options.check);
  decode::SearchWatcher* const watcher = options.trace   ? static_cast<decode::SearchWatcher*>(&recorder)
                                         : options.check ? &checked
                                                         : nullptr;
  std::optional<Observing> observing;
  if (options.trace) observing.emplace(recorder);
  const auto found =
      decode::search(*model_, data::Sequences(sources), search, forced ? prefixes : decltype(prefixes){}, watcher);
  observing.reset();
  std::vector<std::vector<Answer>> answers(batch.size());
  for (size_t b = 0; b < batch.size(); ++b) {
    for (const decode::Hypothesis& one : found[b]) {
      answers[b].push_back({.text = target_->decode(one.tokens),
                            .score = one.score,
                            .log_probability = one.log_probability,
                            .ended = one.ended});
    }
  }
  for (size_t b = 0; options.trace && b < batch.size(); ++b) {
    answers[b][0].traces.push_back(trace_of(*this, recorder,
                                            {batch[b]->source, joined(batch[b]->source.words), static_cast<int32_t>(b)},
                                            found[b], search));
  }
  if (options.align || options.replace_unknown) align(batch, found, options, answers);
  return answers;
}

/// The order in which pieces are answered: those of like length together. Drawn answers depend on their place, so there
/// the order stays.
std::vector<size_t> TextModel::in_order(const std::vector<Piece>& all, bool sample) {
  std::vector<size_t> order(all.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto longer = [&](size_t a, size_t b) { return all[a].source.ids.size() > all[b].source.ids.size(); };
  if (!sample) std::ranges::stable_sort(order, longer);
  std::erase_if(order, [&](size_t i) { return all[i].source.ids.empty(); });
  return order;
}

/// How many of the first of `order` are one batch.
size_t TextModel::batch_size(const std::vector<Piece>& all, std::span<const size_t> order, bool sample) {
  int64_t count = 0, longest = 1;
  for (const size_t i : order) {
    longest = std::max(longest, static_cast<int64_t>(all[i].source.ids.size()));
    const bool full = longest * (count + 1) > kBatchTokens || count >= kBatchSentences;
    const bool follows = !sample || all[i].number() == all[order[0]].number() + count;
    if (count > 0 && (full || !follows)) break;
    ++count;
  }
  return static_cast<size_t>(count);
}

/// The answers to the pieces of each line as one.
std::vector<std::vector<Answer>> TextModel::by_line(const std::vector<Piece>& all,
                                                    std::vector<std::vector<Answer>> found, size_t lines) {
  std::vector<std::vector<Answer>> answers(lines);
  for (size_t p = 0; p < all.size(); ++p) {
    std::vector<Answer>& line = answers[all[p].line];
    if (all[p].source.ids.empty()) found[p].resize(1);
    if (all[p].part == 0) {
      line = std::move(found[p]);
      continue;
    }
    line.resize(std::min(line.size(), found[p].size()));
    for (size_t k = 0; k < line.size(); ++k) append_answer(line[k], std::move(found[p][k]), all[p].continues);
  }
  return answers;
}

std::vector<std::vector<Answer>> TextModel::answer(std::span<const std::string> lines, const AnswerOptions& options,
                                                   std::span<const std::string> prefixes) const {
  const std::vector<Piece> all = pieces(lines, prefixes);
  const std::vector<size_t> order = in_order(all, options.search.sample);
  std::vector<std::vector<Answer>> found(all.size());
  for (std::span<const size_t> rest = order; !rest.empty();) {
    const std::span<const size_t> places = rest.first(batch_size(all, rest, options.search.sample));
    rest = rest.subspan(places.size());
    std::vector<const Piece*> batch;
    for (const size_t i : places) batch.push_back(&all[i]);
    std::vector<std::vector<Answer>> answers = answer_batch(batch, options);
    for (size_t b = 0; b < batch.size(); ++b) found[places[b]] = std::move(answers[b]);
  }
  return by_line(all, std::move(found), lines.size());
}

}  // namespace attend::tasks
