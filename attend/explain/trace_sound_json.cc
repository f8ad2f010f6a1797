#include "attend/explain/trace_sound_json.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "attend/base/base64.h"

namespace attend::explain {
namespace {

constexpr double kTick = 1e4;  // of a second
constexpr int64_t kMostFrames = 100'000, kMostBands = 1024;

double on_tick(double seconds) { return std::round(seconds * kTick) / kTick; }

std::string levels(const Tensor& shares) {
  std::string bytes;
  for (const real share : shares.values()) {
    bytes += static_cast<char>(std::lround(255 * std::clamp(std::isnan(share) ? real{0} : share, real{0}, real{1})));
  }
  return bytes;
}

Tensor spectrogram_of(const Json& json) {
  require(json.at("frames").is_number_integer() && json.at("bands").is_number_integer(),
          "trace: sound: expected whole numbers of frames and bands");
  const int64_t frames = json.at("frames"), bands = json.at("bands");
  require(0 < frames && frames <= kMostFrames && 0 < bands && bands <= kMostBands,
          "trace: sound: expected a spectrogram of 1 to ", kMostFrames, " frames and 1 to ", kMostBands, " bands, got ",
          frames, " and ", bands);
  const std::string bytes = from_base64(json.at("levels").get<std::string>(), "trace: sound: levels");
  require(bytes.size() == static_cast<size_t>(frames * bands), "trace: sound: expected ", frames * bands, " levels of ",
          frames, " frames, got ", bytes.size());
  Tensor shares({frames, bands});
  std::ranges::transform(bytes, shares.data(), [](char c) { return static_cast<real>(static_cast<uint8_t>(c)) / 255; });
  return shares;
}

}  // namespace

Json times_json(const std::vector<data::TimedLabel>& times) {
  Json list = Json::array();
  for (const data::TimedLabel& one : times) {
    list.push_back(Json::array({one.label, on_tick(one.begin), on_tick(one.end)}));
  }
  return list;
}

std::vector<data::TimedLabel> times_of(const Json& json) {
  std::vector<data::TimedLabel> times;
  for (const Json& one : json) {
    require(one.is_array() && one.size() == 3, "trace: expected times as [label, begin, end], got ", dumped(one));
    times.push_back({one[0].get<std::string>(), number_of(one[1]), number_of(one[2])});
  }
  return times;
}

Json sound_json(const TraceSound& sound) {
  Json json{{"seconds", on_tick(sound.seconds)},
            {"place_seconds", total(sound.place_seconds)},
            {"place_offset", total(sound.place_offset)},
            {"frame_seconds", total(sound.frame_seconds)},
            {"low", sound.low},
            {"high", sound.high}};
  if (sound.spectrogram.defined()) {
    json["spectrogram"] = {{"frames", sound.spectrogram.dim(0)},
                           {"bands", sound.spectrogram.dim(1)},
                           {"levels", base64(levels(sound.spectrogram))}};
  }
  json["words"] = times_json(sound.words), json["phonemes"] = times_json(sound.phonemes);
  if (!sound.labels.empty()) json["labels"] = sound.labels;
  if (!sound.wav.empty()) json["wav"] = base64(sound.wav);
  return json;
}

TraceSound sound_of(const Json& json) {
  TraceSound sound;
  sound.seconds = number_of(json.at("seconds"));
  sound.place_seconds = number_of(json.at("place_seconds")), sound.place_offset = number_of(json.at("place_offset"));
  sound.frame_seconds = number_of(json.at("frame_seconds"));
  sound.low = number_of(json.value("low", Json(0))), sound.high = number_of(json.value("high", Json(0)));
  sound.spectrogram = spectrogram_of(json.at("spectrogram"));
  sound.words = times_of(json.value("words", Json::array()));
  sound.phonemes = times_of(json.value("phonemes", Json::array()));
  sound.labels = json.value("labels", std::vector<std::string>());
  if (json.contains("wav")) sound.wav = from_base64(json.at("wav").get<std::string>(), "trace: sound: wav");
  return sound;
}

}  // namespace attend::explain
