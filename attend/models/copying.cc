#include "attend/models/copying.h"

#include <algorithm>
#include <array>

#include "attend/autograd/ops.h"
#include "attend/base/error.h"
#include "attend/models/rows.h"

namespace attend::models {

CopiedWords::CopiedWords(const Encoded& encoded, std::span<const int32_t> source_of, int64_t vocabulary)
    : ids(encoded.copies), words(vocabulary) {
  require(!ids.values.empty() && ids.shape == Shape({encoded.states.dim(0), encoded.states.dim(1)}),
          "copy: expected what copying each place of the source says (Source::add_copies), got ",
          ids.values.empty() ? "nothing" : "words of other places");
  for (const int32_t id : ids.values) words = std::max(words, int64_t{id} + 1);
  if (!source_of.empty()) take(source_of);
}

void CopiedWords::take(std::span<const int32_t> rows) {
  const size_t S = static_cast<size_t>(ids.shape[1]);
  std::vector<int32_t> kept;
  kept.reserve(rows.size() * S);
  for (const int32_t row : rows) {
    const auto from = ids.values.begin() + row * static_cast<std::ptrdiff_t>(S);
    kept.insert(kept.end(), from, from + static_cast<std::ptrdiff_t>(S));
  }
  ids = Ids({static_cast<int64_t>(rows.size()), ids.shape[1]}, std::move(kept));
}

void CopiedWords::join(const CopiedWords& other, int64_t places) {
  std::vector<int32_t> all;
  for (const Ids* one : std::array<const Ids*, 2>{&ids, &other.ids}) {
    const int64_t S = one->shape[1], kept = std::min(S, places);
    for (int64_t n = 0; n < one->shape[0]; ++n) {
      const auto from = one->values.begin() + n * S;
      all.insert(all.end(), from, from + kept);
      all.insert(all.end(), static_cast<size_t>(places - kept), -1);
    }
  }
  ids = Ids({ids.shape[0] + other.ids.shape[0], places}, std::move(all));
  words = std::max(words, other.words);
}

CopyGate::CopyGate(int64_t context, int64_t state, int64_t word, Random& random)
    : context_(context, 1, random), state_(state, 1, random, false), word_(word, 1, random, false) {}

Var CopyGate::operator()(const Var& context, const Var& state, const Var& word) const {
  return add(add(context_(context), state_(state)), word_(word));
}

void CopyGate::params(const nn::VisitParams& visit) {
  nn::visit_part(visit, "context", context_);
  nn::visit_part(visit, "state", state_);
  nn::visit_part(visit, "word", word_);
}

std::vector<int32_t> as_read(std::span<const int32_t> ids, int64_t vocabulary) {
  std::vector<int32_t> known(ids.begin(), ids.end());
  for (int32_t& id : known) id = id < vocabulary ? id : data::kUnknown;
  return known;
}

}  // namespace attend::models
