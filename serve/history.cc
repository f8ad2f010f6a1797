// What a model's folder knows of its training: curves and validation sentences.
#include <algorithm>
#include <fstream>

#include "serve/models.h"

namespace attend::serve {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPoints = 500, kSentences = 500;

/// Calls act(entry) for each line that is an object; a line that is cut short (the run goes on) is passed over.
template <class Act>
void each_line(const fs::path& path, Act&& act) {
  std::ifstream in(path);
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

double chrf_of(const Json& entry) {
  const auto found = entry.find("chrf");
  return found != entry.end() && found->is_number() ? found->get<double>() : 0;
}

}  // namespace

Json curves(const fs::path& folder) {
  Thinned train, valid;
  each_line(folder / "log.jsonl", [&](const Json& entry) {
    if (entry.contains("valid_loss")) {
      valid.add(numbers_of(entry));
    } else if (entry.contains("loss")) {
      train.add(numbers_of(entry));
    }
  });
  return {{"train", train.points()}, {"valid", valid.points()}};
}

Json gallery(const fs::path& folder) {
  const fs::path path = folder / "valid.jsonl";
  Json result = {{"sentences", Json::array()}};
  if (!fs::exists(path)) {
    result["note"] = "this model's folder has no valid.jsonl, which training writes where it validates with sentences";
    return result;
  }
  std::vector<Json> sentences;
  each_line(path, [&](const Json& entry) {
    Json one = Json::object();
    for (const char* name : {"source", "reference", "output", "chrf"}) one[name] = entry.value(name, Json());
    sentences.push_back(std::move(one));
  });
  std::ranges::stable_sort(sentences, {}, chrf_of);
  if (sentences.size() > kSentences) sentences.resize(kSentences);
  result["sentences"] = std::move(sentences);
  return result;
}

Json best_bleu(const fs::path& folder) {
  Json best;
  each_line(folder / "log.jsonl", [&](const Json& entry) {
    const auto bleu = entry.find("bleu");
    if (bleu == entry.end() || !bleu->is_number()) return;
    if (best.is_null() || bleu->get<double>() > best.get<double>()) best = *bleu;
  });
  return best;
}

}  // namespace attend::serve
