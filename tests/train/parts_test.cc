// Updates in parts: the same to the last bit, however many ranks share the parts out.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "attend/autograd/ops.h"
#include "attend/autograd/tape.h"
#include "attend/models/zoo.h"
#include "attend/tensor/safetensors.h"
#include "attend/train/trainer.h"
#include "attend/train/tree_sum.h"
#include "tests/support/folder.h"
#include "tests/support/learning.h"
#include "tests/support/message.h"
#include "tests/support/thread_company.h"

namespace attend::train {
namespace {

namespace fs = std::filesystem;

void join(std::string& left, std::string&& right) { left = "(" + left + "+" + right + ")"; }

/// How the parts of a share are added up: "((0+1)+2)".
TreeSum<std::string> written_sum(const Share& share, int64_t parts) {
  TreeSum<std::string> sum(parts);
  for (int64_t i = share.begin; i < share.end; ++i) sum.push({i, i + 1}, std::to_string(i), join);
  return sum;
}

std::string whole_sum(int64_t parts) { return written_sum({0, parts}, parts).nodes().at(0).value; }

TEST(TreeSum, PairsNeighbours) {
  EXPECT_EQ(whole_sum(1), "0");
  EXPECT_EQ(whole_sum(3), "((0+1)+2)");
  EXPECT_EQ(whole_sum(4), "((0+1)+(2+3))");
  EXPECT_EQ(whole_sum(6), "(((0+1)+(2+3))+(4+5))");
  EXPECT_EQ(whole_sum(7), "(((0+1)+(2+3))+((4+5)+6))");
}

TEST(TreeSum, DoesNotDependOnWhoAddsWhat) {
  for (int64_t parts = 1; parts <= 20; ++parts) {
    for (int size = 1; size <= parts; ++size) {
      TreeSum<std::string> all(parts);
      std::vector<Share> nodes;
      for (int rank = 0; rank < size; ++rank) {
        const Share share = share_of(rank, size, parts);
        const std::vector<Share> known = nodes_of(share, parts);
        const TreeSum<std::string> own = written_sum(share, parts);
        ASSERT_EQ(known.size(), own.nodes().size());
        for (size_t i = 0; i < known.size(); ++i) {
          EXPECT_EQ(known[i], own.nodes()[i].parts);
          all.push(own.nodes()[i].parts, own.nodes()[i].value, join);
        }
      }
      ASSERT_EQ(all.nodes().size(), 1u) << parts << " parts, " << size << " ranks";
      EXPECT_EQ(all.nodes()[0].value, whole_sum(parts)) << size << " ranks";
    }
  }
}

TEST(TreeSum, SharesAreAsLargeAsEachOther) {
  int64_t at = 0;
  for (int rank = 0; rank < 3; ++rank) {
    const Share share = share_of(rank, 3, 8);
    EXPECT_EQ(share.begin, at);
    EXPECT_TRUE(share.size() == 2 || share.size() == 3);
    at = share.end;
  }
  EXPECT_EQ(at, 8);
}

TEST(FinalGradients, ComeAsSoonAsNothingCanBeAdded) {
  const Var early = Var::leaf(Tensor::full({2, 2}, 1)), late = Var::leaf(Tensor::full({2, 2}, 2)),
            unused = Var::leaf(Tensor::full({1}, 3));
  std::vector<size_t> order;
  std::vector<int> steps_before;
  int steps = 0;
  const std::vector<Var> leaves{early, late, unused};
  FinalGradients finals(
      leaves, [&](size_t leaf) { order.push_back(leaf), steps_before.push_back(steps); }, [&] { ++steps; });
  Tape tape;
  const Var first = multiply(early, early), second = multiply(first, late), loss = sum(multiply(second, late));
  tape.backward(loss, {}, &finals);
  EXPECT_EQ(order, (std::vector<size_t>{2, 1, 0}));  // unused needs no step
  EXPECT_EQ(steps_before, (std::vector<int>{0, 2, 3}));
  EXPECT_EQ(late.gradient().data()[0], 4);  // d(e²·l²)/dl
  EXPECT_EQ(early.gradient().data()[0], 8);
  EXPECT_FALSE(unused.gradient().defined());
}

TEST(FinalGradients, RefuseWhatComesLater) {
  const Var leaf = Var::leaf(Tensor::full({1}, 2));
  auto copy = std::make_unique<Var>(leaf);
  FinalGradients finals(std::span(&leaf, 1), [](size_t) {});
  Tape tape;
  const Var loss = multiply(affine(leaf, 3, 0), leaf);
  copy.reset();  // one owner fewer than before: it looks complete too soon
  EXPECT_NE(test::message_of([&] { tape.backward(loss, {}, &finals); }).find("expected all of it before it was final"),
            std::string::npos);
}

constexpr int32_t kFewKinds = 5;
constexpr int64_t kFewBatches = 7;

std::unique_ptr<models::Model> network(bool draws = false) {
  Random random(3);
  const std::string words = std::to_string(data::kFirstWord + kFewKinds);
  Settings settings{{"source_vocabulary", words},
                    {"target_vocabulary", words},
                    {"embedding", "6"},
                    {"hidden", "8"},
                    {"dropout", "0.2"}};
  if (draws) settings["attention.align"] = "sample";
  return models::make_model("recurrent", settings, random);
}

BatchSource drawn_batches() {
  return {[](int64_t) { return kFewBatches; },
          [](int64_t epoch, int64_t index) {
            Random random = Random(static_cast<uint64_t>(epoch * kFewBatches + index)).named("batch");
            return test::draw(test::reverse_task(kFewKinds), 2, 5, 2 + index % 3,
                              random);  // as many tokens as it likes
          }};
}

Validation loss_of_some(const models::Model& model) {
  const TapePause pause;
  Random random(9);
  return {.loss = static_cast<double>(model.loss(test::draw(test::reverse_task(kFewKinds), 2, 5, 8, random)).item())};
}

struct Losses : Watcher {
  int64_t stop_after = 0, steps = 0;
  std::vector<double> all;
  void stepped(const StepReport& report) override { all.push_back(report.loss), all.push_back(report.gradient_norm); }
  bool stop() override { return ++steps == stop_after; }
};

TrainerOptions in_parts(int64_t parts) {
  TrainerOptions options;
  options.steps = 30, options.rate = 1e-2, options.validate_every = 15, options.parts = parts, options.accumulate = 2;
  options.clip = 0.5, options.average = 2, options.scheduled_sampling = 0.2;
  return options;
}

struct Outcomes {
  std::vector<double> losses;
  std::string weights;
  std::vector<std::vector<real>> kept;  // of the checkpoint
};

std::vector<std::vector<real>> tensors_of(const fs::path& path) {
  const SafetensorsFile file(path);
  std::vector<std::vector<real>> all;
  for (const SafetensorsEntry& entry : file.entries()) {
    const Tensor value = file.read_finite(entry.name);
    all.emplace_back(value.begin(), value.end());
  }
  return all;
}

/// A run of so many ranks, each with a folder of its own: what the leader reports and keeps. It is stopped, and resumed by
/// others, where there are any.
Outcomes run_of(int size, const TrainerOptions& options, bool draws = false, int64_t stop_after = 0,
                int resumed_by = 0) {
  const test::TestFolder folder;
  Losses losses;
  const auto run = [&](int ranks, bool resume, int64_t stop) {
    test::as_ranks(ranks, [&](Company& company) {
      const fs::path own = folder.path() / std::to_string(company.leads() ? 0 : company.rank() + 100 * ranks);
      fs::create_directories(own);
      if (resume && !company.leads()) {
        for (const char* name : {"checkpoint.safetensors", "weights.safetensors"}) {
          fs::copy_file(folder.path() / "first" / name, own / name);
        }
      }
      const auto model = network(draws);
      Trainer trainer(*model, drawn_batches(), loss_of_some, options, own, company);
      if (resume) trainer.resume();
      Losses silent;
      Losses& watcher = company.leads() ? losses : silent;
      watcher.stop_after = stop, watcher.steps = 0;
      Watcher* const watchers[] = {&watcher};
      trainer.run(watchers);
    });
  };
  run(size, false, stop_after);
  if (resumed_by > 0) {
    fs::copy(folder.path() / "0", folder.path() / "first");
    run(resumed_by, true, 0);
  }
  return {losses.all, folder.bytes("0/weights.safetensors"),
          tensors_of(folder.path() / "0" / "checkpoint.safetensors")};
}

void expect_same(const Outcomes& one, const Outcomes& other) {
  EXPECT_EQ(one.losses, other.losses);
  EXPECT_EQ(one.weights, other.weights);
  EXPECT_EQ(one.kept, other.kept);
}

class RanksSlow : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Sizes, RanksSlow, testing::Values(2, 3, 4));

TEST_P(RanksSlow, TakeTheStepsThatOneAloneTakes) {
  expect_same(run_of(GetParam(), in_parts(4)), run_of(1, in_parts(4)));
}

TEST_P(RanksSlow, ShareRunningAveragesOfRewards) {
  TrainerOptions options = in_parts(5);
  options.accumulate = 1;
  expect_same(run_of(GetParam(), options, true), run_of(1, options, true));
}

TEST_P(RanksSlow, ResumeWhatOthersBegan) {
  if (sizeof(real) == 8) GTEST_SKIP() << "checkpoints have 32 bits";
  const Outcomes whole = run_of(1, in_parts(4));
  expect_same(run_of(GetParam(), in_parts(4), false, 20, 1), whole);
  expect_same(run_of(1, in_parts(4), false, 20, GetParam()), whole);
}

TEST(Parts, AreNotOneBatchAfterTheOther) {
  TrainerOptions one = in_parts(1), four = in_parts(4);
  one.accumulate = 8;
  EXPECT_NE(run_of(1, one).losses, run_of(1, four).losses);  // each part draws its own dropout
}

TEST(Parts, AreAsManyAsRanksAtLeast) {
  test::as_ranks(3, [](Company& company) {
    const test::TestFolder folder;
    const auto model = network();
    const std::string message =
        test::message_of([&] { Trainer(*model, drawn_batches(), loss_of_some, in_parts(2), folder.path(), company); });
    EXPECT_NE(message.find("parts: expected at least one for each of the 3 ranks, got 2"), std::string::npos)
        << message;
  });
}

}  // namespace
}  // namespace attend::train
