// Traces made by hand, of every kind that a picture must show.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "attend/explain/trace.h"

namespace attend::test {

/// "i am going home" → "main ghar ja rahi hoon", with one soft attention and its map.
inline explain::Trace hindi_trace() {
  explain::Trace trace;
  trace.model = "demo", trace.task = "translate", trace.network = "recurrent", trace.parameters = 812345;
  trace.options = {{"beam", "4"}};
  trace.source = {
      "i am going home", {"▁i", "▁am", "▁going", "▁ho", "me"}, {"i", "am", "going", "home"}, {0, 1, 2, 3, 3}};
  trace.target = {"main ghar ja rahi hoon",
                  {"▁main", "▁ghar", "▁ja", "▁rahi", "▁hoon", "</s>"},
                  {"main", "ghar", "ja", "rahi", "hoon"},
                  {0, 1, 2, 3, 4, -1}};
  trace.score = -0.12, trace.log_probability = -0.2;
  trace.token_log_probabilities = {-0.01, -0.05, -0.02, -0.03, -0.08, -0.01};
  const std::vector<real> tokens{0.9,  0.06, 0.02, 0.01, 0.01,  //
                                 0.01, 0.02, 0.04, 0.6,  0.33,  //
                                 0.02, 0.08, 0.85, 0.03, 0.02,  //
                                 0.1,  0.35, 0.5,  0.03, 0.02,  //
                                 0.3,  0.6,  0.07, 0.02, 0.01,  //
                                 0.05, 0.05, 0.1,  0.2,  0.6};
  const std::vector<real> words{0.9,  0.06, 0.02, 0.02,  //
                                0.01, 0.02, 0.04, 0.93,  //
                                0.02, 0.08, 0.85, 0.05,  //
                                0.1,  0.35, 0.5,  0.05,  //
                                0.3,  0.6,  0.07, 0.03};
  trace.maps.push_back({"attention", "attention, mean of 1 layer × 1 head", "decoder.memory", -1, -1, false,
                        Tensor::of({6, 5}, tokens), Tensor::of({5, 4}, words)});
  explain::TraceSite site{"decoder.memory", Purpose::source, 0, 1, "target", "source"};
  site.weights = Tensor::of({1, 6, 5}, tokens);
  trace.sites.push_back(site);
  trace.answers.push_back({trace.target.text, -0.12, -0.2, true, -1});
  return trace;
}

/// The same with evidence, and a second map whose values speak for and against.
inline explain::Trace signed_trace() {
  explain::Trace trace = hindi_trace();
  explain::TraceMap map = trace.maps[0];
  map.method = "saliency", map.label = "saliency: gradient × embedding", map.site = "", map.is_signed = true;
  map.tokens = map.tokens.clone(), map.words = map.words.clone();
  for (Tensor* values : {&map.tokens, &map.words}) {
    for (size_t i = 0; i < values->size(); ++i) values->data()[i] = (i % 3 == 1 ? -2 : 3) * values->data()[i];
  }
  trace.maps.insert(trace.maps.begin(), map);
  trace.evidence.push_back({"the 2 source words it looked at most are left out", -0.03, -2.1,
                            "what it looked at matters: without it the answer is less likely"});
  trace.evidence.push_back(
      {"the 2 source words it looked at least are left out", -0.03, -0.05, "what it did not look at hardly matters"});
  return trace;
}

/// Each row is one choice.
inline explain::Trace hard_trace() {
  explain::Trace trace = hindi_trace();
  explain::TraceSite& site = trace.sites[0];
  site.hard = true;
  Tensor chosen = Tensor::zeros({1, 6, 5});
  constexpr size_t kChoices[] = {0, 3, 2, 2, 1, 4};
  for (size_t t = 0; t < 6; ++t) chosen.data()[t * 5 + kChoices[t]] = 1;
  site.weights = chosen;
  trace.maps[0].tokens = chosen[0];
  trace.maps[0].words = Tensor::zeros({5, 4});
  for (size_t t = 0; t < 5; ++t) trace.maps[0].words.data()[t * 4 + std::min<size_t>(3, kChoices[t])] = 1;
  trace.maps[0].label = "attention, hard";
  return trace;
}

/// A window of one place to each side, around a centre that was predicted.
inline explain::Trace local_trace() {
  explain::Trace trace = hindi_trace();
  trace.sites[0].centres = Tensor::of({1, 6}, {0.2, 3.4, 2.0, 1.7, 0.8, 4.0});
  trace.sites[0].reach = 1;
  Tensor weights = trace.sites[0].weights.clone();
  for (size_t t = 0; t < 6; ++t) {
    for (size_t s = 0; s < 5; ++s) {
      const double distance = static_cast<double>(s) - static_cast<double>(trace.sites[0].centres.data()[t]);
      weights.data()[t * 5 + s] =
          std::abs(distance) > 1 ? 0 : static_cast<real>(std::exp(-2 * distance * distance) / 2);
    }
  }
  trace.sites[0].weights = weights, trace.maps[0].tokens = weights[0];
  trace.maps[0].label = "attention, local-p";
  return trace;
}

/// As of a Transformer: two layers of four heads at each of three sites.
inline explain::Trace heads_trace(int64_t layers = 2, int64_t heads = 4) {
  explain::Trace trace = hindi_trace();
  trace.network = "transformer";
  trace.sites.clear();
  for (const auto& [name, purpose, queries, keys] :
       {std::tuple{"encoder.self", Purpose::self, "source", "source"},
        std::tuple{"decoder.self", Purpose::past, "target", "before"},
        std::tuple{"decoder.memory", Purpose::source, "target", "source"}}) {
    const int64_t rows = std::string_view(queries) == "source" ? 5 : 6,
                  columns = std::string_view(keys) == "source" ? 5 : 6;
    for (int64_t layer = 0; layer < layers; ++layer) {
      explain::TraceSite site{name, purpose, layer, heads, queries, keys};
      site.weights = Tensor({heads, rows, columns});
      real* at = site.weights.data();
      for (int64_t h = 0; h < heads; ++h) {
        for (int64_t r = 0; r < rows; ++r) {
          real* row = at;
          real sum = 0;
          for (int64_t c = 0; c < columns; ++c, ++at) {
            const bool seen = std::string_view(keys) != "before" || c <= r;
            const auto distance = static_cast<double>((r + h + layer) % columns - c);
            sum += * at = seen ? static_cast<real>(std::exp(-distance * distance / (0.5 + static_cast<double>(h)))) : 0;
          }
          for (int64_t c = 0; c < columns; ++c) row[c] /= sum;
        }
      }
      trace.sites.push_back(site);
    }
  }
  trace.maps[0].label =
      "attention, mean of " + std::to_string(layers) + " layers × " + std::to_string(heads) + " heads";
  return trace;
}

/// As of a decoder alone: one attention over the source and, after it, what was read before.
inline explain::Trace alone_trace() {
  explain::Trace trace = hindi_trace();
  trace.network = "language_model";
  explain::TraceSite& site = trace.sites[0];
  site.site = trace.maps[0].site = "decoder.self", site.purpose = Purpose::past, site.keys = "source+before";
  site.weights = Tensor::zeros({1, 6, 11});
  for (int64_t t = 0; t < 6; ++t) {
    for (int64_t s = 0; s < 5; ++s) {
      site.weights.data()[t * 11 + s] = trace.maps[0].tokens.data()[t * 5 + s] / 2;
      trace.maps[0].tokens.data()[t * 5 + s] /= 2;
    }
    site.weights.data()[t * 11 + 5 + t] = 0.5;
  }
  for (real& value : trace.maps[0].words.values()) value /= 2;
  return trace;
}

/// A map of how the source looks at itself.
inline explain::Trace self_trace() {
  explain::Trace trace = heads_trace();
  explain::TraceMap& map = trace.maps[0];
  map.site = "encoder.self", map.layer = 0, map.head = 0, map.queries = map.keys = "source";
  map.label = "attention of encoder.self, layer 0, head 0";
  map.tokens = trace.sites[0].weights[0];
  map.words = Tensor::full({4, 4}, 0.25);
  return trace;
}

/// With numbers that are not finite.
inline explain::Trace broken_trace() {
  explain::Trace trace = hindi_trace();
  trace.maps[0].words.data()[0] = trace.maps[0].tokens.data()[0] = std::numeric_limits<real>::quiet_NaN();
  trace.evidence.push_back(
      {"all source words are left out", -0.03, -std::numeric_limits<double>::infinity(), "it is over"});
  return trace;
}

/// n tokens on both sides, along a bent diagonal.
inline explain::Trace large_trace(int64_t n) {
  explain::Trace trace = hindi_trace();
  const auto fill = [n](explain::TraceSide& side, const char* what) {
    side = {};
    for (int64_t i = 0; i < n; ++i) {
      side.tokens.push_back(what + std::to_string(i)), side.words.push_back(side.tokens.back());
      side.word_of.push_back(static_cast<int32_t>(i));
      side.text += (i > 0 ? " " : "") + side.tokens.back();
    }
  };
  fill(trace.source, "source"), fill(trace.target, "target");
  Tensor weights({n, n});
  for (int64_t r = 0; r < n; ++r) {
    real sum = 0;
    real* row = weights.data() + r * n;
    const double centre =
        static_cast<double>(r) + 0.08 * static_cast<double>(n) * std::sin(static_cast<double>(r) / 20);
    for (int64_t c = 0; c < n; ++c)
      sum += row[c] = static_cast<real>(std::exp(-std::abs(static_cast<double>(c) - centre) / 3));
    for (int64_t c = 0; c < n; ++c) row[c] /= sum;
  }
  trace.maps[0].tokens = trace.maps[0].words = weights;
  trace.sites.clear();
  trace.token_log_probabilities.assign(static_cast<size_t>(n), -0.1);
  return trace;
}

/// Words that are long, wide, from right to left, and full of signs that XML and scripts know.
inline explain::Trace odd_trace() {
  explain::Trace trace = hindi_trace();
  trace.source.words = {"</script><b>&\"'", "Donaudampfschifffahrtsgesellschaftskapitän", "漢字かな", "שלום"};
  trace.target.words = {"مرحبا", "\xff\x01", "मैं", "{title}", ""};
  trace.source.text = "</script><b>&\"' Donaudampfschifffahrtsgesellschaftskapitän 漢字かな שלום";
  trace.target.text = "مرحبا ? मैं {title}";
  return trace;
}

/// "the unhappy dog barks ." as parsed; its second word is two tokens.
inline explain::Trace tree_trace() {
  explain::Trace trace;
  trace.model = "parser", trace.task = "parse", trace.network = "recurrent", trace.parameters = 912345;
  trace.source = {"the unhappy dog barks .",
                  {"▁the", "▁un", "happy", "▁dog", "▁barks", "▁."},
                  {"the", "unhappy", "dog", "barks", "."},
                  {0, 1, 1, 2, 3, 4}};
  trace.target = {"(S (NP (DT the) (JJ unhappy) (NN dog)) (VP (VBZ barks)) (. .))",
                  {"(S", "(NP", "DT", "JJ", "NN", ")", "(VP", "VBZ", ")", ".", ")", "</s>"},
                  {"(S", "(NP", "DT", "JJ", "NN", ")", "(VP", "VBZ", ")", ".", ")"},
                  {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, -1}};
  trace.target.kind = "tree";
  trace.score = -0.3, trace.log_probability = -1.2;
  trace.token_log_probabilities.assign(12, -0.1);
  // Per token of the answer, where the largest weight is; the rest is even.
  constexpr size_t kMost[] = {4, 3, 0, 1, 3, 3, 4, 4, 4, 5, 5, 5};
  Tensor tokens({12, 6}), words = Tensor::zeros({11, 5});
  for (size_t t = 0; t < 12; ++t) {
    for (size_t s = 0; s < 6; ++s) {
      const real weight = s == kMost[t] ? real{0.7} : real{0.06};
      tokens.data()[t * 6 + s] = weight;
      if (t < 11) words.data()[t * 5 + static_cast<size_t>(trace.source.word_of[s])] += weight;
    }
  }
  trace.maps.push_back({"attention", "attention", "decoder.memory", -1, -1, false, tokens, words});
  trace.sites.push_back({.site = "decoder.memory", .queries = "target", .keys = "source"});
  trace.sites[0].weights = tokens.reshape({1, 12, 6});
  return trace;
}

/// The same with a tag for each word, which depended on the word itself.
inline explain::Trace tags_trace() {
  explain::Trace trace = tree_trace();
  trace.task = "tag", trace.network = "tagger";
  trace.target = {
      "DT JJ NN VBZ .", {"DT", "JJ", "NN", "VBZ", "."}, {"DT", "JJ", "NN", "VBZ", "."}, {0, 1, 2, 3, 4}, {}, "tags"};
  trace.token_log_probabilities.assign(5, -0.1);
  trace.sites.clear();
  Tensor tokens = Tensor::zeros({5, 6}), words = Tensor::zeros({5, 5});
  for (size_t s = 0; s < 6; ++s) {
    const auto word = static_cast<size_t>(trace.source.word_of[s]);
    tokens.data()[word * 6 + s] = words.data()[word * 5 + word] = 1;
  }
  trace.maps = {{"saliency", "saliency", "", -1, -1, true, tokens, words}};
  return trace;
}

}  // namespace attend::test
