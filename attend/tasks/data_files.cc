#include "attend/tasks/data_files.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "attend/base/checksum.h"
#include "attend/base/folder_file.h"
#include "attend/base/joined.h"
#include "attend/base/names.h"
#include "attend/base/replacement.h"
#include "attend/data/byte_stream.h"
#include "attend/data/sound_file.h"
#include "attend/data/spool.h"
#include "attend/tasks/corpus.h"

namespace attend::tasks {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr size_t kMostDataFiles = size_t{1} << 24;

/// A file that an option names, and whether people read it as lines.
struct Named {
  std::string option, path;
  bool text = false;
};

std::vector<Named> named_files(const TaskConfig& config) {
  std::vector<Named> all;
  const TaskOptions& options = config.options;
  if (!options.corpus.empty()) return all;
  if (config.row().input().streamed) {
    const bool pairs = config.row().format == "pairs";
    const auto add = [&](const char* option, const std::vector<std::string>& paths, const char*, const Bounds&) {
      for (const std::string& path : paths) all.push_back({option, path, true});
    };
    for (const bool valid : {false, true}) {
      TextFiles files = valid ? options.valid_text : options.text;
      files.fields(add, pairs, valid);
    }
    return all;
  }
  if (!config.row().input().is_image()) {
    const SoundFiles& files = options.sound;
    all = {{"sounds", files.sounds, true},
           {"folder", files.folder},
           {"valid_sounds", files.valid_sounds, true},
           {"word_times", files.word_times, true},
           {"phoneme_times", files.phoneme_times, true}};
    std::erase_if(all, [](const Named& one) { return one.path.empty(); });
    return all;
  }
  const ImageFiles& files = options.images;
  all = {{"images", files.images},
         {"labels", files.labels},
         {"valid_images", files.valid_images},
         {"valid_labels", files.valid_labels},
         {"captions", files.captions, true},
         {"names", files.names, true},
         {"valid_names", files.valid_names, true}};
  std::erase_if(all, [](const Named& one) { return one.path.empty(); });
  return all;
}

struct Counts {
  int64_t bytes = 0, lines = 0;
};

/// Adds the contents of a file, unpacked.
Counts add_contents(const fs::path& path, Checksum& sum) {
  const std::unique_ptr<data::ByteStream> bytes = data::unpacked(data::file_bytes(path), path.string());
  Counts counts;
  char last = '\n';
  for (auto part = bytes->next(path.string()); !part.empty(); part = bytes->next(path.string())) {
    sum.add(std::as_bytes(part));
    counts.bytes += static_cast<int64_t>(part.size());
    counts.lines += std::ranges::count(part, '\n');
    last = part.back();
  }
  counts.lines += last != '\n';  // the last line may lack its end
  return counts;
}

bool is_learned_from(const fs::path& path, bool text) {
  const std::string name = path.filename();
  const bool is_text = name.ends_with(".txt") || name.ends_with(".txt.gz") || name.ends_with(".lab");
  return (text && is_text) || is_image_file(name) || data::is_sound_name(path);
}

/// Names within the folder and contents, in the order of the names.
void add_folder(const fs::path& folder, bool text, DataFile& file, Checksum& sum) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && is_learned_from(entry.path(), text)) paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  for (const fs::path& path : paths) {
    sum.add(path.lexically_relative(folder).native()).add(std::string_view("", 1));
    try {
      sum.add(std::to_string(add_contents(path, sum).bytes));
    } catch (const Error&) {  // on_broken decides what becomes of it
      sum.add("broken");
    }
  }
  file.unit = "files", file.count = static_cast<int64_t>(paths.size());
}

std::optional<DataFile> parse_data_file(const ordered_json& one) {
  const auto text = [&](const char* name) { return one.is_object() && one.contains(name) && one[name].is_string(); };
  if (!text("option") || !text("path") || !text("unit") || !text("xxh64")) return std::nullopt;
  if (!one.contains("count") || !one["count"].is_number_integer()) return std::nullopt;
  const bool pipe = one.contains("pipe") && one["pipe"] == true;
  return DataFile{one["option"], one["path"], one["unit"], one["count"], one["xxh64"], pipe};
}

