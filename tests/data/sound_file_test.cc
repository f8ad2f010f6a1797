#include "attend/data/sound_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/data/sound_files.h"
#include "tests/support/folder.h"
#include "tests/support/message.h"

// libsndfile 1.2.0 does not free all of a damaged Vorbis file that it refuses: about 12 kB each.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libsndfile\nleak:libvorbis\nleak:libogg\n"; }

namespace attend::data {
namespace {

using test::message_of;
using test::says;
using test::sound_bytes;
using test::TestFolder;
using test::tone;

constexpr int kWav16 = SF_FORMAT_WAV | SF_FORMAT_PCM_16, kWavFloat = SF_FORMAT_WAV | SF_FORMAT_FLOAT;
constexpr int kFlac = SF_FORMAT_FLAC | SF_FORMAT_PCM_16, kOgg = SF_FORMAT_OGG | SF_FORMAT_VORBIS;

Sound decoded(std::string_view bytes, int64_t rate = 0, const SoundLimits& limits = {}) {
  return decode_sound(std::as_bytes(std::span(bytes)), "x", rate, limits);
}
std::string sound_refusal(std::string_view bytes, int64_t rate = 0, const SoundLimits& limits = {}) {
  return message_of([&] { decoded(bytes, rate, limits); });
}
double farthest(const std::vector<float>& a, const std::vector<float>& b) {
  double far = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) far = std::max(far, double(std::abs(a[i] - b[i])));
  return far;
}

/// A stream that delivers a few bytes at a time.
class Trickle : public ByteStream {
 public:
  Trickle(std::string bytes, size_t step) : bytes_(std::move(bytes)), step_(step) {}
  std::span<const char> next(const std::string&) override {
    const size_t count = std::min(step_, bytes_.size() - at_);
    at_ += count;
    return std::span<const char>(bytes_).subspan(at_ - count, count);
  }
  size_t given() const { return at_; }

