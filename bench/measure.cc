#include "bench/measure.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>

#include "attend/base/error.h"
#include "attend/kernels/best_product.h"
#include "attend/kernels/elementwise.h"
#include "attend/kernels/parallel.h"
#include "attend/tensor/tensor.h"

namespace attend::bench {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double best_seconds(const std::function<void()>& run, double seconds, int least_runs) {
  run();
  double best = std::numeric_limits<double>::infinity();
  const double end = now() + seconds;
  for (int runs = 0; runs < least_runs || now() < end; ++runs) {
    const double start = now();
    run();
    best = std::min(best, now() - start);
  }
  return best;
}

void Limits::keep_better(const Limits& other) {
  if (other.gflops > gflops) gflops = other.gflops, product = other.product;
  copy_gbs = std::max(copy_gbs, other.copy_gbs);
  streamed_gbs = std::max(streamed_gbs, other.streamed_gbs);
}

void Limits::refresh(double seconds) {
  const kernels::BestProduct product_now = kernels::best_product(seconds);
  if (product_now.gflops > gflops) {
    gflops = product_now.gflops;
    product = product_now.entry + " " + std::to_string(product_now.m) + "×" + std::to_string(product_now.n) + "×" +
              std::to_string(product_now.k);
  }
  const int64_t n = int64_t{16} << 20;
  static const Tensor from = Tensor::full({n}, 1);
  static Tensor to = Tensor::zeros({n});
  const size_t count = static_cast<size_t>(n), bytes = count * sizeof(real);
  const auto memcpy_all = [&] {
    kernels::parallel_team([&](const kernels::Team& team) {
      const size_t begin = count * static_cast<size_t>(team.member) / static_cast<size_t>(team.size);
      const size_t end = count * static_cast<size_t>(team.member + 1) / static_cast<size_t>(team.size);
      std::memcpy(to.data() + begin, from.data() + begin, (end - begin) * sizeof(real));
    });
  };
  const auto gbs = [&](const std::function<void()>& run) {
    return 2e-9 * static_cast<double>(bytes) / best_seconds(run, seconds / 4);
  };
  copy_gbs = std::max(copy_gbs, gbs(memcpy_all));
  require(to.data()[count - 1] == 1, "bench: the copy did not arrive");
  streamed_gbs = std::max(streamed_gbs, gbs([&] { kernels::copy(from.data(), to.data(), count); }));
}

}  // namespace attend::bench
