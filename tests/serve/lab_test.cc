// The lab of the server: stories, figures and models of finished experiments, from folders that anybody may have made.
#include "serve/lab.h"

#include <gtest/gtest.h>

#include <fstream>

#include "serve/models.h"
#include "tests/serve/served.h"
#include "tests/support/message.h"
#include "tests/support/text.h"

namespace attend::test {
namespace {

namespace fs = std::filesystem;

const char* const kSvg = R"(<svg xmlns="http://www.w3.org/2000/svg"><text>one</text></svg>)";

/// What `attend lab` writes, in short.
json report_named(const std::string& name, int number) {
  return json::parse(R"({"experiment": ")" + name + R"(", "number": )" + std::to_string(number) + R"(,
    "title": "A title", "command": "attend lab told --quick", "claim": "One looks, the other does not.", "quick": true,
    "verdict": "held in part",
    "checks": [{"expected": "more", "measured": "2 against 1", "held": true},
               {"expected": "less", "measured": "3 against 1", "held": false}],
    "story": [{"title": "The claim", "blocks": [{"kind": "text", "text": "Set up."},
                {"kind": "table", "title": "", "head": ["Model", "Exact"], "rows": [["bridge", "1.0"]], "words": false}]},
              {"title": "Did it hold?", "blocks": [{"kind": "checks"}]},
              {"title": "By length", "blocks": [{"kind": "figure", "name": "by-length", "caption": "By length."},
                {"kind": "live", "text": "Try.", "runs": ["bridge", "attention"], "sliders": ["length"], "longest": 9}]},
              {"title": "Next", "blocks": [{"kind": "command", "text": "Why:", "command": "attend list"}]}],
    "models": [{"run": "bridge", "seed": 1, "folder": "bridge"}, {"run": "attention", "seed": 1, "folder": "attention"},
               {"run": "lost", "seed": 1, "folder": "lost"}],
    "tests": [{"runs": ["bridge", "attention"], "examples": [{"source": "a b", "reference": "B A"}]}],
    "numbers": {"deep": {"er": {"yet": [1, 2]}}}})");
}

void write_report(const fs::path& folder, const std::string& text) {
  fs::create_directories(folder);
  std::ofstream(folder / "report.json", std::ios::binary) << text;
}

/// Two experiments, of which one has two models and a figure.
fs::path small_lab(const TestFolder& folder) {
  const fs::path lab = folder.path() / "lab";
  write_report(lab / "told", report_named("told", 1).dump());
  write_report(lab / "a-later-one", report_named("later", 2).dump());
  std::ofstream(lab / "told/by-length.svg") << kSvg;
  std::ofstream(lab / "told/other.svg") << kSvg;
  tiny_model(folder, "lab/told/models/bridge");
  tiny_model(folder, "lab/told/models/attention");
  return lab;
}

serve::ServeOptions with_lab(const fs::path& lab) {
  serve::ServeOptions options;
  options.lab = lab.string();
  return options;
}

const TestFolder& lab_folder() {
  static const TestFolder folder;
  return folder;
}

/// A lab beside a model.
Served& served_lab() {
  static Served one(with_lab(small_lab(lab_folder())),
                    [](const TestFolder& folder) { return std::vector{tiny_model(folder, "tiny")}; });
  return one;
}

std::string refusal_of(const fs::path& folder) {
  return message_of([&] { serve::Lab lab(folder); });
}

TEST(ServedLab, ListsItsExperimentsInTheirOrder) {
  const json all = body_of(served_lab().get("/v1/lab"))["experiments"];
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0], json({{"name", "told"},
                          {"title", "A title"},
                          {"claim", "One looks, the other does not."},
                          {"verdict", "held in part"},
                          {"quick", true},
                          {"checks", 2},
                          {"held", 1}}));
  EXPECT_EQ(all[1]["name"], "later") << "by number, not by folder";
  EXPECT_EQ(body_of(served_lab().get("/v1/models"))["experiments"], 2);
}

TEST(ServedLab, TellsAStoryWithTheModelsThatAreThere) {
  const json story = body_of(served_lab().get("/v1/lab/told"));
  const json written = report_named("told", 1);
  EXPECT_EQ(story["story"], written["story"]);
  EXPECT_EQ(story["checks"], written["checks"]);
  EXPECT_EQ(story["tests"], written["tests"]);
  EXPECT_FALSE(story.contains("numbers"));
  EXPECT_EQ(story["models"][0], json({{"run", "bridge"}, {"seed", 1}, {"name", "lab/told/bridge"}, {"kept", true}}));
  EXPECT_EQ(story["models"][2]["kept"], false);
  expect_error(served_lab().get("/v1/lab/tolt"), 404, "no_such_experiment", "one of told, later");
}

