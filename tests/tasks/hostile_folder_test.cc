// Folders of models that somebody made to harm: refused before memory is taken, and without a look at what is not
// theirs.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "attend/base/memory.h"
#include "attend/tasks/comparison.h"
#include "attend/tasks/data_files.h"
#include "attend/tasks/facts.h"
#include "attend/tasks/model.h"
#include "attend/train/events.h"
#include "tests/support/folder.h"
#include "tests/support/message.h"

namespace attend::tasks {
namespace {

namespace fs = std::filesystem;
using test::message_of;
using test::says;
using test::TestFolder;

constexpr size_t kFewBytes = size_t{16} << 20;
constexpr const char* kSecret = "classified: [nobody may read this]\n";

/// A copy of one of the saved models.
class HostileFolder : public testing::Test {
 protected:
  fs::path path() const { return folder_.path() / "model"; }
  void copy(const std::string& model) const {
    fs::remove_all(path());
    fs::copy(fs::path(ATTEND_SOURCE_DIR "/tests/tasks/saved") / model, path());
  }
  void change(const std::string& from, const std::string& to) const {
    std::string text = folder_.bytes("model/config.yml");
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    folder_.file("model/config.yml", text.replace(at, from.size(), to));
  }
  /// What loading it says, having taken next to no memory.
  std::string refusal() const {
    memory::trim();
    memory::reset_peak();
    const size_t before = memory::usage().in_use;
    std::string said = message_of([&] { TaskModel::load(path()); });
    EXPECT_LT(memory::usage().peak - before, kFewBytes) << said;
    return said;
  }

