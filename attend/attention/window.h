// Window: which pairs of query and key may meet, and how much a pair counts by its place alone. Padding is not a window:
// keys beyond a sequence's length never count.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "attend/attention/step.h"
#include "attend/nn/layer.h"

namespace attend {

struct WindowOptions {
  int64_t query = 0;  // width Q of a query, for a predicted centre
  int64_t width = 0;  // D: how far from its centre a window reaches; causal: 0 means without limit
};

/// Keys [0, keys) of B sequences, of which the first lengths[b] count (empty: all).
struct KeyRange {
  int64_t batch = 0, keys = 0;
  std::span<const int32_t> lengths;
  int64_t length(int64_t b) const { return lengths.empty() ? keys : lengths[static_cast<size_t>(b)]; }
};

/// 1 where a query may see a key, 0 elsewhere: [B or 1,Tq or 1,Tk]; undefined: all may.
struct Windowed {
  Tensor mask;
  Var factor;      ///< [B,Tq,Tk] on the weights after align; undefined: 1
  Tensor centres;  ///< [B,Tq] for windows that have one
};

class Window {
 public:
  virtual ~Window() = default;
  virtual Windowed operator()(const Var& queries, const KeyRange& keys, const AttentionStep& step) const = 0;
  virtual void params(const nn::VisitParams&) {}
};

struct WindowRow {
  std::string_view name, formula, paper;
  std::unique_ptr<Window> (*make)(const WindowOptions& options, Random& random);
  bool per_head = false;    // each head has its own
  bool sums_to_one = true;  // the weights still do after its factor
  bool by_place = false;    // depends only on i and j: the fused kernels support it
  bool previous = false;    // it looks at the weights of the step before (AttentionStep): one query at a time
  bool beside = false;  // it takes query i to stand beside key i: not over sound, which has many more places than words
};

std::span<const WindowRow> windows();
const WindowRow& window_named(std::string_view name);

/// 1 for keys within each sequence, 0 beyond: [B,1,Tk]; undefined where none is padded.
Tensor padding_mask(const KeyRange& keys);

}  // namespace attend
