#include "attend/tensor/safetensors.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <ostream>
#include <set>
#include <tuple>
#include <type_traits>
#include <utility>

#include "attend/base/checksum.h"
#include "attend/base/error.h"
#include "attend/base/real.h"
#include "attend/base/replacement.h"
#include "attend/tensor/finite.h"

namespace attend {

/// Where the bytes of a file come from: the disk, or memory.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual uint64_t size() const = 0;
  /// Fills `into` with the bytes from `offset` on; they lie within size().
  virtual void read(uint64_t offset, std::span<std::byte> into) const = 0;
};

namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "safetensors are little-endian, and copied as they are");

constexpr uint64_t kLengthBytes = 8;
constexpr uint64_t kMaxHeader = 100'000'000;  // as in the reference implementation
constexpr uint64_t kAlignment = 8;
constexpr uint64_t kMaxElements = uint64_t{1} << 48;  // as in Shape
constexpr std::string_view kMetadata = "__metadata__";

// A checksum is the first entry of the metadata, so that its digits are at a known place; it is that of all bytes of the file
// with zeros for these digits.
constexpr std::string_view kChecksum = "attend.checksum";
constexpr std::string_view kBeforeChecksum = R"({"__metadata__":{"attend.checksum":")";
constexpr std::string_view kNoChecksum = "0000000000000000";
constexpr size_t kReadAtOnce = size_t{1} << 20;

/// Untrusted text for a message: as a JSON string, shortened if it is long.
struct Quoted {
  std::string_view text;
};

std::ostream& operator<<(std::ostream& out, const Quoted& quoted) {
  constexpr size_t kLongest = 80;
  const std::string_view text = quoted.text.substr(0, kLongest);
  out << json(text).dump(-1, ' ', false, json::error_handler_t::replace);
  return text.size() < quoted.text.size() ? out << "…" : out;
}

// Elements.

struct Float16 {
  uint16_t bits;
  operator float() const {
    const uint32_t sign = uint32_t{bits} >> 15 << 31, exponent = bits >> 10 & 31, fraction = bits & 1023;
    if (exponent == 0) return std::copysign(static_cast<float>(fraction) * 0x1p-24f, std::bit_cast<float>(sign));
    const uint32_t widened = exponent == 31 ? 255 : exponent + 127 - 15;  // 31: infinity or not a number
    return std::bit_cast<float>(sign | widened << 23 | fraction << 13);
  }
};

struct BFloat16 {
  uint16_t bits;
  operator float() const { return std::bit_cast<float>(uint32_t{bits} << 16); }
};

/// Reads as many numbers, stored as `Stored`, as `into` has room for.
template <class Stored>
void read_as(const ByteSource& source, uint64_t offset, std::span<real> into) {
  if constexpr (std::is_same_v<Stored, real>) {
    source.read(offset, std::as_writable_bytes(into));
  } else {
    std::array<Stored, 4096> chunk;
    while (!into.empty()) {
      const std::span<Stored> part(chunk.data(), std::min(into.size(), chunk.size()));
      source.read(offset, std::as_writable_bytes(part));
      std::transform(part.begin(), part.end(), into.begin(), [](Stored x) { return static_cast<real>(x); });
      into = into.subspan(part.size());
      offset += part.size_bytes();
    }
  }
}

struct Dtype {
  std::string_view name;
  uint32_t bits;
  void (*read)(const ByteSource&, uint64_t, std::span<real>);  // nullptr: listed, but not read
};

