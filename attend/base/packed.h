// Values as bytes, one after another, for a program of the same version on another machine.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "attend/base/error.h"

namespace attend {

class Packing {
 public:
  template <class Number>
  requires std::is_arithmetic_v<Number> Packing& add(Number value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Packing& add(std::string_view text) {
    add(static_cast<uint64_t>(text.size()));
    bytes_.append(text);
    return *this;
  }
  Packing& add(const std::string& text) { return add(std::string_view(text)); }
  template <class First, class Second>
  Packing& add(const std::pair<First, Second>& pair) {
    return add(pair.first).add(pair.second);
  }
  template <class Item>
  Packing& add(const std::vector<Item>& items) {
    add(static_cast<uint64_t>(items.size()));
    for (const Item& item : items) add(item);
    return *this;
  }
  std::string bytes() && { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Takes them out again, in the same order. Throws Error where there are too few bytes.
class Unpacking {
 public:
  explicit Unpacking(std::string_view bytes) : bytes_(bytes) {}

  bool at_end() const { return bytes_.empty(); }
  template <class Number>
  requires std::is_arithmetic_v<Number>
  void take(Number& value) { std::memcpy(&value, next(sizeof value).data(), sizeof value); }
  void take(std::string& text) { text = next(count(1)); }
  template <class First, class Second>
  void take(std::pair<First, Second>& pair) {
    take(pair.first), take(pair.second);
  }
  template <class Item>
  void take(std::vector<Item>& items) {
    items.clear();
    for (size_t left = count(1); left > 0; --left) take(items.emplace_back());
  }
  template <class Value>
  Value taken() {
    Value value{};
    take(value);
    return value;
  }

 private:
  /// How many items follow, each of at least so many bytes: no more than there can be.
  size_t count(size_t least) {
    const auto all = taken<uint64_t>();
    require(all <= bytes_.size() / least, "unpacking: expected at most ", bytes_.size(), " items, got ", all);
    return static_cast<size_t>(all);
  }
  std::string_view next(size_t size) {
    require(size <= bytes_.size(), "unpacking: expected ", size, " bytes, got ", bytes_.size());
    const std::string_view part = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return part;
  }
  std::string_view bytes_;
};

}  // namespace attend
