// Sound files: WAV, FLAC and OGG (Vorbis, Opus). They are not trusted: what a header claims is checked before memory is
// allocated for it, and a damaged or truncated file is an Error that names it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attend/data/byte_stream.h"
#include "attend/data/resample.h"
#include "attend/data/sound.h"

namespace attend::data {

struct SoundLimits {
  double most_seconds = 3600;                   ///< of a sound that is read at once; a SoundReader has no such limit
  size_t most_piped_bytes = size_t{256} << 20;  ///< FLAC and OGG that come through a pipe: they are kept whole
};

inline constexpr int64_t kLeastRate = 1000, kMostRate = 768'000, kMostSoundChannels = 64;

/// Reads a sound from its beginning to its end, a few samples at a time: one channel, the mean of those of the file, at
/// the wanted rate. The samples do not depend on how many are asked for at a time. Needs little memory, however long the
/// file is; of a WAV that comes through a pipe, samples are given as soon as they arrive.
class SoundReader {
 public:
  /// A file or a pipe; "-" is standard input. `rate`: of the samples that read() gives (0: that of the file).
  explicit SoundReader(const std::filesystem::path& path, int64_t rate = 0, const SoundLimits& limits = {});
  /// `bytes` must outlive the reader; `name` begins any message.
  SoundReader(std::span<const std::byte> bytes, std::string name, int64_t rate = 0);
  SoundReader(std::unique_ptr<ByteStream> bytes, std::string name, int64_t rate = 0, const SoundLimits& limits = {});
  SoundReader(SoundReader&&) noexcept;
  SoundReader& operator=(SoundReader&&) noexcept;
  ~SoundReader();

  int64_t rate() const { return rate_; }
  int64_t file_rate() const;
  int64_t file_channels() const;
  /// As messages call it.
  const std::string& name() const;
  /// What the header says; none if that is not known before the end.
  std::optional<double> seconds() const;
  /// Fills `into` from its beginning and returns how many samples it got: fewer only at the end, then 0. Throws Error where
  /// the file is damaged or shorter than its header says, where a sample is not finite, and at the end of a sound without
  /// samples.
  size_t read(std::span<float> into);

 private:
  class Decoder;
  SoundReader(std::unique_ptr<Decoder> decoder, int64_t rate);
  void fill();

  std::unique_ptr<Decoder> decoder_;
  std::optional<Resampler> resampler_;  // none if the file has the wanted rate
  int64_t rate_ = 0;
  bool ended_ = false;
  std::vector<float> block_, ready_;  // of the file, and to be given
  size_t given_ = 0;                  // of those that are ready
};

/// A whole sound at the wanted rate (0: that of the file). Refuses one longer than the limit, by its header where that says.
Sound read_sound(const std::filesystem::path& path, int64_t rate = 0, const SoundLimits& limits = {});
/// The format is recognised by the first bytes; `name` begins any message.
Sound decode_sound(std::span<const std::byte> bytes, const std::string& name, int64_t rate = 0,
                   const SoundLimits& limits = {});
/// The rest of a sound.
Sound read_rest(SoundReader& reader, const SoundLimits& limits = {});

/// By how many seconds a stretch may end behind the sound: those who note ends round them.
inline constexpr double kStretchSlack = 0.05;
/// The samples from `begin` to `end` seconds (0: to the end of the file) of a file; throws Error where it is shorter.
Sound read_stretch(const std::filesystem::path& path, double begin, double end, int64_t rate = 0,
                   const SoundLimits& limits = {});
/// How long a file's header says that it is; nothing is decoded.
double sound_seconds(const std::filesystem::path& path);

/// A WAV file of one channel and 16 bits: x becomes round(32768·x), within ±32767.
std::string encode_wav(const Sound& sound);
void write_wav(const std::filesystem::path& path, const Sound& sound);

/// Whether a file is named like a sound: .wav, .flac, .ogg, .oga or .opus, in upper or lower case.
bool is_sound_name(const std::filesystem::path& path);

}  // namespace attend::data
