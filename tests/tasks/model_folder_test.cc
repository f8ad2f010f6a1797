// What a model's folder promises: it is replaced as a whole, damage is found by name, and a resumed run knows its data.
#include "attend/tasks/model_folder.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "attend/tasks/manifest.h"
#include "attend/tasks/training.h"
#include "attend/tensor/safetensors.h"
#include "tests/support/folder.h"
#include "tests/support/message.h"
#include "tests/support/small_run.h"
#include "tests/support/snapshot.h"
#include "tests/support/stop_at.h"

namespace attend::tasks {
namespace {

namespace fs = std::filesystem;
using test::flip;
using test::message_of;
using test::names_in;
using test::run;
using test::says;
using test::snapshot;
using test::Snapshot;

class RunFolder : public testing::Test {
 protected:
  std::unique_ptr<TaskTraining> begin(const std::string& name, const SettingList& more = {}, bool resume = false,
                                      bool changed_data = false) const {
    SettingList settings{{"tsv", tsv_.string(), "", true},  {"held_out", "0.1", ""},
                         {"tokeniser.kind", "words", ""},   {"model.name", "recurrent", ""},
                         {"model.embedding", "6", ""},      {"model.hidden", "8", ""},
                         {"batch.tokens", "30", ""},        {"train.steps", "12", ""},
                         {"train.validate_every", "6", ""}, {"train.rate", "0.01", ""},
                         {"train.average", "2", ""}};
    settings.insert(settings.end(), more.begin(), more.end());
    return std::make_unique<TaskTraining>(TaskConfig(settings), path(name), resume, [](const std::string&) {},
                                          changed_data);
  }
  fs::path path(const std::string& name) const { return folder_.path() / name; }
  /// A run to its end, or until it is stopped.
  void trained(const std::string& name, int64_t stop_at = 0) const {
    const auto training = begin(name);
    run(*training, stop_at);
  }
  std::string load_error(const std::string& name = "model") const {
    return message_of([&] { TaskModel::load(path(name)); });
  }
  std::string resume_error(const SettingList& more = {}, bool changed_data = false) const {
    return message_of([&] { begin("model", more, true, changed_data); });
  }

