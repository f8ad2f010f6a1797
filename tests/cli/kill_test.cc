// Training that is killed at any moment: there is always a model to use, and resumed it is the run that was not killed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
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

/// Step and losses of each line of log.jsonl; the mean of the last weights may be judged once more.
std::vector<std::string> losses(const std::string& log) {
  std::vector<std::string> all;
  std::istringstream in(log);
  for (std::string line; std::getline(in, line);) {
    const auto entry = nlohmann::json::parse(line);
    std::string text = entry["step"].dump();
    for (const char* name : {"loss", "valid_loss"}) text += entry.contains(name) ? " " + entry[name].dump() : "";
    if (all.empty() || all.back() != text) all.push_back(text);
  }
  return all;
}

unsigned number_in(const char* variable, unsigned otherwise) {
  const char* text = std::getenv(variable);
  return text ? static_cast<unsigned>(std::stoul(text)) : otherwise;
}

struct Draws {
  const unsigned rounds = number_in("ATTEND_KILLS", 8), seed = number_in("ATTEND_KILL_SEED", std::random_device{}());
  const std::string again = "ATTEND_KILL_SEED=" + std::to_string(seed) + " draws the same moments";
  Draws() { std::printf("%s\n", again.c_str()); }
};

class KillSlow : public testing::Test {
 protected:
  std::vector<std::string> arguments(const std::string& name) const {
    const fs::path out = folder_.path() / name;
    if (fs::exists(out / "config.yml")) return {"train", "--resume", "--out", out.string()};
    return {"train", recipe_.string(), "--out", out.string(), "--train.save-minutes", "0", "--train.average", "3"};
  }
  void expect_usable(const std::string& name) const {
    const fs::path out = folder_.path() / name;
    if (!fs::exists(out / "config.yml")) return;
    const Result used = attend_with("run " + in_quotes(out) + " 2>/dev/null", "echo 'a b' |");
    ASSERT_EQ(used.code, 0) << used.output;
    ASSERT_EQ(lines(used.output), 1) << used.output;
  }
  /// Runs until its end, or until it is killed after so many changes to its files; how many there were. Between two changes
  /// a run only computes: a kill there is one just after the first of them.
  size_t run(const std::string& name, size_t changes) { return run(arguments(name), changes); }
  size_t run(const std::vector<std::string>& arguments, size_t changes) {
    Changes folder(folder_.path());
    Process process(arguments);
    size_t seen = 0;
    while (seen < changes) {
      const size_t more = folder.wait(process.output());
      if (more == 0) break;
      seen += more;
    }
    if (seen >= changes) process.signal(SIGKILL);
    const int code = process.wait();
    killed_ += code == 128 + SIGKILL;
    EXPECT_TRUE(code == 0 || code == 128 + SIGKILL) << code;
    return seen;
  }

  TestFolder folder_;
  fs::path recipe_ =
      folder_.file("recipe.yml", small_recipe(folder_.file("pairs.tsv", small_corpus()), 150) + "valid_sentences: 4\n");
  int killed_ = 0;
};

TEST_F(KillSlow, AtAnyMomentLeavesAModelAndTheSameRun) {
  constexpr double kMost = 1.0 / 3;  // so that most runs are killed more than once
  const auto [rounds, seed, again] = Draws();
  SCOPED_TRACE(again);
  const size_t changes = run("straight", SIZE_MAX);
  ASSERT_EQ(killed_, 0);
  const std::vector<std::string> wanted = losses(folder_.bytes("straight/log.jsonl"));
  // A run that came to its end, by itself or in the last round, is compared, and the next round begins anew.
  std::mt19937 random(seed);
  std::uniform_real_distribution share(0.0, kMost);  // of the changes of a whole run, which are not always told one by one
  int whole = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    run("killed", static_cast<size_t>(share(random) * static_cast<double>(changes)));
    ASSERT_NO_FATAL_FAILURE(expect_usable("killed")) << "round " << round;
    const bool ended = fs::exists(folder_.path() / "killed" / "result.json");
    if (!ended && round + 1 < rounds) continue;
    ASSERT_EQ(Process(arguments("killed")).wait(), 0) << "round " << round;
    if (sizeof(attend::real) == 4) {
      ASSERT_EQ(losses(folder_.bytes("killed/log.jsonl")), wanted) << "round " << round;
      ASSERT_EQ(folder_.bytes("killed/weights.safetensors"), folder_.bytes("straight/weights.safetensors"));
    }
    for (const auto& entry : fs::directory_iterator(folder_.path() / "killed")) {
      EXPECT_EQ(entry.path().string().find(".tmp-"), std::string::npos) << entry.path() << " was left behind";
    }
    fs::remove_all(folder_.path() / "killed");
    ++whole;
  }
  std::printf("%u rounds, a whole run making %zu changes; %d of them killed, %d runs came to their end\n", rounds, changes,
              killed_, whole);
  EXPECT_GT(killed_, 0);
}

/// Without what the killed run had not yet put in the place of the old model.
Snapshot without_new(const fs::path& folder) {
  Snapshot files = snapshot(folder);
  std::erase_if(files, [](const auto& file) { return file.first.starts_with(".new/"); });
  return files;
}

TEST_F(KillSlow, WhileAModelIsReplacedLeavesTheOldOneOrTheNew) {
  const auto [rounds, seed, again] = Draws();
  SCOPED_TRACE(again);
  const auto forced = [&](const std::string& name) {
    return std::vector<std::string>{"train", recipe_.string(), "--out", (folder_.path() / name).string(), "--force",
                                    "--train.steps", "60", "--train.average", "2", "--tokeniser.kind", "characters"};
  };
  run("old", SIZE_MAX);
  folder_.file("old/notes.txt", "mine");
  const Snapshot old = snapshot(folder_.path() / "old");
  const auto start = [&](const std::string& name) {
    fs::remove_all(folder_.path() / name);
    fs::copy(folder_.path() / "old", folder_.path() / name, fs::copy_options::recursive);
  };
  start("straight");
  const size_t changes = run(forced("straight"), SIZE_MAX);
  ASSERT_EQ(killed_, 0);
  std::mt19937 random(seed);
  std::uniform_real_distribution share(0.0, 1.0);
  int kept = 0, replaced = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    start("killed");
    run(forced("killed"), static_cast<size_t>(share(random) * static_cast<double>(changes)));
    ASSERT_NO_FATAL_FAILURE(expect_usable("killed")) << "round " << round;
    EXPECT_EQ(folder_.bytes("killed/notes.txt"), "mine");
    const Snapshot left = without_new(folder_.path() / "killed");
    const bool is_old = left.at("config.yml") == old.at("config.yml");
    (is_old ? kept : replaced) += 1;
    if (is_old) {
      EXPECT_TRUE(left == old) << "round " << round << ": " << names_in(left);
    }
    ASSERT_EQ(Process(is_old ? forced("killed") : arguments("killed")).wait(), 0) << "round " << round;
    if (sizeof(attend::real) == 4) {
      ASSERT_EQ(losses(folder_.bytes("killed/log.jsonl")), losses(folder_.bytes("straight/log.jsonl")));
      ASSERT_EQ(folder_.bytes("killed/weights.safetensors"), folder_.bytes("straight/weights.safetensors"));
    }
    for (const char* left_behind : {".new", ".whole", "source.words"}) {
      EXPECT_FALSE(fs::exists(folder_.path() / "killed" / left_behind)) << left_behind;
    }
  }
  std::printf("%u rounds, a whole run making %zu changes; %d of them killed: %d kept the old model, %d had the new one\n",
              rounds, changes, killed_, kept, replaced);
}

}  // namespace
