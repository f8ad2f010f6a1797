// Sounds joined to longer ones, such as digits to numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "attend/base/bounds.h"
#include "attend/base/random.h"
#include "attend/data/sound.h"

namespace attend::data {

struct JoinOptions {
  int64_t least = 1, most = 8;
  double least_pause = 0.05, most_pause = 0.3;
  bool same_group = true;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("least", least, "sounds that are joined: at least …", bounds::within(1, 1000));
    visit("most", most, "… and at most", bounds::within(1, 1000));
    visit("least_pause", least_pause, "seconds before, between and behind them: at least …", bounds::within(0, 60));
    visit("most_pause", most_pause, "… and at most", bounds::within(0, 60));
    visit("same_group", same_group, "all sounds of a sequence from one group: one speaker");
  }
};
void check_join(const JoinOptions& options);

/// One sound, with the places of those that it was joined from.
struct JoinedSound {
  Sound sound;
  std::vector<TimedLabel> places;  ///< labels are ""
};

/// One behind the other with drawn pauses, converted to `rate` (0: that of the first).
JoinedSound joined_sounds(std::span<const Sound> sounds, const JoinOptions& options, Random random, int64_t rate = 0);

/// What a sequence is made of.
struct SequencePlan {
  std::vector<size_t> members;  ///< of the entries
  Random random;                ///< for the pauses
};

/// Draws sequences from sounds of which the groups are known.
class SoundSequences {
 public:
  /// `groups`: of each sound.
  SoundSequences(std::vector<std::string> groups, const JoinOptions& options, uint64_t seed);

  /// A pure function of the index: first a length, each alike; then a group, by its number of sounds; then its members, with
  /// replacement.
  SequencePlan plan(int64_t index) const;
  const JoinOptions& options() const { return options_; }

 private:
  JoinOptions options_;
  uint64_t seed_;
  std::vector<std::vector<size_t>> members_;  // of each group
  std::vector<size_t> group_of_;              // of each sound
};

}  // namespace attend::data
