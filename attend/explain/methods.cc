#include "attend/explain/methods.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "attend/autograd/ops/shape.h"
#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/decode/search.h"
#include "attend/explain/recorder.h"
#include "attend/models/source_words.h"

namespace attend::explain {
namespace {

constexpr size_t kGradientPasses = 3;  // forwards, and twice as much backwards
constexpr double kLeast = -30;         // ln p of a word that could only be copied, from a place that is not looked at
constexpr size_t kOutputs = 4;         // words per step whose probability the Jacobian follows

/// How many of `rows` copies of an answer go into one pass.
int64_t rows_at_once(const Answered& a) {
  const int64_t read = static_cast<int64_t>(a.source.size()) * a.frames_of_place();
  return std::max<int64_t>(1, a.pass_tokens / std::max<int64_t>(read, a.steps() + 1));
}

/// One prediction to ask about: ln p(target[step] | what is before it), the end where step is the target's length.
struct Question {
  std::vector<int32_t> target;
  int32_t step;
};

/// The numbers of one row of [B,T,D] with zeros behind them, `count` in all.
std::vector<real> padded_row(const Tensor& all, size_t row, size_t count) {
  const size_t numbers = static_cast<size_t>(all.dim(1) * all.dim(2));
  std::vector<real> padded(count);
  std::copy_n(all.data() + row * numbers, std::min(numbers, count), padded.data());
  return padded;
}

/// Calls take(q, x, g, D) with the source words x [S,D] and g = ∂ ln p / ∂x for every question; many in one pass, each
/// in its own row, as rows do not affect each other. Of a sound, D are all numbers of the frames of a place.
template <class Take>
void gradients(const Answered& a, const std::vector<Question>& questions, Take&& take) {
  const size_t at_once = static_cast<size_t>(rows_at_once(a)), S = a.source.size();
  a.require_passes(kGradientPasses * questions.size());
  for (size_t begin = 0; begin < questions.size(); begin += at_once) {
    a.checked();
    const size_t count = std::min(at_once, questions.size() - begin);
    std::vector<std::vector<int32_t>> targets;
    data::Batch batch;
    for (size_t i = 0; i < count; ++i) {
      targets.push_back(questions[begin + i].target);
      batch.only.push_back(questions[begin + i].step);
    }
    batch.source = a.sources(count);
    batch.target = data::Sequences(targets);
    const FrozenLeaves frozen;
    const models::SourceWords words;
    Tape tape;
    const Var loss = a.model.loss(batch);
    // The loss is the mean of −ln p over the rows.
    tape.backward(loss, Tensor::full(loss.shape(), -static_cast<real>(count)));
    const Tensor x = words.words(), gradient = words.gradient();
    const size_t width = static_cast<size_t>(x.dim(2) * a.frames_of_place());
    for (size_t i = 0; i < count; ++i) {
      const std::vector<real> read = padded_row(x, i, S * width), slope = padded_row(gradient, i, S * width);
      take(begin + i, std::span<const real>(read), std::span<const real>(slope), width);
    }
  }
}

/// Σ_d x[s,d]·g[s,d].
double dot(std::span<const real> a, std::span<const real> b, size_t s, size_t width) {
  double sum = 0;
  for (size_t d = s * width; d < (s + 1) * width; ++d) sum += static_cast<double>(a[d]) * static_cast<double>(b[d]);
  return sum;
}

std::vector<Question> said(const Answered& a) {
  std::vector<Question> questions;
  for (int64_t t = 0; t < a.steps(); ++t) questions.push_back({a.target, static_cast<int32_t>(t)});
  return questions;
}

Tensor saliency(const Answered& a, const AttentionPart&) {
  const size_t S = a.source.size();
  Tensor map({a.steps(), static_cast<int64_t>(S)});
  gradients(a, said(a), [&](size_t t, std::span<const real> x, std::span<const real> g, size_t width) {
    for (size_t s = 0; s < S; ++s) map.data()[t * S + s] = static_cast<real>(dot(x, g, s, width));
  });
  return map;
}

/// The answer with another token at a step, and what came before it.
std::vector<int32_t> with_token(const Answered& a, size_t step, int32_t token) {
  std::vector<int32_t> target = a.target;
  if (a.model.answer_length(static_cast<int64_t>(a.source.size())) >= 0) {
    target[step] = token;
    return target;
  }
  target.resize(step);
  if (token != data::kEnd) target.push_back(token);
  return target;
}

/// For each step the predicted word and the likeliest others.
std::vector<std::vector<int32_t>> outputs(const Answered& a) {
  Recorder recorder;
  const data::Batch batch{a.sources(), data::Sequences({a.target})};
  const std::vector<int32_t> chain = recorder.chain(decode::score(a.model, batch, &recorder)[0].node);
  std::vector<std::vector<int32_t>> all;
  for (size_t t = 0; t < static_cast<size_t>(a.steps()); ++t) {
    const int32_t said = t < a.target.size() ? a.target[t] : data::kEnd;
    std::vector<int32_t> ids = recorder.continuations(0, t == 0 ? -1 : chain[t - 1]);
    std::erase(ids, said);
    ids.insert(ids.begin(), said);
    ids.resize(std::min(ids.size(), kOutputs));
    all.push_back(std::move(ids));
  }
  return all;
}

Tensor jacobian(const Answered& a, const AttentionPart&) {
  const size_t S = a.source.size();
  const std::vector<std::vector<int32_t>> words = outputs(a);
  std::vector<Question> questions;
  for (size_t t = 0; t < words.size(); ++t) {
    for (const int32_t word : words[t]) questions.push_back({with_token(a, t, word), static_cast<int32_t>(t)});
  }
  Tensor map = Tensor::zeros({a.steps(), static_cast<int64_t>(S)});
  gradients(a, questions, [&](size_t q, std::span<const real>, std::span<const real> g, size_t width) {
    real* row = map.data() + static_cast<size_t>(questions[q].step) * S;
    for (size_t s = 0; s < S; ++s) row[s] += static_cast<real>(dot(g, g, s, width));
  });
  for (size_t i = 0; i < map.size(); ++i) map.data()[i] = std::sqrt(map.data()[i]);
  return map;
}

Tensor occlusion(const Answered& a, const AttentionPart&) {
  const size_t S = a.source.size(), T = static_cast<size_t>(a.steps());
  require(a.may_lose_words(),
          "occlusion: expected an answer whose length does not depend on the source's; this model gives one label per "
          "source token; try saliency or jacobian");
  std::vector<std::vector<int32_t>> kept(S);
  for (size_t s = 0; s < S; ++s) {
    for (size_t place = 0; place < S; ++place) {
      if (place != s) kept[s].push_back(static_cast<int32_t>(place));
    }
  }
  const std::vector<std::vector<double>> changed = rescored(a, kept);
  Tensor map({a.steps(), static_cast<int64_t>(S)});
  for (size_t t = 0; t < T; ++t) {
    for (size_t s = 0; s < S; ++s) {
      map.data()[t * S + s] = static_cast<real>(a.log_probabilities[t] - changed[s][t]);
    }
  }
  return map;
}

Tensor attention(const Answered& a, const AttentionPart& part) { return attention_map(a, part); }

/// ½·had + ½·weights·read: a layer that adds what it reads to what it has.
Tensor mixed(const Tensor& had, const Tensor& weights, const Tensor& read) {
  Tensor y(had.shape());
  const int64_t rows = had.dim(0), keys = weights.dim(1), wide = had.dim(1);
  require(weights.dim(0) >= rows && read.dim(0) >= keys && read.dim(1) == wide, "rollout: expected ", rows,
          " rows of weights for at most ", read.dim(0), " places, got ", weights.shape());
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < wide; ++c) {
      real sum = 0;
      for (int64_t k = 0; k < keys; ++k) sum += weights.data()[r * keys + k] * read.data()[k * wide + c];
      y.data()[r * wide + c] = (had.data()[r * wide + c] + sum) / 2;
    }
  }
  return y;
}

