#include "serve/metrics.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace attend::serve {
namespace {

std::string number(double value) {
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  if (std::isnan(value)) return "NaN";
  char text[32];
  const bool whole = value == std::floor(value) && std::abs(value) < 1e15;
  std::snprintf(text, sizeof(text), whole ? "%.0f" : "%.9g", value);
  return text;
}

/// name="value",… with \, " and line ends escaped.
std::string written(const Metrics::Labels& labels) {
  std::string text;
  for (const auto& [name, value] : labels) {
    text.append(text.empty() ? "" : ",").append(name).append("=\"");
    for (const char c : value) {
      if (c == '\\' || c == '"') text += '\\';
      if (c == '\n')
        text += "\\n";
      else
        text += c;
    }
    text += '"';
  }
  return text;
}

void add_line(std::string& text, const std::string& name, const std::string& labels, double value) {
  text += name;
  if (!labels.empty()) text.append("{").append(labels).append("}");
  text.append(" ").append(number(value)).append("\n");
}

}  // namespace

std::vector<double> Metrics::times() {
  return {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};
}

std::vector<double> Metrics::sizes() { return {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}; }

void Metrics::Histogram::observe(double value) {
  const auto bound = std::ranges::lower_bound(bounds_, value);
  ++counts_[static_cast<size_t>(bound - bounds_.begin())];
  sum_ += value;
}

Metrics::Series& Metrics::series(std::string_view name, std::string_view help, std::string_view type,
                                 const Labels& labels) {
  Family& family = families_[std::string(name)];
  family.help = help, family.type = type;
  return family.series[written(labels)];
}

Metrics::Counter& Metrics::counter(std::string_view name, std::string_view help, const Labels& labels) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Counter>& one = series(name, help, "counter", labels).counter;
  if (!one) one = std::make_unique<Counter>();
  return *one;
}

Metrics::Histogram& Metrics::histogram(std::string_view name, std::string_view help, const std::vector<double>& bounds,
                                       const Labels& labels) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Histogram>& one = series(name, help, "histogram", labels).histogram;
  if (!one) one = std::make_unique<Histogram>(bounds);
  return *one;
}

void Metrics::gauge(std::string_view name, std::string_view help, Read read, const Labels& labels) {
  const std::lock_guard lock(mutex_);
  series(name, help, "gauge", labels).read = std::move(read);
}

void Metrics::total(std::string_view name, std::string_view help, Read read, const Labels& labels) {
  const std::lock_guard lock(mutex_);
  series(name, help, "counter", labels).read = std::move(read);
}

void Metrics::write(std::string& text, const std::string& name, const std::string& labels, const Histogram& histogram) {
  const std::string before = labels.empty() ? "" : labels + ",";
  uint64_t count = 0;
  for (size_t i = 0; i < histogram.counts_.size(); ++i) {
    count += histogram.counts_[i];
    const double bound = i < histogram.bounds_.size() ? histogram.bounds_[i] : INFINITY;
    add_line(text, name + "_bucket", before + "le=\"" + number(bound) + "\"", static_cast<double>(count));
  }
  add_line(text, name + "_sum", labels, histogram.sum_);
  add_line(text, name + "_count", labels, static_cast<double>(count));
}

std::string Metrics::text() const {
  std::string text;
  const std::lock_guard lock(mutex_);
  for (const auto& [name, family] : families_) {
    text += "# HELP " + name + " " + family.help + "\n# TYPE " + name + " " + family.type + "\n";
    for (const auto& [labels, one] : family.series) {
      if (one.histogram) {
        write(text, name, labels, *one.histogram);
      } else {
        add_line(text, name, labels, one.counter ? static_cast<double>(one.counter->value()) : one.read());
      }
    }
  }
  return text;
}

}  // namespace attend::serve
