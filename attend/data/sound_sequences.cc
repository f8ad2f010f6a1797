#include "attend/data/sound_sequences.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/options.h"
#include "attend/data/resample.h"

namespace attend::data {

void check_join(const JoinOptions& options) {
  check_bounds(options);
  require_option(options.least <= options.most, "most", "expected at least least, ", options.least, ", got ",
                 options.most);
  require_option(options.least_pause <= options.most_pause, "most_pause", "expected at least least_pause, ",
                 options.least_pause, ", got ", options.most_pause);
}

JoinedSound joined_sounds(std::span<const Sound> sounds, const JoinOptions& options, Random random, int64_t rate) {
  require(!sounds.empty(), "joined_sounds: expected at least one sound, got none");
  JoinedSound joined;
  std::vector<float>& samples = joined.sound.samples;
  joined.sound.rate = rate == 0 ? sounds.front().rate : rate;
  const auto pause = [&] {
    const double seconds = options.least_pause + (options.most_pause - options.least_pause) * random.uniform53();
    samples.resize(samples.size() + static_cast<size_t>(std::lround(seconds * static_cast<double>(joined.sound.rate))));
  };
  for (const Sound& sound : sounds) {
    pause();
    const double begin = joined.sound.seconds();
    const Sound part = resampled(sound, joined.sound.rate);
    samples.insert(samples.end(), part.samples.begin(), part.samples.end());
    joined.places.push_back({"", begin, joined.sound.seconds()});
  }
  pause();
  return joined;
}

SoundSequences::SoundSequences(std::vector<std::string> groups, const JoinOptions& options, uint64_t seed)
    : options_(options), seed_(seed) {
  check_join(options);
  require(!groups.empty(), "SoundSequences: expected at least one sound, got none");
  std::unordered_map<std::string, size_t> places;
  for (size_t i = 0; i < groups.size(); ++i) {
    const size_t place = places.try_emplace(options.same_group ? groups[i] : "", members_.size()).first->second;
    if (place == members_.size()) members_.emplace_back();
    members_[place].push_back(i);
    group_of_.push_back(place);
  }
}

SequencePlan SoundSequences::plan(int64_t index) const {
  Random random = Random(seed_, static_cast<uint64_t>(index)).named("sequences");
  const auto lengths = static_cast<uint64_t>(options_.most - options_.least + 1);
  const int64_t length = options_.least + static_cast<int64_t>(random.below(lengths));
  const std::vector<size_t>& group = members_[group_of_[random.below(group_of_.size())]];
  SequencePlan plan{{}, random.named("pauses")};
  for (int64_t i = 0; i < length; ++i) plan.members.push_back(group[random.below(group.size())]);
  return plan;
}

}  // namespace attend::data
