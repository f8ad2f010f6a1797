#include "attend/models/reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>

#include "attend/autograd/ops.h"
#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/data/parts.h"
#include "attend/kernels/rows.h"
#include "attend/kernels/span.h"
#include "attend/models/rows.h"

namespace attend::models {
namespace {

// Marks of words: of the document alone, of both texts, of the question.
constexpr int32_t kOwn = 0, kShared = 1, kAsked = 2;

void require_texts(const data::Source& source) {
  for (const std::string_view name : {Reader::kDocument, Reader::kQuestion}) {
    const data::Part* part = source.find(name);
    require(part != nullptr, "reader: expected a source with the parts \"document\" and \"question\", got none called \"",
            name, "\"");
    for (size_t b = 0; b < part->ids.lengths.size(); ++b) {
      require(part->ids.lengths[b] >= 1, "reader: ", name, " ", b, " is empty; expected at least one word");
    }
  }
  require(source.parts().front().name == Reader::kDocument, "reader: expected the document first, got \"",
          source.parts().front().name, "\"");
}

/// What tells a word from others: its id or, if it is unknown, its letters; empty if there are none.
std::vector<int32_t> identity(const data::Source& text, int64_t b, int64_t t) {
  const int64_t at = b * text.text().longest() + t;
  const int32_t id = text.text().ids.values[static_cast<size_t>(at)];
  if (id != data::kUnknown) return {id};
  const data::Sequences* letters = text.letters();
  if (letters == nullptr) return {};
  std::vector<int32_t> spelled = letters->row(at);
  spelled.insert(spelled.begin(), data::kUnknown);  // no word's id
  return spelled;
}

/// Which words of each document its question has too (Chen et al. 2017, section 3.2, exact match).
data::Sequences matches(const data::Source& document, const data::Source& question) {
  std::vector<std::vector<int32_t>> marks;
  for (int64_t b = 0; b < document.count(); ++b) {
    std::set<std::vector<int32_t>> asked;
    for (int64_t j = 0; j < question.lengths()[static_cast<size_t>(b)]; ++j) asked.insert(identity(question, b, j));
    asked.erase(std::vector<int32_t>{});
    std::vector<int32_t>& row = marks.emplace_back();
    for (int64_t t = 0; t < document.lengths()[static_cast<size_t>(b)]; ++t) {
      row.push_back(asked.contains(identity(document, b, t)) ? kShared : kOwn);
    }
  }
  return data::Sequences(marks);
}

data::Sequences all_asked(const data::Sequences& question) {
  data::Sequences marks = question;
  std::ranges::fill(marks.ids.values, kAsked);
  return marks;
}

std::string part_name(std::string_view part, std::string_view ending) { return std::string(part) + std::string(ending); }

}  // namespace

Reader::Reader(const ReaderOptions& o, Random& random) : options_(o), dropout_(static_cast<real>(o.dropout)) {
  require_one_of("spans", {"joint", "apart"}, o.spans);
  EncoderOptions encoder = o.encoder;
  encoder.marks = o.match ? 3 : 0;
  encoder_ = make_encoder(encoder, random);
  const int64_t D = encoder_->output_size();
  AttentionConfig attention = o.attention;
  refuse_previous(attention, "attention.");
  attention.query = attention.key = D;
  attention_ = std::make_unique<Attention>(attention, random, AttentionSite{"reader.question", Purpose::question});
  require_option(attention_->context_size() == D, "attention.size", "expected contexts as wide as the states, ", D,
                 ", got ", attention_->context_size());
  StateLayerOptions layers = o.modelling;
  layers.size = layers.size > 0 ? layers.size : o.encoder.size;
  layers.input = 4 * D, layers.first_layer = o.encoder.layers, layers.dropout = o.dropout;
  modelling_ = make_state_layers(layers, random);
  const int64_t M = modelling_->size();
  if (o.self_matching) {
    self_ = std::make_unique<Attention>(AttentionConfig{.query = M, .key = M, .score = "trilinear", .window = "others"},
                                        random, AttentionSite{"reader.self", Purpose::self});
    self_output_ = std::make_unique<nn::Linear>(3 * M, M, random, true, Activation::relu, "he");
  }
  layers.input = M, layers.first_layer += layers.layers, layers.layers = 1;
  last_ = make_state_layers(layers, random);
  pointers_ = std::make_unique<nn::Linear>(4 * D, 2, random);
  start_ = std::make_unique<nn::Linear>(M, 1, random, false);
  end_ = std::make_unique<nn::Linear>(last_->size(), 1, random, false);
  if (o.no_answer) none_ = std::make_unique<nn::Linear>(M, 2, random);
}

void Reader::params(const nn::VisitParams& visit) {
  nn::visit_part(visit, "encoder", *encoder_);
  nn::visit_part(visit, "attention", *attention_);
  nn::visit_part(visit, "modelling", *modelling_);
  if (self_) {
    nn::visit_part(visit, "self", *self_);
    nn::visit_part(visit, "self_output", *self_output_);
  }
  nn::visit_part(visit, "last", *last_);
  nn::visit_part(visit, "pointers", *pointers_);
  nn::visit_part(visit, "start", *start_);
  nn::visit_part(visit, "end", *end_);
  if (none_) nn::visit_part(visit, "none", *none_);
}

/// G = [h; ũ; h∘ũ; h∘h̃], [T,B,4D].
Var Reader::met(const Encoded& document, const Encoded& question, Training* training) const {
  AttentionStep how{.weights = true};
  if (training) how.random = &training->random, how.update = training->update;
  const Var& h = document.states;
  const int64_t B = h.dim(0), T = h.dim(1), D = h.dim(2), J = question.states.dim(1);
  const AttentionRead read =
      (*attention_)(h, attention_->prepare(question.states, question.states, question.lengths), how);
  Tensor outside = Tensor::zeros({B, 1, J});
  for (int64_t b = 0; b < B; ++b) {
    std::fill(outside.data() + b * J + question.lengths[static_cast<size_t>(b)], outside.data() + (b + 1) * J,
              kernels::kMaskedLog);
  }
  const Var energies = read.energies.dim(1) == 1 ? reshape(read.energies, {B, T, J}) : mean(read.energies, 1);
  const Var best = max(add(energies, outside), 2);  // [B,T]
  const Var weights = softmax(reshape(best, {B, 1, T}), padding_mask({B, T, document.lengths}));
  if (Observing::active()) {
    Observing::tell({.site = "reader.document",
                     .purpose = Purpose::pooling,
                     .weights = weights.value().reshape({B, 1, 1, T}),
                     .key_lengths = document.lengths});
  }
  const Var asked = reshape(batched_matmul(weights, h), {1, B, D});  // h̃
  const Var states = document.by_time.defined() ? document.by_time : transpose(h, 0, 1);
  const Var context = transpose(read.context, 0, 1);
  return concat(std::array{states, context, multiply(states, context), multiply(states, asked)}, 2);
}

/// M + relu(W[M; A; M∘A] + b), A what each place reads of all others (Clark & Gardner 2018, section 2.1); [T,B,·].
Var Reader::matched(const Var& states, const std::vector<int32_t>& lengths, Training* training) const {
  AttentionStep how;
  if (training) how = {.random = &training->random, .update = training->update};
  const Var places = transpose(states, 0, 1);
  const Var read = transpose((*self_)(places, self_->prepare(places, places, lengths), how).context, 0, 1);
  const Var seen = concat(std::array{states, read, multiply(states, read)}, 2);
  return add(states, (*self_output_)(dropout_(seen, random_of(training))));
}

/// scores [B,T] and slot [B,1] → [B,T+1], the slot at each document's length.
Var Reader::with_slot(const Var& scores, const Var& slot, const std::vector<int32_t>& lengths) const {
  const int64_t B = scores.dim(0), T = scores.dim(1);
  Tensor words = Tensor::zeros({B, T + 1}), none = Tensor::zeros({B, T + 1});
  for (int64_t b = 0; b < B; ++b) {
    std::fill_n(words.data() + b * (T + 1), lengths[static_cast<size_t>(b)], real{1});
    none.data()[b * (T + 1) + lengths[static_cast<size_t>(b)]] = 1;
  }
  const Var wider = concat(std::array{scores, Var(Tensor::zeros({B, 1}))}, 1);
  return add(multiply(wider, words), multiply(slot, none));
}

Reader::Pointers Reader::pointers(const data::Source& source, Training* training) const {
  require_texts(source);
  data::Source document = data::only(source, kDocument), question = data::only(source, kQuestion);
  if (options_.match) {
    document.add(part_name(kDocument, data::kMarks), matches(document, question));
    question.add(part_name(kQuestion, data::kMarks), all_asked(question.text()));
  }
  const Encoded asked = [&] {  // before the document, whose words are those that SourceWords shows
    const Unobserved unobserved;
    return (*encoder_)(question, training);
  }();
  const Encoded read = (*encoder_)(document, training);
  Random* random = random_of(training);
  const Var g = dropout_(met(read, asked, training), random);
  Var m = (*modelling_)(g, read.lengths, training);
  if (self_) m = matched(m, read.lengths, training);
  m = dropout_(m, random);
  const Var m2 = dropout_((*last_)(m, read.lengths, training), random);
  const int64_t T = g.dim(0), B = g.dim(1);
  Pointers found;
  const Var both = (*pointers_)(g);  // [T,B,2]
  const auto pointer = [&](int64_t which, const Var& more) {
    return transpose(reshape(add(slice(both, 2, which, which + 1), more), {T, B}), 0, 1);
  };
  found.start = pointer(0, (*start_)(m));
  found.end = pointer(1, (*end_)(m2));
  found.lengths = read.lengths;
  if (none_) {
    const Var slots = (*none_)(max_state(transpose(m, 0, 1), read.lengths));
    found.start = with_slot(found.start, slice(slots, 1, 0, 1), found.lengths);
    found.end = with_slot(found.end, slice(slots, 1, 1, 2), found.lengths);
  }
  return found;
}

/// Mean over the two predictions of each answer.
Var Reader::loss(const data::Batch& batch, Training* training) const {
  require_same_count("reader", batch);
  refuse_own_words("reader", training);
  require(batch.target.ids.shape == Shape{batch.source.count(), 2} &&
              std::ranges::all_of(batch.target.lengths, [](int32_t length) { return length == 2; }),
          "reader: expected the first and the last place of each answer as its target, got targets ",
          batch.target.ids.shape);
  const Pointers found = pointers(batch.source, training);
  const Var losses = span_loss(found.start, found.end, batch.target.ids, found.lengths,
                               {.joint = options_.spans == "joint", .none = options_.no_answer});
  if (batch.only.empty()) return mean(losses);
  return mean(gather(losses, Ids({losses.dim(0)}, batch.only)));
}

struct Reader::Spans : State {
  Tensor start, end;                // [sources,S]
  std::vector<int32_t> lengths;     // of the documents
  std::vector<int32_t> source_of;   // by hypothesis
  std::vector<int32_t> first;       // by hypothesis, once it is known
  bool joint = true, none = false;
  int64_t step = 0;

