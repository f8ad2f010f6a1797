#include "attend/data/sound_file.h"

#include <sndfile.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <string_view>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/base/replacement.h"
#include "attend/data/sound_bytes.h"
#include "attend/data/spool.h"

namespace attend::data {
namespace {

constexpr size_t kSoundBlock = 1024;      // frames that are decoded at a time
constexpr float kLoudest = 65536;         // some write samples of 16 bits as floats without scaling them
constexpr uint32_t kNoSize = 0x7FFFF000;  // a WAV of this size or more was written into a pipe: nobody knows its size

std::string_view sound_kind(std::string_view front) {
  if (front.starts_with("RIFF") || front.starts_with("RF64")) return "WAV";
  if (front.starts_with("fLaC")) return "FLAC";
  if (front.starts_with("OggS")) return "OGG";
  return "";
}

void check_kind(const std::string& name, std::string_view front) {
  require(!front.empty(), name, ": expected a WAV, FLAC or OGG sound, got an empty file");
  require(!sound_kind(front).empty(), name, ": expected a WAV, FLAC or OGG sound, got a file that begins with ",
          quoted(front));
}

/// How many bytes a WAV's first chunk says that there are; 0 if it does not say.
int64_t claimed_bytes(std::string_view front) {
  if (!front.starts_with("RIFF") || front.size() < 8) return 0;
  uint32_t size = 0;
  for (size_t i = 8; i-- > 4;) size = size << 8 | static_cast<uint8_t>(front[i]);
  return size == 0 || size >= kNoSize ? 0 : int64_t{size};  // without the chunk's own 8, which some writers count
}

std::string little_endian(uint32_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> 8 * i);
  return text;
}

}  // namespace

/// libsndfile over SeekableBytes: frames of all channels in, their means out.
class SoundReader::Decoder {
 public:
  Decoder(std::unique_ptr<SeekableBytes> bytes, std::string name) : name_(std::move(name)), bytes_(std::move(bytes)) {
    const std::string front = first_bytes(*bytes_);
    check_kind(name_, front);
    claimed_ = claimed_bytes(front);
    require(bytes_->piped() || bytes_->size() >= claimed_, name_, ": expected ", claimed_,
            " bytes, as its header says, got ", bytes_->size(), ": the file is truncated");
    open();
    check_info();
    frames_of_block_.resize(kSoundBlock * static_cast<size_t>(info_.channels));
    bytes_->forget();
  }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  ~Decoder() {
    if (file_ != nullptr) sf_close(file_);
  }

  const std::string& name() const { return name_; }
  int64_t rate() const { return info_.samplerate; }
  int64_t channels() const { return info_.channels; }
  /// Samples that the header promises; −1 if it does not say.
  int64_t promised() const {
    const bool unknown = (bytes_->piped() && claimed_ == 0) || info_.frames >= SF_COUNT_MAX / 2;
    return unknown ? -1 : info_.frames;
  }

  /// The next samples, up to a block; none at the end.
  void next(std::vector<float>& block) {
    const sf_count_t count = sf_readf_float(file_, frames_of_block_.data(), kSoundBlock);
    rethrow();
    require(sf_error(file_) == SF_ERR_NO_ERROR, name_, ": cannot decode on after ", read_,
            " samples: ", sf_strerror(file_));
    block.resize(static_cast<size_t>(std::max<sf_count_t>(count, 0)));
    read_ += static_cast<int64_t>(block.size());
    if (block.empty()) check_end();
    for (size_t i = 0; i < block.size(); ++i) block[i] = mean_of(i);
  }

 private:
  void open() {
    SF_VIRTUAL_IO access{size_of, seek_to, read_from, write_none, place_of};
    file_ = sf_open_virtual(&access, SFM_READ, &info_, this);
    rethrow();
    require(file_ != nullptr, name_,
            ": expected a WAV, FLAC or OGG sound, got one that cannot be decoded: ", sf_strerror(nullptr));
  }

  void check_info() const {
    const int kind = info_.format & SF_FORMAT_TYPEMASK;
    const bool known = kind == SF_FORMAT_WAV || kind == SF_FORMAT_WAVEX || kind == SF_FORMAT_RF64 ||
                       kind == SF_FORMAT_FLAC || kind == SF_FORMAT_OGG;
    require(known, name_, ": expected a WAV, FLAC or OGG sound, got another kind");
    require(info_.channels >= 1 && info_.channels <= kMostSoundChannels, name_, ": expected 1 to ", kMostSoundChannels,
            " channels, got ", info_.channels);
    require(info_.samplerate >= kLeastRate && info_.samplerate <= kMostRate, name_, ": expected a rate of ", kLeastRate,
            " to ", kMostRate, " samples a second, got ", info_.samplerate);
    require(info_.frames != 0, name_, ": expected at least one sample, got none");
  }

  void check_end() {
    require(read_ > 0, name_, ": expected at least one sample, got none");
    // An OGG file has no such number: libsndfile derives it from the last page that it finds.
    const bool exact = (info_.format & SF_FORMAT_TYPEMASK) != SF_FORMAT_OGG;
    require(!exact || promised() < 0 || read_ >= promised(), name_, ": expected ", promised(),
            " samples, as its header says, got ", read_, ": the file is truncated or damaged");
  }

