#include "cli/searching.h"

#include "attend/base/error.h"

namespace attend::cli {
namespace {

/// Has nothing to say, so that a search over it does no more than look at its options.
class Silent : public models::Model {
 public:
  void params(const nn::VisitParams&) override {}
  Var loss(const data::Batch&, models::Training*) const override { return Var(); }
  std::unique_ptr<models::State> begin(const data::Sequences&) const override { return nullptr; }
  Tensor next(models::State&, std::span<const int32_t>) const override { return Tensor(); }
  int64_t vocabulary() const override { return data::kFirstWord; }
  int64_t answer_length(int64_t) const override { return 0; }
};

}  // namespace

std::string search_objection(const decode::SearchOptions& options) {
  decode::SearchOptions plain = options;
  if (plain.sample) plain.beam = 1;  // the beam that a recipe names is for the likeliest answers
  try {
    decode::search(Silent(), data::Sequences(std::vector<std::vector<int32_t>>(1)), plain);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace attend::cli
