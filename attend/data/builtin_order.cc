// Small tasks that tell apart what a network knows of the order of its input.
#include <algorithm>

#include "attend/data/builtin_split.h"

namespace attend::data {
namespace {

constexpr size_t kSortTrain = 20000, kSortLeast = 2, kSortMost = 12;
constexpr size_t kCoursesTrain = 4000;
constexpr size_t kRecallTrain = 12000, kRecallFarthest = 60;

/// Letters, none of them twice, to the same letters from a to z: what comes next follows from what was said, wherever it stands.
Example draw_sort(Random& random) {
  std::string letters = "abcdefghijklmnopqrstuvwxyz";
  const size_t count = kSortLeast + random.below(kSortMost - kSortLeast + 1);
  for (size_t i = 0; i < count; ++i) std::swap(letters[i], letters[i + random.below(letters.size() - i)]);
  letters.resize(count);
  std::string sorted = letters;
  std::ranges::sort(sorted);
  return {letters, sorted, {}};
}

std::string draw_course(Random& random) {
  constexpr std::string_view kSchools[] = {"10", "11", "15", "16", "18", "36", "76", "80"};
  return std::string(one_of(random, kSchools)) + "-" + std::to_string(100 + random.below(12) * 5);
}

/// Of two courses, the harder one: exchanged, they are the same words with another answer.
Example draw_course_pair(Random& random) {
  constexpr std::string_view kHarder[] = {"is harder than", "asks more than", "takes longer than"};
  constexpr std::string_view kEasier[] = {"is easier than", "asks less than", "takes less time than"};
  const std::string first = draw_course(random);
  std::string second = draw_course(random);
  while (second == first) second = draw_course(random);
  const bool harder = random.below(2) == 0;
  const std::string says(harder ? one_of(random, kHarder) : one_of(random, kEasier));
  return {first + " " + says + " " + second, harder ? first : second, {}};
}

/// A colour and then other words, up to sixty of them: which colour was it?
Example draw_recall(Random& random) {
  constexpr std::string_view kColours[] = {"red", "blue", "green", "white", "black", "yellow", "brown", "grey"};
  constexpr std::string_view kOthers[] = {"the",  "rain", "falls", "on",    "roofs",   "and",   "we",
                                          "walk", "home", "by",    "old",   "streets", "where", "dogs",
                                          "bark", "at",   "night", "until", "lamps",   "go",    "out"};
  const std::string colour(one_of(random, kColours));
  std::string text = colour;
  for (size_t left = 1 + random.below(kRecallFarthest); left > 0; --left)
    text.append(" ").append(one_of(random, kOthers));
  return {text, colour, {}};
}

}  // namespace

BuiltinCorpus make_sort(uint64_t seed) { return drawn_corpus("sort", seed, kSortTrain, HoldOut::kAny, draw_sort); }

BuiltinCorpus make_courses(uint64_t seed) {
  return drawn_corpus("courses", seed, kCoursesTrain, HoldOut::kKnownWords, draw_course_pair);
}

BuiltinCorpus make_recall(uint64_t seed) {
  return drawn_corpus("recall", seed, kRecallTrain, HoldOut::kKnownWords, draw_recall);
}

}  // namespace attend::data
