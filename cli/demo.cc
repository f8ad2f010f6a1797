// `attend demo`: trains a small network with attention to spell words backwards, uses it, and shows where it looked.
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <iostream>

#include "attend/base/memory.h"
#include "attend/train/optimiser.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/reverser.h"

namespace attend::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;

std::string random_word(size_t length, Random& random) {
  std::string word;
  for (size_t i = 0; i < length; ++i) word += static_cast<char>('a' + random.below(26));
  return word;
}

std::vector<std::string> random_words(size_t count, Random& random) {
  const size_t length = 2 + random.below(Reverser::kLongest - 1);
  std::vector<std::string> words;
  for (size_t i = 0; i < count; ++i) words.push_back(random_word(length, random));
  return words;
}

void train_reverser(Reverser& network, long steps, Random& random) {
  const auto adam = train::make_optimiser("adam", {}, nn::parameters(network));
  Progress bar("training", steps);
  real loss = 0;
  std::signal(SIGINT, [](int) { interrupted = 1; });
  long step = 0;
  for (; step < steps && !interrupted; ++step) {
    Tape tape;
    const Var objective = network.loss(random_words(64, random));
    tape.backward(objective);
    loss = objective.item();
    const double rate = 4e-3 * (1 - 0.95 * static_cast<double>(step) / static_cast<double>(steps));
    adam->step(rate, train::clip_scale(train::gradient_norm(adam->parameters()), 1.0));
    adam->clear_gradients();
    char note[64];
    std::snprintf(note, sizeof(note), "loss %.4f", static_cast<double>(loss));
    bar.show(step + 1, note);
  }
  std::signal(SIGINT, SIG_DFL);
  char note[96];
  std::snprintf(note, sizeof(note), "loss %.4f, peak memory %.0f MiB", static_cast<double>(loss),
                static_cast<double>(memory::usage().peak) / (1 << 20));
  bar.finish(step, note);
}

/// Words that were drawn from another stream than the training words.
double exact_match(const Reverser& network, int count) {
  Random random = Random(1).named("held out");
  int right = 0;
  for (int i = 0; i < count; ++i) {
    const std::string word = random_word(2 + random.below(Reverser::kLongest - 1), random);
    right += network(word).text == std::string(word.rbegin(), word.rend());
  }
  return static_cast<double>(right) / count;
}

/// Input letters across, output letters down; the darker, the more it looked there.
void show_attention(const std::string& word, const Reverser::Result& result) {
  const char* const shades[] = {"  ", "░░", "▒▒", "▓▓", "██"};
  std::cout << "\n  where it looked, letter by letter (input across, output down):\n\n      ";
  for (const char c : word) std::cout << c << ' ';
  std::cout << '\n';
  for (size_t i = 0; i < result.text.size(); ++i) {
    std::cout << "    " << result.text[i] << ' ';
    for (const real w : result.weights[i]) std::cout << shades[std::min(4, static_cast<int>(w * 5))];
    std::cout << '\n';
  }
}

void say(const Reverser& network, const std::string& word) {
  const std::string back = network(word).text;
  std::cout << "  " << word << " → " << back << (back == std::string(word.rbegin(), word.rend()) ? "" : "   (wrong)")
            << '\n';
}

}  // namespace

int demo(int argc, char** argv) {
  CLI::App app("Trains a small network with attention to spell words backwards, and shows where it looks",
               "attend demo");
  std::filesystem::path folder = "build/demo";
  std::vector<std::string> words;
  long steps = 1500;
  bool again = false;
  app.add_option("--out", folder, "Folder of the trained network")->capture_default_str();
  app.add_option("--steps", steps, "Steps of training")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_flag("--again", again, "Train even if there is a trained network");
  app.add_option("words", words, "Your own words, a–z, at most 12 letters");
  if (const auto code = parse_arguments(app, argc, argv)) return *code;

  Random random(1);
  Reverser network(random);
  const std::filesystem::path weights = folder / "weights.safetensors";
  if (!again && std::filesystem::exists(weights)) {
    network.load(weights);
    std::cout << "using " << weights.string() << " (train anew: attend demo --again)\n";
  } else {
    std::filesystem::create_directories(folder);
    train_reverser(network, steps, random);
    network.save(weights);
    std::cout << "saved " << weights.string() << (interrupted ? " (training was interrupted)" : "") << '\n';
  }
  if (!words.empty()) {
    for (const std::string& word : words) say(network, word);
    show_attention(words.back(), network(words.back()));
    return 0;
  }
  std::printf("exact match on 500 words it has never seen: %.1f %%\n", 100 * exact_match(network, 500));
  std::fflush(stdout);
  for (const char* word : {"attention", "looks", "backwards"}) say(network, word);
  show_attention("attention", network("attention"));
  std::cout << "\ntry your own: build/attend demo some words\n";
  return 0;
}

}  // namespace attend::cli
