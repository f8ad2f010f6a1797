#include "attend/data/subwords.h"

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <fstream>
#include <unordered_map>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/base/random.h"
#include "attend/base/replacement.h"
#include "attend/data/subword_model.h"
#include "attend/data/unicode.h"
#include "attend/data/utf8.h"

namespace sentencepiece::logging {
void SetMinLogLevel(int level);  // exported, but in none of the installed headers
}

namespace attend::data {
namespace {

namespace fs = std::filesystem;
namespace sp = sentencepiece;

constexpr size_t kLargestModel = size_t{256} << 20;
// Text to learn from: some 600,000 sentences. The unigram trainer takes 20 bytes of memory for each character.
constexpr size_t kMostKept = size_t{64} << 20;
constexpr size_t kLongestLine = 4096;  // longer ones would be left out

/// SentencePiece writes to standard error; the library never does. Level 3 keeps only fatal messages.
void silence() { sp::logging::SetMinLogLevel(3); }

void require_ok(const sp::util::Status& status, std::string_view where, std::string_view expected) {
  if (!status.ok()) fail(where, ": expected ", expected, ", got: ", status.error_message());
}

/// Each kind of white space as a space, so that offsets still hold.
std::string with_plain_spaces(std::string_view text) {
  std::string plain(text);
  for (char& c : plain) {
    if (c >= '\t' && c <= '\r') c = ' ';
  }
  return plain;
}

class Subwords : public Tokeniser {
 public:
  /// `where` begins messages.
  Subwords(std::string model, const std::string& where) : model_(std::move(model)) {
    silence();
    check_subword_model(where, model_);
    try {
      require_ok(processor_.LoadFromSerializedProto(model_), where, "a SentencePiece model");
    } catch (const Error&) {
      throw;
    } catch (const std::exception& problem) {  // its tables throw when keys are out of order
      fail(where, ": expected a SentencePiece model, got: ", problem.what());
    }
    require(processor_.pad_id() == kPad && processor_.unk_id() == kUnknown && processor_.bos_id() == kBegin &&
                processor_.eos_id() == kEnd,
            where, ": expected <pad>, <unk>, <s>, </s> as ids 0, 1, 2, 3, got ", processor_.pad_id(), ", ",
            processor_.unk_id(), ", ", processor_.bos_id(), ", ", processor_.eos_id());
  }

  int64_t size() const override { return processor_.GetPieceSize(); }

  void save(const fs::path& folder, std::string_view stem) const override {
    write_file(folder / (std::string(stem) + ".spm"), model_);
  }

  std::unique_ptr<const SubwordCuts> cuts(const SubwordCutOptions& options) const override {
    std::vector<SubwordPiece> pieces;
    for (int id = 0; id < processor_.GetPieceSize(); ++id) {
      const bool is_text =
          id >= kFirstWord && !processor_.IsControl(id) && !processor_.IsUnused(id) && !processor_.IsByte(id);
      pieces.push_back({processor_.IdToPiece(id), processor_.GetScore(id), is_text});
    }
    return std::make_unique<const SubwordCuts>(pieces, options);
  }

 protected:
  Placed place(std::string_view text) const override {
    sp::ImmutableSentencePieceText pieces;
    require_ok(processor_.Encode(with_plain_spaces(text), pieces.mutable_proto()), "encode", "subwords");
    Placed placed;
    for (size_t i = 0; i < pieces.pieces_size(); ++i) {
      const auto piece = pieces.pieces(static_cast<int>(i));
      placed.ids.push_back(static_cast<int32_t>(piece.id()));
      placed.begin.push_back(piece.begin());
    }
    return placed;
  }

