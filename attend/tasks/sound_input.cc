#include <algorithm>
#include <numeric>

#include "attend/base/error.h"
#include "attend/base/folder_file.h"
#include "attend/data/feature_statistics.h"
#include "attend/data/resample.h"
#include "attend/data/sound_file.h"
#include "attend/tasks/input.h"
#include "attend/tasks/sound_corpus.h"

namespace attend::tasks {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSoundFiles[] = {"sounds"};
constexpr std::string_view kSoundDerived[] = {"encoder.features"};
constexpr const char* kStatistics = "features.json";
constexpr int64_t kMeasured = 500;      // sounds that mean and deviation are taken from, at most
constexpr double kTrialSeconds = 1;
constexpr double kSearchedForPause = 0.5;  // of a part of a long sound: its end is somewhere in this share of it

/// Where to cut frames [begin, end), so that it is quiet there: the frame with the least sum of those in the last part of them.
int64_t quiet_place(const Tensor& frames, int64_t begin, int64_t end) {
  const int64_t width = frames.dim(1);
  const auto loudness = [&](int64_t t) {
    const real* row = frames.data() + t * width;
    return std::accumulate(row, row + width, 0.0);
  };
  int64_t best = end - 1;
  double least = loudness(best);
  for (int64_t t = end - 2; t > begin + static_cast<int64_t>(kSearchedForPause * static_cast<double>(end - begin)); --t) {
    if (const double now = loudness(t); now < least) least = now, best = t;
  }
  return best;
}

class SoundInput : public Input {
 public:
  using Input::Input;

  void learn(const Corpus& corpus, TaskConfig& config, const Prepared& prepared) override {
    prepared("measuring the sounds");
    require(corpus.train.count > 0, "train: expected at least one sound, got none");
    const int64_t count = std::min(corpus.train.count, kMeasured);
    data::FeatureStatistics statistics;
    for (int64_t k = 0; k < count; ++k) {
      const Value value = std::move(corpus.train.at(k * corpus.train.count / count).inputs.at(0));
      if (k == 0) {
        if (std::holds_alternative<Tensor>(value)) config.options.features.kind = "given";
        features_.emplace(config.options.features);
      }
      statistics.add(plain(value));
    }
    take(std::move(statistics));
  }
  void share(const Input& other) override {
    const auto& sound = dynamic_cast<const SoundInput&>(other);
    features_.emplace(options().features), take(sound.statistics_);
  }
  void load(const fs::path& folder) override {
    const fs::path file = file_within(folder, kStatistics);
    features_.emplace(options().features);
    data::FeatureStatistics statistics = data::FeatureStatistics::load(file);
    require(options().given_frames() || statistics.width() == features_->width(), file.native(),
            ": expected the mean of ", features_->width(), " numbers of a frame, got ", statistics.width());
    take(std::move(statistics));
  }
  void save(const fs::path& folder) const override { statistics_.save(folder / kStatistics); }

  Settings sizes() const override { return {{"encoder.features", std::to_string(statistics_.width())}}; }
  int64_t longest() const override { return static_cast<int64_t>(options().sound.longest * 1000 / options().features.hop); }

  Ready ready(const Value& value) const override { return heard(value, nullptr); }
  Ready varied(const Value& value, Random& random) const override { return heard(value, &random); }

  std::vector<Ready> parts(const Value& value, int64_t longest) const override {
    Ready whole = ready(value);
    const int64_t frames = whole.frames.dim(0);
    if (longest <= 0 || frames <= longest) return {std::move(whole)};
    std::vector<Ready> all;
    for (int64_t begin = 0; begin < frames;) {
      const int64_t end = frames - begin <= longest ? frames : quiet_place(whole.frames, begin, begin + longest);
      all.push_back(part_of(whole, begin, end));
      begin = end;
    }
    return all;
  }
  std::vector<Ready> windows(const Value& value, int64_t, int64_t) const override { return {ready(value)}; }

  void add_to(data::Source& source, std::span<const Ready* const> batch) const override {
    int64_t longest = 0;
    std::vector<int32_t> lengths;
    for (const Ready* one : batch) {
      longest = std::max(longest, one->frames.dim(0));
      lengths.push_back(static_cast<int32_t>(one->frames.dim(0)));
    }
    const int64_t width = statistics_.width();
    Tensor frames = Tensor::zeros({static_cast<int64_t>(batch.size()), longest, width});
    for (size_t b = 0; b < batch.size(); ++b) {
      std::ranges::copy(batch[b]->frames, frames.data() + static_cast<int64_t>(b) * longest * width);
    }
    source.add(name(), std::move(frames), std::move(lengths));
  }

  Value typed(const std::string& given) const override { return read_sound_value(given); }

