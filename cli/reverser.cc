#include "cli/reverser.h"

#include <algorithm>
#include <array>

#include "attend/base/error.h"
#include "attend/tensor/safetensors.h"

namespace attend::cli {
namespace {

/// Letters of words of one length, time-major [T,B]; `backwards` from the last letter on.
Ids letters_of(const std::vector<std::string>& words, bool backwards) {
  const size_t T = words[0].size(), B = words.size();
  std::vector<int32_t> values(T * B);
  for (size_t b = 0; b < B; ++b) {
    for (size_t t = 0; t < T; ++t) values[t * B + b] = words[b][backwards ? T - 1 - t : t] - 'a';
  }
  return Ids({static_cast<int64_t>(T), static_cast<int64_t>(B)}, std::move(values));
}

/// What the decoder reads: the begin sign, then all targets but the last.
Ids shifted(const Ids& targets) {
  const size_t B = static_cast<size_t>(targets.shape[1]);
  std::vector<int32_t> values(B, static_cast<int32_t>(Reverser::kBegin));
  values.insert(values.end(), targets.values.begin(), targets.values.end() - static_cast<std::ptrdiff_t>(B));
  return Ids(targets.shape, std::move(values));
}

}  // namespace

Reverser::Reverser(Random& random)
    : letters_(kWords, kSize, random),
      encoder_({.cell = Cell::lstm, .input = kSize, .hidden = kSize, .bidirectional = true}, random),
      decoder_({.cell = Cell::lstm, .input = kSize, .hidden = kSize}, random),
      bridge_(2 * kSize, kSize, random, true, Activation::tanh),
      keys_(2 * kSize, kSize, random, false),
      output_(3 * kSize, kLetters, random) {}

void Reverser::params(const nn::VisitParams& visit) {
  nn::visit_part(visit, "letters", letters_);
  nn::visit_part(visit, "encoder", encoder_);
  nn::visit_part(visit, "decoder", decoder_);
  nn::visit_part(visit, "bridge", bridge_);
  nn::visit_part(visit, "keys", keys_);
  nn::visit_part(visit, "output", output_);
}

Reverser::Attended Reverser::attend(const Var& states, const Var& memory) const {
  const Var weights = softmax(batched_matmul(states, keys_(memory), false, true));
  const Var context = batched_matmul(weights, memory);
  return {output_(concat(std::array{states, context}, 2)), weights};
}

Var Reverser::loss(const std::vector<std::string>& words) const {
  const Ids targets = letters_of(words, true);
  const nn::Recurrent::Output source = encoder_(letters_(letters_of(words, false)));
  const Var begin = bridge_(concat(std::array{source.last[0].h, source.last[1].h}, 1));
  const Var states = decoder_(letters_(shifted(targets)), {}, {{begin, Var()}}).y;
  const Var logits = attend(transpose(states, 0, 1), transpose(source.y, 0, 1)).logits;
  return cross_entropy(transpose(logits, 0, 1), targets);
}

Reverser::Result Reverser::operator()(const std::string& word) const {
  const bool spelled = std::all_of(word.begin(), word.end(), [](char c) { return c >= 'a' && c <= 'z'; });
  require(spelled && !word.empty() && word.size() <= kLongest, "demo: a word of 1 to ", kLongest,
          " letters a–z is wanted, got \"", word, "\"");
  const nn::Recurrent::Output source = encoder_(letters_(letters_of({word}, false)));
  const Var memory = transpose(source.y, 0, 1);
  std::vector<RecurrentState> state{{bridge_(concat(std::array{source.last[0].h, source.last[1].h}, 1)), Var()}};
  Result result;
  int32_t last = static_cast<int32_t>(kBegin);
  for (size_t t = 0; t < word.size(); ++t) {
    state = decoder_.step(letters_(Ids({1}, {last})), state);
    const Attended step = attend(reshape(state[0].h, {1, 1, kSize}), memory);
    const Tensor& logits = step.logits.value();
    last = static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
    result.text += static_cast<char>('a' + last);
    result.weights.emplace_back(step.weights.value().begin(), step.weights.value().end());
  }
  return result;
}

void Reverser::save(const std::filesystem::path& path) {
  std::vector<NamedTensor> tensors;
  for (const nn::NamedParam& p : nn::parameters(*this)) tensors.push_back({p.name, p.var.value()});
  write_safetensors(path, tensors);
}

void Reverser::load(const std::filesystem::path& path) {
  const SafetensorsFile file(path);
  params([&](const std::string& name, Var& parameter) {
    const Tensor saved = file.read(name);
    require(saved.shape() == parameter.shape(), path.string(), ": ", name, " of shape ", parameter.shape(),
            " is wanted, got ", saved.shape());
    std::copy(saved.begin(), saved.end(), parameter.value().data());
  });
}

}  // namespace attend::cli
