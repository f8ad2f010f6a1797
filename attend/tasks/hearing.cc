#include "attend/tasks/hearing.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "attend/autograd/ops.h"
#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/data/timed_text.h"
#include "attend/decode/ctc_alignment.h"
#include "attend/explain/alignment.h"
#include "attend/explain/attended.h"
#include "attend/models/ctc_model.h"
#include "attend/models/joint.h"

namespace attend::tasks {
namespace {

constexpr int64_t kSearchedForTimes = 100;  // sounds: where none of these has times, none has

/// CTC's logits [places,labels] of one sound; undefined where the network has none.
Tensor ctc_logits(const TaskModel& model, const Ready& sound) {
  const TapePause pause;
  const data::Source source = model.source(std::array{&sound});
  if (const auto* ctc = dynamic_cast<const models::CtcModel*>(&model.model())) return ctc->frames(source)[0];
  const auto* joint = dynamic_cast<const models::Joint*>(&model.model());
  return joint && joint->learns_ctc() ? joint->frames(source)[0] : Tensor();
}

using explain::PlaceRange;

/// Where each token looked.
std::vector<PlaceRange> attended_by(const TaskModel& model, const Ready& sound, std::span<const int32_t> tokens) {
  const std::vector<std::vector<int32_t>> said{{tokens.begin(), tokens.end()}};
  const Tensor weights =
      explain::memory_weights(model.model(), {model.source(std::array{&sound}), data::Sequences(said)}).at(0);
  const auto places = static_cast<size_t>(weights.dim(1));
  std::vector<PlaceRange> all;
  for (int64_t t = 0; t < weights.dim(0); ++t) {
    all.push_back(explain::attended({weights.data() + static_cast<size_t>(t) * places, places}));
  }
  return all;
}

PlaceRange joined_stretch(std::span<const PlaceRange> tokens, HeardBy by) {
  if (by == HeardBy::attention) return explain::attended_together(tokens);
  return {tokens.front().begin, tokens.back().end};
}

std::vector<PlaceRange> stretches_of(const TaskModel& model, const Ready& sound, std::span<const int32_t> tokens,
                                     HeardBy by) {
  if (tokens.empty()) return {};
  if (by == HeardBy::attention) return attended_by(model, sound, tokens);
  const Tensor logits = ctc_logits(model, sound);
  std::vector<PlaceRange> all;
  for (const decode::LabelFrames& one : decode::ctc_alignment(logits, tokens, data::kPad)) {
    all.push_back({static_cast<double>(one.begin), static_cast<double>(one.end)});
  }
  return all;
}

double seconds_of(const TaskModel& model, const Ready& sound) {
  if (sound.sound) return sound.sound->seconds();
  return static_cast<double>(sound.frames.dim(0)) * model.config().options.features.hop / 1000;
}

std::vector<data::TimedLabel> timed(const TaskModel& model, const Ready& sound, std::span<const int32_t> tokens,
                                    HeardBy by, bool whole_words) {
  const PlaceTimes when = place_times(model);
  const std::vector<PlaceRange> places = stretches_of(model, sound, tokens, by);
  const explain::TraceSide side = model.output().side(tokens, sound);
  std::vector<data::TimedLabel> times;
  const auto add = [&](const std::string& label, size_t first, size_t count) {
    const PlaceRange one = joined_stretch(std::span(places).subspan(first, count), by);
    times.push_back({label, sound.begins + when.begin_of(one.begin), sound.begins + when.begin_of(one.end)});
  };
  for (size_t t = 0, next = 0; t < places.size(); t = next) {
    next = t + 1;
    const int32_t word = side.word_of[t];
    while (whole_words && next < places.size() && side.word_of[next] == word) ++next;
    if (!whole_words) add(side.tokens[t], t, 1);
    if (whole_words && word >= 0) add(side.words[static_cast<size_t>(word)], t, next - t);  // else blanks between words
  }
  data::without_overlap(times, sound.begins, sound.begins + seconds_of(model, sound));
  return times;
}

}  // namespace

PlaceTimes place_times(const TaskModel& model) {
  const data::SoundFeatureOptions& features = model.config().options.features;
  const double hop = features.hop / 1000;
  return {(features.window / 1000 - hop) / 2, static_cast<double>(std::max<int64_t>(1, model.model().stride())) * hop};
}

std::vector<HeardBy> heard_by(const TaskModel& model) {
  std::vector<HeardBy> all;
  const auto* joint = dynamic_cast<const models::Joint*>(&model.model());
  const bool ctc = dynamic_cast<const models::CtcModel*>(&model.model()) != nullptr;
  if (ctc || (joint && joint->learns_ctc())) all.push_back(HeardBy::ctc);
  const Ready sound = model.ready(model.trial());
  const std::vector<std::vector<int32_t>> said{{data::kFirstWord}};
  if (!ctc && explain::attends_to_source(model.model(), {model.source(std::array{&sound}), data::Sequences(said)})) {
    all.push_back(HeardBy::attention);
  }
  return all;
}

std::vector<data::TimedLabel> word_times(const TaskModel& model, const Ready& sound, std::span<const int32_t> tokens,
                                         HeardBy by) {
  return timed(model, sound, tokens, by, true);
}

std::vector<data::TimedLabel> token_times(const TaskModel& model, const Ready& sound, std::span<const int32_t> tokens,
                                          HeardBy by) {
  return timed(model, sound, tokens, by, false);
}

std::vector<data::TimedLabel> stretches(const TaskModel& model, const Ready& sound, std::span<const int32_t> labels) {
  const double hop = model.config().options.features.hop / 1000, last = sound.begins + seconds_of(model, sound);
  std::vector<data::TimedLabel> times;
  for (size_t t = 0; t < labels.size(); ++t) {
    const std::string label = model.output().piece(labels[t]);
    const double end = std::min(last, sound.begins + static_cast<double>(t + 1) * hop);
    if (times.empty() || times.back().label != label) {
      times.push_back({label, times.empty() ? sound.begins : times.back().end, end});
    } else {
      times.back().end = end;
    }
  }
  return times;
}

Tensor posteriors(const TaskModel& model, const Ready& sound) {
  const Tensor logits = ctc_logits(model, sound);
  if (!logits.defined()) return {};
  const TapePause pause;
  return softmax(Var(logits)).value();
}

bool has_times(const TaskModel& model, const Examples& examples) {
  if (model.row().input().reads != models::Reads::sound || !model.output().words()) return false;
  for (int64_t i = 0; i < std::min(examples.count, kSearchedForTimes); ++i) {
    if (!examples.at(i).times.words.empty()) return true;
  }
  return false;
}

TimeErrors time_errors(const TaskModel& model, const Examples& examples, HeardBy by, const Done& done) {
  TimeErrors sum;
  double boundary = 0, middle = 0, outside = 0;
  std::string other;  // what is wrong with the times of the first sound that has other words
  for (int64_t i = 0; i < examples.count; ++i) {
    const Example example = examples.at(i);
    const Ready ready = model.ready(example);
    const std::vector<int32_t> tokens = model.output().encode(right_answer(example, 0), ready);
    const std::vector<data::TimedLabel>& gold = example.times.words;
    const std::vector<data::TimedLabel> found = word_times(model, ready, tokens, by);
    if (other.empty() && !gold.empty() && found.size() != gold.size()) {
      other = std::to_string(gold.size()) + " for the " + std::to_string(found.size()) + " of " + example.name;
    }
    for (size_t w = 0; w < gold.size() && found.size() == gold.size(); ++w) {
      const double at = (found[w].begin + found[w].end) / 2;
      boundary += (std::abs(found[w].begin - gold[w].begin) + std::abs(found[w].end - gold[w].end)) / 2;
      middle += std::abs(at - (gold[w].begin + gold[w].end) / 2);
      outside += std::max({0.0, gold[w].begin - at, at - gold[w].end});
      ++sum.words;
    }
    if (done) done(i + 1);
  }
  require(sum.words > 0, "times: expected the time of each word that is said, got ", other.empty() ? "none" : other);
  const auto count = static_cast<double>(sum.words);
  sum.boundary = boundary / count, sum.middle = middle / count, sum.outside = outside / count;
  return sum;
}

}  // namespace attend::tasks
