#include "attend/kernels/onednn_convolution.h"

#include <omp.h>

#include <algorithm>
#include <array>
#include <bit>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <type_traits>
#include <utility>

#include "attend/kernels/onednn-inl.h"
#include "attend/kernels/parallel.h"

namespace attend::kernels {
namespace {

using namespace onednn;

// oneDNN has no double precision.
constexpr bool kConvolves = std::is_same_v<real, float>;

/// A convolution and the reorders around it. Layouts are oneDNN's choice (blocks of 8 or 16 channels): with plain ones it
/// falls back to unfolding, at 107–120 instead of 187–190 GFLOP/s (3×3, two AVX2 cores), while the reorders cost 3–5 % of
/// the convolution.
struct ConvolutionPlan {
  Step convolve, pack_in, pack_weight, unpack_out;
  Desc in, out, weight, bias, plain_in, plain_out, plain_weight;
  int in_argument = DNNL_ARG_SRC, out_argument = DNNL_ARG_DST;
};

Desc plain(const Dims& dims) { return Desc(dims, kF32, Layout::nchw); }
Desc any(const Dims& dims) { return Desc(dims, kF32, Layout::any); }

/// False for the implementations that unfold images or loop plainly: ours are faster, and give the same bits for any
/// number of threads.
bool is_direct(const char* implementation) {
  const std::string_view name(implementation);
  return name.find("ref") == name.npos && name.find(":gemm:") == name.npos && !name.starts_with("gemm");
}

/// True if more than half of the channels in a blocked layout are padding. Backward to 1 and 3 channels gives 10 and
/// 26 GFLOP/s on one AVX2 core in blocks of 8, our product 45 and 42.
bool mostly_padding(const Desc& desc) { return desc.data.padded_dims[1] > 2 * desc.data.dims[1]; }

std::shared_ptr<const ConvolutionPlan> make_plan(Direction direction, const Conv2d& g, bool with_bias) {
  const auto dim = [](size_t extent) { return static_cast<dnnl::memory::dim>(extent); };
  const Dims x = {dim(g.batch), dim(g.channels), dim(g.height), dim(g.width)};
  const Dims w = {dim(g.outputs), dim(g.channels), dim(g.kernel_height), dim(g.kernel_width)};
  const Dims y = {dim(g.batch), dim(g.outputs), dim(g.out_height()), dim(g.out_width())};
  const Dims stride(2, dim(g.stride)), padding(2, dim(g.padding));
  const Desc bias = with_bias ? Desc({w[0]}, kF32, Layout::x) : Desc();

  using Forward = dnnl::convolution_forward;
  using Backward = dnnl::convolution_backward_data;
  const auto training = dnnl::prop_kind::forward_training;
  const auto direct = dnnl::algorithm::convolution_direct;
  const Forward::primitive_desc forward(
      with_bias ? Forward::desc(training, direct, any(x), any(w), bias, any(y), stride, padding, padding)
                : Forward::desc(training, direct, any(x), any(w), any(y), stride, padding, padding),
      own_scratchpad(), cpu());
  auto plan = std::make_shared<ConvolutionPlan>();
  plan->plain_weight = plain(w);
  if (direction == Direction::forward) {
    if (!is_direct(forward.impl_info_str())) return nullptr;
    plan->convolve = {Forward(forward), forward.scratchpad_desc()};
    plan->in = forward.src_desc(), plan->plain_in = plain(x);
    plan->out = forward.dst_desc(), plan->plain_out = plain(y);
    plan->weight = forward.weights_desc();
    plan->bias = bias;
  } else {
    const Backward::primitive_desc backward(Backward::desc(direct, any(x), any(w), any(y), stride, padding, padding),
                                            own_scratchpad(), cpu(), forward);
    if (!is_direct(backward.impl_info_str())) return nullptr;
    plan->convolve = {Backward(backward), backward.scratchpad_desc()};
    plan->in = backward.diff_dst_desc(), plan->plain_in = plain(y);
    plan->out = backward.diff_src_desc(), plan->plain_out = plain(x);
    plan->weight = backward.weights_desc();
    plan->in_argument = DNNL_ARG_DIFF_DST, plan->out_argument = DNNL_ARG_DIFF_SRC;
  }
  if (mostly_padding(plan->in) || mostly_padding(plan->out)) return nullptr;
  plan->pack_in = reorder_step(plan->plain_in, plan->in);
  plan->pack_weight = reorder_step(plan->plain_weight, plan->weight);
  plan->unpack_out = reorder_step(plan->out, plan->plain_out);
  return plan;
}

/// The plans used last: making one takes milliseconds (it generates code), finding one less than a microsecond.
class PlanCache {
 public:
  using Plan = std::shared_ptr<const ConvolutionPlan>;

