// Sounds as a kind of input: what is spoken by the synthesiser, how sounds become batches, and times of what is heard.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "attend/base/error.h"
#include "attend/data/sound_file.h"
#include "attend/decode/ctc.h"
#include "attend/explain/picture.h"
#include "attend/models/ctc_model.h"
#include "attend/tasks/batch_plan.h"
#include "attend/tasks/explanation.h"
#include "attend/tasks/hearing.h"
#include "attend/tasks/sound_corpus.h"
#include "attend/tasks/sound_stream.h"
#include "attend/tasks/training.h"
#include "tests/support/folder.h"
#include "tests/support/message.h"
#include "tests/support/stop_at.h"

namespace attend::tasks {
namespace {

using test::message_of;
using test::TestFolder;

TaskConfig listening(const SettingList& more = {}) {
  SettingList settings{{"task", "listen", ""},          {"model.encoder.size", "12", ""}, {"model.decoder.size", "16", ""},
                       {"model.decoder.embedding", "8", ""},    {"features.mels", "12", ""},      {"batch.seconds", "20", ""},
                       {"scored_sounds", "4", ""},      {"train.steps", "4", ""},         {"train.validate_every", "2", ""},
                       {"train.best_by", "loss", ""},   {"search.max_length", "12", ""}};
  settings.insert(settings.end(), more.begin(), more.end());
  return TaskConfig(settings);
}

TaskConfig one_way() {
  return TaskConfig({{"task", "listen", ""},
                     {"model.name", "ctc", ""},
                     {"model.encoder.kind", "listener", ""},
                     {"model.encoder.size", "12", ""},
                     {"model.encoder.bidirectional", "false", ""},
                     {"model.encoder.pyramid", "1", ""},
                     {"features.mels", "12", ""},
                     {"batch.seconds", "20", ""},
                     {"scored_sounds", "4", ""},
                     {"train.steps", "4", ""},
                     {"train.best_by", "loss", ""}});
}

/// A folder with a few spoken sentences, each with its text beside it.
class Spoken : public testing::Test {
 protected:
  void SetUp() override {
    for (int64_t i = 0; i < 6; ++i) {
      const Example one = read_sound_test(listening(), {}).at(i);
      const std::string name = (folder_.path() / ("speaker" + std::to_string(i % 3) + "-" + std::to_string(i))).string();
      data::write_wav(name + ".wav", std::get<data::Sound>(one.inputs[0]));
      folder_.file("speaker" + std::to_string(i % 3) + "-" + std::to_string(i) + ".txt", one.right[0] + "\n");
    }
  }
  TaskConfig files(const SettingList& more = {}) const {
    SettingList settings{{"sounds", folder_.path().string(), ""}, {"corpus", "", ""}, {"held_out", "0.3", ""},
                         {"pattern", "{group}-{}", ""}};
    settings.insert(settings.end(), more.begin(), more.end());
    return listening(settings);
  }
  TestFolder folder_;
};

std::unique_ptr<TaskTraining> begun(const TaskConfig& config, const TestFolder& folder) {
  return std::make_unique<TaskTraining>(config, folder.path() / "model", false, [](const std::string&) {});
}

TEST(SpokenCorpora, TellWhatIsRightWithoutTheSound) {
  for (const SpokenCorpus& row : spoken_corpora()) {
    const Corpus corpus = read_sound_corpus(listening({{"corpus", std::string(row.name), ""}}));
    for (const int64_t i : {0, 7, 9000}) {
      const Example one = corpus.train.at(i);
      EXPECT_EQ(corpus.train.right(i), one.right) << row.name;
      EXPECT_GT(corpus.train.length(i), 0);
      EXPECT_FALSE(one.times.words.empty());
    }
  }
}

TEST(SpokenCorpora, LabelEachFrameByWhatIsSaidInItsMiddle) {
  const data::SoundFeatures features({.window = 20, .hop = 10});
  const std::vector<data::TimedLabel> times{{"A", 0.02, 0.04}, {"B", 0.04, 0.055}};
  EXPECT_EQ(frame_labels(times, features, 6), "sil A A B B sil");  // middles: 10, 20, … 60 ms
}

TEST(SpokenCorpora, GiveFramesThatNameOnlyKnownLabels) {
  const TaskConfig config({{"task", "frames", ""}});
  const Corpus corpus = read_sound_corpus(config);
  const data::SoundFeatures features(config.options.features);
  for (int64_t i = 0; i < 20; ++i) {
    const Example one = corpus.valid.at(i);
    const auto& sound = std::get<data::Sound>(one.inputs[0]);
    std::string labels = one.right[0];
    EXPECT_EQ(std::ranges::count(labels, ' ') + 1, features.frames(std::ssize(sound.samples)));
    std::istringstream words(labels);
    for (std::string label; words >> label;) EXPECT_EQ(std::ranges::count(corpus.labels, label), 1) << label;
  }
}

TEST_F(Spoken, FilesAreHeldOutBySpeaker) {
  const Corpus corpus = read_sound_corpus(files());
  EXPECT_EQ(corpus.train.count + corpus.valid.count, 6);
  EXPECT_EQ(corpus.valid.count, 2);
  const std::string held = corpus.valid.at(0).name.substr(0, 8);
  for (int64_t i = 0; i < corpus.train.count; ++i) EXPECT_NE(corpus.train.at(i).name.substr(0, 8), held);
}

TEST_F(Spoken, LongSoundsAreLeftOutOfTraining) {
  EXPECT_NE(message_of([&] { read_sound_corpus(files({{"longest", "0.1", ""}})); }).find("are longer than 0.1 seconds"),
            std::string::npos);
}

TEST_F(Spoken, AreJoinedToSequencesWithTheirPlaces) {
  const Corpus corpus = read_sound_corpus(files({{"join.least", "2", ""}, {"join.most", "3", ""}}));
  for (int64_t i = 0; i < 4; ++i) {
    const Example one = corpus.train.at(i);
    EXPECT_EQ(one.right, corpus.train.right(i));
    ASSERT_GE(one.times.words.size(), 2U);
    EXPECT_LE(one.times.words.back().end, std::get<data::Sound>(one.inputs[0]).seconds());
    EXPECT_NEAR(corpus.train.length(i), std::get<data::Sound>(one.inputs[0]).seconds(), 1.5);
  }
}

TEST(ListeningRun, IsTrainedSavedLoadedAndAnswersTheSame) {
  const TestFolder folder;
  const auto training = begun(listening(), folder);
  test::run(*training);
  const TaskModel& trained = training->model();
  const TaskModel loaded = TaskModel::load(folder.path() / "model");
  const Example one = read_sound_test(listening(), {}).at(3);
  AnswerOptions how;
  how.search.max_length = 8, how.times = true;
  const auto a = trained.answer(std::span(&one, 1), how), b = loaded.answer(std::span(&one, 1), how);
  EXPECT_EQ(a[0][0].tokens, b[0][0].tokens);
  EXPECT_EQ(a[0][0].score, b[0][0].score);
  double before = 0;
  for (const data::TimedLabel& word : b[0][0].times) {
    EXPECT_LE(before, word.begin);
    EXPECT_LE(word.begin, word.end);
    before = word.end;
  }
  EXPECT_LE(before, std::get<data::Sound>(one.inputs[0]).seconds() + 1e-9);
}

TEST(ListeningRun, PassesOverEachSoundOnceAnEpochWithinTheBudget) {
  const TestFolder folder;
  const auto training = begun(listening(), folder);
  const auto plan = made_batches(training->model(), read_sound_corpus(listening()).train);
  int64_t sounds = 0;
  const int64_t hop = 100;  // frames a second
  for (int64_t i = 0; i < 5; ++i) {
    const data::Batch batch = plan->batch(0, i);
    sounds += batch.source.count();
    const Tensor& frames = batch.source.frames();
    if (frames.dim(0) > 1) {
      EXPECT_LE(frames.dim(0) * frames.dim(1), 3 * 20 * hop) << "lengths are estimates before sounds are made";
    }
    EXPECT_TRUE(batch.source_of.empty());
  }
  EXPECT_GT(sounds, 5);
  const data::Batch once = plan->batch(0, 2), again = plan->batch(0, 2);
  ASSERT_EQ(again.source.frames().shape(), once.source.frames().shape());
  EXPECT_TRUE(std::ranges::equal(again.source.frames(), once.source.frames())) << "a batch is a function of its place";
  const data::Batch later = plan->batch(1, 2);
  EXPECT_NE(again.target.row(0), later.target.row(0)) << "an epoch brings others";
}

TEST(ListeningRun, HearsALongSoundInPartsThatEndWhereItIsQuiet) {
  const TestFolder folder;
  const auto training = begun(listening({{"longest", "2", ""}}), folder);
  test::run(*training);
  data::Sound sound{.rate = 16000};
  Random random(1);
  for (int64_t i = 0; i < 5 * sound.rate; ++i) {  // quiet between 1.5 and 1.7 seconds
    const bool quiet = i > 24000 && i < 27200;
    sound.samples.push_back((quiet ? 0.0001F : 0.2F) * (random.uniform() - 0.5F));
  }
  const std::vector<Ready> parts = training->model().parts(Example{.inputs = {sound}});
  ASSERT_GE(parts.size(), 3U);
  EXPECT_NEAR(parts[1].begins, 1.6, 0.12);
  int64_t frames = 0;
  for (const Ready& part : parts) {
    frames += part.frames.dim(0);
    EXPECT_LE(part.frames.dim(0), 200);
  }
  EXPECT_EQ(frames, training->model().ready(Example{.inputs = {sound}}).frames.dim(0));
}

TEST(ListeningRun, WhatIsHeardWhileItComesIsWhatTheWholeGives) {
  const TestFolder folder;
  const auto training = begun(one_way(), folder);
  test::run(*training);
  const TaskModel& model = training->model();
  const Example one = read_sound_test(listening(), {}).at(5);
  const auto& sound = std::get<data::Sound>(one.inputs[0]);
  const Ready ready = model.ready(one);
  const auto& network = dynamic_cast<const models::CtcModel&>(model.model());
  const Ready* const all[] = {&ready};
  const std::string whole = model.output().words()->decode(decode::best_path(network.frames(model.source(all))[0], data::kPad));
  SoundStream stream(model);
  std::string said;
  for (size_t at = 0; at < sound.samples.size(); at += 777) {
    said += stream.add(std::span(sound.samples).subspan(at, std::min<size_t>(777, sound.samples.size() - at)));
  }
  EXPECT_EQ(said + stream.finish(), whole);
}

TEST(ListeningRun, CannotHearWhileItComesWithANetworkThatLooksAhead) {
  const TestFolder folder;
  const auto training = begun(listening(), folder);
  EXPECT_NE(message_of([&] { SoundStream stream(training->model()); }).find("stream: expected a network that hears sounds by ctc"),
            std::string::npos);
}

TEST(ListeningRun, IsExplainedWithItsSoundAndTimes) {
  const TestFolder folder;
  const auto training = begun(listening(), folder);
  test::run(*training);
  const TaskModel& model = training->model();
  const Explainable known = explainable(model);
  EXPECT_TRUE(known.attends());
  EXPECT_EQ(std::ranges::count(known.methods, "saliency"), 1);
  const Example one = read_sound_test(listening(), {}).at(3);
  for (const std::string& method : known.methods) {
    ExplainOptions how;
    how.method = method, how.search.max_length = 4;
    const auto trace = std::get<explain::Trace>(explain(model, one, how));
    ASSERT_NE(trace.source.sound, nullptr);
    EXPECT_EQ(trace.maps.at(0).tokens.dim(1), model.model().places(model.ready(one).length())) << method;
    EXPECT_EQ(trace.source.sound->words, one.times.words);
    EXPECT_EQ(trace.source.sound->posteriors.dim(0), trace.maps[0].tokens.dim(1)) << "CTC's frames are places";
  }
}

TEST(ListeningRun, WithoutAttentionIsExplainedByTimesAlone) {
  const TestFolder folder;
  const auto training = begun(one_way(), folder);
  test::run(*training);
  const Example one = read_sound_test(one_way(), {}).at(3);
  ExplainOptions how;
  how.target = one.right[0];
  const auto trace = std::get<explain::Trace>(explain(training->model(), one, how));
  EXPECT_TRUE(trace.maps.empty());
  EXPECT_FALSE(trace.target.times.empty());
  EXPECT_EQ(trace.source.sound->posteriors.dim(0), training->model().model().places(training->model().ready(one).length()));
  EXPECT_FALSE(explain::svg_picture(trace, {}).empty());
}

TEST(ListeningRun, RefusesWhatItCannotHear) {
  const TestFolder folder;
  const auto training = begun(listening(), folder);
  const auto message = [&](Value value) {
    return message_of([&] { (void)training->model().ready(Example{.inputs = {std::move(value)}}); });
  };
  EXPECT_EQ(message(std::string("words")), "sound: expected a sound, got a text");
  EXPECT_EQ(message(data::Image(4, 4, 1)), "sound: expected a sound, got an image");
  EXPECT_EQ(message(Tensor::zeros({5, 12})), "sound: expected a sound, as in training, got ready-made frames");
  EXPECT_EQ(message(data::Sound{.rate = 16000}), "sound: expected at least one sample, got none");
}

}  // namespace
}  // namespace attend::tasks
