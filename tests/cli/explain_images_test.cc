// `attend explain` of a model that looks at images: in the terminal, in every kind of file, and what is refused.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "attend/data/image_file.h"
#include "attend/explain/image_trace.h"
#include "attend/explain/png.h"
#include "tests/support/command.h"
#include "tests/support/folder.h"
#include "tests/support/looks.h"
#include "tests/support/small_run.h"
#include "tests/support/untrained.h"

namespace {

namespace fs = std::filesystem;
using namespace attend;
using namespace attend::test;

/// With the weights that it begins with: what it says does not matter here.
void save_model(const fs::path& folder, const SettingList& more,
                const std::vector<std::string>& labels = {"six", "seven"}) {
  SettingList settings{{"task", "glimpse", ""}, {"size", "16", ""}, {"channels", "1", ""}};
  settings.insert(settings.end(), more.begin(), more.end());
  save_untrained(folder, settings, image_corpus(16, {}, labels));
}

class ExplainImages : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TestFolder>();
    save_model(path("glimpse"), {{"model.patch", "4", ""},
                                 {"model.glimpses", "3", ""},
                                 {"model.hidden", "8", ""},
                                 {"model.first", "centre", ""}});
    save_model(path("classifier"), {{"model.name", "image_classifier", ""}, {"model.encoder.stages", "4,8", ""}});
    data::write_png(path("digit.png"), digit_image());
    folder_->file("broken.png", "\x89PNG\r\n\x1a\nand then nothing");
  }
  static void TearDownTestSuite() { folder_.reset(); }

  static fs::path path(const std::string& name) { return folder_->path() / name; }
  static Result explain(const std::string& model, const std::string& image, const std::string& flags = "") {
    return attend_with("explain " + in_quotes(path(model)) + " " + in_quotes(path(image)) + " " + flags + " 2>&1");
  }
  static std::string answer(const std::string& model) {
    const Result run = attend_with("run " + in_quotes(path(model)) + " " + in_quotes(path("digit.png")));
    EXPECT_EQ(run.code, 0);
    return run.output;
  }

  static std::unique_ptr<TestFolder> folder_;
};
std::unique_ptr<TestFolder> ExplainImages::folder_;

TEST_F(ExplainImages, ShowsTheAnswerAndWhereItLooked) {
  const Result shown = explain("glimpse", "digit.png");
  EXPECT_EQ(shown.code, 0) << shown.output;
  const std::string said = answer("glimpse");
  EXPECT_TRUE(said == "six\n" || said == "seven\n") << said;
  EXPECT_TRUE(shown.output.starts_with(said)) << shown.output;
  EXPECT_TRUE(has(shown.output, "\n1  at (8, 8)")) << shown.output;
  EXPECT_TRUE(has(shown.output, "\n3  at (")) << shown.output;
  EXPECT_FALSE(has(shown.output, "\x1b[")) << "no colour where it is no terminal";
  EXPECT_TRUE(has(explain("glimpse", "digit.png", "--colour always").output, "\x1b[48;2;"));
}

TEST_F(ExplainImages, WritesEveryKindOfFile) {
  const bool draws = explain::can_write_png();
  for (const auto& [ending, begin] :
       {std::pair{"html", "<!DOCTYPE html>"}, std::pair{"svg", "<svg"},
        std::pair{"json", "{\"format\":\"attend-look/1\""}, std::pair{"png", "\x89PNG"}, std::pair{"gif", "GIF89a"}}) {
    const std::string name = std::string("out.") + ending;
    if (!draws && (name == "out.png" || name == "out.gif")) continue;
    const Result shown = explain("glimpse", "digit.png", "--right six --out " + in_quotes(path(name)));
    EXPECT_EQ(shown.code, 0) << shown.output;
    EXPECT_TRUE(has(shown.output, "wrote ")) << shown.output;
    EXPECT_TRUE(folder_->bytes(name).starts_with(begin)) << name;
  }
  const explain::ImageLook look = explain::parse_look(folder_->bytes("out.json"));
  EXPECT_EQ(look.name, "digit.png");
  EXPECT_EQ(look.model, "glimpse");
  EXPECT_EQ(std::get<explain::GlimpseLook>(look.seen).glances.size(), 3u);
  EXPECT_EQ(std::get<explain::GlimpseLook>(look.seen).right, "six");
}

TEST_F(ExplainImages, MethodsAndTargetsOfAClassifier) {
  const auto json = [](const std::string& flags) {
    const Result shown = explain("classifier", "digit.png", flags + " --out " + in_quotes(path("map.json")));
    EXPECT_EQ(shown.code, 0) << shown.output;
    return std::get<explain::SaliencyLook>(explain::parse_look(folder_->bytes("map.json")).seen);
  };
  EXPECT_EQ(json("").method, "gradcam");
  EXPECT_EQ(json("--method saliency --target six").answer, "six");
  EXPECT_EQ(json("--method saliency").map.dim(0), 16);
}

TEST_F(ExplainImages, WhatIsAskedWronglyIsRefused) {
  const Result method = explain("glimpse", "digit.png", "--method gradcam");
  EXPECT_EQ(method.code, 2);
  EXPECT_TRUE(has(method.output, "the network glimpse has glimpses, saliency, jacobian; got gradcam")) << method.output;
  const Result label = explain("classifier", "digit.png", "--target sevn");
  EXPECT_EQ(label.code, 2);
  EXPECT_TRUE(has(label.output, "seven")) << label.output;
  EXPECT_EQ(explain("glimpse", "digit.png", "--out x.bmp").code, 2);
  EXPECT_EQ(explain("glimpse", "digit.png", "--colour blue").code, 2);
}

