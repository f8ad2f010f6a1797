#include "cli/images.h"

#include <cmath>
#include <filesystem>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "attend/base/error.h"
#include "attend/base/recipe.h"
#include "attend/base/replacement.h"
#include "attend/data/image_file.h"
#include "attend/kernels/parallel.h"
#include "attend/models/glimpse.h"
#include "attend/tasks/image.h"
#include "attend/tasks/image_gaze.h"
#include "attend/tasks/task.h"
#include "cli/flags.h"
#include "cli/progress.h"

namespace attend::cli {
namespace {

namespace fs = std::filesystem;

struct RunOptions {
  bool scores = false;
  std::string rebuilt;
  int64_t threads = 0;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("scores", scores, "write \"score<tab>answer\": of a label its probability");
    visit("rebuilt", rebuilt, "autoencoder: folder for what it makes of the images, as PNG");
    visit("threads", threads, "0: as many as the machine has");
  }
};

struct EvalOptions {
  KnownImages known;
  std::string answer, save_output;
  int64_t copies = 1, threads = 0;

  template <class Visit>
  void fields(Visit&& visit) {
    known.fields(visit);
    visit("answer", answer, "score this one answer to every image, to compare the model with");
    visit("copies", copies, "glimpse network: the mean of the answers of so many drawn episodes");
    visit("save_output", save_output, "file for the answers: name<tab>answer");
    visit("threads", threads, "0: as many as the machine has");
  }
};

fs::path rebuilt_path(const std::string& folder, const std::string& file) {
  return fs::path(folder) / (fs::path(file).stem().string() + ".png");
}

/// Why these cannot all be written to the folder; "" if they can.
std::string objection(const std::vector<std::string>& files, const std::string& folder) {
  std::map<fs::path, std::string> written;
  for (const std::string& file : files) {
    const fs::path out = rebuilt_path(folder, file);
    std::error_code none;
    if (fs::equivalent(out, file, none)) return "--rebuilt: another folder is wanted, as " + file + " lies there";
    const auto [other, added] = written.emplace(out, file);
    if (!added) return "--rebuilt: " + other->second + " and " + file + " would both be " + out.string();
  }
  return "";
}

void write_rebuilt(const tasks::ImageModel& model, const std::vector<std::string>& files, const std::string& folder) {
  require_writable(folder);
  for (const std::string& file : files) {
    const tasks::ImageExample image = tasks::read_example(file);
    const fs::path out = rebuilt_path(folder, file);
    data::write_png(out, model.rebuilt(std::span(&image, 1)).at(0));
    std::cout << file << '\t' << out.string() << '\n';
  }
}

void write_answers(const tasks::ImageModel& model, const std::vector<std::string>& files,
                   const decode::SearchOptions& search, bool scores) {
  for (const std::string& file : files) {
    const tasks::ImageExample image = tasks::read_example(file);
    const std::vector<tasks::ImageAnswer> answers = model.answer(std::span(&image, 1), search).at(0);
    for (const tasks::ImageAnswer& one : answers) {
      if (files.size() > 1) std::cout << file << '\t';
      if (scores) std::cout << one.score << '\t';
      std::cout << one.text << '\n';
    }
    std::cout.flush();
  }
}

/// As people read it: 14.37, not 14.370000000000005.
double percent(double value) { return std::round(value * 1e4) / 1e4; }

tasks::ImageScores looked_at(const tasks::ImageModel& model, const tasks::ImageExamples& examples,
                             const decode::SearchOptions& search) {
  Progress bar("looking", static_cast<long>(examples.count));
  return tasks::evaluate(model, examples, search, 0, [&](int64_t done) { bar.show(static_cast<long>(done), ""); });
}

void add_gaze(const tasks::ImageModel& model, const tasks::ImageExamples& examples, nlohmann::ordered_json& json) {
  Progress bar("where words looked", static_cast<long>(examples.count));
  const tasks::Gaze looked = tasks::gaze(model, examples, [&](int64_t done) { bar.show(static_cast<long>(done), ""); });
  json["attention_on_object"] = percent(looked.on_object);
  json["on_object_by_chance"] = percent(looked.by_chance);
}

}  // namespace

