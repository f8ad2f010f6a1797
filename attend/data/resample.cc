#include "attend/data/resample.h"

#include <soxr.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "attend/base/error.h"

namespace attend::data {
namespace {

// Samples that the filter gets at a time. It is always given whole blocks: then its rounding, too, is the same however a
// sound was cut into pieces.
constexpr size_t kResampledBlock = 1024;
constexpr double kMostRateRatio = 1000;

Sound converted(const Sound& sound, double from, double to) {
  Resampler resampler(from, to);
  Sound other{sound.rate, {}};
  other.samples.reserve(static_cast<size_t>(static_cast<double>(sound.samples.size()) * (to / from)) + 16);
  resampler.add(sound.samples, other.samples);
  resampler.finish(other.samples);
  return other;
}

}  // namespace

class Resampler::Filter {
 public:
  Filter(double from, double to) : ratio_(to / from) {
    const soxr_quality_spec_t quality = soxr_quality_spec(SOXR_HQ, 0);
    soxr_error_t problem = nullptr;
    filter_ = soxr_create(from, to, 1, &problem, nullptr, &quality, nullptr);
    require(filter_ != nullptr && problem == nullptr, "resample: cannot convert from a rate of ", from, " to ", to,
            ": ", problem != nullptr ? problem : "no memory");
  }
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;
  ~Filter() { soxr_delete(filter_); }

  /// Null at the end.
  void process(const float* samples, size_t count, std::vector<float>& out) {
    size_t used = 0, made = 0;
    do {
      const size_t before = out.size(), room = static_cast<size_t>(static_cast<double>(count - used) * ratio_) + 256;
      out.resize(before + room);
      size_t taken = 0;
      const soxr_error_t problem = soxr_process(filter_, samples == nullptr ? nullptr : samples + used, count - used,
                                                &taken, out.data() + before, room, &made);
      out.resize(before + (problem == nullptr ? made : 0));
      require(problem == nullptr, "resample: cannot convert: ", problem != nullptr ? problem : "");
      used += taken;
    } while (used < count || made > 0);
  }

 private:
  soxr_t filter_ = nullptr;
  double ratio_;
};

Resampler::Resampler(double from, double to) {
  const bool sane = from > 0 && to > 0 && std::isfinite(from) && std::isfinite(to) && to / from <= kMostRateRatio &&
                    from / to <= kMostRateRatio;
  require(sane, "resample: expected two rates that differ by a factor of at most ", kMostRateRatio, ", got ", from,
          " and ", to);
  filter_ = std::make_unique<Filter>(from, to);
  waiting_.reserve(kResampledBlock);
}
Resampler::Resampler(Resampler&&) noexcept = default;
Resampler& Resampler::operator=(Resampler&&) noexcept = default;
Resampler::~Resampler() = default;

void Resampler::add(std::span<const float> samples, std::vector<float>& out) {
  while (!samples.empty()) {
    const size_t count = std::min(samples.size(), kResampledBlock - waiting_.size());
    waiting_.insert(waiting_.end(), samples.begin(), samples.begin() + static_cast<ptrdiff_t>(count));
    samples = samples.subspan(count);
    if (waiting_.size() < kResampledBlock) return;
    filter_->process(waiting_.data(), waiting_.size(), out);
    waiting_.clear();
  }
}

void Resampler::finish(std::vector<float>& out) {
  if (!waiting_.empty()) filter_->process(waiting_.data(), waiting_.size(), out);
  waiting_.clear();
  filter_->process(nullptr, 0, out);
}

Sound resampled(const Sound& sound, int64_t rate) {
  require(sound.rate > 0 && rate > 0, "resample: expected positive rates, got ", sound.rate, " and ", rate);
  if (sound.rate == rate) return sound;
  Sound other = converted(sound, static_cast<double>(sound.rate), static_cast<double>(rate));
  other.rate = rate;
  return other;
}

Sound faster(const Sound& sound, double factor) {
  require(sound.rate > 0, "resample: expected a positive rate, got ", sound.rate);
  if (factor == 1) return sound;
  return converted(sound, static_cast<double>(sound.rate) * factor, static_cast<double>(sound.rate));
}

}  // namespace attend::data