/// The mean over the heads of the attention for this purpose [Tq,Tk]; undefined if there is none in that layer.
Tensor mean_heads(const Answered& a, Purpose purpose, int64_t layer) {
  for (const TraceSite& one : a.sites) {
    if (one.purpose != purpose || one.layer != layer) continue;
    Tensor mean = Tensor::zeros({one.weights.dim(1), one.weights.dim(2)});
    for (size_t i = 0; i < one.weights.size(); ++i) {
      mean.data()[i % mean.size()] += one.weights.data()[i] / static_cast<real>(one.heads);
    }
    return mean;
  }
  return {};
}

/// Each layer adds what it reads to what it has, half and half (Abnar & Zuidema 2020, eq. 1): in the encoder E ← ½E +
/// ½WE; in the decoder R ← ½R + ½WR through self-attention, then R ← ½R + ½WE where it reads the source. A pooling,
/// which has no state of its own, reads only E. Rows are scaled to sum to one.
Tensor rollout(const Answered& a, const AttentionPart&) {
  const int64_t S = static_cast<int64_t>(a.source.size()), T = a.steps();
  const Tensor pooled = mean_heads(a, Purpose::pooling, 0), lowest = mean_heads(a, Purpose::self, 0);
  require(pooled.defined() || mean_heads(a, Purpose::source, 0).defined(),
          "rollout: expected a model whose answers attend to its source; try saliency, jacobian or occlusion");
  const int64_t J =
      lowest.defined() ? std::max(S, lowest.dim(0)) : S;  // places of further texts may follow those of the first
  Tensor encoded = Tensor::zeros({J, J});
  for (int64_t j = 0; j < J; ++j) encoded.data()[j * J + j] = 1;
  for (int64_t layer = 0;; ++layer) {
    const Tensor self = mean_heads(a, Purpose::self, layer);
    if (!self.defined()) break;
    encoded = mixed(encoded, self, encoded);
  }
  Tensor map = Tensor::zeros({T, J});
  if (pooled.defined()) map = mixed(map, pooled, encoded);
  for (int64_t layer = 0;; ++layer) {
    const Tensor past = mean_heads(a, Purpose::past, layer), source = mean_heads(a, Purpose::source, layer);
    if (!source.defined()) break;
    if (past.defined()) map = mixed(map, past, map);
    map = mixed(map, source, encoded);
  }
  map = slice(map, 1, 0, S).value();
  for (int64_t t = 0; t < T; ++t) {
    real* row = map.data() + t * S;
    real sum = 0;
    for (int64_t s = 0; s < S; ++s) sum += row[s];
    for (int64_t s = 0; s < S && sum > 0; ++s) row[s] /= sum;
  }
  return map;
}

