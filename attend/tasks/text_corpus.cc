#include <algorithm>
#include <optional>

#include "attend/base/error.h"
#include "attend/base/random.h"
#include "attend/data/builtin.h"
#include "attend/data/examples.h"
#include "attend/data/pairs.h"
#include "attend/tasks/text_corpus.h"

namespace attend::tasks {
namespace {

constexpr int64_t kMostTextsHeldOut = 2000;

Example example_of(data::Example&& one) {
  Example example{.inputs = {std::move(one.source)}, .right = {std::move(one.target)}, .links = std::move(one.links)};
  for (std::string& text : one.further) example.inputs.emplace_back(std::move(text));
  std::ranges::move(one.also, std::back_inserter(example.right));
  example.found = std::move(one.found), example.support = std::move(one.support);
  example.group = std::move(one.group), example.name = std::move(one.name);
  return example;
}

std::vector<Example> examples_in(std::vector<data::Example>&& made) {
  std::vector<Example> examples;
  for (data::Example& one : made) examples.push_back(example_of(std::move(one)));
  return examples;
}

std::vector<std::filesystem::path> paths(const std::vector<std::string>& names) { return {names.begin(), names.end()}; }

/// The examples of files, one after another.
class FileReader {
 public:
  FileReader(const TaskRow& row, const TextFiles& files) : row_(row), files_(files) {
    if (row.format == "pairs") pairs_.emplace(data::PairFiles{paths(files.source), paths(files.target), paths(files.tsv)});
  }

  bool next(Example& example) {
    if (pairs_) {
      data::Pair pair;
      if (!pairs_->next(pair)) return false;
      example = {.inputs = {std::move(pair.source)}, .right = {std::move(pair.target)}};
      return true;
    }
    for (data::Example one;;) {
      if (reader_ && reader_->next(one)) {
        example = example_of(std::move(one));
        return true;
      }
      if (opened_ == files_.data.size()) return false;
      reader_ = data::open_examples(row_.format, files_.data[opened_++]);
    }
  }

 private:
  const TaskRow& row_;
  TextFiles files_;
  std::optional<data::PairReader> pairs_;
  std::unique_ptr<data::ExampleReader> reader_;
  size_t opened_ = 0;
};

std::vector<Example> read_all(const TaskRow& row, const TextFiles& files) {
  FileReader reader(row, files);
  std::vector<Example> all;
  for (Example example; reader.next(example);) all.push_back(std::move(example));
  return all;
}

/// The training examples, as often as asked for, without those that are held out.
class TextStream : public ExampleStream {
 public:
  explicit TextStream(const TaskOptions& options) : options_(options) {}
  TextStream(const TaskOptions& options, std::vector<Example> made) : options_(options), made_(std::move(made)) {}

  void rewind() override {
    if (options_.corpus.empty()) reader_.emplace(*options_.row, options_.text);
    at_ = 0;
    draws_ = Random(options_.seed()).named("held out");
  }

  bool next(Example& example) override {
    while (read(example)) {
      if (draws_.uniform53() >= held_below_) return true;
    }
    return false;
  }

  /// Those with the lowest of the numbers that are drawn for all examples, so that they come from the whole corpus; at least
  /// one.
  std::vector<Example> hold_out() {
    struct Drawn {
      double draw;
      int64_t number;
      Example example;
    };
    std::vector<Drawn> least;  // a heap, the greatest in front: those held out, and the next one
    int64_t count = 0;
    rewind();
    for (Example example; read(example); ++count) {
      const double draw = draws_.uniform53();
      const bool full = static_cast<int64_t>(least.size()) > kMostTextsHeldOut;
      if (full && draw >= least.front().draw) continue;
      if (full) std::ranges::pop_heap(least, {}, &Drawn::draw), least.pop_back();
      least.push_back({draw, count, std::move(example)});
      std::ranges::push_heap(least, {}, &Drawn::draw);
    }
    const double share = options_.held_out;
    const int64_t some = static_cast<int64_t>(share * static_cast<double>(count));
    const int64_t wanted = share > 0 ? std::min(count - 1, std::clamp<int64_t>(some, 1, kMostTextsHeldOut)) : 0;
    require(wanted > 0, "train: nothing to validate with; name validation files, or hold out a larger share than ",
            share, " of more than ", count, " examples");
    std::ranges::sort(least, {}, &Drawn::draw);
    held_below_ = least[static_cast<size_t>(wanted)].draw;
    least.resize(static_cast<size_t>(wanted));
    std::ranges::sort(least, {}, &Drawn::number);
    std::vector<Example> held;
    for (Drawn& one : least) held.push_back(std::move(one.example));
    return held;
  }

 private:
  bool read(Example& example) {
    if (reader_) return reader_->next(example);
    if (at_ == made_.size()) return false;
    example = made_[at_++];
    return true;
  }

  const TaskOptions options_;
  std::vector<Example> made_;
  size_t at_ = 0;
  std::optional<FileReader> reader_;
  Random draws_;
  double held_below_ = 0;  // examples that draw less are held out
};

}  // namespace

Corpus read_text_corpus(const TaskConfig& config) {
  const TaskOptions& options = config.options;
  Corpus corpus;
  if (!options.corpus.empty()) {
    require(options.text.empty(), "train: expected files or a built-in corpus, got both (corpus: ", options.corpus, ")");
    data::BuiltinCorpus made = data::make_builtin(options.corpus, options.seed());
    corpus.stream = std::make_shared<TextStream>(options, examples_in(std::move(made.train)));
    corpus.valid = examples_of(examples_in(std::move(made.valid)));
    corpus.test = examples_of(examples_in(std::move(made.test)));
    return corpus;
  }
  const auto stream = std::make_shared<TextStream>(options);
  corpus.stream = stream;
  corpus.valid = examples_of(options.valid_text.empty() ? stream->hold_out() : read_all(config.row(), options.valid_text));
  corpus.test = corpus.valid;
  return corpus;
}

Examples read_text_test(const TaskConfig& config, const TextFiles& files, const std::string& gold) {
  if (files.empty()) return read_text_corpus(config).test;
  std::vector<Example> all = read_all(config.row(), files);
  if (gold.empty()) return examples_of(std::move(all));
  const std::vector<std::string> lines = data::read_lines(gold);
  require(lines.size() == all.size(), gold, ": expected as many lines of word alignments as sentences, ", all.size(),
          ", got ", lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    all[i].links = data::parse_links(gold + ":" + std::to_string(i + 1), lines[i]);
  }
  return examples_of(std::move(all));
}

}  // namespace attend::tasks
