// A task that a program adds (examples/task) is served like any other: described, answered, explained.
#include <gtest/gtest.h>

#include <string>

#include "examples/task/initials.h"
#include "tests/serve/served.h"

namespace attend::test {
namespace {

Served& served_task() {
  static const bool added = (initials::add(), true);
  (void)added;
  static Served one({}, [](const TestFolder& folder) {
    save_untrained(folder.path() / "letters", {{"task", "initials", ""}},
                   text_corpus("old cats sing in the river", "o c s i t r"));
    return std::vector{(folder.path() / "letters").string()};
  });
  return one;
}

TEST(AddedTask, IsDescribed) {
  const json model = body_of(served_task().get("/v1/models"))["models"].at(0);
  EXPECT_EQ(model["task"], "initials");
  EXPECT_EQ(model["reads"], "text");
  EXPECT_EQ(model["answers"], "words");
  EXPECT_EQ(model["attends"], true);
  EXPECT_GE(model["methods"].size(), 3u) << model;
}

TEST(AddedTask, IsAnsweredAsItsOutputWantsIt) {
  const json said = body_of(served_task().post("/v1/run", R"({"texts": ["old cats sing", "the river"]})"));
  ASSERT_EQ(said["answers"].size(), 2u) << said;
  EXPECT_EQ(said["answers"][0][0]["text"].get<std::string>().size(), 5u) << "three letters, and blanks between them";
  EXPECT_EQ(said["answers"][1][0]["text"].get<std::string>().size(), 3u) << said;
}

TEST(AddedTask, IsExplained) {
  const json trace = body_of(served_task().post("/v1/explain", R"({"text": "old cats sing"})"));
  EXPECT_EQ(trace["target"]["words"].size(), 3u) << trace;
  EXPECT_EQ(trace["maps"].at(0)["method"], "attention");
}

}  // namespace
}  // namespace attend::test
