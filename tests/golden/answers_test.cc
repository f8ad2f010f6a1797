// Networks that answer questions about documents, against the same written out in PyTorch; README.md beside this file says what
// each tensor is.
#include <algorithm>

#include "attend/autograd/tape.h"
#include "attend/base/joined.h"
#include "attend/models/memory.h"
#include "attend/models/reader.h"
#include "attend/models/zoo.h"
#include "tests/golden/golden.h"

namespace attend::models {
namespace {

constexpr double kAnswer = 5e-6;

void set_parameters(Model& model, const Golden& golden, const std::string& prefix) {
  for (nn::NamedParam& p : nn::parameters(model)) {
    const Tensor value = golden(prefix + p.name);
    ASSERT_EQ(value.shape(), p.var.shape()) << p.name;
    std::copy(value.begin(), value.end(), p.var.value().data());
  }
}

/// Rows of [B,T] without their padding.
data::Sequences texts(const Golden& golden, const std::string& name, const std::vector<int32_t>& lengths) {
  const std::vector<int32_t> ids = golden.integers(name);
  const size_t T = ids.size() / lengths.size();
  std::vector<std::vector<int32_t>> rows;
  for (size_t b = 0; b < lengths.size(); ++b) {
    const auto first = ids.begin() + static_cast<std::ptrdiff_t>(b * T);
    rows.emplace_back(first, first + lengths[b]);
  }
  return data::Sequences(rows);
}

data::Source asked(const Golden& golden) {
  const auto lengths = golden.settings().at("documents").get<std::vector<int32_t>>();
  data::Source source;
  source.add("document", texts(golden, "document", lengths));
  source.add("question", texts(golden, "question", golden.settings().at("questions").get<std::vector<int32_t>>()));
  std::vector<std::vector<int32_t>> sentences;  // of two words each
  for (const int32_t length : lengths) {
    sentences.emplace_back();
    for (int32_t t = 0; t < length; ++t) sentences.back().push_back(t / 2);
  }
  return source.add("document.sentence", data::Sequences(sentences));
}

TEST(GoldenAnswers, Reader) {
  const Golden golden("reader");
  for (const char* spans : {"joint", "apart"}) {
    Random random(1);
    const auto model = make_model("reader", {{"encoder.vocabulary", "11"}, {"encoder.size", "5"}, {"spans", spans}}, random);
    set_parameters(*model, golden, "");
    const data::Source source = asked(golden);
    const Reader::Pointers found = dynamic_cast<const Reader&>(*model).pointers(source);
    for (const auto& [scores, name] : {std::pair{found.start, "start"}, std::pair{found.end, "end"}}) {
      Tensor within = scores.value().clone();
      for (int64_t b = 0; b < within.dim(0); ++b) {
        real* row = within.data() + b * within.dim(1);
        std::fill(row + found.lengths[static_cast<size_t>(b)], row + within.dim(1), real{0});
      }
      golden.expect_near(within, name, kAnswer);
    }
    const auto gold = golden.settings().at("spans").get<std::vector<std::vector<int32_t>>>();
    Tape tape;
    const Var loss = model->loss({source, data::Sequences(gold)});
    golden.expect_near(loss.value(), std::string("loss.") + spans, kAnswer);
    if (std::string_view(spans) != "joint") continue;
    tape.backward(loss);
    for (const nn::NamedParam& p : nn::parameters(*model)) golden.expect_gradient(p.var, "d" + p.name);
  }
}

TEST(GoldenAnswers, Memory) {
  const Golden golden("memory");
  const Settings small{{"source_vocabulary", "11"}, {"labels", "6"}, {"size", "5"},
                       {"cells", "3"},              {"noise", "0"},  {"linear_start", "1"}};
  const auto label_words = golden.settings().at("label_words").get<std::vector<int32_t>>();
  const std::pair<std::string, Settings> kinds[] = {
      {"adjacent", {{"tying", "adjacent"}}},
      {"layerwise", {{"tying", "layerwise"}}},
      {"program",
       {{"positions", golden.settings().at("positions").dump()},
        {"filled", "true"},
        {"tied_output", "true"},
        {"label_words", joined(label_words, ",", [](int32_t word) { return std::to_string(word); })}}}};
  for (const auto& [kind, own] : kinds) {
    Settings settings = small;
    settings.insert(own.begin(), own.end());
    Random random(1);
    const auto model = make_model("memory", settings, random);
    set_parameters(*model, golden, kind + ".");
    const auto& memory = dynamic_cast<const Memory&>(*model);
    const TapePause pause;
    golden.expect_near(memory.logits(asked(golden)).value(), kind + ".soft", kAnswer);
    Training training{Random(1), 0};
    golden.expect_near(memory.logits(asked(golden), &training).value(), kind + ".linear", 4 * kAnswer);
  }
}

}  // namespace
}  // namespace attend::models