  Spelt spell(const std::vector<int32_t>& ids) const override {
    sp::ImmutableSentencePieceText pieces;
    require_ok(processor_.Decode(ids, pieces.mutable_proto()), "decode", "text");
    Spelt spelt{pieces.text(), {}};
    for (size_t i = 0; i < pieces.pieces_size(); ++i) spelt.begin.push_back(pieces.pieces(static_cast<int>(i)).begin());
    require(spelt.begin.size() == ids.size(), "decode: expected ", ids.size(), " pieces, got ", spelt.begin.size());
    return spelt;
  }

  std::string show(int32_t id) const override { return processor_.IdToPiece(id); }

 private:
  std::string model_;
  sp::SentencePieceProcessor processor_;
};

// Training.

/// Characters that SentencePiece treats as spaces or drops (found by trying all, with nmt_nfkc).
struct BlankRange {
  char32_t first, last;
};
constexpr BlankRange kTrainerBlanks[] = {{0x00, 0x20},     {0x7F, 0x7F},     {0x8F, 0x8F},     {0x9F, 0xA0},
                                         {0x1680, 0x1680}, {0x2000, 0x200C}, {0x200E, 0x200F}, {0x2028, 0x2029},
                                         {0x202F, 0x202F}, {0x205F, 0x205F}, {0x2581, 0x2581}, {0x3000, 0x3000},
                                         {0xFEFF, 0xFEFF}, {0xFFFD, 0xFFFD}};

bool is_blank_to_trainer(char32_t code) {
  return std::any_of(std::begin(kTrainerBlanks), std::end(kTrainerBlanks),
                     [&](const BlankRange& range) { return code >= range.first && code <= range.last; });
}

/// Whether a line has something to learn from. The trainer ends the program if no line does; it skips lines with
/// U+2585, its own character for unknowns.
bool has_text(std::string_view line) {
  if (line.find("\u2585") != line.npos) return false;
  while (!line.empty()) {
    const size_t bytes = character_bytes(line);
    if (!is_blank_to_trainer(code_point(line.substr(0, bytes)))) return true;
    line.remove_prefix(bytes);
  }
  return false;
}

/// Lines of the text, all of them or a random sample: each draws a number from [0, 1), by a fixed seed, and is kept
/// while it is below a share, which is halved whenever more than kMostKept are kept.
class Sample {
 public:
  void add(std::string_view line) {
    const float draw = random_.uniform();
    if (draw >= share_ || !has_text(line)) return;
    lines_.push_back({std::string(line), draw});
    bytes_ += line.size();
    while (bytes_ > kMostKept) halve();
  }

  std::vector<std::string> lines() && {
    std::vector<std::string> texts;
    for (Drawn& line : lines_) texts.push_back(std::move(line.text));
    return texts;
  }

 private:
  struct Drawn {
    std::string text;
    float draw;
  };

  void halve() {
    share_ /= 2;
    std::erase_if(lines_, [&](const Drawn& line) { return line.draw >= share_; });
    bytes_ = 0;
    for (const Drawn& line : lines_) bytes_ += line.text.size();
  }

  Random random_ = Random().named("subwords");
  std::vector<Drawn> lines_;
  size_t bytes_ = 0;
  float share_ = 1;
};

/// Bytes of the next part of a line: no more than the trainer accepts, split at a space if there is one (no subword
/// spans it), and not within a character.
size_t part_bytes(std::string_view rest) {
  if (rest.size() <= kLongestLine) return rest.size();
  const size_t space = rest.rfind(' ', kLongestLine - 1);
  if (space != rest.npos && space > 0) return space;
  size_t size = kLongestLine;
  while (size > 1 && (static_cast<uint8_t>(rest[size]) & 0xC0) == 0x80) --size;
  return size;
}

std::vector<std::string> sample_lines(const NextLine& next) {
  Sample sample;
  for (std::string line; next(line);) {
    const std::string plain = with_plain_spaces(line);
    for (std::string_view rest = plain; !rest.empty();) {
      const size_t bytes = part_bytes(rest);
      sample.add(rest.substr(0, bytes));
      rest.remove_prefix(bytes);
    }
  }
  return std::move(sample).lines();
}

class Sentences : public sp::SentenceIterator {
 public:
  explicit Sentences(std::vector<std::string> lines) : lines_(std::move(lines)) {}
  bool done() const override { return at_ == lines_.size(); }
  void Next() override { std::string().swap(lines_[at_++]); }  // the trainer keeps its own copy
  const std::string& value() const override { return lines_[at_]; }
  sp::util::Status status() const override { return {}; }

