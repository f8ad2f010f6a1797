// Numbers for whoever watches the server, in the text format of Prometheus (0.0.4).
//
//   Metrics::Counter& said = metrics.counter("attend_tokens_total", "tokens of answers", {{"model", name}});
//   said.add(12);
//   metrics.gauge("attend_batch_rows", "hypotheses that are computed together", [&] { return crowd.state().rows; });
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attend::serve {

class Metrics {
 public:
  using Labels = std::vector<std::pair<std::string_view, std::string>>;
  using Read = std::function<double()>;

  class Counter {
   public:
    void add(uint64_t count = 1) { value_ += count; }
    uint64_t value() const { return value_.load(); }

   private:
    std::atomic<uint64_t> value_{0};
  };

  /// How many values were at most each bound, and their sum.
  class Histogram {
   public:
    explicit Histogram(std::vector<double> bounds) : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {}
    void observe(double value);

   private:
    friend class Metrics;
    const std::vector<double> bounds_;
    std::vector<std::atomic<uint64_t>> counts_;
    std::atomic<double> sum_{0};
  };

  /// Bounds of times in seconds: 1 ms to 60 s.
  static std::vector<double> times();
  /// Powers of two, 1 to 1024.
  static std::vector<double> sizes();

  // Each is made when it is first asked for, and lives as long as this does. Threads may ask at once.
  Counter& counter(std::string_view name, std::string_view help, const Labels& labels = {});
  Histogram& histogram(std::string_view name, std::string_view help, const std::vector<double>& bounds,
                       const Labels& labels = {});
  // Read when somebody looks, for as long as this lives; a total never falls.
  void gauge(std::string_view name, std::string_view help, Read read, const Labels& labels = {});
  void total(std::string_view name, std::string_view help, Read read, const Labels& labels = {});

  std::string text() const;

 private:
  struct Series {
    std::unique_ptr<Counter> counter;
    std::unique_ptr<Histogram> histogram;
    Read read;
  };
  struct Family {
    std::string help, type;
    std::map<std::string, Series> series;  // by their labels
  };
  Series& series(std::string_view name, std::string_view help, std::string_view type, const Labels& labels);
  static void write(std::string& text, const std::string& name, const std::string& labels, const Histogram& histogram);

  mutable std::mutex mutex_;
  std::map<std::string, Family, std::less<>> families_;
};

}  // namespace attend::serve
