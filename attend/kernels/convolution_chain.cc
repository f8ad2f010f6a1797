#include "attend/kernels/convolution_chain.h"

#include <omp.h>

#include <algorithm>
#include <array>
#include <list>
#include <mutex>
#include <type_traits>
#include <utility>

#include "attend/kernels/onednn-inl.h"
#include "attend/kernels/parallel.h"

namespace attend::kernels {
namespace {

using namespace onednn;
using Kind = ChainStep::Kind;
using Follows = ChainStep::Follows;

// oneDNN has no double precision.
constexpr bool kChains = std::is_same_v<real, float>;

// Images that one thread takes at a time.
constexpr size_t kSlice = 4;

dnnl::memory::dim dim(size_t extent) { return static_cast<dnnl::memory::dim>(extent); }

Desc plain_images(size_t batch, size_t channels, size_t height, size_t width) {
  return Desc({dim(batch), dim(channels), dim(height), dim(width)}, kF32, Layout::nchw);
}

/// Any layout of the same extents.
Desc any_layout(const Desc& desc) { return Desc(desc.dims(), kF32, Layout::any); }

Dims weight_dims(const ChainStep& s) {
  if (s.kind == Kind::depthwise) return {dim(s.outputs), 1, 1, dim(s.kernel), dim(s.kernel)};
  return {dim(s.outputs), dim(s.channels), dim(s.kernel), dim(s.kernel)};
}

Desc plain_weight(const ChainStep& s) {
  return Desc(weight_dims(s), kF32, s.kind == Kind::depthwise ? Layout::goihw : Layout::oihw);
}

dnnl::primitive_attr attributes_of(const ChainStep& s) {
  dnnl::primitive_attr attributes = own_scratchpad();
  dnnl::post_ops after;
  if (s.added > 0) after.append_sum(1);
  if (s.follows == Follows::relu) after.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
  if (s.follows == Follows::relu6) after.append_eltwise(1, dnnl::algorithm::eltwise_clip, 0, 6);
  attributes.set_post_ops(after);
  return attributes;
}

/// A copy, also between equal layouts.
Step copy_step(const Desc& from, const Desc& to) {
  const dnnl::reorder::primitive_desc chosen(cpu(), from, cpu(), to, own_scratchpad());
  return {dnnl::reorder(chosen), chosen.scratchpad_desc()};
}

/// Stretches of one piece of memory. One that is free again serves the next value that fits.
class Arena {
 public:
  size_t take(size_t bytes) {
    size_t best = stretches_.size();
    for (size_t i = 0; i < stretches_.size(); ++i) {
      if (!stretches_[i].free) continue;
      if (best == stretches_.size() || better(stretches_[i].bytes, stretches_[best].bytes, bytes)) best = i;
    }
    if (best == stretches_.size()) stretches_.push_back({});
    stretches_[best].bytes = std::max(stretches_[best].bytes, bytes);
    stretches_[best].free = false;
    return best;
  }
  void give_back(size_t stretch) { stretches_[stretch].free = true; }
  /// Where each begins, and all bytes at the end.
  std::vector<size_t> offsets() const {
    std::vector<size_t> begins{0};
    for (const Stretch& one : stretches_) begins.push_back(begins.back() + (one.bytes + kLine - 1) / kLine * kLine);
    return begins;
  }

 private:
  static constexpr size_t kLine = 64;
  /// The smallest that is large enough, else the largest, which has to grow least.
  static bool better(size_t bytes, size_t than, size_t needed) {
    return than >= needed ? bytes >= needed && bytes < than : bytes > than;
  }
  struct Stretch {
    size_t bytes = 0;
    bool free = false;
  };
  std::vector<Stretch> stretches_;
};

/// One step, ready to run: where its numbers lie in the arena, and what has to be moved first.
struct ReadyStep {
  Step run, pack_in, copy_added;
  Desc given, in, weight, bias, out, added;
  size_t given_at = 0, in_at = 0, added_at = 0, out_at = 0;
  bool image = false;  // reads the image itself
  const void* packed = nullptr;
  const real* offsets = nullptr;
};

struct ChainPlan {
  std::vector<ReadyStep> steps;
  std::vector<size_t> offsets;
  Step unpack;
  Desc last, plain_last;
  size_t last_at = 0;
};

}  // namespace

/// What a chain has made ready: weights in the layouts of its steps, and steps for sizes of images.
class ChainPlans {
 public:
  explicit ChainPlans(std::vector<ChainStep> steps) : steps_(std::move(steps)), packed_(steps_.size()) {}

  const ChainStep& last() const { return steps_.back(); }
  size_t channels() const { return steps_.front().channels; }
  /// Extents of the last value.
  std::pair<size_t, size_t> extents(size_t height, size_t width) const { return all_extents(height, width).back(); }

