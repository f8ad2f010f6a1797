#include "attend/models/zoo.h"

#include <algorithm>
#include <set>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/data/vectors.h"
#include "attend/models/autoencoder.h"
#include "attend/models/captioner.h"
#include "attend/models/classifier.h"
#include "attend/models/ctc_model.h"
#include "attend/models/encoder_decoder_options.h"
#include "attend/models/glimpse.h"
#include "attend/models/image_classifier.h"
#include "attend/models/joint.h"
#include "attend/models/memory.h"
#include "attend/models/reader.h"
#include "attend/models/recurrent.h"
#include "attend/models/tagger.h"
#include "attend/models/transformer.h"
#include "attend/tensor/safetensors.h"

namespace attend::models {
namespace {

template <class Kind, class Options>
std::unique_ptr<Model> make(const Settings& settings, Random& random) {
  Options options;
  set_options("model", options, settings);
  return std::make_unique<Kind>(options, random);
}

/// What its kind of encoder reads, of what the network can; sound alone if frames have a width.
template <Reads possible>
Reads reads_by_encoder(const Settings& settings) {
  const auto value = [&](const char* name, const std::string& otherwise) {
    const auto found = settings.find(name);
    return found == settings.end() ? otherwise : found->second;
  };
  if (value("encoder.features", "0") != "0") return Reads::sound;
  const EncoderRow& row = encoder_row(value("encoder.kind", EncoderOptions().kind));
  Reads reads{};
  if (row.of_text) reads = reads | Reads::words;
  if (row.of_images) reads = reads | Reads::images;
  if (row.of_sound) reads = reads | Reads::sound;
  return reads & possible;
}

template <class Options>
std::vector<OptionInfo> options(const SettingList& settings, const std::string& prefix) {
  Options options;
  set_options(options, settings, prefix);
  return describe_options(options, prefix);
}

constexpr Reads kSequences = Reads::words | Reads::sound;

constexpr ModelRow kZoo[] = {
    {"recurrent", "recurrent encoder–decoder: fixed vector, reading again, or attention",
     "Cho et al. 2014; Sutskever et al. 2014; Bahdanau et al. 2015; Luong et al. 2015",
     make<RecurrentModel, RecurrentModelOptions>, options<RecurrentModelOptions>},
    {"transformer", "Transformer encoder–decoder", "Vaswani et al. 2017", make<Transformer, TransformerOptions>,
     options<TransformerOptions>},
    {"language_model", "Transformer decoder alone: source and target as one sequence",
     "Radford et al. 2018; Liu et al. 2018", make<TransformerLanguageModel, TransformerOptions>,
     options<TransformerOptions>},
    {"encoder_decoder",
     "any encoder under any decoder: a Transformer that describes images, a recurrent one over a Transformer", "",
     make<Preset<EncoderDecoderOptions>, EncoderDecoderOptions>, options<EncoderDecoderOptions>, Reads::any,
     Answers::words, reads_by_encoder<Reads::any>},
    {"joint", "an encoder–decoder whose encoder also learns, and answers, by CTC", "Watanabe et al. 2017",
     make<Joint, JointOptions>, options<JointOptions>, Reads::any, Answers::words, reads_by_encoder<Reads::any>},
    {"classifier", "one label for a sequence (many to one), by its last state or by attention pooling",
     "Lin et al. 2017", make<Classifier, ClassifierOptions>, options<ClassifierOptions>, kSequences, Answers::label,
     reads_by_encoder<kSequences>},
    {"tagger", "one label per step (many to many), each by itself or all together (crf)",
     "Graves & Schmidhuber 2005; Lample et al. 2016", make<Tagger, TaggerOptions>, options<TaggerOptions>, kSequences,
     Answers::tags, reads_by_encoder<kSequences>},
    {"reader", "the answer to a question as a span of a document, by attention both ways",
     "Seo et al. 2017; Clark & Gardner 2018", make<Reader, ReaderOptions>, options<ReaderOptions>, Reads::words,
     Answers::span},
    {"memory", "one label for a question about a document: hops of attention to its sentences",
     "Weston et al. 2015; Sukhbaatar et al. 2015", make<Memory, MemoryOptions>, options<MemoryOptions>, Reads::words,
     Answers::label, nullptr, true},
    {"ctc", "a sequence of labels without alignment", "Graves et al. 2006", make<CtcModel, CtcModelOptions>,
     options<CtcModelOptions>, kSequences, Answers::words, reads_by_encoder<kSequences>},
    {"captioner", "says what it sees: attention to the cells of an image, soft or drawn", "Xu et al. 2015",
     make<Captioner, CaptionerOptions>, options<CaptionerOptions>, Reads::images},
    {"image_classifier", "one label for an image, fully connected or convolutional", "LeCun et al. 1998",
     make<ImageClassifier, ImageClassifierOptions>, options<ImageClassifierOptions>, Reads::images, Answers::label},
    {"autoencoder", "an image through a bottleneck and back", "Hinton & Salakhutdinov 2006",
     make<Autoencoder, AutoencoderOptions>, options<AutoencoderOptions>, Reads::images, Answers::image},
    {"glimpse", "one label for an image, seen by a few patches at places that it chooses", "Mnih et al. 2014",
     make<GlimpseNetwork, GlimpseOptions>, options<GlimpseOptions>, Reads::images, Answers::label},
};

/// The values of all parameters, in their order.
std::vector<Tensor> read_weights(const std::vector<nn::NamedParam>& params, const std::filesystem::path& path) {
  const SafetensorsFile file(path);
  file.verify();
  std::set<std::string> names;
  std::vector<Tensor> saved;
  for (const nn::NamedParam& p : params) {
    saved.push_back(saved_value(file, p.name, p.var));
    require(saved.back().shape() == p.var.shape(), path.string(), ": expected ", p.name, " of shape ", p.var.shape(),
            ", got ", saved.back().shape());
    names.insert(p.name);
  }
  for (const auto& entry : file.entries()) {
    require(names.contains(entry.name), path.string(), ": this network has no parameter ", entry.name,
            "; the file is of another network");
  }
  return saved;
}

}  // namespace

std::span<const ModelRow> zoo() { return kZoo; }

const ModelRow& model_row(std::string_view name) { return row_named("model", kZoo, name); }

std::unique_ptr<Model> make_model(std::string_view name, const Settings& settings, Random& random) {
  return model_row(name).make(settings, random);
}

void save_weights(Model& model, const std::filesystem::path& path) {
  std::vector<NamedTensor> tensors;
  for (const nn::NamedParam& p : nn::parameters(model)) tensors.push_back({p.name, p.var.value()});
  write_checked_safetensors(path, tensors);
}

Tensor saved_value(const SafetensorsFile& file, const std::string& name, const Var& parameter) {
  return parameter.tracked() || file.find(name) ? file.read_finite(name) : parameter.value();
}

void load_weights(Model& model, const std::filesystem::path& path) {
  std::vector<nn::NamedParam> params = nn::parameters(model);
  const std::vector<Tensor> saved = read_weights(params, path);
  for (size_t i = 0; i < params.size(); ++i) {
    std::copy(saved[i].begin(), saved[i].end(), params[i].var.value().data());
  }
}

void check_weights(Model& model, const std::filesystem::path& path) { (void)read_weights(nn::parameters(model), path); }

int64_t take_weights(Model& model, const std::filesystem::path& path) {
  const SafetensorsFile file(path);
  file.verify();
  int64_t taken = 0;
  for (nn::NamedParam& p : nn::parameters(model)) {
    const auto same = [&](const auto& entry) { return entry.name == p.name && entry.shape == p.var.shape(); };
    if (std::ranges::none_of(file.entries(), same)) continue;
    const Tensor saved = file.read_finite(p.name);
    std::copy(saved.begin(), saved.end(), p.var.value().data());
    ++taken;
  }
  require(taken > 0, path.string(),
          ": expected weights of a network like this one, got none of the same name and shape");
  return taken;
}

int64_t take_vectors(Model& model, const std::filesystem::path& path, std::span<const std::string> words) {
  const Var table = model.word_table();
  require(table.defined(), "vectors: this network has no table of source words");
  const data::WordVectors vectors = data::read_vectors(path, words);
  const int64_t width = table.dim(1);
  require(vectors.width() == width, path.string(), ": expected vectors of ", width,
          " numbers, as wide as the network's words, got ", vectors.width(), "; set the width of its words to that");
  Tensor values = table.value();
  for (size_t i = 0; i < words.size(); ++i) {
    if (!vectors.found[i]) continue;
    std::copy_n(vectors.values.data() + static_cast<int64_t>(i) * width, width,
                values.data() + (static_cast<int64_t>(i) + data::kFirstWord) * width);
  }
  return vectors.count;
}

}  // namespace attend::models
