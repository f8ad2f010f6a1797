// `attend` under mpirun: what is learned, answered and scored does not depend on how many ranks there are, and the loss of one ends
// the run.
#include "tests/support/mpirun.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>

#include "tests/support/changes.h"
#include "tests/support/small_run.h"

namespace {

namespace fs = std::filesystem;
using namespace attend::test;

class MpirunSlow : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_mpirun()) GTEST_SKIP() << "there is no mpirun, or attend was built without Open MPI";
  }
  fs::path out(const std::string& name) const { return folder_.path() / name; }
  std::string begin(const std::string& name, const std::string& more = "") const {
    return "train " + in_quotes(recipe_) + " --out " + in_quotes(out(name)) + " " + more + " 2>&1";
  }
  std::string go_on(const std::string& name, const std::string& more = "") const {
    return "train --resume --out " + in_quotes(out(name)) + " " + more + " 2>&1";
  }
  void expect_done(const Result& result) const { ASSERT_EQ(result.code, 0) << result.output; }

  /// What a run reported: everything but times, and the sample that it showed, which begins anew in a resumed run.
  std::string reports(const std::string& name) const {
    std::istringstream in(folder_.bytes(name + "/log.jsonl"));
    std::string all;
    for (std::string line; std::getline(in, line);) {
      auto entry = nlohmann::json::parse(line);
      for (const char* name : {"seconds", "time", "source", "output", "reference"}) entry.erase(name);
      all += entry.dump() + "\n";
    }
    return all;
  }
  void expect_same(const std::string& one, const std::string& other) const {
    EXPECT_EQ(reports(one), reports(other));
    EXPECT_EQ(folder_.bytes(one + "/weights.safetensors"), folder_.bytes(other + "/weights.safetensors"));
    EXPECT_EQ(folder_.bytes(one + "/valid.jsonl"), folder_.bytes(other + "/valid.jsonl"));
    EXPECT_FALSE(folder_.bytes(one + "/weights.safetensors").empty());
  }

  TestFolder folder_;
  const fs::path recipe_ = folder_.file("r.yml", small_recipe(folder_.file("pairs.tsv", small_corpus()), 40));
};

TEST_F(MpirunSlow, AnyNumberOfRanksLearnsTheSame) {
  expect_done(attend_with(begin("alone", "--train.parts 8 --train.average 2")));
  for (const int ranks : {2, 3, 4, 8}) {
    const std::string name = "ranks" + std::to_string(ranks);
    expect_done(mpirun(ranks, begin(name, "--train.parts 8 --train.average 2")));
    expect_same(name, "alone");
  }
  EXPECT_FALSE(fs::exists(out("ranks2") / "lock"));
}

TEST_F(MpirunSlow, PartsAreAsManyAsTheFirstRanks) {
  expect_done(mpirun(2, begin("two")));
  expect_done(attend_with(begin("alone", "--train.parts 2")));
  expect_same("two", "alone");
  const Result more = mpirun(3, go_on("two", "--train.steps 60"));
  EXPECT_EQ(more.code, 2) << more.output;
  EXPECT_TRUE(has(more.output, "parts: expected at least one for each of the 3 ranks, got 2")) << more.output;
}

TEST_F(MpirunSlow, AnotherNumberOfRanksResumes) {
  const std::string even = "--train.parts 4 --train.schedule constant ";
  expect_done(attend_with(begin("whole", even + "--train.steps 60")));
  expect_done(mpirun(2, begin("pieces", even + "--train.steps 20")));
  expect_done(mpirun(4, go_on("pieces", "--train.steps 40")));
  expect_done(attend_with(go_on("pieces", "--train.steps 60")));
  EXPECT_EQ(folder_.bytes("pieces/weights.safetensors"), folder_.bytes("whole/weights.safetensors"));
  EXPECT_EQ(reports("pieces"), reports("whole"));
}

TEST_F(MpirunSlow, AnswersAndScoresAreThoseOfOneAlone) {
  expect_done(attend_with(begin("model")));
  std::string lines;
  for (int i = 0; i < 50; ++i)
    lines += i % 9 == 4 ? "a \xff b\n" : std::string("a b c d e").substr(0, 1 + i % 5 * 2) + "\n";
  const fs::path input = folder_.file("in.txt", lines);
  const std::string run = "run " + in_quotes(out("model")) + " --batch 4 --n-best 2 --beam 3 --on-error replace ";
  const auto to = [&](const std::string& name) {
    return run + "--alignments " + in_quotes(out(name + ".al")) + " --output " + in_quotes(out(name)) + " 2>&1";
  };
  const Result alone = attend_with(to("alone") + " < " + in_quotes(input));
  const Result several = mpirun(3, to("several") + " < " + in_quotes(input));
  ASSERT_EQ(alone.code, 0) << alone.output;
  ASSERT_EQ(several.code, 0) << several.output;
  EXPECT_EQ(alone.output, several.output);  // what is said of lines that cannot be answered
  EXPECT_TRUE(has(alone.output, "could not be answered") || has(alone.output, "UTF-8")) << alone.output;
  EXPECT_EQ(folder_.bytes("alone"), folder_.bytes("several"));
  EXPECT_EQ(folder_.bytes("alone.al"), folder_.bytes("several.al"));
  EXPECT_GT(folder_.bytes("alone").size(), 500u);
  const std::string eval = "eval " + in_quotes(out("model")) + " --source " +
                           in_quotes(folder_.file("s", "a b\nb c\nd\n")) + " --target " +
                           in_quotes(folder_.file("t", "B A\nC B\nD\n")) + " -q 2>/dev/null";
  const Result scores = attend_with(eval);
  EXPECT_EQ(scores.code, 0);
  EXPECT_EQ(mpirun(2, eval).output, scores.output);
}

