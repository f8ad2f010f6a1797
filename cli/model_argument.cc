#include "cli/model_argument.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/tasks/manifest.h"
#include "attend/tasks/model_folder.h"
#include "cli/quiet.h"

namespace attend::cli {

namespace fs = std::filesystem;

ModelArgument model_argument(int argc, char** argv) {
  ModelArgument argument;
  for (int i = 1; i < argc && argument.folder.empty(); ++i) {
    std::error_code none;
    if (fs::exists(fs::path(argv[i]) / tasks::kConfig, none)) argument.folder = argv[i];
  }
  if (argument.folder.empty() && argc > 1 && argv[1][0] != '-') argument.folder = argv[1];
  if (!argument.folder.empty()) argument.config.emplace(tasks::read_config(argument.folder));
  return argument;
}

tasks::TaskModel ModelArgument::load() const {
  if (const std::string unchecked = tasks::unchecked_note(folder); !unchecked.empty()) note(unchecked);
  return tasks::TaskModel::load(folder);
}

void require_first(const ModelArgument& argument, const std::string& folder) {
  if (!argument.config) tasks::check_folder(folder);
  require_usage(argument.config && argument.folder == folder, "the model's folder comes first, before the flags: got ",
                quoted(folder));
}

void complete_search(const Flags& flags, decode::SearchOptions& search) {
  if (!flags.given("beam")) decode::widen(search);
  flags.check([&] { decode::check(search); });
  require_usage(!search.sample || !flags.given("beam") || search.beam == 1,
                "--sample or --beam, not both: drawn answers keep no beam");
}

std::string TestFlags::objection() const {
  if (files.text.source.empty() != files.text.target.empty()) return "--source and --target go together";
  tasks::TestFiles others = files;
  others.held_out = false;
  if (files.held_out && others.named()) return "--held-out or files, not both";
  if (const auto& join = files.sounds.join; join.least > join.most || join.least_pause > join.most_pause) {
    return "--join: expected at least as many at most as at least, got " + std::to_string(join.least) + " to " +
           std::to_string(join.most) + " sounds";
  }
  if (row && !files.gold.empty() && files.text.source.empty()) return "--gold needs --source and --target";
  return "";
}

std::vector<int64_t> numbers_of(const std::string& list, int64_t count) {
  std::vector<int64_t> numbers;
  std::istringstream parts(list);
  for (std::string part; std::getline(parts, part, ',');) {
    const bool digits =
        !part.empty() && part.size() < 10 && std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
    const int64_t number = digits ? std::stoll(part) : -1;
    require_usage(number >= 0 && number < count, "--example: expected numbers from 0 to ", count - 1, ", got ",
                  quoted(part));
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace attend::cli