  std::shared_ptr<const ChainPlan> find(size_t batch, size_t height, size_t width, int threads) {
    const Key key{batch, height, width, static_cast<size_t>(threads)};
    const std::lock_guard guard(lock_);
    const auto found = std::ranges::find(recent_, key, &Entry::key);
    if (found != recent_.end()) {
      recent_.splice(recent_.begin(), recent_, found);
      return recent_.front().plan;
    }
    // oneDNN asks OpenMP how many threads there will be.
    const int before = omp_get_max_threads();
    omp_set_num_threads(threads);
    std::shared_ptr<const ChainPlan> plan;
    try {
      plan = make(batch, height, width);
    } catch (...) {
      omp_set_num_threads(before);
      throw;
    }
    omp_set_num_threads(before);
    recent_.push_front({key, plan});
    if (recent_.size() > kMostPlans) recent_.pop_back();
    return plan;
  }

  static void run(const ChainPlan& plan, const real* x, real* y) {
    dnnl::stream stream(cpu());
    const memory::Handle space(plan.offsets.back());
    char* const base = reinterpret_cast<char*>(space.bytes());
    const auto at = [&](size_t stretch) { return base + plan.offsets[stretch]; };
    for (const ReadyStep& s : plan.steps) {
      const void* given = s.image ? static_cast<const void*>(x) : at(s.given_at);
      if (s.pack_in) {
        s.pack_in.run(stream, {{DNNL_ARG_FROM, view(s.given, given)}, {DNNL_ARG_TO, view(s.in, at(s.in_at))}});
        given = at(s.in_at);
      }
      if (s.copy_added) {
        s.copy_added.run(stream,
                         {{DNNL_ARG_FROM, view(s.added, at(s.added_at))}, {DNNL_ARG_TO, view(s.out, at(s.out_at))}});
      }
      Arguments arguments = {{DNNL_ARG_SRC, view(s.in, given)}, {DNNL_ARG_DST, view(s.out, at(s.out_at))}};
      if (s.packed) arguments.insert({DNNL_ARG_WEIGHTS, view(s.weight, s.packed)});
      if (s.offsets) arguments.insert({DNNL_ARG_BIAS, view(s.bias, s.offsets)});
      s.run.run(stream, std::move(arguments));
    }
    plan.unpack.run(stream,
                    {{DNNL_ARG_FROM, view(plan.last, at(plan.last_at))}, {DNNL_ARG_TO, view(plan.plain_last, y)}});
  }

 private:
  static constexpr size_t kMostPlans = 16;
  using Key = std::array<size_t, 4>;
  struct Entry {
    Key key;
    std::shared_ptr<const ChainPlan> plan;
  };

  /// Of every value, the image first.
  std::vector<std::pair<size_t, size_t>> all_extents(size_t height, size_t width) const {
    std::vector<std::pair<size_t, size_t>> all{{height, width}};
    for (const ChainStep& s : steps_) {
      const auto [tall, wide] = all[s.from];
      all.emplace_back(padding_of(tall, s.kernel, s.stride, s.same).windows,
                       padding_of(wide, s.kernel, s.stride, s.same).windows);
    }
    return all;
  }

  /// The last step that reads each value.
  std::vector<size_t> last_uses() const {
    std::vector<size_t> last(steps_.size() + 1, 0);
    for (size_t i = 0; i < steps_.size(); ++i) {
      last[steps_[i].from] = i;
      if (steps_[i].added > 0) last[steps_[i].added] = i;
    }
    last.back() = steps_.size();
    return last;
  }

  const void* packed_weight(size_t i, const Desc& layout) {
    const Desc plain = plain_weight(steps_[i]);
    if (plain == layout) return steps_[i].weight;
    for (const auto& [desc, bytes] : packed_[i]) {
      if (desc == layout) return bytes->bytes();
    }
    auto bytes = std::make_unique<memory::Handle>(layout.get_size());
    dnnl::stream stream(cpu());
    reorder_step(plain, layout)
        .run(stream, {{DNNL_ARG_FROM, view(plain, steps_[i].weight)}, {DNNL_ARG_TO, view(layout, bytes->bytes())}});
    packed_[i].emplace_back(layout, std::move(bytes));
    return packed_[i].back().second->bytes();
  }

