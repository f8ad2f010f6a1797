#include "attend/tasks/output.h"

namespace attend::tasks {
namespace {

namespace fs = std::filesystem;

/// Answers with the image that it was given, through a bottleneck.
class ImageOutput : public Output {
 public:
  using Output::Output;
  void learn(const Corpus&, const Input&, const Prepared&) override {}
  void load(const fs::path&, const Input&) override {}
  void save(const fs::path&) const override {}
  Settings sizes() const override { return {}; }
  std::string summary() const override { return ""; }
  std::vector<int32_t> encode(const Right&, const Ready&) const override { return {0}; }
  std::string written(std::span<const int32_t>, const Ready&) const override { return ""; }
  explain::TraceSide side(std::span<const int32_t>, const Ready&) const override { return {}; }
  std::string piece(int32_t) const override { return ""; }
  bool searches() const override { return false; }
  bool is_image() const override { return true; }
};

}  // namespace

constinit const OutputRow kImageOutput{"image", make_output<ImageOutput>, {}};

}  // namespace attend::tasks