TEST_F(MpirunSlow, ALineThatCannotBeAnsweredEndsAllAfterThoseBefore) {
  expect_done(attend_with(begin("model")));
  const fs::path input = folder_.file("in.txt", "a b\nb c\n\xff\nc d\n");
  const std::string run = "run " + in_quotes(out("model")) + " --batch 1 < " + in_quotes(input) + " 2>/dev/null";
  const Result alone = attend_with(run), several = mpirun(2, run);
  EXPECT_EQ(alone.code, 1);
  EXPECT_EQ(several.code, 1);
  EXPECT_EQ(lines(alone.output), 2);
  EXPECT_TRUE(several.output.starts_with(alone.output)) << several.output;
}

/// A command that runs beside the test, which waits for what it writes into a folder.
class Beside {
 public:
  Beside(const std::string& command, const fs::path& folder) : folder_(folder), changes_(folder) {
    thread_ = std::thread([this, command] {
      result_ = shell(command);
      std::ofstream(folder_ / "over") << result_.code;
    });
  }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;
  ~Beside() {
    if (thread_.joinable()) thread_.join();
  }
  /// Until the file has this in it, or the command has ended.
  void wait_for(const fs::path& file, const std::string& part) {
    changes_.wait_until(-1, [&] {
      std::ifstream in(file);
      const std::string text{std::istreambuf_iterator<char>(in), {}};
      return has(text, part) || fs::exists(folder_ / "over");
    });
  }
  const Result& ended() {
    thread_.join();
    return result_;
  }

 private:
  fs::path folder_;
  Changes changes_;
  Result result_;
  std::thread thread_;
};

/// The last step of which a log tells.
int64_t last_step(const std::string& log) {
  const size_t line = log.rfind("{\"step\":");
  return line == log.npos ? 0 : std::stoll(log.substr(line + 8));
}

const std::string kLong = "--train.steps 1000000 --train.schedule constant ";

class EndedSlow : public MpirunSlow {
 protected:
  /// Resumed, it is the run that was not ended.
  void expect_resumes(const std::string& name) {
    const int64_t reached = last_step(folder_.bytes(name + "/log.jsonl"));
    const std::string until = "--train.schedule constant --train.steps " + std::to_string(reached / 20 * 20 + 40);
    expect_done(attend_with(go_on(name, until)));
    expect_done(attend_with(begin("whole", until + " --train.parts 2")));
    EXPECT_EQ(folder_.bytes(name + "/weights.safetensors"), folder_.bytes("whole/weights.safetensors"));
  }
};

TEST_F(EndedSlow, ARankThatIsKilledEndsTheRunWhichResumes) {
  for (const int rank : {1, 0}) {
    const std::string name = "killed" + std::to_string(rank);
    fs::remove(folder_.path() / "over");
    Beside run("OMPI_MCA_odls_base_sigkill_timeout=5 " + mpirun_command(2, begin(name, kLong)), folder_.path());
    run.wait_for(out(name) / "log.jsonl", "valid_loss");
    const pid_t process = process_of_rank(rank, recipe_.string());
    ASSERT_GT(process, 0);
    ASSERT_EQ(::kill(process, SIGKILL), 0);
    const Result& result = run.ended();
    EXPECT_NE(result.code, 0);
    const std::string other = "attend: rank " + std::to_string(1 - rank) + ": rank " + std::to_string(rank) + " (";
    EXPECT_TRUE(has(result.output, other)) << result.output;
    EXPECT_TRUE(has(result.output, " has ended")) << result.output;
    if (rank == 1) {  // who leads says how to go on
      EXPECT_TRUE(has(result.output, "is saved. Resume with: attend train --resume --out")) << result.output;
    }
    expect_resumes(name);
    fs::remove_all(out("whole"));
  }
}