  float mean_of(size_t frame) const {
    const size_t channels = static_cast<size_t>(info_.channels);
    float sum = 0;
    for (size_t c = 0; c < channels; ++c) sum += frames_of_block_[frame * channels + c];
    const float mean = sum / static_cast<float>(channels);
    require(std::abs(mean) <= kLoudest, name_, ": expected samples that are finite and within ±", kLoudest, ", got ",
            mean, " among the ", kSoundBlock, " up to sample ", read_);
    return mean;
  }

  // What libsndfile calls. It is C: an exception waits until it has returned.
  static Decoder& self(void* user) { return *static_cast<Decoder*>(user); }
  static sf_count_t size_of(void* user) { return self(user).bytes_->size(); }
  static sf_count_t place_of(void* user) { return self(user).at_; }
  static sf_count_t write_none(const void*, sf_count_t, void*) { return 0; }
  static sf_count_t seek_to(sf_count_t offset, int whence, void* user) {
    Decoder& decoder = self(user);
    const int64_t origin = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? decoder.at_ : decoder.bytes_->size();
    int64_t place = 0;
    if (__builtin_add_overflow(origin, offset, &place) || place < 0) return -1;
    return decoder.at_ = place;
  }
  static sf_count_t read_from(void* into, sf_count_t count, void* user) {
    Decoder& decoder = self(user);
    if (count <= 0 || decoder.problem_ != nullptr) return 0;
    try {
      const size_t got = decoder.bytes_->read(decoder.at_, {static_cast<char*>(into), static_cast<size_t>(count)});
      decoder.at_ += static_cast<int64_t>(got);
      return static_cast<sf_count_t>(got);
    } catch (...) {
      decoder.problem_ = std::current_exception();
      return 0;
    }
  }
  void rethrow() {
    if (problem_ != nullptr) std::rethrow_exception(problem_);
  }

  std::string name_;
  std::unique_ptr<SeekableBytes> bytes_;
  int64_t claimed_ = 0;        // bytes
  int64_t at_ = 0, read_ = 0;  // a place among the bytes; samples
  std::exception_ptr problem_;
  SF_INFO info_{};
  SNDFILE* file_ = nullptr;
  std::vector<float> frames_of_block_;
};

SoundReader::SoundReader(std::unique_ptr<Decoder> decoder, int64_t rate)
    : decoder_(std::move(decoder)), rate_(rate == 0 ? decoder_->rate() : rate) {
  require(rate_ >= kLeastRate && rate_ <= kMostRate, decoder_->name(), ": expected a wanted rate of ", kLeastRate,
          " to ", kMostRate, ", got ", rate);
  if (rate_ != decoder_->rate()) {
    resampler_.emplace(static_cast<double>(decoder_->rate()), static_cast<double>(rate_));
  }
}

SoundReader::SoundReader(const std::filesystem::path& path, int64_t rate, const SoundLimits& limits)
    : SoundReader(std::make_unique<Decoder>(
                      is_pipe(path) ? sound_stream_bytes(file_bytes(path), shown_name(path), limits.most_piped_bytes)
                                    : seekable_file(path),
                      shown_name(path)),
                  rate) {}
SoundReader::SoundReader(std::span<const std::byte> bytes, std::string name, int64_t rate)
    : SoundReader(std::make_unique<Decoder>(seekable_memory(bytes), std::move(name)), rate) {}
SoundReader::SoundReader(std::unique_ptr<ByteStream> bytes, std::string name, int64_t rate, const SoundLimits& limits)
    : SoundReader(std::make_unique<Decoder>(sound_stream_bytes(std::move(bytes), name, limits.most_piped_bytes), name),
                  rate) {}
SoundReader::SoundReader(SoundReader&&) noexcept = default;
SoundReader& SoundReader::operator=(SoundReader&&) noexcept = default;
SoundReader::~SoundReader() = default;

int64_t SoundReader::file_rate() const { return decoder_->rate(); }
int64_t SoundReader::file_channels() const { return decoder_->channels(); }
const std::string& SoundReader::name() const { return decoder_->name(); }

std::optional<double> SoundReader::seconds() const {
  const int64_t samples = decoder_->promised();
  if (samples < 0) return std::nullopt;
  return static_cast<double>(samples) / static_cast<double>(decoder_->rate());
}

void SoundReader::fill() {
  ready_.clear();
  given_ = 0;
  while (ready_.empty() && !ended_) {
    decoder_->next(block_);
    ended_ = block_.empty();
    if (!resampler_) {
      ready_ = block_;
    } else if (ended_) {
      resampler_->finish(ready_);
    } else {
      resampler_->add(block_, ready_);
    }
  }
}

size_t SoundReader::read(std::span<float> into) {
  size_t filled = 0;
  while (filled < into.size()) {
    if (given_ == ready_.size()) fill();
    const size_t count = std::min(into.size() - filled, ready_.size() - given_);
    if (count == 0) break;
    std::copy_n(ready_.begin() + static_cast<ptrdiff_t>(given_), count, into.begin() + static_cast<ptrdiff_t>(filled));
    given_ += count;
    filled += count;
  }
  return filled;
}

