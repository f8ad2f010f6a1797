// What an answer heard of a sound, as plain data: where each of its letters and words listened, and the map over time.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/explain/grid.h"
#include "attend/explain/trace.h"

namespace attend::explain {

/// Seconds that a word, a letter or a row of a map listened to; not known where nothing was looked at.
struct Stretch {
  double begin = 0, end = 0;
  bool known = false;

  double middle() const { return (begin + end) / 2; }
};

/// The token between two words, where letters are tokens, and what is shown of it: nothing that was heard.
inline constexpr std::string_view kSpace = "▁";
std::string shown_token(const std::string& token);

struct Heard {
  const TraceSound* sound = nullptr;
  std::vector<Stretch> tokens, words;  ///< of the answer, one for each of both; from its times, otherwise from weights
  std::vector<double>
      depended;               ///< of a map of what the answer depends on, not of attention: each place's share, 0 … 1
  std::optional<Grid> map;    ///< the trace's first map if it is over the sound: columns are places
  std::vector<Stretch> rows;  ///< of the map
  std::vector<data::TimedLabel> labelled;  ///< of an answer with a label for each place: stretches of one label
};

/// Whether the source is a sound.
bool is_sound(const Trace& trace);
/// At level "words" or "tokens". Throws Error if the trace has nothing to show over a sound, or if its parts disagree.
Heard heard_of(const Trace& trace, const std::string& level);

/// Where most of a row's weight is: without the first and last tenth of it.
Stretch listened(std::span<const real> weights, const TraceSound& sound);

/// A part of a long sound that is drawn by itself.
struct Strip {
  double begin = 0, end = 0;

  double seconds() const { return end - begin; }
  bool overlaps(double from, double to) const { return from < end && to > begin; }
};
/// Parts of about `seconds` each, cut where it is quiet; at most `most`, which are then longer.
std::vector<Strip> strips_of(const TraceSound& sound, double seconds, size_t most);
/// The rows that belong to a strip: those that listened within it.
std::vector<size_t> rows_in(const Heard& heard, const Strip& strip);

/// A run of one label of CTC, and its peak.
struct Peak {
  int64_t label = 0, first = 0, last = 0, place = 0;
  double value = 0;
};
/// Where each label but the blank is above `least`, in order of time.
std::vector<Peak> peaks_of(const TraceSound& sound, double least);

}  // namespace attend::explain
