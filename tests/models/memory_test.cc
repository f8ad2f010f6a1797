// Memory with hops: what its cells are, what training alone does, and what observers see.
#include "attend/models/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "attend/attention/observe.h"
#include "attend/autograd/tape.h"
#include "attend/models/zoo.h"
#include "tests/models/small.h"
#include "tests/support/message.h"

namespace attend::models {
namespace {

using Texts = std::vector<std::vector<int32_t>>;

data::Source story(const Texts& documents, const Texts& sentences, const Texts& questions) {
  data::Source source;
  source.add("document", data::Sequences(documents))
      .add("document.sentence", data::Sequences(sentences))
      .add("question", data::Sequences(questions));
  return source;
}

const data::Source kStory = story({{4, 5, 6, 7, 8}, {9}}, {{0, 0, 1, 2, 2}, {0}}, {{4, 10}, {5}});
const data::Batch kStoryBatch{kStory, rows({{3}, {1}})};

std::unique_ptr<Model> small_memory(const Settings& more = {}) {
  Random random(5);
  auto model = make_model(
      "memory", Settings{{"source_vocabulary", "11"}, {"labels", "5"}, {"size", "6"}, {"noise", "0"}} + more, random);
  for (const nn::NamedParam& p : nn::parameters(*model)) {
    Var var = p.var;
    for (real& x : var.value().values()) x *= 8;
  }
  return model;
}

double in_training(const Model& model, const data::Batch& batch, int64_t update, uint64_t seed = 1) {
  Training training{Random(seed), update};
  const TapePause pause;
  return static_cast<double>(model.loss(batch, &training).item());
}

TEST(Memory, LinearStartLastsForItsUpdatesInTrainingAlone) {
  const auto plain = small_memory(), linear = small_memory({{"linear_start", "10"}});
  EXPECT_EQ(loss_of(*linear, kStoryBatch), loss_of(*plain, kStoryBatch));
  EXPECT_NE(in_training(*linear, kStoryBatch, 9), in_training(*plain, kStoryBatch, 9));
  EXPECT_EQ(in_training(*linear, kStoryBatch, 10), in_training(*plain, kStoryBatch, 10));
}

TEST(Memory, NoiseIsForTrainingAlone) {
  const auto plain = small_memory(), noisy = small_memory({{"noise", "0.5"}});
  EXPECT_EQ(loss_of(*noisy, kStoryBatch), loss_of(*plain, kStoryBatch));
  std::map<double, int> losses;
  for (uint64_t seed = 0; seed < 20; ++seed) ++losses[in_training(*noisy, kStoryBatch, 0, seed)];
  EXPECT_GT(losses.size(), 5u);
  EXPECT_EQ(in_training(*plain, kStoryBatch, 0), loss_of(*plain, kStoryBatch));
}

TEST(Memory, TheOrderOfWordsCountsUnlessTheyAreABag) {
  const data::Batch forth{story({{4, 5, 6}}, {{0, 0, 0}}, {{4, 10}}), rows({{3}})};
  const data::Batch back{story({{6, 5, 4}}, {{0, 0, 0}}, {{4, 10}}), rows({{3}})};
  const auto position = small_memory(), bag = small_memory({{"words", "bag"}});
  EXPECT_GT(std::abs(loss_of(*position, forth) - loss_of(*position, back)), 1e-3);
  EXPECT_NEAR(loss_of(*bag, forth), loss_of(*bag, back), kTolerance);
}

TEST(Memory, QuestionsMayHaveVectorsOfTheirOwn) {
  const auto shared = small_memory(), own = small_memory({{"own_question", "true"}});
  std::map<std::string, Var> from, to;
  for (const nn::NamedParam& p : nn::parameters(*shared)) from.emplace(p.name, p.var);
  for (const nn::NamedParam& p : nn::parameters(*own)) to.emplace(p.name, p.var);
  ASSERT_EQ(to.size(), from.size() + 1);
  for (auto& [name, var] : to) {
    const bool is_own = !from.contains(name);
    const Var& other = from.at(is_own ? name.substr(0, name.rfind("question")) + "words.0" : name);
    std::ranges::copy(other.value().values(), var.value().values().begin());
  }
  EXPECT_EQ(loss_of(*own, kStoryBatch), loss_of(*shared, kStoryBatch));
  for (auto& [name, var] : to) {
    if (!from.contains(name)) var.value().values()[4 * 6] += 1;  // of word 4, which is asked for
  }
  EXPECT_NE(loss_of(*own, kStoryBatch), loss_of(*shared, kStoryBatch));
}

/// Keeps the weights of each hop.
struct Hops : Sink {
  std::vector<Tensor> weights;
  void observe(const Observation& o) override {
    EXPECT_EQ(o.site, "memory.hop");
    EXPECT_EQ(o.purpose, Purpose::hop);
    EXPECT_EQ(o.layer, static_cast<int64_t>(weights.size()));
    weights.push_back(o.weights);
  }
};

TEST(Memory, TellsWhatEachHopReads) {
  for (const char* cells : {"50", "2"}) {
    const auto model = small_memory({{"cells", cells}});
    Hops hops;
    {
      const Observing observing(hops);
      (void)model->begin(kStory);
    }
    ASSERT_EQ(hops.weights.size(), 3u);
    for (const Tensor& weights : hops.weights) {
      ASSERT_EQ(weights.shape(), (Shape{2, 1, 1, 3})) << "three sentences, remembered or not";
      const real* w = weights.data();
      EXPECT_NEAR(w[0] + w[1] + w[2], 1, 1e-5);
      EXPECT_EQ(w[0] == 0, std::string_view(cells) == "2") << "the first is forgotten";
      EXPECT_NEAR(w[3], 1, 1e-6) << "there is only one";
    }
  }
}

/// The weights of the first hop for the sentences of the first story.
std::vector<real> first_hop(const Model& model) {
  Hops hops;
  const Observing observing(hops);
  (void)model.begin(kStory);
  const real* w = hops.weights.at(0).data();
  return {w, w + 3};
}

TEST(Memory, FilledCellsTakeAShareAsSentencesWithoutWordsWould) {
  const std::vector<real> plain = first_hop(*small_memory({{"cells", "7"}}));
  const std::vector<real> filled = first_hop(*small_memory({{"cells", "7"}, {"filled", "true"}}));
  const real all = filled[0] + filled[1] + filled[2];
  EXPECT_GT(all, real{0.01});
  EXPECT_LT(all, real{0.99});
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(filled[i] / all, plain[i], 1e-5) << "of what the empty cells leave";
  EXPECT_EQ(first_hop(*small_memory({{"cells", "3"}, {"filled", "true"}})), first_hop(*small_memory({{"cells", "3"}})));
}

TEST(Memory, NoiseChangesNothingButAgesWhereCellsAreFilled) {
  const Settings filled{{"filled", "true"}, {"cells", "20"}, {"noise", "0.5"}};
  const auto noisy = small_memory(filled), quiet = small_memory(filled + Settings{{"noise", "0"}});
  std::map<double, int> losses;
  for (uint64_t seed = 0; seed < 20; ++seed) ++losses[in_training(*noisy, kStoryBatch, 0, seed)];
  EXPECT_GT(losses.size(), 2u);
  for (const Model* model : {noisy.get(), quiet.get()}) {
    for (const nn::NamedParam& p : nn::parameters(const_cast<Model&>(*model))) {
      Var var = p.var;
      if (p.name.find("ages") != p.name.npos) std::ranges::fill(var.value().values(), real{0.25});
    }
  }
  for (uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_NEAR(in_training(*noisy, kStoryBatch, 0, seed), in_training(*quiet, kStoryBatch, 0), 1e-4)
        << "an age like all others: the cells between sentences are as empty as those after them";
  }
}

TEST(Memory, AnswersThatAreWordsHaveNoVectorsOfTheirOwn) {
  const auto shapes_of = [](const Settings& settings) {
    std::map<std::string, Shape> shapes;
    for (const nn::NamedParam& p : nn::parameters(*small_memory(settings))) shapes.emplace(p.name, p.var.shape());
    return shapes;
  };
  const auto none = shapes_of({{"tied_output", "true"}});
  const auto some = shapes_of({{"tied_output", "true"}, {"label_words", "4,-1,7,-1,5"}});
  const auto all = shapes_of({{"tied_output", "true"}, {"label_words", "4,6,7,8,5"}});
  EXPECT_EQ(none.at("answers"), (Shape{5, 6}));
  EXPECT_EQ(some.at("answers"), (Shape{2, 6}));
  EXPECT_FALSE(all.contains("answers"));
  for (const auto& shapes : {none, some, all}) EXPECT_FALSE(shapes.contains("output.weight"));
  for (const char* wrong : {"4,6,7,8", "4,6,7,8,11", "4,6,7,8,-2", "4,6,7,8,5,9", "4;6;7;8;5", "4,6,7,8,x"}) {
    const std::string message = test::message_of([&] { small_memory({{"tied_output", "true"}, {"label_words", wrong}}); });
    EXPECT_NE(message.find("expected the numbers of 5 words below 11 with commas between them, got"), std::string::npos)
        << wrong << ": " << message;
  }
}

TEST(Memory, BadInputIsRefused) {
  const auto model = small_memory();
  const auto says = [&](const data::Source& source, const char* part) {
    const std::string message = test::message_of([&] { (void)model->begin(source); });
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  says(rows({{4, 5}}), "got none called \"document\"");
  says(story({{4, 5}}, {{0}}, {{4}}), "expected the sentence of each of the 2 words of document 0, got 1");
  says(story({{4, 5}}, {{1, 0}}, {{4}}), "in their order, got 0 at word 1");
  says(story({{4, 5}}, {{0, 0}}, {{}}), "question 0 is empty");
}

}  // namespace
}  // namespace attend::models
