// Feeds any bytes to the readers of manifests of sounds and of times, and as a pattern and a name to be matched; what is not an
// attend::Error, or breaks what these promise, is a bug.
#include <cstdint>
#include <exception>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "attend/base/error.h"
#include "attend/data/name_pattern.h"
#include "attend/data/sound_manifest.h"

namespace {

using attend::data::LineReader;

void check(bool held) {
  if (!held) std::terminate();
}

template <class Act>
void attempt(Act&& act) {
  try {
    act();
  } catch (const attend::Error&) {
  }
}

void match(std::string_view text) {
  const size_t end = text.find('\n');
  if (end == text.npos) return;
  const attend::data::NamePattern pattern(text.substr(0, end));
  const std::string_view name = text.substr(end + 1);
  if (const auto parts = pattern.match(name)) {
    check(!pattern.has_label() || (!parts->label.empty() && name.find(parts->label) != name.npos));
    check(!pattern.has_group() || (!parts->group.empty() && name.find(parts->group) != name.npos));
    check(parts->number >= -1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  attempt([&] {
    const auto rows = attend::data::read_sound_rows(LineReader(bytes, "fuzz"));
    check(!rows.empty());
    for (const auto& row : rows) {
      check(!row.id.empty() && std::filesystem::path(row.id).is_relative());
      check(row.line > 0 && row.begin >= 0 && (row.end == 0 || row.end > row.begin));
    }
  });
  attempt([&] {
    for (const auto& [name, labels] : attend::data::read_ctm(LineReader(bytes, "fuzz"))) {
      check(!name.empty() && !labels.empty());
      double last = 0;
      for (const auto& label : labels) {
        check(label.begin >= last && label.end >= label.begin);
        last = label.begin;
      }
    }
  });
  attempt([&] { match({reinterpret_cast<const char*>(data), size}); });
  return 0;
}
