// docs/library.md shows code of the examples, which are built and run: not a line may differ.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// What stands between ```cpp and ```.
std::vector<std::string> code_in(const std::string& page) {
  constexpr std::string_view kBegin = "```cpp\n", kEnd = "```\n";
  std::vector<std::string> blocks;
  for (size_t at = page.find(kBegin); at != page.npos; at = page.find(kBegin, at)) {
    at += kBegin.size();
    blocks.push_back(page.substr(at, page.find(kEnd, at) - at));
  }
  return blocks;
}

TEST(LibraryPage, ShowsCodeThatIsBuiltAndRun) {
  const std::filesystem::path root = ATTEND_SOURCE_DIR;
  const std::vector<std::string> blocks = code_in(text_of(root / "docs/library.md"));
  EXPECT_GE(blocks.size(), 5u);
  const std::string programs = text_of(root / "examples/first/main.cc") + text_of(root / "examples/loop/main.cc");
  for (const std::string& block : blocks) EXPECT_NE(programs.find(block), programs.npos) << block;
}

TEST(LibraryPage, OneHeaderHasWhatATrainingLoopNeeds) {
  const std::string header = text_of(std::filesystem::path(ATTEND_SOURCE_DIR) / "attend/attend.h");
  for (const char* part : {"autograd/tape", "data/batch", "decode/search", "models/zoo", "nn/layer", "train/log",
                           "train/optimiser", "train/schedule", "train/trainer"}) {
    EXPECT_NE(header.find("#include \"attend/" + std::string(part) + ".h\"\n"), header.npos) << part;
  }
}

}  // namespace