  test::TestFolder folder_;
  fs::path tsv_ = folder_.file("pairs.tsv", test::small_corpus());
};

TEST_F(RunFolder, AReplacementThatFailsLeavesTheModelBitByBit) {
  trained("model");
  folder_.file("model/notes.txt", "mine");
  const Snapshot before = snapshot(path("model"));
  for (const SettingList& wrong : {SettingList{{"filter.longest", "1", ""}}, SettingList{{"train.optimiser", "adm", ""}},
                                   SettingList{{"train.start_from", path("nowhere").string(), ""}}}) {
    const std::string message = message_of([&] { begin("model", wrong); });
    EXPECT_NE(message, "");
    EXPECT_EQ(snapshot(path("model")), before) << names_in(snapshot(path("model")));
  }
  fs::create_directories(path("model/target.characters/in the way"));
  const auto training = begin("model", {{"tokeniser.kind", "characters", ""}});
  EXPECT_TRUE(says(message_of([&] { run(*training); }), "target.characters")) << "it was told before anything moved";
  EXPECT_TRUE(training->is_waiting());
  for (const auto& [name, bytes] : before) EXPECT_EQ(folder_.bytes("model/" + name), bytes) << name;
}

TEST_F(RunFolder, UntilTheFirstCheckpointTheOldModelIsThere) {
  trained("model");
  folder_.file("model/notes.txt", "mine");
  folder_.file("model/result.json", "{}");
  const Snapshot before = snapshot(path("model"));
  {
    const auto training = begin("model", {{"train.seed", "2", ""}});
    EXPECT_TRUE(training->is_waiting());
    EXPECT_EQ(run(*training, 5).outcome, train::Outcome::interrupted);
    EXPECT_TRUE(training->is_waiting());
    EXPECT_EQ(load_error(), "");
  }
  EXPECT_EQ(snapshot(path("model")), before) << names_in(snapshot(path("model")));
  const SettingList other{{"train.seed", "2", ""}, {"tokeniser.kind", "characters", ""}};
  {
    const auto training = begin("model", other);
    EXPECT_EQ(run(*training, 8).outcome, train::Outcome::interrupted) << "after its first checkpoint";
    EXPECT_FALSE(training->is_waiting());
    EXPECT_EQ(training->folder(), path("model"));
  }
  EXPECT_EQ(load_error(), "");
  EXPECT_EQ(folder_.bytes("model/notes.txt"), "mine");
  for (const char* gone : {"source.words", "target.words", "result.json", ".new", ".whole"}) {
    EXPECT_FALSE(fs::exists(path("model") / gone)) << gone;
  }
  run(*begin("model", other, true));
  run(*begin("straight", other));
  if (sizeof(real) == 4) {
    EXPECT_EQ(folder_.bytes("model/weights.safetensors"), folder_.bytes("straight/weights.safetensors"));
  }
}

/// Loads the model at every step.
struct Loading : train::Watcher {
  explicit Loading(fs::path folder) : folder(std::move(folder)) {}
  fs::path folder;
  int64_t loaded = 0;
  bool stop() override {
    TaskModel::load(folder);
    ++loaded;
    return false;
  }
};

TEST_F(RunFolder, WhileItIsReplacedThereIsAlwaysAModel) {
  trained("model");
  const auto training = begin("model", {{"tokeniser.kind", "characters", ""}});
  Loading loading(path("model"));
  train::Watcher* const watchers[] = {&loading};
  training->trainer().run(watchers);
  EXPECT_EQ(loading.loaded, 12);
}

TEST_F(RunFolder, AModelWhoseFilesAreOnTheirWayIsLoaded) {
  trained("model");
  const Snapshot before = snapshot(path("model"));
  fs::create_directory(path("model/.whole"));
  for (const char* name : {"config.yml", "weights.safetensors"}) {
    fs::rename(path("model") / name, path("model/.whole") / name);
  }
  EXPECT_TRUE(has_model(path("model")));
  EXPECT_EQ(load_error(), "");
  EXPECT_EQ(snapshot(path("model")), before);
}

TEST_F(RunFolder, AFlippedByteIsFoundByItsFile) {
  trained("model");
  const Snapshot whole = snapshot(path("model"));
  for (const char* name : {"config.yml", "source.words", "target.words", "data.json", "weights.safetensors"}) {
    ASSERT_TRUE(whole.contains(name)) << name;
    const uint64_t size = whole.at(name).size();
    for (uint64_t at = 0; at < size; at += 1 + size / 40) {
      flip(path("model") / name, at);
      const std::string message = load_error();
      // Of the letters before a checksum's digits only its name may be another one: then it has none, and all else is whole.
      const bool unchecked = std::string_view(name) == "weights.safetensors" && at >= 8 && at < 48;
      EXPECT_TRUE(unchecked || says(message, std::string("model/") + name)) << name << " byte " << at << ": " << message;
      flip(path("model") / name, at);
    }
    ASSERT_EQ(load_error(), "") << name;
    fs::rename(path("model") / name, path("away"));
    EXPECT_TRUE(says(load_error(), name)) << load_error();
    fs::rename(path("away"), path("model") / name);
  }
  const uint64_t size = whole.at("checkpoint.safetensors").size();
  for (uint64_t at = 48; at < size; at += 1 + size / 10) {
    flip(path("model/checkpoint.safetensors"), at);
    EXPECT_TRUE(says(resume_error(), "model/checkpoint.safetensors")) << at;
    EXPECT_TRUE(says(resume_error(), "--train.start_from")) << resume_error();
    flip(path("model/checkpoint.safetensors"), at);
  }
  folder_.file("model/manifest.json", "");
  EXPECT_TRUE(says(load_error(), "manifest.json")) << load_error();
}

TEST_F(RunFolder, WithoutAManifestItLoadsAndResumesWithANote) {
  trained("model", 7);
  EXPECT_EQ(unchecked_note(path("model")), "");
  fs::remove(path("model/manifest.json")), fs::remove(path("model/data.json"));
  EXPECT_TRUE(says(unchecked_note(path("model")), "has no manifest.json"));
  EXPECT_EQ(load_error(), "");
  EXPECT_TRUE(says(begin("model", {}, true)->summary(), "whether the files are the same is unknown"));
  EXPECT_EQ(unchecked_note(path("model")), "") << "from now on it has one";
  EXPECT_FALSE(says(begin("model", {}, true)->summary(), "unknown"));
}

TEST_F(RunFolder, OptionsThatAResumedRunChangesAreInItsManifest) {
  trained("model", 7);
  begin("model", {{"train.steps", "20", ""}}, true);
  EXPECT_EQ(load_error(), "");
  EXPECT_EQ(read_config(path("model")).options.train.steps, 20);
}

TEST_F(RunFolder, BrokenWeightsAreRestoredWhenItIsResumed) {
  trained("straight");
  const auto damaged = [](const fs::path& file) { flip(file, fs::file_size(file) / 2); };
  const auto emptied = [](const fs::path& file) { fs::resize_file(file, 0); };
  const auto missing = [](const fs::path& file) { fs::remove(file); };
  for (const int64_t stop : {3, 6, 7, 0}) {  // newest; best and newest; best among those averaged; at the end
    for (const std::function<void(const fs::path&)>& damage :
         {std::function<void(const fs::path&)>(damaged), std::function<void(const fs::path&)>(emptied),
          std::function<void(const fs::path&)>(missing)}) {
      SCOPED_TRACE("stopped at " + std::to_string(stop));
      fs::remove_all(path("model"));
      trained("model", stop);
      const std::string before = folder_.bytes("model/weights.safetensors");
      damage(path("model/weights.safetensors"));
      ASSERT_TRUE(says(load_error(), "weights.safetensors")) << load_error();
      const auto resumed = begin("model", {}, true);
      EXPECT_TRUE(says(resumed->summary(), "written again")) << resumed->summary();
      EXPECT_EQ(load_error(), "");
      if (sizeof(real) == 8) continue;
      EXPECT_EQ(folder_.bytes("model/weights.safetensors"), before);
      run(*resumed);
      EXPECT_EQ(folder_.bytes("model/weights.safetensors"), folder_.bytes("straight/weights.safetensors"));
    }
  }
}

TEST_F(RunFolder, BestWeightsThatAreLostAreReplacedByTheNewest) {
  trained("model", 8);
  fs::remove_all(path("model/average"));
  flip(path("model/weights.safetensors"), 1000);
  const auto resumed = begin("model", {}, true);
  EXPECT_TRUE(says(resumed->summary(), "the newest, of step 8, as the best ones, of step 6, are lost"))
      << resumed->summary();
  EXPECT_EQ(load_error(), "");
  EXPECT_EQ(run(*resumed).best_step, 12) << "the next validation decides anew";
}

TEST_F(RunFolder, WeightsOfOthersAreNeitherAveragedNorRemoved) {
  trained("model", 8);
  folder_.file("model/average/mine.safetensors", "mine");
  EXPECT_FALSE(says(begin("model", {}, true)->summary(), "removed"));
  EXPECT_EQ(folder_.bytes("model/average/mine.safetensors"), "mine");
  fs::create_directory(path("elsewhere"));
  folder_.file("elsewhere/step-3.safetensors", "another's");
  fs::remove_all(path("model/average"));
  fs::create_directory_symlink(path("elsewhere"), path("model/average"));
  EXPECT_TRUE(says(resume_error(), "model/average: expected a folder of the run itself, got a symbolic link"))
      << resume_error();
  EXPECT_EQ(folder_.bytes("elsewhere/step-3.safetensors"), "another's");
}

TEST_F(RunFolder, WeightsThatAreNotFiniteAreRefusedByName) {
  trained("model");
  const fs::path weights = path("model/weights.safetensors");
  std::vector<NamedTensor> tensors = SafetensorsFile(weights).read_all();
  NamedTensor& spoilt = tensors.at(1);
  ASSERT_EQ(spoilt.tensor.rank(), 2);
  for (const real bad : {std::numeric_limits<real>::quiet_NaN(), -std::numeric_limits<real>::infinity()}) {
    spoilt.tensor.data()[spoilt.tensor.shape()[1] + 2] = bad;
    write_checked_safetensors(weights, tensors);
    EXPECT_TRUE(says(load_error(), weights.string() + ": tensor \"" + spoilt.name + "\": expected finite numbers"))
        << load_error();
    EXPECT_TRUE(says(load_error(), "at [1, 2]")) << load_error();
    const SettingList from{{"train.start_from", path("model").string(), ""}};
    EXPECT_TRUE(says(message_of([&] { begin("other", from); }), spoilt.name));
  }
}

TEST_F(RunFolder, OtherDataIsRefusedWithWhatDiffers) {
  const std::string pairs = test::small_corpus();
  trained("model", 7);
  const auto refused = [&](const std::string& text) {
    folder_.file("pairs.tsv", text);
    EXPECT_THROW(begin("model", {}, true), ChangedData);
    return resume_error();
  };
  std::string one_line = pairs;
  one_line[0] = 'e';
  EXPECT_TRUE(says(refused(one_line), "pairs.tsv: 60 lines as before, but with other contents")) << refused(one_line);
  const std::string fewer = test::small_corpus(50);
  EXPECT_TRUE(says(refused(fewer), "pairs.tsv: 60 lines before, 50 now")) << refused(fewer);
  EXPECT_TRUE(says(refused(fewer), "--changed-data")) << refused(fewer);
  EXPECT_TRUE(says(refused(pairs + "a"), "61 now")) << "a last line without an end";
  folder_.file("pairs.tsv", pairs);  // of another time, but the same
  EXPECT_EQ(resume_error(), "");
  folder_.file("pairs.tsv", fewer);
  {
    const auto allowed = begin("model", {}, true, true);
    EXPECT_TRUE(says(allowed->summary(), "resuming with other data: ")) << allowed->summary();
    EXPECT_EQ(run(*allowed).outcome, train::Outcome::finished);
  }
  EXPECT_EQ(resume_error(), "") << "that is its data now";
}

TEST_F(RunFolder, AnEpochThatHasBecomeShorterEndsWhereTheRunIs) {
  trained("model", 7);
  folder_.file("pairs.tsv", test::small_corpus(6));
  const auto allowed = begin("model", {{"held_out", "0.2", ""}}, true, true);
  EXPECT_EQ(run(*allowed).outcome, train::Outcome::finished);
}

TEST_F(RunFolder, EveryFileOfDataCounts) {
  const fs::path valid = folder_.file("valid.tsv", "a b\tB A\n");
  const TaskConfig config({{"tsv", tsv_.string(), "", true}, {"valid_tsv", valid.string(), "", true}});
  const std::vector<DataFile> before = data_files(config);
  ASSERT_EQ(before.size(), 2u);
  EXPECT_EQ(data_difference(before, data_files(config)), "");
  folder_.file("valid.tsv", "a c\tC A\n");
  EXPECT_EQ(data_difference(before, data_files(config)),
            valid.string() + ": 1 lines as before, but with other contents");
  EXPECT_TRUE(data_files(TaskConfig({{"task", "reverse", ""}})).empty()) << "a built-in corpus";

  fs::create_directories(path("images/cats"));
  folder_.file("images/cats/1.png", "one"), folder_.file("images/cats/2.png", "two");
  const TaskConfig images({{"task", "glimpse", ""}, {"images", path("images").string(), ""}});
  const std::vector<DataFile> pictures = data_files(images);
  folder_.file("images/cats/.DS_Store", "no image");
  EXPECT_EQ(data_difference(pictures, data_files(images)), "");
  folder_.file("images/cats/2.png", "tow");
  EXPECT_TRUE(says(data_difference(pictures, data_files(images)), "2 files as before, but with other contents"));
  folder_.file("images/cats/3.png", "three");
  EXPECT_TRUE(says(data_difference(pictures, data_files(images)), "2 files before, 3 now"));
  folder_.file("images/cats/2.png", "two"), fs::rename(path("images/cats/3.png"), path("images/cats/0.png"));
  fs::remove(path("images/cats/1.png"));
  EXPECT_NE(data_difference(pictures, data_files(images)), "") << "another name";
}

}  // namespace
}  // namespace attend::tasks
