// `attend run --on-error`: what becomes of a line or an image that cannot be answered.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace attend::cli {

class OnError {
 public:
  /// `how`: stop, skip or replace. `unit`: what is counted, "line" or "image".
  OnError(std::string_view how, std::string unit) : how_(how), unit_(std::move(unit)) {}

  bool replaces() const { return how_ == "replace"; }
  /// One more that was answered.
  void answered() { ++answered_; }
  /// One that cannot be: "standard input:3: expected UTF-8, got …". Throws Error where that is to be the end.
  void meet(const std::string& what);
  int64_t count_answered() const { return answered_; }
  /// Says how many could not be answered, if any.
  void summary() const;

 private:
  std::string counted(int64_t count) const;

  std::string how_, unit_;
  int64_t answered_ = 0, faults_ = 0;
};

}  // namespace attend::cli