  void take(std::span<const int32_t> rows) override {
    source_of = taken(source_of, rows);
    if (!first.empty()) first = taken(first, rows);
  }
  kernels::SpanScores scores(int32_t source) const {
    const int64_t S = start.dim(1);
    return {start.data() + source * S, end.data() + source * S,
            static_cast<size_t>(lengths[static_cast<size_t>(source)]), none, joint};
  }
};

std::unique_ptr<State> Reader::begin(const data::Source& source) const {
  require(!source.empty(), "reader: expected at least one source, got none");
  const TapePause pause;
  const Pointers found = pointers(source);
  auto state = std::make_unique<Spans>();
  state->start = found.start.value(), state->end = found.end.value();
  state->lengths = found.lengths;
  state->joint = options_.spans == "joint", state->none = options_.no_answer;
  state->source_of.resize(found.lengths.size());
  std::iota(state->source_of.begin(), state->source_of.end(), 0);
  return state;
}

/// ln p of the first place up to a constant, then of the last one after it.
Tensor Reader::next(State& state, std::span<const int32_t> last) const {
  auto& spans = dynamic_cast<Spans&>(state);
  require(last.size() == spans.source_of.size(), "next: expected one id for each of ", spans.source_of.size(),
          " hypotheses, got ", last.size());
  require(spans.step < 2, "next: a span has a first and a last place, and both have been given");
  const int64_t N = static_cast<int64_t>(last.size()), S = spans.start.dim(1);
  Tensor logits = Tensor::full({N, S}, kernels::kMaskedLog);
  for (int64_t n = 0; n < N; ++n) {
    const kernels::SpanScores scores = spans.scores(spans.source_of[static_cast<size_t>(n)]);
    real* row = logits.data() + n * S;
    if (spans.step == 0) {
      std::vector<double> starts(scores.slots());
      kernels::span_starts(scores, starts.data());
      std::transform(starts.begin(), starts.end(), row, [](double x) { return static_cast<real>(x); });
      continue;
    }
    const int32_t first = last[static_cast<size_t>(n)];
    require(first >= 0 && static_cast<size_t>(first) < scores.slots(), "next: expected a place of the document, below ",
            scores.slots(), ", got ", first);
    for (size_t e = 0; e < scores.slots(); ++e) {
      if (kernels::span_may_end(scores, static_cast<size_t>(first), e)) row[e] = scores.end[e];
    }
  }
  if (Observing::active()) tell(spans, logits);
  ++spans.step;
  return logits;
}

/// Where the pointer of this step points.
void Reader::tell(const Spans& spans, const Tensor& logits) const {
  const int64_t N = logits.dim(0), S = logits.dim(1), T = S - (spans.none ? 1 : 0);
  const Tensor shares = softmax(logits).value();
  Tensor weights = Tensor::zeros({N, 1, 1, T});
  const std::vector<int32_t> lengths = taken(spans.lengths, spans.source_of);
  for (int64_t n = 0; n < N; ++n) {
    std::copy_n(shares.data() + n * S, lengths[static_cast<size_t>(n)], weights.data() + n * T);
  }
  Observing::tell({.site = "reader.pointer",
                   .purpose = Purpose::source,
                   .step = spans.step,
                   .weights = weights,
                   .key_lengths = lengths});
}

std::vector<std::vector<BestAnswer>> Reader::best(const State& state, int64_t count) const {
  const auto& spans = dynamic_cast<const Spans&>(state);
  require(spans.step == 0, "best: expected a state fresh from begin");
  const auto better = [](const BestAnswer& a, const BestAnswer& b) {  // ties: the earlier, then the shorter
    return a.score != b.score ? a.score > b.score : a.tokens < b.tokens;
  };
  std::vector<std::vector<BestAnswer>> all;
  for (const int32_t source : spans.source_of) {
    const kernels::SpanScores scores = spans.scores(source);
    std::vector<BestAnswer>& kept = all.emplace_back();  // a heap whose front is the worst
    const bool beside = scores.none && count > 1;  // no answer is one of them in any case, to be compared with
    const int64_t most = beside ? count - 1 : count;
    const auto consider = [&](size_t s, size_t e) {
      BestAnswer one{{static_cast<int32_t>(s), static_cast<int32_t>(e)},
                     static_cast<double>(scores.start[s]) + static_cast<double>(scores.end[e])};
      if (static_cast<int64_t>(kept.size()) == most) {
        if (!better(one, kept.front())) return;
        std::ranges::pop_heap(kept, better);
        kept.pop_back();
      }
      kept.push_back(std::move(one));
      std::ranges::push_heap(kept, better);
    };
    for (size_t s = 0; s < scores.places; ++s) {
      const size_t end = std::min(scores.places, s + static_cast<size_t>(options_.longest_answer));
      for (size_t e = s; e < end; ++e) consider(s, e);
    }
    if (scores.none && !beside) consider(scores.places, scores.places);
    std::ranges::sort_heap(kept, better);
    if (beside) {
      const size_t slot = scores.places;
      BestAnswer none{{static_cast<int32_t>(slot), static_cast<int32_t>(slot)},
                      static_cast<double>(scores.start[slot]) + static_cast<double>(scores.end[slot])};
      kept.insert(std::ranges::upper_bound(kept, none, better), std::move(none));
    }
  }
  return all;
}

}  // namespace attend::models
