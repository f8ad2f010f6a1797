#include "attend/train/exchange.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "attend/base/clock.h"
#include "attend/base/error.h"
#include "attend/kernels/elementwise.h"
#include "attend/kernels/parallel.h"

namespace attend::train {
namespace {

constexpr int kCollectTag = 2, kBucketTag = 16;
// Numbers of a bucket: at most 4 MiB, of which latency is a small part on any network. Less where a network is small, so that there
// are several to send while the rest is computed, and where there are many ranks, so that each owns some.
constexpr size_t kLargestBucket = size_t{1} << 20, kSmallestBucket = size_t{16} << 10, kBuckets = 16, kOfEachRank = 4;
constexpr size_t kChunk = size_t{16} << 10;  // numbers that are added at once, in the cache

size_t bucket_size(std::span<const Piece> pieces, int ranks) {
  size_t all = 0;
  for (const Piece& piece : pieces) all += piece.size;
  return std::clamp(all / std::max(kBuckets, kOfEachRank * static_cast<size_t>(ranks)), kSmallestBucket,
                    kLargestBucket);
}

/// A node of a tree over stretches in memory: of one of them, or of the sum of several.
struct Stretch {
  const real* from = nullptr;
  std::vector<real> sum = {};
  const real* data() const { return sum.empty() ? from : sum.data(); }
};

}  // namespace

void add_gradients(Tensor& left, Tensor&& right) {
  if (!right.defined()) return;
  if (!left.defined()) {
    left = std::move(right);
    return;
  }
  if (!left.unique()) left = left.clone();
  kernels::add_into(left.data(), right.data(), left.size());
}

GradientExchange::GradientExchange(Company& company, int64_t parts, std::vector<nn::NamedParam> parameters,
                                   std::span<const size_t> order, bool overlap)
    : company_(company),
      parts_(parts),
      parameters_(std::move(parameters)),
      pieces_(pieces_of(parameters_)),
      pieces_of_(parameters_.size()),
      bucket_of_(pieces_.size()),
      offset_of_(pieces_.size()),
      squares_(pieces_.size(), -1.0),
      overlap_(overlap) {
  require(order.size() == parameters_.size(), "exchange: expected an order of ", parameters_.size(),
          " parameters, got one of ", order.size());
  for (int r = 0; r < company_.size(); ++r) nodes_.push_back(nodes_of(share_of(r, company_.size(), parts_), parts_));
  for (size_t k = 0; k < pieces_.size(); ++k) pieces_of_[pieces_[k].parameter].push_back(k);
  make_buckets(order);
}

void GradientExchange::make_buckets(std::span<const size_t> order) {
  const size_t enough = bucket_size(pieces_, company_.size());
  for (const size_t parameter : order) {
    for (const size_t k : pieces_of_.at(parameter)) {
      if (buckets_.empty() || buckets_.back().size >= enough) buckets_.emplace_back();
      Bucket& bucket = buckets_.back();
      bucket_of_[k] = buckets_.size() - 1, offset_of_[k] = bucket.size;
      bucket.pieces.push_back(k), bucket.size += pieces_[k].size;
    }
  }
  std::vector<size_t> load(static_cast<size_t>(company_.size()), 0);
  for (Bucket& bucket : buckets_) {
    const auto least = std::ranges::min_element(load);
    bucket.owner = static_cast<int>(least - load.begin()), *least += bucket.size;
    bucket.sent.resize(nodes_[static_cast<size_t>(company_.rank())].size() * bucket.stride());
    if (!is_mine(bucket)) continue;
    for (const auto& nodes : nodes_) bucket.received.emplace_back(nodes.size() * bucket.stride());
    bucket.received[static_cast<size_t>(company_.rank())].clear();
  }
}

std::vector<Piece> GradientExchange::mine() const {
  std::vector<Piece> all;
  for (const Bucket& bucket : buckets_) {
    for (const size_t k : bucket.pieces) {
      if (is_mine(bucket)) all.push_back(pieces_[k]);
    }
  }
  return all;
}

void GradientExchange::collect(size_t parameter, Tensor& whole) {
  for (const size_t k : pieces_of_[parameter]) {
    const Bucket& bucket = buckets_[bucket_of_[k]];
    if (bucket.owner == 0) continue;
    const std::span<real> part = whole.values().subspan(pieces_[k].begin, pieces_[k].size);
    if (company_.leads()) company_.wait(company_.receive(std::as_writable_bytes(part), bucket.owner, kCollectTag));
    if (is_mine(bucket)) company_.wait(company_.send(std::as_bytes(part), 0, kCollectTag));
  }
}

void GradientExchange::begin() {
  cost_.bytes -= company_.sent();  // what is sent between updates does not count
  for (size_t b = 0; b < buckets_.size(); ++b) {
    Bucket& bucket = buckets_[b];
    bucket.missing = bucket.pieces.size();
    if (!is_mine(bucket)) continue;
    for (int r = 0; r < company_.size(); ++r) {
      if (r == company_.rank()) continue;
      const std::span<real> place(bucket.received[static_cast<size_t>(r)]);
      bucket.coming.push_back(company_.receive(std::as_writable_bytes(place), r, kBucketTag + static_cast<int>(b)));
    }
  }
}

void GradientExchange::add(size_t parameter, std::span<const GradientSum::Node> nodes) {
  for (const size_t k : pieces_of_[parameter]) {
    const Piece& piece = pieces_[k];
    Bucket& bucket = buckets_[bucket_of_[k]];
    const size_t place = static_cast<size_t>(std::ranges::find(bucket.pieces, k) - bucket.pieces.begin());
    for (size_t n = 0; n < nodes.size(); ++n) {
      real* out = bucket.sent.data() + n * bucket.stride();
      const Tensor& value = nodes[n].value;
      out[bucket.size + place] = value.defined() ? 1 : 0;
      if (value.defined()) std::copy_n(value.data() + piece.begin, piece.size, out + offset_of_[k]);
    }
    if (--bucket.missing == 0 && overlap_) send(bucket_of_[k]);
  }
}

void GradientExchange::send(size_t b) {
  const Bucket& bucket = buckets_[b];
  if (is_mine(bucket)) return;
  sending_.push_back(
      company_.send(std::as_bytes(std::span(bucket.sent)), bucket.owner, kBucketTag + static_cast<int>(b)));
}

double GradientExchange::timed_wait(std::span<const Company::Transfer> transfers) {
  const double begun = steady_seconds();
  company_.wait(transfers);
  return steady_seconds() - begun;
}

/// Adds a piece's nodes of all ranks into its gradient.
void GradientExchange::sum_piece(const Bucket& bucket, size_t place, size_t offset) {
  const Piece& piece = pieces_[bucket.pieces[place]];
  std::vector<std::pair<Share, const real*>> sources;
  for (size_t r = 0; r < nodes_.size(); ++r) {
    const bool own = static_cast<int>(r) == company_.rank();
    const real* from = own ? bucket.sent.data() : bucket.received[r].data();
    for (size_t n = 0; n < nodes_[r].size(); ++n, from += bucket.stride()) {
      sources.emplace_back(nodes_[r][n], from[bucket.size + place] != 0 ? from + offset : nullptr);
    }
  }
  double& squares = squares_[bucket.pieces[place]];
  squares = -1;
  if (std::ranges::none_of(sources, [](const auto& source) { return source.second != nullptr; })) return;
  real* total = parameters_[piece.parameter].var.slot().buffer().data() + piece.begin;
  kernels::parallel_for((piece.size + kChunk - 1) / kChunk, [&](size_t chunk) {
    const size_t begin = chunk * kChunk, n = std::min(kChunk, piece.size - begin);
    TreeSum<Stretch> tree(parts_);
    for (const auto& [parts, from] : sources) {
      tree.push(parts, {from ? from + begin : nullptr}, [n](Stretch& left, Stretch&& right) {
        if (!right.data()) return;
        if (!left.data()) {
          left = std::move(right);
        } else if (left.sum.empty()) {
          left.sum.resize(n);
          kernels::add(left.from, right.data(), left.sum.data(), n);
        } else {
          kernels::add_into(left.sum.data(), right.data(), n);
        }
      });
    }
    std::copy_n(tree.nodes().at(0).value.data(), n, total + begin);
  });
  squares = squares_of(parameters_, piece);
}

void GradientExchange::sum(Bucket& bucket) {
  for (size_t place = 0; place < bucket.pieces.size(); ++place) {
    sum_piece(bucket, place, offset_of_[bucket.pieces[place]]);
  }
}

double GradientExchange::finish(std::span<double> of_parts) {
  for (const Bucket& bucket : buckets_) {
    require(bucket.missing == 0, "exchange: expected the gradients of all parameters, got too few");
  }
  for (size_t b = 0; b < buckets_.size() && !overlap_; ++b) send(b);
  for (const nn::NamedParam& p : parameters_) p.var.slot().node()->final = false;
  for (Bucket& bucket : buckets_) {
    if (!is_mine(bucket)) continue;
    cost_.gradients += timed_wait(bucket.coming);
    bucket.coming.clear();
    sum(bucket);
  }
  cost_.gradients += timed_wait(sending_);
  sending_.clear();
  return agree(of_parts);
}

/// Everybody learns which parameters have a gradient, the norm, and the values of the parts.
double GradientExchange::agree(std::span<double> of_parts) {
  const size_t each = of_parts.size() / static_cast<size_t>(parts_);
  std::vector<int> counts;
  std::vector<double> mine;
  for (int r = 0; r < company_.size(); ++r) {
    const Share share = share_of(r, company_.size(), parts_);
    int pieces = 0;
    for (const Bucket& bucket : buckets_) pieces += bucket.owner == r ? static_cast<int>(bucket.pieces.size()) : 0;
    counts.push_back(pieces + static_cast<int>(share.size() * static_cast<int64_t>(each)));
    if (r != company_.rank()) continue;
    for (const Bucket& bucket : buckets_) {
      for (const size_t k : bucket.pieces) {
        if (is_mine(bucket)) mine.push_back(squares_[k]);
      }
    }
    for (size_t i = static_cast<size_t>(share.begin) * each; i < static_cast<size_t>(share.end) * each; ++i) {
      mine.push_back(of_parts[i]);
    }
  }
  const std::vector<double> all = company_.gathered(mine, counts);
  size_t at = 0;
  for (int r = 0; r < company_.size(); ++r) {
    for (const Bucket& bucket : buckets_) {
      for (const size_t k : bucket.pieces) {
        if (bucket.owner == r) squares_[k] = all[at++];
      }
    }
    const Share share = share_of(r, company_.size(), parts_);
    for (size_t i = static_cast<size_t>(share.begin) * each; i < static_cast<size_t>(share.end) * each; ++i) {
      of_parts[i] = all[at++];
    }
  }
  double squares = 0;
  for (size_t k = 0; k < pieces_.size(); ++k) {
    Var& parameter = parameters_[pieces_[k].parameter].var;
    if (squares_[k] < 0) {
      parameter.clear_gradient();
    } else {
      parameter.slot().buffer();
      squares += squares_[k];
    }
  }
  return std::sqrt(squares);
}

void GradientExchange::share_weights() {
  const double begun = steady_seconds();
  std::vector<Company::Transfer> under_way;
  for (Bucket& bucket : buckets_) {
    for (const size_t k : bucket.pieces) {
      if (!is_mine(bucket)) continue;
      const Tensor& value = std::as_const(parameters_[pieces_[k].parameter].var).value();
      std::copy_n(value.data() + pieces_[k].begin, pieces_[k].size, bucket.sent.data() + offset_of_[k]);
    }
    under_way.push_back(
        company_.broadcast(std::as_writable_bytes(std::span(bucket.sent).first(bucket.size)), bucket.owner));
  }
  for (size_t b = 0; b < buckets_.size(); ++b) {
    company_.wait(under_way[b]);
    for (const size_t k : buckets_[b].pieces) {
      if (is_mine(buckets_[b])) continue;
      Tensor& value = parameters_[pieces_[k].parameter].var.value();
      std::copy_n(buckets_[b].sent.data() + offset_of_[k], pieces_[k].size, value.data() + pieces_[k].begin);
    }
  }
  cost_.weights += steady_seconds() - begun;
  cost_.updates += 1, cost_.bytes += company_.sent();
}

}  // namespace attend::train
