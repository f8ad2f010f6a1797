#include "attend/data/sound_features.h"

#include <kiss_fftr.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/options.h"
#include "attend/kernels/parallel.h"
#include "attend/kernels/spectrum.h"

namespace attend::data {
namespace {

constexpr float kLeastPower = 1e-6F;
constexpr int64_t kDeltaReach = 2;
// Frames that a thread makes at a time: about 1 ms, beside which its tables for the transform cost nothing.
constexpr int64_t kFramesAtOnce = 256;

double mel_of(double hertz) { return 2595 * std::log10(1 + hertz / 700); }
double hertz_of(double mel) { return 700 * (std::pow(10, mel / 2595) - 1); }

int64_t samples_of(double milliseconds, int64_t rate) {
  return std::llround(milliseconds * static_cast<double>(rate) / 1000);
}

int64_t power_of_two(int64_t least) {
  int64_t size = 2;
  while (size < least) size *= 2;
  return size;
}

/// Row t of `rows` [count, stride], columns [from, from + width): the delta of the `width` columns before them.
void fill_delta(real* rows, int64_t count, int64_t stride, int64_t from, int64_t width, int64_t t) {
  const auto row = [&](int64_t at) { return rows + std::clamp<int64_t>(at, 0, count - 1) * stride + from - width; };
  real* delta = rows + t * stride + from;
  const real *a = row(t - 2), *b = row(t - 1), *c = row(t + 1), *d = row(t + 2);
  for (int64_t i = 0; i < width; ++i) delta[i] = ((c[i] - b[i]) + 2 * (d[i] - a[i])) / 10;
}

void fill_deltas(Tensor& features, int64_t deltas) {
  const int64_t width = features.dim(1) / (1 + deltas);
  for (int64_t order = 1; order <= deltas; ++order) {
    for (int64_t t = 0; t < features.dim(0); ++t) {
      fill_delta(features.data(), features.dim(0), features.dim(1), order * width, width, t);
    }
  }
}

}  // namespace

/// What all frames share.
class SoundFeatures::Tables {
 public:
  explicit Tables(const SoundFeatureOptions& given) : options(given) {
    check_bounds(options);
    window = samples_of(options.window, options.rate);
    hop = samples_of(options.hop, options.rate);
    fft = options.fft == 0 ? power_of_two(window) : options.fft;
    check();
    fill_hann();
    fill_bands();
    if (options.kind == "mfcc") fill_cosines();
    if (kernels::SpectrumPlan::possible(static_cast<size_t>(fft))) plan.emplace(static_cast<size_t>(fft));
  }

  bool given() const { return options.kind == "given"; }
  int64_t base_width() const { return options.kind == "mfcc" ? options.coefficients : options.mels; }
  int64_t width() const { return given() ? corpus.width() : base_width() * (1 + options.deltas); }
  int64_t frames(int64_t samples) const {
    if (samples <= 0) return 0;
    return samples < window ? 1 : 1 + (samples - window) / hop;
  }

  /// Fills in the deltas, and normalises.
  void finish(Tensor& features) const {
    fill_deltas(features, options.deltas);
    if (options.normalise == "utterance") {
      FeatureStatistics own;
      own.add(features);
      own.normalise(features);
    } else if (options.normalise == "corpus" && corpus.frames() > 0) {
      corpus.normalise(features);
    }
  }

  SoundFeatureOptions options;
  int64_t window = 0, hop = 0, fft = 0;
  std::vector<float> hann, cosines;           // cosines: [mels, coefficients]
  std::vector<kernels::Band> bands;           // of pitch: triangles
  std::vector<float> weights;                 // theirs, one after another
  std::optional<kernels::SpectrumPlan> plan;  // none for sizes that KissFFT transforms
  FeatureStatistics corpus;

 private:
  double high() const { return options.high == 0 ? static_cast<double>(options.rate) / 2 : options.high; }