 private:
  std::string bytes_;
  size_t step_, at_ = 0;
};

TEST(SoundFile, IsReadInEveryFormat) {
  const std::vector<float> samples = tone(5000, 440, 16000);
  struct {
    int format;
    double tolerance;
  } const cases[] = {{kWav16, 1e-4},
                     {kWavFloat, 0},
                     {SF_FORMAT_WAV | SF_FORMAT_PCM_24, 1e-6},
                     {kFlac, 1e-4},
                     {SF_FORMAT_WAVEX | SF_FORMAT_PCM_16, 1e-4},
                     {SF_FORMAT_RF64 | SF_FORMAT_PCM_16, 1e-4},
                     {SF_FORMAT_WAV | SF_FORMAT_ULAW, 0.02},
                     {kOgg, 0.1}};
  for (const auto& [format, tolerance] : cases) {
    const Sound sound = decoded(sound_bytes(format, 16000, 1, samples));
    EXPECT_EQ(sound.rate, 16000);
    ASSERT_EQ(sound.samples.size(), samples.size()) << std::hex << format;
    EXPECT_LE(farthest(sound.samples, samples), tolerance) << std::hex << format;
  }
  const TestFolder folder;
  const std::string opus = sound_bytes(SF_FORMAT_OGG | SF_FORMAT_OPUS, 16000, 1, samples);
  EXPECT_NEAR(read_sound(folder.file("a.opus", opus)).seconds(), 5000 / 16000.0, 0.01);
}

TEST(SoundFile, ChannelsBecomeTheirMean) {
  std::vector<float> frames;
  for (int i = 0; i < 100; ++i) {
    for (int c = 0; c < 8; ++c) frames.push_back(static_cast<float>(c) / 8 - 0.25F);
  }
  const Sound sound = decoded(sound_bytes(kWavFloat, 192000, 8, frames));
  EXPECT_EQ(sound.rate, 192000);
  ASSERT_EQ(sound.samples.size(), 100u);
  EXPECT_FLOAT_EQ(sound.samples[50], 3.5F / 8 - 0.25F);
}

TEST(SoundFile, IsConvertedToTheWantedRateWithoutAliases) {
  // 1 kHz stays what it is; 9 kHz cannot be said at 16 kHz, and must not be heard as 7.
  const Sound low = decoded(sound_bytes(kWavFloat, 192000, 1, tone(192000, 1000, 192000)), 16000);
  ASSERT_EQ(low.samples.size(), 16000u);
  const std::vector<float> wanted = tone(16000, 1000, 16000);
  for (size_t i = 200; i < 15800; ++i) ASSERT_NEAR(low.samples[i], wanted[i], 1e-4) << i;
  const Sound high = decoded(sound_bytes(kWavFloat, 48000, 1, tone(48000, 9000, 48000)), 16000);
  for (size_t i = 200; i < 15800; ++i) ASSERT_NEAR(high.samples[i], 0, 1e-4) << i;
}

TEST(SoundFile, AReaderGivesTheSameSamplesHoweverManyAreAskedFor) {
  const std::string bytes = sound_bytes(kFlac, 44100, 2, tone(2 * 30000, 300, 44100));
  for (const int64_t rate : {0, 16000, 48000}) {
    const Sound whole = decoded(bytes, rate);
    for (const size_t part : {size_t{1}, size_t{333}, size_t{100000}}) {
      SoundReader reader(std::as_bytes(std::span(bytes)), "x", rate);
      EXPECT_EQ(reader.file_rate(), 44100);
      EXPECT_EQ(reader.file_channels(), 2);
      EXPECT_NEAR(reader.seconds().value(), 30000 / 44100.0, 1e-9);
      std::vector<float> all, some(part);
      for (size_t count; (count = reader.read(some)) > 0;) all.insert(all.end(), some.begin(), some.begin() + count);
      EXPECT_EQ(all, whole.samples) << rate << ", " << part;
      EXPECT_EQ(reader.read(some), 0u);
    }
    EXPECT_EQ(resampled(decoded(bytes), rate == 0 ? 44100 : rate).samples, whole.samples);
  }
}

TEST(SoundFile, IsReadFromAPipeAsItComes) {
  const std::vector<float> samples = tone(200'000, 440, 16000);
  std::string wav = sound_bytes(kWav16, 16000, 1, samples);
  const Sound whole = decoded(wav);
  for (const std::string& size : {wav.substr(4, 4), std::string("\xFF\xFF\xFF\xFF"), std::string(4, '\0')}) {
    std::string piped = wav;
    piped.replace(4, 4, size);
    const size_t data = piped.find("data");
    if (size != wav.substr(4, 4)) piped.replace(data + 4, 4, size);
    auto stream = std::make_unique<Trickle>(piped, 1000);
    const Trickle& trickle = *stream;
    SoundReader reader(std::move(stream), "pipe");
    EXPECT_EQ(reader.seconds().has_value(), size == wav.substr(4, 4));
    std::vector<float> some(1000);
    ASSERT_EQ(reader.read(some), 1000u);
    EXPECT_LT(trickle.given(), 100'000u);
    Sound rest = read_rest(reader);
    some.insert(some.end(), rest.samples.begin(), rest.samples.end());
    EXPECT_EQ(some, whole.samples);
  }
  for (const int format : {kFlac, kOgg}) {
    const std::string bytes = sound_bytes(format, 16000, 1, samples);
    SoundReader reader(std::make_unique<Trickle>(bytes, 1), "pipe");
    EXPECT_EQ(read_rest(reader).samples, decoded(bytes).samples);
    const SoundLimits small{.most_piped_bytes = 1000};
    EXPECT_TRUE(says(message_of([&] { SoundReader(std::make_unique<Trickle>(bytes, 100), "pipe", 0, small); }),
                     "pipe: expected at most 1000 bytes"));
  }
}

TEST(SoundFile, ANamedPipeIsOne) {
  const TestFolder folder;
  const std::string pipe = folder.path() / "pipe", wav = sound_bytes(kWav16, 8000, 1, tone(50'000, 440, 8000));
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(pipe, std::ios::binary) << wav; });
  const Sound sound = read_sound(pipe, 16000);
  writer.join();
  EXPECT_EQ(sound.samples, decoded(wav, 16000).samples);
}

TEST(SoundFile, IsRefusedByNameIfItIsNone) {
  const TestFolder folder;
  const auto refusal = [](const std::filesystem::path& path) { return message_of([&] { read_sound(path); }); };
  EXPECT_TRUE(says(refusal(folder.file("notes.wav", "Dear diary, today\n")),
                   "notes.wav: expected a WAV, FLAC or OGG sound, got a file that begins with \"Dear diary, \""));
  EXPECT_TRUE(
      says(refusal(folder.file("none.wav", "")), "none.wav: expected a WAV, FLAC or OGG sound, got an empty file"));
  EXPECT_TRUE(says(refusal(folder.path()), "expected a file, got a folder"));
  EXPECT_TRUE(says(refusal(folder.path() / "gone.flac"), "gone.flac: cannot open the file"));
  EXPECT_TRUE(says(refusal(folder.file("x.wav", "RIFF\x10\x00\x00\x00WAVEjunk")), "x.wav: expected"));
  EXPECT_TRUE(says(sound_refusal("OggS and nothing else"), "x: expected a WAV, FLAC or OGG sound"));
}

TEST(SoundFile, IsRefusedIfItIsTruncatedOrDamaged) {
  const std::vector<float> samples = tone(40'000, 440, 16000);
  const std::string flac = sound_bytes(kFlac, 16000, 1, samples), wav = sound_bytes(kWav16, 16000, 1, samples);
  EXPECT_TRUE(says(sound_refusal(flac.substr(0, flac.size() / 2)), "x: cannot decode on after 20480 samples"));
  EXPECT_TRUE(
      says(sound_refusal(wav.substr(0, wav.size() / 2)), "x: expected 80036 bytes, as its header says, got 40022"));
  SoundReader piped(std::make_unique<Trickle>(wav.substr(0, wav.size() / 2), 500), "pipe");
  EXPECT_TRUE(says(message_of([&] { read_rest(piped); }), "pipe: expected 40000 samples, as its header says, got 19"));
  for (const std::string& whole : {flac, wav, sound_bytes(kOgg, 16000, 1, samples)}) {
    for (size_t size = 0; size < 200; ++size) EXPECT_NE(sound_refusal(whole.substr(0, size)), "") << size;
  }
}

TEST(SoundFile, IsRefusedIfItHasNoSamplesOrImpossibleOnes) {
  EXPECT_TRUE(says(sound_refusal(sound_bytes(kWav16, 16000, 1, {})), "x: expected at least one sample, got none"));
  EXPECT_EQ(decoded(sound_bytes(kWav16, 16000, 1, {0.5F})).samples, std::vector<float>{0.5F});
  EXPECT_EQ(decoded(sound_bytes(kWav16, 16000, 1, {0.5F}), 8000).samples.size(), 1u);
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 1e30F}) {
    EXPECT_TRUE(
        says(sound_refusal(sound_bytes(kWavFloat, 16000, 1, {0, bad, 0})), "x: expected samples that are finite"));
  }
  EXPECT_TRUE(says(sound_refusal(sound_bytes(kWav16, 999, 1, {0.5F})), "x: expected a rate of 1000 to 768000"));
  EXPECT_TRUE(says(sound_refusal(sound_bytes(kWav16, 768001, 1, {0.5F})), "x: expected a rate of 1000 to 768000"));
  EXPECT_TRUE(
      says(sound_refusal(sound_bytes(kWav16, 16000, 65, std::vector<float>(65))), "expected 1 to 64 channels, got 65"));
  EXPECT_TRUE(says(sound_refusal(sound_bytes(kWav16, 16000, 1, {0.5F}), 10), "x: expected a wanted rate of 1000"));
}

TEST(SoundFile, WhatAHeaderClaimsIsNotAllocated) {
  std::string flac = sound_bytes(kFlac, 16000, 1, tone(5000, 440, 16000));
  // STREAMINFO ends with 36 bits of samples and 16 bytes of MD5; it begins behind the magic and 4 bytes of its own header.
  flac[21] = static_cast<char>(flac[21] | 0x0F);
  for (int i = 22; i < 26; ++i) flac[static_cast<size_t>(i)] = '\xFF';
  EXPECT_TRUE(says(sound_refusal(flac), "x: expected a sound of at most 3600 seconds, got one of 4.29497e+06"));
  const SoundLimits any{.most_seconds = 1e9};
  EXPECT_TRUE(says(sound_refusal(flac, 0, any), "x: expected 68719476735 samples, as its header says, got 5000"));
  const std::string wav = sound_bytes(kWav16, 16000, 1, tone(32000, 440, 16000));
  EXPECT_TRUE(
      says(sound_refusal(wav, 0, {.most_seconds = 1}), "x: expected a sound of at most 1 seconds, got one of 2"));
}

TEST(SoundFile, OfTenHoursWithoutDataIsRefusedAtOnceWhereItIsAFile) {
  // 16 bits at 16 kHz are 1.15 GB of data, which the header promises and nobody has.
  const uint32_t bytes = 10 * 3600 * 16000 * 2;
  std::string wav = sound_bytes(kWav16, 16000, 1, {0.5F});
  const std::string start = wav.substr(0, wav.find("data"));
  const auto size = [](uint32_t value) {
    std::string text;
    for (int i = 0; i < 4; ++i) text += static_cast<char>(value >> 8 * i);
    return text;
  };
  wav = start + "data" + size(bytes);
  wav.replace(4, 4, size(bytes + 36));
  EXPECT_TRUE(
      says(sound_refusal(wav), "x: expected 1152000036 bytes, as its header says, got 44: the file is truncated"));
  SoundReader piped(std::make_unique<Trickle>(wav, 100), "pipe");
  EXPECT_NEAR(piped.seconds().value(), 36000, 1e-6);
  EXPECT_TRUE(says(message_of([&] { read_rest(piped, {.most_seconds = 1e9}); }),
                   "pipe: expected at least one sample, got none"));
  SoundReader long_one(std::make_unique<Trickle>(wav, 100), "pipe");
  EXPECT_TRUE(says(message_of([&] { read_rest(long_one); }),
                   "pipe: expected a sound of at most 3600 seconds, got one of 36000"));
}

TEST(SoundFile, GivesAStretch) {
  const TestFolder folder;
  const std::vector<float> samples = tone(16000, 440, 16000);
  const auto path = folder.file("a.flac", sound_bytes(kFlac, 16000, 1, samples));
  const Sound whole = read_sound(path);
  EXPECT_DOUBLE_EQ(sound_seconds(path), 1);
  const Sound middle = read_stretch(path, 0.25, 0.5);
  ASSERT_EQ(middle.samples.size(), 4000u);
  EXPECT_TRUE(std::equal(middle.samples.begin(), middle.samples.end(), whole.samples.begin() + 4000));
  const Sound rest = read_stretch(path, 0.75, 0);
  ASSERT_EQ(rest.samples.size(), 4000u);
  EXPECT_TRUE(std::equal(rest.samples.begin(), rest.samples.end(), whole.samples.begin() + 12000));
  EXPECT_EQ(read_stretch(path, 0.5, 1.04).samples.size(), 8000u);  // an end that was rounded up
  EXPECT_EQ(read_stretch(path, 0.5, 1, 8000).samples.size(), 4000u);
  const auto refusal = [&](double begin, double end) { return message_of([&] { read_stretch(path, begin, end); }); };
  EXPECT_TRUE(says(refusal(0.5, 1.1), "a.flac: expected a stretch within the sound, got one from 0.5 to 1.1 seconds"));
  EXPECT_TRUE(says(refusal(1.5, 0), "a.flac: expected a stretch within the sound, got one from 1.5 seconds on"));
  EXPECT_TRUE(says(refusal(0.5, 0.25), "a.flac: expected a stretch that ends behind its beginning"));
  EXPECT_TRUE(says(refusal(0, 5000), "expected a stretch of at most 3600 seconds"));
}

TEST(SoundFile, IsWrittenAsWav) {
  const TestFolder folder;
  write_wav(folder.path() / "a.wav", {8000, {0, 0.5F, -0.25F, 2, -2, 1.0F / 32768}});
  const Sound sound = read_sound(folder.path() / "a.wav");
  EXPECT_EQ(sound.rate, 8000);
  EXPECT_EQ(sound.samples, (std::vector<float>{0, 0.5F, -0.25F, 32767 / 32768.0F, -32767 / 32768.0F, 1 / 32768.0F}));
  EXPECT_EQ(encode_wav(sound), folder.bytes("a.wav"));
  EXPECT_TRUE(says(message_of([] { encode_wav({8000, {NAN}}); }), "finite"));
}

TEST(SoundFile, IsRecognisedByItsName) {
  for (const char* name : {"a.wav", "b/c.FLAC", "d.ogg", "e.Opus", "f.oga"}) EXPECT_TRUE(is_sound_name(name)) << name;
  for (const char* name : {"wav", "a.mp3", "a.wav.txt", ""}) EXPECT_FALSE(is_sound_name(name)) << name;
}

}  // namespace
}  // namespace attend::data