TEST(ServedLab, ShowsFiguresOfTheStoryAlone) {
  const auto result = served_lab().get("/v1/lab/told/figures/by-length");
  EXPECT_EQ(result->status, 200);
  EXPECT_EQ(result->body, kSvg);
  EXPECT_EQ(result->get_header_value("Content-Type"), "image/svg+xml");
  EXPECT_EQ(result->get_header_value_count("Content-Security-Policy"), 1u);
  EXPECT_TRUE(has(result->get_header_value("Content-Security-Policy"), "sandbox")) << "no script may run in it";
  for (const char* other : {"other", "report", "..%2Ftold%2Fby-length", "%2Fetc%2Fpasswd"}) {
    const auto none = served_lab().client().Get("/v1/lab/told/figures/" + std::string(other));
    EXPECT_EQ(none->status, 404) << other << none->body;
  }
  expect_error(served_lab().get("/v1/lab/later/figures/by-length"), 404, "not_found", "by-length.svg");
}

TEST(ServedLab, ItsModelsAnswerByTheirNames) {
  EXPECT_EQ(body_of(served_lab().get("/v1/models"))["models"].size(), 1u) << "they are in no list";
  const json model = body_of(served_lab().get("/v1/models/lab%2Ftold%2Fbridge"));
  EXPECT_EQ(model["name"], "lab/told/bridge");
  EXPECT_EQ(model["reads"], "text");
  EXPECT_EQ(body_of(served_lab().get("/v1/models/tiny"))["name"], "tiny");
  const json answer = body_of(served_lab().post("/v1/run", R"({"text": "a b", "model": "lab/told/attention"})"));
  EXPECT_EQ(answer["model"], "lab/told/attention");
  const json trace = body_of(served_lab().post("/v1/explain", R"({"text": "a b", "model": "lab/told/bridge"})"));
  EXPECT_EQ(trace["model"]["name"], "lab/told/bridge");
  EXPECT_TRUE(body_of(served_lab().get("/v1/models/lab%2Ftold%2Fbridge/gallery")).contains("note"));
  EXPECT_EQ(served_lab().get("/v1/models/lab%2Ftold%2Fbridge/curves")->status, 200);
}

TEST(ServedLab, SaysWhichModelsThereAreNot) {
  const auto run = [](const std::string& model) {
    return served_lab().post("/v1/run", json{{"text", "a"}, {"model", model}}.dump());
  };
  expect_error(run("lab/told/lost"), 404, "no_such_model", "has not been kept");
  expect_error(run("lab/told/nobody"), 404, "no_such_model", "lab/told/bridge, lab/told/attention");
  expect_error(run("lab/told/../told/models/bridge"), 404, "no_such_model", "expected one of");
  expect_error(run("lab/told"), 404, "no_such_model", "expected one of");
  expect_error(run("lab/nothing/bridge"), 404, "no_such_experiment", "told, later");
  expect_error(served_lab().get("/v1/models/lab%2Ftold%2Fnobody"), 404, "no_such_model", "expected one of");
}

TEST(ServedLab, GoesOnWhereAModelIsDamaged) {
  const TestFolder folder;
  const fs::path lab = small_lab(folder);
  std::ofstream(lab / "told/models/bridge/weights.safetensors") << "nothing";
  fs::remove(lab / "told/models/attention/weights.safetensors");
  const Served served(with_lab(lab), [](const TestFolder&) { return std::vector<std::string>(); });
  expect_error(served.get("/v1/models/lab%2Ftold%2Fbridge"), 404, "no_such_model", "cannot be loaded");
  expect_error(served.get("/v1/models/lab%2Ftold%2Fattention"), 404, "no_such_model", "no weights");
  EXPECT_EQ(served.get("/v1/lab/told")->status, 200);
  EXPECT_EQ(body_of(served.get("/v1/models"))["models"], json::array()) << "a lab alone can be served";
  expect_error(served.post("/v1/run", R"({"text": "a"})"), 404, "no_such_model", "lab/EXPERIMENT/MODEL");
}

TEST(ServedLab, HasAPageAndOneWithoutItToo) {
  EXPECT_TRUE(has(served_lab().get("/lab")->body, "lab.js"));
  const Served without;
  EXPECT_EQ(body_of(without.get("/v1/lab")), json({{"experiments", json::array()}}));
  expect_error(without.get("/v1/lab/told"), 404, "no_such_experiment", "without --lab");
}

TEST(LabModels, HoldsNoMoreThanItMayAndWhatIsInUseStays) {
  const TestFolder files;
  const fs::path folder = small_lab(files);
  const serve::Lab lab(folder);
  const auto bytes = static_cast<int64_t>(fs::file_size(folder / "told/models/bridge/weights.safetensors"));
  serve::LabModels models(lab, bytes + bytes / 2);
  std::shared_ptr<const serve::ServedModel> bridge = models.at("lab/told/bridge");
  EXPECT_EQ(models.at("lab/told/bridge"), bridge) << "loaded once";
  EXPECT_TRUE(has(message_of([&] { models.at("lab/told/attention"); }), "no room")) << "the other is in use";
  const std::weak_ptr<const serve::ServedModel> gone = bridge;
  bridge.reset();
  EXPECT_FALSE(gone.expired()) << "it is held for who asks next";
  EXPECT_EQ(models.at("lab/told/attention")->name, "lab/told/attention");
  EXPECT_TRUE(gone.expired());
  serve::LabModels none(lab, bytes - 1);
  EXPECT_TRUE(has(message_of([&] { none.at("lab/told/bridge"); }), "--lab-bytes"));
}

