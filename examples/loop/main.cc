// A training loop of one's own, and the library's, over the same data: letters are answered in reverse.
#include <filesystem>
#include <iostream>

#include "attend/attend.h"

using namespace attend;

namespace {

constexpr int64_t kSteps = 600, kBatch = 64;

/// Pairs of texts as batches of ids.
class Pairs {
 public:
  Pairs(std::vector<data::Example> examples, const data::Tokeniser& letters)
      : examples_(std::move(examples)), letters_(letters) {}

  int64_t batches() const { return static_cast<int64_t>(examples_.size()) / kBatch; }
  data::Batch batch(int64_t number) const {
    std::vector<std::vector<int32_t>> sources, targets;
    for (int64_t i = number * kBatch; i < (number + 1) * kBatch; ++i) {
      const data::Example& one = examples_[static_cast<size_t>(i)];
      sources.push_back(letters_.encode(one.source)), targets.push_back(letters_.encode(one.target));
    }
    return {data::Sequences(sources), data::Sequences(targets)};
  }

 private:
  std::vector<data::Example> examples_;
  const data::Tokeniser& letters_;
};

std::unique_ptr<data::Tokeniser> letters_of(const std::vector<data::Example>& examples) {
  size_t next = 0;
  return data::train_tokeniser({.kind = "characters"}, [&](std::string& line) {
    if (next == examples.size()) return false;
    line = examples[next++].source;
    return true;
  });
}

std::unique_ptr<models::Model> new_model(const data::Tokeniser& letters) {
  const std::string vocabulary = std::to_string(letters.size());
  Random random(1);
  return models::make_model("recurrent",
                            {{"source_vocabulary", vocabulary},
                             {"target_vocabulary", vocabulary},
                             {"embedding", "32"},
                             {"hidden", "64"},
                             {"decoder.query", "after"},
                             {"decoder.feeding", "true"},
                             {"attention.score", "general"}},
                            random);
}

/// The loop by hand: loss, gradients, a step of the optimiser.
void train_by_hand(models::Model& model, const Pairs& train, const Pairs& valid) {
  const auto optimiser = train::make_optimiser("adam", {}, nn::parameters(model));
  const auto schedule = train::make_schedule("cosine", {.rate = 5e-3, .warmup = 50, .steps = kSteps});
  models::Training training{Random(1).named("dropout")};
  for (int64_t step = 1; step <= kSteps; ++step) {
    training.update = step - 1;
    Tape tape;  // ops record from here on; one tape for each step
    const Var loss = model.loss(train.batch(step % train.batches()), &training);
    tape.backward(loss);
    const double norm = train::gradient_norm(optimiser->parameters());
    optimiser->step(schedule->rate(step), train::clip_scale(norm, 1));
    optimiser->clear_gradients();
    if (step % 200 != 0) continue;
    const TapePause pause;  // nothing to learn from here
    std::cout << "step " << step << ": loss " << loss.item() << ", on held-out pairs "
              << model.loss(valid.batch(0)).item() << '\n';
  }
}

/// Prints each validation.
class Printer : public train::Watcher {
 public:
  void validated(const train::StepReport& step, const train::Validation& valid, bool best) override {
    std::cout << "step " << step.step << ": on held-out pairs " << valid.loss << (best ? " (best so far)" : "") << '\n';
  }
};

/// The library's loop: the same steps, with checkpoints from which a run that was stopped resumes.
void train_with_trainer(models::Model& model, const Pairs& train, const Pairs& valid,
                        const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  train::Trainer trainer(
      model,
      {.count = [&](int64_t) { return train.batches(); },
       .batch = [&](int64_t, int64_t number) { return train.batch(number); }},
      [&](const models::Model& now) {
        return train::Validation{.loss = static_cast<double>(now.loss(valid.batch(0)).item())};
      },
      {.steps = kSteps, .rate = 5e-3, .warmup = 50, .validate_every = 200}, folder);
  if (std::filesystem::exists(folder / "checkpoint.safetensors")) trainer.resume();
  Printer printer;
  train::Watcher* const watchers[] = {&printer};
  trainer.run(watchers);
  models::load_weights(model, folder / "weights.safetensors");  // the best ones; the model itself has the last
}

void answer(const models::Model& model, const data::Tokeniser& letters, const std::string& text) {
  const data::Sequences source({letters.encode(text)});
  const auto answers = decode::search(model, source, {.beam = 4});
  std::cout << text << " → " << letters.decode(answers.at(0).at(0).tokens) << '\n';
}

}  // namespace

int main() {
  const data::BuiltinCorpus corpus = data::make_builtin("reverse", 1);
  const auto letters = letters_of(corpus.train);
  const Pairs train(corpus.train, *letters), valid(corpus.valid, *letters);

  const auto by_hand = new_model(*letters);
  train_by_hand(*by_hand, train, valid);
  answer(*by_hand, *letters, "attend");

  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "attend-loop";
  const auto with_trainer = new_model(*letters);
  train_with_trainer(*with_trainer, train, valid, folder);
  answer(*with_trainer, *letters, "attend");
  std::filesystem::remove_all(folder);

  std::cout << nn::parameters(*by_hand).front().var << '\n';  // the first weights: their shape and some of their values
}
