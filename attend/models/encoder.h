// Encoders: turn whatever is read (text, images, sound) into vectors for decoders and labellers, with `Encoded` as the
// interface. A network is an encoder of this table with a decoder (encoder_decoder.h) or an output layer (classifier.h,
// tagger.h, image_classifier.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "attend/attention/align.h"
#include "attend/attention/score.h"
#include "attend/base/bounds.h"
#include "attend/base/error.h"
#include "attend/models/given_weights.h"
#include "attend/models/model.h"
#include "attend/models/source_embedding.h"
#include "attend/nn/recurrent.h"

namespace attend::models {

/// Rows and columns of the cells of an image; 0 × 0 if there are none.
struct GridSize {
  int64_t height = 0, width = 0;
  int64_t cells() const { return height * width; }
};

/// B sources as vectors.
struct Encoded {
  Var states;                        ///< [B,T,D]: one vector for each place (word, cell, some frames of sound)
  Var by_time;                       ///< [T,B,D]: the states again, if the encoder has them so; else undefined
  std::vector<int32_t> lengths;      ///< how many of the T places each source has; empty: all
  Var summary;                       ///< [B,D]: the whole source; the last state, or the mean of all
  GridSize grid;                     ///< if the places are the cells of an image, row by row
  std::vector<RecurrentState> last;  ///< [B,H] of every layer, forward before backward; empty: the summary stands in
  Var words;                         ///< [T,B,E] as read, for a decoder that rereads them; undefined: the states
  Ids copies;                        ///< [B,T]: what copying a place says, −1: nothing; empty: nothing can be copied
  GivenWeights given = {};  ///< where the answers look, in place of where attention would; none: they compute it
};

/// The widths of `Encoded`, known before anything is read, from which decoders are built.
struct EncodedSizes {
  int64_t states = 0;      ///< D
  int64_t words = 0;       ///< E; 0: there are none
  int64_t layers = 0;      ///< with a last state; 0: there are none
  int64_t state = 0;       ///< H of these
  int64_t directions = 1;  ///< of reading: 2 if a layer has a last state for each
  int64_t stride = 0;      ///< how many frames of sound a place stands for; 0: places are not frames

  /// How many places a source of so many words or frames has.
  int64_t places(int64_t length) const { return stride > 0 ? (length + stride - 1) / stride : length; }
};

class TokenEmbedding;

/// Reads one sound piece by piece. It gives the states of the whole one after the other (bit for bit: kernels::SteadyRows).
class EncoderStream {
 public:
  virtual ~EncoderStream() = default;
  /// Frames [t,F] → the states [n,D] of the places that they complete; n may be 0.
  virtual Tensor push(const Tensor& frames) = 0;
  /// No more frames follow: the states of the places that are left. Later calls throw Error.
  virtual Tensor finish() = 0;
};

class Encoder {
 public:
  virtual ~Encoder() = default;
  /// Rejects sources of the wrong kind or size, and empty ones.
  virtual Encoded operator()(const data::Source& source, Training* training) const = 0;
  virtual EncodedSizes sizes() const = 0;
  int64_t output_size() const { return sizes().states; }
  virtual void params(const nn::VisitParams& visit) = 0;

  /// The most places that a source may have (learned positions have a limit); 0: any.
  virtual int64_t longest() const { return 0; }
  /// The vectors of the source words [words,E]; undefined if it reads no words.
  virtual Var word_table() const { return {}; }
  /// Its words with their positions, for a decoder that shares them; null unless it is a Transformer's.
  virtual const TokenEmbedding* tokens() const { return nullptr; }
  /// Reads a sound while it is heard; it must not outlive the encoder. Null if a state depends on what follows it.
  virtual std::unique_ptr<EncoderStream> stream() const { return nullptr; }
};

struct EncoderOptions;
struct ImageEncoderOptions;
struct SequenceEncoderOptions;

struct EncoderRow {
  std::string_view name, formula, paper;
  /// One for each kind of input; null if it cannot read that.
  std::unique_ptr<Encoder> (*of_text)(const EncoderOptions& options, Random& random);
  std::unique_ptr<Encoder> (*of_images)(const ImageEncoderOptions& options, Random& random);
  std::unique_ptr<Encoder> (*of_sound)(const SequenceEncoderOptions& options, Random& random);
  bool grid = false;  ///< it has a place for each cell of an image
};
std::span<const EncoderRow> encoders();
const EncoderRow& encoder_row(std::string_view name);

/// How the blocks of a Transformer are built.
struct BlockOptions {
  std::string norm = "pre";         // before each part (Xiong et al. 2020), after it ("post", Vaswani et al. 2017), or "none"
  bool residual = true;             // what a part reads is added to what it says
  std::string activation = "relu";  // or "gelu"
  std::string score = "scaled_dot", align = "softmax";
  int64_t window = 0;  // self-attention reaches this far; 0: everywhere

