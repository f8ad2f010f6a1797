// `attend` as its users meet it: what it prints, where, and with which exit code.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <utility>

#include "attend/base/real.h"
#include "attend/kernels/isa.h"
#include "tests/support/command.h"

namespace {

using attend::test::attend_with;
using attend::test::has;
using attend::test::lines;
using attend::test::Result;

TEST(Cli, AloneItListsTheCommandsWithExamples) {
  const Result result = attend_with("");
  EXPECT_EQ(result.code, 0);
  EXPECT_TRUE(has(result.output, "attend demo")) << result.output;
  EXPECT_TRUE(has(result.output, "attend --version")) << result.output;
}

TEST(Cli, HelpIsTheSameList) {
  const Result alone = attend_with("");
  for (const char* flag : {"--help", "-h", "help"}) {
    const Result result = attend_with(flag);
    EXPECT_EQ(result.code, 0) << flag;
    EXPECT_EQ(result.output, alone.output) << flag;
  }
}

TEST(Cli, VersionNamesTypeInstructionSetAndProcessor) {
  const Result result = attend_with("--version");
  EXPECT_EQ(result.code, 0);
  EXPECT_TRUE(result.output.starts_with("attend ")) << result.output;
  EXPECT_TRUE(has(result.output, "float" + std::to_string(8 * sizeof(attend::real)))) << result.output;
  EXPECT_TRUE(has(result.output, attend::kernels::instruction_set())) << result.output;
  EXPECT_TRUE(has(result.output, attend::kernels::processor())) << result.output;
}

TEST(Cli, VersionHasAShortFlag) {
  const Result result = attend_with("-V");
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.output, attend_with("--version").output);
}

TEST(Cli, EnvironmentCapsTheInstructionSet) {
  for (const std::string& name : attend::kernels::instruction_sets()) {
    const Result result = attend_with("--version", "ATTEND_ISA=" + name);
    EXPECT_EQ(result.code, 0);
    EXPECT_TRUE(has(result.output, "instruction set  " + name + " ")) << result.output;
  }
}

TEST(Cli, UnknownInstructionSetIsRefusedWithTheValidOnes) {
  const Result result = attend_with("--version 2>&1", "ATTEND_ISA=mmx");
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(lines(result.output), 1);
  EXPECT_TRUE(result.output.starts_with("attend: ATTEND_ISA")) << result.output;
  EXPECT_TRUE(has(result.output, "'mmx'")) << result.output;
  for (const std::string& name : attend::kernels::instruction_sets()) EXPECT_TRUE(has(result.output, name)) << name;
}

TEST(Cli, UnknownCommandIsOneLineWithTheNearestName) {
  const bool bench = has(attend_with("").output, "attend bench");  // a build may leave it out
  for (const auto& [typed, nearest] : {std::pair("dmeo", "demo"),
                                       {"Demo", "demo"},
                                       {"dem", "demo"},
                                       {"demos", "demo"},
                                       {"bnech", "bench"},
                                       {"benches", "bench"}}) {
    if (!bench && std::string_view(nearest) == "bench") continue;
    const Result result = attend_with(std::string(typed) + " 2>&1");
    EXPECT_EQ(result.code, 2);
    EXPECT_EQ(lines(result.output), 1);
    EXPECT_TRUE(has(result.output, "\"" + std::string(typed) + "\"")) << result.output;
    EXPECT_TRUE(has(result.output, "\"" + std::string(nearest) + "\"")) << result.output;
  }
  EXPECT_EQ(attend_with("dmeo 2>/dev/null").output, "") << "errors belong to standard error";
}

TEST(Cli, UnknownFlagsAreRefused) {
  EXPECT_EQ(attend_with("--verison 2>/dev/null").code, 2);
  EXPECT_EQ(attend_with("'' 2>/dev/null").code, 2);
}

TEST(Cli, CommandsExplainThemselvesAndRefuseUnknownFlags) {
  const Result help = attend_with("demo --help");
  EXPECT_EQ(help.code, 0);
  EXPECT_TRUE(has(help.output, "--help")) << help.output;
  EXPECT_EQ(attend_with("demo --no-such-flag 2>/dev/null").code, 2);
}

TEST(Cli, AFolderThatIsNoModelWasAskedForWrongly) {
  for (const char* command : {"run nowhere", "run --beam 2 nowhere", "eval nowhere", "eval --threads 1 nowhere",
                              "explain nowhere text", "serve nowhere"}) {
    const Result result = attend_with(std::string(command) + " 2>&1 </dev/null");
    EXPECT_EQ(result.code, 2) << command;
    EXPECT_TRUE(has(result.output, "nowhere: not a model folder, as there is no such folder")) << result.output;
    EXPECT_EQ(lines(result.output), 1) << result.output;
  }
  EXPECT_EQ(attend_with("run . 2>&1 </dev/null").code, 2) << "a folder, but not of a model";
}

TEST(Cli, StartsWithoutWhatFewCommandsNeed) {
  // What ld.so says that it loads.
  const Result loaded = attend_with("", "LD_TRACE_LOADED_OBJECTS=1");
  EXPECT_TRUE(has(loaded.output, "libdnnl")) << loaded.output;
  for (const char* library : {"librsvg", "libcairo", "libpango", "libglib"}) {
    EXPECT_FALSE(has(loaded.output, library)) << "draws PNG, and is loaded when one is asked for: " << loaded.output;
  }
}

#if !defined(__SANITIZE_ADDRESS__)  // whose shadow memory is most of the pages
TEST(Cli, StartsWithoutMuchWork) {
  // Pages touched, by the shell too: 690 of 4 KiB on x86-64 with Debian 12. They are the same on a busy machine; `attend bench`
  // has a row for the time.
  const auto touched = [] {
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    return usage.ru_minflt;
  };
  const auto before = touched();
  ASSERT_EQ(attend_with("--version").code, 0);
  EXPECT_LT((touched() - before) * sysconf(_SC_PAGESIZE), 6 << 20);
}
#endif

TEST(Cli, WhatTheFileSystemRefusesIsToldInItsOwnWordsAlone) {
  const std::string name(300, 'a');
  const Result result = attend_with("train reverse --out " + name + " 2>&1");
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(result.output.starts_with("attend: " + name)) << result.output;
  EXPECT_TRUE(result.output.ends_with(": File name too long\n")) << result.output;
}

}  // namespace
