// MarkovModel: a model whose probabilities are a table, so that a test can enumerate all of its answers.
#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "attend/attention/observe.h"
#include "attend/base/error.h"
#include "attend/models/model.h"
#include "tests/support/array.h"

namespace attend::test {

/// Logits of what follows depend on the last two ids and on the first id of the source. The state keeps all that was said
/// to it, so that a search which mixes up its rows gets other numbers.
class MarkovModel : public models::Model {
 public:
  /// tables[s] [V,V,V]: logits after (before, last) for sources that begin with id s modulo their number.
  explicit MarkovModel(std::vector<Array> tables) : tables_(std::move(tables)) {}
  static MarkovModel random(int64_t vocabulary, size_t tables, uint64_t seed, double scale = 1) {
    Random random(seed);
    std::vector<Array> all;
    for (size_t s = 0; s < tables; ++s) {
      all.push_back(random_array({vocabulary, vocabulary, vocabulary}, random));
      for (double& x : all.back().v) x = static_cast<float>(scale * x);
    }
    return MarkovModel(std::move(all));
  }

  /// ln p(token | before, last).
  double log_probability(size_t source, int32_t before, int32_t last, int32_t token) const {
    const Array& t = tables_[source % tables_.size()];
    double sum = 0;
    for (int64_t v = 0; v < vocabulary(); ++v) sum += std::exp(t(before, last, v));
    return t(before, last, token) - std::log(sum);
  }

  void params(const nn::VisitParams&) override {}
  Var loss(const data::Batch&, models::Training*) const override { fail("MarkovModel: has nothing to learn"); }

  std::unique_ptr<models::State> begin(const data::Source& source) const override {
    auto state = std::make_unique<Memory>();
    state->model = this;
    for (int64_t b = 0; b < source.count(); ++b) {
      const std::vector<int32_t> ids = source.text().row(b);
      state->rows.push_back(
          {ids.empty() ? 0 : static_cast<size_t>(ids[0]), source.lengths()[static_cast<size_t>(b)], {}});
    }
    return state;
  }

  Tensor next(models::State& state, std::span<const int32_t> last) const override {
    std::vector<Memory::Row>& rows = static_cast<Memory&>(state).rows;
    require(last.size() == rows.size(), "MarkovModel: expected ", rows.size(), " ids, got ", last.size());
    ++steps;
    rows_asked += static_cast<int64_t>(rows.size());
    Tensor logits({static_cast<int64_t>(rows.size()), vocabulary()});
    for (size_t r = 0; r < rows.size(); ++r) {
      rows[r].said.push_back(last[r]);
      const size_t n = rows[r].said.size();
      const Array& t = tables_[rows[r].source % tables_.size()];
      const size_t at = t.at(rows[r].said[n >= 2 ? n - 2 : 0], last[r], 0);
      for (size_t v = 0; v < static_cast<size_t>(vocabulary()); ++v) {
        logits.data()[r * static_cast<size_t>(vocabulary()) + v] = static_cast<real>(t.v[at + v]);
      }
    }
    if (attention && Observing::active()) tell(rows);
    return logits;
  }

  int64_t vocabulary() const override { return tables_[0].dim(0); }
  int64_t answer_length(int64_t source_length) const override {
    return fixed_length ? fixed_length(source_length) : -1;
  }

  /// Weights of source position i in layer l and head h when `last` has been said; two layers of two heads.
  std::function<double(int64_t layer, int64_t head, int32_t last, int32_t source_length, int64_t i)> attention;
  std::function<int64_t(int64_t)> fixed_length;
  bool joins = true;  // whether its states can be computed together
  mutable int64_t steps = 0, rows_asked = 0, takes = 0, idle_takes = 0;

 private:
  struct Memory : models::State {
    struct Row {
      size_t source;
      int32_t length;
      std::vector<int32_t> said;
    };
    void take(std::span<const int32_t> kept) override {
      std::vector<Row> taken;
      bool idle = kept.size() == rows.size();
      for (size_t r = 0; r < kept.size(); ++r) {
        idle = idle && kept[r] == static_cast<int32_t>(r);
        taken.push_back(rows.at(static_cast<size_t>(kept[r])));
      }
      rows = std::move(taken);
      ++model->takes;
      model->idle_takes += idle;
    }
    bool join(State& other) override {
      if (!model->joins) return false;
      const auto& more = static_cast<Memory&>(other).rows;
      rows.insert(rows.end(), more.begin(), more.end());
      return true;
    }
    std::vector<Row> rows;
    const MarkovModel* model = nullptr;
  };

  void tell(const std::vector<Memory::Row>& rows) const {
    int32_t longest = 1;
    std::vector<int32_t> lengths;
    for (const Memory::Row& row : rows) lengths.push_back(row.length), longest = std::max(longest, row.length);
    for (int64_t layer = 0; layer < 2; ++layer) {
      Array w({static_cast<int64_t>(rows.size()), 2, 1, longest});
      for (int64_t n = 0; n < w.dim(0); ++n) {
        const Memory::Row& row = rows[static_cast<size_t>(n)];
        for (int64_t h = 0; h < 2; ++h) {
          for (int64_t i = 0; i < row.length; ++i) w(n, h, 0, i) = attention(layer, h, row.said.back(), row.length, i);
        }
      }
      const int64_t step = static_cast<int64_t>(rows[0].said.size()) - 1;
      Observing::tell(
          {.site = "decoder.memory", .layer = layer, .step = step, .weights = to_tensor(w), .key_lengths = lengths});
      Observing::tell({.site = "decoder.self",
                       .purpose = Purpose::past,
                       .layer = layer,
                       .step = step,
                       .weights = Tensor::full({w.dim(0), 1, 1, 9}, 7)});
    }
  }

  std::vector<Array> tables_;
};

}  // namespace attend::test