constexpr Dtype kDtypes[] = {
    {"F32", 32, read_as<float>},
    {"F16", 16, read_as<Float16>},
    {"BF16", 16, read_as<BFloat16>},
    {"F64", 64, read_as<double>},
    {"I64", 64, nullptr},
    {"I32", 32, nullptr},
    {"I16", 16, nullptr},
    {"I8", 8, nullptr},
    {"U64", 64, nullptr},
    {"U32", 32, nullptr},
    {"U16", 16, nullptr},
    {"U8", 8, nullptr},
    {"BOOL", 8, nullptr},
    {"C64", 64, nullptr},
    {"F8_E4M3", 8, nullptr},
    {"F8_E5M2", 8, nullptr},
    {"F8_E8M0", 8, nullptr},
    {"F8_E4M3FNUZ", 8, nullptr},
    {"F8_E5M2FNUZ", 8, nullptr},
    {"F6_E2M3", 6, nullptr},
    {"F6_E3M2", 6, nullptr},
    {"F4", 4, nullptr},
};

const Dtype* find_dtype(std::string_view name) {
  const Dtype* found = std::find_if(std::begin(kDtypes), std::end(kDtypes), [&](auto& d) { return d.name == name; });
  return found != std::end(kDtypes) ? found : nullptr;
}

// Sources.

/// By pread, not by mmap: a file that shrinks while it is read must give an Error, not SIGBUS.
class DiskSource : public ByteSource {
 public:
  explicit DiskSource(const std::string& path)
      // O_NONBLOCK: a named pipe must be refused below, not waited for.
      : path_(path), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (!file_.open()) fail(path_, ": cannot open the file: ", system_reason(errno));
    struct stat status {};
    if (::fstat(file_.number(), &status) != 0) fail(path_, ": cannot tell the file's size: ", system_reason(errno));
    require(S_ISREG(status.st_mode), path_, ": expected a regular file, got a folder, a pipe or a device");
    size_ = static_cast<uint64_t>(status.st_size);
  }

  uint64_t size() const override { return size_; }

  void read(uint64_t offset, std::span<std::byte> into) const override {
    while (!into.empty()) {
      const ssize_t count = ::pread(file_.number(), into.data(), into.size(), static_cast<off_t>(offset));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail(path_, ": cannot read ", into.size(), " bytes at ", offset, ": ", system_reason(errno));
      require(count > 0, path_, ": expected ", into.size(), " bytes at ", offset,
              ", got the end of the file: it was shortened after it was opened");
      into = into.subspan(static_cast<size_t>(count));
      offset += static_cast<uint64_t>(count);
    }
  }

 private:
  std::string path_;
  Descriptor file_;
  uint64_t size_ = 0;
};

class MemorySource : public ByteSource {
 public:
  explicit MemorySource(std::span<const std::byte> bytes) : bytes_(bytes) {}
  uint64_t size() const override { return bytes_.size(); }
  void read(uint64_t offset, std::span<std::byte> into) const override {
    std::copy_n(bytes_.begin() + static_cast<ptrdiff_t>(offset), into.size(), into.begin());
  }

 private:
  std::span<const std::byte> bytes_;
};

// The header.

/// Receives the events of the JSON parser, which keeps no tree and does not recurse. Anything that the format does not
/// allow at this point is rejected at once, so depth is bounded by the format.
class HeaderReader {
 public:
  HeaderReader(std::string_view file, std::vector<SafetensorsEntry>& entries,
               std::map<std::string, std::string>& metadata)
      : file_(file), entries_(entries), metadata_(metadata) {}

  bool null() { refuse("null"); }
  bool boolean(bool value) { refuse(value ? "true" : "false"); }
  bool number_float(double, const std::string& text) { refuse(text.substr(0, 40)); }
  bool binary(json::binary_t&) { refuse("binary"); }

  bool number_integer(int64_t value) {
    if (value < 0) refuse(value);  // the parser reports -0 here too
    return number_unsigned(static_cast<uint64_t>(value));
  }

  bool number_unsigned(uint64_t value) {
    if (place_ == Place::kShape) {
      add_extent(value);
    } else if (place_ == Place::kOffsets) {
      if (offsets_ == 2) refuse("more");
      (offsets_ == 0 ? entry().begin : entry().end) = value;
      ++offsets_;
    } else {
      refuse(value);
    }
    return true;
  }

