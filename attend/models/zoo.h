// The zoo: every network by name, with its options by name. Help, option checks, documents and tests iterate over it.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/base/options.h"
#include "attend/models/model.h"

namespace attend {
class SafetensorsFile;
}

namespace attend::models {

/// What a network reads: text, pixels, frames of sound; several at once (a | b) if its options decide.
enum class Reads : uint8_t { words = 1, images = 2, sound = 4, either = words | images, any = words | images | sound };
constexpr Reads operator|(Reads a, Reads b) { return static_cast<Reads>(static_cast<int>(a) | static_cast<int>(b)); }
constexpr Reads operator&(Reads a, Reads b) { return static_cast<Reads>(static_cast<int>(a) & static_cast<int>(b)); }
/// Whether it reads that, with some of its options.
constexpr bool can_read(Reads network, Reads what) { return (network & what) == what; }
/// What it answers with: a sequence that it ends itself, one label, a label for each token of its source, a stretch of its
/// first part, told by its first and last token (all by begin and next), or an image (begin and next throw).
enum class Answers { words, label, tags, span, image };

struct ModelRow {
  std::string_view name, summary, paper;
  /// The network with these settings over its defaults; an unknown option is rejected and the nearest suggested.
  std::unique_ptr<Model> (*make)(const Settings& settings, Random& random);
  /// All its options with these settings over their defaults; in both, names begin with `prefix` ("model.").
  std::vector<OptionInfo> (*options)(const SettingList& settings, const std::string& prefix);
  Reads reads = Reads::words;
  Answers answers = Answers::words;
  /// If its options decide: what a network with these settings reads. If that is several: sound if it is given the width of
  /// a frame (encoder.features), text if it is given a source vocabulary, otherwise images.
  Reads (*reads_with)(const Settings& settings) = nullptr;
  /// It reads the part ".sentence" of its first part: which sentence each token belongs to, from 0.
  bool sentences = false;

  Reads reads_of(const Settings& settings) const { return reads_with ? reads_with(settings) : reads; }
};
std::span<const ModelRow> zoo();
const ModelRow& model_row(std::string_view name);
std::unique_ptr<Model> make_model(std::string_view name, const Settings& settings, Random& random);

/// All parameters as safetensors, by name, with a checksum.
void save_weights(Model& model, const std::filesystem::path& path);
/// The parameter's value in a file; rejects one with elements that are not finite. A constant that is saved beside the weights,
/// as a temperature is, keeps its value if the file has none: earlier versions saved fewer of them.
Tensor saved_value(const SafetensorsFile& file, const std::string& name, const Var& parameter);
/// Restores them; rejects a file that is damaged, lacks one, has an extra one, or has one of another shape or with elements
/// that are not finite. A file that is rejected changes nothing.
void load_weights(Model& model, const std::filesystem::path& path);
/// Rejects a file that load_weights would reject.
void check_weights(Model& model, const std::filesystem::path& path);
/// Restores those whose names and shapes match, and leaves the others as they are. Returns how many it took; rejects a
/// file that has none.
int64_t take_weights(Model& model, const std::filesystem::path& path);
/// Puts vectors that others have trained (data/vectors.h) in the place of those of the source words, `words` from kFirstWord on.
/// Words without one keep their own. Tells how many there were; refuses a network without such a table, or of another width.
int64_t take_vectors(Model& model, const std::filesystem::path& path, std::span<const std::string> words);

}  // namespace attend::models
