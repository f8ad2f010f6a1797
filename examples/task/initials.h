// A task of your own: `initials`, the first letters of the words of a sentence ("the old man sings" → "t o m s"). A
// corpus, an output and a row make it a task; docs/extending.md walks through them.
#pragma once

#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/attend.h"

namespace initials {

using namespace attend;

// 1. The corpus: what to learn from if no files are named.

/// Sentences of two to six words and their first letters, with gold links. No sentence occurs twice, so that no held-out
/// one has been memorised.
inline data::BuiltinCorpus make_corpus(uint64_t seed) {
  constexpr std::string_view kWords[] = {"all",   "big",  "birds", "cats",  "come", "dogs", "every", "five", "good",
                                         "green", "home", "in",    "jump",  "keep", "look", "many",  "new",  "old",
                                         "open",  "pale", "quick", "river", "run",  "sing", "small", "the",  "three",
                                         "under", "very", "warm",  "young", "zebras"};
  Random random = Random(seed).named("initials");
  std::set<std::string> seen;
  const auto make = [&] {
    data::Example one;
    const auto words = static_cast<int32_t>(2 + random.below(5));
    for (int32_t i = 0; i < words; ++i) {
      const std::string_view word = kWords[random.below(std::size(kWords))];
      one.source.append(i > 0 ? " " : "").append(word);
      one.target.append(i > 0 ? " " : "").append(word.substr(0, 1));
      one.links.push_back({i, i});
    }
    return one;
  };
  data::BuiltinCorpus corpus;
  const auto fill = [&](std::vector<data::Example>& part, size_t count) {
    while (part.size() < count) {
      if (data::Example one = make(); seen.insert(one.source).second) part.push_back(std::move(one));
    }
  };
  fill(corpus.train, 2000), fill(corpus.valid, 100), fill(corpus.test, 100);
  return corpus;
}

// 2. The output: words, exactly one for each word of the input.

/// While letters are missing, the answer must not end; when all are said, nothing else may follow.
class OneForEachWord : public decode::Constraint {
 public:
  OneForEachWord(std::span<const tasks::Ready* const> batch, int32_t vocabulary) : vocabulary_(vocabulary) {
    for (const tasks::Ready* one : batch) words_.push_back(one->tokens.words.size());
  }

  void ban(int32_t sentence, std::span<const int32_t> said, int64_t, std::vector<int32_t>& banned) const override {
    const bool done = said.size() >= words_[static_cast<size_t>(sentence)];
    if (!done) banned.push_back(data::kEnd);
    for (int32_t id = data::kUnknown; done && id < vocabulary_; ++id) {
      if (id != data::kEnd) banned.push_back(id);
    }
  }
  int64_t longest(int32_t sentence) const override {
    return static_cast<int64_t>(words_[static_cast<size_t>(sentence)]) + 1;  // and the end
  }

 private:
  int32_t vocabulary_;
  std::vector<size_t> words_;  // of each sentence of the batch
};

class InitialsOutput : public tasks::WordsOutput {
 public:
  using WordsOutput::WordsOutput;
  std::unique_ptr<decode::Constraint> constraint(std::span<const tasks::Ready* const> batch) const override {
    return std::make_unique<OneForEachWord>(batch, static_cast<int32_t>(words()->size()));
  }
};

/// Its name tells displays what the answers look like: words.
inline const tasks::OutputRow kOutput{
    "words",
    [](const tasks::TaskConfig& config) -> std::unique_ptr<tasks::Output> {
      return std::make_unique<InitialsOutput>(config);
    },
    tasks::kWordsOutput.derived};

// 3. The row: what it reads, which networks it uses, what it answers, how that is scored, and what suits its corpus.

inline constexpr tasks::TaskInput kInputs[] = {{"text", &tasks::kTextInput}};
inline constexpr std::string_view kNetworks[] = {"recurrent", "transformer"};
inline constexpr std::string_view kScores[] = {"exact", "chrf"};
inline constexpr tasks::TaskSetting kOnCorpus[] = {
    {"tokeniser.kind", "words"}, {"model.embedding", "16"},         {"model.hidden", "32"},
    {"batch.tokens", "300"},     {"train.rate", "1e-2"},            {"train.epochs", "12"},
    {"train.best_by", "exact"},  {"model.decoder.query", "after"},
};

/// Makes the task known, for as long as the program runs. Call it once, before options are read.
inline void add() {
  data::add_builtin({.name = "initials",
                     .summary = "sentences to the first letters of their words",
                     .make = make_corpus,
                     .unit = "words"});
  tasks::add_task({.name = "initials",
                   .summary = "the first letters of the words of a sentence",
                   .inputs = kInputs,
                   .output = &kOutput,
                   .networks = kNetworks,
                   .format = "pairs",
                   .corpus = "initials",
                   .defaults = {},
                   .on_builtin = kOnCorpus,
                   .scores = kScores});
}

}  // namespace initials
