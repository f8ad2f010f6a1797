#include "cli/input_flags.h"

#include <algorithm>

#include "attend/base/error.h"
#include "attend/data/byte_stream.h"
#include "attend/tasks/typed.h"

namespace attend::cli {
namespace {

constexpr size_t kMostBytes = size_t{64} << 20;

std::string text_of(const std::string& path) {
  const std::unique_ptr<data::ByteStream> bytes = data::unpacked(data::file_bytes(path), path);
  std::string text;
  for (auto part = bytes->next(path); !part.empty(); part = bytes->next(path)) {
    text.append(part.begin(), part.end());
    require(text.size() <= kMostBytes, path, ": expected a text of at most ", kMostBytes >> 20, " MiB, got a longer one");
  }
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

}  // namespace

bool InputFlags::any() const {
  return std::ranges::any_of(files, [](const std::string& one) { return !one.empty(); });
}

std::string InputFlags::objection() const {
  for (size_t i = 1; i < files.size(); ++i) {
    if (!files[i].empty() && files[i - 1].empty()) {
      return "--" + std::string(row->inputs[i].name) + " needs --" + std::string(row->inputs[i - 1].name);
    }
  }
  return "";
}

std::vector<std::string> InputFlags::read() const {
  std::vector<std::string> texts;
  for (size_t i = 0; i < files.size() && !files[i].empty(); ++i) {
    texts.push_back(text_of(files[i]));
    tasks::check_typed(files[i], row->inputs[i].name, texts.back());
  }
  return texts;
}

}  // namespace attend::cli