  void check() const {
    require_option(window >= 1, "window", "expected at least one sample, got ", options.window, " ms at ",
                   options.rate);
    require_option(hop >= 1, "hop", "expected at least one sample, got ", options.hop, " ms at ", options.rate);
    require_option(fft >= window && fft % 2 == 0, "fft", "expected an even number of at least the ", window,
                   " samples of a window, got ", fft);
    require_option(high() <= static_cast<double>(options.rate) / 2, "high", "expected at most half the rate, ",
                   options.rate / 2, ", got ", options.high);
    require_option(options.low < high(), "low", "expected less than the highest frequency, ", high(), ", got ",
                   options.low);
    require_option(options.kind != "mfcc" || options.coefficients <= options.mels, "coefficients",
                   "expected at most as many as there are mels, ", options.mels, ", got ", options.coefficients);
  }

  void fill_hann() {
    for (int64_t i = 0; i < window; ++i) {
      const double turn = static_cast<double>(i) / static_cast<double>(window);
      hann.push_back(static_cast<float>(0.5 - 0.5 * std::cos(2 * std::numbers::pi * turn)));
    }
  }

  /// Between the corners `left` and `right`, with its top at `centre`, over frequencies k·step.
  void add_triangle(double left, double centre, double right, double step) {
    kernels::Band band{.begin = 0, .count = 0, .first = static_cast<uint32_t>(weights.size())};
    for (int64_t k = 0; k <= fft / 2; ++k) {
      const double f = static_cast<double>(k) * step;
      const double weight = std::min((f - left) / (centre - left), (right - f) / (right - centre));
      if (weight <= 0) continue;
      if (band.count++ == 0) band.begin = static_cast<uint32_t>(k);
      weights.push_back(static_cast<float>(weight));
    }
    bands.push_back(band);
  }

  void fill_bands() {
    const double low = mel_of(options.low), step = (mel_of(high()) - low) / static_cast<double>(options.mels + 1);
    const auto corner = [&](int64_t b) { return hertz_of(low + step * static_cast<double>(b)); };
    const double bin = static_cast<double>(options.rate) / static_cast<double>(fft);
    for (int64_t b = 0; b < options.mels; ++b) {
      add_triangle(corner(b), corner(b + 1), corner(b + 2), bin);
    }
  }

  void fill_cosines() {
    const double mels = static_cast<double>(options.mels);
    for (int64_t b = 0; b < options.mels; ++b) {
      for (int64_t q = 0; q < options.coefficients; ++q) {
        const double scale = std::sqrt((q == 0 ? 1 : 2) / mels),
                     angle = std::numbers::pi * (static_cast<double>(b) + 0.5) / mels;
        cosines.push_back(static_cast<float>(scale * std::cos(static_cast<double>(q) * angle)));
      }
    }
  }
};

/// One thread's memory for making frames, several at a time: number i of frame j is at [i·kAtOnce + j].
class SoundFeatures::FrameMaker {
 public:
  static constexpr size_t kAtOnce = kernels::kSpectrumLanes;

  explicit FrameMaker(const Tables& tables)
      : tables_(tables),
        windowed_(static_cast<size_t>(tables.fft) * kAtOnce, 0.0F),
        room_(2 * windowed_.size()),
        power_(static_cast<size_t>(tables.fft / 2 + 1) * kAtOnce),
        logs_(tables.bands.size() * kAtOnce),
        cepstra_(tables.cosines.size() / tables.bands.size() * kAtOnce) {
    if (tables.plan) return;
    plan_.reset(kiss_fftr_alloc(static_cast<int>(tables.fft), 0, nullptr, nullptr));
    require(plan_ != nullptr, "sound features: no memory for a transform of ", tables.fft, " points");
  }

