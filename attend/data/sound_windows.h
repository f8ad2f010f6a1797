// A long sound in parts that a network can take, with only one of them in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attend/base/bounds.h"
#include "attend/data/sound.h"
#include "attend/data/sound_file.h"

namespace attend::data {

struct SoundWindowOptions {
  double window = 30, stride = 25;
  bool quiet = true;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("window", window, "seconds of sound that are heard at once; a longer one is heard in windows of that length",
          bounds::within(0.1, 3600));
    visit("stride", stride, "seconds from one window to the next", bounds::within(0.1, 3600));
    visit("quiet", quiet, "cut where it is quiet, if that is so between stride and window, instead of overlapping");
  }
};
/// Throws OptionError unless stride ≤ window.
void check_windows(const SoundWindowOptions& options);

/// The samples of one window and where they are in the whole sound.
struct SoundWindow {
  Sound sound;
  double begin = 0, end = 0;  ///< seconds
  double overlap = 0;  ///< seconds that it has in common with the window before: 0 where that was cut in a quiet place
};

/// Windows of at most `window` seconds, each `stride` seconds behind the one before. Where the sound is quiet for a fifth of a
/// second somewhere between stride and window, a window ends in the middle of the quietest such place, where the next one
/// begins. Quiet: 20 dB below the mean power of the window. A sound of at most `window` seconds is one window.
class SoundWindows {
 public:
  SoundWindows(SoundReader reader, const SoundWindowOptions& options);

  /// The next one; false at the end.
  bool next(SoundWindow& window);
  const SoundReader& reader() const { return reader_; }

 private:
  /// Where a window ends and the next one begins, in samples from its own beginning.
  struct Cut {
    size_t end, next;
  };
  size_t samples_in(double seconds) const;
  /// Fills the window up; false if there is nothing new in it.
  bool fill();
  Cut cut() const;

  SoundReader reader_;
  SoundWindowOptions options_;
  std::vector<float> samples_;  // from the beginning of the next window on
  int64_t at_ = 0;              // its place
  size_t known_ = 0;            // how many of them the window before had, too
  bool ended_ = false;
};

}  // namespace attend::data
