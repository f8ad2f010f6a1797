#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "attend/attention/observe.h"
#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/base/joined.h"
#include "attend/explain/alignment.h"
#include "attend/explain/recorder.h"
#include "attend/models/autoencoder.h"
#include "attend/tasks/explanation.h"
#include "attend/tasks/hearing.h"
#include "attend/tasks/model.h"

namespace attend::tasks {
namespace {

constexpr int64_t kBatchTokens = 2048, kBatchExamples = 64, kBatchRows = 2048;  // of one search

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

/// Answers to the parts of one text as one answer.
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
  std::ranges::move(part.times, std::back_inserter(whole.times));
  std::ranges::move(part.traces, std::back_inserter(whole.traces));
  if (share) whole.source.back() += part.source.front();
  whole.source.insert(whole.source.end(), part.source.begin() + (share ? 1 : 0), part.source.end());
  whole.target.insert(whole.target.end(), part.target.begin(), part.target.end());
}

/// How many of the first of `order` make one batch; drawn answers depend on their number, so that there these follow one
/// another.
template <class Piece>
size_t batch_size(const std::vector<Piece>& all, std::span<const size_t> order, const decode::SearchOptions& search) {
  const int64_t rows = search.sample ? search.n_best : search.beam;
  int64_t count = 0, longest = 1;
  for (const size_t i : order) {
    longest = std::max(longest, all[i].size);
    const bool full =
        longest * (count + 1) > kBatchTokens || count >= kBatchExamples || rows * (count + 1) > kBatchRows;
    const bool follows = !search.sample || all[i].number() == all[order[0]].number() + count;
    if (count > 0 && (full || !follows || !all[i].ready.joins(all[order[0]].ready))) break;
    ++count;
  }
  return static_cast<size_t>(count);
}

/// The order in which pieces are answered: those of like length together. Drawn answers depend on their place, so there
/// the order stays. What is empty needs no answer.
template <class Piece>
std::vector<size_t> in_order(const std::vector<Piece>& all, bool sample) {
  std::vector<size_t> order(all.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto size = [&](size_t i) { return std::pair(all[i].ready.length(), all[i].ready.image.pixels.size()); };
  const auto longer = [&](size_t a, size_t b) { return size(a) > size(b); };
  if (!sample) std::ranges::stable_sort(order, longer);
  std::erase_if(order, [&](size_t i) { return all[i].ready.is_empty(); });
  return order;
}

/// How many of the first examples are made ready at once: those of about so many bytes, at least one.
size_t documents_at_once(std::span<const Example> examples) {
  constexpr size_t kBytes = size_t{1} << 18;
  size_t count = 0, bytes = 0;
  for (const Example& example : examples) {
    const auto* text = std::get_if<std::string>(&example.inputs.at(0));
    bytes += text ? text->size() : 0;
    if (count > 0 && bytes > kBytes) break;
    ++count;
  }
  return count;
}

}  // namespace

std::vector<TaskModel::Piece> TaskModel::pieces(std::span<const Example> examples,
                                                std::span<const std::string> prefixes) const {
  require(prefixes.empty() || prefixes.size() == examples.size(), "answer: expected as many prefixes as examples, ",
          examples.size(), ", got ", prefixes.size());
  std::vector<Piece> all;
  for (size_t e = 0; e < examples.size(); ++e) {
    int64_t part = 0;
    for (Ready& ready : parts(examples[e])) {
      Piece piece{e, part++, std::move(ready), 0, {}};
      piece.size = model_->places(piece.ready.longest());
      if (!prefixes.empty() && piece.part == 0) piece.prefix = output_->encode(prefixes[e], piece.ready);
      all.push_back(std::move(piece));
    }
  }
  return all;
}

/// Word alignments of every answer of a batch, and what replaces its unknown words; in groups of like size, as each makes
/// logits for all of its target tokens.
void TaskModel::align(std::span<const Piece* const> batch, const AnswerOptions& options,
                      std::vector<std::vector<Answer>>& answers) const {
  struct Row {
    const Ready* source;
    Answer* answer;
    size_t length() const { return std::max(source->tokens.ids.size(), answer->tokens.size()); }
  };
  std::vector<Row> rows;
  for (size_t b = 0; b < batch.size(); ++b) {
    for (Answer& answer : answers[b]) rows.push_back({&batch[b]->ready, &answer});
  }
  for (size_t at = 0; at < rows.size();) {
    std::vector<const Ready*> sources;
    std::vector<std::vector<int32_t>> targets;
    size_t longest = 1, end = at;
    for (; end < rows.size(); ++end) {
      longest = std::max(longest, rows[end].length());
      if (end > at && static_cast<int64_t>(longest * (end - at + 1)) > kBatchTokens) break;
      sources.push_back(rows[end].source), targets.push_back(rows[end].answer->tokens);
    }
    const std::vector<Tensor> weights = explain::memory_weights(*model_, {source(sources), data::Sequences(targets)});
    for (size_t i = at; i < end; ++i) align_one(*rows[i].source, weights[i - at], options, *rows[i].answer);
    at = end;
  }
}

void TaskModel::align_one(const Ready& ready, const Tensor& weights, const AnswerOptions& options,
                          Answer& answer) const {
  const data::TokenisedWords& source = ready.tokens;
  explain::TraceSide target = output_->side(answer.tokens, ready);
  for (size_t t = 0; t < answer.tokens.size() && options.replace_unknown; ++t) {
    if (answer.tokens[t] != data::kUnknown || target.word_of[t] < 0) continue;
    const real* row = weights.data() + t * source.ids.size();
    const int32_t word = source.word_of[static_cast<size_t>(std::max_element(row, row + source.ids.size()) - row)];
    std::string& text = target.words[static_cast<size_t>(target.word_of[t])];
    const size_t unknown = text.find(data::Tokeniser::kUnknownText);
    if (word < 0 || unknown == text.npos) continue;
    text.replace(unknown, data::Tokeniser::kUnknownText.size(), source.words[static_cast<size_t>(word)]);
  }
  if (options.replace_unknown) answer.text = joined(target.words, " ");
  answer.source = source.words, answer.target = target.words;
  answer.weights =
      explain::word_weights(weights, source.word_of, target.word_of, static_cast<int64_t>(source.words.size()),
                            static_cast<int64_t>(target.words.size()));
  answer.links = explain::links_of(answer.weights, options.threshold);
}

void TaskModel::rank(std::vector<decode::Hypothesis>& found, const Ready& source,
                     std::optional<double> threshold) const {
  if (!reads_documents()) return;
  std::vector<Candidate> candidates;
  for (const decode::Hypothesis& one : found) {
    candidates.push_back({output_->score(one), output_->is_none(one.tokens, source)});
  }
  std::vector<decode::Hypothesis> ranked;
  for (const size_t i : output_->ranked(candidates, static_cast<int64_t>(found.size()),
                                        threshold.value_or(config_.options.document.threshold))) {
    ranked.push_back(std::move(found[i]));
  }
  found = std::move(ranked);
}

/// One list of answers to a question from those of all windows of its document: the same stretch counts once, by its best score.
std::vector<Answer> TaskModel::best_of(std::vector<Answer> all, const AnswerOptions& options) const {
  std::vector<Candidate> candidates;
  std::vector<Answer> different;
  std::map<std::string, size_t> known;
  for (Answer& one : all) {
    const std::string key =
        one.found ? std::to_string(one.found->begin) + "-" + std::to_string(one.found->end) : one.text;
    const auto [at, added] = known.emplace(key, different.size());
    if (one.none || added) {
      different.push_back(std::move(one));  // each window's own no answer, of which one is chosen
    } else if (one.score > different[at->second].score) {
      different[at->second] = std::move(one);
    }
  }
  for (const Answer& one : different) candidates.push_back({one.score, one.none});
  const double threshold = options.no_answer.value_or(config_.options.document.threshold);
  std::vector<Answer> best;
  for (const size_t i : output_->ranked(candidates, options.search.n_best, threshold)) {
    best.push_back(std::move(different[i]));
  }
  return best;
}

std::vector<std::vector<Answer>> TaskModel::rebuilt(std::span<const Ready* const> batch) const {
  const auto* network = dynamic_cast<const models::Autoencoder*>(model_.get());
  require(network != nullptr, "answer: expected an autoencoder, got the network ", config_.model.name);
  const TapePause pause;
  std::vector<std::vector<Answer>> answers;
  for (data::Image& image : data::to_images(network->reconstruct(source(batch).pixels()))) {
    answers.emplace_back(1).back().image = std::move(image);
  }
  return answers;
}

std::vector<Answer> TaskModel::answers(const Piece& piece, std::vector<decode::Hypothesis> found,
                                       const AnswerOptions& options) const {
  rank(found, piece.ready, options.no_answer);
  std::vector<Answer> answers;
  for (const decode::Hypothesis& one : found) {
    answers.push_back({.text = output_->written(one.tokens, piece.ready),
                       .score = output_->score(one),
                       .log_probability = one.log_probability,
                       .ended = one.ended,
                       .tokens = one.tokens,
                       .found = output_->place(one.tokens, piece.ready),
                       .none = output_->is_none(one.tokens, piece.ready),
                       .part = piece.part});
  }
  return answers;
}

std::vector<std::vector<Answer>> TaskModel::answer_batch(std::span<const Piece* const> batch,
                                                         const AnswerOptions& options) const {
  std::vector<const Ready*> ready;
  std::vector<std::vector<int32_t>> prefixes;
  bool forced = false;
  for (const Piece* piece : batch) {
    ready.push_back(&piece->ready), prefixes.push_back(piece->prefix);
    forced |= !piece->prefix.empty();
  }
  if (output_->is_image()) return rebuilt(ready);
  if (!forced) prefixes.clear();
  decode::SearchOptions search = output_->search(options.search);
  search.first_sentence += batch.front()->number();
  explain::Recorder recorder(
      [&](const explain::Recorder& heard) {
        if (options.check) options.check();
        if (options.partial) options.partial(output_->written(heard.likeliest(0), *ready[0]));
      },
      {.weights = options.trace});
  decode::StepWatcher steps(options.check);  // a recorder keeps all that was ever considered
  std::optional<Observing> observing;
  if (options.trace) observing.emplace(recorder);
  const bool recorded = options.trace || options.partial;
  decode::SearchWatcher* watcher = nullptr;
  if (recorded) watcher = &recorder;
  if (!recorded && options.check) watcher = &steps;
  const TapePause pause;
  const std::unique_ptr<decode::Constraint> constraint = output_->constraint(ready);
  auto found = decode::search(*model_, source(ready), search, prefixes, watcher, constraint.get());
  observing.reset();
  std::vector<std::vector<Answer>> answers(batch.size());
  for (size_t b = 0; b < batch.size(); ++b) {
    const bool traced = options.trace && !ready[b]->is_image();
    if (traced) rank(found[b], *ready[b], options.no_answer);
    answers[b] = this->answers(*batch[b], traced ? found[b] : std::move(found[b]), options);
    if (options.times && ready[b]->is_sound()) {
      const std::vector<HeardBy> by = output_->words() ? heard_by(*this) : std::vector<HeardBy>();
      require(!output_->words() || !by.empty(), "times: expected a network with CTC or attention to the sound, got ",
              config_.model.name);
      for (Answer& one : answers[b]) {
        one.times = output_->words() ? word_times(*this, *ready[b], one.tokens, by[0])
                                     : stretches(*this, *ready[b], one.tokens);
      }
    }
    if (traced) {
      answers[b][0].traces.push_back(trace_of(*this, recorder, {*ready[b], static_cast<int32_t>(b)}, found[b], search));
    }
  }
  if ((options.align || options.replace_unknown) && ready[0]->is_text()) align(batch, options, answers);
  return answers;
}

/// Windows take far more room than the document that they are of, about which many questions may be asked: not all at once.
std::vector<std::vector<Answer>> TaskModel::answer(std::span<const Example> examples,
                                                   const AnswerOptions& options) const {
  if (!reads_documents()) return answer_some(examples, options);
  std::vector<std::vector<Answer>> answers;
  for (size_t at = 0; at < examples.size();) {
    const std::span some = examples.subspan(at, documents_at_once(examples.subspan(at)));
    AnswerOptions now = options;
    now.search.first_sentence += static_cast<int64_t>(at);
    if (!options.prefixes.empty()) now.prefixes = options.prefixes.subspan(at, some.size());
    std::ranges::move(answer_some(some, now), std::back_inserter(answers));
    at += some.size();
  }
  return answers;
}

std::vector<std::vector<Answer>> TaskModel::answer_some(std::span<const Example> examples,
                                                        const AnswerOptions& options) const {
  const std::vector<Piece> all = pieces(examples, options.prefixes);
  const std::vector<size_t> order = in_order(all, options.search.sample);
  std::vector<std::vector<Answer>> found(all.size());
  for (std::span<const size_t> rest = order; !rest.empty();) {
    const std::span<const size_t> places = rest.first(batch_size(all, rest, options.search));
    rest = rest.subspan(places.size());
    std::vector<const Piece*> batch;
    for (const size_t i : places) batch.push_back(&all[i]);
    std::vector<std::vector<Answer>> answers = answer_batch(batch, options);
    for (size_t b = 0; b < batch.size(); ++b) found[places[b]] = std::move(answers[b]);
  }
  return whole(all, std::move(found), examples.size(), options);
}

std::vector<std::vector<Answer>> TaskModel::whole(const std::vector<Piece>& all, std::vector<std::vector<Answer>> found,
                                                  size_t examples, const AnswerOptions& options) const {
  std::vector<std::vector<Answer>> answers(examples);
  std::vector<int64_t> windows(examples, 0);
  for (size_t p = 0; p < all.size(); ++p) {  // the parts of each text as one
    std::vector<Answer>& whole = answers[all[p].example];
    if (all[p].ready.is_empty()) found[p].resize(1);
    if (reads_documents()) {
      std::ranges::move(found[p], std::back_inserter(whole));
      ++windows[all[p].example];
      continue;
    }
    if (all[p].part == 0) {
      whole = std::move(found[p]);
      continue;
    }
    whole.resize(std::min(whole.size(), found[p].size()));
    for (size_t k = 0; k < whole.size(); ++k) append_answer(whole[k], std::move(found[p][k]), all[p].ready.continues);
  }
  for (size_t e = 0; reads_documents() && e < answers.size(); ++e) {
    answers[e] = best_of(std::move(answers[e]), options);
    for (Answer& one : answers[e]) one.parts = windows[e];
  }
  return answers;
}

}  // namespace attend::tasks
