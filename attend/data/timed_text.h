// What was said and when, as files that other programs read: subtitles (SRT, WebVTT), Praat's TextGrid, and the time-marked
// conversations (CTM) of speech recognisers.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/data/sound.h"

namespace attend::data {

/// The words of one sound, in order.
struct TimedTranscript {
  std::string name;  ///< of the sound
  double seconds = 0;
  std::vector<TimedLabel> words;
};

struct TimedFormat {
  std::string_view name, extension, summary;
  /// Times are in order and within the sound (require_in_order).
  std::string (*write)(const TimedTranscript& transcript);
  /// Several transcripts may follow each other in one file.
  bool several = false;
};
/// The menu; a name is suggested where there is none like it.
std::span<const TimedFormat> timed_formats();
const TimedFormat& timed_format_named(std::string_view name);

/// Throws Error unless every word ends no earlier than it begins, begins no earlier than the one before ends, and lies within
/// the sound.
void require_in_order(const TimedTranscript& transcript);

/// Makes them so, in order as they are: what begins before `first` or ends behind `last` is cut there, and two that overlap part
/// in the middle of what they share.
void without_overlap(std::span<TimedLabel> words, double first, double last);

/// How words are joined to subtitles: the next one begins after a pause, or where the line would be too long to read.
struct SubtitleOptions {
  double most_seconds = 6, pause = 0.8;
  size_t most_letters = 84;  ///< two lines of 42, as subtitlers have it
};
std::vector<TimedLabel> subtitles(std::span<const TimedLabel> words, const SubtitleOptions& options = {});

}  // namespace attend::data
