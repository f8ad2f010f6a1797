// Recipes that extend others: order, places of settings, what is refused.
#include "attend/base/recipe_chain.h"

#include <gtest/gtest.h>

#include "attend/base/error.h"
#include "tests/support/folder.h"
#include "tests/support/message.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

class RecipeChain : public testing::Test {
 protected:
  /// "name=value@place" of every setting, the files apart; places without the test's folder.
  std::vector<std::vector<std::string>> chain(const std::string& name, const FindRecipe& named = {}) const {
    std::vector<std::vector<std::string>> all;
    for (const SettingList& layer : read_recipe_chain(folder_.path() / name, named)) {
      all.emplace_back();
      for (const Setting& s : layer) {
        all.back().push_back(s.name + "=" + s.value + "@" + s.where.substr(folder_.path().string().size() + 1));
      }
    }
    return all;
  }
  std::string refusal(const std::string& name) const {
    std::string text = test::message_of([&] { read_recipe_chain(folder_.path() / name); });
    const std::string folder = folder_.path().string() + "/";
    for (size_t at; (at = text.find(folder)) != text.npos;) text.erase(at, folder.size());
    return text;
  }

  test::TestFolder folder_;
};

using Layers = std::vector<std::vector<std::string>>;

TEST_F(RecipeChain, TheOneThatExtendsNothingComesFirst) {
  folder_.file("base.yml", "a: 1\nb: 2\n");
  folder_.file("middle.yml", "# comment\nextends: base.yml\nb: 3\n");
  folder_.file("last.yml", "c: 4\nextends: middle\n");
  EXPECT_EQ(chain("base.yml"), (Layers{{"a=1@base.yml:1", "b=2@base.yml:2"}}));
  EXPECT_EQ(chain("last.yml"),
            (Layers{{"a=1@base.yml:1", "b=2@base.yml:2"}, {"b=3@middle.yml:3"}, {"c=4@last.yml:1"}}));
}

TEST_F(RecipeChain, FilesAreRelativeToTheRecipeThatNamesThem) {
  fs::create_directories(folder_.path() / "below");
  folder_.file("base.yml", "a: 1\n");
  folder_.file("below/base.yml", "a: 2\n");
  folder_.file("below/up.yml", "extends: ../base.yml\n");
  folder_.file("below/beside.yml", "extends: base\n");
  folder_.file("whole.yml", "extends: " + (folder_.path() / "base.yml").string() + "\n");
  EXPECT_EQ(chain("below/up.yml"), (Layers{{"a=1@below/../base.yml:1"}, {}}));
  EXPECT_EQ(chain("below/beside.yml"), (Layers{{"a=2@below/base.yml:1"}, {}}));
  EXPECT_EQ(chain("whole.yml"), (Layers{{"a=1@base.yml:1"}, {}}));
}

TEST_F(RecipeChain, ANameThatIsNoFileBesideItIsLookedFor) {
  folder_.file("far.yml", "a: 1\n");
  folder_.file("x.yml", "extends: known\n");
  const FindRecipe named = [&](std::string_view name) {
    return name == "known" ? std::optional(folder_.path() / "far.yml") : std::nullopt;
  };
  EXPECT_EQ(chain("x.yml", named), (Layers{{"a=1@far.yml:1"}, {}}));
}

TEST_F(RecipeChain, CyclesAreRefusedByName) {
  folder_.file("a.yml", "extends: b.yml\n");
  folder_.file("b.yml", "\nextends: c\n");
  folder_.file("c.yml", "extends: ./a.yml\n");
  folder_.file("self.yml", "extends: self.yml\n");
  EXPECT_EQ(refusal("a.yml"),
            "c.yml:1: extends: a recipe cannot extend itself: a.yml → b.yml → c.yml → ./a.yml");
  EXPECT_EQ(refusal("self.yml"), "self.yml:1: extends: a recipe cannot extend itself: self.yml → self.yml");
}

TEST_F(RecipeChain, WhatCannotBeExtendedIsToldWithItsLine) {
  folder_.file("missing.yml", "a: 1\nextends: none.yml\n");
  folder_.file("unknown.yml", "extends: nobody\n");
  folder_.file("list.yml", "extends: [a.yml, b.yml]\n");
  folder_.file("empty.yml", "extends: \"\"\n");
  folder_.file("broken.yml", "extends: bad.yml\n");
  folder_.file("bad.yml", "a: 1\na: 2\n");
  EXPECT_EQ(refusal("missing.yml"), "missing.yml:2: extends: there is no file none.yml");
  EXPECT_EQ(refusal("unknown.yml"), "unknown.yml:1: extends: expected a recipe, got \"nobody\": there is no file "
                                    "nobody.yml and no recipe of that name");
  EXPECT_EQ(refusal("list.yml"), "list.yml:1: extends: expected one value, got a list");
  EXPECT_EQ(refusal("empty.yml"), "empty.yml:1: extends: expected a recipe, got nothing");
  EXPECT_EQ(refusal("broken.yml"), "bad.yml:2: a: given twice (first in line 1)");
}

}  // namespace
}  // namespace attend
