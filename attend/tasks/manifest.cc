#include "attend/tasks/manifest.h"

#include <map>
#include <nlohmann/json.hpp>

#include "attend/base/checksum.h"
#include "attend/base/error.h"
#include "attend/base/folder_file.h"
#include "attend/base/names.h"
#include "attend/base/replacement.h"

namespace attend::tasks {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr size_t kMostListed = size_t{1} << 30;  // bytes of one file
constexpr size_t kMostManifest = size_t{1} << 20;
constexpr const char *kFiles = "files", *kBytes = "bytes", *kXxh64 = "xxh64";

struct Listed {
  uint64_t bytes = 0;
  std::string checksum;
};

Listed listing_of(const fs::path& path) {
  const std::string bytes = read_file(path, kMostListed);
  return {bytes.size(), Checksum().add(bytes).text()};
}

/// By name; empty where there is no manifest.
std::map<std::string, Listed> read_manifest(const fs::path& folder) {
  if (!fs::exists(folder / kManifest)) return {};
  const std::string where = (folder / kManifest).string();
  const ordered_json all = ordered_json::parse(manifest_text(folder), nullptr, false);
  const auto expect = [&](bool met, const std::string& what) {
    require(met, where, ": expected ", what, "; it is damaged: remove it to load the folder unchecked");
  };
  expect(all.is_object() && all.contains(kFiles) && all[kFiles].is_object(), "a list of files in JSON");
  std::map<std::string, Listed> files;
  for (const auto& [name, one] : all[kFiles].items()) {
    const bool has_both = one.is_object() && one.contains(kBytes) && one[kBytes].is_number_unsigned() &&
                          one.contains(kXxh64) && one[kXxh64].is_string();
    expect(has_both, "bytes and xxh64 of " + quoted(name));
    expect(fs::path(name).filename() == name, "names of files in this folder, got " + quoted(name));
    files[name] = {one[kBytes].get<uint64_t>(), one[kXxh64].get<std::string>()};
  }
  return files;
}

void check_one(const fs::path& path, const Listed& wanted) {
  const Listed got = listing_of(path);
  require(got.bytes == wanted.bytes, path.string(), ": expected ", wanted.bytes, " bytes, as ", kManifest,
          " says, got ", got.bytes, "; it is damaged, or was edited: if that is meant, remove ", kManifest);
  require(got.checksum == wanted.checksum, path.string(), ": expected the checksum ", quoted(wanted.checksum), ", as ",
          kManifest, " says, got ", got.checksum, "; it is damaged, or was edited: if that is meant, remove ",
          kManifest);
}

}  // namespace

void write_manifest(const fs::path& folder) {
  std::map<std::string, Listed> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (entry.is_regular_file() && name != kManifest) files[name] = listing_of(entry.path());
  }
  ordered_json all = ordered_json::object();
  for (const auto& [name, one] : files) all[name] = {{kBytes, one.bytes}, {kXxh64, one.checksum}};
  write_file(folder / kManifest, ordered_json{{kFiles, all}}.dump(2) + "\n");
}

void check_listed(const fs::path& folder) {
  for (const auto& [name, one] : read_manifest(folder)) check_one(file_within(folder, name), one);
}

void check_listed(const fs::path& folder, std::string_view name) {
  const std::map<std::string, Listed> files = read_manifest(folder);
  const auto found = files.find(std::string(name));
  if (found != files.end()) check_one(file_within(folder, found->first), found->second);
}

std::string unchecked_note(const fs::path& folder) {
  if (fs::exists(folder / kManifest)) return "";
  return "note: " + folder.string() + " has no " + kManifest + ", as version 0.1 wrote none: its files are unchecked";
}

std::string manifest_text(const fs::path& folder) {
  return fs::exists(folder / kManifest) ? read_file(file_within(folder, kManifest), kMostManifest) : "";
}

}  // namespace attend::tasks