  bool string(std::string& text) {
    if (place_ == Place::kMetadata) {
      const bool is_new = metadata_.emplace(key_, std::move(text)).second;
      require(is_new, *this, "expected each name once, got it again");
    } else if (place_ == Place::kTensor && key_ == "dtype") {
      require(find_dtype(text) != nullptr, *this, "expected a dtype of the format (F32, BF16, I64, …), got ",
              Quoted{text});
      entry().dtype = std::move(text);
    } else {
      refuse(Quoted{text});
    }
    return true;
  }

  bool key(std::string& text) {
    key_ = std::move(text);
    if (place_ == Place::kTop) {
      name_ = key_;
    } else if (place_ == Place::kTensor) {
      const auto* field = std::find(std::begin(kFields), std::end(kFields), key_);
      require(field != std::end(kFields), *this, "expected dtype, shape and data_offsets, nothing else");
      const unsigned bit = 1u << (field - std::begin(kFields));
      require((fields_ & bit) == 0, *this, "given twice");
      fields_ |= bit;
    }
    return true;
  }

  bool start_object(size_t) {
    if (place_ == Place::kStart) {
      place_ = Place::kTop;
    } else if (place_ == Place::kTop && name_ == kMetadata) {
      require(!has_metadata_, file_, ": expected ", kMetadata, " at most once, got it again");
      has_metadata_ = true;
      place_ = Place::kMetadata;
    } else if (place_ == Place::kTop) {
      entries_.emplace_back().name = name_;
      fields_ = 0;
      place_ = Place::kTensor;
    } else {
      refuse("an object");
    }
    return true;
  }

  bool end_object() {
    if (place_ == Place::kTensor) {
      for (size_t i = 0; i < std::size(kFields); ++i) {
        require(fields_ >> i & 1, file_, ": tensor ", Quoted{name_},
                ": expected dtype, shape and data_offsets, got no ", kFields[i]);
      }
    }
    place_ = place_ == Place::kTop ? Place::kStart : Place::kTop;
    return true;
  }

  bool start_array(size_t) {
    if (place_ == Place::kTensor && key_ == "shape") {
      elements_ = 1;
      place_ = Place::kShape;
    } else if (place_ == Place::kTensor && key_ == "data_offsets") {
      offsets_ = 0;
      place_ = Place::kOffsets;
    } else {
      refuse("a list");
    }
    return true;
  }

  bool end_array() {
    if (place_ == Place::kOffsets && offsets_ != 2) refuse(offsets_ == 0 ? "none" : "one");
    place_ = Place::kTensor;
    return true;
  }

  bool parse_error(size_t position, const std::string& token, const json::exception&) {
    fail(file_, ": expected a header in JSON, got an error at its byte ", position, ", near ", Quoted{token});
  }

 private:
  enum class Place { kStart, kTop, kMetadata, kTensor, kShape, kOffsets };
  static constexpr std::string_view kFields[] = {"dtype", "shape", "data_offsets"};

  /// The file and the part of its header that is being read, to begin a message.
  friend std::ostream& operator<<(std::ostream& out, const HeaderReader& r) {
    out << r.file_ << ": ";
    if (r.place_ == Place::kStart) return out;
    if (r.name_ == kMetadata) {
      out << kMetadata << ": ";
    } else {
      out << "tensor " << Quoted{r.name_} << ": ";
    }
    return r.place_ == Place::kTop ? out : out << Quoted{r.key_} << ": ";
  }

  const char* expected() const {
    if (place_ == Place::kStart) return "a JSON object";
    if (place_ == Place::kTop) {
      return name_ == kMetadata ? "an object of strings" : "an object with dtype, shape and data_offsets";
    }
    if (place_ == Place::kMetadata || key_ == "dtype") return "a string";
    return key_ == "shape" ? "a list of whole numbers, none negative" : "a list of two whole numbers, none negative";
  }

  template <class Got>
  [[noreturn]] void refuse(const Got& got) const {
    fail(*this, "expected ", expected(), ", got ", got);
  }

