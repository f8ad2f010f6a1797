// What `attend` does not lose: the model that a new run replaces, the data that a run was begun with, weights that are damaged.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "attend/base/real.h"
#include "tests/support/changes.h"
#include "tests/support/command.h"
#include "tests/support/folder.h"
#include "tests/support/process.h"
#include "tests/support/small_run.h"
#include "tests/support/snapshot.h"

namespace {

namespace fs = std::filesystem;
using namespace attend::test;

class LostSlow : public testing::Test {
 protected:
  std::string recipe(int steps = 20, const std::string& more = "") const {
    return in_quotes(folder_.file("recipe.yml", small_recipe(tsv_, steps) + more));
  }
  fs::path out(const std::string& name = "model") const { return folder_.path() / name; }
  Result train(const std::string& arguments, const std::string& name = "model") const {
    return attend_with("train " + arguments + " --out " + in_quotes(out(name)) + " 2>&1");
  }
  Result run(const std::string& name = "model") const {
    return attend_with("run " + in_quotes(out(name)) + " 2>&1", "echo 'a b' |");
  }
  void expect_as_it_was(const Snapshot& before, const std::string& after_what) const {
    EXPECT_TRUE(snapshot(out()) == before) << after_what << ": " << names_in(snapshot(out()));
    EXPECT_EQ(run().code, 0) << after_what;
  }

