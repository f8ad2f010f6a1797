// Broken files of a corpus, which can be skipped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attend::data {

enum class OnBroken { kRefuse, kSkip };

/// "refuse" or "skip".
OnBroken on_broken_named(std::string_view name);

/// Counts what is broken, by kind, and keeps the first names of each.
class Broken {
 public:
  struct Kind {
    std::string what;
    int64_t count = 0;
    std::vector<std::string> first;
  };
  static constexpr size_t kShown = 5;

  explicit Broken(OnBroken on) : on_(on) {}

  bool refuses() const { return on_ == OnBroken::kRefuse; }
  void add(std::string_view what, const std::string& name);
  int64_t count() const;
  const std::vector<Kind>& kinds() const { return kinds_; }
  /// "3 captions without an image: a.jpg, b.jpg, c.jpg; 7 images without captions: …"; "" if nothing is broken.
  std::string summary() const;
  /// Throws Error with the summary if anything is broken and broken files are to be refused.
  void settle(std::string_view where) const;

 private:
  OnBroken on_;
  std::vector<Kind> kinds_;
};

}  // namespace attend::data