  Value trial() const override {
    const double seconds = kTrialSeconds;
    if (options().given_frames()) {
      return Tensor::zeros({static_cast<int64_t>(seconds * 1000 / options().features.hop), given_width()});
    }
    data::Sound sound{.rate = options().features.rate};
    Random random = Random(1).named("trial");
    sound.samples.resize(static_cast<size_t>(seconds * static_cast<double>(sound.rate)));
    for (float& sample : sound.samples) sample = 0.1F * (random.uniform() - 0.5F);
    return sound;
  }

  explain::TraceSide side(const Ready& ready, int64_t places) const override {
    const double hop = options().features.hop / 1000;
    explain::TraceSound sound = ready.sound ? explain::trace_sound(*ready.sound) : explain::trace_sound(ready.frames, hop);
    const int64_t stride = (ready.frames.dim(0) + places - 1) / std::max<int64_t>(1, places);
    sound.place_seconds = static_cast<double>(stride) * hop;
    sound.place_offset = (options().features.window / 1000 - hop) / 2;
    return explain::sound_side(std::move(sound), ready.text, places);
  }

  const data::SoundFeatures* sound_features() const override { return options().given_frames() ? nullptr : &*features_; }

 private:
  void take(data::FeatureStatistics statistics) {
    statistics_ = std::move(statistics);
    features_->set_corpus(statistics_);
  }
  /// Numbers of a frame as it comes, before deltas.
  int64_t given_width() const { return statistics_.width() / (1 + options().features.deltas); }

  /// At the rate that features are made of.
  data::Sound at_rate(const data::Sound& sound) const {
    return sound.rate == features_->options().rate ? sound : data::resampled(sound, features_->options().rate);
  }

  /// Frames before they are normalised over the corpus.
  Tensor plain(const Value& value) const {
    if (const auto* frames = std::get_if<Tensor>(&value)) return (*features_)(*frames);
    return (*features_)(at_rate(std::get<data::Sound>(value)));
  }

  Ready heard(const Value& value, Random* random) const {
    const auto* sound = std::get_if<data::Sound>(&value);
    const auto* given = std::get_if<Tensor>(&value);
    require(sound || given, name(), ": expected a sound, got ", std::holds_alternative<std::string>(value) ? "a text" : "an image");
    const bool wants_frames = options().given_frames();
    require(wants_frames == (given != nullptr), name(), ": expected ",
            wants_frames ? "ready-made frames, as in training, got a sound" : "a sound, as in training, got ready-made frames");
    const Random draws(random ? random->next_key() : 0);
    Ready ready;
    if (sound) {
      require(!sound->samples.empty(), name(), ": expected at least one sample, got none");
      data::Sound now = at_rate(*sound);
      if (random) now = data::augmented(std::move(now), options().augment, draws.named("sound"));
      ready.frames = (*features_)(now);
      ready.sound = std::make_shared<const data::Sound>(std::move(now));
    } else {
      require(given->rank() == 2 && given->dim(1) == given_width() && given->dim(0) > 0, name(), ": expected frames [frames,",
              given_width(), "], got ", given->shape());
      const double speed = random ? data::drawn_speed(options().augment, draws.named("sound")) : 1;
      ready.frames = (*features_)(speed == 1 ? *given : data::stretched(*given, speed));
    }
    if (!random) return ready;
    if (!ready.frames.unique()) ready.frames = ready.frames.clone();
    data::mask_features(ready.frames, options().masks, draws.named("masks"), 1 + options().features.deltas);
    return ready;
  }

  Ready part_of(const Ready& whole, int64_t begin, int64_t end) const {
    const double hop = options().features.hop / 1000;
    Ready part{.frames = whole.frames.rows(begin, end), .begins = static_cast<double>(begin) * hop};
    if (!whole.sound) return part;
    const auto at = [&](int64_t frame) { return std::min<int64_t>(frame * features_->hop(), std::ssize(whole.sound->samples)); };
    const int64_t last = end == whole.frames.dim(0) ? std::ssize(whole.sound->samples) : at(end);
    data::Sound sound{.rate = whole.sound->rate};
    sound.samples.assign(whole.sound->samples.begin() + at(begin), whole.sound->samples.begin() + last);
    part.sound = std::make_shared<const data::Sound>(std::move(sound));
    return part;
  }

  std::optional<data::SoundFeatures> features_;
  data::FeatureStatistics statistics_;  // before normalising, of a part of the corpus
};

Examples sound_test(const TaskConfig& config, const TestFiles& files, const std::vector<std::string>&) {
  return read_sound_test(config, files.sounds);
}

}  // namespace

constinit const InputRow kSoundInput{
    "sound", models::Reads::sound, "sounds", "sounds", "WAV, FLAC or OGG files, or .npy frames", false, 16, kSoundFiles,
    kSoundDerived, make_input<SoundInput>, read_sound_corpus, sound_test};

}  // namespace attend::tasks
