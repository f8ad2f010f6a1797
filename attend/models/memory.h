// Memory with hops: a question asks the sentences of a document, and asks again with what it has read (Weston et al. 2015;
// Sukhbaatar et al. 2015, "End-to-end memory networks"). It reads the parts "document", "document.sentence" (which sentence each
// word belongs to, from 0) and "question" of a source, and answers with a label.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "attend/attention/attention.h"
#include "attend/models/labeller.h"

namespace attend::models {

struct MemoryOptions {
  int64_t source_vocabulary = 0, labels = 0;
  int64_t size = 50, hops = 3;
  std::string tying = "adjacent";
  bool own_question = false;
  std::string words = "position";
  int64_t positions = 0;
  int64_t cells = 50;
  bool filled = false;
  double noise = 0.1;
  int64_t linear_start = 0;
  double dropout = 0;
  bool tied_output = false;
  std::string label_words;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("source_vocabulary", source_vocabulary, "number of words of documents and questions", bounds::count_or_none());
    visit("labels", labels, "number of answers", bounds::count_or_none());
    visit("size", size, "width of a word, a sentence and a question", bounds::width());
    visit("hops", hops, "how often the question asks", bounds::layers());
    visit("tying", tying,
          "adjacent: what one hop reads is what the next one looks through; layerwise: all hops are alike",
          bounds::one_of({"adjacent", "layerwise"}));
    visit("own_question", own_question,
          "adjacent: the words of questions have vectors of their own, not those of the first hop; layerwise: they always do");
    visit("words", words, "position: where a word stands in its sentence counts; bag: only which words there are",
          bounds::one_of({"position", "bag"}));
    visit("positions", positions,
          "position: number of places of every sentence, the last for its age, so that a word counts the same at the same "
          "place of all; 0: as many as a sentence has words, and ages count 1",
          bounds::width_or_none());
    visit("cells", cells, "most sentences that are remembered, the latest", bounds::width());
    visit("filled", filled,
          "cells without a sentence, which say nothing and have no age, are looked at too: a hop may find nothing");
    visit("noise", noise, "in training: share of empty cells put between sentences, so that their age is learned more evenly",
          bounds::share());
    visit("linear_start", linear_start, "updates during which hops have no softmax", bounds::count_or_none());
    visit("dropout", dropout, "before the output", bounds::share());
    visit("tied_output", tied_output,
          "an answer that is a word has the vector that the last hop reads of it; others have vectors of their own");
    visit("label_words", label_words, "the word that each answer is, from 0, with commas; -1: none");
  }
};

/// uₖ₊₁ = uₖ + Σᵢ pᵢ cᵢ with p = softmax(uₖᵀmᵢ), mᵢ = Σⱼ lⱼ∘A xᵢⱼ + T_A(age of i) and cᵢ the same with C (eq. 1–2, section 4.1);
/// u₁ = Σⱼ lⱼ∘B qⱼ. tying adjacent: Aₖ₊₁ = Cₖ and, unless own_question, B = A₁; layerwise: one A, one C, and
/// uₖ₊₁ = H uₖ + o.
class MemoryHops : public Encoder {
 public:
  static constexpr std::string_view kDocument = "document", kQuestion = "question", kSentence = "document.sentence";

  MemoryHops(const MemoryOptions& options, Random& random);
  /// The summary is u after the last hop; the states are what that hop read of each cell.
  Encoded operator()(const data::Source& source, Training* training) const override;
  EncodedSizes sizes() const override { return {.states = options_.size}; }
  void params(const nn::VisitParams& visit) override;
  Var word_table() const override { return words_[0]; }
  /// What the last hop reads of each word: [V,D].
  const Var& read_words() const { return words_.back(); }

 private:
  struct Words;
  struct Cells;

  Cells remembered(const data::Source& source, Training* training) const;
  Tensor counts_of(int32_t most) const;
  Tensor count_of_age() const;
  Words placed(Ids ids, const std::vector<int32_t>& lengths) const;
  Var embedded(const Var& table, const Words& words) const;
  static void tell(const Cells& cells, const Tensor& weights, int64_t hop);
  bool adjacent() const { return options_.tying == "adjacent"; }

  MemoryOptions options_;
  std::vector<Var> words_, ages_;         // adjacent: A₁, C₁ = A₂, …; layerwise: A, C
  Var question_, state_;                  // B if it is not A₁; layerwise: H
  std::vector<Attention> soft_, linear_;  // by hop; they have no parameters
};

/// softmax(W·u + b) after the last hop; tied_output: softmax(W·u), where the rows of W are those of the last C for answers that
/// are words (Wᵀ = Cₖ; section 2.2).
class Memory : public Labeller {
 public:
  Memory(const MemoryOptions& options, Random& random);
  void params(const nn::VisitParams& visit) override;
  Var logits(const data::Source& source, Training* training = nullptr) const override;

 private:
  Var features(const data::Source& source, Training* training) const override;

  Ids rows_;  // tied_output: by label, of the last C and, after it, of own_
  Var own_;   // rows of labels that are no words
  nn::Dropout dropout_;
};

}  // namespace attend::models
