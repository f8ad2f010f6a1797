#include "attend/train/events.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "attend/base/error.h"
#include "attend/base/folder_file.h"

namespace attend::train {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr std::array<uint32_t, 256> crc_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78u : 0);
    table[byte] = crc;
  }
  return table;
}

/// As in records: the checksum of data that contains checksums is a poor one.
uint32_t masked(uint32_t crc) { return std::rotr(crc, 15) + 0xa282ead8u; }

template <class Number>
std::string little_endian(Number number) {
  static_assert(std::endian::native == std::endian::little);
  return {reinterpret_cast<const char*>(&number), sizeof(number)};
}

// Protocol buffers: a field is its number and wire type, then its value.

std::string varint(uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}
enum Wire : uint64_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };
std::string key(uint64_t field, Wire wire) { return varint(field << 3 | wire); }
std::string number_field(uint64_t field, int64_t value) {
  return key(field, kVarint) + varint(static_cast<uint64_t>(value));
}
std::string bytes_field(uint64_t field, std::string_view bytes) {
  return key(field, kBytes) + varint(bytes.size()) + std::string(bytes);
}

// The messages of TensorBoard, by the numbers of their fields: event.proto, summary.proto.

std::string event(int64_t step, const std::string& what) {
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  return key(1, kFixed64) + little_endian(now.count()) + number_field(2, step) + what;
}
std::string file_version() { return bytes_field(3, "brain.Event:2"); }
std::string session_start() { return bytes_field(7, number_field(1, 1)); }
std::string summary(std::string_view tag, const std::string& value) {
  return bytes_field(5, bytes_field(1, bytes_field(1, tag) + value));
}
std::string simple_value(float value) { return key(2, kFixed32) + little_endian(value); }

void append(const Descriptor& file, const fs::path& path, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file.number(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(path.native(), ": cannot write it: ", system_reason(errno));
    bytes.remove_prefix(static_cast<size_t>(count));
  }
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  require(!error, folder.native(), ": cannot make the folder: ", error.message());
}

/// A new file; `path` becomes its name. TensorBoard reads them in the order of their names.
int create_events(const fs::path& folder, fs::path& path) {
  make_folder(folder);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  for (int count = 0;; ++count) {
    char name[80];
    std::snprintf(name, sizeof(name), "events.out.tfevents.%010lld.%03d.attend",
                  static_cast<long long>(std::chrono::duration_cast<std::chrono::seconds>(now).count()), count);
    path = folder / name;
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (file >= 0) return file;
    if (errno != EEXIST && errno != EINTR) fail(path.native(), ": cannot create it: ", system_reason(errno));
  }
}

/// A complete line of a step that the resumed run does not repeat.
bool kept(const std::string& line, int64_t resumed_at) {
  const ordered_json entry = ordered_json::parse(line, nullptr, false);
  if (!entry.is_object()) return false;
  const auto step = entry.find("step");
  return step != entry.end() && step->is_number() && step->get<double>() <= static_cast<double>(resumed_at);
}

/// The entries of an old log, which may not exist, that a run resumed at this step keeps.
std::string kept_entries(const fs::path& path, int64_t resumed_at) {
  std::ifstream in(file_within(path.parent_path(), path.filename()), std::ios::binary);
  std::string all;
  for (std::string line; std::getline(in, line) && !in.eof();) {  // at the end of the file: an unfinished line
    if (kept(line, resumed_at)) all += line + "\n";
  }
  return all;
}

int begin_log(const fs::path& path, std::optional<int64_t> resumed_at) {
  write_file(path, resumed_at ? kept_entries(path, *resumed_at) : "");
  const int file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0) fail(path.native(), ": cannot open it: ", system_reason(errno));
  return file;
}

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  static constexpr std::array<uint32_t, 256> kTable = crc_table();
  uint32_t crc = ~0u;
  for (const char c : bytes) crc = (crc >> 8) ^ kTable[(crc ^ static_cast<unsigned char>(c)) & 0xff];
  return ~crc;
}

std::string framed_record(std::string_view data) {
  const std::string length = little_endian(uint64_t{data.size()});
  return length + little_endian(masked(crc32c(length))) + std::string(data) + little_endian(masked(crc32c(data)));
}

EventFile::EventFile(const fs::path& folder, std::optional<int64_t> resumed_at) : file_(create_events(folder, path_)) {
  append(file_, path_, framed_record(event(0, file_version())));
  // TensorBoard discards what it has from the step of a start event on.
  if (resumed_at) append(file_, path_, framed_record(event(*resumed_at + 1, session_start())));
}

void EventFile::scalar(std::string_view tag, int64_t step, double value) {
  append(file_, path_, framed_record(event(step, summary(tag, simple_value(static_cast<float>(value))))));
}

JsonLog::JsonLog(const fs::path& path, std::optional<int64_t> resumed_at)
    : path_(path), file_(begin_log(path, resumed_at)) {}

void JsonLog::add(int64_t step, const LogEntry& entry) {
  ordered_json line{{"step", step}};
  for (const auto& [name, value] : entry) {
    std::visit([&, &name = name](const auto& plain) { line[name] = plain; }, value);
  }
  append(file_, path_, line.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n");
}

}  // namespace attend::train
