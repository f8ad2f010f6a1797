#include "attend/kernels/best_product.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <string_view>

#include "attend/kernels/onednn-inl.h"

namespace attend::kernels {
namespace {

using namespace onednn;

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
            "×", t.n, "×", t.k, " expected ", sum, " at [", i, ", ", j, "], got ", t.c[i * t.n + j]);
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
