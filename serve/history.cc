#include "serve/history.h"

#include <algorithm>
#include <fstream>

#include "attend/base/folder_file.h"

namespace attend::serve {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPoints = 500;
constexpr uintmax_t kMostBytes = uintmax_t{1} << 30;  // of a log

/// Calls act(entry) for each line that is an object; a line that is cut short (the run is still writing) is passed over.
template <class Act>
void each_line(const fs::path& folder, const char* name, Act&& act) {
  std::ifstream in(file_within(folder, name, kMostBytes));
  for (std::string line; std::getline(in, line);) {
    const Json entry = Json::parse(line, nullptr, false);
    if (entry.is_object()) act(entry);
  }
}

/// The points of a curve, evenly thinned while they come, so that a log of any length needs the same room.
class Thinned {
 public:
  void add(Json point) {
    last_ = std::move(point);
    if (seen_++ % stride_ != 0) return;
    kept_.push_back(last_);
    if (kept_.size() < kPoints) return;
    for (size_t i = 0; 2 * i < kept_.size(); ++i) kept_[i] = std::move(kept_[2 * i]);
    kept_.resize((kept_.size() + 1) / 2);
    stride_ *= 2;
  }
  Json points() const {
    Json all = kept_;
    if (seen_ > 0 && all.back() != last_) all.push_back(last_);
    return all;
  }

 private:
  std::vector<Json> kept_;
  Json last_;
  size_t seen_ = 0, stride_ = 1;
};

/// Numbers and switches alone: sentences belong into the gallery.
Json numbers_of(const Json& entry) {
  Json point = Json::object();
  for (const auto& [name, value] : entry.items()) {
    if (value.is_number() || value.is_boolean()) point[name] = value;
  }
  return point;
}

double chrf_of(const ValidLine& line) { return line.said["chrf"].is_number() ? line.said["chrf"].get<double>() : 0; }

}  // namespace

Json curves(const fs::path& folder) {
  Thinned train, valid;
  each_line(folder, "log.jsonl", [&](const Json& entry) {
    if (entry.contains("valid_loss")) {
      valid.add(numbers_of(entry));
    } else if (entry.contains("loss")) {
      train.add(numbers_of(entry));
    }
  });
  return {{"train", train.points()}, {"valid", valid.points()}};
}

std::vector<ValidLine> valid_lines(const fs::path& folder) {
  std::vector<ValidLine> lines;
  each_line(folder, "valid.jsonl", [&](const Json& entry) {
    ValidLine& line = lines.emplace_back(static_cast<int64_t>(lines.size()));
    for (const char* name : {"source", "reference", "output", "chrf"}) line.said[name] = entry.value(name, Json());
    if (const auto inputs = entry.find("inputs"); inputs != entry.end()) line.said["inputs"] = *inputs;
  });
  std::ranges::stable_sort(lines, {}, chrf_of);
  return lines;
}

Json best_of(const fs::path& folder, const std::string& score, int better) {
  Json best;
  each_line(folder, "log.jsonl", [&](const Json& entry) {
    const auto found = entry.find(score);
    if (found == entry.end() || !found->is_number()) return;
    if (best.is_null() || better * found->get<double>() > better * best.get<double>()) best = *found;
  });
  return best;
}

}  // namespace attend::serve
