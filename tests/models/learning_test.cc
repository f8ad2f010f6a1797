// It learns: small tasks from generated pairs, each about half a minute on two cores. Accuracies are printed.
#include "tests/support/learning.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "attend/decode/ctc.h"
#include "attend/models/ctc_model.h"
#include "attend/models/recurrent.h"

namespace attend::test {
namespace {

constexpr int32_t kKinds = 20;

Settings recurrent_settings(const Settings& more) {
  const std::string words = std::to_string(data::kFirstWord + kKinds);
  Settings all{{"source_vocabulary", words}, {"target_vocabulary", words}, {"embedding", "48"}, {"hidden", "64"}};
  for (const auto& [name, value] : more) all[name] = value;
  return all;
}

std::unique_ptr<models::Model> taught(const std::string& model, const Settings& settings, const Task& task,
                                      const Lesson& lesson, const char* name) {
  Random random(1);
  auto network = models::make_model(model, settings, random);
  teach(*network, task, lesson, name);
  return network;
}

std::map<size_t, double> exact(const models::Model& model, const Task& task, const Lesson& lesson, const char* name) {
  const auto by_length = exact_by_length(model, task, lesson.shortest, lesson.longest, 50);
  print_by_length(name, by_length);
  return by_length;
}

double mean_from(const std::map<size_t, double>& by_length, size_t shortest) {
  std::map<size_t, double> part(by_length.lower_bound(shortest), by_length.end());
  return mean_of(part);
}

// One vector must hold the whole input: the longer it is, the less of it comes out again. Attention reads it instead.
TEST(ReverseSlow, AttentionHoldsWhereAFixedVectorFails) {
  const Task task = reverse_task(kKinds);
  const Lesson lesson{.longest = 20, .steps = 500, .rate = 4e-3};
  const auto learn = [&](const char* input) {
    const auto network = taught("recurrent", recurrent_settings({{"decoder.input", input}}), task, lesson, input);
    return exact(*network, task, lesson, input);
  };
  const auto attention = learn("attention");
  EXPECT_GE(mean_of(attention), 0.99);
  EXPECT_GE(mean_from(attention, 15), 0.99);
  for (const char* input : {"initial_state", "every_step"}) {
    const auto fixed = learn(input);
    EXPECT_GT(fixed.at(2), 0.8) << input;           // it does learn, while the input is short,
    EXPECT_LT(mean_from(fixed, 12), 0.5) << input;  // and falls behind as it grows
  }
}

/// A sentence of known words with two names that are outside the vocabulary, and what is said about them: the second name,
/// a word of the sentence, the first name. Names are new in every sentence.
data::Batch about_names(int64_t count, Random& random, bool copies) {
  constexpr int32_t kWords = data::kFirstWord + kKinds;
  std::vector<std::vector<int32_t>> read, said, targets;
  for (int64_t i = 0; i < count; ++i) {
    const size_t length = 6 + random.below(7), first = random.below(length / 2), second = length / 2 + random.below(length / 2);
    read.push_back(random_words(length, kKinds, random));
    said.push_back(read.back());
    read.back()[first] = read.back()[second] = data::kUnknown;
    said.back()[first] = kWords, said.back()[second] = kWords + 1;
    const int32_t between = read.back()[length - 1 == second ? 0 : length - 1];
    const int32_t word = between == data::kUnknown ? data::kFirstWord : between;
    targets.push_back({copies ? kWords + 1 : data::kUnknown, word, copies ? kWords : data::kUnknown});
  }
  data::Batch batch{data::Sequences(read), data::Sequences(targets)};
  if (copies) batch.source.add_copies(data::Sequences(said));
  return batch;
}

/// How many of 200 new sentences are answered exactly; without copying, a name is said as an unknown word and is not right.
double exact_names(const models::Model& model, bool copies) {
  Random random(77);
  const data::Batch named = about_names(200, random, true);
  Random again(77);
  const auto found = decode::search(model, about_names(200, again, copies).source, {.max_length = 6});
  double right = 0;
  for (size_t b = 0; b < found.size(); ++b) {
    right += found[b][0].tokens == named.target.row(static_cast<int64_t>(b)) ? 1 : 0;
  }
  return right / static_cast<double>(found.size());
}

// A name that training never saw can be said only by copying it.
TEST(CopySlow, UnseenNamesComeThrough) {
  for (const char* model : {"recurrent", "transformer"}) {
    for (const bool copies : {true, false}) {
      Settings settings{{"source_vocabulary", std::to_string(data::kFirstWord + kKinds)},
                        {"target_vocabulary", std::to_string(data::kFirstWord + kKinds)}};
      const bool recurrent = model == std::string("recurrent");
      const Settings more = recurrent ? Settings{{"embedding", "32"}, {"hidden", "64"}, {"decoder.query", "after"}}
                                      : Settings{{"size", "64"},           {"hidden", "128"},       {"heads", "4"},
                                                 {"encoder_layers", "2"},  {"decoder_layers", "2"}, {"dropout", "0"},
                                                 {"label_smoothing", "0"}};
      settings.insert(more.begin(), more.end());
      settings[recurrent ? "decoder.copy" : "copy"] = copies ? "true" : "false";
      Random random(1), draws(5);
      const auto network = models::make_model(model, settings, random);
      const auto adam = train::make_optimiser("adam", {}, nn::parameters(*network));
      models::Training training{Random(3), 0};
      for (const int64_t steps = recurrent ? 400 : 800; training.update < steps; ++training.update) {
        Tape tape;
        tape.backward(network->loss(about_names(32, draws, copies), &training));
        adam->step(recurrent ? 5e-3 : 2e-3, train::clip_scale(train::gradient_norm(adam->parameters()), 1));
        adam->clear_gradients();
      }
      const double exact = exact_names(*network, copies);
      std::printf("%s %s copying: %.1f %%\n", model, copies ? "with" : "without", 100 * exact);
      EXPECT_TRUE(copies ? exact >= 0.95 : exact < 0.05) << model;
    }
  }
}

TEST(ReverseAgainSlow, ReadingForEveryWord) {
  const Task task = reverse_task(kKinds);
  const Lesson lesson{.longest = 20, .steps = 250, .batch = 32, .rate = 4e-3};
  const auto network = taught("recurrent", recurrent_settings({{"decoder.input", "reread"}}), task, lesson, "reread");
  const auto by_length = exact(*network, task, lesson, "reread");
  EXPECT_GT(by_length.at(2), 0.5);
}

TEST(ReverseAfterSlow, TheQueryAfterTheUpdate) {
  const Task task = reverse_task(kKinds);
  const Lesson lesson{.longest = 20, .steps = 500, .rate = 4e-3};
  const Settings settings =
      recurrent_settings({{"decoder.query", "after"}, {"attention.score", "general"}, {"cell", "lstm"}});
  const auto network = taught("recurrent", settings, task, lesson, "general, after");
  EXPECT_GE(mean_of(exact(*network, task, lesson, "general, after")), 0.99);
}

TEST(ReverseTransformerSlow, Learns) {
  const Task task = reverse_task(kKinds);
  const Lesson lesson{.longest = 20, .steps = 1000, .rate = 2e-3};
  const std::string words = std::to_string(data::kFirstWord + kKinds);
  const Settings settings{{"source_vocabulary", words},
                          {"target_vocabulary", words},
                          {"size", "64"},
                          {"heads", "4"},
                          {"hidden", "128"},
                          {"encoder_layers", "2"},
                          {"decoder_layers", "2"},
                          {"dropout", "0"},
                          {"label_smoothing", "0"}};
  const auto network = taught("transformer", settings, task, lesson, "transformer");
  EXPECT_GE(mean_of(exact(*network, task, lesson, "transformer")), 0.99);
}

class HardSlow : public testing::TestWithParam<const char*> {};

TEST_P(HardSlow, LearnsToCopyAndIsUsedWithArgmax) {
  const Task task = copy_task(kKinds);
  const Lesson lesson{.longest = 12, .steps = 600, .rate = 4e-3, .growing = 0.3};
  const Settings settings = recurrent_settings(
      {{"attention.align", GetParam()}, {"attention.straight_through", "true"}, {"reinforce.discount", "0"}});
  const auto network = taught("recurrent", settings, task, lesson, GetParam());
  EXPECT_GE(mean_of(exact(*network, task, lesson, GetParam())), 0.97);
  dynamic_cast<models::RecurrentModel&>(*network).set_align("argmax");
  EXPECT_GE(mean_of(exact(*network, task, lesson, "then argmax")), 0.97);
}
INSTANTIATE_TEST_SUITE_P(Copy, HardSlow, testing::Values("sample", "gumbel"));

class LocalSlow : public testing::TestWithParam<const char*> {};

TEST_P(LocalSlow, FindsItsCentre) {
  const std::string which = GetParam();
  const Task task = which == "copy" ? copy_task(kKinds) : reverse_task(kKinds);
  const Lesson lesson{.longest = 12, .steps = 700, .rate = 4e-3};
  const Settings settings = recurrent_settings({{"attention.window", "local_p"}, {"attention.width", "3"}});
  const auto network = taught("recurrent", settings, task, lesson, GetParam());
  EXPECT_GE(mean_of(exact(*network, task, lesson, GetParam())), 0.97);
}
INSTANTIATE_TEST_SUITE_P(Tasks, LocalSlow, testing::Values("copy", "reverse"));

/// Each word is said one to three times, with silence (one more kind of word) here and there, always between equal ones.
Pair stretched(size_t length, Random& random) {
  Pair p;
  p.target = random_words(length, kKinds, random);
  const int32_t silence = data::kFirstWord + kKinds;
  for (size_t i = 0; i < length; ++i) {
    const bool again = i > 0 && p.target[i] == p.target[i - 1];
    if (again || random.below(4) == 0) p.source.push_back(silence);
    const uint64_t times = 1 + random.below(3);
    for (uint64_t k = 0; k < times; ++k) p.source.push_back(p.target[i]);
  }
  return p;
}

TEST(CtcSlow, AStretchedCopy) {
  const Lesson lesson{.longest = 12, .steps = 300, .rate = 4e-3};
  const Settings settings{{"encoder.vocabulary", std::to_string(data::kFirstWord + kKinds + 1)},
                          {"encoder.size", "48"},
                          {"labels", std::to_string(data::kFirstWord + kKinds)}};
  const auto network = taught("ctc", settings, stretched, lesson, "ctc");
  EXPECT_GE(mean_of(exact(*network, stretched, lesson, "label by label")), 0.97);

  const auto& ctc = dynamic_cast<const models::CtcModel&>(*network);
  Random random(77);
  int best = 0, beam = 0;
  const int count = 200;
  for (int i = 0; i < count; ++i) {
    const Pair p = stretched(1 + random.below(lesson.longest), random);
    const Tensor frames = ctc.frames(data::Sequences(std::vector<std::vector<int32_t>>(1, p.source)))[0];
    best += decode::best_path(frames, data::kPad) == p.target;
    beam += decode::ctc_beam(frames, data::kPad, 4)[0].tokens == p.target;
  }
  std::printf("best path %.1f %%, beam %.1f %%\n", 100.0 * best / count, 100.0 * beam / count);
  EXPECT_GE(best, 0.97 * count);
  EXPECT_GE(beam, 0.97 * count);
}

/// A mark in the first half of much noise; the word after it is the answer.
Pair marked(size_t length, Random& random) {
  Pair p;
  p.source = random_words(length, kKinds - 1, random);
  const size_t at = random.below(length / 2);
  p.source[at] = data::kFirstWord + kKinds - 1;
  p.target = {p.source[at + 1]};
  return p;
}

Settings classifier_settings(const Settings& more) {
  const std::string words = std::to_string(data::kFirstWord + kKinds);
  Settings all{{"encoder.vocabulary", words}, {"labels", words}, {"encoder.size", "32"}};
  for (const auto& [name, value] : more) all[name] = value;
  return all;
}

// Fifteen and more steps lie between the word and the end: an lstm of this size does not learn to carry it in that time,
// one that attends to its past has it one step away.
TEST(IntraSlow, FindsAWordInItsOwnPast) {
  const Lesson lesson{.shortest = 30, .longest = 34, .steps = 500, .rate = 5e-3};
  const auto learn = [&](const char* kind) {
    const Settings settings = classifier_settings({{"encoder.kind", kind}, {"encoder.bidirectional", "false"}});
    const auto network = taught("classifier", settings, marked, lesson, kind);
    return mean_of(exact(*network, marked, lesson, kind));
  };
  const double intra = learn("intra"), lstm = learn("recurrent");
  EXPECT_GE(intra, 0.97);
  EXPECT_LT(lstm, intra - 0.2);
}

TEST(PoolingSlow, FindsOneWordInMuchNoise) {
  const Lesson lesson{.shortest = 20, .longest = 40, .steps = 400, .rate = 5e-3};
  const auto learn = [&](const char* pooling) {
    const Settings settings =
        classifier_settings({{"pooling", pooling}, {"encoder.cell", "rnn"}, {"encoder.bidirectional", "false"}});
    const auto network = taught("classifier", settings, marked, lesson, pooling);
    return mean_of(exact(*network, marked, lesson, pooling));
  };
  const double attention = learn("attention"), last = learn("last");
  EXPECT_GE(attention, 0.97);
  EXPECT_LT(last, attention - 0.2);
}

}  // namespace
}  // namespace attend::test