  void add_extent(uint64_t extent) {
    Shape& shape = entry().shape;
    require(shape.rank() < Shape::kMaxRank, *this, "expected at most ", Shape::kMaxRank, " axes, got more after ",
            shape);
    // The second condition is Shape's; the first keeps an extent within int64_t if another one is 0.
    require(extent <= kMaxElements && (extent == 0 || elements_ <= kMaxElements / extent), *this,
            "expected at most 2^48 elements, got ", shape, " times ", extent);
    elements_ *= extent;
    shape.append(static_cast<int64_t>(extent));
  }

  SafetensorsEntry& entry() { return entries_.back(); }

  std::string_view file_;
  std::vector<SafetensorsEntry>& entries_;
  std::map<std::string, std::string>& metadata_;
  Place place_ = Place::kStart;
  std::string name_, key_;  // of the tensor (or kMetadata), and inside it
  bool has_metadata_ = false;
  unsigned fields_ = 0;  // those of kFields seen so far, one bit each
  uint64_t elements_ = 1;
  int offsets_ = 0;
};

// Writing.

/// Tells `write` the bytes of the values, as F32.
template <class Write>
void each_part(std::span<const real> values, Write&& write) {
  if constexpr (std::is_same_v<real, float>) {
    write(std::as_bytes(values));
  } else {
    std::array<float, 4096> chunk;
    while (!values.empty()) {
      const size_t count = std::min(values.size(), chunk.size());
      std::transform(values.begin(), values.begin() + static_cast<ptrdiff_t>(count), chunk.begin(),
                     [](real x) { return static_cast<float>(x); });
      write(std::as_bytes(std::span(chunk).first(count)));
      values = values.subspan(count);
    }
  }
}

/// As a JSON string; only UTF-8 can be one.
std::string json_string(const std::string& where, const std::string& text) {
  try {
    return json(text).dump();
  } catch (const json::exception&) {
    fail(where, ": expected names and metadata in UTF-8, got ", Quoted{text});
  }
}

