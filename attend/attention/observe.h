// Observation: to see what a network looks at, open a scope with a sink; every attention inside it reports its weights
// to the sink. Without a scope nothing extra is computed or kept; with one the results are the same bit for bit.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "attend/tensor/tensor.h"

namespace attend {

/// What an attention is for: who asks, and what it reads.
enum class Purpose {
  source,    ///< each prediction asks the source: one row of weights per step of the answer
  self,      ///< each place of the source asks the other places of the source
  past,      ///< each prediction asks what was said before it (and the source, where that is read as its past)
  pooling,   ///< one query asks the whole source once: what the first prediction reads
  glimpse,   ///< each glance asks the parts of an image
  question,  ///< each place of the first input asks the places of the second: a document its question
  hop,       ///< a question asks the sentences of the source, once per layer, before it is answered
};
/// "source", "self" …, as traces write it.
std::string_view name_of(Purpose purpose);
/// The purpose of that name; if there is none, throws an Error that lists all names.
Purpose purpose_named(std::string_view name);

/// One call of one attention, on N rows at once.
struct Observation {
  std::string_view site;                 ///< which attention, for people to read: "decoder.memory", "encoder.self"
  Purpose purpose = Purpose::source;     ///< what it is for
  int64_t layer = 0;                     ///< of the stack that it belongs to
  int64_t step = 0;                      ///< position of the first query
  Tensor weights;                        ///< [N,heads,Tq,Tk]; 0 where a pair does not meet
  Tensor centres;                        ///< [N,heads,Tq], where a window has a centre; else undefined
  int64_t reach = 0;                     ///< of that window, to each side of its centre
  bool hard = false;                     ///< each row of weights is one choice
  std::span<const int32_t> key_lengths;  ///< [N]; empty: all Tk
  /// [N] in a search: which sentence each row is a hypothesis of, and its place in the beam; otherwise empty (row n is
  /// sentence n).
  std::span<const int32_t> sentence, beam;
};

class Sink {
 public:
  virtual ~Sink() = default;
  virtual void observe(const Observation& observation) = 0;
};

/// While it lives, attention on this thread is observed. Scopes nest: each sink sees everything.
class Observing {
 public:
  explicit Observing(Sink& sink);
  ~Observing();
  Observing(const Observing&) = delete;
  Observing& operator=(const Observing&) = delete;

  /// True if there is an observer on this thread.
  static bool active();
  static void tell(Observation observation);

 private:
  Sink& sink_;
  Observing* outer_;
};

/// While it lives, nobody on this thread observes: for what a network reads besides its first input.
class Unobserved {
 public:
  Unobserved();
  ~Unobserved();
  Unobserved(const Unobserved&) = delete;
  Unobserved& operator=(const Unobserved&) = delete;

 private:
  Observing* outer_;
};

/// Changes the weights of an attention before it reads with them, to find out how much an answer depends on them.
class Intervention {
 public:
  virtual ~Intervention() = default;
  /// The weights to use instead, of the same shape as observation.weights; undefined leaves them unchanged.
  virtual Tensor changed(const Observation& observation) = 0;
};

/// While it lives, attention on this thread reads with the weights that the intervention gives it.
class Intervening {
 public:
  explicit Intervening(Intervention& intervention);
  ~Intervening();
  Intervening(const Intervening&) = delete;
  Intervening& operator=(const Intervening&) = delete;

  static bool active();
  /// Intervention::changed of the innermost one.
  static Tensor changed(const Observation& observation);

 private:
  Intervention& intervention_;
  Intervening* outer_;
};

/// Within its scope, rows of a batch are these hypotheses. The spans must outlive it.
class ObservedRows {
 public:
  ObservedRows(std::span<const int32_t> sentence, std::span<const int32_t> beam);
  ~ObservedRows();
  ObservedRows(const ObservedRows&) = delete;
  ObservedRows& operator=(const ObservedRows&) = delete;

 private:
  friend class Observing;
  std::span<const int32_t> sentence_, beam_;
  ObservedRows* outer_;
};

}  // namespace attend