  std::shared_ptr<const ChainPlan> make(size_t batch, size_t height, size_t width) {
    auto plan = std::make_shared<ChainPlan>();
    const auto extents = all_extents(height, width);
    const std::vector<size_t> last = last_uses();
    Arena arena;
    std::vector<Desc> descs{plain_images(batch, channels(), height, width)};
    std::vector<size_t> places{0};
    for (size_t i = 0; i < steps_.size(); ++i) {
      const ChainStep& s = steps_[i];
      ReadyStep ready;
      ready.image = s.from == 0;
      ready.given = descs[s.from], ready.given_at = places[s.from];
      const Desc out = any_layout(plain_images(batch, s.outputs, extents[i + 1].first, extents[i + 1].second));
      choose(s, extents[s.from], out, ready);
      ready.pack_in = reorder_step(ready.given, ready.in);
      if (ready.pack_in) ready.in_at = arena.take(ready.in.get_size());
      if (s.kind != Kind::max_pool) ready.packed = packed_weight(i, ready.weight), ready.offsets = s.bias;
      const bool in_place = s.added > 0 && last[s.added] == i && descs[s.added] == ready.out;
      ready.out_at = in_place ? places[s.added] : arena.take(ready.out.get_size());
      if (s.added > 0 && !in_place) {
        ready.added = descs[s.added], ready.added_at = places[s.added];
        ready.copy_added = copy_step(ready.added, ready.out);
      }
      if (ready.pack_in) arena.give_back(ready.in_at);
      if (s.from > 0 && last[s.from] == i) arena.give_back(places[s.from]);
      if (s.added > 0 && last[s.added] == i && !in_place) arena.give_back(places[s.added]);
      descs.push_back(ready.out), places.push_back(ready.out_at);
      plan->steps.push_back(std::move(ready));
    }
    plan->last = descs.back(), plan->last_at = places.back();
    plan->plain_last = plain_images(batch, steps_.back().outputs, extents.back().first, extents.back().second);
    plan->unpack = copy_step(plan->last, plan->plain_last);
    plan->offsets = arena.offsets();
    return plan;
  }

  /// oneDNN's choice of layouts and kernel.
  static void choose(const ChainStep& s, std::pair<size_t, size_t> extents, const Desc& out, ReadyStep& ready) {
    const Padding tall = padding_of(extents.first, s.kernel, s.stride, s.same);
    const Padding wide = padding_of(extents.second, s.kernel, s.stride, s.same);
    const Dims stride(2, dim(s.stride)), before{dim(tall.before), dim(wide.before)};
    const Dims after{dim(tall.after), dim(wide.after)};
    const auto inference = dnnl::prop_kind::forward_inference;
    if (s.kind == Kind::max_pool) {
      const dnnl::pooling_forward::primitive_desc chosen(
          dnnl::pooling_forward::desc(inference, dnnl::algorithm::pooling_max, ready.given, out, stride,
                                      Dims(2, dim(s.kernel)), before, after),
          own_scratchpad(), cpu());
      ready.run = {dnnl::pooling_forward(chosen), chosen.scratchpad_desc()};
      ready.in = chosen.src_desc(), ready.out = chosen.dst_desc();
      return;
    }
    ready.bias = Desc({dim(s.outputs)}, kF32, Layout::x);
    const dnnl::convolution_forward::primitive_desc chosen(
        dnnl::convolution_forward::desc(inference, dnnl::algorithm::convolution_direct, any_layout(ready.given),
                                        Desc(weight_dims(s), kF32, Layout::any), ready.bias, out, stride, before,
                                        after),
        attributes_of(s), cpu());
    ready.run = {dnnl::convolution_forward(chosen), chosen.scratchpad_desc()};
    ready.in = chosen.src_desc(), ready.weight = chosen.weights_desc(), ready.out = chosen.dst_desc();
  }

  std::vector<ChainStep> steps_;
  std::vector<std::vector<std::pair<Desc, std::unique_ptr<memory::Handle>>>> packed_;
  std::mutex lock_;
  std::list<Entry> recent_;
};

Padding padding_of(size_t extent, size_t kernel, size_t stride, bool same) {
  const size_t windows = same ? (extent + stride - 1) / stride : (extent + 2 * (kernel / 2) - kernel) / stride + 1;
  const size_t reach = (windows - 1) * stride + kernel, all = reach > extent ? reach - extent : 0;
  const size_t before = same ? all / 2 : kernel / 2;
  return {before, all > before ? all - before : 0, windows};
}

ConvolutionChain::ConvolutionChain(std::vector<ChainStep> steps)
    : plans_(std::make_unique<ChainPlans>(std::move(steps))) {}
ConvolutionChain::~ConvolutionChain() = default;

std::pair<size_t, size_t> ConvolutionChain::extents(size_t height, size_t width) const {
  return plans_->extents(height, width);
}

bool ConvolutionChain::operator()(size_t batch, size_t height, size_t width, const real* x, real* y) const {
  if (!kChains || batch == 0) return false;
  return translated("convolution chain", [&] {
    const auto [tall, wide] = plans_->extents(height, width);
    const size_t of_x = plans_->channels() * height * width, of_y = plans_->last().outputs * tall * wide;
    const auto team = static_cast<size_t>(threads());
    if (batch < team) {
      ChainPlans::run(*plans_->find(batch, height, width, threads()), x, y);
      return true;
    }
    // Each thread takes whole images from the first layer to the last: no layer waits for another thread.
    const size_t slice = std::min(kSlice, batch / team), slices = batch / slice, rest = batch % slice;
    const auto plan = plans_->find(slice, height, width, 1);
    const auto rest_plan = rest > 0 ? plans_->find(rest, height, width, 1) : plan;
    parallel_for(slices + (rest > 0 ? 1 : 0), [&](size_t i) {
      ChainPlans::run(i < slices ? *plan : *rest_plan, x + i * slice * of_x, y + i * slice * of_y);
    });
    return true;
  });
}

}  // namespace attend::kernels
