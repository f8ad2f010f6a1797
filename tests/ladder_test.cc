// Who may include whom (CONTRIBUTING.md, "Folders"): reads every #include of the tree and names each offending line.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;

/// The folders of attend/: each includes itself and those before it.
constexpr std::string_view kLadder[] = {"base",   "kernels", "tensor", "autograd", "nn",    "attention", "data",
                                        "models", "decode",  "train",  "explain",  "tasks", "dist"};
/// Folders beside attend/ whose headers attend/ must not know.
constexpr std::string_view kAbove[] = {"cli/", "serve/", "lab/", "bench/", "tests/", "examples/", "python/"};

/// What programs include of the library; it includes all of it, and nothing of the library includes it.
constexpr std::string_view kWhole = "attend/attend.h";

/// A library, by how its headers begin, and the folders that may include it.
struct Library {
  std::string_view name;
  std::string_view header;
  std::vector<std::string_view> folders;
};
const std::vector<Library> kLibraries = {
    {"oneDNN", "dnnl", {"attend/kernels/"}},
    {"oneDNN", "oneapi/dnnl/", {"attend/kernels/"}},
    {"Highway", "hwy/", {"attend/kernels/", "tests/kernels/"}},
    {"yaml-cpp", "yaml-cpp/", {"attend/base/", "tests/serve/"}},
    {"SentencePiece", "sentencepiece", {"attend/data/"}},
    {"zlib", "zlib.h", {"attend/data/", "tests/data/"}},
    {"librsvg", "librsvg/", {"attend/explain/"}},
    {"cairo", "cairo", {"attend/explain/"}},
    {"MPI", "mpi.h", {"attend/dist/"}},
    {"cpp-httplib", "httplib", {"tests/serve/"}},
    {"OpenSSL", "openssl/", {"serve/", "tests/serve/"}},
    {"libpng", "png.h", {"attend/data/"}},
    {"libjpeg", "jpeglib.h", {"attend/data/"}},
    {"libsndfile", "sndfile", {"attend/data/", "tests/data/"}},
    {"soxr", "soxr", {"attend/data/"}},
    {"KissFFT", "kiss", {"attend/data/"}},
};

/// Place in the ladder of "attend/<folder>/…"; the ladder's length if it is not one of its folders.
size_t rung(std::string_view path) {
  path.remove_prefix(std::string_view("attend/").size());
  return static_cast<size_t>(std::ranges::find(kLadder, path.substr(0, path.find('/'))) - std::begin(kLadder));
}

/// What is wrong with `file` including `header`; "" if nothing is.
std::string objection(const std::string& file, const std::string& header, bool quoted) {
  for (const Library& library : kLibraries) {
    if (!header.starts_with(library.header)) continue;
    const auto holds = [&](std::string_view folder) { return file.starts_with(folder); };
    if (std::ranges::none_of(library.folders, holds)) {
      return std::string(library.name) + " is only known to " + std::string(library.folders.front());
    }
  }
  const bool ours = header.starts_with("attend/");
  if (header == kWhole) return file.starts_with("attend/") ? "the library includes what it needs, not all of it" : "";
  if (ours && rung(header) == std::size(kLadder)) return "this folder is not in the ladder";
  if (!file.starts_with("attend/")) return "";
  if (file == kWhole) return ours ? "" : "it includes headers of the library only";
  if (rung(file) == std::size(kLadder)) return "the including file's folder is not in the ladder";
  if (ours && rung(header) > rung(file)) return "this folder comes later in the ladder";
  const auto above = [&](std::string_view folder) { return header.starts_with(folder); };
  if (std::ranges::any_of(kAbove, above)) return "the library knows nothing above itself";
  if (quoted && !ours) return "our headers are included as \"attend/…\", others in angle brackets";
  return "";
}

/// What a line includes, with its opening quote or bracket ("<vector", "\"attend/base/real.h"); "" if it includes nothing.
std::string included(std::string_view line) {
  const auto skip = [&line](std::string_view word) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    const bool there = line.starts_with(word);
    if (there) line.remove_prefix(word.size());
    return there;
  };
  if (!skip("#") || !skip("include") || !skip("") || !(line.starts_with('<') || line.starts_with('"'))) return "";
  return std::string(line.substr(0, line.find_first_of(">\"", 1)));
}

