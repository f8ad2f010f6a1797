#include "attend/data/npy.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/base/replacement.h"
#include "attend/data/seekable_bytes.h"

namespace attend::data {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kLongestHeader = kLongestNpyFront - 12;  // NumPy itself refuses more than 10,000 bytes

struct NpyHeader {
  std::string descr;
  bool fortran_order = false;
  Shape shape;
};

/// Reads the Python dictionary {'descr': '<f4', 'fortran_order': False, 'shape': (14, 14, 512), }, and no other Python.
class HeaderParser {
 public:
  HeaderParser(const std::string& name, std::string_view text) : name_(name), rest_(text), whole_(text) {}

  NpyHeader parse() {
    unsigned seen = 0;
    expect('{');
    while (!take('}')) {
      const std::string key = string();
      expect(':');
      seen |= value(key);
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    skip();
    if (seen != 7 || !rest_.empty()) refuse();
    return std::move(header_);
  }

 private:
  [[noreturn]] void refuse() const {
    fail(name_, ": expected a header {'descr': '<f4', 'fortran_order': False, 'shape': (…), }, got ", quoted(whole_));
  }
  void skip() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size())); }
  bool take(char c) {
    skip();
    const bool there = rest_.starts_with(c);
    if (there) rest_.remove_prefix(1);
    return there;
  }
  void expect(char c) {
    if (!take(c)) refuse();
  }

  std::string string() {
    const char quote = take('\'') ? '\'' : '"';
    if (quote == '"') expect('"');
    const size_t end = rest_.find(quote);
    if (end == rest_.npos) refuse();
    std::string text(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return text;
  }

  /// The bit of this key.
  unsigned value(std::string_view key) {
    if (key == "descr") {
      header_.descr = string();
      return 1;
    }
    if (key == "fortran_order") {
      skip();
      header_.fortran_order = rest_.starts_with("True");
      if (!header_.fortran_order && !rest_.starts_with("False")) refuse();
      rest_.remove_prefix(header_.fortran_order ? 4 : 5);
      return 2;
    }
    if (key != "shape") refuse();
    shape();
    return 4;
  }

  void shape() {
    header_.shape = {};
    expect('(');
    while (!take(')')) {
      skip();
      int64_t extent = 0;
      const auto [end, problem] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), extent);
      if (problem != std::errc() || extent < 0) refuse();
      rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
      try {
        header_.shape.append(extent);
      } catch (const Error& error) {
        fail(name_, ": ", error.what());
      }
      if (!take(',')) {
        expect(')');
        break;
      }
    }
  }

  const std::string& name_;
  std::string_view rest_, whole_;
  NpyHeader header_;
};

/// A little-endian number of `count` bytes.
size_t number_at(std::string_view text, size_t at, size_t count) {
  size_t value = 0;
  for (size_t i = count; i-- > 0;) value = value << 8 | static_cast<uint8_t>(text[at + i]);
  return value;
}

template <class Stored>
Tensor tensor_of(std::string_view data, const Shape& shape, const std::string& name) {
  Tensor tensor(shape);
  for (size_t i = 0; i < tensor.size(); ++i) {
    Stored value;
    std::memcpy(&value, data.data() + i * sizeof(Stored), sizeof(Stored));
    tensor.data()[i] = static_cast<real>(value);
    require(std::isfinite(tensor.data()[i]), name, ": expected finite numbers, got ", value, " as value ", i);
  }
  return tensor;
}

struct Element {
  std::string_view descr;
  size_t bytes;
  Tensor (*read)(std::string_view, const Shape&, const std::string&);
};
constexpr Element kElements[] = {{"<f4", 4, tensor_of<float>}, {"<f8", 8, tensor_of<double>}};

const Element& element_of(const std::string& name, const std::string& descr) {
  for (const Element& element : kElements) {
    if (element.descr == descr) return element;
  }
  fail(name, ": expected numbers of kind <f4 or <f8 (float32, float64), got ", quoted(descr),
       "; array.astype('<f4') makes them so");
}

}  // namespace

namespace {

/// Where the numbers begin, and what the header says of them.
struct NpyFront {
  NpyHeader header;
  size_t bytes = 0;
};

NpyFront npy_front(std::string_view text, const std::string& name) {
  require(text.starts_with(kMagic) && text.size() >= kMagic.size() + 4, name,
          ": expected an .npy file, which begins with the byte 0x93 and NUMPY, got another");
  const int version = static_cast<uint8_t>(text[6]);
  require(version >= 1 && version <= 3, name, ": expected version 1, 2 or 3 of .npy, got ", version);
  const size_t length_bytes = version == 1 ? 2 : 4, before = kMagic.size() + 2 + length_bytes;
  require(text.size() >= before, name, ": expected a whole .npy header, got the end of the file");
  const size_t length = number_at(text, kMagic.size() + 2, length_bytes);
  require(length <= kLongestHeader, name, ": expected a header of at most ", kLongestHeader, " bytes, got ", length);
  require(length <= text.size() - before, name, ": expected a header of ", length, " bytes, got the end of the file");
  NpyFront front{HeaderParser(name, text.substr(before, length)).parse(), before + length};
  require(!front.header.fortran_order, name, ": expected C order, got Fortran order; np.ascontiguousarray makes it so");
  return front;
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

Tensor decode_npy(std::span<const std::byte> bytes, const std::string& name) {
  const std::string_view text = text_of(bytes);
  const auto [header, before] = npy_front(text, name);
  const Element& element = element_of(name, header.descr);
  const std::string_view data = text.substr(before);
  require(data.size() % element.bytes == 0 && data.size() / element.bytes == header.shape.size(), name, ": expected ",
          header.shape.size(), " numbers of ", element.bytes, " bytes, got ", data.size(), " bytes");
  return element.read(data, header.shape, name);
}

Shape decode_npy_shape(std::span<const std::byte> front, const std::string& name) {
  return npy_front(text_of(front), name).header.shape;
}

Tensor read_npy(const std::filesystem::path& path, size_t most_bytes) {
  const std::string bytes = read_file(path, most_bytes);
  return decode_npy(std::as_bytes(std::span(bytes)), path.native());
}

Shape read_npy_shape(const std::filesystem::path& path) {
  std::string front(kLongestNpyFront, '\0');
  front.resize(seekable_file(path)->read(0, front));
  return decode_npy_shape(std::as_bytes(std::span(front)), path.native());
}

std::string encode_npy(const Tensor& array) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
  for (int axis = 0; axis < array.rank(); ++axis) header += std::to_string(array.dim(axis)) + ",";
  header += "), }";
  constexpr size_t kAligned = 64, kFront = 10;
  header.append(kAligned - 1 - (kFront + header.size()) % kAligned, ' ').push_back('\n');
  std::string bytes(kMagic);
  bytes += {'\x01', '\x00', static_cast<char>(header.size() & 0xFF), static_cast<char>(header.size() >> 8)};
  bytes += header;
  for (const real x : array) {
    const float number = static_cast<float>(x);
    bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
  }
  return bytes;
}

}  // namespace attend::data
