// Searches in company: whoever joins, leaves or ends, each finds what it would have found alone.
#include "attend/decode/crowd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/kernels/gemm.h"
#include "attend/models/zoo.h"
#include "tests/support/markov.h"

namespace attend::decode {
namespace {

using test::MarkovModel;
using Answers = std::vector<std::vector<Hypothesis>>;

constexpr int64_t kCrowdWords = 11;

/// One request: its sources, and how it searches.
struct Request {
  std::vector<std::vector<int32_t>> sources;
  Wanted wanted;
};

std::vector<std::vector<int32_t>> some_words(size_t rows, size_t longest, Random& random) {
  std::vector<std::vector<int32_t>> all(rows);
  for (auto& row : all) {
    const size_t length = 1 + random.below(longest);
    for (size_t i = 0; i < length; ++i) {
      row.push_back(data::kFirstWord + static_cast<int32_t>(random.below(kCrowdWords - data::kFirstWord)));
    }
  }
  return all;
}

Request random_request(Random& random, bool attends) {
  Request one{some_words(1 + random.below(3), 6, random), {}};
  SearchOptions& o = one.wanted.options;
  o.sample = random.below(3) == 0;
  o.beam = o.sample ? 1 : static_cast<int64_t>(1 + random.below(5));
  o.n_best = static_cast<int64_t>(1 + random.below(static_cast<uint64_t>(o.sample ? 3 : o.beam)));
  o.seed = static_cast<int64_t>(random.below(100));
  o.first_sentence = static_cast<int64_t>(random.below(1000));
  o.temperature = 0.5 + random.uniform53();
  o.top_k = random.below(2) ? 0 : 3;
  o.length_penalty = random.below(2) ? 0 : 0.8;
  o.coverage_penalty = attends && random.below(3) == 0 ? 0.4 : 0;
  o.uncovered_penalty = attends && random.below(4) == 0 ? 0.1 : 0;
  o.early_stop = random.below(2) == 0;
  o.no_repeat_ngram = random.below(3) == 0 ? 2 : 0;
  o.no_unknown = random.below(2) == 0;
  o.max_length = static_cast<int64_t>(3 + random.below(8));
  o.min_length = static_cast<int64_t>(random.below(3));
  if (random.below(3) == 0) one.wanted.prefixes = some_words(one.sources.size(), 2, random);
  return one;
}

void expect_equal(const Answers& found, const Answers& alone, bool exact, const std::string& what) {
  SCOPED_TRACE(what);
  ASSERT_EQ(found.size(), alone.size());
  for (size_t s = 0; s < alone.size(); ++s) {
    ASSERT_EQ(found[s].size(), alone[s].size()) << "sentence " << s;
    for (size_t i = 0; i < alone[s].size(); ++i) {
      EXPECT_EQ(found[s][i].tokens, alone[s][i].tokens) << "sentence " << s;
      EXPECT_EQ(found[s][i].ended, alone[s][i].ended);
      if (exact) {
        EXPECT_EQ(found[s][i].log_probability, alone[s][i].log_probability) << "sentence " << s;
        EXPECT_EQ(found[s][i].score, alone[s][i].score) << "sentence " << s;
      } else {
        EXPECT_NEAR(found[s][i].log_probability, alone[s][i].log_probability, 1e-4) << "sentence " << s;
      }
    }
  }
}

/// Requests that come and go at random, several at once: what is found equals `alone`.
void expect_company_does_not_matter(const models::Model& model, const std::vector<Request>& requests,
                                    const std::vector<Answers>& alone, Random random, bool exact) {
  Crowd crowd(model);
  std::map<int64_t, size_t> number_of;
  size_t next = 0, found = 0, left = 0;
  while (next < requests.size() || crowd.rows() > 0) {
    const size_t newcomers = std::min(requests.size() - next, static_cast<size_t>(random.below(4)));
    if (newcomers > 0) {
      std::vector<std::vector<int32_t>> sources;
      std::vector<size_t> first;
      for (size_t i = next; i < next + newcomers; ++i) {
        first.push_back(sources.size());
        sources.insert(sources.end(), requests[i].sources.begin(), requests[i].sources.end());
      }
      const data::Source source{data::Sequences(sources)};
      std::vector<Crowd::Search> searches;
      for (size_t i = 0; i < newcomers; ++i) {
        const Request& one = requests[next + i];
        searches.push_back(search_for(model, source, static_cast<int64_t>(first[i]),
                                      static_cast<int64_t>(one.sources.size()), one.wanted));
      }
      for (const int64_t number : crowd.join(source, std::move(searches))) number_of[number] = next++;
    }
    if (random.below(6) == 0 && !number_of.empty()) {
      const auto who = std::next(number_of.begin(), static_cast<std::ptrdiff_t>(random.below(number_of.size())));
      crowd.leave(who->first);
      number_of.erase(who);
      ++left;
    }
    crowd.step();
    for (Crowd::Found& one : crowd.found()) {
      const auto request = number_of.find(one.number);
      if (request == number_of.end()) continue;  // it had ended before it was told to leave
      ASSERT_FALSE(one.error);
      expect_equal(one.answers, alone[request->second], exact, "request " + std::to_string(request->second));
      number_of.erase(request);
      ++found;
    }
  }
  EXPECT_TRUE(number_of.empty());
  EXPECT_EQ(found + left, requests.size());
  EXPECT_GT(left, 0u);
}

std::vector<Request> some_requests(size_t count, bool attends, Random& random) {
  std::vector<Request> requests;
  for (size_t i = 0; i < count; ++i) requests.push_back(random_request(random, attends));
  return requests;
}

std::vector<Answers> each_alone(const models::Model& model, const std::vector<Request>& requests) {
  std::vector<Answers> all;
  for (const Request& one : requests) {
    all.push_back(search(model, data::Sequences(one.sources), one.wanted.options, one.wanted.prefixes));
  }
  return all;
}

double look_at(int64_t, int64_t head, int32_t last, int32_t length, int64_t i) {
  return head == 0 ? (last % length == i ? 1 : 0) : 1.0 / length;
}

TEST(Crowd, OfAModelThatJoinsFindsWhatEachSearchFindsAlone) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    MarkovModel model = MarkovModel::random(kCrowdWords, 4, seed);
    model.attention = look_at;
    for (const bool joins : {true, false}) {
      model.joins = joins;
      Random random(seed);
      const std::vector<Request> requests = some_requests(40, true, random);
      expect_company_does_not_matter(model, requests, each_alone(model, requests), random, true);
    }
  }
}