tasks::ImageExamples read_known(const tasks::ImageModel& model, const KnownImages& known) {
  tasks::ImageData data = model.config().options.data;
  const uint64_t seed = static_cast<uint64_t>(model.config().options.train.seed);
  if (known.images.empty()) {
    require(!data.corpus.empty(), "--images is wanted: the model was trained on files");
  } else {
    data.corpus.clear();
    data.images = known.images, data.labels = known.labels;
    data.captions = known.captions, data.names = known.names;
    if (!known.on_broken.empty()) data.on_broken = known.on_broken;
  }
  return tasks::read_image_test(data, model.config().answers(), seed, model.labels());
}

std::string named_folder(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (fs::exists(fs::path(argv[i]) / tasks::kConfig)) return argv[i];
  }
  return argc > 1 ? argv[1] : "";
}

bool looks_at_images(const std::string& folder) {
  const fs::path config = fs::path(folder) / tasks::kConfig;
  return fs::exists(config) && tasks::task_of(read_recipe(config)).family == &tasks::kImages;
}

int run_images(int argc, char** argv) {
  std::string folder;
  std::vector<std::string> files;
  RunOptions options;
  const tasks::ImageModel model = tasks::ImageModel::load(named_folder(argc, argv));
  decode::SearchOptions search = model.config().options.search;
  Flags flags("run", "says what images show: attend run DIR a.png b.jpg");
  flags.argument("DIR", folder, "folder of the model")
      .arguments("IMAGES", files, "PNG or JPEG files, or .npy features");
  flags.options("run", options).options("search", search);
  if (const auto code = flags.parse(argc, argv)) return *code;
  if (files.empty()) return flags.refuse("at least one image is wanted: attend run " + folder + " a.png");
  if (options.threads > 0) kernels::set_threads(static_cast<int>(options.threads));
  const bool rebuilds = model.config().answers() == tasks::ImageAnswers::image;
  if (rebuilds && options.rebuilt.empty())
    return flags.refuse("--rebuilt is wanted: an autoencoder answers with images");
  if (!rebuilds && !options.rebuilt.empty())
    return flags.refuse("--rebuilt wants an autoencoder, got " + model.config().model.name);
  if (const std::string wrong = rebuilds ? objection(files, options.rebuilt) : ""; !wrong.empty())
    return flags.refuse(wrong);
  rebuilds ? write_rebuilt(model, files, options.rebuilt) : write_answers(model, files, search, options.scores);
  return 0;
}

int eval_images(int argc, char** argv) {
  std::string folder;
  EvalOptions options;
  tasks::ImageModel model = tasks::ImageModel::load(named_folder(argc, argv));
  decode::SearchOptions search = model.config().options.search;
  Flags flags("eval", "scores a model that looks at images; JSON on standard output");
  flags.argument("DIR", folder, "folder of the model").options("eval", options).options("search", search);
  if (const auto code = flags.parse(argc, argv)) return *code;
  if (options.threads > 0) kernels::set_threads(static_cast<int>(options.threads));
  if (flags.given("copies")) {
    auto* network = dynamic_cast<models::GlimpseNetwork*>(&model.model());
    if (!network) return flags.refuse("--copies wants a glimpse network, got " + model.config().model.name);
    try {
      network->set_copies_in_use(options.copies);
    } catch (const Error& error) {
      return flags.refuse(error.what());
    }
  }
  const tasks::ImageExamples examples = read_known(model, options.known);
  const bool given = !options.answer.empty();
  const tasks::ImageScores scored =
      given ? tasks::evaluate_answer(model, examples, options.answer) : looked_at(model, examples, search);
  nlohmann::ordered_json json{{"images", scored.images}};
  if (!given) json["loss"] = scored.loss;
  for (const auto& [name, score] : scored.scores) json[name] = percent(score);
  if (!scored.signature.empty()) json["bleu_signature"] = scored.signature;
  if (const auto right = scored.scores.find("accuracy"); right != scored.scores.end())
    json["error"] = percent(100 - right->second);
  if (!given && tasks::has_gaze(model, examples)) add_gaze(model, examples, json);
  std::cout << json.dump(2) << '\n';
  if (!options.save_output.empty()) {
    std::string lines;
    for (size_t i = 0; i < scored.outputs.size(); ++i) lines += scored.names[i] + "\t" + scored.outputs[i] + "\n";
    write_file(options.save_output, lines);
  }
  return 0;
}

}  // namespace attend::cli
