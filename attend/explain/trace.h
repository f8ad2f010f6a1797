// A trace: everything observed while a model answered one text, in one format for every network and every picture. See
// docs/traces.md for its JSON.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attend/attention/observe.h"
#include "attend/data/example.h"
#include "attend/data/tokeniser.h"
#include "attend/explain/trace_sound.h"
#include "attend/tensor/tensor.h"

namespace attend::explain {

/// One side of an answer: tokens, the words that they form, and for each token its word (−1: none, such as the end).
struct TraceSide {
  std::string text;
  std::vector<std::string> tokens, words;
  std::vector<int32_t> word_of;
  std::vector<int32_t> unknown;  ///< indices of tokens that stand for something outside the vocabulary
  /// For an answer also "label"; "tags", one for each word of the source; "tree": tokens are brackets and parts of
  /// speech; or "span", a stretch of the source: tokens are those at which it starts and ends.
  std::string kind = "words";
  std::string name = {};                          ///< of an input: "document"; may be empty
  std::vector<data::TextRange> word_ranges = {};  ///< of an input, the bytes of each word in `text`; empty: not known
  std::vector<data::TextRange> sentences = {};    ///< of an input, the bytes of each sentence in `text`
  /// Of an input that is a sound: `tokens` and `words` are its places by number of seconds, `text` is its file's name.
  std::shared_ptr<const TraceSound> sound = nullptr;
  /// Of an answer to a sound: when each of its words or tokens was heard, in order; may be empty.
  std::vector<data::TimedLabel> times = {};
};
/// Of a sound that a network read at so many places.
TraceSide sound_side(TraceSound sound, std::string name, int64_t places);
/// Of a text, without the places of its words and sentences.
TraceSide text_side(const data::Tokeniser& tokeniser, const data::TokenisedWords& words, std::string text);
/// Adds to an input where in its text its words and sentences (data::split_sentences) stand.
void locate(TraceSide& input);

/// What one attention did, over all steps. `queries` and `keys` say whose places they are: "source", "target" (row t is
/// the prediction of target token t, the end included), "before" (key k is what was read before target token k: 0 is
/// the beginning), "source+before" (the source's, and then those: a decoder alone reads its source as its past),
/// "sentences" (those of the source) or the name of a further input ("question").
struct TraceSite {
  std::string site;                   ///< "decoder.memory"
  Purpose purpose = Purpose::source;  ///< what it is for
  int64_t layer = 0, heads = 1;
  std::string queries, keys;
  bool hard = false;  ///< each row is one choice
  Tensor weights;     ///< [heads,Tq,Tk]; undefined if left out
  Tensor centres;     ///< [heads,Tq] of windows that have one, otherwise undefined
  int64_t reach = 0;  ///< of that window, to each side of its centre
};

/// One prediction of a search: a node of a tree. Nodes come after their parents.
struct TraceNode {
  enum class Fate { grown, ended, cut, passed };  ///< continued; is an answer; reached the maximum length; was not kept
  int32_t parent = -1;                            ///< −1: the beginning
  int32_t id = 0;                                 ///< of the token
  std::string token;
  double log_probability = 0;  ///< of this token
  double total = 0;            ///< of all up to here
  Fate fate = Fate::grown;
};

/// One of the answers of a search.
struct TraceAnswer {
  std::string text;
  double score = 0, log_probability = 0;
  bool ended = true;
  int32_t node = -1;                          ///< its last prediction
  std::optional<data::TextRange> found = {};  ///< of a span: the bytes of the source that it is
};

/// How much each token of the target (rows) depended on each of the source (columns), by one method; an attention that
/// looks elsewhere has its own rows and columns.
struct TraceMap {
  std::string method;                               ///< a row of the table of methods: "attention", "saliency"
  std::string label;                                ///< in words: "attention, mean of 2 layers × 4 heads"
  std::string site;                                 ///< for attention: where it was read; otherwise empty
  int64_t layer = -1, head = -1;                    ///< −1: all, combined
  bool is_signed = false;                           ///< values may be below 0
  Tensor tokens;                                    ///< [target tokens, source tokens]
  Tensor words;                                     ///< [target words, source words]
  std::string queries = "target", keys = "source";  ///< whose rows and columns, as of a TraceSite
};

/// One line of evidence: what a change did to the mean log-probability of the answer's words.
struct TraceEvidence {
  std::string change;  ///< in plain words: "the 3 source words it looked at most are left out"
  double before = 0, after = 0;
  std::string meaning;  ///< what it means
};

struct Trace {
  std::string model, task, network;
  int64_t parameters = 0;
  int64_t line = 0, part = 0;  ///< of a file, and of a line that was answered in parts: from 1; 0: not given
  std::vector<std::pair<std::string, std::string>> options;  ///< of the search
  TraceSide source, target;                                  ///< the target's last token is "</s>" if it ended
  std::vector<TraceSide> inputs = {};                        ///< what was read besides the source, each with its name
  bool given = false;                                        ///< the target was given, not found
  bool ended = true;
  double score = 0, log_probability = 0;
  std::vector<double> token_log_probabilities;  ///< one per target token
  std::vector<double> copied = {};              ///< one per target token: how far it was copied, 0 to 1; or none
  std::optional<data::TextRange> found = {};    ///< of a span: the bytes of the source that the answer is
  std::vector<TraceSite> sites;
  std::vector<TraceMap> maps;
  std::vector<TraceEvidence> evidence;
  std::vector<TraceNode> beam;
  std::vector<TraceAnswer> answers;
  std::vector<std::string> notes;  ///< what to know before trusting the answer, in plain sentences
};

/// As compact JSON text; numbers of maps and weights have 4 significant digits, log-probabilities 6; numbers that are
/// not finite are null, and NaN when read back.
std::string trace_json(const Trace& trace);
/// Throws Error if it is not a trace.
Trace parse_trace(const std::string& json);

/// Writes one trace per line, each as soon as it is available. Tensors of more than `inline_numbers` numbers go,
/// exactly, to a safetensors file beside it (path.NUMBER.safetensors); the JSON then names the file and the tensors.
class TraceWriter {
 public:
  explicit TraceWriter(std::filesystem::path path, size_t inline_numbers = size_t{1} << 16);
  void add(const Trace& trace);

 private:
  std::filesystem::path path_;
  size_t inline_numbers_, count_ = 0;
  std::ofstream file_;
};
/// What a TraceWriter wrote; an error names the line.
std::vector<Trace> read_traces(const std::filesystem::path& path);

}  // namespace attend::explain