TEST(Crowd, AsksOnceForAllThatJoin) {
  MarkovModel model = MarkovModel::random(kCrowdWords, 2, 1);
  Random random(1);
  Crowd crowd(model);
  for (int i = 0; i < 5; ++i) {
    const data::Source source{data::Sequences(some_words(2, 4, random))};
    std::vector<Crowd::Search> searches;
    searches.push_back(search_for(model, source, 0, 2, {.options = {.min_length = 9, .max_length = 9}}));
    crowd.join(source, std::move(searches));
    const int64_t before = model.steps;
    crowd.step();
    EXPECT_EQ(model.steps, before + 1);
    EXPECT_EQ(crowd.rows(), 2 * (i + 1));
  }
}

TEST(Crowd, TellsTheLikeliestBeginning) {
  const MarkovModel model = MarkovModel::random(kCrowdWords, 2, 5);
  Random random(3);
  const data::Source source{data::Sequences(some_words(1, 4, random))};
  const SearchOptions greedy{.min_length = 6, .max_length = 6};
  const auto whole = search(model, source, greedy);
  Crowd crowd(model);
  std::vector<Crowd::Search> searches;
  searches.push_back(search_for(model, source, 0, 1, {.options = greedy}));
  const int64_t number = crowd.join(source, std::move(searches)).at(0);
  EXPECT_TRUE(crowd.likeliest(number).empty());
  for (size_t steps = 1; steps < 6; ++steps) {
    crowd.step();
    const std::vector<int32_t> first(whole[0][0].tokens.begin(),
                                     whole[0][0].tokens.begin() + static_cast<std::ptrdiff_t>(steps));
    EXPECT_EQ(crowd.likeliest(number), first);
  }
}

