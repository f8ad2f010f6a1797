#include "attend/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "attend/base/names.h"

namespace attend::train {
namespace {

class Constant : public Schedule {
 public:
  Constant(const ScheduleOptions&, double rate) : rate_(rate) {}

 private:
  double rate_at(double) const override { return rate_; }
  double rate_;
};

double warmed(double step, double warmup) { return step < warmup ? step / warmup : 1; }

class Warmup : public Schedule {
 public:
  Warmup(const ScheduleOptions& options, double rate) : rate_(rate), warmup_(static_cast<double>(options.warmup)) {}

 private:
  double rate_at(double step) const override { return rate_ * warmed(step, warmup_); }
  double rate_, warmup_;
};

class Noam : public Schedule {
 public:
  Noam(const ScheduleOptions& options, double rate)
      : scale_(rate / std::sqrt(static_cast<double>(options.width))), warmup_(static_cast<double>(options.warmup)) {
    require(options.width > 0, "schedule noam: the width must be positive, got ", options.width);
  }

 private:
  // Without a warm-up the second term, s·w^-1.5, is infinite.
  double rate_at(double step) const override {
    const double falling = 1 / std::sqrt(step);
    return scale_ * (warmup_ > 0 ? std::min(falling, step * std::pow(warmup_, -1.5)) : falling);
  }
  double scale_, warmup_;
};

class Cosine : public Schedule {
 public:
  Cosine(const ScheduleOptions& options, double rate)
      : rate_(rate),
        floor_(options.floor),
        warmup_(static_cast<double>(options.warmup)),
        steps_(static_cast<double>(options.steps)) {
    require_option(options.steps > options.warmup, "warmup", "expected fewer steps than the ", options.steps,
                   " of the run, got ", options.warmup);
    require(floor_ >= 0 && floor_ <= rate, "schedule cosine: the floor must be within 0 … ", rate, " (the rate), got ",
            floor_);
  }

 private:
  double rate_at(double step) const override {
    if (step < warmup_) return rate_ * warmed(step, warmup_);
    const double way = std::min(1.0, (step - warmup_) / (steps_ - warmup_));
    return floor_ + (rate_ - floor_) * (1 + std::cos(std::numbers::pi * way)) / 2;
  }
  double rate_, floor_, warmup_, steps_;
};

void require_factor(const char* schedule, double factor) {
  require(factor > 0 && factor < 1, "schedule ", schedule, ": the factor must lie between 0 and 1, got ", factor);
}

class Stairs : public Schedule {
 public:
  Stairs(const ScheduleOptions& options, double rate)
      : rate_(rate), factor_(options.factor), every_(static_cast<double>(options.every)) {
    require_factor("stairs", options.factor);
    require(options.every > 0, "schedule stairs: expected a positive number of steps between falls, got ",
            options.every);
  }

 private:
  double rate_at(double step) const override { return rate_ * std::pow(factor_, std::floor((step - 1) / every_)); }
  double rate_, factor_, every_;
};

class Plateau : public Schedule {
 public:
  Plateau(const ScheduleOptions& options, double rate) : options_(options), rate_(rate) {
    require_factor("plateau", options.factor);
    require(options.patience >= 0, "schedule plateau: the patience must not be negative, got ", options.patience);
    require(options.minimum >= 0 && options.minimum <= rate, "schedule plateau: the minimum must be within 0 … ", rate,
            " (the rate), got ", options.minimum);
    require(options.threshold >= 0 && options.threshold < 1,
            "schedule plateau: the threshold must be within 0 … 1, got ", options.threshold);
  }

  void observe(double score) override {
    if (better(score)) {
      best_ = score;
      scores_ += 1;
      worse_ = 0;
    } else if (++worse_ > static_cast<double>(options_.patience)) {
      rate_ = std::max(rate_ * options_.factor, options_.minimum);
      worse_ = 0;
    }
  }

  void state(const VisitNumber& visit) override {
    double rate = rate_, best = best_, scores = scores_, worse = worse_;
    visit("plateau.rate", rate);
    visit("plateau.best", best);
    visit("plateau.improvements", scores);
    visit("plateau.worse", worse);
    require(std::isfinite(rate) && rate >= 0, "schedule plateau: expected a rate that is not negative, got ", rate);
    require(std::isfinite(best), "schedule plateau: expected a finite best score, got ", best);
    for (const double count : {scores, worse}) {
      require(count >= 0 && count == std::floor(count) && std::isfinite(count),
              "schedule plateau: expected a count of scores, got ", count);
    }
    rate_ = rate, best_ = best, scores_ = scores, worse_ = worse;
  }

 private:
  // The margin is a share of |best|, so that it also works for scores below zero, such as log-likelihoods.
  bool better(double score) const {
    if (!std::isfinite(score)) return false;
    if (scores_ == 0) return true;
    const double margin = options_.threshold * std::abs(best_);
    return options_.higher_is_better ? score > best_ + margin : score < best_ - margin;
  }
  double rate_at(double) const override { return rate_; }

  ScheduleOptions options_;
  double rate_, best_ = 0;
  double scores_ = 0;  // improvements so far, the first score included
  double worse_ = 0;   // scores since then
};

template <class Kind>
std::unique_ptr<Schedule> new_schedule(const ScheduleOptions& options, double rate) {
  return std::make_unique<Kind>(options, rate);
}

constexpr ScheduleRow kSchedules[] = {
    {"constant", "r", "", 1e-3, new_schedule<Constant>},
    {"warmup", "r·min(1, s/w)", "Goyal et al. 2017, section 2.2", 1e-3, new_schedule<Warmup>},
    {"noam", "r·d^-0.5·min(s^-0.5, s·w^-1.5)", "Vaswani et al. 2017, eq. 3", 1, new_schedule<Noam>},
    {"cosine", "r·s/w up to w, then f + (r − f)·(1 + cos(π·(s − w)/(T − w)))/2, f from T on",
     "Loshchilov & Hutter 2017, eq. 5", 1e-3, new_schedule<Cosine>},
    {"stairs", "r·q^⌊(s − 1)/e⌋", "Sukhbaatar et al. 2015, section 4.2", 1e-2, new_schedule<Stairs>},
    {"plateau", "r, multiplied by the factor when more scores than the patience bring no improvement", "", 1e-3,
     new_schedule<Plateau>},
};

}  // namespace

double Schedule::rate(int64_t step) const {
  require(step >= 1, "schedule: steps count from 1, got ", step);
  return rate_at(static_cast<double>(step));
}

void Schedule::observe(double) {}

void Schedule::state(const VisitNumber&) {}

std::span<const ScheduleRow> schedules() { return kSchedules; }

std::unique_ptr<Schedule> make_schedule(std::string_view name, const ScheduleOptions& options) {
  const ScheduleRow& row = row_named("schedule", schedules(), name);
  const double rate = options.rate.value_or(row.rate);
  require(std::isfinite(rate) && rate >= 0, "schedule ", name, ": the rate must not be negative, got ", rate);
  require(options.warmup >= 0, "schedule ", name, ": the warm-up must not be negative, got ", options.warmup);
  return row.make(options, rate);
}

}  // namespace attend::train
