// Sound files of every kind, made in memory.
#pragma once

#include <sndfile.h>

#include <cmath>
#include <cstring>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

namespace attend::test {

/// A file that libsndfile writes into memory.
struct WrittenSound {
  std::string bytes;
  size_t at = 0;

  static WrittenSound& self(void* user) { return *static_cast<WrittenSound*>(user); }
  static sf_count_t size(void* user) { return static_cast<sf_count_t>(self(user).bytes.size()); }
  static sf_count_t seek(sf_count_t offset, int whence, void* user) {
    WrittenSound& file = self(user);
    const size_t origin = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? file.at : file.bytes.size();
    return static_cast<sf_count_t>(file.at = origin + static_cast<size_t>(offset));
  }
  static sf_count_t read(void* into, sf_count_t count, void* user) {
    WrittenSound& file = self(user);
    const size_t got = file.at >= file.bytes.size()
                           ? 0
                           : file.bytes.copy(static_cast<char*>(into), static_cast<size_t>(count), file.at);
    file.at += got;
    return static_cast<sf_count_t>(got);
  }
  static sf_count_t write(const void* from, sf_count_t count, void* user) {
    WrittenSound& file = self(user);
    const size_t end = file.at + static_cast<size_t>(count);
    if (file.bytes.size() < end) file.bytes.resize(end);
    std::memcpy(file.bytes.data() + file.at, from, static_cast<size_t>(count));
    file.at = end;
    return count;
  }
  static sf_count_t tell(void* user) { return static_cast<sf_count_t>(self(user).at); }
};

/// `format`: SF_FORMAT_FLAC | SF_FORMAT_PCM_16 and such; `frames`: channels side by side.
inline std::string sound_bytes(int format, int rate, int channels, const std::vector<float>& frames) {
  WrittenSound file;
  SF_VIRTUAL_IO access{WrittenSound::size, WrittenSound::seek, WrittenSound::read, WrittenSound::write,
                       WrittenSound::tell};
  SF_INFO info{0, rate, channels, format, 0, 0};
  SNDFILE* sound = sf_open_virtual(&access, SFM_WRITE, &info, &file);
  if (sound == nullptr) throw std::runtime_error(sf_strerror(nullptr));
  sf_writef_float(sound, frames.data(), static_cast<sf_count_t>(frames.size()) / channels);
  sf_close(sound);
  return file.bytes;
}

inline std::vector<float> tone(size_t count, double hertz, double rate) {
  std::vector<float> samples;
  for (size_t i = 0; i < count; ++i) {
    samples.push_back(static_cast<float>(0.5 * std::sin(2 * std::numbers::pi * hertz * static_cast<double>(i) / rate)));
  }
  return samples;
}

}  // namespace attend::test
