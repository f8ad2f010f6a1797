// ResNet and EfficientNet-lite against PyTorch: the whole way from a file of published names to the grid.
#include "attend/models/model.h"
#include "attend/models/pretrained_encoder.h"
#include "tests/golden/golden.h"
#include "tests/support/folder.h"
#include "tests/support/image_weights.h"

namespace attend {
namespace {

TEST(Golden, ImageNetworks) {
  const Golden golden("image_networks");
  const nlohmann::json settings = golden.settings();
  const std::vector<int64_t> extents = settings.at("shape");
  const Tensor images = test::formula_tensor("images", {extents[0], extents[1], extents[2], extents[3]});
  const test::TestFolder folder;
  ASSERT_GE(settings.at("cases").size(), 7u);
  for (const auto& one : settings.at("cases")) {
    const std::string network = one.at(0);
    const int64_t stage = one.at(1);
    SCOPED_TRACE(network + " " + std::to_string(stage));
    models::ImageEncoderOptions options{.kind = network};
    options.stage = stage, options.narrow = settings.at("narrow");
    write_safetensors(folder.path() / "w", test::formula_weights(network, options.narrow));
    Random random(1);
    const std::unique_ptr<models::Encoder> encoder = models::make_encoder(options, random);
    const std::vector<NamedTensor> tensors = models::read_pretrained(options, folder.path() / "w");
    for (nn::NamedParam& p : nn::parameters(*encoder)) {
      const auto found = std::ranges::find(tensors, p.name, &NamedTensor::name);
      ASSERT_NE(found, tensors.end()) << p.name;
      std::ranges::copy(found->tensor, p.var.value().data());
    }
    const std::string name = network + "." + std::to_string(stage);
    golden.expect_near(models::fixed_grids(*encoder, images), name, 1e-4);
    const models::Encoded encoded = (*encoder)(data::Source::of_images(images), nullptr);
    EXPECT_EQ(encoded.states.dim(1), encoded.grid.cells());
  }
}

}  // namespace
}  // namespace attend