constexpr MethodRow kMethods[] = {
    {"attention", "αₜₛ: where it looked when it said word t", "Bahdanau et al. 2015", false, true, false, attention},
    {"rollout", "½(I + W) of all layers, multiplied: where its layers together looked", "Abnar & Zuidema 2020", false,
     true, false, rollout},
    {"saliency", "xₛ · ∂ln p(yₜ)/∂xₛ: which words spoke for and against word t", "Simonyan et al. 2014", true, false,
     true, saliency},
    {"jacobian", "‖∂ln p/∂xₛ‖ over word t and the 3 likeliest others: what t depended on", "Graves 2012, section 3.5",
     false, false, true, jacobian},
    {"occlusion", "ln p(yₜ | x) − ln p(yₜ | x without xₛ): what is lost without a word", "Zeiler & Fergus 2014", true,
     false, true, occlusion},
};

/// The layers of the site that a part names, in their order.
std::vector<const TraceSite*> layers_of(const std::vector<TraceSite>& all, const AttentionPart& part) {
  std::vector<const TraceSite*> layers;
  std::string sites;
  for (const TraceSite& site : all) {
    if (site.site == part.site) layers.push_back(&site);
    if (sites.find(site.site) == sites.npos) sites += (sites.empty() ? "" : ", ") + site.site;
  }
  require(!sites.empty(),
          "attention: expected a model that attends; of this one ask for saliency, jacobian or occlusion");
  require(!layers.empty(), "attention: expected a site that the model has: ", sites, "; got ", part.site);
  return layers;
}

/// The sites that a part names, in the order of their layers.
std::vector<const TraceSite*> parts_of(const std::vector<TraceSite>& sites, const AttentionPart& part) {
  std::vector<const TraceSite*> all;
  std::string there;
  for (const TraceSite* site : layers_of(sites, part)) {
    there += (there.empty() ? "" : ", ") + std::to_string(site->layer) + " (" + std::to_string(site->heads) +
             (site->heads == 1 ? " head)" : " heads)");
    if (part.layer == -1 || site->layer == part.layer) all.push_back(site);
  }
  require(!all.empty(), "attention: expected a layer of ", part.site, " or -1 for all: ", there, "; got ", part.layer);
  for (const TraceSite* site : all) {
    require(part.head >= -1 && part.head < site->heads, "attention: expected head 0 to ", site->heads - 1,
            ", or -1 for all; got ", part.head);
  }
  require(part.combine == "mean" || part.combine == "max", "attention: expected combine mean or max, got ",
          part.combine);
  return all;
}

}  // namespace