  /// `count` frames, at most kAtOnce: frame j begins at samples[j·hop]. `before`: the sample in front of the first, 0 at the
  /// beginning; `rows`: their first base_width() numbers, each frame `stride` behind the one before.
  void make(const float* samples, float before, size_t count, real* rows, size_t stride) {
    const auto hop = static_cast<size_t>(tables_.hop);
    for (size_t j = 0; j < count; ++j) fill_window(samples + j * hop, j == 0 ? before : samples[j * hop - 1], j);
    if (tables_.plan) {
      kernels::power_spectra(*tables_.plan, windowed_.data(), room_.data(), power_.data());
    } else {
      for (size_t j = 0; j < count; ++j) fill_power(j);
    }
    kernels::log_bands(tables_.bands, tables_.weights, power_.data(), kLeastPower, logs_.data());
    if (!tables_.cosines.empty()) fill_cepstra();
    const std::vector<float>& made = tables_.cosines.empty() ? logs_ : cepstra_;
    for (size_t j = 0; j < count; ++j) {
      for (size_t i = 0; i < made.size() / kAtOnce; ++i) rows[j * stride + i] = made[i * kAtOnce + j];
    }
  }

 private:
  struct Free {
    void operator()(kiss_fftr_state* plan) const { kiss_fftr_free(plan); }
  };

  void fill_window(const float* samples, float before, size_t j) {
    const size_t count = tables_.hann.size();
    const auto emphasis = static_cast<float>(tables_.options.emphasis);
    const float* hann = tables_.hann.data();
    float* windowed = windowed_.data() + j;
    windowed[0] = (samples[0] - emphasis * before) * hann[0];
    for (size_t i = 1; i < count; ++i) windowed[i * kAtOnce] = (samples[i] - emphasis * samples[i - 1]) * hann[i];
  }

  /// Of frame j, by KissFFT.
  void fill_power(size_t j) {
    const auto fft = static_cast<size_t>(tables_.fft);
    float* signal = room_.data();
    auto* spectrum = reinterpret_cast<kiss_fft_cpx*>(room_.data() + fft);
    for (size_t i = 0; i < fft; ++i) signal[i] = windowed_[i * kAtOnce + j];
    kiss_fftr(plan_.get(), signal, spectrum);
    for (size_t k = 0; k <= fft / 2; ++k) {
      power_[k * kAtOnce + j] = spectrum[k].r * spectrum[k].r + spectrum[k].i * spectrum[k].i;
    }
  }

  void fill_cepstra() {
    const auto count = static_cast<size_t>(tables_.options.coefficients);
    std::ranges::fill(cepstra_, 0.0F);
    for (size_t b = 0; b < tables_.bands.size(); ++b) {
      for (size_t q = 0; q < count; ++q) {
        const float cosine = tables_.cosines[b * count + q];
        for (size_t j = 0; j < kAtOnce; ++j) cepstra_[q * kAtOnce + j] += cosine * logs_[b * kAtOnce + j];
      }
    }
  }

