// A block of the Transformer against torch.nn's layers; README.md beside this file says what each tensor is.
#include "attend/models/transformer.h"

#include "attend/autograd/tape.h"
#include "tests/golden/golden.h"

namespace attend {
namespace {

using models::TransformerBlock;
using models::TransformerOptions;

/// PyTorch's name of a parameter, and which rows of it are ours: query, key and value are stacked there. PyTorch calls the
/// feed-forward layers linear1 and linear2, and counts norms from 1.
struct Place {
  std::string name;
  int64_t part = 0, parts = 1;
};
Place place_of(const std::string& name) {
  const auto dot = name.find('.');
  const std::string part = name.substr(0, dot), rest = name.substr(dot + 1);
  const std::string kind = name.substr(name.rfind('.') + 1);
  if (part == "feed_forward") return {(rest.starts_with("inner.") ? "linear1." : "linear2.") + kind};
  if (part == "norm") return {"norm" + std::to_string(1 + std::stoi(rest)) + (kind == "gain" ? ".weight" : ".bias")};
  const std::string attention = part == "self" ? "self_attn." : "multihead_attn.";
  if (rest.starts_with("output.")) return {attention + "out_proj." + kind};
  const std::string stacked[] = {"query.0." + kind, "key.0." + kind, "value.0." + kind};
  return {attention + "in_proj_" + kind, std::find(std::begin(stacked), std::end(stacked), rest) - stacked, 3};
}

/// The rows of `stacked` that belong to `place`.
Tensor part_of(const Tensor& stacked, const Place& place) {
  const int64_t rows = stacked.dim(0) / place.parts;
  return place.parts == 1 ? stacked : stacked.rows(place.part * rows, (place.part + 1) * rows);
}

void check(const std::string& subject, const std::string& norm, TransformerBlock::Kind kind) {
  SCOPED_TRACE(norm);
  const Golden golden(subject);
  const nlohmann::json settings = golden.settings();
  const TransformerOptions options{.size = settings.at("d_model"),
                                   .heads = settings.at("nhead"),
                                   .hidden = settings.at("dim_feedforward"),
                                   .norm = norm,
                                   .activation = settings.at("activation"),
                                   .dropout = settings.at("dropout")};
  Random random(1);
  TransformerBlock block(options, kind, 0, random);
  std::vector<nn::NamedParam> all = nn::parameters(block);
  std::map<std::string, Tensor> gradients;  // by PyTorch's names
  for (nn::NamedParam& p : all) {
    const Place place = place_of(p.name);
    ASSERT_LT(place.part, place.parts) << p.name;
    const Tensor whole = golden(place.name), value = part_of(whole, place);
    ASSERT_EQ(value.shape(), p.var.shape()) << p.name;
    std::copy(value.begin(), value.end(), p.var.value().data());
    gradients.try_emplace(place.name, whole.shape());
  }
  const bool decoder = kind == TransformerBlock::Kind::decoder;
  ASSERT_EQ(gradients.size(), decoder ? 18u : 12u);  // every parameter of PyTorch's layer

  const std::vector<int32_t> lengths = golden.integers("lengths");
  const Var x = golden.leaf("x"), source = decoder ? golden.leaf("memory") : Var();
  Tape tape;
  AttentionMemory memory;
  if (decoder) memory = block.prepare(source, lengths);
  const Var y = block(x, decoder ? &memory : nullptr, {.lengths = decoder ? std::span<const int32_t>() : lengths});
  golden.expect_value(y, norm + ".y");
  tape.backward(y, golden("dy"));
  golden.expect_gradient(x, norm + ".dx");
  if (decoder) golden.expect_gradient(source, norm + ".dmemory");
  for (const nn::NamedParam& p : all) {
    const Place place = place_of(p.name);
    ASSERT_EQ(p.var.gradient().shape(), p.var.shape()) << p.name;
    Tensor rows = part_of(gradients.at(place.name), place);
    std::copy(p.var.gradient().begin(), p.var.gradient().end(), rows.data());
  }
  for (const auto& [name, gradient] : gradients) golden.expect_near(gradient, norm + ".d" + name, kGradient);
}

TEST(GoldenTransformer, EncoderLayer) {
  for (const std::string norm : {"post", "pre"}) check("transformer_encoder", norm, TransformerBlock::Kind::encoder);
}

TEST(GoldenTransformer, DecoderLayer) {
  for (const std::string norm : {"post", "pre"}) check("transformer_decoder", norm, TransformerBlock::Kind::decoder);
}

}  // namespace
}  // namespace attend