TEST_F(EndedSlow, ASignalToAllSavesAndStops) {
  const std::string command = "OMPI_MCA_odls_base_sigkill_timeout=10 " + mpirun_command(2, begin("stopped", kLong));
  Beside run(command, folder_.path());
  run.wait_for(out("stopped") / "log.jsonl", "valid_loss");
  const pid_t process = process_of_rank(1, recipe_.string());  // not the one that leads: all agree on the step
  ASSERT_GT(process, 0);
  ASSERT_EQ(::kill(process, SIGTERM), 0);
  const Result& result = run.ended();
  EXPECT_NE(result.code, 0);
  EXPECT_TRUE(has(result.output, "interrupted at step") && has(result.output, "saved. Resume with")) << result.output;
  EXPECT_FALSE(fs::exists(out("stopped") / "lock"));
  expect_resumes("stopped");
}

TEST_F(MpirunSlow, WhatIsAskedForWronglyIsSaidOnce) {
  const Result unknown = mpirun(2, "train no-such-task --out " + in_quotes(out("x")) + " 2>&1");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_EQ(count(unknown.output, "no-such-task"), 1u) << unknown.output;
  const Result help = mpirun(2, "train --help 2>&1");
  EXPECT_EQ(help.code, 0) << help.output;
  EXPECT_EQ(count(help.output, "--train.parts"), 1u);
  EXPECT_FALSE(fs::exists(out("x")));
  const Result list = mpirun(2, "list scores 2>&1");  // a command that ranks do not share
  EXPECT_EQ(list.output, attend_with("list scores 2>&1").output);
}

TEST(MpiModule, IsMissedWhereMpirunStartsAProgramWithoutIt) {
  const TestFolder folder;
  fs::copy_file(ATTEND_BINARY, folder.path() / "attend");
  const Result result = shell("OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=1 " + in_quotes(folder.path() / "attend") +
                              " train reverse 2>&1");
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.output, "rank 1: mpirun has started this as one of 2: expected libattend_mpi.so"))
      << result.output;
  EXPECT_TRUE(has(result.output, "libopenmpi-dev")) << result.output;
}

/// Two network namespaces with a cable between them, as two machines.
class Hosts {
 public:
  Hosts() {
    const std::string far = "ip -n " + b() + " ", near = "ip -n " + a() + " ";
    made_ = shell("exec 2>/dev/null; ip netns add " + a() + " && ip netns add " + b() + " && ip link add v0 netns " +
                  a() + " type veth peer name v1 netns " + b() + " && " + near + "addr add 10.77.0.1/24 dev v0 && " +
                  far + "addr add 10.77.0.2/24 dev v1 && " + near + "link set lo up && " + far + "link set lo up && " +
                  near + "link set v0 up && " + far + "link set v1 up")
                .code == 0;
  }
  Hosts(const Hosts&) = delete;
  Hosts& operator=(const Hosts&) = delete;
  ~Hosts() { shell("exec 2>/dev/null; ip netns del " + a() + "; ip netns del " + b()); }

  bool made() const { return made_; }
  std::string a() const { return name_ + "a"; }
  std::string b() const { return name_ + "b"; }
  void cut() const { shell("ip -n " + b() + " link set v1 down"); }
  void join() const { shell("ip -n " + b() + " link set v1 up"); }

 private:
  std::string name_ = "attend" + std::to_string(::getpid());
  bool made_ = false;
};

TEST_F(EndedSlow, ACutNetworkEndsTheRunWhichResumes) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make network namespaces";
  const Hosts hosts;
  if (!hosts.made())
    GTEST_SKIP() << "there are no network namespaces here (iproute2, and a kernel that lets root have them)";
  const fs::path remote =
      folder_.file("remote", "#!/bin/sh\nshift\nexec ip netns exec " + hosts.b() + " sh -c \"$*\"\n");
  fs::permissions(remote, fs::perms::owner_all);
  const fs::path machines = folder_.file("hosts", "10.77.0.1 slots=1\n10.77.0.2 slots=1\n");
  // mpirun looks after its own connections, so that it notices too.
  const std::string command = mpi_environment() +
                              "OMPI_MCA_oob_tcp_keepalive_time=1 OMPI_MCA_oob_tcp_keepalive_intvl=1 "
                              "OMPI_MCA_oob_tcp_keepalive_probes=2 OMPI_MCA_btl=self,tcp OMPI_MCA_plm_rsh_agent=" +
                              remote.string() + " ip netns exec " + hosts.a() + " mpirun --hostfile " +
                              in_quotes(machines) + " -n 2 '" ATTEND_BINARY "' " + begin("cut", kLong + "--timeout 20");
  Beside run(command, folder_.path());
  run.wait_for(out("cut") / "log.jsonl", "valid_loss");
  hosts.cut();
  const Result& result = run.ended();
  EXPECT_NE(result.code, 0);
  EXPECT_TRUE(has(result.output, "lost communication with a remote daemon") || has(result.output, "has not answered"))
      << result.output;
  expect_resumes("cut");
}

}  // namespace
