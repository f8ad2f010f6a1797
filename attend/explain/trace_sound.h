// A sound as a trace has it: how it looks, how it sounds, and where in it the places of a network are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attend/data/sound.h"
#include "attend/tensor/tensor.h"

namespace attend::explain {

/// Place p of the network (a column of a map) begins at place_offset + p·place_seconds and lasts place_seconds: the hop of
/// the features times how far the encoder shortens time. A place may end after the sound does.
struct TraceSound {
  double seconds = 0;
  double place_seconds = 0, place_offset = 0;
  Tensor spectrogram;        ///< [frames, bands], 0 … 1, low pitches first; frame f begins at f·frame_seconds
  double frame_seconds = 0;  ///< at least one frame, whatever the sound
  double low = 0, high = 0;  ///< pitches in Hz between which bands are equally spaced in mel; 0: not known
  std::string wav = {};      ///< bytes of a WAV file of 16 bits, to be played; may be empty
  std::vector<data::TimedLabel> words = {}, phonemes = {};  ///< gold times, in order; may be empty
  Tensor posteriors = {};                                   ///< of CTC: [places, labels]; may be undefined
  std::vector<std::string> labels = {};                     ///< of posteriors; the blank first

  double begin_of(int64_t place) const { return place_offset + static_cast<double>(place) * place_seconds; }
};

/// How a sound is made to be looked at and played. The frames of a long sound are longer, so that there are at most `frames`.
struct SoundSize {
  int64_t frames = 1500, bands = 64;
  double played = 120;  ///< seconds; a longer sound is not in the trace
};
/// Log-mel up to 8 kHz over the loudest 60 decibels, less if there is noise; sets `seconds`, `low`, `high` and `wav` too, and
/// nothing else.
TraceSound trace_sound(const data::Sound& sound, const SoundSize& size = {});
/// Of features that came without their sound, [frames, width] with a frame every `hop` seconds: each number between its 1st
/// and 99th percentile.
TraceSound trace_sound(const Tensor& features, double hop, const SoundSize& size = {});

/// The number of seconds as it stands on an axis and as the name of a place: "0.12".
std::string seconds_name(double seconds);

/// Throws Error unless sizes agree, with that number of places too, numbers are finite and times are in order.
void check_sound(const TraceSound& sound, int64_t places);
/// The same of times alone; `name` is what they are, `seconds` how long the sound is.
void check_times(const char* name, const std::vector<data::TimedLabel>& times, double seconds);

}  // namespace attend::explain