  /// The plan for `g.batch` images at a time on `threads` threads; null if oneDNN has no direct kernel.
  Plan find(Direction direction, const Conv2d& g, bool with_bias, int threads) {
    Key key = {static_cast<int64_t>(direction), with_bias, threads};
    std::ranges::copy(std::array{g.batch, g.channels, g.height, g.width, g.outputs, g.kernel_height, g.kernel_width,
                                 g.stride, g.padding},
                      key.begin() + 3);
    const std::lock_guard guard(lock_);
    if (const auto found = entries_.find(key); found != entries_.end()) {
      recent_.splice(recent_.begin(), recent_, found->second);
      return recent_.front().plan;
    }
    // oneDNN asks OpenMP how many threads there will be.
    const int before = omp_get_max_threads();
    omp_set_num_threads(threads);
    Plan plan;
    try {
      plan = make_plan(direction, g, with_bias);
    } catch (...) {
      omp_set_num_threads(before);
      throw;
    }
    omp_set_num_threads(before);
    recent_.push_front({key, plan});
    entries_[key] = recent_.begin();
    if (recent_.size() > kPlans) {
      entries_.erase(recent_.back().key);
      recent_.pop_back();
    }
    return plan;
  }

 private:
  static constexpr size_t kPlans = 64;
  using Key = std::array<int64_t, 12>;
  struct Entry {
    Key key;
    Plan plan;
  };
  std::mutex lock_;
  std::list<Entry> recent_;
  std::map<Key, std::list<Entry>::iterator> entries_;
};

PlanCache& plans() {
  static auto* cache = new PlanCache;
  return *cache;
}

/// A plan with its weights in its layout, for many images.
class Convolver {
 public:
  Convolver(PlanCache::Plan plan, const real* weight, const real* bias)
      : plan_(std::move(plan)), weight_(weight), bias_(bias) {
    if (!plan_->pack_weight) return;
    packed_ = memory::Handle(plan_->weight.get_size());
    weight_ = packed_.bytes();
    dnnl::stream stream(cpu());
    plan_->pack_weight.run(
        stream, {{DNNL_ARG_FROM, view(plan_->plain_weight, weight)}, {DNNL_ARG_TO, view(plan_->weight, weight_)}});
  }

  void operator()(const real* in, real* out) const {
    const ConvolutionPlan& p = *plan_;
    dnnl::stream stream(cpu());
    const memory::Handle in_space(p.pack_in ? p.in.get_size() : 0), out_space(p.unpack_out ? p.out.get_size() : 0);
    const dnnl::memory plain_in = view(p.plain_in, in), plain_out = view(p.plain_out, out);
    const dnnl::memory packed_in = p.pack_in ? view(p.in, in_space.bytes()) : plain_in;
    const dnnl::memory packed_out = p.unpack_out ? view(p.out, out_space.bytes()) : plain_out;
    if (p.pack_in) p.pack_in.run(stream, {{DNNL_ARG_FROM, plain_in}, {DNNL_ARG_TO, packed_in}});
    Arguments arguments = {
        {p.in_argument, packed_in}, {DNNL_ARG_WEIGHTS, view(p.weight, weight_)}, {p.out_argument, packed_out}};
    if (bias_) arguments.insert({DNNL_ARG_BIAS, view(p.bias, bias_)});
    p.convolve.run(stream, std::move(arguments));
    if (p.unpack_out) p.unpack_out.run(stream, {{DNNL_ARG_FROM, packed_out}, {DNNL_ARG_TO, plain_out}});
  }

 private:
  PlanCache::Plan plan_;
  const void* weight_;
  const real* bias_;
  memory::Handle packed_;
};

// Numbers of x and y together that one task takes in one call: beyond this the overhead of the calls is negligible.
constexpr size_t kSliceNumbers = size_t{1} << 17;

bool convolve(Direction direction, Conv2d g, const real* in, const real* weight, const real* bias, real* out) {
  const size_t of_x = g.channels * g.height * g.width, of_y = g.outputs * g.out_height() * g.out_width();
  const size_t of_in = direction == Direction::forward ? of_x : of_y;
  const size_t of_out = direction == Direction::forward ? of_y : of_x;
  const size_t images = g.batch;
  const int team = threads();
  if (images < static_cast<size_t>(team)) {
    const auto plan = plans().find(direction, g, bias != nullptr, team);
    if (plan) Convolver(plan, weight, bias)(in, out);
    return plan != nullptr;
  }
  // Each task takes a slice of the batch from plain to plain layout on its own thread. Thus the blocked copies are
  // small and still in the cache when they are used, memory does not grow with the batch, and batch sizes share their
  // plans.
  const size_t most = std::max<size_t>(images / 8, 1);
  const size_t slice = std::bit_floor(std::clamp<size_t>(kSliceNumbers / (of_x + of_y), 1, most));
  const size_t rest = images % slice;
  const auto plan_for = [&](size_t count) {
    g.batch = count;
    return plans().find(direction, g, bias != nullptr, 1);
  };
  const auto plan = plan_for(slice), rest_plan = rest > 0 ? plan_for(rest) : plan;
  if (!plan || !rest_plan) return false;
  const Convolver of_slice(plan, weight, bias);
  const Convolver of_rest = rest > 0 ? Convolver(rest_plan, weight, bias) : of_slice;
  const size_t slices = images / slice;
  parallel_for(slices + (rest > 0 ? 1 : 0),
               [&](size_t i) { (i < slices ? of_slice : of_rest)(in + i * slice * of_in, out + i * slice * of_out); });
  return true;
}

}  // namespace

bool convolve_directly(const char* where, Direction direction, const Conv2d& g, const real* in, const real* weight,
                       const real* bias, real* out) {
  if (!kConvolves || g.batch == 0) return false;
  return translated(where, [&] { return convolve(direction, g, in, weight, bias, out); });
}

}  // namespace attend::kernels
