// Questions about paragraphs, as in SQuAD's JSON files (Rajpurkar et al. 2016, 2018).
#pragma once

#include <memory>
#include <string>

#include "attend/data/byte_stream.h"
#include "attend/data/examples.h"

namespace attend::data {

/// Versions 1.1 and 2.0: {"data": [{"paragraphs": [{"context": "…", "qas": [{"id": "…", "question": "…", "answers":
/// [{"text": "…", "answer_start": 17}], "is_impossible": false}]}]}]}, with keys in any order; others are not read.
/// A question that is impossible has the target "". `found` comes from "answer_start", which counts code points; if the
/// answer does not stand there, from its nearest occurrence. `name` is the id.
/// The whole file is read by the first next(), which throws Error with line and id: JSON that is broken, deeper than
/// kDeepest or longer than kLargest bytes; a value of the wrong kind; an empty paragraph, question or answer; and, in
/// one message for all, the questions whose answers are nowhere in their paragraphs.
std::unique_ptr<ExampleReader> squad_questions(std::string name, std::unique_ptr<ByteStream> bytes);

namespace squad {
inline constexpr size_t kDeepest = 64, kLargest = size_t{1} << 30;
}

}  // namespace attend::data