 private:
  std::vector<std::string> lines_;
  size_t at_ = 0;
};

/// Rules "capital<tab>small", in hexadecimal, in a file for the lifetime of this object: the trainer reads only files.
class CaseRules {
 public:
  CaseRules() : path_((fs::temp_directory_path() / "attend-case-XXXXXX").native()) {
    const int file = ::mkstemp(path_.data());
    if (file < 0) fail(path_, ": cannot create a temporary file: ", system_reason(errno));
    ::close(file);
    std::string rules;
    for (const CasePair& pair : case_pairs()) {
      char rule[32];
      std::snprintf(rule, sizeof(rule), "%X\t%X\n", static_cast<unsigned>(pair.capital),
                    static_cast<unsigned>(pair.small));
      rules += rule;
    }
    std::ofstream out(path_);
    out << rules << std::flush;
    if (out.good()) return;
    ::unlink(path_.c_str());
    fail(path_, ": cannot write ", rules.size(), " bytes: ", system_reason(errno));
  }
  CaseRules(const CaseRules&) = delete;
  CaseRules& operator=(const CaseRules&) = delete;
  ~CaseRules() { ::unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct Normalisation {
  std::string_view name;
  const char *rule, *lowercase_rule;  // nullptr: by CaseRules
};
constexpr Normalisation kNormalisations[] = {
    {"none", "identity", nullptr},
    {"nfkc", "nmt_nfkc", "nmt_nfkc_cf"},
};

std::unordered_map<std::string, std::string> trainer_settings(const TokeniserOptions& options) {
  return {
      {"model_type", options.kind},
      {"vocab_size", std::to_string(options.vocabulary)},
      {"character_coverage", std::to_string(options.coverage)},
      {"hard_vocab_limit", "false"},
      {"max_sentence_length", std::to_string(kLongestLine)},
      {"num_threads", "4"},  // not the machine's number: sums over threads, and with them the pieces, depend on it
      {"pad_id", std::to_string(kPad)},
      {"unk_id", std::to_string(kUnknown)},
      {"bos_id", std::to_string(kBegin)},
      {"eos_id", std::to_string(kEnd)},
      {"unk_surface", std::string(Tokeniser::kUnknownText)},
      {"minloglevel", "3"},
  };
}

}  // namespace

std::unique_ptr<Tokeniser> train_subwords(const TokeniserOptions& options, const NextLine& next) {
  silence();
  const Normalisation& normalisation = row_named("normalise", kNormalisations, options.normalise);
  auto settings = trainer_settings(options);
  std::unique_ptr<CaseRules> rules;
  const char* rule = options.lowercase ? normalisation.lowercase_rule : normalisation.rule;
  if (rule != nullptr) {
    settings["normalization_rule_name"] = rule;
  } else {
    rules = std::make_unique<CaseRules>();
    settings["normalization_rule_tsv"] = rules->path();
  }
  Sentences sentences(sample_lines(next));
  require(!sentences.done(), "train_tokeniser: expected text, got none");
  std::string model;
  require_ok(sp::SentencePieceTrainer::Train(settings, &sentences, &model), "train_tokeniser",
             "a vocabulary of this text");
  return std::make_unique<Subwords>(std::move(model), "train_tokeniser");
}

std::unique_ptr<Tokeniser> load_subwords(const fs::path& path) {
  return std::make_unique<Subwords>(read_file(path, kLargestModel), path.native());
}

}  // namespace attend::data