  TestFolder folder_;
};

struct HostileOption {
  std::string model, from, to, said;
};

TEST_F(HostileFolder, OptionsBeyondItsWeightsAreRefused) {
  const std::string larger = "config.yml: expected the options of a network with as many weights as ";
  const HostileOption rows[] = {
      {"transformer", "encoder_layers: 1", "encoder_layers: 1000000", "model.encoder_layers: expected 0 to 1024, got"},
      {"transformer", "decoder_layers: 2", "decoder_layers: 16000000", "model.decoder_layers: expected 0 to 1024, got"},
      {"transformer", "\n  size: 8", "\n  size: 40000", larger},
      {"transformer", "\n  size: 8", "\n  size: 16777216", "model.size: expected 1 to 65536, got"},
      {"transformer", "hidden: 16", "hidden: 60000", larger},
      {"transformer", "hidden: 16", "hidden: 4294967296", "model.hidden: expected 1 to 65536, got"},
      {"transformer", "heads: 2", "heads: -9223372036854775807", "model.heads: expected 1 to 65536, got"},
      {"transformer", "\n  window: 0", "\n  window: 9223372036854775807", "model.window: expected 0 to"},
      {"transformer", "hidden: 16", "hidden: 99999999999999999999", "hidden"},
      {"recurrent", "layers: 1", "layers: 1000", larger},
      {"recurrent", "\n  hidden: ", "\n  hidden: 1000", larger},
      {"recurrent", "\n  embedding: ", "\n  embedding: 65536 #", larger},
      {"reread", "layers: 1", "layers: 1000000", "model.layers: expected 1 to 1024, got"},
      {"language_model", "\n  decoder_layers: ", "\n  decoder_layers: 1000000", "model.decoder_layers: expected 0 to 1024, got"},
      {"characters", "layers: 2", "layers: 1000", larger},
      {"captioner", "kernel: 3", "kernel: 999", larger},
      {"captioner", "convolutions: 1", "convolutions: 10000000", "convolutions: expected 1 to 1024, got"},
      {"autoencoder", "\n  code: ", "\n  code: 1000000", "model.code: expected 1 to 65536, got"},
      {"glimpse", "patch: 4", "patch: 4000", larger},
      {"glimpse", "glimpses: 6", "glimpses: 1000000", "model.glimpses: expected 1 to 1024, got 1000000"},
      {"glimpse", "copies_in_use: 1", "copies_in_use: 1000000", "model.copies_in_use: expected 1 to 1024, got"},
      {"glimpse", "\nsize: 28", "\nsize: 16000", "expected images of at most 4096×4096 pixels"},
      {"glimpse", "\nchannels: 1", "\nchannels: 1000000000", "channels: expected 0 to 65536, got"},
      {"transformer", "beam: 4", "beam: 2000000000", "search.beam: expected 1 to 10000, got"},
      {"transformer", "n_best: 1", "n_best: 2000000000", "search.n_best: expected 1 to 100000, got"},
      {"transformer", "min_length: 0", "min_length: 4294967296", "search.min_length: expected 0 to 100000, got"},
      {"transformer", "max_length: 0", "max_length: 2147483647", "search.max_length: expected 0 to 100000, got"},
  };
  for (const HostileOption& row : rows) {
    copy(row.model);
    ASSERT_EQ(refusal(), "") << row.model;
    change(row.from, row.to);
    const std::string said = refusal();
    EXPECT_TRUE(says(said, row.said)) << row.model << " with " << row.to << ": " << said;
    EXPECT_TRUE(says(said, "model/config.yml")) << said;
  }
}

const std::vector<std::string> kFilesOfText{"config.yml", "source.words", "target.words", "weights.safetensors"};

TEST_F(HostileFolder, APipeInPlaceOfAFileIsRefusedAndNotWaitedFor) {
  for (const std::string& name : kFilesOfText) {
    copy("recurrent");
    fs::remove(path() / name);
    ASSERT_EQ(::mkfifo((path() / name).c_str(), 0600), 0);
    EXPECT_EQ(refusal(), (path() / name).string() + ": expected a regular file, got a folder, a pipe or a device");
  }
  copy("glimpse");
  fs::remove(path() / "labels.txt");
  ASSERT_EQ(::mkfifo((path() / "labels.txt").c_str(), 0600), 0);
  EXPECT_TRUE(says(refusal(), "labels.txt: expected a regular file"));
  ASSERT_EQ(::mkfifo((path() / "log.jsonl").c_str(), 0600), 0);
  EXPECT_TRUE(says(message_of([&] { read_curve(path(), train::score_named("accuracy")); }), "expected a regular file"));
}

TEST_F(HostileFolder, LinksThatLeaveItAreRefusedAndNothingIsQuoted) {
  const fs::path secret = folder_.file("secret", kSecret);
  const auto refused = [&](const std::string& name) {
    const std::string said = refusal();
    EXPECT_TRUE(says(said, name + ": expected a file of the folder itself, got a symbolic link")) << said;
    EXPECT_FALSE(says(said, "classified") || says(said, "secret")) << said;
  };
  for (const std::string& name : kFilesOfText) {
    for (const fs::path& target : {secret, fs::path("../secret"), fs::path("/dev/zero")}) {
      copy("recurrent");
      fs::remove(path() / name);
      fs::create_symlink(target, path() / name);
      refused(name);
    }
  }
  copy("glimpse");
  fs::remove(path() / "labels.txt");
  fs::create_symlink(secret, path() / "labels.txt");
  refused("labels.txt");
}

/// What `attend info` reads, and a resumed run.
TEST_F(HostileFolder, ItsFactsAreReadFromItAlone) {
  const fs::path secret = folder_.file("secret", R"({"outcome": "classified", "step": 7})" "\n");
  const auto facts = [&] { return message_of([&] { facts_of(path()), saved_data_files(path()); }); };
  for (const std::string name : {"config.yml", "weights.safetensors", "log.jsonl", "result.json", "data.json"}) {
    copy("recurrent");
    ASSERT_EQ(facts(), "");
    fs::remove(path() / name);
    fs::create_symlink(secret, path() / name);
    EXPECT_TRUE(says(facts(), name + ": expected a file of the folder itself, got a symbolic link")) << facts();
    fs::remove(path() / name);
    ASSERT_EQ(::mkfifo((path() / name).c_str(), 0600), 0);
    EXPECT_TRUE(says(facts(), name + ": expected a regular file")) << facts();
    if (name != "log.jsonl") continue;
    EXPECT_TRUE(says(message_of([&] { train::JsonLog(path() / name, 3); }), name + ": expected a regular file"));
  }
}

TEST_F(HostileFolder, LinksThatStayInItAreFollowed) {
  copy("recurrent");
  fs::create_directory(path() / "files");
  for (const std::string& name : kFilesOfText) {
    fs::rename(path() / name, path() / "files" / name);
    fs::create_symlink(fs::path("files") / name, path() / name);
  }
  EXPECT_EQ(refusal(), "");
  fs::create_symlink("model", folder_.path() / "link");
  EXPECT_EQ(message_of([&] { TaskModel::load(folder_.path() / "link"); }), "") << "who asks may name it by a link";
}

TEST_F(HostileFolder, FilesOfAnySizeAreRefusedByTheirSize) {
  constexpr uintmax_t kHuge = uintmax_t{1} << 42;  // without a byte on the disk
  copy("recurrent");
  fs::resize_file(path() / "source.words", kHuge);
  EXPECT_TRUE(says(refusal(), "source.words: expected at most 536870912 bytes, got 4398046511104")) << refusal();
  copy("recurrent");
  std::string header = R"({"a":{"dtype":"F32","shape":[1099511627776],"data_offsets":[0,4398046511104]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const std::string length{static_cast<char>(header.size()), 0, 0, 0, 0, 0, 0, 0};
  folder_.file("model/weights.safetensors", length + header);
  fs::resize_file(path() / "weights.safetensors", 8 + header.size() + kHuge);
  EXPECT_TRUE(says(refusal(), "weights.safetensors: expected weights that fit into the ")) << refusal();
}

}  // namespace
}  // namespace attend::tasks