TEST_F(ExplainImages, ImagesThatCannotBeReadAreNamed) {
  for (const auto& [name, code] : {std::pair{"broken.png", 1}, {"nowhere.png", 2}}) {
    const Result shown = explain("glimpse", name);
    EXPECT_EQ(shown.code, code) << shown.output;
    EXPECT_TRUE(has(shown.output, name)) << shown.output;
  }
}

TEST_F(ExplainImages, WhereOneCannotBeReadTheOthersAreAnsweredIfThatIsAskedFor) {
  const std::string good = path("digit.png").string(), bad = path("broken.png").string();
  const std::string files = in_quotes(good) + " " + in_quotes(bad) + " " + in_quotes(good) + " ";
  const auto run = [&](const std::string& flags) {
    return attend_with("run " + in_quotes(path("classifier")) + " " + files + flags);
  };
  const Result stopped = run("2>&1"), skipped = run("--on-error skip 2>/dev/null");
  EXPECT_EQ(stopped.code, 1);
  EXPECT_TRUE(stopped.output.starts_with(good + "\t")) << stopped.output;
  EXPECT_TRUE(has(stopped.output, "; 1 image before it was answered (--on-error skip leaves such images out, "))
      << stopped.output;
  EXPECT_EQ(skipped.code, 0);
  EXPECT_EQ(lines(skipped.output), 2) << skipped.output;
  EXPECT_FALSE(has(skipped.output, bad));
  const Result replaced = run("--on-error replace 2>/dev/null");
  EXPECT_EQ(lines(replaced.output), 3);
  EXPECT_TRUE(has(replaced.output, "\n" + bad + "\t\n" + good + "\t")) << replaced.output;
  const Result said = run("--on-error skip 2>&1 >/dev/null");
  EXPECT_TRUE(has(said.output, bad) && has(said.output, "1 of 3 images could not be answered and was left out\n"))
      << said.output;
}

TEST_F(ExplainImages, ShowsSeveralImagesTogetherOrEach) {
  const std::string two = in_quotes(path("digit.png")) + " --out ";
  const Result page = explain("glimpse", "digit.png", two + in_quotes(path("both.html")));
  EXPECT_EQ(page.code, 0) << page.output;
  EXPECT_TRUE(fs::exists(path("both.html")));
  const Result each = explain("glimpse", "digit.png", two + in_quotes(path("each.svg")));
  EXPECT_EQ(each.code, 0) << each.output;
  EXPECT_TRUE(fs::exists(path("each.1.svg")) && fs::exists(path("each.2.svg"))) << each.output;
  EXPECT_FALSE(fs::exists(path("each.svg")));
}

TEST_F(ExplainImages, RebuiltImagesDoNotReplaceOthers) {
  save_model(path("coder"),
             {{"task", "autoencode", ""},
              {"model.name", "autoencoder", ""},
              {"model.encoder.stages", "4", ""},
              {"model.encoder.kind", "dense", ""}},
             {});
  fs::create_directories(path("other"));
  data::write_png(path("other/digit.png"), digit_image());
  const auto rebuilt = [](const std::string& files, const std::string& out) {
    return attend_with("run " + in_quotes(path("coder")) + " " + files + " --rebuilt " + in_quotes(path(out)) +
                       " 2>&1");
  };
  const std::string digit = in_quotes(path("digit.png")), other = in_quotes(path("other/digit.png"));
  const std::string before = folder_->bytes("digit.png");
  const Result here = rebuilt(digit, ".");
  EXPECT_EQ(here.code, 2) << here.output;
  EXPECT_TRUE(has(here.output, "choose another folder")) << here.output;
  EXPECT_EQ(folder_->bytes("digit.png"), before);
  const Result both = rebuilt(digit + " " + other, "new");
  EXPECT_EQ(both.code, 2) << both.output;
  EXPECT_TRUE(has(both.output, "would both be")) << both.output;
  EXPECT_EQ(rebuilt(digit, "new").code, 0);
  EXPECT_TRUE(fs::exists(path("new/digit.png")));
}

TEST_F(ExplainImages, TakesTestImagesByNumber) {
  save_model(path("digits"),
             {{"corpus", "digits", ""},
              {"size", "28", ""},
              {"model.patch", "4", ""},
              {"model.glimpses", "2", ""},
              {"model.hidden", "8", ""}},
             {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"});
  const auto shown = [](const std::string& flags) {
    return attend_with("explain " + in_quotes(path("digits")) + " " + flags + " 2>&1");
  };
  const Result two = shown("--example 3,9999 --out " + in_quotes(path("two.json")));
  EXPECT_EQ(two.code, 0) << two.output;
  EXPECT_TRUE(has(folder_->bytes("two.1.json"), "\"right\":\"")) << "what is right is known";
  EXPECT_NE(folder_->bytes("two.1.json"), folder_->bytes("two.2.json"));
  for (const char* wrong : {"10000", "-1", "x", "1,,2"}) {
    const Result refused = shown(std::string("--example ") + wrong);
    EXPECT_EQ(refused.code, 2) << wrong;
    EXPECT_TRUE(has(refused.output, "expected numbers from 0 to 9999")) << refused.output;
  }
  for (const char* wrong : {"0", "-3"}) {
    const Result refused = attend_with("eval " + in_quotes(path("digits")) + " --copies " + wrong + " 2>&1");
    EXPECT_EQ(refused.code, 2) << refused.output;
    EXPECT_TRUE(has(refused.output, "copies")) << refused.output;
  }
  const Result nothing = shown("");
  EXPECT_EQ(nothing.code, 2);
  EXPECT_TRUE(has(nothing.output, "an image file, or --example 0")) << nothing.output;
}

}  // namespace