/// Fails in its third step.
struct Failing : SearchWatcher {
  void predicted(const Predicted&) override {}
  void stepped() override {
    if (++steps == 3) fail("enough");
  }
  int steps = 0;
};

TEST(Crowd, WhatGoesWrongForOneEndsThatOneAlone) {
  const MarkovModel model = MarkovModel::random(kCrowdWords, 2, 5);
  Random random(4);
  const data::Source source{data::Sequences(some_words(3, 4, random))};
  const SearchOptions options{.beam = 2, .min_length = 5, .max_length = 5};
  const auto alone = search(model, source, options);
  Failing watcher;
  Crowd crowd(model);
  std::vector<Crowd::Search> searches;
  for (int64_t s = 0; s < 3; ++s) {
    searches.push_back(search_for(model, source, s, 1, {.options = options, .watcher = s == 1 ? &watcher : nullptr}));
  }
  const std::vector<int64_t> numbers = crowd.join(source, std::move(searches));
  while (crowd.rows() > 0) crowd.step();
  std::vector<Crowd::Found> found = crowd.found();
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].number, numbers[1]);
  EXPECT_THROW(std::rethrow_exception(found[0].error), Error);
  for (size_t i : {size_t{1}, size_t{2}}) {
    const size_t s = static_cast<size_t>(found[i].number - numbers[0]);
    EXPECT_EQ(found[i].answers.at(0).at(0).tokens, alone[s][0].tokens);
  }
}

/// Networks as small as they get, one for each kind of state that joins, and one that does not.
struct Network {
  std::string name;
  Settings settings;
};
std::vector<Network> networks() {
  const std::string words = std::to_string(kCrowdWords);
  const Settings recurrent{
      {"source_vocabulary", words}, {"target_vocabulary", words}, {"embedding", "24"}, {"hidden", "40"}};
  const Settings transformer{
      {"source_vocabulary", words}, {"target_vocabulary", words}, {"size", "32"}, {"heads", "2"}, {"hidden", "48"},
      {"encoder_layers", "2"},      {"decoder_layers", "2"}};
  const auto with = [](Settings settings, const std::string& name, const std::string& value) {
    settings[name] = value;
    return settings;
  };
  return {{"recurrent", recurrent},
          {"recurrent", with(recurrent, "attention.score", "general")},
          {"recurrent", with(with(recurrent, "decoder.query", "after"), "decoder.feeding", "true")},
          {"recurrent", with(recurrent, "attention.coverage", "true")},
          {"recurrent", with(with(recurrent, "attention.window", "local_p"), "attention.width", "2")},
          {"recurrent", with(recurrent, "decoder.input", "reread")},
          {"transformer", transformer},
          {"language_model", transformer}};
}

TEST(Crowd, OfANetworkWithSteadyRowsIsTheSameToTheBit) {
  const TapePause pause;
  for (const Network& network : networks()) {
    SCOPED_TRACE(network.name + " " + (network.settings.contains("attention.score") ? "general" : ""));
    Random random = Random(9).named(network.name);
    const auto model = models::make_model(network.name, network.settings, random);
    const bool attends = network.name != "language_model" && !network.settings.contains("decoder.input");
    const std::vector<Request> requests = some_requests(24, attends, random);
    const kernels::SteadyRows steady;
    const kernels::PackedWeights packed;
    expect_company_does_not_matter(*model, requests, each_alone(*model, requests), random, true);
  }
}

TEST(Crowd, OfANetworkSaysTheSameWords) {
  const TapePause pause;
  for (const Network& network : networks()) {
    SCOPED_TRACE(network.name);
    Random random = Random(9).named(network.name);
    const auto model = models::make_model(network.name, network.settings, random);
    const bool attends = network.name != "language_model" && !network.settings.contains("decoder.input");
    const std::vector<Request> requests = some_requests(24, attends, random);
    expect_company_does_not_matter(*model, requests, each_alone(*model, requests), random, false);
  }
}

}  // namespace
}  // namespace attend::decode
