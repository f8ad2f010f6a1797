// `attend lab` from the outside: every experiment in its quick form, gone on with after Ctrl-C, refused before anything is
// trained.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/command.h"
#include "tests/support/folder.h"
#include "tests/support/process.h"
#include "tests/support/xml.h"

namespace {

namespace fs = std::filesystem;
using namespace attend::test;
using nlohmann::json;

class Lab : public testing::Test {
 protected:
  Result lab(const std::string& arguments) const {
    return attend_with("lab " + arguments + " --out " + in_quotes(folder_.path() / "out") + " 2>&1");
  }

  TestFolder folder_;
};

TEST_F(Lab, ListsItsExperiments) {
  const Result result = attend_with("lab");
  EXPECT_EQ(result.code, 0);
  EXPECT_TRUE(has(result.output, "  told  ")) << result.output;
  EXPECT_TRUE(has(result.output, "attend lab all --out DIR")) << result.output;
}

TEST_F(Lab, RefusesBeforeAnythingIsTrained) {
  const Result unknown = lab("tolt --quick");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_TRUE(has(unknown.output, "the nearest is \"told\"")) << unknown.output;
  const Result nowhere = attend_with("lab told --quick 2>&1");
  EXPECT_EQ(nowhere.code, 2);
  EXPECT_TRUE(has(nowhere.output, "--out is needed")) << nowhere.output;
  EXPECT_EQ(lab("told --quick --seeds 101").code, 2);
  EXPECT_FALSE(fs::exists(folder_.path() / "out"));
}

class LabSlow : public Lab, public testing::WithParamInterface<const char*> {};

TEST_P(LabSlow, ShowsItsClaimInAMoment) {
  const Result result = lab(GetParam() + std::string(" --quick"));
  ASSERT_EQ(result.code, 0) << result.output;
  const json report = json::parse(folder_.bytes("out/report.json"));
  EXPECT_EQ(report["verdict"], "held") << report["checks"].dump(2);
  EXPECT_FALSE(report["checks"].empty());
  EXPECT_EQ(xml_complaint(folder_.bytes("out/report.html")), "");
}

INSTANTIATE_TEST_SUITE_P(Each, LabSlow,
                         testing::Values("told", "bottleneck", "scores", "windows", "hard-or-soft", "pick-an-item",
                                         "positions", "heads", "depth", "recurrent-or-transformer", "coverage",
                                         "autoencode", "memory", "oracle", "fast-weights", "glimpse-cost", "tiles",
                                         "rewards", "saliency"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

class LabResumedSlow : public Lab {};

TEST_F(LabResumedSlow, GoesOnAfterCtrlCAndKeepsWhatIsTrained) {
  const std::string out = in_quotes(folder_.path() / "out");
  const Result stopped = shell("timeout -s INT 2 '" ATTEND_BINARY "' lab pick-an-item --out " + out + " 2>&1");
  EXPECT_EQ(stopped.code, 124) << stopped.output;  // timeout's own
  EXPECT_TRUE(has(stopped.output, "interrupted; the same command resumes")) << stopped.output;
  EXPECT_FALSE(fs::exists(folder_.path() / "out/report.html"));

  const Result other = lab("pick-an-item --quick");
  EXPECT_EQ(other.code, 2) << "a model of other options is in its place: " << other.output;
  EXPECT_TRUE(has(other.output, "--force trains afresh")) << other.output;

  ASSERT_EQ(lab("pick-an-item --quick --force").code, 0);
  const auto written = [&] {
    return fs::last_write_time(folder_.path() / "out/models/in-order-no-encoder/weights.safetensors");
  };
  const auto before = written();
  const Result again = lab("pick-an-item --quick");
  EXPECT_EQ(again.code, 0) << again.output;
  EXPECT_EQ(written(), before) << "a finished model is kept";
}

}  // namespace
