#include "attend/data/captions.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>
#include <unordered_map>
#include <unordered_set>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/data/image_file.h"
#include "attend/data/shallow_json.h"
#include "attend/data/utf8.h"

namespace attend::data {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kNoImage = "captions without an image";
constexpr const char* kNoCaptions = "images without captions";

/// A name must not lead out of the folder of images.
void check_name(const std::string& where, std::string_view name) {
  const fs::path path(name);
  const bool inside = !name.empty() && name.find('\0') == name.npos && path.is_relative() &&
                      std::find(path.begin(), path.end(), "..") == path.end();
  require(inside, where, ": expected the name of an image, relative to the folder of images, got ", quoted(name));
}

class Captions {
 public:
  void add(const std::string& where, std::string_view name, std::string_view caption) {
    check_name(where, name);
    caption = trimmed(caption);
    require(!caption.empty() && caption.find('\0') == caption.npos, where, ": expected a caption of ", quoted(name),
            ", got ", caption.empty() ? "an empty one" : "one with a zero byte");
    const auto [found, fresh] = places_.try_emplace(std::string(name), images_.size());
    if (fresh) images_.push_back({std::string(name), {}});
    images_[found->second].captions.emplace_back(caption);
  }
  std::vector<CaptionedImage> take() && { return std::move(images_); }

 private:
  std::vector<CaptionedImage> images_;
  std::unordered_map<std::string, size_t> places_;
};

/// "name#3" without "#3".
std::string_view without_number(std::string_view name) {
  const size_t mark = name.rfind('#');
  if (mark == name.npos || mark + 1 == name.size()) return name;
  const std::string_view number = name.substr(mark + 1);
  return number.find_first_not_of("0123456789") == number.npos ? name.substr(0, mark) : name;
}

void add_tabbed(const std::string& where, const std::string& text, Captions& captions) {
  const std::string_view line = text;
  const size_t tab = line.find('\t');
  require(tab != line.npos, where, ": expected name#k<tab>caption, got a line without a tab");
  captions.add(where, without_number(trimmed(line.substr(0, tab))), line.substr(tab + 1));
}

const json& field(const std::string& where, const json& object, const char* name) {
  const auto found = object.find(name);
  require(found != object.end(), where,
          ": expected an object with \"image\" and \"captions\" or \"caption\", got no \"", name, "\"");
  return *found;
}

const std::string& text_of(const std::string& where, const json& value) {
  require(value.is_string(), where, ": expected text in \"image\" and \"captions\", got ", value.type_name());
  return value.get_ref<const std::string&>();
}

json parse_line(const std::string& where, const std::string& line) {
  json object = shallow_json(line, 2);
  require(object.is_object(), where, ": expected a JSON object {\"image\": …, \"captions\": […]}, got ", quoted(line));
  return object;
}

void add_json(const std::string& where, const std::string& line, Captions& captions) {
  const json object = parse_line(where, line);
  const std::string& name = text_of(where, field(where, object, "image"));
  if (const auto one = object.find("caption"); one != object.end()) {
    captions.add(where, name, text_of(where, *one));
    return;
  }
  const json& several = field(where, object, "captions");
  require(several.is_array() && !several.empty(), where,
          ": expected \"captions\" as a list of at least one text, got ",
          several.is_array() ? "an empty one" : several.type_name());
  for (const json& caption : several) captions.add(where, name, text_of(where, caption));
}

/// `name`, or the feature grid that stands for it; empty if there is neither.
fs::path file_of(const fs::path& folder, const std::string& name) {
  std::error_code ignored;
  for (const fs::path& path : {folder / name, folder / (name + ".npy"), (folder / name).replace_extension(".npy")}) {
    if (fs::is_regular_file(path, ignored)) return path;
  }
  return {};
}

/// Images and features of the folder that no example uses.
void add_unused(const fs::path& folder, const std::vector<CaptionExample>& examples, Broken& broken) {
  std::unordered_set<std::string> used;
  for (const CaptionExample& example : examples) used.insert(example.file.lexically_normal().native());
  std::vector<std::string> unused;
  std::error_code problem;
  for (fs::directory_iterator entry(folder, problem), end; !problem && entry != end; entry.increment(problem)) {
    const fs::path& file = entry->path();
    const bool named = is_image_name(file) || file.extension() == ".npy";
    if (!named || !entry->is_regular_file(problem) || used.contains(file.lexically_normal().native())) continue;
    unused.push_back(file.filename().native());
  }
  require(!problem, folder.native(), ": cannot list the folder of images: ", problem.message());
  std::sort(unused.begin(), unused.end());
  for (const std::string& name : unused) broken.add(kNoCaptions, name);
}

void add_example(const fs::path& folder, CaptionedImage image, std::vector<CaptionExample>& examples, Broken& broken) {
  fs::path file = file_of(folder, image.name);
  if (file.empty()) {
    broken.add(kNoImage, image.name);
  } else {
    examples.push_back({std::move(file), std::move(image)});
  }
}

std::vector<CaptionExample> listed(const CaptionFiles& files, std::vector<CaptionedImage> images, Broken& broken) {
  std::unordered_map<std::string, CaptionedImage*> by_name;
  for (CaptionedImage& image : images) by_name.emplace(image.name, &image);
  std::vector<CaptionExample> examples;
  std::unordered_set<std::string> seen;
  LineReader reader(files.names);
  for (std::string line; reader.next(line);) {
    const std::string name(trimmed(line));
    if (name.empty()) continue;
    check_name(reader.where(), name);
    require(seen.insert(name).second, reader.where(), ": expected each image once, got ", quoted(name), " again");
    const auto found = by_name.find(name);
    if (found == by_name.end()) {
      broken.add(file_of(files.images, name).empty() ? "names without image and captions" : kNoCaptions, name);
    } else {
      add_example(files.images, std::move(*found->second), examples, broken);
    }
  }
  return examples;
}

}  // namespace

std::vector<CaptionedImage> read_captions(LineReader reader) {
  Captions captions;
  void (*add)(const std::string&, const std::string&, Captions&) = nullptr;
  for (std::string line; reader.next(line);) {
    if (trimmed(line).empty()) continue;
    if (add == nullptr) add = trimmed(line).front() == '{' ? add_json : add_tabbed;
    add(reader.where(), line, captions);
  }
  require(add != nullptr, reader.name(), ": expected captions, got none");
  return std::move(captions).take();
}

std::vector<CaptionedImage> read_captions(const fs::path& path) { return read_captions(LineReader(path)); }

std::vector<CaptionExample> captioned_images(const CaptionFiles& files, Broken& broken) {
  std::vector<CaptionedImage> images = read_captions(files.captions);
  std::vector<CaptionExample> examples;
  if (!files.names.empty()) {
    examples = listed(files, std::move(images), broken);
  } else {
    for (CaptionedImage& image : images) add_example(files.images, std::move(image), examples, broken);
    add_unused(files.images, examples, broken);
  }
  const std::string where = files.captions.native() + " and " + files.images.native();
  broken.settle(where);
  require(!examples.empty(), where, ": expected at least one image with captions, got ", broken.summary());
  return examples;
}

}  // namespace attend::data
