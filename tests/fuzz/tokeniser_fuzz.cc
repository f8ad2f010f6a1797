// Feeds any bytes to the readers of vocabularies, and some text to what they make of them; whatever is not an attend::Error
// or ids within the vocabulary is a bug. SentencePiece itself is not instrumented.
#include <stdlib.h>

#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>

#include "attend/base/error.h"
#include "attend/data/tokeniser.h"

namespace {

namespace fs = std::filesystem;

void check(bool held) {
  if (!held) std::terminate();
}

fs::path make_folder() {
  std::string name = (fs::temp_directory_path() / "attend-fuzz-XXXXXX").string();
  check(::mkdtemp(name.data()) != nullptr);
  return name;
}

void load(const fs::path& folder, const char* file, const std::string& bytes) {
  std::ofstream(folder / file, std::ios::binary) << bytes;
  try {
    const auto tokeniser = attend::data::load_tokeniser(folder, "x");
    for (const char* text : {"a b", "Der große Hund", "…½ \xFF\t."}) {
      const attend::data::TokenisedWords result = tokeniser->tokenise(text);
      for (const int32_t id : result.ids) check(id >= 0 && id < tokeniser->size());
      tokeniser->words(result.ids);
    }
  } catch (const attend::Error&) {
  }
  fs::remove(folder / file);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const fs::path folder = make_folder();
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  load(folder, "x.spm", bytes);
  load(folder, "x.words", "attend words\n" + bytes);
  load(folder, "x.characters", "attend characters lowercase\n" + bytes);
  return 0;
}
