#include "attend/tasks/batch_plan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/data/prefetch.h"
#include "attend/data/shuffle.h"
#include "attend/tasks/recuts.h"

namespace attend::tasks {
namespace {

constexpr size_t kReady = 2;  // batches ahead

/// The plan of the epoch that is being read is kept: batches are asked for one after another.
class StoredBatches : public BatchPlan {
 public:
  StoredBatches(data::EncodedPairsWriter& writer, const TaskModel& model, std::string left_out)
      : report_(writer.report()),
        left_out_(std::move(left_out)),
        pairs_(writer.finish()),
        batches_(pairs_, model.config().options.batch),
        recuts_(model) {}

  int64_t count(int64_t epoch) override { return static_cast<int64_t>(plan(epoch).size()); }
  data::Batch batch(int64_t epoch, int64_t index) override {
    const data::BatchRows& rows = plan(epoch)[static_cast<size_t>(index)];
    if (!recuts_.any()) return batches_.batch(rows);
    return batches_.batch(
        rows, [&](uint32_t row, size_t part, std::span<const int32_t> ids) { return recuts_(epoch, row, part, ids); });
  }
  int64_t examples() const override { return report_.kept; }
  int64_t counted() const override {
    if (recuts_.any()) return 0;
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
  Recuts recuts_;
  int64_t epoch_ = -1;
  std::vector<data::BatchRows> rows_;
};

/// A place in the run: a batch of an epoch.
struct Turn {
  int64_t epoch = 0, index = 0;
  bool operator==(const Turn&) const = default;
};

/// Each epoch's examples in an order of its own; the next batches are made on another thread.
class MadeBatches : public BatchPlan {
 public:
  MadeBatches(const TaskModel& model, Examples examples) : model_(model), examples_(std::move(examples)) {}

  int64_t count(int64_t epoch) override { return std::ssize(asked_.of(epoch, *this)); }

  data::Batch batch(int64_t epoch, int64_t index) override {
    if (!ready_ || next_ != Turn{epoch, index}) {
      ready_.reset();
      made_ = {epoch, index}, made_in_row_ = 0, asked_in_row_ = 0;
      ready_ = std::make_unique<data::Prefetched<data::Batch>>([this](int64_t) { return made(); }, kReady);
    }
    next_ = after({epoch, index}, asked_, asked_in_row_);
    return ready_->next();
  }
  void expect(int64_t asked, int64_t skipped) override { row_ = asked, skipped_ = skipped; }
  int64_t examples() const override { return examples_.count; }
  int64_t counted() const override { return examples_.count; }
  std::string summary() const override {
    return std::to_string(examples_.count) + " " + std::string(model_.row().input().several);
  }

 protected:
  using Numbers = std::vector<int64_t>;

  /// The batches of an epoch: numbers of examples.
  virtual std::vector<Numbers> planned(int64_t epoch) const {
    const Numbers order = order_of(epoch);
    std::vector<Numbers> batches;
    for (auto begin = order.begin(); begin != order.end();) {
      const auto end = begin + std::min<std::ptrdiff_t>(options().images, order.end() - begin);
      batches.emplace_back(begin, end);
      begin = end;
    }
    return batches;
  }
  virtual data::Batch made_of(std::vector<Example> examples, const Turn& turn, int64_t batches) const {
    Random draws = random("captions", turn.epoch * batches + turn.index);
    for (Example& one : examples) keep_some(one, options().captions, draws);
    return model_.batch(examples);
  }

  const TaskModel& model() const { return model_; }
  const Examples& all() const { return examples_; }
  const TaskBatchOptions& options() const { return model_.config().options.batch; }
  Random random(std::string_view what, int64_t number) const {
    return Random(static_cast<uint64_t>(options().seed), static_cast<uint64_t>(number)).named(what);
  }
  Numbers order_of(int64_t epoch) const {
    Numbers order(static_cast<size_t>(examples_.count));
    std::iota(order.begin(), order.end(), int64_t{0});
    Random draws = random("images", epoch);
    data::shuffle(order, draws);
    return order;
  }

 private:
  /// The plan of one epoch is kept. Each thread has its own.
  struct Plan {
    int64_t epoch = -1;
    std::vector<Numbers> batches = {};
    const std::vector<Numbers>& of(int64_t number, const MadeBatches& batches_of) {
      if (number != epoch) batches = batches_of.planned(number), epoch = number;
      return batches;
    }
  };
  Turn after(Turn turn, Plan& plan, int64_t& in_row) const {
    int64_t steps = 1;
    if (++in_row == row_) in_row = 0, steps += skipped_;
    for (; steps > 0; --steps) {
      turn = turn.index + 1 < std::ssize(plan.of(turn.epoch, *this)) ? Turn{turn.epoch, turn.index + 1}
                                                                     : Turn{turn.epoch + 1, 0};
    }
    return turn;
  }

  data::Batch made() {
    const Turn turn = made_;
    const std::vector<Numbers>& batches = making_.of(turn.epoch, *this);
    std::vector<Example> examples;
    for (const int64_t i : batches[static_cast<size_t>(turn.index)]) {
      examples.push_back(examples_.at(i + turn.epoch * examples_.count));
    }
    data::Batch batch = made_of(std::move(examples), turn, std::ssize(batches));
    made_ = after(turn, making_, made_in_row_);
    return batch;
  }

  const TaskModel& model_;
  const Examples examples_;
  Plan asked_, making_;  // the second one belongs to the thread, and so does made_
  Turn made_, next_;
  int64_t row_ = 0, skipped_ = 0;  // so many in a row, then so many left out (expect)
  int64_t asked_in_row_ = 0, made_in_row_ = 0;
  std::unique_ptr<data::Prefetched<data::Batch>> ready_;  // last: its thread uses the others
};

/// Sounds of like length together, at most so many seconds with the silence that fills them up; varied, each time anew.
class SoundBatches : public MadeBatches {
 public:
  using MadeBatches::MadeBatches;

 protected:
  std::vector<Numbers> planned(int64_t epoch) const override {
    constexpr double kTicks = 100;  // lengths are counted in hundredths of a second
    std::vector<int64_t> ticks;
    for (int64_t i = 0; i < all().count; ++i)
      ticks.push_back(std::llround(kTicks * all().length(i + epoch * all().count)));
    const data::BatchOptions how{
        .tokens = std::llround(kTicks * options().seconds), .sentences = options().sounds, .seed = options().seed};
    std::vector<Numbers> batches;
    const auto lengths = [&](uint32_t i) { return data::PairLengths{.source = ticks[i]}; };
    for (const data::BatchRows& rows : data::planned_epoch(ticks.size(), lengths, how, epoch)) {
      batches.emplace_back(rows.begin(), rows.end());
    }
    return batches;
  }
  data::Batch made_of(std::vector<Example> examples, const Turn& turn, int64_t) const override {
    Random draws = random("variations", (turn.epoch << 32) + turn.index);
    return model().batch(examples, &draws);
  }
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
  return std::make_unique<StoredBatches>(writer, model, left_out.text());
}

std::unique_ptr<BatchPlan> made_batches(const TaskModel& model, Examples examples) {
  if (model.row().input().is_image()) return std::make_unique<MadeBatches>(model, std::move(examples));
  return std::make_unique<SoundBatches>(model, std::move(examples));
}

}  // namespace attend::tasks
