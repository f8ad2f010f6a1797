// Attention = read ∘ align ∘ mask ∘ score, composed here and nowhere else. Self-attention and attention to a source are
// the same class; several heads are a split, the same four stages, and a merge.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attend/attention/align.h"
#include "attend/attention/memory.h"
#include "attend/attention/observe.h"
#include "attend/attention/projection.h"
#include "attend/attention/score.h"
#include "attend/attention/window.h"
#include "attend/base/bounds.h"
#include "attend/nn/layers.h"

namespace attend {

struct AttentionConfig {
  // Widths of the inputs; a value width of 0 means that of the key. Set by the network, not by its user.
  int64_t query = 0, key = 0, value = 0;

  std::string score = "scaled_dot", window = "none", align = "softmax";
  std::string query_projection = "none", key_projection = "none", value_projection = "none";
  bool output_projection = false;  // of the merged heads, back to the query's width
  int64_t heads = 1;
  int64_t size = 0;                                    // width of what is projected, all heads together; 0: the query's
  double dropout = 0;                                  // on the weights
  int64_t hidden = 0, longest = 0, radius = 8;         // score
  int64_t filters = 10, reach = 16;                    // score location_aware
  int64_t width = 0;                                   // window
  double temperature = 1, coldest = 0.1, cooling = 0;  // align
  bool straight_through = false;
  bool coverage = false;  // the score sees how much of each key has been read

  template <class Visit>
  void fields(Visit&& visit) {
    visit("score", score, "how a query is compared with a key", bounds::one_of(scores()));
    visit("window", window, "which pairs of query and key count", bounds::one_of(windows()));
    visit("align", align, "how energies become weights", bounds::one_of(aligns()));
    visit("query_projection", query_projection, "none, linear or mlp", bounds::one_of(projections()));
    visit("key_projection", key_projection, "none, linear or mlp", bounds::one_of(projections()));
    visit("value_projection", value_projection, "none, linear or mlp", bounds::one_of(projections()));
    visit("output_projection", output_projection, "a linear layer after the heads are merged");
    visit("heads", heads, "number of heads", bounds::width());
    visit("size", size, "width of projections, all heads together; 0: the query's", bounds::width_or_none());
    visit("dropout", dropout, "on the weights", bounds::share());
    visit("hidden", hidden, "additive, concat, location_aware: width inside the score; 0: the query's",
          bounds::width_or_none());
    visit("longest", longest, "location: maximum number of positions of an input", bounds::count_or_none());
    visit("radius", radius, "convolution: relative positions up to this far have their own weight",
          bounds::width_or_none());
    visit("filters", filters, "location_aware: number of filters over the weights of the step before", bounds::width());
    visit("reach", reach, "location_aware: how far to each side a filter sees", bounds::width_or_none());
    visit("width", width, "sliding, local_m, local_p, median: reach of the window; causal: 0 is unlimited",
          bounds::count_or_none());
    visit("temperature", temperature, "gumbel: temperature at the start", bounds::above(0));
    visit("coldest", coldest, "gumbel: lowest temperature", bounds::above(0));
    visit("cooling", cooling, "gumbel: rate of cooling per update", bounds::at_least(0));
    visit("straight_through", straight_through, "gumbel: one-hot forwards");
    visit("coverage", coverage, "the score sees how much has been read of each place");
  }
};

/// Whether its score or its window looks at the weights of the step before, so that it takes one query at a time, and each
/// after the one before (AttentionStep::previous).
bool needs_previous(const AttentionConfig& config);
/// Refuses such a one by the option that asks for it, for networks that ask all at once or only once; names begin with
/// `prefix` ("attention.").
void refuse_previous(const AttentionConfig& config, const std::string& prefix);

/// Which attention of a network this is, for observers.
struct AttentionSite {
  std::string name = "attention";     ///< "decoder.memory"
  Purpose purpose = Purpose::source;  ///< what it is for
  int64_t layer = 0;                  ///< of the stack that it belongs to
};

struct AttentionRead {
  Var context;          ///< [N,Tq,context_size()]
  Var weights;          ///< [N,heads,Tq,Tk]; undefined where a fused kernel never made them
  Var log_probability;  ///< [N,heads,Tq] of the choices, for align = sample in training
  Var entropy;          ///< as log_probability
  Tensor centres;       ///< [N,heads,Tq] of windows that have one
  Var undropped;        ///< as weights, before dropout: what is copied by
  Var energies;         ///< what the weights were made of, of keys that do not count too; undefined where the weights are
};

class Attention {
 public:
  /// `site` is what observers see.
  Attention(const AttentionConfig& config, Random& random, AttentionSite site = {});

  /// keys [B,Tk,K] and values [B,Tk,V], of which the first lengths[b] count (empty: all).
  AttentionMemory prepare(const Var& keys, const Var& values, std::span<const int32_t> lengths = {}) const;
  /// Appends keys and values [B,T',·] to a memory (or starts one): a growing past, in training too. All sources must
  /// have the same length.
  void extend(AttentionMemory& memory, const Var& keys, const Var& values) const;
  /// queries [N,Tq,Q], one row for each of the memory's.
  AttentionRead operator()(const Var& queries, const AttentionMemory& memory, const AttentionStep& step = {}) const;
  /// Appends keys and values [N,1,·], then reads everything in the cache with queries [N,1,Q]. Not recorded. Rows that
  /// are not `active` append nothing (empty: all are active), so hypotheses may differ in length.
  AttentionRead operator()(const Var& queries, const Var& keys, const Var& values, AttentionCache& cache,
                           std::span<const uint8_t> active = {}) const;

  int64_t context_size() const;
  const AttentionConfig& config() const { return config_; }
  /// True if each query chooses a single key outside training.
  bool hard() const;
  void params(const nn::VisitParams& visit);
  /// The same parameters under another align: trained with "sample", used with "argmax".
  void set_align(const std::string& name);

 private:
  AttentionRead composed(const Var& queries, const AttentionMemory& memory, const AttentionStep& step) const;
  AttentionRead tiled(const Var& queries, const AttentionMemory& memory, const AttentionStep& step) const;
  AttentionRead by_row(const Var& queries, const AttentionMemory& memory, const AttentionStep& step) const;
  AttentionRead by_row(const Var& queries, const AttentionCache& cache) const;
  AttentionRead composed(const Var& queries, const AttentionCache& cache) const;
  AttentionRead finished(AttentionRead read) const;
  Observation observation(const Tensor& weights, const Tensor& centres, std::span<const int32_t> lengths,
                          int64_t position) const;
  void tell(const Tensor& weights, const Tensor& centres, std::span<const int32_t> lengths, int64_t position) const;
  void prepare_heads(AttentionMemory& memory) const;
  const AttentionMemory& with_heads(const AttentionMemory& memory) const;
  real scale() const;

  AttentionConfig config_;
  AttentionSite site_;
  Projection query_, key_, value_;
  std::vector<std::unique_ptr<Score>> scores_;    // by head
  std::vector<std::unique_ptr<Window>> windows_;  // by head, or one for all
  std::unique_ptr<Align> align_;
  std::vector<nn::Linear> output_;  // none or one
  Var coverage_;                    // γ, where the score itself does not take coverage
  Var temperature_;                 // [1] that training reached (AlignOptions::reached): saved, never optimised
  bool fused_ = false;              // the fused kernels support all four stages
};

}  // namespace attend
