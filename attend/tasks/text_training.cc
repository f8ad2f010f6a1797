#include <algorithm>
#include <cmath>
#include <numeric>

#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/base/replacement.h"
#include "attend/data/builtin.h"
#include "attend/data/pairs.h"
#include "attend/tasks/text.h"
#include "attend/train/agreement.h"
#include "attend/train/bleu.h"

namespace attend::tasks {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostHeldOut = 2000;
constexpr int64_t kValidTokens = 4096;  // of one batch

std::vector<fs::path> paths(const std::vector<std::string>& names) { return {names.begin(), names.end()}; }

data::PairFiles training_files(const TextOptions& o) { return {paths(o.source), paths(o.target), paths(o.tsv)}; }
data::PairFiles valid_files(const TextOptions& o) {
  return {paths(o.valid_source), paths(o.valid_target), paths(o.valid_tsv)};
}
bool empty(const data::PairFiles& files) { return files.source.empty() && files.target.empty() && files.tsv.empty(); }

std::vector<TextPair> pairs_of(const std::vector<data::Example>& examples) {
  std::vector<TextPair> pairs;
  for (const data::Example& e : examples) pairs.push_back({e.source, e.target, e.links});
  return pairs;
}

/// Pairs one after the other: made, or of files.
class PairStream {
 public:
  explicit PairStream(std::span<const TextPair> made) : made_(made) {}
  explicit PairStream(data::PairFiles files) : reader_(std::in_place, std::move(files)) {}

  bool next(TextPair& pair) {
    if (!reader_) {
      if (at_ == made_.size()) return false;
      pair = made_[at_++];
      return true;
    }
    data::Pair read;
    if (!reader_->next(read)) return false;
    pair.links.clear();  // nobody asks for those of files; and a third column may hold anything
    pair.source = std::move(read.source), pair.target = std::move(read.target);
    return true;
  }

 private:
  std::span<const TextPair> made_;
  size_t at_ = 0;
  std::optional<data::PairReader> reader_;
};

/// The training pairs, as often as asked for, without those that are held out.
class Corpus {
 public:
  explicit Corpus(const TextOptions& options) : options_(options) {
    require(options.held_out >= 0 && options.held_out < 1, "held_out: a share from 0 to 1 is wanted, got ",
            options.held_out);
    if (!options.corpus.empty()) {
      require(empty(training_files(options)),
              "train: files or a built-in corpus are wanted, got both (corpus: ", options.corpus, ")");
      data::BuiltinCorpus made = data::make_builtin(options.corpus, static_cast<uint64_t>(options.train.seed));
      made_ = pairs_of(made.train), valid_ = pairs_of(made.valid);
    } else if (!empty(valid_files(options))) {
      PairStream stream(valid_files(options));
      for (TextPair pair; stream.next(pair);) valid_.push_back(pair);
    }
    rewind();
    if (valid_.empty()) hold_out();
  }

  void rewind() {
    stream_.emplace(options_.corpus.empty() ? PairStream(training_files(options_)) : PairStream(made_));
    draws_ = Random(static_cast<uint64_t>(options_.train.seed)).named("held out");
  }

  bool next(TextPair& pair) {
    while (stream_->next(pair)) {
      if (draws_.uniform53() >= held_below_) return true;
    }
    return false;
  }

  std::vector<TextPair>& valid() { return valid_; }

 private:
  struct Drawn {
    double draw;
    int64_t number;
    TextPair pair;
  };

  /// Those with the least of the numbers that are drawn for all pairs, so that they come from the whole corpus; at least one.
  void hold_out() {
    std::vector<Drawn> least;  // a heap, the greatest in front: those held out, and the next one
    int64_t count = 0;
    for (TextPair pair; stream_->next(pair); ++count) {
      const double draw = draws_.uniform53();
      const bool full = static_cast<int64_t>(least.size()) > kMostHeldOut;
      if (full && draw >= least.front().draw) continue;
      if (full) std::ranges::pop_heap(least, {}, &Drawn::draw), least.pop_back();
      least.push_back({draw, count, pair});
      std::ranges::push_heap(least, {}, &Drawn::draw);
    }
    const int64_t share = static_cast<int64_t>(options_.held_out * static_cast<double>(count));
    const int64_t wanted = options_.held_out > 0 ? std::min(count - 1, std::clamp<int64_t>(share, 1, kMostHeldOut)) : 0;
    require(wanted > 0, "train: no pairs to validate with; name validation files, or hold out a larger share than ",
            options_.held_out, " of more than ", count);
    std::ranges::sort(least, {}, &Drawn::draw);
    held_below_ = least[static_cast<size_t>(wanted)].draw;
    least.resize(static_cast<size_t>(wanted));
    std::ranges::sort(least, {}, &Drawn::number);
    for (Drawn& one : least) valid_.push_back(std::move(one.pair));
    rewind();
  }

