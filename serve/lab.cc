#include "serve/lab.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "attend/base/error.h"
#include "attend/base/folder_file.h"
#include "attend/base/names.h"
#include "attend/tasks/model_folder.h"
#include "serve/refusal.h"

namespace attend::serve {
namespace {

namespace fs = std::filesystem;

constexpr const char* kReport = "report.json";
constexpr uintmax_t kMostOfReport = 4 << 20, kMostOfFigure = 8 << 20;  // bytes
constexpr int kDeepestReport = 16;
constexpr size_t kMostExperiments = 200;

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  require(in.good(), file.native(), ": cannot be read");
  return {std::istreambuf_iterator<char>(in), {}};
}

Json report_in(const fs::path& folder) {
  const std::string bytes = bytes_of(file_within(folder, kReport, kMostOfReport));
  // Every number that was measured is not part of the story, and need not be kept.
  const auto wanted = [](int depth, Json::parse_event_t event, Json& value) {
    require(depth <= kDeepestReport, "report.json: expected at most ", kDeepestReport, " levels, got more");
    return !(event == Json::parse_event_t::key && depth == 1 && value == "numbers");
  };
  try {
    return Json::parse(bytes, wanted);
  } catch (const Json::exception& error) {
    fail("report.json: expected JSON: ", error.what());
  }
}

/// Whether a folder is one, and within another one whatever links there are.
bool lies_within(const fs::path& home, const fs::path& folder) {
  std::error_code none;
  const fs::path whole = fs::canonical(home, none), part = fs::canonical(folder, none);
  if (none || !fs::is_directory(part, none)) return false;
  return std::mismatch(whole.begin(), whole.end(), part.begin(), part.end()).first == whole.end();
}

bool is_kept(const fs::path& experiment, const std::string& model) {
  const fs::path folder = experiment / "models" / model;
  return lies_within(experiment, folder) && tasks::has_model(folder);
}

std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> all;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    std::error_code none;
    if (fs::exists(entry.path() / kReport, none) && lies_within(folder, entry.path())) all.push_back(entry.path());
  }
  std::ranges::sort(all);
  return all;
}

}  // namespace

Lab::Lab(const fs::path& folder) {
  std::error_code none;
  require_usage(fs::is_directory(folder, none), "--lab: expected a folder, got ", attend::quoted(folder.native()));
  if (fs::exists(folder / kReport, none)) {
    add(folder);
    return;
  }
  const std::vector<fs::path> folders = folders_in(folder);
  require_usage(!folders.empty(), "--lab: expected the folder of a finished experiment, or one of such folders, got ",
                attend::quoted(folder.native()), ", which has no ", kReport,
                "; attend lab told --quick --out DIR makes one in a moment");
  require_usage(folders.size() <= kMostExperiments, "--lab: expected at most ", kMostExperiments, " experiments, got ",
                folders.size());
  for (const fs::path& one : folders) {
    try {
      add(one);
    } catch (const Error& error) {
      notes_.push_back(error.what());
    }
  }
  require(!stories_.empty(), notes_.empty() ? "" : notes_[0]);
  std::ranges::stable_sort(stories_, {}, [](const Story& story) { return story.told["number"].get<int64_t>(); });
}

void Lab::add(const fs::path& folder) {
  Story story{.name = "", .folder = folder, .told = {}, .figures = {}};
  try {
    story.told = story_of_report(report_in(folder));
  } catch (const Error& error) {
    fail(folder.native(), ": ", error.what());
  }
  const std::string plain = story.told["name"];
  story.name = plain;
  for (int number = 2; std::ranges::count(stories_, story.name, &Story::name) > 0; ++number) {
    story.name = plain + "-" + std::to_string(number);
  }
  story.told["name"] = story.name;
  for (const Json& step : story.told["story"]) {
    for (const Json& block : step["blocks"]) {
      if (block["kind"] == "figure") story.figures.push_back(block["name"]);
    }
  }
  stories_.push_back(std::move(story));
}

const Lab::Story& Lab::at(const std::string& name) const {
  const auto found = std::ranges::find(stories_, name, &Story::name);
  if (found != stories_.end()) return *found;
  std::string names;
  for (const Story& story : stories_) names += (names.empty() ? "" : ", ") + story.name;
  if (names.empty()) names = "none, as the server was started without --lab";
  refuse(404, "no_such_experiment", "experiment: expected one of ", names, ", got ", attend::quoted(name));
}

Json Lab::list() const {
  Json all = Json::array();
  for (const Story& story : stories_) {
    Json row = {{"name", story.name}};
    for (const char* field : {"title", "claim", "verdict", "quick"}) row[field] = story.told[field];
    const auto held =
        std::ranges::count_if(story.told["checks"], [](const Json& check) { return check["held"] == true; });
    row["checks"] = story.told["checks"].size(), row["held"] = held;
    all.push_back(std::move(row));
  }
  return {{"experiments", std::move(all)}};
}

Json Lab::story(const std::string& name) const {
  const Story& story = at(name);
  Json told = story.told;
  for (Json& model : told["models"]) {
    const std::string folder = model["folder"];
    model.erase("folder");
    model["name"] = std::string(kLab) + story.name + "/" + folder;
    model["kept"] = is_kept(story.folder, folder);
  }
  return told;
}

std::string Lab::figure(const std::string& name, const std::string& figure) const {
  const Story& story = at(name);
  if (std::ranges::find(story.figures, figure) == story.figures.end()) {
    refuse(404, "not_found", "figure: the experiment ", attend::quoted(name), " has none called ",
           attend::quoted(figure));
  }
  try {
    return bytes_of(file_within(story.folder, figure + ".svg", kMostOfFigure));
  } catch (const Error&) {
    refuse(404, "not_found", "figure: the file ", figure, ".svg of the experiment ", attend::quoted(name),
           " is not there");
  }
}

fs::path Lab::model(const std::string& name) const {
  const size_t slash = name.find('/', kLab.size());
  const Story& story = at(name.substr(kLab.size(), slash == name.npos ? slash : slash - kLab.size()));
  const std::string wanted = slash == name.npos ? "" : name.substr(slash + 1);
  std::string names;
  for (const Json& model : story.told["models"]) {
    const std::string folder = model["folder"];
    names += (names.empty() ? "" : ", ") + std::string(kLab) + story.name + "/" + folder;
    if (folder != wanted) continue;
    if (is_kept(story.folder, folder)) return story.folder / "models" / folder;
    refuse(404, "no_such_model", "model: ", attend::quoted(name), " was trained, but has not been kept");
  }
  refuse(404, "no_such_model", "model: expected one of ", names, ", got ", attend::quoted(name));
}

}  // namespace attend::serve
