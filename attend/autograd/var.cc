#include "attend/autograd/var.h"

#include <algorithm>
#include <ostream>

#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/kernels/elementwise.h"
#include "attend/kernels/gemm.h"

namespace attend {
namespace {

// Rows after which gathered products are multiplied immediately: enough for full speed, and a bound on what is kept
// alive.
constexpr int64_t kProductRows = 4096;
// Rows from which a product is not gathered with others: that would cost a copy and gain nothing.
constexpr int64_t kEnoughRows = 1024;

/// One side of all products as [B, rows, columns] (B = 1 and no axis for it, for a weight).
Tensor stacked(const std::vector<GradientNode::Product>& products, Tensor GradientNode::Product::*side, int64_t rows) {
  const Tensor& first = products.front().*side;
  const bool batched = first.rank() == 3;
  const int64_t B = batched ? first.dim(0) : 1, columns = first.dim(-1);
  Tensor all(batched ? Shape{B, rows, columns} : Shape{rows, columns});
  int64_t at = 0;
  for (const auto& product : products) {
    const Tensor& part = product.*side;
    const int64_t n = part.dim(-2) * columns;
    for (int64_t b = 0; b < B; ++b) std::copy_n(part.data() + b * n, n, all.data() + b * rows * columns + at);
    at += n;
  }
  return all;
}

/// It may have been sent away already.
void require_open(const GradientNode& node) {
  require(!node.final, "gradient: expected all of it before it was final, got more for a leaf of shape ", node.shape);
}

void multiply_into(GradientNode& node, const Tensor& dy, const Tensor& x) {
  const bool accumulate = node.gradient.defined();
  if (!accumulate) node.gradient = Tensor(node.shape);
  if (accumulate && !node.gradient.unique()) node.gradient = node.gradient.clone();
  const size_t n = static_cast<size_t>(dy.dim(-2)), o = static_cast<size_t>(dy.dim(-1)),
               i = static_cast<size_t>(x.dim(-1)), B = dy.rank() == 3 ? static_cast<size_t>(dy.dim(0)) : 1;
  kernels::batched_gemm({.m = o,
                         .n = i,
                         .k = n,
                         .a = dy.data(),
                         .lda = o,
                         .transpose_a = true,
                         .b = x.data(),
                         .ldb = i,
                         .c = node.gradient.data(),
                         .ldc = i,
                         .accumulate = accumulate},
                        B, n * o, n * i, o * i);
}

}  // namespace

void Slot::add(Tensor g) const {
  if (!node_) return;
  require_open(*node_);
  require(g.shape() == node_->shape, "gradient: expected shape ", node_->shape, ", got ", g.shape());
  if (!node_->gradient.defined()) {
    node_->gradient = std::move(g);
    return;
  }
  // The sum so far may be shared (add passes one dy to both inputs): then the new sum needs its own memory.
  Tensor& sum = node_->gradient;
  if (sum.unique()) {
    kernels::add_into(sum.data(), g.data(), sum.size());
  } else if (g.unique()) {
    kernels::add_into(g.data(), sum.data(), g.size());
    sum = std::move(g);
  } else {
    Tensor fresh(sum.shape());
    kernels::add(sum.data(), g.data(), fresh.data(), fresh.size());
    sum = std::move(fresh);
  }
}

void Slot::add_product(Tensor dy, Tensor x) const {
  if (!node_) return;
  require_open(*node_);
  if (!node_->leaf) return multiply_into(*node_, dy, x);
  if (node_->products.empty() && dy.dim(0) >= kEnoughRows) return multiply_into(*node_, dy, x);
  if (node_->products.empty()) Tape::settle_later(*this);
  node_->product_rows += dy.dim(0);
  node_->products.push_back({std::move(dy), std::move(x)});
  if (node_->product_rows >= kProductRows) settle();
}

void Slot::add_batched_product(Tensor dy, Tensor x) const {
  if (!node_) return;
  require_open(*node_);
  // What a tape recorded is settled when the tape reaches it; a leaf or a probe is reached by none.
  if (node_->leaf || node_->probe) return multiply_into(*node_, dy, x);
  node_->product_rows += dy.dim(1);
  node_->products.push_back({std::move(dy), std::move(x)});
}

void Slot::settle() const {
  if (!node_ || node_->products.empty()) return;
  auto products = std::exchange(node_->products, {});
  const int64_t rows = std::exchange(node_->product_rows, 0);
  if (products.size() == 1) return multiply_into(*node_, products[0].dy, products[0].x);
  const Tensor dy = stacked(products, &GradientNode::Product::dy, rows);
  const Tensor x = stacked(products, &GradientNode::Product::x, rows);
  products.clear();
  multiply_into(*node_, dy, x);
}

Tensor& Slot::buffer() const {
  require_open(*node_);
  Tensor& gradient = node_->gradient;
  if (!gradient.defined()) {
    gradient = Tensor::zeros(node_->shape);
  } else if (!gradient.unique()) {
    gradient = gradient.clone();
  }
  return gradient;
}

uint64_t Var::new_version() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

const Slot Var::kNoSlot;

Var Var::probe(Tensor value) {
  auto* node = new GradientNode;
  node->probe = true;
  node->shape = value.shape();
  return Var(std::move(value), Slot(node));
}

Var Var::leaf(Tensor value) {
  require(value.defined(), "Var::leaf: expected a tensor, got an undefined one");
  auto* node = new GradientNode;
  node->leaf = true;
  node->version = new_version();
  node->shape = value.shape();
  return Var(std::move(value), Slot(node));
}

const Tensor& Var::gradient() const {
  static const Tensor none;
  return slot_.needed() ? slot_.node()->gradient : none;
}

void Var::clear_gradient() {
  if (!slot_.needed()) return;
  slot_.node()->gradient = Tensor();
  slot_.node()->products.clear();
  slot_.node()->product_rows = 0;
  slot_.node()->final = false;
}

std::ostream& operator<<(std::ostream& out, const Var& var) {
  return out << (var.tracked() ? "tracked " : "") << var.value();
}

}  // namespace attend