  TestFolder folder_;
  fs::path tsv_ = folder_.file("pairs.tsv", small_corpus(300));
};

TEST_F(LostSlow, ANewRunThatIsRefusedLeavesTheOldModel) {
  ASSERT_EQ(train(recipe()).code, 0);
  folder_.file("model/notes.txt", "mine");
  const Snapshot before = snapshot(out());
  for (const char* late : {"--model.label_smoothing 1", "--search.top-p 2", "--filter.longest 1",
                           "--train.rate 1e300 --train.warmup 0 --train.clip 0", "--train.start_from nowhere"}) {
    const Result refused = train(recipe() + " --force " + late);
    EXPECT_TRUE(refused.code == 1 || refused.code == 2) << late << ": " << refused.code << " " << refused.output;
    expect_as_it_was(before, late);
  }
  const Result mad = train(recipe() + " --force --train.rate 1e300 --train.warmup 0 --train.clip 0");
  EXPECT_EQ(mad.code, 1) << mad.output;
  EXPECT_TRUE(has(mad.output, "model keeps the model that it had")) << mad.output;
  EXPECT_EQ(train(recipe() + " --force --tokeniser.kind characters").code, 0);
  EXPECT_EQ(run().code, 0) << "no vocabulary of before is left";
  EXPECT_EQ(folder_.bytes("model/notes.txt"), "mine");
}

TEST_F(LostSlow, CtrlCBeforeTheFirstCheckpointLeavesTheOldModel) {
  ASSERT_EQ(train(recipe()).code, 0);
  const Snapshot before = snapshot(out());
  recipe(1'000'000);
  const std::string errors = (folder_.path() / "errors").string();
  Changes changes(folder_.path());
  Process process({"train", (folder_.path() / "recipe.yml").string(), "--out", out().string(), "--force",
                   "--train.validate-every", "1000000"},
                  errors);
  EXPECT_TRUE(changes.wait_until(process.output(), [&] { return !folder_.bytes("model/.new/log.jsonl").empty(); }));
  EXPECT_EQ(run().code, 0) << "the old one answers meanwhile";
  process.signal(SIGINT);
  EXPECT_EQ(process.wait(), 130);
  EXPECT_TRUE(has(folder_.bytes("errors"), "before the first checkpoint; " + out().string() + " keeps the model"))
      << folder_.bytes("errors");
  expect_as_it_was(before, "Ctrl-C");
}

TEST_F(LostSlow, AFolderMayBeALinkOrTheCurrentOne) {
  ASSERT_EQ(train(recipe()).code, 0);
  fs::create_directory_symlink(out(), out("link"));
  EXPECT_EQ(train(recipe() + " --force --train.seed 2", "link").code, 0);
  EXPECT_TRUE(fs::is_symlink(out("link")));
  EXPECT_EQ(run().code, 0);
  const Result inside = attend_with("train " + recipe() + " --force --train.seed 3 --out . 2>&1",
                                    "cd " + in_quotes(out()) + " &&");
  EXPECT_EQ(inside.code, 0) << inside.output;
  EXPECT_EQ(run().code, 0);
  EXPECT_TRUE(has(folder_.bytes("model/config.yml"), "seed: 3"));
}

TEST_F(LostSlow, ComparedModelsAreReplacedOnlyByOnesThatLearn) {
  const std::string test = " --source " + in_quotes(folder_.file("s", "a b\n")) + " --target " +
                           in_quotes(folder_.file("t", "B A\n"));
  const auto compare = [&](const std::string& more) {
    return attend_with("compare " + recipe() + test + " --out " + in_quotes(out("report")) + more + " 2>&1");
  };
  ASSERT_EQ(compare("").code, 0);
  const Snapshot before = snapshot(out("report/models/recipe"));
  const Result failed = compare(" --force --train.rate 1e300 --train.warmup 0 --train.clip 0");
  EXPECT_EQ(failed.code, 1) << failed.output;
  EXPECT_TRUE(has(failed.output, "keeps the model that it had")) << failed.output;
  EXPECT_TRUE(snapshot(out("report/models/recipe")) == before) << names_in(snapshot(out("report/models/recipe")));
  folder_.file("pairs.tsv", small_corpus(250));
  const Result other = compare("");
  EXPECT_EQ(other.code, 2) << other.output;
  EXPECT_TRUE(has(other.output, "was trained with other data (" + tsv_.string() + ": 300 lines before, 250 now)"))
      << other.output;
  EXPECT_EQ(compare(" --force").code, 0);
}

TEST_F(LostSlow, AResumedRunKnowsItsData) {
  const fs::path valid = folder_.file("valid.tsv", "a b\tB A\nc d\tD C\n");
  ASSERT_EQ(train(recipe() + " --valid-tsv " + in_quotes(valid)).code, 0);
  const Snapshot before = snapshot(out());
  const auto refused = [&](const std::string& part) {
    const Result result = train("--resume --train.steps 30");
    EXPECT_EQ(result.code, 2) << result.output;
    EXPECT_TRUE(has(result.output, part) && has(result.output, "--changed-data")) << result.output;
    EXPECT_TRUE(snapshot(out()) == before);
  };
  std::string one_line = small_corpus(300);
  one_line[0] = 'e';
  folder_.file("pairs.tsv", one_line);
  refused(tsv_.string() + ": 300 lines as before, but with other contents");
  folder_.file("pairs.tsv", small_corpus(250));
  refused(tsv_.string() + ": 300 lines before, 250 now");
  folder_.file("valid.tsv", "a b\tB A\n");
  refused(valid.string() + ": 2 lines before, 1 now");
  const Result allowed = train("--resume --changed-data --train.steps 30");
  EXPECT_EQ(allowed.code, 0) << allowed.output;
  EXPECT_TRUE(has(allowed.output, "note: resuming with other data: ")) << allowed.output;
  EXPECT_EQ(train("--resume --train.steps 40").code, 0) << "that is its data now";
  ASSERT_EQ(std::system(("gzip -nc " + in_quotes(tsv_) + " > " + in_quotes(out("packed"))).c_str()), 0);
  fs::rename(out("packed"), tsv_);
  EXPECT_EQ(train("--resume --train.steps 50").code, 0) << "a packed text is what is in it";
  EXPECT_EQ(train(recipe() + " --force --changed-data").code, 2);
}

TEST_F(LostSlow, BrokenWeightsAreRestoredOrToldOf) {
  ASSERT_EQ(train(recipe(40)).code, 0);
  const std::string weights = folder_.bytes("model/weights.safetensors");
  for (const uint64_t at : {uint64_t{0}, uint64_t{weights.size() / 2}, uint64_t{weights.size() - 1}}) {
    flip(out() / "weights.safetensors", at);
    const Result broken = run();
    EXPECT_EQ(broken.code, 1);
    EXPECT_TRUE(has(broken.output, "weights.safetensors")) << broken.output;
    EXPECT_EQ(attend_with("eval " + in_quotes(out()) + " 2>/dev/null").code, 1);
    const Result resumed = train("--resume");
    EXPECT_EQ(resumed.code, 0) << resumed.output;
    EXPECT_TRUE(has(resumed.output, "weights.safetensors") && has(resumed.output, "written again")) << resumed.output;
    EXPECT_EQ(run().code, 0);
  }
  flip(out() / "checkpoint.safetensors", fs::file_size(out() / "checkpoint.safetensors") / 2);
  const Result refused = train("--resume --train.steps 60");
  EXPECT_EQ(refused.code, 1) << refused.output;
  EXPECT_TRUE(has(refused.output, "checkpoint.safetensors") && has(refused.output, "damaged")) << refused.output;
  EXPECT_FALSE(has(refused.output, "saved")) << refused.output;
  EXPECT_EQ(run().code, 0);
  flip(out() / "source.words", 1);
  EXPECT_TRUE(has(train("--resume").output, "source.words")) << train("--resume").output;
  EXPECT_TRUE(has(run().output, "source.words")) << run().output;
}

TEST_F(LostSlow, ARunThatLeavesTheNumbersKeepsWhatItHad) {
  ASSERT_EQ(train(recipe(40)).code, 0);
  const std::string weights = folder_.bytes("model/weights.safetensors");
  const Result stopped = train("--resume --train.steps 80 --train.schedule constant --train.rate 1e300 --train.clip 0");
  EXPECT_EQ(stopped.code, 1) << stopped.output;
  EXPECT_TRUE(has(stopped.output, "is not finite") && has(stopped.output, " are kept") &&
              has(stopped.output, "--resume continues from step 40"))
      << stopped.output;
  EXPECT_EQ(folder_.bytes("model/weights.safetensors"), weights);
  EXPECT_EQ(run().code, 0);
  const Result resumed = train("--resume --train.steps 60 --train.schedule constant --train.rate 0.01 --train.clip 1");
  EXPECT_EQ(resumed.code, 0) << resumed.output;
}

TEST_F(LostSlow, AFolderWithoutAManifestIsUsedWithANote) {
  ASSERT_EQ(train(recipe()).code, 0);
  EXPECT_EQ(lines(run().output), 1) << run().output;
  fs::remove(out() / "manifest.json");
  const Result noted = run();
  EXPECT_EQ(noted.code, 0);
  EXPECT_TRUE(has(noted.output, "note: " + out().string() + " has no manifest.json")) << noted.output;
  EXPECT_EQ(lines(noted.output), 2) << noted.output;
}

}  // namespace
