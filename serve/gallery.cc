#include "serve/gallery.h"

#include <algorithm>

#include "attend/base/base64.h"
#include "attend/data/image_file.h"
#include "attend/data/sound_file.h"
#include "serve/history.h"

namespace attend::serve {
namespace {

namespace fs = std::filesystem;

constexpr size_t kSentences = 500;
constexpr size_t kWorst = 16, kGallery = 24, kSounds = 12;  // of images; the others are spread over all that are better

/// The worst, and some of the rest, the best last.
std::vector<ValidLine> chosen(std::vector<ValidLine> lines) {
  if (lines.size() <= kGallery) return lines;
  const size_t rest = lines.size() - kWorst, some = kGallery - kWorst;
  for (size_t i = 1; i <= some; ++i) lines[kWorst + i - 1] = std::move(lines[kWorst + i * rest / some - 1]);
  lines.resize(kGallery);
  return lines;
}

/// A file's name without its folder, which clients need not know.
std::string public_name(const std::string& name, const tasks::ImageFiles& files) {
  for (const std::string& folder : {files.valid_images, files.images}) {
    if (!folder.empty() && name.starts_with(folder))
      return name.substr(std::min(name.find_first_not_of('/', folder.size()), name.size()));
  }
  return name;
}

}  // namespace

Json image_json(const data::Image& image) {
  return {{"image", base64(data::encode_png(image))}, {"width", image.width}, {"height", image.height}};
}

Json Gallery::images() const {
  std::vector<ValidLine> lines = chosen(valid_lines(folder_));
  if (lines.empty()) lines.resize(kGallery);  // what is answered with an image has no words: the first ones
  std::vector<tasks::ValidExample> wanted;
  for (size_t i = 0; i < lines.size(); ++i) {
    const bool named = lines[i].said.is_object() && lines[i].said["source"].is_string();
    if (!named) lines[i].number = static_cast<int64_t>(i);
    wanted.push_back({lines[i].number, named ? lines[i].said["source"].get<std::string>() : ""});
  }
  Json all = Json::array();
  for (const tasks::Example& found : tasks::find_images(config_, wanted)) {
    Json row = {{"name", public_name(found.name, config_.options.images)}};
    const auto line = std::ranges::find_if(
        lines, [&](const ValidLine& one) { return one.said.is_object() && one.said["source"] == found.name; });
    for (const char* field : {"reference", "output", "chrf"}) {
      row[field] = line == lines.end() ? Json() : line->said[field];
    }
    row.update(image_json(std::get<data::Image>(found.inputs.at(0))));
    all.push_back(std::move(row));
  }
  return all;
}

/// Those of a built-in corpus alone: files may be anywhere, and the folder may be a stranger's.
Json Gallery::sounds() const {
  Json all = Json::array();
  if (config_.options.corpus.empty()) return all;
  const tasks::Examples valid = tasks::read_corpus(config_).valid;
  std::vector<ValidLine> lines = valid_lines(folder_);
  if (lines.size() > kSounds) lines.resize(kSounds);
  for (const ValidLine& line : lines) {
    if (line.number >= valid.count) continue;
    const tasks::Example example = valid.at(line.number);
    Json row = {{"name", example.name}};
    for (const char* field : {"reference", "output"}) row[field] = line.said[field];
    row["sound"] = base64(data::encode_wav(std::get<data::Sound>(example.inputs.at(0))));
    all.push_back(std::move(row));
  }
  return all;
}

Json Gallery::json() const {
  if (config_.row().input().streamed) {
    Json result = {{"sentences", Json::array()}};
    std::vector<ValidLine> lines = valid_lines(folder_);
    if (lines.size() > kSentences) lines.resize(kSentences);
    for (ValidLine& line : lines) result["sentences"].push_back(std::move(line.said));
    if (lines.empty()) {
      result["note"] =
          "this model's folder has no valid.jsonl, which training writes where it validates with sentences";
    }
    return result;
  }
  const char* const what = config_.row().input().is_image() ? "images" : "sounds";
  const std::lock_guard lock(mutex_);
  std::error_code none;
  const fs::file_time_type written = fs::last_write_time(folder_ / "valid.jsonl", none);
  if (made_.is_null() || written != made_at_) {
    made_at_ = written;
    made_ = {{what, Json::array()}};
    try {
      made_[what] = config_.row().input().is_image() ? images() : sounds();
    } catch (const Error&) {  // its files were moved or deleted since
    }
    if (made_[what].empty()) {
      made_["note"] =
          std::string("the ") + what + " that this model was validated with are not where they can be found";
    }
  }
  return made_;
}

}  // namespace attend::serve