std::string header_of(const std::string& where, const std::vector<NamedTensor>& tensors,
                      const std::map<std::string, std::string>& metadata, bool checked) {
  std::string header = "{";
  if (checked || !metadata.empty()) {
    header += '"' + std::string(kMetadata) + "\":{";
    if (checked) header = std::string(kBeforeChecksum) + std::string(kNoChecksum) + '"';
    for (const auto& [key, value] : metadata) {
      if (header.back() != '{') header += ',';
      header += json_string(where, key) + ':' + json_string(where, value);
    }
    header += '}';
  }
  std::set<std::string_view> names;
  uint64_t begin = 0;
  for (const auto& [name, tensor] : tensors) {
    require(tensor.defined(), where, ": tensor ", Quoted{name}, " is undefined");
    require(name != kMetadata, where, ": no tensor may have the name ", kMetadata);
    require(names.insert(name).second, where, ": expected each name once, got ", Quoted{name}, " again");
    const uint64_t end = begin + tensor.size() * sizeof(float);
    if (header.back() != '{') header += ',';
    header += json_string(where, name) + R"(:{"dtype":"F32","shape":[)";
    for (const int64_t extent : tensor.shape()) {
      if (header.back() != '[') header += ',';
      header += std::to_string(extent);
    }
    header += R"(],"data_offsets":[)" + std::to_string(begin) + ',' + std::to_string(end) + "]}";
    begin = end;
  }
  header += '}';
  header.resize((header.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  require(header.size() <= kMaxHeader, where, ": expected names and metadata of at most ", kMaxHeader, " bytes, got ",
          header.size());
  return header;
}

/// Tells `write` the bytes of a file, one part after another.
template <class Write>
void each_byte(const std::string& header, const std::vector<NamedTensor>& tensors, Write&& write) {
  const uint64_t length = header.size();
  write(std::as_bytes(std::span(&length, 1)));
  write(std::as_bytes(std::span(header)));
  for (const NamedTensor& named : tensors) each_part(named.tensor.values(), write);
}

void write_with(std::string header, const std::filesystem::path& path, const std::vector<NamedTensor>& tensors,
                bool checked) {
  if (checked) {
    Checksum sum;
    each_byte(header, tensors, [&](std::span<const std::byte> bytes) { sum.add(bytes); });
    header.replace(kBeforeChecksum.size(), kNoChecksum.size(), sum.text());
  }
  Replacement file(path, "write_safetensors");
  each_byte(header, tensors, [&](std::span<const std::byte> bytes) { file.write(bytes); });
  file.commit();
}

}  // namespace

void write_safetensors(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  write_with(header_of("write_safetensors: " + path.native(), tensors, metadata, false), path, tensors, false);
}

void write_checked_safetensors(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors,
                               const std::map<std::string, std::string>& metadata) {
  std::map<std::string, std::string> others = metadata;
  others.erase(std::string(kChecksum));  // of the file that it was read from
  write_with(header_of("write_safetensors: " + path.native(), tensors, others, true), path, tensors, true);
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path)
    : name_(path.native()), source_(std::make_shared<DiskSource>(name_)) {
  read_header();
}

SafetensorsFile::SafetensorsFile(std::span<const std::byte> bytes, std::string name)
    : name_(std::move(name)), source_(std::make_shared<MemorySource>(bytes)) {
  read_header();
}

void SafetensorsFile::read_header() {
  const uint64_t size = source_->size();
  require(size >= kLengthBytes, name_, ": expected a safetensors file, at least ", kLengthBytes, " bytes, got ", size);
  uint64_t length = 0;
  source_->read(0, std::as_writable_bytes(std::span(&length, 1)));
  require(length <= kMaxHeader, name_, ": expected a header of at most ", kMaxHeader, " bytes, got ", length);
  require(length <= size - kLengthBytes, name_, ": expected a header of ", length, " bytes, got a file with ",
          size - kLengthBytes, " bytes after the length");
  std::string header(length, '\0');
  source_->read(kLengthBytes, std::as_writable_bytes(std::span(header)));
  data_at_ = kLengthBytes + length;

  // The parser would accept both of these: it skips a byte order mark or spaces, and takes a zero for the end.
  require(header.starts_with('{'), name_, ": expected a header that begins with {, got ", Quoted{header});
  const size_t zero = header.find('\0');
  require(zero == std::string::npos, name_, ": expected a header in JSON, got a zero byte at ", zero);
  HeaderReader reader(name_, entries_, metadata_);
  json::sax_parse(header.begin(), header.end(), &reader);

  check_sizes();
  std::stable_sort(entries_.begin(), entries_.end(), [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  index_names();
  check_cover();
}

void SafetensorsFile::check_sizes() const {
  const uint64_t data = source_->size() - data_at_;
  for (const SafetensorsEntry& entry : entries_) {
    const Quoted name{entry.name};
    require(entry.begin <= entry.end, name_, ": tensor ", name, ": expected data_offsets in order, got [", entry.begin,
            ", ", entry.end, "]");
    require(entry.end <= data, name_, ": tensor ", name, ": expected data_offsets within the ", data,
            " bytes of data, got [", entry.begin, ", ", entry.end, "]");
    // No overflow: at most 2^48 elements of at most 64 bits.
    const uint64_t bits = entry.shape.size() * find_dtype(entry.dtype)->bits;
    require(bits % 8 == 0, name_, ": tensor ", name, ": expected whole bytes, got ", bits, " bits for ", entry.dtype,
            ' ', entry.shape);
    require(bits / 8 == entry.end - entry.begin, name_, ": tensor ", name, ": expected ", bits / 8, " bytes for ",
            entry.dtype, ' ', entry.shape, ", got data_offsets [", entry.begin, ", ", entry.end, "]");
  }
}

void SafetensorsFile::check_cover() const {
  const uint64_t data = source_->size() - data_at_;
  uint64_t covered = 0;
  for (const SafetensorsEntry& entry : entries_) {
    const Quoted name{entry.name};
    require(entry.begin >= covered, name_, ": tensor ", name, ": expected bytes of its own from ", covered,
            " on, got an overlap from ", entry.begin, " on");
    require(entry.begin == covered, name_, ": tensor ", name, ": expected no hole in the data, got one of ",
            entry.begin - covered, " bytes before ", entry.begin);
    covered = entry.end;
  }
  require(covered == data, name_, ": expected ", covered, " bytes of data after the header, as its tensors have, got ",
          data);
}

void SafetensorsFile::index_names() {
  by_name_.resize(entries_.size());
  std::iota(by_name_.begin(), by_name_.end(), size_t{0});
  std::sort(by_name_.begin(), by_name_.end(), [&](size_t a, size_t b) { return entries_[a].name < entries_[b].name; });
  const auto twice = std::adjacent_find(by_name_.begin(), by_name_.end(),
                                        [&](size_t a, size_t b) { return entries_[a].name == entries_[b].name; });
  if (twice != by_name_.end()) fail(name_, ": expected each tensor once, got ", Quoted{entries_[*twice].name},
                                    " again");
}

const SafetensorsEntry* SafetensorsFile::find(std::string_view name) const {
  const auto found = std::lower_bound(by_name_.begin(), by_name_.end(), name,
                                      [&](size_t i, std::string_view sought) { return entries_[i].name < sought; });
  return found != by_name_.end() && entries_[*found].name == name ? &entries_[*found] : nullptr;
}

void SafetensorsFile::verify() const {
  std::string header(data_at_ - kLengthBytes, '\0');
  source_->read(kLengthBytes, std::as_writable_bytes(std::span(header)));
  if (!header.starts_with(kBeforeChecksum)) return;
  const std::string expected = header.substr(kBeforeChecksum.size(), kNoChecksum.size());
  header.replace(kBeforeChecksum.size(), expected.size(), kNoChecksum);
  const uint64_t length = header.size();
  Checksum sum;
  sum.add(std::as_bytes(std::span(&length, 1))).add(header);
  std::vector<std::byte> part(std::min<uint64_t>(kReadAtOnce, source_->size() - data_at_));
  for (uint64_t at = data_at_; at < source_->size(); at += part.size()) {
    const std::span<std::byte> bytes = std::span(part).first(std::min<uint64_t>(part.size(), source_->size() - at));
    source_->read(at, bytes);
    sum.add(bytes);
  }
  require(sum.text() == expected, name_, ": expected the bytes that were written, with the checksum ", Quoted{expected},
          ", got others (", sum.text(), "); the file is damaged");
}

Tensor SafetensorsFile::read_finite(std::string_view name) const {
  Tensor tensor = read(name);
  if (const auto place = first_not_finite(tensor)) {
    fail(name_, ": tensor ", Quoted{name}, ": expected finite numbers, got ", tensor.data()[*place], " at ",
         index_of(tensor.shape(), *place));
  }
  return tensor;
}

Tensor SafetensorsFile::read(std::string_view name) const {
  const SafetensorsEntry* entry = find(name);
  require(entry != nullptr, name_, ": expected a tensor ", Quoted{name}, ", got none of that name among ",
          entries_.size());
  return read(*entry);
}

Tensor SafetensorsFile::read(const SafetensorsEntry& entry) const {
  const Dtype& dtype = *find_dtype(entry.dtype);
  require(dtype.read != nullptr, name_, ": tensor ", Quoted{entry.name}, ": expected F32, F64, F16 or BF16, got ",
          entry.dtype);
  Tensor tensor(entry.shape);
  dtype.read(*source_, data_at_ + entry.begin, tensor.values());
  return tensor;
}

std::vector<NamedTensor> SafetensorsFile::read_all() const {
  std::vector<NamedTensor> tensors;
  tensors.reserve(entries_.size());
  for (const SafetensorsEntry& entry : entries_) tensors.push_back({entry.name, read(entry)});
  return tensors;
}

}  // namespace attend