std::span<const MethodRow> methods() { return kMethods; }
const MethodRow& method_named(std::string_view name) { return row_named("method", kMethods, name); }

void check_part(const std::vector<TraceSite>& sites, const AttentionPart& part) { (void)parts_of(sites, part); }

Tensor attention_map(const Answered& a, const AttentionPart& part) {
  const std::vector<const TraceSite*> sites = parts_of(a.sites, part);
  const bool past_too = sites[0]->keys == "source+before";
  const int64_t T = sites[0]->weights.dim(1);
  const int64_t S = past_too ? static_cast<int64_t>(a.source.size()) : sites[0]->weights.dim(2);
  Tensor map = Tensor::zeros({T, S});
  real count = 0;
  for (const TraceSite* site : sites) {
    const int64_t wide = site->weights.dim(2);
    for (int64_t h = 0; h < site->heads; ++h) {
      if (part.head >= 0 && h != part.head) continue;
      ++count;
      for (int64_t t = 0; t < T; ++t) {
        for (int64_t s = 0; s < S; ++s) {
          real& to = map.data()[t * S + s];
          const real from = site->weights.data()[(h * T + t) * wide + s];
          to = part.combine == "max" ? std::max(to, from) : to + from;
        }
      }
    }
  }
  for (size_t i = 0; i < map.size() && part.combine == "mean"; ++i) map.data()[i] /= count;
  return map;
}

std::string part_label(const Answered& a, const AttentionPart& part) {
  const std::vector<const TraceSite*> sites = parts_of(a.sites, part);
  const auto counted = [](int64_t n, const char* what) { return std::to_string(n) + " " + what + (n == 1 ? "" : "s"); };
  const int64_t heads = sites[0]->heads;
  if (part.layer >= 0 && part.head >= 0) {
    return "layer " + std::to_string(part.layer) + ", head " + std::to_string(part.head);
  }
  if (sites.size() == 1 && heads == 1) return "";
  const std::string layers =
      part.layer >= 0 ? "layer " + std::to_string(part.layer) : counted(static_cast<int64_t>(sites.size()), "layer");
  const std::string of = part.head >= 0 ? "head " + std::to_string(part.head) : counted(heads, "head");
  return part.combine + " of " + layers + " × " + of;
}

void Answered::require_passes(size_t count) const {
  const int64_t tokens = static_cast<int64_t>(count) * (static_cast<int64_t>(source.size()) + steps());
  if (most_tokens == 0 || tokens <= most_tokens) return;
  throw TooLarge("explain: at most " + std::to_string(most_tokens) +
                 " tokens may be read to explain one answer, this needs " + std::to_string(tokens) +
                 "; ask for a shorter text, a smaller max_length or the method attention");
}

std::vector<decode::Hypothesis> Answered::scored(const data::Batch& batch) const {
  decode::StepWatcher steps(check);
  std::vector<decode::Hypothesis> all = decode::score(model, batch, check ? &steps : nullptr);
  for (decode::Hypothesis& one : all) {
    for (double& step : one.token_log_probabilities) step = std::max(step, kLeast);
  }
  return all;
}

data::Source Answered::sources(size_t copies) const {
  std::vector<int32_t> places(source.size());
  std::iota(places.begin(), places.end(), 0);
  return sources(std::vector(copies, places));
}

namespace {

/// A part besides the words and letters of the source: what belongs to its tokens loses those places, too; what else was read
/// stays.
void add_part(const data::Part& part, const std::vector<std::vector<int32_t>>& kept, bool hidden, data::Source& all) {
  const std::string first = all.parts().front().name + ".";
  const bool of_source = part.name.starts_with(first);
  require(!part.is_given(), "explain: expected a network that looks for itself, got one that is told where to look");
  if (of_source && part.is_letters()) return;
  std::vector<std::vector<int32_t>> rows;
  if (part.is_letters()) {
    const std::string of = part.name.substr(0, part.name.size() - data::Part::kLetters.size());
    for (size_t copy = 0; copy < kept.size(); ++copy) {
      for (int64_t word = 0; word < part.ids.count(); ++word) rows.push_back(part.ids.row(word));
    }
    all.add_letters(data::Sequences(rows), of);
    return;
  }
  const std::vector<int32_t> whole = part.ids.row(0);
  for (const std::vector<int32_t>& places : kept) {
    const bool loses = of_source && !hidden;
    rows.push_back(loses ? std::vector<int32_t>() : whole);
    for (const int32_t place : places) {
      if (loses) rows.back().push_back(whole[static_cast<size_t>(place)]);
    }
    if (loses && places.empty() && !whole.empty()) {
      rows.back().push_back(part.name.ends_with(data::Part::kCopies) ? data::kUnknown : whole.front());
    }
  }
  all.add(part.name, data::Sequences(rows));
}

}  // namespace

