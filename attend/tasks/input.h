// An input of a trained task: what a person gives becomes a part of a batch, and its places are the columns of every map.
#pragma once

#include <concepts>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attend/base/random.h"
#include "attend/data/tokeniser.h"
#include "attend/explain/trace.h"
#include "attend/tasks/config.h"
#include "attend/tasks/example.h"

namespace attend::tasks {

/// One value made ready for a network.
struct Ready {
  std::string text;                           ///< as it was given; "" for images
  data::TokenisedWords tokens;                ///< of a text
  std::vector<std::vector<int32_t>> letters;  ///< of each of its tokens, where the network looks inside words
  std::vector<int32_t> sentence_of;           ///< of each of its tokens, from 0, where the network reads sentences
  data::Image image;                          ///< as the network sees it, …
  Tensor features;                            ///< … or what another network made of it
  Tensor frames;                              ///< [T,F] of a sound, as the network hears them, …
  std::shared_ptr<const data::Sound> sound;   ///< … and the sound itself; null where only frames were given
  double begins = 0;                          ///< of a part of a sound: seconds
  bool continues = false;                     ///< part of a text whose first word is the last one of the part before
  int64_t offset = 0;                         ///< of a window: the byte of the whole text at which it begins
  std::vector<int32_t> given = {};  ///< where a right answer looks (data::Source::add_given), where that is told
  std::vector<Ready> further = {};            ///< the other inputs of the example, in the task's order

  bool is_text() const { return image.pixels.empty() && !features.defined() && !is_sound(); }
  bool is_sound() const { return frames.defined(); }
  bool is_image() const { return !is_text() && !is_sound(); }
  /// How much of a batch it takes: tokens of a text, frames of a sound; 0: there is nothing to read.
  int64_t length() const;
  /// The same of its longest input.
  int64_t longest() const;
  /// Whether there is nothing to read in one of its inputs.
  bool is_empty() const;
  /// Whether both can be in one batch: images have to be of one size.
  bool joins(const Ready& other) const;
};

/// Told what is being prepared: "learning the vocabulary"; and, where that takes long, how much of it is done.
class Prepared {
 public:
  using Say = std::function<void(const std::string& what)>;
  using Show = std::function<void(const std::string& what, int64_t done, int64_t total)>;

  template <class Told>
    requires std::invocable<Told, const std::string&>
  Prepared(Told say, Show show = {}) : say_(std::move(say)), show_(std::move(show)) {}  // NOLINT: a function is one

  void operator()(const std::string& what) const { say_(what); }
  void operator()(const std::string& what, int64_t done, int64_t total) const {
    if (show_) return show_(what, done, total);
    if (done == 0) say_(what);
  }

 private:
  Say say_;
  Show show_;
};

class Input {
 public:
  Input(const TaskConfig& config, std::string_view name) : config_(&config), name_(name) {}
  virtual ~Input() = default;
  const std::string& name() const { return name_; }
  /// The configuration that it reads; it has to outlive this.
  void set_config(const TaskConfig& config) { config_ = &config; }

  /// Learns from the corpus what it needs: a vocabulary, the size of images, which goes into the configuration.
  virtual void learn(const Corpus& corpus, TaskConfig& config, const Prepared& prepared) = 0;
  /// In place of learning and loading: takes over what another input of the same kind, of the same task, has learned.
  virtual void share(const Input& other) = 0;
  virtual void load(const std::filesystem::path& folder) = 0;
  virtual void save(const std::filesystem::path& folder) const = 0;
  /// Options of networks that follow from it, without "model.".
  virtual Settings sizes() const = 0;

  /// Most of what it reads that training has seen in one piece, as Ready::length counts it; 0: any.
  virtual int64_t longest() const { return 0; }

  /// Made ready in one piece, …
  virtual Ready ready(const Value& value) const = 0;
  /// … or to learn from: changed at random, where that helps.
  virtual Ready varied(const Value& value, Random& /*random*/) const { return ready(value); }
  /// … or in the parts that a network can take, where it has seen none of that length. `longest` tokens; 0: any.
  virtual std::vector<Ready> parts(const Value& value, int64_t longest) const = 0;
  /// … or as overlapping windows of at most `window` tokens (0: any), each `stride` tokens after the one before.
  virtual std::vector<Ready> windows(const Value& value, int64_t window, int64_t stride) const = 0;
  /// Adds its part of a batch.
  virtual void add_to(data::Source& source, std::span<const Ready* const> batch) const = 0;
  /// What a person typed: a text, or the name of a file.
  virtual Value typed(const std::string& given) const = 0;
  /// A small value to try a network with.
  virtual Value trial() const = 0;
  /// Its places, for maps: the words of a text, stretches of a sound, of which the network makes `places` out of its frames.
  /// An image has cells, which only its network knows: nothing.
  virtual explain::TraceSide side(const Ready& ready, int64_t places) const = 0;
  /// How frames are made of a sound; null for others, and where frames come ready-made.
  virtual const data::SoundFeatures* sound_features() const { return nullptr; }
  /// The tokeniser of a text; null for others.
  virtual const std::shared_ptr<data::Tokeniser>& tokeniser() const;

 protected:
  const TaskOptions& options() const { return config_->options; }
  const ModelChoice& model() const { return config_->model; }

 private:
  const TaskConfig* config_;
  std::string name_;
};

/// For a row of that kind.
template <class Kind>
std::unique_ptr<Input> make_input(const TaskConfig& config, std::string_view name) {
  return std::make_unique<Kind>(config, name);
}

}  // namespace attend::tasks
