// When what was heard was said: times of the words of an answer to a sound, by CTC where the network has it, else by attention.
#pragma once

#include <span>
#include <vector>

#include "attend/tasks/model.h"

namespace attend::tasks {

/// The seconds of places of a sound: place p begins at offset + p·seconds.
struct PlaceTimes {
  double offset = 0, seconds = 0;
  double begin_of(double place) const { return offset + place * seconds; }
};
PlaceTimes place_times(const TaskModel& model);

/// What times are taken from.
enum class HeardBy { ctc, attention };
/// By what it can tell when its words were said: ctc before attention; or by nothing.
std::vector<HeardBy> heard_by(const TaskModel& model);

/// When each word of an answer was said, in seconds from where the sound begins (Ready::begins counts), in order:
///   by CTC         from the first to the last frame of the likeliest path that says its tokens
///   by attention   the stretch with the mean m and the deviation d of the places that its tokens looked at, m ± √3·d
///                  (as long as a word that is looked at evenly)
std::vector<data::TimedLabel> word_times(const TaskModel& model, const Ready& sound, std::span<const int32_t> tokens, HeardBy by);
/// The same of each token, as an attention or a frame has it.
std::vector<data::TimedLabel> token_times(const TaskModel& model, const Ready& sound, std::span<const int32_t> tokens, HeardBy by);
/// Labels of frames as stretches of the same label.
std::vector<data::TimedLabel> stretches(const TaskModel& model, const Ready& sound, std::span<const int32_t> labels);

/// Softmax of CTC's logits [places,labels] of one sound; undefined for other networks.
Tensor posteriors(const TaskModel& model, const Ready& sound);

/// How far times are from gold, in seconds: means over all words.
struct TimeErrors {
  double boundary = 0;  ///< of the beginnings and ends of words
  double middle = 0;    ///< of the middle of what was attended to, from the middle of the word
  double outside = 0;   ///< of that middle from the word: 0 within it
  int64_t words = 0;
};
bool has_times(const TaskModel& model, const Examples& examples);
/// The right words are given to the network, and their times compared.
TimeErrors time_errors(const TaskModel& model, const Examples& examples, HeardBy by, const Done& done = {});

}  // namespace attend::tasks