TEST(Lab, IsAFolderOfOneExperimentOrOfSeveral) {
  const TestFolder folder;
  const fs::path lab = small_lab(folder);
  EXPECT_EQ(serve::Lab(lab).size(), 2u);
  EXPECT_EQ(serve::Lab(lab / "told").size(), 1u);
  const TestFolder twice;
  write_report(twice.path() / "a", report_named("told", 1).dump());
  write_report(twice.path() / "b", report_named("told", 1).dump());
  const serve::Lab both(twice.path());
  EXPECT_EQ(both.story("told-2")["name"], "told-2");
}

TEST(Lab, IsRefusedWhereThereIsNone) {
  const TestFolder folder;
  EXPECT_TRUE(has(refusal_of(folder.path() / "nowhere"), "expected a folder"));
  EXPECT_TRUE(has(refusal_of(folder.path()), "attend lab told --quick --out DIR makes one"));
}

TEST(Lab, DistrustsItsReports) {
  const auto refusal = [](const std::string& text) {
    const TestFolder folder;
    write_report(folder.path(), text);
    return refusal_of(folder.path());
  };
  const auto with = [&](const std::string& place, const json& value) {
    json report = report_named("told", 1);
    report[json::json_pointer(place)] = value;
    return refusal(report.dump());
  };
  EXPECT_EQ(refusal(report_named("told", 1).dump()), "");
  EXPECT_TRUE(has(refusal("{\"experiment\": "), "expected JSON"));
  EXPECT_TRUE(has(refusal("[]"), "expected an object, got a list"));
  EXPECT_TRUE(has(refusal(std::string(5 << 20, ' ')), "expected at most 4194304 bytes"));
  EXPECT_TRUE(has(refusal(R"({"numbers": )" + std::string(100'000, '[') + std::string(100'000, ']') + "}"), "levels"));
  json old = report_named("told", 1);
  old.erase("story");
  EXPECT_TRUE(has(refusal(old.dump()), "the same `attend lab` command writes it"));
  EXPECT_TRUE(has(with("/experiment", "../told"), "experiment: expected a name of letters"));
  EXPECT_TRUE(has(with("/models/0/folder", "../../elsewhere"), "models[0].folder: expected a name"));
  EXPECT_TRUE(has(with("/models/0/folder", ".."), "models[0].folder: expected a name"));
  EXPECT_TRUE(has(with("/story/2/blocks/0/name", "/etc/passwd"), "story[2].blocks[0].name: expected a name"));
  EXPECT_TRUE(
      has(with("/story/0/blocks/1/rows", json::array({json::array({7})})), "rows[0][0]: expected a text, got 7"));
  EXPECT_TRUE(has(with("/story/0/blocks/0/kind", "script"), "expected text, checks, table"));
  EXPECT_TRUE(has(with("/story", json::array({7})), "story[0]: expected an object"));
  EXPECT_TRUE(has(with("/story/2/blocks/1/longest", -1), "longest: expected a whole number"));
  EXPECT_TRUE(has(with("/checks", json::array_t(2001, json::object())), "at most 2000 entries"));
  EXPECT_TRUE(has(with("/claim", std::string(20'001, 'x')), "claim: expected a shorter text"));
}

TEST(Lab, LeavesOutWhatIsDamagedAmongOthers) {
  const TestFolder folder;
  const fs::path lab = small_lab(folder);
  write_report(lab / "broken", "{");
  const serve::Lab others(lab);
  EXPECT_EQ(others.size(), 2u);
  ASSERT_EQ(others.notes().size(), 1u);
  EXPECT_TRUE(has(others.notes()[0], "broken")) << others.notes()[0];
}

TEST(Lab, FollowsNoLinksOutOfItsFolder) {
  const TestFolder folder, elsewhere;
  const fs::path lab = small_lab(folder);
  fs::remove_all(lab / "told/models/bridge");
  fs::create_directory_symlink(tiny_model(elsewhere, "model"), lab / "told/models/bridge");
  elsewhere.file("secret.svg", kSvg);
  fs::remove(lab / "told/by-length.svg");
  fs::create_symlink(elsewhere.path() / "secret.svg", lab / "told/by-length.svg");
  write_report(elsewhere.path() / "more", report_named("more", 3).dump());
  fs::create_directory_symlink(elsewhere.path() / "more", lab / "more");
  const serve::Lab linked(lab);
  EXPECT_EQ(linked.size(), 2u);
  EXPECT_EQ(linked.story("told")["models"][0]["kept"], false);
  EXPECT_NE(message_of([&] { (void)linked.model("lab/told/bridge"); }), "");
  EXPECT_TRUE(has(message_of([&] { (void)linked.figure("told", "by-length"); }), "is not there"));
}

}  // namespace
}  // namespace attend::test
