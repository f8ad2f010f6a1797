#include "attend/kernels/onednn.h"

#include <omp.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <oneapi/dnnl/dnnl.hpp>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/memory.h"
#include "attend/kernels/elementwise.h"
#include "attend/kernels/gemm.h"
#include "attend/kernels/parallel.h"

namespace attend::kernels {
namespace {

using Arguments = std::unordered_map<int, dnnl::memory>;
using Desc = dnnl::memory::desc;
using Dims = dnnl::memory::dims;
using Layout = dnnl::memory::format_tag;
constexpr auto kF32 = dnnl::memory::data_type::f32;

// oneDNN has no double precision.
constexpr bool kConvolves = std::is_same_v<real, float>;

/// Runs `body`; what oneDNN throws becomes an Error that names `where`.
template <class Body>
auto translated(const char* where, Body&& body) {
  try {
    return body();
  } catch (const dnnl::error& error) {
    fail(where, ": oneDNN says \"", error.what(), "\" (status ", static_cast<int>(error.status), ")");
  }
}

// Never destroyed, like the plans below: which static goes first at exit would be a matter of luck.
const dnnl::engine& cpu() {
  static const auto* one = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *one;
}

dnnl::memory view(const Desc& desc, const void* data) { return dnnl::memory(desc, cpu(), const_cast<void*>(data)); }

// The caller brings the scratchpad: it comes from our pool, and several threads may run one primitive at the same time.
dnnl::primitive_attr own_scratchpad() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

/// A primitive with the scratchpad it wants; empty where there is nothing to do.
struct Step {
  dnnl::primitive primitive;
  Desc scratchpad;

  explicit operator bool() const { return static_cast<bool>(primitive); }
  void run(dnnl::stream& stream, Arguments arguments) const {
    const memory::Handle space(scratchpad.get_size());
    if (scratchpad.get_size() > 0) arguments.insert({DNNL_ARG_SCRATCHPAD, view(scratchpad, space.bytes())});
    primitive.execute(stream, arguments);
  }
};

Step reorder_step(const Desc& from, const Desc& to) {
  if (from == to) return {};
  const dnnl::reorder::primitive_desc chosen(cpu(), from, cpu(), to, own_scratchpad());
  return {dnnl::reorder(chosen), chosen.scratchpad_desc()};
}

// ---- Convolution by oneDNN: forward, and backward to the data ------------------------------------------------------

enum class Direction : int64_t { forward, backward_data };

/// Convolves `g.batch` images; `in` is x or dy, `out` is y or dx. Layouts are oneDNN's choice (blocks of 8 or 16
/// channels): with plain ones it falls back to unfolding, at 107–120 instead of 187–190 GFLOP/s (3×3, two AVX2 cores),
/// while the reorders cost 3–5 % of the convolution.
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

/// True if more than half of the channels in a blocked layout are filled up. Backward to 1 and 3 channels gives 10 and
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