  const Tables& tables_;
  std::unique_ptr<kiss_fftr_state, Free> plan_;
  std::vector<float> windowed_, room_, power_, logs_, cepstra_;
};

SoundFeatures::SoundFeatures(const SoundFeatureOptions& options) : tables_(std::make_shared<Tables>(options)) {}

const SoundFeatureOptions& SoundFeatures::options() const { return tables_->options; }
int64_t SoundFeatures::width() const { return tables_->width(); }
int64_t SoundFeatures::window() const { return tables_->window; }
int64_t SoundFeatures::hop() const { return tables_->hop; }
int64_t SoundFeatures::frames(int64_t samples) const { return tables_->frames(samples); }

void SoundFeatures::set_corpus(FeatureStatistics statistics) {
  const bool fits = tables_->given() || statistics.width() == width();
  require(fits && statistics.frames() > 0, "sound features: expected statistics of frames of ", width(),
          " numbers, got ", statistics.frames(), " frames of ", statistics.width());
  auto tables = std::make_shared<Tables>(*tables_);  // a stream may be using the old ones
  tables->corpus = std::move(statistics);
  tables_ = std::move(tables);
}

Tensor SoundFeatures::operator()(const Sound& sound) const {
  const Tables& tables = *tables_;
  require(!tables.given(), "sound features: expected features that are given, got a sound");
  require(sound.rate == tables.options.rate, "sound features: expected ", tables.options.rate,
          " samples a second, got ", sound.rate);
  require(!sound.samples.empty(), "sound features: expected at least one sample, got none");
  std::vector<float> padded;
  std::span<const float> samples = sound.samples;
  if (static_cast<int64_t>(samples.size()) < tables.window) {
    padded.assign(samples.begin(), samples.end());
    padded.resize(static_cast<size_t>(tables.window));
    samples = padded;
  }
  const int64_t frames = tables.frames(static_cast<int64_t>(samples.size()));
  Tensor features(Shape{frames, tables.width()});
  kernels::parallel_for(static_cast<size_t>((frames + kFramesAtOnce - 1) / kFramesAtOnce), [&](size_t task) {
    FrameMaker maker(tables);
    const int64_t begin = static_cast<int64_t>(task) * kFramesAtOnce, end = std::min(frames, begin + kFramesAtOnce);
    constexpr auto kAtOnce = static_cast<int64_t>(FrameMaker::kAtOnce);
    for (int64_t t = begin; t < end; t += kAtOnce) {
      const float* first = samples.data() + t * tables.hop;
      const auto count = static_cast<size_t>(std::min(kAtOnce, end - t)), stride = static_cast<size_t>(tables.width());
      maker.make(first, t == 0 ? 0.0F : first[-1], count, features.data() + t * tables.width(), stride);
    }
  });
  tables.finish(features);
  return features;
}

Tensor SoundFeatures::operator()(const Tensor& given) const {
  const Tables& tables = *tables_;
  require(tables.given(), "sound features: expected a sound, got features that are given");
  require(given.defined() && given.rank() == 2 && given.dim(0) > 0, "sound features: expected [frames,width], got ",
          given.shape());
  const int64_t frames = given.dim(0), base = given.dim(1), width = base * (1 + tables.options.deltas);
  require(tables.corpus.frames() == 0 || width == tables.corpus.width(), "sound features: expected frames of ",
          tables.corpus.width() / (1 + tables.options.deltas), " numbers, as in the corpus, got ", given.shape());
  Tensor features(Shape{frames, width});
  for (int64_t t = 0; t < frames; ++t) std::copy_n(given.data() + t * base, base, features.data() + t * width);
  tables.finish(features);
  return features;
}

/// Samples from the beginning of the next frame on, and rows that wait for those behind them.
class FeatureStream::State {
 public:
  explicit State(std::shared_ptr<const SoundFeatures::Tables> tables) : tables_(std::move(tables)), maker_(*tables_) {
    require_option(!tables_->given(), "kind",
                   "expected logmel or mfcc for a sound that is heard as it comes, got given");
    require_option(
        tables_->options.normalise != "utterance", "normalise",
        "expected none or corpus for a sound that is heard as it comes, got utterance, which depends on its end");
  }

  Tensor add(std::span<const float> samples) {
    require(!finished_, "feature stream: expected nothing behind the end, got ", samples.size(), " samples");
    heard_ += static_cast<int64_t>(samples.size());
    samples = skip(samples);
    samples_.insert(samples_.end(), samples.begin(), samples.end());
    const auto window = static_cast<size_t>(tables_->window), hop = static_cast<size_t>(tables_->hop);
    size_t at = 0;
    while (at + window <= samples_.size()) {
      const size_t count = std::min((samples_.size() - at - window) / hop + 1, SoundFeatures::FrameMaker::kAtOnce);
      make_rows(at, count);
      at += count * hop;
    }
    forget_samples(at);
    return given(false);
  }

