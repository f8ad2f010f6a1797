#include "attend/tasks/batch_plan.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/data/prefetch.h"
#include "attend/data/shuffle.h"

namespace attend::tasks {
namespace {

constexpr size_t kReady = 2;  // batches ahead

/// The plan of the epoch that is being read is kept: batches are asked for one after another.
class StoredBatches : public BatchPlan {
 public:
  StoredBatches(data::EncodedPairsWriter& writer, const data::BatchOptions& options, std::string left_out)
      : report_(writer.report()), left_out_(std::move(left_out)), pairs_(writer.finish()), batches_(pairs_, options) {}

  int64_t count(int64_t epoch) override { return static_cast<int64_t>(plan(epoch).size()); }
  data::Batch batch(int64_t epoch, int64_t index) override {
    return batches_.batch(plan(epoch)[static_cast<size_t>(index)]);
  }
  int64_t examples() const override { return report_.kept; }
  int64_t counted() const override {
    int64_t tokens = pairs_.size();  // the ends
    for (int64_t i = 0; i < pairs_.size(); ++i) tokens += pairs_.target_length(i);
    return tokens;
  }
  int64_t longest() const override {
    int64_t longest = 0;
    for (int64_t i = 0; i < pairs_.size(); ++i) {
      longest = std::max({longest, pairs_.source_length(i), pairs_.target_length(i)});
    }
    return longest;
  }
  std::string summary() const override { return report_.text() + left_out_; }

 private:
  const std::vector<data::BatchRows>& plan(int64_t epoch) {
    if (epoch != epoch_) rows_ = batches_.epoch(epoch), epoch_ = epoch;
    return rows_;
  }

  data::FilterReport report_;
  std::string left_out_;  // questions, in words
  data::EncodedPairs pairs_;
  data::Batches batches_;
  int64_t epoch_ = -1;
  std::vector<data::BatchRows> rows_;
};

/// Each epoch's examples in an order of its own; the next batches are made on another thread.
class MadeBatches : public BatchPlan {
 public:
  MadeBatches(const TaskModel& model, Examples examples) : model_(model), examples_(std::move(examples)) {}

  int64_t count(int64_t) override { return (examples_.count + size() - 1) / size(); }

  data::Batch batch(int64_t epoch, int64_t index) override {
    const int64_t number = epoch * count(epoch) + index;
    if (!ready_ || number != next_) {
      ready_.reset();
      ready_ = std::make_unique<data::Prefetched<data::Batch>>(
          [this](int64_t n) { return made(n / count(0), n % count(0)); }, kReady, number);
    }
    next_ = number + 1;
    return ready_->next();
  }
  int64_t examples() const override { return examples_.count; }
  int64_t counted() const override { return examples_.count; }
  std::string summary() const override { return std::to_string(examples_.count) + " images"; }

 private:
  const TaskBatchOptions& options() const { return model_.config().options.batch; }
  int64_t size() const { return options().images; }
  Random random(std::string_view what, int64_t number) const {
    return Random(static_cast<uint64_t>(options().seed), static_cast<uint64_t>(number)).named(what);
  }

  data::Batch made(int64_t epoch, int64_t index) {
    const std::vector<int64_t>& order = order_of(epoch);
    const int64_t begin = index * size(), end = std::min(begin + size(), examples_.count);
    Random draws = random("captions", epoch * count(epoch) + index);
    std::vector<Example> examples;
    for (int64_t i = begin; i < end; ++i) {
      examples.push_back(examples_.at(order[static_cast<size_t>(i)] + epoch * examples_.count));
      keep_some(examples.back(), options().captions, draws);
    }
    return model_.batch(examples);
  }

  const std::vector<int64_t>& order_of(int64_t epoch) {
    if (epoch == epoch_) return order_;
    order_.resize(static_cast<size_t>(examples_.count));
    std::iota(order_.begin(), order_.end(), int64_t{0});
    Random draws = random("images", epoch);
    data::shuffle(order_, draws);
    epoch_ = epoch;
    return order_;
  }

  const TaskModel& model_;
  const Examples examples_;
  int64_t epoch_ = -1;
  std::vector<int64_t> order_;
  int64_t next_ = -1;
  std::unique_ptr<data::Prefetched<data::Batch>> ready_;  // last: its thread uses the others
};

/// Questions from which nothing could be learned.
struct LeftOut {
  int64_t count = 0;
  std::string first = {};

  void add(const Example& example) {
    if (count++ == 0) first = example.title() + (example.name.empty() ? "" : " (" + example.name + ")");
  }
  std::string text() const {
    if (count == 0) return "";
    return "; " + std::to_string(count) + (count == 1 ? " question" : " questions") +
           " left out, as what was read of the document has no such answer; the first: " + quoted(first);
  }
};

void add_text(const TaskModel& model, const Example& example, data::EncodedPairsWriter& writer) {
  const Ready ready = model.ready(example);
  const data::Source source = model.source(std::array{&ready});
  for (const std::string& right : example.right) writer.add(source, model.output().encode(right, ready));
}

/// The first of the right answers that stands in the document, as all windows that have it and, where the network may say so,
/// those that have none of them.
void add_question(const TaskModel& model, const Example& example, data::EncodedPairsWriter& writer, LeftOut& left_out) {
  const std::vector<Ready> windows = model.parts(example);
  const auto has = [&](size_t answer, const Ready& window) {
    return model.output().has(right_answer(example, answer), window);
  };
  const auto in_some = [&](size_t answer) {
    return std::ranges::any_of(windows, [&](const Ready& window) { return has(answer, window); });
  };
  size_t answer = 0;
  while (answer < example.right.size() && !in_some(answer)) ++answer;
  if (answer == example.right.size()) return left_out.add(example);
  const auto target_in = [&](const Ready& window) -> std::vector<int32_t> {
    if (has(answer, window)) return model.output().encode(right_answer(example, answer), window);
    for (size_t other = answer + 1; other < example.right.size(); ++other) {
      if (has(other, window)) return {};
    }
    return model.output().none(window);
  };
  bool learned = false;
  for (const Ready& window : windows) {
    const std::vector<int32_t> target = target_in(window);
    if (target.empty() || window.is_empty()) continue;
    writer.add(model.source(std::array{&window}), target);
    learned = true;
  }
  if (!learned) left_out.add(example);
}

}  // namespace

std::unique_ptr<BatchPlan> stored_batches(const TaskModel& model, ExampleStream& stream,
                                          const std::filesystem::path& folder) {
  data::EncodedPairsWriter writer(folder, model.config().options.filter);
  LeftOut left_out;
  stream.rewind();
  for (Example example; stream.next(example);) {
    model.reads_documents() ? add_question(model, example, writer, left_out) : add_text(model, example, writer);
  }
  require(writer.report().kept > 0, "train: nothing is left to train on: ", writer.report().text(), left_out.text());
  return std::make_unique<StoredBatches>(writer, model.config().options.batch, left_out.text());
}

std::unique_ptr<BatchPlan> made_batches(const TaskModel& model, Examples examples) {
  return std::make_unique<MadeBatches>(model, std::move(examples));
}

}  // namespace attend::tasks
