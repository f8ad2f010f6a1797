#include "attend/data/sound_manifest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "attend/base/joined.h"
#include "tests/data/sound_files.h"
#include "tests/data/zip_file.h"
#include "tests/support/folder.h"
#include "tests/support/message.h"

namespace attend::data {
namespace {

namespace fs = std::filesystem;
using test::message_of;
using test::npy_bytes;
using test::says;
using test::sound_bytes;
using test::tone;

/// A folder of sounds and whatever describes them.
class SoundManifest : public testing::Test {
 protected:
  /// Of `count` samples at 16 kHz.
  void sound(const std::string& name, size_t count = 1600) {
    write(name, sound_bytes(SF_FORMAT_WAV | SF_FORMAT_PCM_16, 16000, 1, tone(count, 440, 16000)));
  }
  void write(const std::string& name, const std::string& bytes) {
    fs::create_directories((folder_.path() / name).parent_path());
    folder_.file(name, bytes);
  }
  fs::path path(const std::string& name = "") const { return name.empty() ? folder_.path() : folder_.path() / name; }

  std::vector<SoundEntry> read(SoundFiles files) {
    Broken broken(OnBroken::kRefuse);
    return read_sound_entries(files, broken);
  }
  std::string refusal(const SoundFiles& files) {
    return message_of([&] { read(files); });
  }
  static std::string texts(const std::vector<SoundEntry>& entries) {
    return attend::joined(entries, "; ", [](const SoundEntry& e) { return e.name + "=" + e.transcript; });
  }