Sound read_rest(SoundReader& reader, const SoundLimits& limits) {
  const auto refuse = [&](double seconds) {
    fail(reader.name(), ": expected a sound of at most ", limits.most_seconds, " seconds, got one of ", seconds,
         " or more");
  };
  if (reader.seconds().value_or(0) > limits.most_seconds) refuse(*reader.seconds());
  Sound sound{reader.rate(), {}};
  std::array<float, size_t{1} << 14> part;
  for (size_t count; (count = reader.read(part)) > 0;) {
    sound.samples.insert(sound.samples.end(), part.begin(), part.begin() + static_cast<ptrdiff_t>(count));
    if (sound.seconds() > limits.most_seconds) refuse(sound.seconds());
  }
  return sound;
}

Sound read_sound(const std::filesystem::path& path, int64_t rate, const SoundLimits& limits) {
  SoundReader reader(path, rate, limits);
  return read_rest(reader, limits);
}

Sound read_stretch(const std::filesystem::path& path, double begin, double end, int64_t rate,
                   const SoundLimits& limits) {
  SoundReader reader(path, rate, limits);
  require(begin >= 0 && (end == 0 || end > begin), reader.name(),
          ": expected a stretch that ends behind its beginning, got ", begin, " to ", end, " seconds");
  const auto at = [&](double seconds) {
    return static_cast<size_t>(std::llround(seconds * static_cast<double>(reader.rate())));
  };
  std::array<float, size_t{1} << 14> part;
  size_t left = at(begin);
  for (size_t count = 1; left > 0 && count > 0; left -= count)
    count = reader.read(std::span(part).first(std::min(left, part.size())));
  if (end == 0) {
    Sound rest = read_rest(reader, limits);
    require(!rest.samples.empty(), reader.name(), ": expected a stretch within the sound, got one from ", begin,
            " seconds on");
    return rest;
  }
  require(end - begin <= limits.most_seconds, reader.name(), ": expected a stretch of at most ", limits.most_seconds,
          " seconds, got ", end - begin);
  Sound sound{reader.rate(), {}};
  const size_t wanted = at(end) - at(begin);
  while (sound.samples.size() < wanted) {
    const size_t count = reader.read(std::span(part).first(std::min(wanted - sound.samples.size(), part.size())));
    if (count == 0) break;
    sound.samples.insert(sound.samples.end(), part.begin(), part.begin() + static_cast<ptrdiff_t>(count));
  }
  require(!sound.samples.empty() && sound.seconds() + kStretchSlack >= end - begin, reader.name(),
          ": expected a stretch within the sound, got one from ", begin, " to ", end, " seconds, of which there are ",
          sound.seconds());
  return sound;
}

double sound_seconds(const std::filesystem::path& path) {
  const SoundReader reader(path);
  const std::optional<double> seconds = reader.seconds();
  require(seconds.has_value(), reader.name(), ": expected a sound that says how long it is, got one that does not");
  return *seconds;
}

Sound decode_sound(std::span<const std::byte> bytes, const std::string& name, int64_t rate, const SoundLimits& limits) {
  SoundReader reader(bytes, name, rate);
  return read_rest(reader, limits);
}

std::string encode_wav(const Sound& sound) {
  const size_t bytes = 2 * sound.samples.size();
  require(sound.rate >= kLeastRate && sound.rate <= kMostRate, "encode_wav: expected a rate of ", kLeastRate, " to ",
          kMostRate, ", got ", sound.rate);
  require(bytes < kNoSize - 64, "encode_wav: expected less than 2 GiB, got ", bytes, " bytes");
  const auto rate = static_cast<uint32_t>(sound.rate);
  std::string wav = "RIFF" + little_endian(static_cast<uint32_t>(36 + bytes), 4) + "WAVEfmt " + little_endian(16, 4);
  wav += little_endian(1, 2) + little_endian(1, 2);  // PCM, one channel
  wav += little_endian(rate, 4) + little_endian(2 * rate, 4) + little_endian(2, 2) + little_endian(16, 2);
  wav += "data" + little_endian(static_cast<uint32_t>(bytes), 4);
  wav.reserve(wav.size() + bytes);
  for (const float x : sound.samples) {
    require(std::isfinite(x), "encode_wav: expected finite samples, got ", x);
    const long level = std::lrint(std::clamp(x * 32768.0F, -32767.0F, 32767.0F));
    wav += {static_cast<char>(level), static_cast<char>(level >> 8)};
  }
  return wav;
}

void write_wav(const std::filesystem::path& path, const Sound& sound) { write_file(path, encode_wav(sound)); }

bool is_sound_name(const std::filesystem::path& path) {
  std::string extension = path.extension().native();
  for (char& c : extension) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  constexpr std::string_view kExtensions[] = {".wav", ".flac", ".ogg", ".oga", ".opus"};
  return std::ranges::find(kExtensions, extension) != std::end(kExtensions);
}

}  // namespace attend::data
