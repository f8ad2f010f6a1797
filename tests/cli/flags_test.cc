#include "cli/flags.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "attend/decode/search.h"
#include "attend/models/zoo.h"
#include "cli/terminal.h"
#include "tests/support/command.h"

namespace attend::cli {
namespace {

using test::has;

struct Options {
  int64_t steps = 10;
  double learning_rate = 0.5;
  bool tied = false;
  std::string name = "x";
  std::vector<std::string> data;
  template <class Visit>
  void fields(Visit&& visit) {
    visit("steps", steps, "how many");
    visit("learning_rate", learning_rate, "how far");
    visit("tied", tied, "one table");
    visit("name", name, "of the run");
    visit("data", data, "files that are read one after the other, as long as there are some, and then again");
  }
};

struct Outcome {
  std::optional<int> code;
  std::string output, errors;
};

Outcome parse(Flags& flags, std::vector<std::string> words) {
  words.insert(words.begin(), "train");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Outcome run{.code = flags.parse(static_cast<int>(argv.size()), argv.data())};
  run.output = testing::internal::GetCapturedStdout();
  run.errors = testing::internal::GetCapturedStderr();
  return run;
}

Options parsed(const std::vector<std::string>& words) {
  Options options;
  Flags flags("train", "trains");
  flags.options("run", options);
  const Outcome run = parse(flags, words);
  EXPECT_FALSE(run.code.has_value()) << run.errors;
  return options;
}

std::string error_of(const std::vector<std::string>& words) {
  Options options;
  Flags flags("train", "trains");
  flags.options("run", options).options("model", models::model_row("recurrent").options({}, "model."));
  const Outcome run = parse(flags, words);
  EXPECT_EQ(run.code, 2);
  EXPECT_EQ(run.output, "");
  return run.errors;
}

TEST(Flags, ValuesComeBehindASpaceOrAnEqualSign) {
  EXPECT_EQ(parsed({"--steps", "3"}).steps, 3);
  EXPECT_EQ(parsed({"--steps=4"}).steps, 4);
  EXPECT_EQ(parsed({"--steps", "-4"}).steps, -4);
  EXPECT_EQ(parsed({"--learning-rate", "-.5"}).learning_rate, -0.5);
  EXPECT_EQ(parsed({"--learning_rate=1e-3"}).learning_rate, 1e-3);
  EXPECT_EQ(parsed({"--name", "-"}).name, "-");
  EXPECT_EQ(parsed({"--name="}).name, "");
  EXPECT_EQ(parsed({"--name=--a=b"}).name, "--a=b");
  EXPECT_EQ(parsed({"--steps", "3", "--steps", "5"}).steps, 5);
}

TEST(Flags, TrueNeedsNoValue) {
  EXPECT_TRUE(parsed({"--tied"}).tied);
  EXPECT_TRUE(parsed({"--tied", "true"}).tied);
  EXPECT_FALSE(parsed({"--tied", "--tied", "false"}).tied);
  EXPECT_FALSE(parsed({"--tied=false"}).tied);
  const Options both = parsed({"--tied", "--steps", "3"});
  EXPECT_TRUE(both.tied);
  EXPECT_EQ(both.steps, 3);
}

TEST(Flags, ListsAreRepeated) {
  EXPECT_EQ(parsed({"--data", "a", "--steps", "3", "--data=b c"}).data, (std::vector<std::string>{"a", "b c"}));
}

TEST(Flags, ListsTakeTheWordsBehindThem) {
  Options options;
  std::string task;
  Flags flags("train", "trains");
  flags.argument("TASK", task, "what to learn").options("run", options);
  EXPECT_FALSE(parse(flags, {"answer", "--data", "a", "b", "c", "--steps", "3", "--data", "d"}).code.has_value());
  EXPECT_EQ(task, "answer");
  EXPECT_EQ(options.data, (std::vector<std::string>{"a", "b", "c", "d"}));

  Options others;
  Flags first("train", "trains");
  first.argument("TASK", task, "what to learn").options("run", others);
  EXPECT_FALSE(parse(first, {"--data", "a", "translate", "b"}).code.has_value());
  EXPECT_EQ(task, "translate") << "the task is still to come";
  EXPECT_EQ(others.data, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(parse(first, {"tag", "--steps", "3", "b"}).code, 2) << "one number is one word";
}

TEST(Flags, WhatHasNoFlagIsAnArgument) {
  Options options;
  std::string recipe, folder = "here";
  std::vector<std::string> words;
  Flags flags("train", "trains");
  flags.argument("RECIPE", recipe, "file").argument("DIR", folder, "folder", false).arguments("WORD", words, "more");
  flags.options("run", options);
  EXPECT_FALSE(parse(flags, {"a.yml", "--tied"}).code);
  EXPECT_EQ(recipe, "a.yml");
  EXPECT_EQ(folder, "here");
  EXPECT_FALSE(parse(flags, {"--tied", "a.yml", "there", "--steps", "2", "-5", "-", "--", "--steps", "-x"}).code);
  EXPECT_EQ(folder, "there");
  EXPECT_EQ(words, (std::vector<std::string>{"-5", "-", "--steps", "-x"}));
  EXPECT_EQ(options.steps, 2);
  EXPECT_EQ(parse(flags, {}).errors, "attend train: expected RECIPE (file) (see: attend train --help)\n");
}

TEST(Flags, MistakesAreOneLineWithTheNearestName) {
  const std::string see = " (see: attend train --help)\n";
  EXPECT_EQ(error_of({"--hiden", "3"}),
            "attend train: there is no option --hiden; the nearest is --model.hidden" + see);
  EXPECT_EQ(error_of({"--model.hiden=3"}),
            "attend train: there is no option --model.hiden; the nearest is --model.hidden" + see);
  EXPECT_EQ(error_of({"--lerning-rate", "3"}),
            "attend train: there is no option --lerning-rate; the nearest is --learning-rate" + see);
  EXPECT_EQ(error_of({"-steps", "3"}), "attend train: there is no option -steps; the nearest is --steps" + see);
  EXPECT_EQ(error_of({"--hidden", "3"}),
            "attend train: there is no option --hidden; the nearest is --model.hidden" + see);
  EXPECT_EQ(error_of({"--steps", "abc"}), "attend train: --steps: expected a whole number, got \"abc\"" + see);
  EXPECT_EQ(error_of({"--model.hidden", "x"}),
            "attend train: --model.hidden: expected a whole number, got \"x\"" + see);
  EXPECT_EQ(error_of({"--tied=yes"}), "attend train: --tied: expected true or false, got \"yes\"" + see);
  EXPECT_EQ(error_of({"--steps"}), "attend train: --steps: expected a value, got none" + see);
  EXPECT_EQ(error_of({"--steps", "--tied"}), "attend train: --steps: expected a value, got none" + see);
  EXPECT_EQ(error_of({"word"}), "attend train: expected nothing more, got \"word\"" + see);
}

TEST(Flags, WhatIsOnlyCollectedKeepsItsPlace) {
  Options options;
  Flags flags("train", "trains");
  flags.options("run", options).options("model", models::model_row("recurrent").options({}, "model."));
  ASSERT_FALSE(parse(flags, {"--model.hidden", "7", "--steps", "3"}).code);
  ASSERT_EQ(flags.settings().size(), 1u);
  EXPECT_EQ(flags.settings()[0].name, "model.hidden");
  EXPECT_EQ(flags.settings()[0].value, "7");
  EXPECT_EQ(flags.settings()[0].where, "--model.hidden");
  EXPECT_EQ(options.steps, 3);
  EXPECT_TRUE(flags.given("steps"));
  EXPECT_TRUE(flags.given("model.hidden"));
  EXPECT_FALSE(flags.given("tied"));
}

TEST(Flags, OneFlagCanBeSeenBeforeTheOthersAreKnown) {
  const auto peeked = [](std::vector<std::string> words) {
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    return peek_flag(static_cast<int>(argv.size()), argv.data(), "model.name");
  };
  EXPECT_EQ(peeked({"train", "x.yml", "--other", "1", "--model.name", "gru"}), "gru");
  EXPECT_EQ(peeked({"train", "--model.name=gru", "--model.name=lstm"}), "lstm");
  EXPECT_EQ(peeked({"train", "--model.name"}), std::nullopt);
  EXPECT_EQ(peeked({"train", "--", "--model.name", "gru"}), std::nullopt);
}

TEST(PeekFlag, ASwitchNeedsNoValue) {
  const auto peeked = [](std::vector<std::string> words) {
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    return peek_switch(static_cast<int>(argv.size()), argv.data(), "resume");
  };
  EXPECT_TRUE(peeked({"train", "--resume"}));
  EXPECT_TRUE(peeked({"train", "--resume", "--out", "x"}));
  EXPECT_TRUE(peeked({"train", "--resume=true"}));
  EXPECT_TRUE(peeked({"train", "--resume", "true"}));
  EXPECT_FALSE(peeked({"train", "--resume", "false"}));
  EXPECT_FALSE(peeked({"train", "--resume=false"}));
  EXPECT_FALSE(peeked({"train", "--out", "resume"}));
  EXPECT_FALSE(peeked({"train", "--", "--resume"}));
}

TEST(Flags, HelpListsEveryOptionWithinTheWidth) {
  decode::SearchOptions search;
  Options options;
  std::string folder;
  Flags flags("run", "answers one line with one line");
  flags.argument("DIR", folder, "folder of the model").options("search", search).options("run", options);
  const Outcome run = parse(flags, {"--beam", "nonsense", "-h"});
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.output, flags.help(100)) << "no terminal";
  for (const char* part : {"  attend run DIR [options]\n", "search:\n", "  --length-penalty X", "[0.5]", "[true]",
                           "(one or more)", "  --sample  ", "  --help"}) {
    EXPECT_NE(run.output.find(part), std::string::npos) << part << run.output;
  }
  for (const size_t width : {60u, 80u, 100u}) {
    const std::string text = flags.help(width);
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = text.find('\n', begin);
      EXPECT_LE(data::display_width(text.substr(begin, end - begin)), width) << text.substr(begin, end - begin);
      begin = end + 1;
    }
  }
}

TEST(Flags, TheSameNameTwiceIsAMistakeOfTheProgram) {
  Options options, others;
  Flags flags("run", "");
  flags.options("one", options);
  EXPECT_THROW(flags.options("two", others), Error);
}

TEST(Terminal, TextIsCutByLettersAndWrappedAtSpaces) {
  EXPECT_EQ(data::display_width("घर é"), 4u);
  EXPECT_EQ(cut("猫猫猫", 5), "猫猫…");
  EXPECT_EQ(cut("猫猫猫", 4), "猫…") << "a wide sign does not go into half of its room";
  EXPECT_EQ(cut("m̂m̂m̂m̂", 3), "m̂m̂…");
  EXPECT_EQ(wrap("猫猫 犬", 5), (std::vector<std::string>{"猫猫", "犬"}));
  EXPECT_EQ(cut("abcdef", 6), "abcdef");
  EXPECT_EQ(cut("abcdef", 4), "abc…");
  EXPECT_EQ(cut("ééééé", 3), "éé…");
  EXPECT_EQ(cut("abc", 0), "");
  EXPECT_EQ(wrap("aa bb cc", 5), (std::vector<std::string>{"aa bb", "cc"}));
  EXPECT_EQ(wrap("aaaaaaaa b", 5), (std::vector<std::string>{"aaaaaaaa", "b"}));
  EXPECT_EQ(wrap("", 5), std::vector<std::string>{""});
}

TEST(Flags, DefaultsThatAreNotKnownYetAreNotShown) {
  Options options;
  const std::string shown = Flags("run", "x").options("search", options).help(100);
  const std::string whose = Flags("run", "x").options("search", options).defaults_are("the model's").help(100);
  EXPECT_TRUE(has(shown, "search:\n")) << shown;
  EXPECT_TRUE(has(shown, "[")) << shown;
  EXPECT_TRUE(has(whose, "search (defaults: the model's):\n")) << whose;
  EXPECT_EQ(whose.rfind(" ["), whose.find(" [options]")) << "no value: " << whose;
}

TEST(Flags, WhoKnowsMoreOfAFlagThatThereIsNotMaySayIt) {
  Options options;
  Flags flags("train", "x");
  flags.options("", options).on_unknown([](std::string_view name) {
    return name == "model.score" ? std::string("the network has none") : std::string();
  });
  EXPECT_EQ(parse(flags, {"--model.score", "3"}).errors,
            "attend train: the network has none (see: attend train --help)\n");
  EXPECT_TRUE(has(parse(flags, {"--other", "3"}).errors, "there is no option --other"));
}

}  // namespace
}  // namespace attend::cli