int64_t Answered::frames_of_place() const {
  if (whole.empty() || !whole.frames().defined()) return 1;
  const auto places = static_cast<int64_t>(source.size());
  return (whole.frames().dim(1) + places - 1) / places;
}

/// Frames that are left out become the mean, 0.
data::Source Answered::sounds(const std::vector<std::vector<int32_t>>& kept) const {
  const Tensor& frames = whole.frames();
  const int64_t count = frames.dim(1), width = frames.dim(2), each = frames_of_place();
  Tensor some = Tensor::zeros({static_cast<int64_t>(kept.size()), count, width});
  for (size_t copy = 0; copy < kept.size(); ++copy) {
    for (const int32_t place : kept[copy]) {
      const int64_t begin = place * each, end = std::min(begin + each, count);
      std::copy(frames.data() + begin * width, frames.data() + end * width,
                some.data() + (static_cast<int64_t>(copy) * count + begin) * width);
    }
  }
  data::Source all;
  all.add(whole.parts().front().name, std::move(some), std::vector<int32_t>(kept.size(), static_cast<int32_t>(count)));
  return all;
}

data::Source Answered::sources(const std::vector<std::vector<int32_t>>& kept) const {
  if (!whole.empty() && whole.frames().defined()) return sounds(kept);
  require(letters.empty() || letters.size() == source.size(), "explain: expected the letters of ", source.size(),
          " words, got those of ", letters.size());
  std::vector<std::vector<int32_t>> ids;
  std::vector<std::vector<std::vector<int32_t>>> spelled;
  for (const std::vector<int32_t>& places : kept) {
    ids.emplace_back(), spelled.emplace_back();
    if (points()) {
      ids.back().assign(source.size(), data::kUnknown), spelled.back().resize(source.size());
      for (const int32_t place : places) {
        const auto at = static_cast<size_t>(place);
        ids.back()[at] = source[at];
        if (!letters.empty()) spelled.back()[at] = letters[at];
      }
      continue;
    }
    for (const int32_t place : places) {
      ids.back().push_back(source[static_cast<size_t>(place)]);
      if (!letters.empty()) spelled.back().push_back(letters[static_cast<size_t>(place)]);
    }
    if (places.empty() && !source.empty()) ids.back().push_back(data::kUnknown);
  }
  const std::string name(whole.empty() ? data::Source::kText : std::string_view(whole.parts().front().name));
  data::Source all;
  all.add(name, data::Sequences(ids));
  if (!letters.empty()) all.add_letters(data::letter_rows(spelled, all.text().longest()));
  for (size_t i = 1; i < whole.parts().size(); ++i) add_part(whole.parts()[i], kept, points(), all);
  return all;
}

std::vector<std::vector<double>> rescored(const Answered& a, const std::vector<std::vector<int32_t>>& kept) {
  const size_t at_once = static_cast<size_t>(rows_at_once(a));
  a.require_passes(kept.size());
  std::vector<std::vector<double>> all;
  for (size_t begin = 0; begin < kept.size(); begin += at_once) {
    a.checked();
    const size_t count = std::min(at_once, kept.size() - begin);
    const auto from = kept.begin() + static_cast<std::ptrdiff_t>(begin);
    const data::Batch batch{a.sources({from, from + static_cast<std::ptrdiff_t>(count)}),
                            data::Sequences(std::vector(count, a.target))};
    for (decode::Hypothesis& one : a.scored(batch)) {
      one.token_log_probabilities.resize(static_cast<size_t>(a.steps()));
      all.push_back(std::move(one.token_log_probabilities));
    }
  }
  return all;
}

}  // namespace attend::explain
