#include "attend/train/labels.h"

#include <map>
#include <string_view>

#include "attend/train/line_pairs.h"

namespace attend::train {

LabelScores label_scores(std::span<const std::string> outputs, std::span<const std::string> references) {
  check_counts("label_scores", outputs.size(), references.size());
  std::map<std::string_view, size_t> places;
  for (const auto& side : {outputs, references}) {
    for (const std::string& label : side) places.try_emplace(label);
  }
  LabelScores scores;
  scores.count = static_cast<int64_t>(outputs.size());
  for (auto& [label, place] : places) {
    place = scores.labels.size();
    scores.labels.emplace_back(label);
  }
  scores.by_label.resize(places.size());
  scores.confusion.assign(places.size(), std::vector<int64_t>(places.size()));
  int64_t right = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const size_t output = places.at(outputs[i]), reference = places.at(references[i]);
    ++scores.confusion[reference][output];
    ++scores.by_label[output].outputs;
    ++scores.by_label[reference].references;
    if (output != reference) continue;
    ++scores.by_label[output].right;
    ++right;
  }
  scores.accuracy = Matches::share(right, scores.count);
  for (const Matches& matches : scores.by_label) scores.macro_f1 += matches.f1();
  scores.macro_f1 /= static_cast<double>(places.size());
  return scores;
}

}  // namespace attend::train
