#include "attend/decode/hypothesis.h"

#include <algorithm>

namespace attend::decode {

void History::read(int32_t last, std::vector<int32_t>& tokens, std::vector<double>* log_probabilities) const {
  tokens.clear();
  if (log_probabilities) log_probabilities->clear();
  for (int32_t at = last; at >= 0; at = said_[static_cast<size_t>(at)].before) {
    const Said& said = said_[static_cast<size_t>(at)];
    tokens.push_back(said.token);
    if (log_probabilities) log_probabilities->push_back(said.log_probability);
  }
  std::reverse(tokens.begin(), tokens.end());
  if (log_probabilities) std::reverse(log_probabilities->begin(), log_probabilities->end());
}

}  // namespace attend::decode
