// Alignment: which words of the source a network looked at as it produced each word of its answer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attend/data/alignment.h"
#include "attend/models/model.h"

namespace attend::explain {

/// Whether memory_weights works for this model, which reads text; or reads what this batch has.
bool attends_to_source(const models::Model& model);
bool attends_to_source(const models::Model& model, const data::Batch& batch);

/// Weights [T,S] per sentence: how much each target token looked at each source token, averaged over the heads and layers
/// of the attentions to the source (Purpose::source), with the target given (teacher forcing). Rows sum to one, also those
/// of the window local_p, whose weights do not. The prediction of the end is left out; sources have no end token. Throws
/// Error for a model that does not attend to its source.
std::vector<Tensor> memory_weights(const models::Model& model, const data::Batch& batch);

/// Tokens → words: weights [T,S] → [target words, source words]. The weights of a source word's tokens are summed, those of
/// a target word's tokens averaged, or summed as well (`add`). `word_of` gives each token's word, −1 for none.
Tensor word_weights(const Tensor& weights, std::span<const int32_t> source_word_of,
                    std::span<const int32_t> target_word_of, int64_t source_words, int64_t target_words,
                    bool add = false);

/// threshold 0: each target word is linked to the source word that it looked at most; otherwise to all that have at
/// least this weight.
data::Links links_of(const Tensor& word_weights, double threshold = 0);

}  // namespace attend::explain
