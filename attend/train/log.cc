#include "attend/train/log.h"

#include <cmath>

namespace attend::train {
namespace {

namespace fs = std::filesystem;

/// The folder for curves; a new run removes those of an earlier one.
fs::path curves_in(const fs::path& folder, bool resumed) {
  const fs::path curves = folder / "tensorboard";
  if (resumed || !fs::exists(curves)) return curves;
  std::vector<fs::path> old;
  for (const auto& entry : fs::directory_iterator(curves)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("events.out.tfevents.") && name.ends_with(".attend")) old.push_back(entry.path());
  }
  for (const fs::path& path : old) fs::remove(path);
  return curves;
}

}  // namespace

Log::Log(const fs::path& folder, std::optional<int64_t> resumed_at)
    : lines_(folder / "log.jsonl", resumed_at), curves_(curves_in(folder, resumed_at.has_value()), resumed_at) {}

void Log::stepped(const StepReport& r) {
  const double speed = r.seconds > 0 ? static_cast<double>(r.tokens) / r.seconds : 0;
  lines_.add(r.step, {{"epoch", r.epoch},
                      {"loss", r.loss},
                      {"rate", r.rate},
                      {"gradient_norm", r.gradient_norm},
                      {"tokens", r.tokens},
                      {"seconds", r.seconds}});
  curves_.scalar("train/loss", r.step, r.loss);
  curves_.scalar("train/rate", r.step, r.rate);
  curves_.scalar("train/gradient_norm", r.step, r.gradient_norm);
  curves_.scalar("train/tokens_per_second", r.step, speed);
}

void Log::validated(const StepReport& r, const Validation& v, bool best) {
  LogEntry entry{{"epoch", r.epoch}, {"valid_loss", v.loss}, {"perplexity", std::exp(v.loss)}};
  curves_.scalar("valid/loss", r.step, v.loss);
  curves_.scalar("valid/perplexity", r.step, std::exp(v.loss));
  for (const auto& [name, score] : v.scores) {
    entry.push_back({name, score});
    curves_.scalar("valid/" + name, r.step, score);
  }
  entry.push_back({"best", best});
  entry.push_back({"source", v.source}), entry.push_back({"output", v.output}),
      entry.push_back({"reference", v.reference});
  lines_.add(r.step, entry);
}

}  // namespace attend::train
