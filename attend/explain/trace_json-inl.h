// Numbers of traces as JSON, for the sources that write and read them.
#pragma once

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "attend/base/error.h"
#include "attend/tensor/tensor.h"

namespace attend::explain {

using Json = nlohmann::ordered_json;

inline constexpr int kDigits = 4, kTotalDigits = 6;  // significant: of weights; of log-probabilities, which are sums

/// To that many significant digits: 0.12345 → 0.1235 (so that the JSON of a double is as short). A number that is not
/// finite stays so, and is null in JSON.
inline double rounded(double x, int digits = kDigits) {
  if (x == 0 || !std::isfinite(x)) return x;
  const double unit = std::pow(10.0, digits - 1 - std::floor(std::log10(std::abs(x))));
  return std::round(x * unit) / unit;
}
inline double total(double x) { return rounded(x, kTotalDigits); }

/// null is a number that was not finite.
inline double number_of(const Json& json) {
  if (json.is_null()) return std::numeric_limits<double>::quiet_NaN();
  require(json.is_number(), "trace: expected a number or null, got ", json.type_name());
  return json.get<double>();
}

/// Numbers of a tensor as nested lists.
inline Json numbers(const Tensor& t, int axis = 0, size_t at = 0) {
  Json list = Json::array();
  size_t inner = 1;
  for (int a = axis + 1; a < t.rank(); ++a) inner *= static_cast<size_t>(t.dim(a));
  for (int64_t i = 0; i < t.dim(axis); ++i) {
    const size_t place = at + static_cast<size_t>(i) * inner;
    if (axis + 1 < t.rank()) {
      list.push_back(numbers(t, axis + 1, place));
    } else {
      const double x = rounded(static_cast<double>(t.data()[place]));
      if (x == 0) {
        list.push_back(0);
      } else {
        list.push_back(x);
      }
    }
  }
  return list;
}

/// Bytes that are not UTF-8 (a token may be part of a character) are shown as "�".
inline std::string dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

inline void read_shape(const Json& list, Shape& shape, int depth) {
  require(list.is_array() && depth < 4, "trace: expected lists of numbers");
  shape.append(static_cast<int64_t>(list.size()));
  if (!list.empty() && list[0].is_array()) read_shape(list[0], shape, depth + 1);
}

inline void read_numbers(const Json& list, const Shape& shape, int axis, real*& to) {
  require(list.is_array() && static_cast<int64_t>(list.size()) == shape[axis],
          "trace: expected lists of one length, ", shape[axis], ", got ", list.size());
  for (const Json& one : list) {
    if (axis + 1 < shape.rank()) {
      read_numbers(one, shape, axis + 1, to);
    } else {
      *to++ = static_cast<real>(number_of(one));
    }
  }
}

/// The lists of numbers, `rank` deep, under `key`; undefined if there are none.
inline Tensor tensor_at(const Json& json, const std::string& key, int rank) {
  if (!json.contains(key)) return {};
  Shape shape;
  read_shape(json.at(key), shape, 0);
  while (shape.rank() < rank) shape.append(0);
  require(shape.rank() == rank, "trace: ", key, ": expected lists ", rank, " deep, got ", shape.rank());
  Tensor t(shape);
  real* to = t.data();
  read_numbers(json.at(key), shape, 0, to);
  return t;
}

/// What `read` makes of the JSON; invalid JSON and wrong types become an Error.
template <class Read>
auto parsed(const std::string& text, Read&& read) {
  try {
    return read(Json::parse(text));
  } catch (const Json::exception& error) {
    throw Error(std::string("trace: ") + error.what());
  }
}

}  // namespace attend::explain
