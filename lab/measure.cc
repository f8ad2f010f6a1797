#include "lab/measure.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "attend/base/clock.h"
#include "attend/decode/search.h"

namespace attend::lab {
namespace {

std::vector<std::string> pieces_of(const std::string& text, bool letters) {
  std::vector<std::string> pieces;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = letters ? begin + 1 : std::min(text.find(' ', begin), text.size());
    pieces.push_back(text.substr(begin, end - begin));
    begin = letters ? end : end + 1;
  }
  return pieces;
}

}  // namespace

std::string text_of_length(const tasks::TestSet& test, bool letters, int64_t length) {
  std::string text;
  for (int64_t i = 0, count = 0; count < length; ++i) {
    for (const std::string& piece : pieces_of(test.examples.at(i % test.examples.count).text(), letters)) {
      if (count++ == length) return text;
      if (!letters && !text.empty()) text += ' ';
      text += piece;
    }
  }
  return text;
}

double milliseconds_per_token(const tasks::TaskModel& model, const std::string& text, int64_t length) {
  constexpr int kTries = 5;
  const tasks::Ready ready = model.ready({.inputs = {text}});
  const tasks::Ready* batch[] = {&ready};
  const data::Source source = model.source(batch);
  double least = 0;
  for (int i = 0; i < kTries; ++i) {
    const double begun = steady_seconds();
    decode::search(model.model(), source, {.min_length = length, .max_length = length});
    const double seconds = steady_seconds() - begun;
    least = i == 0 ? seconds : std::min(least, seconds);
  }
  return 1000 * least / static_cast<double>(length);
}

explain::Plot cost_plot(const Results& results, std::span<const std::string> runs, std::span<const int64_t> lengths,
                        nlohmann::ordered_json& numbers) {
  explain::Plot plot{.title = "Time for each token that is said",
                     .x_label = "length of the source and of the answer",
                     .y_label = "milliseconds",
                     .series = {}};
  for (const std::string& run : runs) {
    const tasks::TaskModel model = results.model(run);
    explain::Series series{run, {}, {}};
    for (const int64_t length : lengths) {
      results.say(run + ": timing answers of " + std::to_string(length));
      const std::string text = text_of_length(results.test(run), model.config().reads_characters(), length);
      series.xs.push_back(static_cast<double>(length));
      series.ys.push_back(milliseconds_per_token(model, text, length));
      numbers["milliseconds_per_token"][run][std::to_string(length)] = series.ys.back();
    }
    plot.series.push_back(std::move(series));
  }
  return plot;
}

Tensor image_of(const tasks::TaskModel& model, const tasks::Example& example) {
  const tasks::Ready ready = model.ready(example);
  const tasks::Ready* batch[] = {&ready};
  return model.source(batch).pixels();
}

double exact_on(const tasks::TaskModel& model, std::span<const Asked> asked) {
  int64_t right = 0;
  for (const Asked& one : asked) {
    const tasks::Ready ready = model.ready({.inputs = {one.text}});
    const tasks::Ready* batch[] = {&ready};
    const auto length = static_cast<int64_t>(one.right.size()) + 2;
    const auto found = decode::search(model.model(), model.source(batch), {.max_length = length});
    right += model.output().written(found.at(0).at(0).tokens, ready) == one.right;
  }
  return 100.0 * static_cast<double>(right) / static_cast<double>(asked.size());
}

}  // namespace attend::lab
