#include "attend/data/examples.h"

#include <utility>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/base/random.h"
#include "attend/data/labelled.h"
#include "attend/data/pairs.h"
#include "attend/data/pronunciations.h"
#include "attend/data/questions.h"
#include "attend/data/tagged.h"
#include "attend/data/treebank.h"

namespace attend::data {
namespace {

/// The first two columns; further ones may hold anything.
class PairExamples : public ExampleReader {
 public:
  explicit PairExamples(const std::filesystem::path& path) : pairs_({{}, {}, {path}}) {}

  bool next(Example& example) override {
    Pair pair;
    if (!pairs_.next(pair)) return false;
    example = {std::move(pair.source), std::move(pair.target), {}, {}};
    return true;
  }
  std::string where() const override { return pairs_.where(); }

 private:
  PairReader pairs_;
};

std::unique_ptr<ExampleReader> open_pairs(const std::filesystem::path& path) {
  return std::make_unique<PairExamples>(path);
}

constexpr ExampleFormat kExampleFormats[] = {
    {"pairs", "lines \"source<tab>target\"", open_pairs},
    {"labels", "lines \"label<tab>text\", or a folder of .txt files per label", open_labelled},
    {"tags", "a line per word with its tag in the last column, lines \"word/TAG word/TAG\", or trees (.trees, .mrg)",
     open_tagged},
    {"trees", "bracketed trees (Penn Treebank), on one line each or on several", open_treebank},
    {"pronunciations", "lines \"word PH ON EMES\" (CMUdict)", open_pronunciations},
    {"questions", "SQuAD's JSON, bAbI's stories, or lines \"document<tab>question<tab>answer\"", open_questions},
};

}  // namespace

std::span<const ExampleFormat> example_formats() { return kExampleFormats; }

std::unique_ptr<ExampleReader> open_examples(std::string_view format, const std::filesystem::path& path) {
  return row_named("format", example_formats(), format).open(path);
}

std::vector<Example> read_examples(std::string_view format, const std::filesystem::path& path) {
  const std::unique_ptr<ExampleReader> reader = open_examples(format, path);
  std::vector<Example> examples;
  for (Example example; reader->next(example);) examples.push_back(std::move(example));
  return examples;
}

Split split_of(std::string_view source, double valid, double test) {
  require(valid >= 0 && test >= 0 && valid + test <= 1, "part_of: expected shares of 0 to 1 together, got ", valid,
          " and ", test);
  const double place = Random().named(source).uniform53();  // the name is hashed, and the hash well mixed
  return place < test ? Split::kTest : place < test + valid ? Split::kValid : Split::kTrain;
}

}  // namespace attend::data
