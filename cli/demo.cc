// `attend demo`: trains the built-in translation, uses it on sentences that it has never seen, and shows where it looked.
#include <cstdio>
#include <iostream>

#include "attend/base/error.h"
#include "attend/base/joined.h"
#include "attend/base/replacement.h"
#include "attend/explain/heatmap.h"
#include "attend/tasks/model.h"
#include "attend/tasks/model_folder.h"
#include "attend/train/agreement.h"
#include "attend/train/bleu.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/quiet.h"
#include "cli/training.h"

namespace attend::cli {
namespace {

struct DemoOptions {
  std::string out = "build/demo";
  std::string picture;
  bool again = false;
  ThreadOption threads;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("out", out, "folder of the model");
    visit("picture", picture, "file for the heat map of your own sentence, as SVG", bounds::file_to_write());
    visit("again", again, "train even if there is a trained model", bounds::destructive());
    threads.fields(visit);
  }
};

/// What is no result.
void tell(const std::string& text) {
  if (!quiet()) std::cout << text << std::flush;
}

void show(const tasks::Answer& answer, const std::string& reference, bool picture) {
  std::cout << "\n    " << joined(answer.source, " ") << "\n  → " << answer.text
            << (reference.empty() || answer.text == reference ? "" : "   (should be: " + reference + ")") << '\n';
  if (!picture) return;
  std::cout << "\n  where it looked: source words above, answer to the left; the darker, the more\n\n"
            << explain::text_heatmap(answer.weights, answer.target, answer.source);
}

void translate_own(const tasks::TaskModel& model, const std::vector<std::string>& words, const std::string& picture) {
  tasks::AnswerOptions options{.search = model.config().options.search, .align = true};
  const std::vector<tasks::Example> line{{.inputs = {joined(words, " ")}}};
  const tasks::Answer answer = model.answer(line, options).at(0).at(0);
  require_usage(!answer.source.empty(), "expected a sentence, got only blanks");
  show(answer, "", true);
  if (!picture.empty()) write_file(picture, explain::svg_heatmap(answer.weights, answer.target, answer.source));
}

void translate_held_out(const tasks::TaskModel& model, const tasks::Examples& test) {
  constexpr size_t kShown = 4;
  tasks::AnswerOptions options{.search = model.config().options.search, .align = true};
  std::vector<tasks::Example> examples;
  for (int64_t i = 0; i < test.count; ++i) examples.push_back(test.at(i));
  const auto answers = model.answer(examples, options);
  std::vector<std::string> references, outputs;
  std::vector<data::Links> links, gold;
  for (size_t i = 0; i < answers.size(); ++i) {
    references.push_back(examples[i].right[0]), outputs.push_back(answers[i].at(0).text);
    links.push_back(answers[i].at(0).links), gold.push_back(examples[i].links);
  }
  std::cout << "\nsentences that it has never seen:\n";
  for (size_t i = 0; i < std::min(kShown, answers.size()); ++i) show(answers[i].at(0), references[i], i + 1 == kShown);
  std::printf("\non all %zu held-out sentences: exact match %.1f %%, BLEU %.1f, alignment error rate %.3f\n",
              answers.size(), train::exact_match(outputs, references), train::bleu(outputs, references).score,
              train::alignment_score(links, gold).error_rate);
  std::fflush(stdout);
}

}  // namespace

int demo(int argc, char** argv) {
  DemoOptions options;
  std::vector<std::string> words;
  Flags flags("demo", "trains the built-in translation, uses it, and shows where it looked");
  flags.arguments("WORDS", words, "an English sentence of your own").options("demo", options);
  if (const auto code = flags.parse(argc, argv)) return *code;
  flags.check_files();
  options.threads.apply();
  if (options.again || !finished(options.out)) {
    tell("training: English to romanised Hindi, from a grammar that is built in\n");
    const bool resumes = !options.again && tasks::has_model(options.out);
    const SettingList settings =
        resumes ? tasks::read_config(options.out).given : SettingList{{"task", "translate", "demo"}};
    if (const int code = train_in(settings, options.out, {.resume = resumes})) return code;
  } else {
    tell("using " + options.out + ", trained before (train anew: attend demo --again)\n");
  }
  const tasks::TaskModel model = tasks::TaskModel::load(options.out);
  if (!words.empty()) {
    translate_own(model, words, options.picture);
    return 0;
  }
  translate_held_out(model, tasks::read_test(model.config(), {}));
  tell("\ntry next:\n  echo \"i am going home\" | build/attend run " + options.out +
       "\n  build/attend demo where are the girls going today\n"
       "  build/attend train translate --source english.txt --target german.txt --out my-model\n");
  return 0;
}

}  // namespace attend::cli
