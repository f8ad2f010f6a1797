#include "attend/data/vectors.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/data/utf8.h"

namespace attend::data {
namespace {

constexpr int64_t kMostValues = int64_t{1} << 32;  // of the whole table

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number value{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

struct VectorsHeader {
  int64_t count, width;
};

/// "vectors width", or nothing if the line is a vector.
std::optional<VectorsHeader> header_of(const std::vector<std::string_view>& fields) {
  if (fields.size() != 2) return std::nullopt;
  const auto count = number_of<int64_t>(fields[0]), width = number_of<int64_t>(fields[1]);
  if (!count || !width || *count < 0 || *width < 0) return std::nullopt;
  return VectorsHeader{*count, *width};
}

class VectorReader {
 public:
  VectorReader(LineReader lines, std::span<const std::string> words) : lines_(std::move(lines)), words_(words) {
    for (size_t i = 0; i < words.size(); ++i) {
      require(places_.emplace(words[i], i).second, "read_vectors: expected distinct words, got ", quoted(words[i]),
              " twice");
    }
  }

  WordVectors read() && {
    std::string line;
    bool left = lines_.next(line);
    if (left) header_ = header_of(split_words(line));
    if (header_) {
      begin(header_->width);
      left = lines_.next(line);
    }
    for (; left; left = lines_.next(line)) add(line);
    require(vectors_.lines > 0, lines_.name(), ": expected lines \"word number number …\", got none");
    require(!header_ || header_->count == vectors_.lines, lines_.name(), ": expected ", header_ ? header_->count : 0,
            " vectors, as the first line says, got ", vectors_.lines, "; is the file cut short?");
    return std::move(vectors_);
  }

 private:
  void begin(int64_t width) {
    require(width >= 1 && width <= kWidestVector, lines_.where(), ": expected vectors of 1 to ", kWidestVector,
            " numbers, got ", width);
    width_ = static_cast<size_t>(width);
    const auto count = static_cast<int64_t>(words_.size());
    require(count <= kMostValues / width, lines_.name(), ": expected at most ", kMostValues,
            " numbers to keep, got vectors of ", width, " for ", count, " words; ask for fewer words");
    vectors_.values = Tensor::zeros({count, width});
    vectors_.found.assign(words_.size(), false);
  }

  void add(const std::string& line) {
    const std::vector<std::string_view> fields = split_words(line);
    if (width_ == 0) begin(static_cast<int64_t>(fields.size()) - 1);
    check_width(line, fields);
    ++vectors_.lines;
    const std::string_view last_of_word = fields[fields.size() - width_ - 1];
    const std::string_view word(fields[0].data(),
                                static_cast<size_t>(last_of_word.data() + last_of_word.size() - fields[0].data()));
    const auto place = places_.find(word);
    if (place == places_.end()) return;
    if (vectors_.found[place->second]) {
      ++vectors_.repeated;
      return;
    }
    vectors_.found[place->second] = true;
    ++vectors_.count;
    keep(std::span(fields).last(width_), vectors_.values.data() + place->second * width_);
  }

  /// Excess fields belong to the word, unless one of them is a number.
  void check_width(const std::string& line, const std::vector<std::string_view>& fields) const {
    bool fits = fields.size() > width_;
    for (size_t i = 1; fits && i + width_ < fields.size(); ++i) fits = !number_of<double>(fields[i]);
    if (fits) return;
    fail(lines_.where(), ": expected a word and ", width_, " numbers, as ",
         header_ ? "the header says" : "in the first line", ", got ", fields.empty() ? 0 : fields.size() - 1, " in ",
         quoted(line));
  }

  void keep(std::span<const std::string_view> fields, real* row) const {
    for (size_t i = 0; i < fields.size(); ++i) {
      const auto value = number_of<double>(fields[i]);
      row[i] = value ? static_cast<real>(*value) : real{0};
      if (!value || !std::isfinite(row[i]))
        fail(lines_.where(), ": expected finite numbers after the word, got ", quoted(fields[i]), " as number ",
             i + 1);
    }
  }

  LineReader lines_;
  std::span<const std::string> words_;
  std::unordered_map<std::string_view, size_t> places_;
  std::optional<VectorsHeader> header_;
  size_t width_ = 0;
  WordVectors vectors_;
};

}  // namespace

WordVectors read_vectors(LineReader lines, std::span<const std::string> words) {
  return VectorReader(std::move(lines), words).read();
}

WordVectors read_vectors(const std::filesystem::path& path, std::span<const std::string> words) {
  return read_vectors(LineReader(path), words);
}

}  // namespace attend::data
