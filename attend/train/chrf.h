// chrF of a corpus with one reference per line (Popović 2015; chrF++: 2017), as sacreBLEU computes it (Post 2018).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "attend/base/options.h"

namespace attend::train {

struct ChrfOptions {
  int64_t char_order = 6;
  int64_t word_order = 0;  // 2: chrF++
  int64_t beta = 2;        // recall counts this many times as much as precision
  bool lowercase = false;

  void fields(auto&& visit) {
    visit("char_order", char_order, "longest n-gram of characters", bounds::within(1, 100));
    visit("word_order", word_order, "longest n-gram of words; 2: chrF++", bounds::within(0, 100));
    visit("beta", beta, "recall counts this many times as much as precision", bounds::above(0));
    visit("lowercase", lowercase, "ignore case");
  }
};

/// (1 + β²)·P·R/(β²·P + R), 0 … 100; P and R are means over the orders that both sides have. Blanks are left out of n-grams
/// of characters. Throws Error unless there are as many outputs as references, and at least one.
double chrf(std::span<const std::string> outputs, std::span<const std::string> references,
            const ChrfOptions& options = {});
/// "chrF2", or "chrF2++" with words.
std::string chrf_name(const ChrfOptions& options = {});
/// "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:…"
std::string chrf_signature(const ChrfOptions& options = {});

}  // namespace attend::train
