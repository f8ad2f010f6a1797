#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/data/utf8.h"
#include "attend/tasks/names_output.h"

namespace attend::tasks {
namespace {

constexpr std::string_view kDerived[] = {"labels"};

/// One name for each word.
class TagsOutput : public NamesOutput {
 public:
  using NamesOutput::NamesOutput;
  std::vector<int32_t> encode(const std::string& right, const Ready& input) const override {
    std::vector<int32_t> ids = NamesOutput::encode(right, input);
    const size_t words = input.tokens.ids.size();
    require(ids.size() == words, "tags: expected one for each of ", words, " words of ", quoted(input.text), ", got ",
            ids.size());
    return ids;
  }
  decode::SearchOptions search(const decode::SearchOptions& asked) const override {
    decode::SearchOptions all = asked;
    all.length_penalty = 0, all.no_repeat_ngram = 0;
    return all;
  }

 protected:
  std::string_view kind() const override { return "tag"; }
  std::vector<std::string> parts_of(const std::string& right) const override {
    std::vector<std::string> tags;
    for (const std::string_view tag : data::split_words(right)) tags.emplace_back(tag);
    return tags;
  }
};

}  // namespace

constinit const OutputRow kTagsOutput{
    "tags", [](const TaskConfig& config) -> std::unique_ptr<Output> { return std::make_unique<TagsOutput>(config); },
    kDerived};

}  // namespace attend::tasks
