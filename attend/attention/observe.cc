#include "attend/attention/observe.h"

#include <utility>

#include "attend/base/names.h"

namespace attend {
namespace {
thread_local Observing* current_observing = nullptr;
thread_local Intervening* current_intervening = nullptr;
thread_local ObservedRows* current_rows = nullptr;

struct PurposeRow {
  std::string_view name;
  Purpose purpose;
};
constexpr PurposeRow kPurposes[] = {{"source", Purpose::source},
                                    {"self", Purpose::self},
                                    {"past", Purpose::past},
                                    {"pooling", Purpose::pooling},
                                    {"glimpse", Purpose::glimpse},
                                    {"question", Purpose::question},
                                    {"hop", Purpose::hop}};
}  // namespace

std::string_view name_of(Purpose purpose) { return kPurposes[static_cast<size_t>(purpose)].name; }
Purpose purpose_named(std::string_view name) { return row_named("purpose", kPurposes, name).purpose; }

Observing::Observing(Sink& sink) : sink_(sink), outer_(std::exchange(current_observing, this)) {}
Observing::~Observing() { current_observing = outer_; }

bool Observing::active() { return current_observing != nullptr; }

void Observing::tell(Observation observation) {
  if (current_rows) {
    observation.sentence = current_rows->sentence_;
    observation.beam = current_rows->beam_;
  }
  for (Observing* one = current_observing; one; one = one->outer_) one->sink_.observe(observation);
}

Unobserved::Unobserved() : outer_(std::exchange(current_observing, nullptr)) {}
Unobserved::~Unobserved() { current_observing = outer_; }

Intervening::Intervening(Intervention& intervention)
    : intervention_(intervention), outer_(std::exchange(current_intervening, this)) {}
Intervening::~Intervening() { current_intervening = outer_; }
bool Intervening::active() { return current_intervening != nullptr; }
Tensor Intervening::changed(const Observation& observation) {
  return current_intervening->intervention_.changed(observation);
}

ObservedRows::ObservedRows(std::span<const int32_t> sentence, std::span<const int32_t> beam)
    : sentence_(sentence), beam_(beam), outer_(std::exchange(current_rows, this)) {}
ObservedRows::~ObservedRows() { current_rows = outer_; }

}  // namespace attend