/// "file:line: #include …: objection" for each offending line below `root`.
std::vector<std::string> offences(const fs::path& root) {
  std::vector<std::string> found;
  for (const char* folder : {"attend", "cli", "serve", "lab", "bench", "tests", "examples"}) {
    if (!fs::exists(root / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (entry.path().extension() != ".h" && entry.path().extension() != ".cc") continue;
      const std::string file = fs::relative(entry.path(), root).generic_string();
      std::ifstream in(entry.path());
      int number = 0;
      for (std::string line; std::getline(in, line);) {
        ++number;
        const std::string header = included(line);
        if (header.empty()) continue;
        const std::string why = objection(file, header.substr(1), header[0] == '"');
        if (!why.empty()) found.push_back(file + ":" + std::to_string(number) + ": " + line + ": " + why);
      }
    }
  }
  std::ranges::sort(found);
  return found;
}

TEST(Ladder, EveryIncludeGoesDown) {
  for (const std::string& offence : offences(ATTEND_SOURCE_DIR)) ADD_FAILURE() << offence;
}

TEST(Ladder, TheTreeIsReallyRead) { EXPECT_TRUE(fs::exists(fs::path(ATTEND_SOURCE_DIR) / "attend/base/error.h")); }

/// A made-up tree of files, removed at the end.
class LadderOf : public testing::Test {
 protected:
  LadderOf() {
    std::string name = (fs::temp_directory_path() / "attend-ladder-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    root_ = name;
  }
  ~LadderOf() override { fs::remove_all(root_); }

  void write(const std::string& file, const std::string& text) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  /// The file:line of each offence.
  std::vector<std::string> places() const {
    std::vector<std::string> found;
    for (const std::string& offence : offences(root_)) found.push_back(offence.substr(0, offence.find(": ")));
    return found;
  }

  fs::path root_;
};

TEST_F(LadderOf, GoodFilesAreLeftAlone) {
  write("attend/base/a.h", "#include <vector>\n");
  write("attend/kernels/b.cc", "#include <hwy/highway.h>\n#include <dnnl.h>\n#include \"attend/kernels/b.h\"\n");
  write("attend/train/c.cc", "#include \"attend/decode/beam.h\"\n#include \"attend/base/a.h\"\n");
  write("cli/run.cc", "#include <CLI/CLI.hpp>\n#include \"attend/tasks/t.h\"\n#include \"cli/commands.h\"\n");
  write("tests/kernels/k_test.cc", "#include <hwy/targets.h>\n");
  write("attend/attend.h", "#include \"attend/base/a.h\"\n#include \"attend/train/c.h\"\n");
  write("examples/first/main.cc", "#include <iostream>\n#include \"attend/attend.h\"\n");
  EXPECT_EQ(places(), std::vector<std::string>{});
}

TEST_F(LadderOf, TheOffendingLineIsNamedWithItsReason) {
  write("attend/base/a.h", "// a\n\n#include \"attend/tensor/tensor.h\"\n");
  EXPECT_EQ(offences(root_), (std::vector<std::string>{"attend/base/a.h:3: #include \"attend/tensor/tensor.h\": "
                                                       "this folder comes later in the ladder"}));
}

TEST_F(LadderOf, EveryKindOfOffenceIsFound) {
  write("attend/autograd/ops/a.cc", "#include \"attend/nn/layer.h\"\n");
  write("attend/base/b.h", "#include \"attend/utils/b.h\"\n");
  write("attend/misc/c.h", "#include <vector>\n#include \"attend/base/b.h\"\n");
  write("attend/nn/d.cc", "  #  include  <dnnl.hpp>\n#include <hwy/highway.h>\n#include \"layer.h\"\n");
  write("attend/nn/e.cc", "#include <oneapi/dnnl/dnnl.h>\n#include \"cli/commands.h\"\n#include <mpi.h>\n");
  write("attend/train/f.cc", "#include <zlib.h>\n#include <httplib.h>\n#include <png.h>\n#include <sndfile.hh>\n");
  write("bench/g.cc", "#include <hwy/targets.h>\n#include \"attend/common/x.h\"\n");
  write("cli/h.cc", "#include <dnnl.h>\n");
  write("tests/nn/i_test.cc", "#include <hwy/targets.h>\n");
  write("attend/attend.h",
        "#include \"attend/base/b.h\"\n#include \"attend/utils/b.h\"\n#include \"cli/commands.h\"\n");
  write("attend/dist/j.cc", "#include \"attend/attend.h\"\n");
  write("examples/first/main.cc", "#include <dnnl.h>\n");
  EXPECT_EQ(places(),
            (std::vector<std::string>{"attend/attend.h:2",   "attend/attend.h:3",   "attend/autograd/ops/a.cc:1",
                                      "attend/base/b.h:1",   "attend/dist/j.cc:1",  "attend/misc/c.h:1",
                                      "attend/misc/c.h:2",   "attend/nn/d.cc:1",    "attend/nn/d.cc:2",
                                      "attend/nn/d.cc:3",    "attend/nn/e.cc:1",    "attend/nn/e.cc:2",
                                      "attend/nn/e.cc:3",    "attend/train/f.cc:1", "attend/train/f.cc:2",
                                      "attend/train/f.cc:3", "attend/train/f.cc:4", "bench/g.cc:1",
                                      "bench/g.cc:2",        "cli/h.cc:1",          "examples/first/main.cc:1",
                                      "tests/nn/i_test.cc:1"}));
}

}  // namespace
