#include "attend/base/error.h"
#include "attend/data/unicode.h"
#include "attend/tasks/words.h"
#include "attend/tasks/words_output.h"

namespace attend::tasks {
namespace {
constexpr const char* kStem = "target";
constexpr std::string_view kDerived[] = {"target_vocabulary", "labels"};
}  // namespace

std::shared_ptr<data::Tokeniser> WordsOutput::learned(const Corpus& corpus,
                                                      const std::function<std::string(const std::string&)>& spelling) {
  data::TokeniserOptions how = options().tokeniser;
  if (!options().tokeniser.target_kind.empty()) how.kind = options().tokeniser.target_kind;
  std::vector<std::string> waiting;
  Example example;
  int64_t at = 0;
  if (corpus.stream) corpus.stream->rewind();
  return data::train_tokeniser(how, [&](std::string& line) {
    while (waiting.empty()) {
      if (corpus.stream ? !corpus.stream->next(example) : at == corpus.train.count) return false;
      waiting = corpus.stream ? std::move(example.right) : corpus.train.right(at++);
    }
    line = spelling(waiting.back());
    waiting.pop_back();
    return true;
  });
}

void WordsOutput::learn(const Corpus& corpus, const Input& input, const Prepared& prepared) {
  if (options().tokeniser.joint && input.tokeniser()) {
    words_ = input.tokeniser();
    return;
  }
  if (!input.tokeniser()) prepared("learning the vocabulary");
  words_ = learned(corpus, [](const std::string& right) { return right; });
}

void WordsOutput::load(const std::filesystem::path& folder, const Input& input) {
  words_ = options().tokeniser.joint && input.tokeniser() ? input.tokeniser() : data::load_tokeniser(folder, kStem);
}

void WordsOutput::save(const std::filesystem::path& folder) const {
  if (!options().tokeniser.joint || !options().row->input().streamed) words_->save(folder, kStem);
}

Settings WordsOutput::sizes() const {
  return {{"target_vocabulary", std::to_string(words_->size())}, {"labels", std::to_string(words_->size())}};
}

std::string WordsOutput::summary() const { return std::to_string(words_->size()); }

std::vector<int32_t> WordsOutput::encode(const std::string& right, const Ready&) const { return words_->encode(right); }

std::string WordsOutput::written(std::span<const int32_t> ids, const Ready&) const { return words_->decode(ids); }

explain::TraceSide WordsOutput::side(std::span<const int32_t> ids, const Ready& input) const {
  data::TokenisedWords shown = words_->words(ids);
  shown.ids.assign(ids.begin(), ids.end());
  return side_of(*words_, shown, written(ids, input));
}

std::string WordsOutput::piece(int32_t id) const { return words_->piece(id); }

std::string WordsOutput::spelled(const std::string& right) const {
  return options().tokeniser.lowercase && !options().row->input().streamed ? data::lowercased(right) : right;
}

constinit const OutputRow kWordsOutput{
    "words",
    [](const TaskConfig& config) -> std::unique_ptr<Output> { return std::make_unique<WordsOutput>(config); }, kDerived};

const std::vector<std::string>& Output::labels() const {
  static const std::vector<std::string> kNone;
  return kNone;
}

}  // namespace attend::tasks