  const TextOptions& options_;
  std::vector<TextPair> made_, valid_;
  std::optional<PairStream> stream_;
  Random draws_;
  double held_below_ = 0;  // pairs that draw less are held out
};

/// Refuses a score that validations will not have: now, not after the first epoch.
void check_best_by(const TextOptions& options) {
  std::vector<std::string_view> known{"loss"};
  if (options.valid_sentences != 0) known.insert(known.end(), {"bleu", "exact"});
  if (std::ranges::find(known, options.train.best_by) != known.end()) return;
  refuse_name("train.best_by", known, options.train.best_by);
}

enum class Side { source, target, both };

std::shared_ptr<data::Tokeniser> learn(const data::TokeniserOptions& options, Corpus& corpus, Side side) {
  corpus.rewind();
  TextPair pair;
  bool target_next = false;  // of a pair whose source was given
  return data::train_tokeniser(options, [&](std::string& line) {
    if (std::exchange(target_next, false)) {
      line = pair.target;
      return true;
    }
    if (!corpus.next(pair)) return false;
    line = side == Side::target ? pair.target : pair.source;
    target_next = side == Side::both;
    return true;
  });
}

/// The plan of the epoch that is being read; batches are asked for one after the other.
class Plan {
 public:
  explicit Plan(const data::Batches& batches) : batches_(&batches) {}
  int64_t count(int64_t epoch) { return static_cast<int64_t>(plan(epoch).size()); }
  data::Batch batch(int64_t epoch, int64_t index) { return batches_->batch(plan(epoch)[static_cast<size_t>(index)]); }

 private:
  const std::vector<data::BatchRows>& plan(int64_t epoch) {
    if (epoch != epoch_) rows_ = batches_->epoch(epoch), epoch_ = epoch;
    return rows_;
  }
  const data::Batches* batches_;
  int64_t epoch_ = -1;
  std::vector<data::BatchRows> rows_;
};

constexpr std::string_view kFiles[] = {"source", "target", "tsv"};
constexpr std::string_view kFoundOut[] = {"model.source_vocabulary", "model.target_vocabulary"};

std::vector<OptionInfo> text_options(const SettingList& settings) { return TextConfig(settings).all(); }

std::unique_ptr<Run> start_text(const SettingList& settings, const fs::path& folder, bool resume,
                                const Prepared& prepared) {
  return std::make_unique<TextTraining>(TextConfig(settings), folder, resume, prepared);
}

}  // namespace

constinit const Family kText{"text", "tokens", kFiles, kFoundOut, text_options, start_text};

std::vector<TextPair> builtin_test(const TextConfig& config) {
  const TextOptions& o = config.options;
  if (o.corpus.empty()) return {};
  return pairs_of(data::make_builtin(o.corpus, static_cast<uint64_t>(o.train.seed)).test);
}

TextTraining::TextTraining(const TextConfig& config, fs::path folder, bool resume, const Prepared& prepared) {
  const TextOptions& options = config.options;
  TextModel::try_model(config);
  check_best_by(options);
  require(options.valid_sentences >= 0, "valid_sentences: at least 0 is wanted, got ", options.valid_sentences);
  if (fs::is_directory(folder)) lock_.emplace(folder);  // first: a large corpus takes a while
  prepared("reading the pairs");
  Corpus corpus(options);  // before the folder is made: a wrong file name leaves none
  require_writable(folder);
  if (!lock_) lock_.emplace(folder);
  std::shared_ptr<data::Tokeniser> source, target;
  const bool joint = options.tokeniser.joint;
  if (resume) {
    source = data::load_tokeniser(folder, "source");
    target = joint ? source : std::shared_ptr(data::load_tokeniser(folder, "target"));
  } else {
    prepared("learning the vocabulary");
    source = learn(options.tokeniser, corpus, joint ? Side::both : Side::source);
    target = joint ? source : learn(options.tokeniser, corpus, Side::target);
  }
  prepared("encoding the pairs");
  data::EncodedPairsWriter writer(folder, options.filter);
  corpus.rewind();
  for (TextPair pair; corpus.next(pair);) writer.add(source->encode(pair.source), target->encode(pair.target));
  filtered_ = writer.report();
  require(filtered_.kept > 0, "train: nothing is left to train on: ", filtered_.text());
  pairs_ = std::make_unique<data::EncodedPairs>(writer.finish());
  valid_ = std::move(corpus.valid());
  batches_ = std::make_unique<data::Batches>(*pairs_, options.batch);
  model_ = std::make_unique<TextModel>(config, source, target);
  encode_valid();
  const auto plan = std::make_shared<Plan>(*batches_);
  trainer_ = std::make_unique<train::Trainer>(
      model_->model(),
      train::BatchSource{[plan](int64_t epoch) { return plan->count(epoch); },
                         [plan](int64_t epoch, int64_t index) { return plan->batch(epoch, index); }},
      [this](const models::Model& model) { return validate(model); }, options.train, folder);
  trainer_->when_best([this, folder] { last_.save(folder); });
  trainer_->check_room();
  if (resume) {
    trainer_->resume();
  } else {
    begun_ = trainer_->take_start();
    model_->forget(folder);  // killed while a model is replaced, it is none rather than a mixture
    fs::remove(folder / ValidSentences::kFile);
    trainer_->save_start();
  }
  model_->save(folder);
}

