#include "attend/base/bounds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "attend/base/memory.h"
#include "attend/base/memory_at_hand.h"
#include "attend/base/new_folder.h"
#include "attend/base/options.h"
#include "tests/support/folder.h"
#include "tests/support/message.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using test::message_of;

struct Bounded {
  int64_t beam = 4;
  double rate = 0.1;
  std::string score = "dot";
  std::vector<std::string> files;
  std::string picture;
  bool force = false;
  template <class Visit>
  void fields(Visit&& visit) {
    visit("beam", beam, "hypotheses", bounds::within(1, 10'000));
    visit("rate", rate, "share", bounds::share());
    visit("score", score, "how", bounds::one_of({"dot", "additive"}));
    visit("files", files, "to read", bounds::files_to_read());
    visit("picture", picture, "to write", bounds::file_to_write());
    visit("force", force, "afresh", bounds::destructive());
  }
};

TEST(Bounds, SayWhatIsExpectedInWords) {
  EXPECT_EQ(objection(int64_t{0}, bounds::at_least(1)), "expected at least 1, got 0");
  EXPECT_EQ(objection(int64_t{100'000}, bounds::within(1, 10'000)), "expected 1 to 10000, got 100000");
  EXPECT_EQ(objection(1.0, bounds::share()), "expected at least 0 and less than 1, got 1");
  EXPECT_EQ(objection(0.0, bounds::above(0)), "expected more than 0, got 0");
  EXPECT_EQ(objection(2.0, bounds::above_up_to(0, 1)), "expected more than 0 and at most 1, got 2");
  EXPECT_EQ(objection(std::nan(""), {}), "expected a finite number, got nan");
  EXPECT_EQ(objection(INFINITY, bounds::at_least(0)), "expected a finite number, got inf");
  EXPECT_EQ(objection(std::string("dott"), bounds::one_of({"dot", "additive"})),
            "expected one of dot, additive, got \"dott\"; the nearest is \"dot\"");
  EXPECT_EQ(objection(std::string("8,a"), bounds::widths()),
            "expected whole numbers of 1 to 65536 with commas between them, such as 32,64, got \"8,a\"");
  for (const char* widths : {"8", "32,64,65536"}) EXPECT_EQ(objection(std::string(widths), bounds::widths()), "");
  for (const double inside : {0.0, 0.5}) EXPECT_EQ(objection(inside, bounds::share()), "");
  EXPECT_EQ(objection(int64_t{10'000}, bounds::within(1, 10'000)), "");
  EXPECT_EQ(objection(std::string("anything"), {}), "");
}

TEST(Bounds, AreCheckedWhereverAnOptionIsSet) {
  const auto set = [](const Setting& setting) {
    return message_of([&] {
      Bounded options;
      set_options(options, {setting});
    });
  };
  EXPECT_EQ(set({"beam", "0", "x.yml:3"}), "x.yml:3: beam: expected 1 to 10000, got 0");
  EXPECT_EQ(set({"rate", "1", "--rate"}), "--rate: expected at least 0 and less than 1, got 1");
  EXPECT_EQ(set({"rate", "nan", "--rate"}), "--rate: expected a finite number, got nan");
  EXPECT_EQ(set({"score", "dit", "--score"}),
            "--score: expected one of dot, additive, got \"dit\"; the nearest is \"dot\"");
  EXPECT_EQ(set({"beam", "7", "--beam"}), "");
  const OptionInfo beam = describe_options(Bounded{})[0];
  EXPECT_EQ(message_of([&] { check_value(beam, {"beam", "-3", "--beam"}); }), "--beam: expected 1 to 10000, got -3");
  EXPECT_EQ(message_of([] { check_bounds(Bounded{.rate = 2}, "model."); }),
            "model.rate: expected at least 0 and less than 1, got 2");
  Bounded by_name;
  EXPECT_THROW(set_options("model", by_name, {{"beam", "0"}}), OptionError);
}

TEST(Bounds, AnOptionIsCalledByWhereItWasGiven) {
  const SettingList given{{"search.n_best", "9", "x.yml:4"}, {"beam", "2", "--beam"}};
  const auto said = [&](const std::string& prefix, const char* option) {
    return message_of([&] { with_places(given, prefix, [&] { fail_option(option, "expected less"); }); });
  };
  EXPECT_EQ(said("search.", "n_best"), "x.yml:4: search.n_best: expected less");
  EXPECT_EQ(said("", "beam"), "--beam: expected less");
  EXPECT_EQ(said("search.", "top_k"), "search.top_k: expected less") << "it was not given";
}

TEST(Bounds, TheNearestNameIsNearAndNeverOneThatDestroys) {
  const std::vector<OptionInfo> options{{"force", "", "", "", bounds::destructive()}, {"source", "", "", ""}};
  const OptionInfo* meant = nearest_option(options, "sorce");
  ASSERT_NE(meant, nullptr);
  EXPECT_EQ(meant->name, "source");
  EXPECT_EQ(nearest_option(options, "forc"), nullptr);
  EXPECT_EQ(nearest_option(options, "elephants"), nullptr);
  const std::vector<std::string_view> names{"sgd", "adam"};
  EXPECT_EQ(nearest_name(names, "adamm"), "adam");
  EXPECT_EQ(nearest_name(names, "rmsprop"), "");
}

TEST(Bounds, FilesAreLookedForBeforeTheyAreRead) {
  const test::TestFolder folder;
  const std::string there = folder.file("a.txt", "a").string(), missing = (folder.path() / "b.txt").string();
  const auto said = [&](const std::string& name, const std::string& value) {
    std::vector<OptionInfo> options = describe_options(Bounded{});
    for (OptionInfo& option : options) {
      if (option.name == name) option.value = value;
    }
    return message_of([&] { require_files(options, {{name, value, "--" + name}}); });
  };
  EXPECT_EQ(said("files", there + "\n" + there + "\n-"), "");
  EXPECT_EQ(said("files", there + "\n" + missing), "--files: there is no file " + quoted(missing));
  EXPECT_EQ(said("picture", missing), "") << "it is written there";
  EXPECT_EQ(said("picture", missing + "/x.svg"), "--picture: there is no folder " + quoted(missing) + " to write into");
}

TEST(NewFolder, DisappearsUnlessItIsKept) {
  const test::TestFolder home;
  const fs::path deep = home.path() / "a" / "b" / "model";
  {
    const NewFolder made(deep);
    EXPECT_TRUE(fs::is_directory(deep));
  }
  EXPECT_FALSE(fs::exists(home.path() / "a"));
  {
    NewFolder made(deep / "");
    made.keep();
  }
  EXPECT_TRUE(fs::is_directory(deep));
  { const NewFolder again(deep); }
  EXPECT_TRUE(fs::is_directory(deep)) << "it was there before";
  {
    const NewFolder other(home.path() / "runs" / "one");
    fs::create_directories(home.path() / "runs" / "two");  // by someone else
  }
  EXPECT_FALSE(fs::exists(home.path() / "runs" / "one"));
  EXPECT_TRUE(fs::exists(home.path() / "runs" / "two"));
}

TEST(MemoryAtHand, IsSomeAndIsSaidInWords) {
  EXPECT_GT(memory::at_hand(), size_t{1} << 20);
  EXPECT_THROW(memory::Handle(2 * std::min(memory::at_hand(), size_t{1} << 50)), Error);
  EXPECT_EQ(memory::in_words(size_t{3} << 20), "3 MiB");
  EXPECT_EQ(memory::in_words(size_t{5} << 29), "2.5 GiB");
}

}  // namespace
}  // namespace attend
