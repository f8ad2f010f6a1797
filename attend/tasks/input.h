// An input of a trained task: what a person gives becomes a part of a batch, and its places are the columns of every map.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

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
  bool continues = false;                     ///< part of a text whose first word is the last one of the part before
  int64_t offset = 0;                         ///< of a window: the byte of the whole text at which it begins
  std::vector<Ready> further = {};            ///< the other inputs of the example, in the task's order

  bool is_text() const { return image.pixels.empty() && !features.defined(); }
  /// How much of a batch it takes: tokens of a text; 0: there is nothing to read.
  int64_t length() const;
  /// The same of its longest input.
  int64_t longest() const;
  /// Whether there is nothing to read in one of its inputs.
  bool is_empty() const;
};

/// Told what is being prepared: "learning the vocabulary".
using Prepared = std::function<void(const std::string& what)>;

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

  /// Made ready in one piece, …
  virtual Ready ready(const Value& value) const = 0;
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
  /// Its places, for maps: the words of a text. An image has cells, which only its network knows: nothing.
  virtual explain::TraceSide side(const Ready& ready) const = 0;
  /// The tokeniser of a text; null for images.
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