  template <class Visit>
  void fields(Visit&& visit) {
    visit("norm", norm, "transformer: layer norm before (pre) or after (post) each part, or none",
          bounds::one_of({"pre", "post", "none"}));
    visit("residual", residual, "transformer: what a part reads is added to what it says");
    visit("activation", activation, "transformer: relu or gelu, in the feed-forward layers",
          bounds::one_of({"relu", "gelu"}));
    visit("score", score, "transformer: of every attention", bounds::one_of(scores()));
    visit("align", align, "transformer: of every attention", bounds::one_of(aligns()));
    visit("window", window, "transformer: how far self-attention reaches; 0: everywhere", bounds::count_or_none());
  }
};

/// Options of encoders that read text.
struct EncoderOptions {
  std::string kind = "recurrent";
  int64_t vocabulary = 0;
  int64_t size = 256, layers = 1;
  std::string cell = "lstm";  // recurrent
  bool bidirectional = true;
  std::string directions = "concat";
  int64_t heads = 4, hidden = 1024;  // transformer
  std::string positions = "auto";    // transformer, none
  int64_t longest = 1024;
  std::string windows = "3,4,5";  // convolutional
  double dropout = 0, word_dropout = 0;
  LetterOptions letters;
  BlockOptions blocks;
  int64_t marks = 0;  // of words (SourceEmbeddingOptions); set by the network, not by its user

  template <class Visit>
  void fields(Visit&& visit) {
    visit(
        "kind", kind,
        "recurrent, transformer, convolutional, intra (an lstm that attends to its own past) or none (the words alone)",
        bounds::one_of(encoders()));
    visit("vocabulary", vocabulary, "number of input words", bounds::count_or_none());
    visit("size", size, "width of a word and of a state", bounds::width());
    visit("layers", layers, "number of layers", bounds::layers());
    visit("cell", cell, "recurrent: rnn, gru or lstm", bounds::one_of(nn::cells()));
    visit("bidirectional", bidirectional, "recurrent: read in both directions");
    visit("directions", directions,
          "recurrent, bidirectional: the two states of a word are joined (concat) or added (add)",
          bounds::one_of({"concat", "add"}));
    visit("heads", heads, "transformer: heads", bounds::width());
    visit("hidden", hidden, "transformer: width inside the feed-forward layers", bounds::width());
    visit("positions", positions,
          "transformer, none: how positions are marked: sinusoidal, learned or none; auto: sinusoidal for a "
          "transformer, otherwise none",
          bounds::one_of({"auto", "sinusoidal", "learned", "none"}));
    visit("longest", longest, "transformer, none: number of learned positions", bounds::count_or_none());
    visit("windows", windows, "convolutional: how many words each kind of filter sees at once", bounds::widths());
    visit("dropout", dropout, "on words and between layers", bounds::share());
    visit("word_dropout", word_dropout,
          "share of the words that training hides, so that letters and neighbours are used", bounds::share());
    visit("letters", letters, "");
    visit("blocks", blocks, "");
  }
};

/// How frames of sound may be prepared for an encoder.
struct FrontRow {
  std::string_view name, formula, paper;
  int64_t stride;  ///< frames for each place
};
std::span<const FrontRow> fronts();

/// Options of encoders that read a sequence: frames of sound if they have a width, otherwise text.
struct SequenceEncoderOptions : EncoderOptions {
  int64_t features = 0;
  std::string front = "none";
  int64_t front_filters = 32;
  int64_t pyramid = 2;

  template <class Visit>
  void fields(Visit&& visit) {
    EncoderOptions::fields(visit);
    visit("features", features, "sound: width of a frame; 0: it reads no sound", bounds::width_or_none());
    visit("front", front,
          "sound: what frames pass first: none, or convolutional (two layers, each of which halves time and frequency)",
          bounds::one_of(fronts()));
    visit("front_filters", front_filters, "sound, front convolutional: channels of each layer", bounds::width());
    visit("pyramid", pyramid, "listener: layers on top, each of which reads two states of the one below as one",
          bounds::within(0, 16));
  }
};

/// The embedding that these options describe.
inline SourceEmbeddingOptions words_of(const EncoderOptions& o) {
  return {o.vocabulary, o.size, o.word_dropout, o.letters, o.marks};
}

/// The encoder of that kind; throws Error if it does not read text, images, or sound.
std::unique_ptr<Encoder> make_encoder(const EncoderOptions& options, Random& random);
std::unique_ptr<Encoder> make_encoder(const SequenceEncoderOptions& options, Random& random);
std::unique_ptr<Encoder> make_encoder(const ImageEncoderOptions& options, Random& random);

/// The option `texts` of networks that read all texts of a source as one (data::joined_texts).
constexpr const char* kTextsHelp =
    "number of texts that a source has; several are read as one, one after the other, each marked by a vector of its "
    "own";
inline Bounds texts_bounds() { return bounds::within(1, 16); }
/// The option `r_drop` of networks that answer in words (R-Drop; Liang et al. 2021).
constexpr const char* kRDropHelp =
    "training reads each batch twice, with other dropout: the weight of how far both answers are apart (R-Drop); 0: it "
    "reads once";
/// Throws OptionError where nothing would make two passes differ; `dropout`: the largest there is.
inline void require_r_drop(double r_drop, double dropout) {
  require_option(r_drop == 0 || dropout > 0, "r_drop",
                 "expected 0 without dropout, which alone makes two passes differ, got ", r_drop);
}
/// Kinds of marks that their words need; none for a single text.
inline int64_t marks_of(int64_t texts) { return texts > 1 ? texts : 0; }
/// `encoder` over sources of so many texts: places of the second follow those of the first. Of one text: itself.
std::unique_ptr<Encoder> of_texts(int64_t texts, std::unique_ptr<Encoder> encoder);

/// The mean of each source's states [B,T,D] within its length (empty: all T): [B,D].
Var mean_state(const Var& states, std::span<const int32_t> lengths);
/// The largest value of each feature within each source's length: [B,D].
Var max_state(const Var& states, std::span<const int32_t> lengths);

}  // namespace attend::models