/// "300 lines before, 250 now".
std::string file_difference(const DataFile& before, const DataFile& now) {
  const auto counted = [](const DataFile& file) { return std::to_string(file.count) + " " + file.unit; };
  if (before.unit != now.unit) return counted(before) + " before, " + counted(now) + " now";
  if (before.count != now.count) return counted(before) + " before, " + std::to_string(now.count) + " now";
  return counted(before) + " as before, but with other contents";
}

}  // namespace

std::vector<std::string> data_paths(const TaskConfig& config) {
  std::vector<std::string> paths;
  for (const Named& named : named_files(config)) paths.push_back(named.option + " " + named.path);
  return paths;
}

std::vector<std::string> pipes(const TaskConfig& config, bool resumed) {
  std::vector<Named> named = named_files(config);
  const std::string& vectors = config.options.vectors;
  if (!resumed && !vectors.empty()) named.push_back({"vectors", vectors, true});
  std::vector<std::string> all;
  with_places(config.given, "", [&] {
    for (const Named& one : named) {
      if (!data::is_pipe(one.path)) continue;
      require_option(one.text, one.option.c_str(), "expected a file or a folder, got a pipe (", data::shown_name(one.path),
                     "); images are read more than once");
      require_option(std::ranges::find(all, one.path) == all.end(), one.option.c_str(),
                     "expected another file, as a pipe can be read only once, got ", data::shown_name(one.path), " twice");
      all.push_back(one.path);
    }
  });
  return all;
}

std::vector<DataFile> data_files(const TaskConfig& config) {
  std::vector<DataFile> all;
  for (const Named& named : named_files(config)) {
    DataFile file{.option = named.option, .path = named.path, .pipe = data::spooled(named.path) != nullptr};
    Checksum sum;
    if (fs::is_directory(named.path)) {
      add_folder(named.path, named.text, file, sum);
    } else if (fs::is_regular_file(named.path) || file.pipe) {
      const Counts counts = add_contents(named.path, sum);
      file.unit = named.text ? "lines" : "bytes", file.count = named.text ? counts.lines : counts.bytes;
    } else {
      continue;  // nothing, which is told when it is read
    }
    file.checksum = sum.text();
    all.push_back(std::move(file));
  }
  return all;
}

std::string print_data_files(const std::vector<DataFile>& files) {
  ordered_json all = ordered_json::array();
  for (const DataFile& file : files) {
    all.push_back({{"option", file.option},
                   {"path", file.path},
                   {"unit", file.unit},
                   {"count", file.count},
                   {"xxh64", file.checksum}});
    if (file.pipe) all.back()["pipe"] = true;
  }
  return all.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::optional<std::vector<DataFile>> saved_data_files(const fs::path& folder) {
  const fs::path path = file_within(folder, kDataFile);
  if (!fs::exists(path)) return std::nullopt;
  const ordered_json all = ordered_json::parse(read_file(path, kMostDataFiles), nullptr, false);
  require(all.is_array(), path.string(), ": expected a list of files in JSON; it is damaged");
  std::vector<DataFile> files;
  for (const ordered_json& one : all) {
    const std::optional<DataFile> file = parse_data_file(one);
    require(file.has_value(), path.string(),
            ": expected option, path, unit, count and xxh64 of each file; it is damaged");
    files.push_back(*file);
  }
  return files;
}

std::string data_difference(const std::vector<DataFile>& before, const std::vector<DataFile>& now) {
  if (before.size() != now.size()) {
    return std::to_string(before.size()) + " files before, " + std::to_string(now.size()) + " now";
  }
  std::vector<std::string> all;
  for (size_t i = 0; i < now.size(); ++i) {
    if (before[i].checksum == now[i].checksum) continue;
    all.push_back(data::shown_name(now[i].path) + ": " + file_difference(before[i], now[i]));
  }
  return joined(all, "; ");
}

}  // namespace attend::tasks