std::string TextTraining::summary() const {
  std::string text = filtered_.text() + "; vocabulary " + std::to_string(model_->source().size()) + " → " +
                     std::to_string(model_->target().size()) + "; " + std::to_string(valid_.size()) +
                     " validation pairs";
  if (valid_left_out_ > 0) text += " (" + std::to_string(valid_left_out_) + " too long or empty: in no loss)";
  return begun_.empty() ? text : text + "\n" + begun_;
}

/// Validation pairs in batches of like length; those with an empty side have no loss.
void TextTraining::encode_valid() {
  struct Encoded {
    std::vector<int32_t> source, target;
  };
  std::vector<Encoded> all;
  for (const TextPair& pair : valid_) {
    Encoded one{model_->source().encode(pair.source), model_->target().encode(pair.target)};
    const int64_t longest = model_->config().options.filter.longest;
    const bool fits = longest == 0 || static_cast<int64_t>(std::max(one.source.size(), one.target.size())) <= longest;
    if (!one.source.empty() && !one.target.empty() && fits) all.push_back(std::move(one));
  }
  valid_left_out_ = static_cast<int64_t>(valid_.size() - all.size());
  require(!all.empty(), "train: none of the ", valid_.size(), " validation pairs has text on both sides and at most ",
          model_->config().options.filter.longest, " tokens");
  std::ranges::stable_sort(all, {}, [](const Encoded& one) { return one.source.size() + one.target.size(); });
  std::vector<std::vector<int32_t>> sources, targets;
  size_t longest = 0;
  const auto flush = [&] {
    if (!sources.empty()) valid_batches_.push_back({data::Sequences(sources), data::Sequences(targets)});
    sources.clear(), targets.clear(), longest = 0;
  };
  for (Encoded& one : all) {
    longest = std::max({longest, one.source.size(), one.target.size()});
    if (static_cast<int64_t>(longest * (sources.size() + 1)) > kValidTokens) flush();
    longest = std::max({longest, one.source.size(), one.target.size()});
    sources.push_back(std::move(one.source)), targets.push_back(std::move(one.target));
  }
  flush();
}

train::Validation TextTraining::validate(const models::Model& model) const {
  const TapePause pause;
  train::Validation result;
  double tokens = 0;
  for (const data::Batch& batch : valid_batches_) {
    const double count = static_cast<double>(target_tokens(batch));
    result.loss += count * static_cast<double>(model.loss(batch).item());
    tokens += count;
  }
  result.loss /= tokens;
  last_ = translated();
  const auto& [sources, references, outputs] = last_;
  if (outputs.empty()) return result;
  result.scores = {{"bleu", train::bleu(outputs, references).score},
                   {"exact", 100 * train::exact_match(outputs, references)}};
  const size_t shown = samples_++ % outputs.size();
  result.source = sources[shown], result.reference = references[shown], result.output = outputs[shown];
  return result;
}

/// The first validation sentences, greedily.
ValidSentences TextTraining::translated() const {
  const size_t most = static_cast<size_t>(model_->config().options.valid_sentences);
  ValidSentences all;
  for (size_t i = 0; i < std::min(most, valid_.size()); ++i) {
    all.sources.push_back(valid_[i].source), all.references.push_back(valid_[i].target);
  }
  AnswerOptions greedy;
  greedy.search = model_->config().options.search;
  greedy.search.beam = greedy.search.n_best = 1, greedy.search.sample = false;
  for (const std::vector<Answer>& answers : model_->answer(all.sources, greedy)) {
    all.outputs.push_back(answers.at(0).text);
  }
  return all;
}

}  // namespace attend::tasks
