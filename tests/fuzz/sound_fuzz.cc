// Feeds any bytes to the decoders of WAV, FLAC and OGG, as a file and as a pipe; what is not an attend::Error or a sound of
// finite samples is a bug. The samples must not depend on how many are asked for at a time.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attend/base/error.h"
#include "attend/data/sound_file.h"

namespace {

using attend::data::Sound;
using attend::data::SoundLimits;
using attend::data::SoundReader;

constexpr SoundLimits kLimits{.most_seconds = 2, .most_piped_bytes = 1 << 20};

void check(bool held) {
  if (!held) std::terminate();
}

void check_sound(const Sound& sound) {
  check(!sound.samples.empty() && sound.seconds() <= kLimits.most_seconds);
  for (const float x : sound.samples) check(std::isfinite(x));
}

void read_file_of(std::span<const std::byte> bytes) {
  try {
    const Sound sound = attend::data::decode_sound(bytes, "fuzz", 0, kLimits);
    check_sound(sound);
    SoundReader reader(bytes, "fuzz");
    std::vector<float> some(77), all;
    for (size_t count; (count = reader.read(some)) > 0;)
      all.insert(all.end(), some.begin(), some.begin() + static_cast<ptrdiff_t>(count));
    check(all == sound.samples);
    if (sound.rate <= 16000) check_sound(attend::data::decode_sound(bytes, "fuzz", 8000, {.most_seconds = 2}));
  } catch (const attend::Error&) {
  }
}

void read_pipe_of(std::span<const std::byte> bytes) {
  try {
    SoundReader reader(attend::data::memory_bytes(bytes), "fuzz", 0, kLimits);
    check_sound(read_rest(reader, kLimits));
  } catch (const attend::Error&) {
  }
}

}  // namespace

// libsndfile 1.2.0 does not free all of a damaged Vorbis file that it refuses: about 12 kB each.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libsndfile\nleak:libvorbis\nleak:libogg\n"; }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  read_file_of(bytes);
  read_pipe_of(bytes);
  return 0;
}
