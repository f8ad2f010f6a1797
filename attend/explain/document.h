// A source as running text, and where in it the answer was looked for. Long sources are shown so: as columns of a heat
// map they would be a wall.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "attend/explain/grid.h"
#include "attend/explain/trace.h"

namespace attend::explain {

/// What was looked at for one thing: "start", "end", "hop 1", or "the answer" as a whole.
struct DocumentLook {
  std::string name;
  std::vector<double> values;  ///< one for each word of the source, or for each of its sentences
};

struct Document {
  std::vector<DocumentLook> looks;
  bool by_sentence = false;  ///< values are of sentences
  Scale scale;               ///< of all looks together
};

/// Whether a trace is shown so: the places of its source are known, its map lies over them, and the source is read
/// together with something else, copied from, pointed into, or much longer than the answer.
bool is_document(const Trace& trace);
/// Throws Error if it is not.
Document document_of(const Trace& trace);

/// How much each sentence of the source was read, by all looks together.
std::vector<double> read_sentences(const Trace& trace);

/// The answer as text; "(no answer)" if the document has none.
std::string answer_in(const Trace& trace);

/// How far each word of the answer was copied, the mean of its tokens; empty where nothing copies.
std::vector<double> copied_words(const Trace& trace);
/// From here on a word counts as copied, and below this share of the largest value as not looked at.
inline constexpr double kCopied = 0.5, kUnseen = 0.03;

/// Words of a text in lines of at most `width`, by the width of each word and of a space. Where the text breaks a line,
/// so does this; an empty line of the text is a line without words.
std::vector<std::vector<size_t>> wrapped_words(const TraceSide& input, double width, double space,
                                          const std::function<double(const std::string& word)>& width_of);
/// The bytes of a word that a stretch of the text covers, and whether it begins or ends there.
struct Covered {
  size_t begin = 0, end = 0;
  bool first = false, last = false;
  bool any() const { return end > begin; }
};
Covered covered(const TraceSide& input, const std::optional<data::TextRange>& found, size_t word);

/// Of many sentences, those that no look gives a hundredth are left out: runs of sentences, each shown or not.
struct SentenceRun {
  size_t begin = 0, end = 0;
  bool shown = true;
};
std::vector<SentenceRun> sentence_runs(const Document& document);

}  // namespace attend::explain