  test::TestFolder folder_;
};

TEST_F(SoundManifest, OfIdsFindsSoundsBesideItAndInSubFolders) {
  sound("dev-clean/1272-128104-0001.wav");
  sound("dev-clean/1462/1462-170138-0000.wav");
  write("dev-clean.tsv", "1272-128104-0001\t1600\tNOR IS  MISTER\n\n1462-170138-0000\t1600\tTHE LITTLE\n");
  const auto entries = read({.manifest = path("dev-clean.tsv"), .pattern = "{group}-{}-{}"});
  EXPECT_EQ(texts(entries), "1272-128104-0001=NOR IS MISTER; 1462-170138-0000=THE LITTLE");
  EXPECT_EQ(entries[1].file, path("dev-clean/1462/1462-170138-0000.wav"));
  EXPECT_EQ(entries[1].group, "1462");
  EXPECT_EQ(load_sound(entries[0], 8000).samples.size(), 800u);
  EXPECT_DOUBLE_EQ(entry_seconds(entries[0]), 0.1);
}

TEST_F(SoundManifest, OfPathsTakesThemFromItsFolderOrAnother) {
  sound("a/x.wav"), sound("b/x.wav"), sound("y.wav");
  write("list.tsv", "a/x.wav\tone\nb/x\ttwo\ny.wav\tthree\n");
  EXPECT_EQ(texts(read({.manifest = path("list.tsv")})), "a/x=one; b/x=two; y=three");
  write("other.tsv", "x\tone\n");
  EXPECT_EQ(texts(read({.manifest = path("other.tsv"), .sounds = path("b")})), "x=one");
  EXPECT_TRUE(says(refusal({.manifest = path("other.tsv")}),
                   "1 ids that several sounds have: " + path("other.tsv").native() + ":1 \"x\" in " + path().native()));
}

TEST_F(SoundManifest, MayNameItsColumns) {
  sound("a.wav", 16000);
  write(
      "list.tsv",
      "Client_ID\tpath\tstart\tend\tSentence\tage\nann\ta.wav\t0.25\t0.5\thello there\t30\nbob\ta.wav\t0.5\t\tyes\t\n");
  EXPECT_TRUE(says(refusal({.manifest = path("list.tsv")}), ":3: expected where it ends in seconds, got \"\""));
  write("list.tsv",
        "Client_ID\tpath\tstart\tend\tSentence\tage\nann\ta.wav\t0.25\t0.5\thello "
        "there\t30\nbob\ta.wav\t0.5\t1.01\tyes\t\n");
  write("words.ctm", ";; comment\na 1 0.1 0.2 hello 0.99\na 1 0.4 0.3 there\n");
  const auto entries = read({.manifest = path("list.tsv"), .words = path("words.ctm")});
  EXPECT_EQ(texts(entries), "a:0.25-0.5=hello there; a:0.5-1.01=yes");
  EXPECT_EQ(entries[0].group, "ann");
  EXPECT_EQ(load_sound(entries[0]).samples.size(), 4000u);
  EXPECT_EQ(load_sound(entries[1]).samples.size(), 8000u);
  ASSERT_EQ(entries[0].words.size(), 2u);
  EXPECT_NEAR(entries[0].words[0].end, 0.05, 1e-9);
  EXPECT_NEAR(entries[0].words[1].begin, 0.15, 1e-9);
  EXPECT_NEAR(entries[0].words[1].end, 0.25, 1e-9);
  ASSERT_EQ(entries[1].words.size(), 1u);
  EXPECT_NEAR(entries[1].words[0].end, 0.2, 1e-9);
}

TEST_F(SoundManifest, MayComeFromASpreadsheet) {
  sound("a.wav"), sound("b.wav"), sound("c.wav");
  write("list.tsv", "\xEF\xBB\xBF\"file\"\t\"text\"\r\n\"a.wav\"\t\"he said \"\"yes\"\"\"\r\nb.wav\t\"A\" and \"B\"\r\n"
                    "c.wav\t\"no\" he said\r\n");
  EXPECT_EQ(texts(read({.manifest = path("list.tsv")})), "a=he said \"yes\"; b=\"A\" and \"B\"; c=\"no\" he said");
  write("empty.tsv", "a.wav\t\"\"\n");
  EXPECT_TRUE(says(refusal({.manifest = path("empty.tsv")}), "1 empty transcripts"));
}

TEST_F(SoundManifest, OfAFolderHasTranscriptsBesideTheSounds) {
  sound("b.wav"), sound("sub/a.wav");
  write("b.txt", "to be\nor not\n"), write("sub/a.lab", " yes "), write("README.txt", "not a transcript");
  EXPECT_EQ(texts(read({.manifest = path()})), "b=to be or not; sub/a=yes");
  sound("c.wav");
  EXPECT_TRUE(says(refusal({.manifest = path()}), "1 sounds without a transcript: " + path("c.wav").native()));
  Broken broken(OnBroken::kSkip);
  EXPECT_EQ(texts(read_sound_entries({.manifest = path()}, broken)), "b=to be or not; sub/a=yes");
  EXPECT_EQ(broken.count(), 1);
}

TEST_F(SoundManifest, OfAFolderMayHaveLabelsInTheNames) {
  sound("7_jackson_32.wav"), sound("0_ann_3.wav");
  const SoundFiles files{.manifest = path(), .pattern = "{label}_{group}_{number}"};
  const auto entries = read(files);
  EXPECT_EQ(texts(entries), "0_ann_3=0; 7_jackson_32=7");
  EXPECT_EQ(entries[1].group, "jackson");
  EXPECT_EQ(entries[1].number, 32);
  sound("odd.wav");
  EXPECT_TRUE(says(refusal(files), "1 names of another kind than the pattern: " + path("odd.wav").native()));
  write("7_jackson_32.txt", "seven"), fs::remove(path("odd.wav"));
  EXPECT_EQ(texts(read(files)), "0_ann_3=0; 7_jackson_32=seven");
}

TEST_F(SoundManifest, OfFeaturesTakesArraysByName) {
  test::ZipFile zip;
  zip.add("an251-fash-b.npy", npy_bytes(3, 2, {1, 2, 3, 4, 5, 6}));
  zip.add("an253-mcsc-b.npy", npy_bytes(1, 2, {7, 8}));
  write("train.npz", zip.finished());
  write("train.tsv", "an253-mcsc-b\t1\tGO\nan251-fash-b\t3\tYES\n");
  const auto entries = read({.manifest = path("train.tsv"), .pattern = "{}-{group}-{}"});
  EXPECT_EQ(texts(entries), "an253-mcsc-b=GO; an251-fash-b=YES");
  EXPECT_EQ(entries[0].group, "mcsc");
  EXPECT_TRUE(entries[0].is_features());
  EXPECT_EQ(stored_frames(entries[1]), 3);
  EXPECT_EQ(std::get<Tensor>(load_entry(entries[1])).data()[5], 6);
  EXPECT_TRUE(says(message_of([&] { load_sound(entries[0]); }), "expected a sound, got features"));
  EXPECT_EQ(texts(read({.manifest = path("train.npz"), .pattern = "{label}-{group}-{}"})),
            "an251-fash-b=an251; an253-mcsc-b=an253");
  EXPECT_TRUE(says(refusal({.manifest = path("train.npz")}), "expected a manifest with the transcripts of its arrays"));
}

TEST_F(SoundManifest, OfFeaturesTakesAnNpyOfEach) {
  write("f/a.npy", npy_bytes(3, 2, {1, 2, 3, 4, 5, 6}));
  write("list.tsv", "a\thello\n");
  const auto entries = read({.manifest = path("list.tsv"), .sounds = path("f")});
  EXPECT_EQ(stored_frames(entries.at(0)), 3);
  EXPECT_EQ(std::get<Tensor>(load_entry(entries[0])).shape(), Shape({3, 2}));
  write("f/a.npy", npy_bytes(0, 2, {}));
  EXPECT_TRUE(says(refusal({.manifest = path("list.tsv"), .sounds = path("f")}),
                   "expected at least one frame of \"a\", got none"));
}

TEST_F(SoundManifest, NamesWhatIsBroken) {
  sound("s/a.wav"), sound("s/b.wav"), sound("s/c.wav");
  write("s/bad.wav", "Dear diary");
  const std::string list = path("list.tsv").native();
  write("list.tsv", "a\tone\ngone\ttwo\na\tthree\nb\t\nbad\tfour\nc\tfive\n");
  const SoundFiles files{.manifest = path("list.tsv"), .sounds = path("s")};
  const std::string said = refusal(files);
  EXPECT_TRUE(says(said, list + ": expected all files whole and in their place, got ")) << said;
  EXPECT_TRUE(says(said, "1 transcripts without a sound: " + list + ":2 \"gone\" in " + path("s").native())) << said;
  EXPECT_TRUE(says(said, "1 names that occur twice: " + list + ":3 \"a\"")) << said;
  EXPECT_TRUE(says(said, "1 empty transcripts: " + list + ":4 \"b\"")) << said;
  EXPECT_TRUE(says(said, "bad.wav: expected a WAV, FLAC or OGG sound, got a file that begins with \"Dear diary\""))
      << said;
  Broken skipped(OnBroken::kSkip);
  EXPECT_EQ(texts(read_sound_entries(files, skipped)), "a=one; c=five");
  EXPECT_EQ(skipped.count(), 4);
  Broken unopened(OnBroken::kSkip);
  EXPECT_EQ(texts(read_sound_entries(files, unopened, false)), "a=one; bad=four; c=five");
}

TEST_F(SoundManifest, FindsDamageBehindTheHeader) {
  sound("a.wav"), sound("b.wav");
  const std::string whole = sound_bytes(SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 16000, 1, tone(32000, 440, 16000));
  write("cut.flac", whole.substr(0, whole.size() / 2));
  std::vector<float> samples = tone(1600, 440, 16000);
  samples[700] = std::nanf("");
  write("nan.wav", sound_bytes(SF_FORMAT_WAV | SF_FORMAT_FLOAT, 16000, 1, samples));
  write("list.tsv", "a\tone\ncut\ttwo\nnan\tthree\nb\tfour\n");
  const SoundFiles files{.manifest = path("list.tsv")};
  const std::string said = refusal(files);
  EXPECT_TRUE(says(said, "2 sounds that cannot be read: " + path("cut.flac").native() + ": ")) << said;
  EXPECT_TRUE(says(said, path("nan.wav").native() + ": expected samples that are finite")) << said;
  Broken skipped(OnBroken::kSkip);
  EXPECT_EQ(texts(read_sound_entries(files, skipped)), "a=one; b=four");
}

TEST_F(SoundManifest, NamesFeaturesOfAnotherWidth) {
  write("a.npy", npy_bytes(1, 3, {1, 2, 3})), write("b.npy", npy_bytes(1, 2, {1, 2})), sound("c.wav");
  write("list.tsv", "a\tone\nb\ttwo\nc\tthree\n");
  const std::string said = refusal({.manifest = path("list.tsv")});
  EXPECT_TRUE(says(said, "b.npy: expected 3 numbers in each frame, as before, got 2 in those of \"b.npy\"") ||
              says(said, "b.npy: expected 3 numbers in each frame, as before, got 2 in those of \"b\"")) << said;
  EXPECT_TRUE(says(said, "c.wav: expected sounds alone or features alone, got a sound behind features")) << said;
}

TEST_F(SoundManifest, RefusesRowsThatAreNone) {
  sound("a.wav", 16000);
  const auto said = [&](const std::string& text) {
    write("list.tsv", text);
    return refusal({.manifest = path("list.tsv")});
  };
  EXPECT_TRUE(says(said("a\tone\nb\n"), "list.tsv:2: expected id<tab>…<tab>transcript, got 1 column"));
  EXPECT_TRUE(says(said("../a\tone\n"), "list.tsv:1: expected the id or path of a sound, relative to"));
  EXPECT_TRUE(says(said("/etc/x.wav\tone\n"), "list.tsv:1: expected the id or path of a sound, relative to"));
  EXPECT_TRUE(says(said("\n"), "list.tsv: expected at least one sound with its transcript, got none"));
  EXPECT_TRUE(
      says(said("id\ttext\na\tone\tx\n"), "list.tsv:2: expected 2 columns, as in the first line, got 3 columns"));
  EXPECT_TRUE(
      says(said("id\tbegin\tend\ttext\na\t0.5\t0.2\tx\n"), "list.tsv:2: expected an end behind 0.5 seconds, got 0.2"));
  EXPECT_TRUE(says(said("id\tbegin\tend\ttext\na\t0.5\t1.2\tx\n"),
                   "expected a stretch within its 1 seconds, got one up to 1.2"));
  EXPECT_TRUE(says(said("id\tbegin\tend\ttext\na\tnan\t1\tx\n"),
                   "list.tsv:2: expected where it begins in seconds, got \"nan\""));
  EXPECT_TRUE(says(refusal({.manifest = path("gone.tsv")}), "gone.tsv"));
  write("list.tsv", "a\tone\n");
  write("x.ctm", "a 1 0.5 0.1 b\na 1 0.4 0.1 c\n");
  EXPECT_TRUE(says(refusal({.manifest = path("list.tsv"), .words = path("x.ctm")}),
                   "x.ctm:2: expected labels in order, got one at 0.4 behind one at 0.5"));
  write("x.ctm", "a 1 0.5 b\n");
  EXPECT_TRUE(says(refusal({.manifest = path("list.tsv"), .phonemes = path("x.ctm")}),
                   "x.ctm:1: expected name, channel, begin"));
}

TEST(SoundParts, HaveNoGroupInCommonAndDoNotDependOnTheOrder) {
  std::vector<SoundEntry> entries;
  for (int i = 0; i < 400; ++i) {
    entries.push_back({.name = "s" + std::to_string(i), .file = {}, .group = "speaker " + std::to_string(i % 40)});
  }
  const auto groups_of = [&](const std::vector<size_t>& part, const std::vector<SoundEntry>& all) {
    std::vector<std::string> groups;
    for (const size_t i : part) groups.push_back(all[i].group);
    std::ranges::sort(groups);
    groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
    return groups;
  };
  const SoundParts parts = part_by_group(entries, 0.1, 0.2);
  EXPECT_EQ(parts.valid.size(), 40u);
  EXPECT_EQ(parts.test.size(), 80u);
  EXPECT_EQ(parts.train.size(), 280u);
  const auto train = groups_of(parts.train, entries), test = groups_of(parts.test, entries);
  std::vector<std::string> both;
  std::ranges::set_intersection(train, test, std::back_inserter(both));
  EXPECT_TRUE(both.empty());
  std::vector<SoundEntry> reversed(entries.rbegin(), entries.rend());
  EXPECT_EQ(groups_of(part_by_group(reversed, 0.1, 0.2).test, reversed), test);
  for (SoundEntry& entry : entries) entry.group = "";
  EXPECT_EQ(part_by_group(entries, 0.1, 0.1).valid.size(), 40u) << "each is a group of its own";
  EXPECT_EQ(part_by_group(entries, 0, 0).train.size(), 400u);
  EXPECT_TRUE(says(message_of([&] { part_by_group(entries, 0.6, 0.6); }), "expected shares of 0 to 1 together"));
}

}  // namespace
}  // namespace attend::data