  Tensor finish() {
    require(!finished_ && heard_ > 0, "feature stream: expected at least one sample before its one end, got ",
            finished_ ? "a second end" : "none");
    finished_ = true;
    if (made_ == 0) {
      samples_.resize(static_cast<size_t>(tables_->window));
      make_rows(0, 1);
    }
    return given(true);
  }

 private:
  void make_rows(size_t at, size_t count) {
    const auto width = static_cast<size_t>(tables_->width());
    rows_.resize(rows_.size() + count * width);
    maker_.make(samples_.data() + at, at > 0 ? samples_[at - 1] : before_, count,
                rows_.data() + rows_.size() - count * width, width);
    made_ += static_cast<int64_t>(count);
  }

  /// Without those in front of the next frame.
  std::span<const float> skip(std::span<const float> samples) {
    const size_t count = std::min(skipped_, samples.size());
    if (count > 0) before_ = samples[count - 1];
    skipped_ -= count;
    return samples.subspan(count);
  }

  /// A hop may be longer than a window: then the next frame begins beyond what was heard.
  void forget_samples(size_t at) {
    const size_t count = std::min(at, samples_.size());
    if (count == 0) return;
    before_ = samples_[count - 1];
    samples_.erase(samples_.begin(), samples_.begin() + static_cast<ptrdiff_t>(count));
    skipped_ += at - count;
  }

  /// Rows [given_, …) that are complete, normalised. Rows that deltas still look back to are kept: frames from kept_ on.
  Tensor given(bool end) {
    const int64_t width = tables_->width(), deltas = tables_->options.deltas;
    for (int64_t order = 1; order <= deltas; ++order) {
      int64_t& done = deltas_done_[order - 1];
      for (; done < (end ? made_ : made_ - order * kDeltaReach); ++done) fill(order, done);
    }
    const int64_t until = end ? made_ : std::max(given_, made_ - deltas * kDeltaReach);
    Tensor features(Shape{until - given_, width});
    const auto from = rows_.begin() + static_cast<ptrdiff_t>((given_ - kept_) * width);
    std::copy(from, from + static_cast<ptrdiff_t>((until - given_) * width), features.data());
    given_ = until;
    forget_rows();
    if (tables_->options.normalise == "corpus" && tables_->corpus.frames() > 0) tables_->corpus.normalise(features);
    return features;
  }

  void fill(int64_t order, int64_t t) {
    const int64_t base = tables_->base_width();
    fill_delta(rows_.data(), made_ - kept_, tables_->width(), order * base, base, t - kept_);
  }

  void forget_rows() {
    // The next delta looks back two frames; four are kept, so that the first is still there for those near the beginning.
    const int64_t from = std::max<int64_t>(kept_, given_ - 2 * kDeltaReach);
    rows_.erase(rows_.begin(), rows_.begin() + static_cast<ptrdiff_t>((from - kept_) * tables_->width()));
    kept_ = from;
  }

  std::shared_ptr<const SoundFeatures::Tables> tables_;
  SoundFeatures::FrameMaker maker_;
  std::vector<real> rows_;
  std::vector<float> samples_;
  float before_ = 0;
  size_t skipped_ = 0;
  int64_t heard_ = 0, made_ = 0, given_ = 0, kept_ = 0;
  int64_t deltas_done_[2] = {0, 0};
  bool finished_ = false;
};

FeatureStream::FeatureStream(const SoundFeatures& features) : state_(std::make_unique<State>(features.tables_)) {}
FeatureStream::FeatureStream(FeatureStream&&) noexcept = default;
FeatureStream& FeatureStream::operator=(FeatureStream&&) noexcept = default;
FeatureStream::~FeatureStream() = default;

Tensor FeatureStream::add(std::span<const float> samples) { return state_->add(samples); }
Tensor FeatureStream::finish() { return state_->finish(); }

}  // namespace attend::data