  /// The plan for `g.batch` images at a time on `threads` threads; null where oneDNN has no direct kernel.
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

// Numbers of x and y together that one task takes in one call: beyond this the calls' own cost is lost in the work.
constexpr size_t kSliceNumbers = size_t{1} << 17;

/// False if oneDNN has no direct kernel for this shape; then nothing was done.
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
  // Each task takes a slice of the batch from plain to plain on its own thread. So the blocked copies are small and
  // still in the cache when they are used, memory does not grow with the batch, and batch sizes share their plans.
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

// ---- Convolution as products over unfolded images ------------------------------------------------------------------

struct Range {
  size_t begin, end;
};

/// The windows o in [0, out) whose tap `k`, at o·stride + k − padding, lies in [0, in).
Range windows_inside(size_t k, size_t in, size_t out, size_t stride, size_t padding) {
  const size_t begin = padding > k ? (padding - k + stride - 1) / stride : 0;
  const size_t end = in + padding > k ? (in + padding - k + stride - 1) / stride : 0;
  return {std::min(begin, out), std::clamp(end, std::min(begin, out), out)};
}

constexpr size_t kOutside = std::numeric_limits<size_t>::max();

/// The unfolded image is U[C·KH·KW, OH·OW] with U[(c,u,v), (i,j)] = x[c, i·stride+u−padding, j·stride+v−padding].
/// Calls `run(at, from, count)` for every stretch of its block (channels × pixels, stored by itself): `count` numbers
/// from `at` that lie in the image from `from`, `stride` apart, or in the padding (kOutside).
template <class Run>
void over_unfolded(const Conv2d& g, Range channels, Range pixels, Run&& run) {
  const size_t wide = g.out_width();
  size_t at = 0;
  for (size_t c = channels.begin; c < channels.end; ++c) {
    for (size_t u = 0; u < g.kernel_height; ++u) {
      for (size_t v = 0; v < g.kernel_width; ++v) {
        const Range inside = windows_inside(v, g.width, wide, g.stride, g.padding);
        size_t i = pixels.begin / wide, first = pixels.begin % wide;
        for (size_t left = pixels.end - pixels.begin; left > 0; ++i, first = 0) {
          const size_t last = std::min(wide, first + left), row = i * g.stride + u;
          left -= last - first;
          if (row < g.padding || row - g.padding >= g.height) {
            run(at, kOutside, last - first);
          } else {
            const size_t begin = std::clamp(inside.begin, first, last), end = std::clamp(inside.end, begin, last);
            const size_t from = (c * g.height + row - g.padding) * g.width + begin * g.stride + v - g.padding;
            if (begin > first) run(at, kOutside, begin - first);
            if (end > begin) run(at + (begin - first), from, end - begin);
            if (last > end) run(at + (end - first), kOutside, last - end);
          }
          at += last - first;
        }
      }
    }
  }
}

// Rows of images are short (28 … 56): eight numbers at a time inline, where a call of memcpy would cost as much again.
inline void copy_stretch(const real* in, size_t count, real* out) {
  constexpr size_t kStep = 8;
  if (count < kStep) {
    for (size_t i = 0; i < count; ++i) out[i] = in[i];
    return;
  }
  for (size_t i = 0; i + kStep <= count; i += kStep) std::memcpy(out + i, in + i, kStep * sizeof(real));
  std::memcpy(out + count - kStep, in + count - kStep, kStep * sizeof(real));
}

void unfold(const Conv2d& g, const real* image, Range channels, Range pixels, real* block) {
  over_unfolded(g, channels, pixels, [&](size_t at, size_t from, size_t count) {
    if (from == kOutside) {
      for (size_t i = 0; i < count; ++i) block[at + i] = 0;
    } else if (g.stride == 1) {
      copy_stretch(image + from, count, block + at);
    } else {
      for (size_t i = 0; i < count; ++i) block[at + i] = image[from + i * g.stride];
    }
  });
}

/// image += the block folded back: the transpose of unfold.
void fold_into(const Conv2d& g, const real* block, Range channels, Range pixels, real* image) {
  over_unfolded(g, channels, pixels, [&](size_t at, size_t from, size_t count) {
    if (from == kOutside) return;
    for (size_t i = 0; i < count; ++i) image[from + i * g.stride] += block[at + i];
  });
}

// An unfolded block of 64 Ki numbers (256 KiB in f32) leaves room for the other operands in a second-level cache of
// 512 KiB. Measured from 28 to 336 pixels per block on 3×3, 32→64 and 64→64: best here, flat around it.
constexpr size_t kBlockNumbers = size_t{1} << 16;

size_t pixels_per_block(const Conv2d& g, size_t rows) {
  const size_t pixels = g.out_height() * g.out_width();
  return std::min(pixels, std::max<size_t>(16, kBlockNumbers / rows / 16 * 16));
}

// Partial sums of the weights' gradient: enough tasks for many cores, few enough to add up in no time.
constexpr size_t kSums = 16;

// ---- Pooling -------------------------------------------------------------------------------------------------------

// Not by oneDNN: on 64×64 plain planes of 56×56 with kernel 2 its max takes 177 + 64 ms forward + backward where these
// loops take 10 + 23, its mean 73 + 33 where these take 5 + 10 (one AVX2 core). In blocks of channels its max takes
// 34 + 26 and its mean 4 + 4, before the reorders there and back.

/// Runs `body(plane)` for all planes, several small ones per task.
template <class Body>
void over_planes(const Pool2d& g, Body&& body) {
  const size_t per_task = std::clamp<size_t>(kBlockNumbers / (g.height * g.width), 1, std::max<size_t>(g.planes, 1));
  parallel_for((g.planes + per_task - 1) / per_task, [&](size_t task) {
    const size_t end = std::min(g.planes, (task + 1) * per_task);
    for (size_t plane = task * per_task; plane < end; ++plane) body(plane);
  });
}

/// For row i of the windows, calls `tap(j, from, count, step)` for every tap of the window and the windows
/// [j, j + count) for which it lies inside the plane: the first at `from`, the next `step` further.
template <class Tap>
void over_taps(const Pool2d& g, size_t i, Tap&& tap) {
  const size_t wide = g.out_width();
  for (size_t u = 0; u < g.kernel; ++u) {
    const size_t row = i * g.stride + u;
    if (row < g.padding || row - g.padding >= g.height) continue;
    for (size_t v = 0; v < g.kernel; ++v) {
      const Range inside = windows_inside(v, g.width, wide, g.stride, g.padding);
      const size_t from = (row - g.padding) * g.width + inside.begin * g.stride + v - g.padding;
      // A constant step lets the compiler use vectors.
      if (g.stride == 1) {
        tap(inside.begin, from, inside.end - inside.begin, std::integral_constant<size_t, 1>());
      } else if (g.stride == 2) {
        tap(inside.begin, from, inside.end - inside.begin, std::integral_constant<size_t, 2>());
      } else {
        tap(inside.begin, from, inside.end - inside.begin, g.stride);
      }
    }
  }
}

// NaN wins over every number, and stays.
inline bool beats(real value, real best) { return (value > best) | (value != value); }

// ---- The machine's limit -------------------------------------------------------------------------------------------

constexpr std::array<std::array<size_t, 3>, 6> kTrialShapes = {
    {{64, 1024, 256}, {1280, 1024, 256}, {2560, 1024, 256}, {1280, 256, 1024}, {1024, 1024, 1024}, {2048, 2048, 512}}};

/// c[m,n] = a[m,k] · b[k,n], or · bᵀ[n,k].
struct Trial {
  dnnl::memory::dim m, n, k;
  const float *a, *b;
  float* c;
  double seconds;
};

/// Runs once and throws unless sampled elements agree with plain sums; then GFLOP/s of the fastest run.
template <class Run>
double checked_gflops(const char* entry, const Trial& t, bool transposed_b, Run&& run) {
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  std::fill_n(t.c, t.m * t.n, 0.0f);
  run();
  for (dnnl::memory::dim sample = 0; sample < 64; ++sample) {
    const auto i = sample * 7919 % t.m, j = sample * 104729 % t.n;
    double sum = 0;
    for (dnnl::memory::dim p = 0; p < t.k; ++p) {
      sum += double{t.a[i * t.k + p]} * t.b[transposed_b ? j * t.k + p : p * t.n + j];
    }
    require(std::abs(sum - t.c[i * t.n + j]) <= 1e-6 * static_cast<double>(t.k), "best_product: ", entry, " of ", t.m,
            "×", t.n, "×", t.k, " wanted ", sum, " at [", i, ", ", j, "], got ", t.c[i * t.n + j]);
  }
  double fastest = std::numeric_limits<double>::max();
  const auto start = Clock::now();
  for (int runs = 0; runs < 3 || since(start) < t.seconds; ++runs) {
    const auto before = Clock::now();
    run();
    fastest = std::min(fastest, since(before));
  }
  return 2e-9 * static_cast<double>(t.m * t.n * t.k) / fastest;
}

double try_sgemm(const char* entry, const Trial& t, bool transposed_b) {
  return checked_gflops(entry, t, transposed_b, [&] {
    const auto status = dnnl::sgemm('N', transposed_b ? 'T' : 'N', t.m, t.n, t.k, 1, t.a, t.k, t.b,
                                    transposed_b ? t.k : t.n, 0, t.c, t.n);
    require(status == dnnl::status::success, "best_product: ", entry, " failed (status ", static_cast<int>(status),
            ")");
  });
}

double try_packed_matmul(const char* entry, const Trial& t) {
  const Desc a({t.m, t.k}, kF32, Layout::ab), b({t.k, t.n}, kF32, Layout::ab), c({t.m, t.n}, kF32, Layout::ab);
  const Desc any_b({t.k, t.n}, kF32, Layout::any);
  const dnnl::matmul::primitive_desc chosen(dnnl::matmul::desc(a, any_b, c), own_scratchpad(), cpu());
  const Step product{dnnl::matmul(chosen), chosen.scratchpad_desc()}, pack = reorder_step(b, chosen.weights_desc());
  dnnl::stream stream(cpu());
  const memory::Handle space(pack ? chosen.weights_desc().get_size() : 0);
  const dnnl::memory rows_b = view(b, t.b), packed_b = pack ? view(chosen.weights_desc(), space.bytes()) : rows_b;
  if (pack) pack.run(stream, {{DNNL_ARG_FROM, rows_b}, {DNNL_ARG_TO, packed_b}});
  const Arguments arguments = {
      {DNNL_ARG_SRC, view(a, t.a)}, {DNNL_ARG_WEIGHTS, packed_b}, {DNNL_ARG_DST, view(c, t.c)}};
  return checked_gflops(entry, t, false, [&] { product.run(stream, arguments); });
}

}  // namespace

void conv2d_forward(const Conv2d& g, const real* x, const real* weight, const real* bias, real* y) {
  const auto direct = [&] { return convolve(Direction::forward, g, x, weight, bias, y); };
  if (kConvolves && g.batch > 0 && translated("conv2d", direct)) return;
  conv2d_forward_by_product(g, x, weight, bias, y);
}

void conv2d_backward_data(const Conv2d& g, const real* dy, const real* weight, real* dx) {
  const auto direct = [&] { return convolve(Direction::backward_data, g, dy, weight, nullptr, dx); };
  if (kConvolves && g.batch > 0 && translated("conv2d backward", direct)) return;
  conv2d_backward_data_by_product(g, dy, weight, dx);
}

void conv2d_forward_by_product(const Conv2d& g, const real* x, const real* weight, const real* bias, real* y) {
  const size_t pixels = g.out_height() * g.out_width(), taps = g.taps();
  const size_t step = pixels_per_block(g, taps), blocks = (pixels + step - 1) / step;
  parallel_for(g.batch * blocks, [&](size_t task) {
    const size_t image = task / blocks, begin = task % blocks * step, count = std::min(step, pixels - begin);
    const memory::Scratch block(taps * count);
    unfold(g, x + image * g.channels * g.height * g.width, {0, g.channels}, {begin, begin + count}, block.data());
    real* out = y + image * g.outputs * pixels + begin;
    if (bias) {
      for (size_t o = 0; o < g.outputs; ++o) std::fill_n(out + o * pixels, count, bias[o]);
    }
    gemm({.m = g.outputs,
          .n = count,
          .k = taps,
          .a = weight,
          .lda = taps,
          .b = block.data(),
          .ldb = count,
          .c = out,
          .ldc = pixels,
          .accumulate = bias != nullptr});
  });
}

void conv2d_backward_data_by_product(const Conv2d& g, const real* dy, const real* weight, real* dx) {
  const size_t pixels = g.out_height() * g.out_width(), taps = g.taps(), image_size = g.channels * g.height * g.width;
  const size_t step = pixels_per_block(g, taps);
  const memory::Scratch turned(taps * g.outputs);
  transpose(weight, g.outputs, taps, turned.data());
  parallel_for(g.batch, [&](size_t image) {
    const memory::Scratch block(taps * step);
    std::fill_n(dx + image * image_size, image_size, real{0});
    for (size_t begin = 0; begin < pixels; begin += step) {
      const size_t count = std::min(step, pixels - begin);
      gemm({.m = taps,
            .n = count,
            .k = g.outputs,
            .a = turned.data(),
            .lda = g.outputs,
            .b = dy + image * g.outputs * pixels + begin,
            .ldb = pixels,
            .c = block.data(),
            .ldc = count});
      fold_into(g, block.data(), {0, g.channels}, {begin, begin + count}, dx + image * image_size);
    }
  });
}

// Our own on every machine: on an AVX2 core oneDNN's kernel gives 66 GFLOP/s and wants x and dy in its layouts; this
// gives 72–77 (3×3, 32→64 on 28×28 and 64→64 on 56×56), reads both where they lie, and adds up in an order that does not
// depend on the number of threads, which oneDNN does not promise.
//
// dweightᵀ[taps, O] = Σ over blocks of pixels of U[taps, pixels] · dy[O, pixels]ᵀ, U being the unfolded image. The bias
// is a weight on a constant 1: a last row of ones in U.
void conv2d_backward_weights(const Conv2d& g, const real* x, const real* dy, real* dweight, real* dbias) {
  const size_t pixels = g.out_height() * g.out_width(), window = g.kernel_height * g.kernel_width;
  const size_t channels = dweight ? g.channels : 0, taps = channels * window, rows = taps + (dbias ? 1 : 0);
  // A task's sums (channels × outputs) stay in its cache; large layers have many such blocks, small ones split pixels.
  const size_t wide = std::min<size_t>(g.outputs, 256), deep = std::max<size_t>(1, kBlockNumbers / (window * wide));
  const size_t across = (g.outputs + wide - 1) / wide, down = std::max<size_t>(1, (channels + deep - 1) / deep);
  const size_t step = pixels_per_block(g, std::min(channels, deep) * window + 1), steps = (pixels + step - 1) / step;
  const size_t units = g.batch * steps;
  const size_t sums = std::min(units, std::max<size_t>(1, kSums / (across * down)));
  const memory::Scratch partial(std::max<size_t>(sums, 1) * rows * g.outputs);
  if (sums == 0) std::fill_n(partial.data(), rows * g.outputs, real{0});
  parallel_for(sums * across * down, [&](size_t task) {
    const size_t sum = task / (across * down), o = task % across * wide, c = task / across % down * deep;
    const size_t outputs = std::min(wide, g.outputs - o), c_end = std::min(channels, c + deep);
    const bool with_ones = dbias && c_end == channels;
    const size_t height = (c_end - c) * window + (with_ones ? 1 : 0);
    const size_t begin = units * sum / sums, end = units * (sum + 1) / sums;
    const memory::Scratch block(height * step);
    for (size_t unit = begin; unit < end; ++unit) {
      const size_t image = unit / steps, first = unit % steps * step, count = std::min(step, pixels - first);
      if (c_end > c) {
        unfold(g, x + image * g.channels * g.height * g.width, {c, c_end}, {first, first + count}, block.data());
      }
      if (with_ones) std::fill_n(block.data() + (height - 1) * count, count, real{1});
      gemm({.m = height,
            .n = outputs,
            .k = count,
            .a = block.data(),
            .lda = count,
            .b = dy + (image * g.outputs + o) * pixels + first,
            .ldb = pixels,
            .transpose_b = true,
            .c = partial.data() + (sum * rows + c * window) * g.outputs + o,
            .ldc = g.outputs,
            .accumulate = unit > begin});
    }
  });
  for (size_t sum = 1; sum < sums; ++sum) {
    add_into(partial.data(), partial.data() + sum * rows * g.outputs, rows * g.outputs);
  }
  if (dweight) transpose(partial.data(), taps, g.outputs, dweight);
  if (dbias) std::copy_n(partial.data() + taps * g.outputs, g.outputs, dbias);
}

void max_pool2d_forward(const Pool2d& g, const real* x, real* y) {
  const size_t tall = g.out_height(), wide = g.out_width();
  over_planes(g, [&](size_t plane) {
    const real* in = x + plane * g.height * g.width;
    for (size_t i = 0; i < tall; ++i) {
      real* out = y + (plane * tall + i) * wide;
      std::fill_n(out, wide, -std::numeric_limits<real>::infinity());
      over_taps(g, i, [&](size_t j, size_t from, size_t count, auto step) {
        for (size_t n = 0; n < count; ++n) {
          const real value = in[from + n * step];
          out[j + n] = beats(value, out[j + n]) ? value : out[j + n];
        }
      });
    }
  });
}

void max_pool2d_backward(const Pool2d& g, const real* x, const real* dy, real* dx) {
  const size_t tall = g.out_height(), wide = g.out_width(), size = g.height * g.width;
  over_planes(g, [&](size_t plane) {
    const real* in = x + plane * size;
    std::fill_n(dx + plane * size, size, real{0});
    const memory::Scratch best(wide);
    const memory::Handle where_space(wide * sizeof(uint32_t));
    uint32_t* where = reinterpret_cast<uint32_t*>(where_space.bytes());
    for (size_t i = 0; i < tall; ++i) {
      // Before any comparison the window's first tap inside the plane: it wins where all are −∞.
      const size_t top = i * g.stride > g.padding ? i * g.stride - g.padding : 0;
      for (size_t j = 0; j < wide; ++j) {
        const size_t left = j * g.stride > g.padding ? j * g.stride - g.padding : 0;
        where[j] = static_cast<uint32_t>(top * g.width + left);
        best.data()[j] = -std::numeric_limits<real>::infinity();
      }
      over_taps(g, i, [&](size_t j, size_t from, size_t count, auto step) {
        for (size_t n = 0; n < count; ++n) {
          const real value = in[from + n * step];
          const bool better = beats(value, best.data()[j + n]);
          best.data()[j + n] = better ? value : best.data()[j + n];
          where[j + n] = better ? static_cast<uint32_t>(from + n * step) : where[j + n];
        }
      });
      const real* given = dy + (plane * tall + i) * wide;
      for (size_t j = 0; j < wide; ++j) dx[plane * size + where[j]] += given[j];
    }
  });
}

void avg_pool2d_forward(const Pool2d& g, const real* x, real* y) {
  const size_t tall = g.out_height(), wide = g.out_width();
  const real share = real{1} / static_cast<real>(g.kernel * g.kernel);
  over_planes(g, [&](size_t plane) {
    const real* in = x + plane * g.height * g.width;
    for (size_t i = 0; i < tall; ++i) {
      real* out = y + (plane * tall + i) * wide;
      std::fill_n(out, wide, real{0});
      over_taps(g, i, [&](size_t j, size_t from, size_t count, auto step) {
        for (size_t n = 0; n < count; ++n) out[j + n] += in[from + n * step];
      });
      for (size_t j = 0; j < wide; ++j) out[j] *= share;
    }
  });
}

void avg_pool2d_backward(const Pool2d& g, const real* dy, real* dx) {
  const size_t tall = g.out_height(), wide = g.out_width(), size = g.height * g.width;
  const real share = real{1} / static_cast<real>(g.kernel * g.kernel);
  over_planes(g, [&](size_t plane) {
    real* to = dx + plane * size;
    std::fill_n(to, size, real{0});
    for (size_t i = 0; i < tall; ++i) {
      const real* given = dy + (plane * tall + i) * wide;
      over_taps(g, i, [&](size_t j, size_t from, size_t count, auto step) {
        for (size_t n = 0; n < count; ++n) to[from + n * step] += given[j + n] * share;
      });
    }
  });
}

BestProduct best_product(double seconds) {
  size_t most = 0;
  for (const auto& [m, n, k] : kTrialShapes) most = std::max({most, m * k, k * n, m * n});
  const memory::Handle a_space(most * sizeof(float)), b_space(most * sizeof(float)), c_space(most * sizeof(float));
  float* const a = reinterpret_cast<float*>(a_space.bytes());
  float* const b = reinterpret_cast<float*>(b_space.bytes());
  for (size_t i = 0; i < most; ++i) {
    a[i] = static_cast<float>(i % 251) / 251 - 0.5f;
    b[i] = static_cast<float>(i % 241) / 241 - 0.5f;
  }
  BestProduct best;
  for (const auto& [m, n, k] : kTrialShapes) {
    const auto dim = [](size_t extent) { return static_cast<dnnl::memory::dim>(extent); };
    const Trial trial{dim(m),
                      dim(n),
                      dim(k),
                      a,
                      b,
                      reinterpret_cast<float*>(c_space.bytes()),
                      seconds / static_cast<double>(3 * kTrialShapes.size())};
    for (const char* entry : {"sgemm NN", "sgemm NT", "matmul packed"}) {
      const std::string_view name(entry);
      const double gflops = translated("best_product", [&] {
        return name == "matmul packed" ? try_packed_matmul(entry, trial) : try_sgemm(entry, trial, name == "sgemm NT");
      });
      if (gflops > best.gflops) best = {gflops, m, n, k, entry};
    }
  }
  return best;
}

}  // namespace attend::kernels
