#include "attend/data/encoded.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/joined.h"

namespace attend::data {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBuffer = size_t{1} << 18;  // ids, which is 1 MiB

/// 29000 → "29,000".
std::string grouped(int64_t number) {
  std::string digits = std::to_string(number);
  for (ptrdiff_t at = static_cast<ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<size_t>(at), ",");
  }
  return digits;
}

/// A number as short as it can be: 9, 2.5.
std::string plain(double number) {
  std::ostringstream text;
  text << number;
  return text.str();
}

}  // namespace

std::string FilterReport::text() const {
  std::string text = grouped(read) + " pairs read; " + grouped(kept) + " kept";
  if (empty > 0) text += "; " + grouped(empty) + " with an empty side";
  if (too_long > 0) text += "; " + grouped(too_long) + " longer than " + grouped(filter.longest) + " tokens";
  if (ratio > 0)
    text += "; " + grouped(ratio) + " with a side over " + plain(filter.ratio) + " times as long as the other";
  return text;
}

std::span<const int32_t> EncodedPairs::ids(int64_t i, size_t part) const {
  require(i >= 0 && i < size(), "EncodedPairs: expected a pair from 0 to ", size() - 1, ", got ", i);
  require(part <= parts_.size(), "EncodedPairs: expected a part from 0 to ", parts_.size() - 1, ", got ", part);
  const int64_t k = stored() * i + static_cast<int64_t>(part);
  return {ids_.get() + (*bounds_)[static_cast<size_t>(k)], static_cast<size_t>(length(k))};
}

std::vector<std::vector<int32_t>> EncodedPairs::letters(int64_t i, size_t part) const {
  std::vector<std::vector<int32_t>> words(1);
  for (const int32_t id : ids(i, part)) {
    if (id == kPad) words.emplace_back();
    if (id != kPad) words.back().push_back(id);
  }
  words.pop_back();
  return words;
}

EncodedPairsWriter::EncodedPairsWriter(fs::path folder, PairFilter filter)
    : folder_(std::move(folder)), file_(unnamed_file(folder_)) {
  require(filter.longest >= 0, "longest: expected 0 or more tokens, got ", filter.longest);
  require(filter.ratio == 0 || filter.ratio >= 1, "ratio: expected 0, or at least 1, got ", filter.ratio);
  report_.filter = filter;
  buffer_.reserve(kBuffer);
}

bool EncodedPairsWriter::add(std::span<const int32_t> text, std::span<const int32_t> target) {
  const std::vector<std::vector<int32_t>> alone(1, {text.begin(), text.end()});
  return add(Source(Sequences(alone)), target);
}

bool EncodedPairsWriter::add(const Source& source, std::span<const int32_t> target) {
  require(file_.open(), "EncodedPairsWriter: expected pairs before finish(), got one after it");
  require_parts(source);
  if (!admit(static_cast<size_t>(source.lengths()[0]), target.size())) return false;
  for (const Part& part : source.parts()) {
    std::vector<int32_t> ids = part.ids.row(0);
    for (int64_t word = 0; part.is_letters() && word < part.ids.count(); ++word) {
      if (word == 0) ids.clear();
      const std::vector<int32_t> letters = part.ids.row(word);
      ids.insert(ids.end(), letters.begin(), letters.end());
      ids.push_back(kPad);
    }
    append(ids);
  }
  append(target);
  return true;
}

void EncodedPairsWriter::require_parts(const Source& source) {
  require(source.count() == 1, "EncodedPairsWriter: expected the source of one example, got those of ", source.count());
  std::vector<std::string> names;
  for (const Part& part : source.parts()) {
    require(!part.values.defined(), "EncodedPairsWriter: expected ids, got numbers in part ", part.name);
    names.push_back(part.name);
  }
  if (parts_.empty()) parts_ = names;
  require(names == parts_, "EncodedPairsWriter: expected the parts ", joined(parts_, ", "), " of every source, got ",
          joined(names, ", "));
}

bool EncodedPairsWriter::admit(size_t source, size_t target) {
  const size_t shorter = std::min(source, target), longer = std::max(source, target);
  const PairFilter& filter = report_.filter;
  ++report_.read;
  int64_t* reason = &report_.kept;
  if (shorter == 0) {
    reason = &report_.empty;
  } else if (filter.longest > 0 && longer > static_cast<size_t>(filter.longest)) {
    reason = &report_.too_long;
  } else if (filter.ratio > 0 && static_cast<double>(longer) > filter.ratio * static_cast<double>(shorter)) {
    reason = &report_.ratio;
  }
  ++*reason;
  return reason == &report_.kept;
}

void EncodedPairsWriter::append(std::span<const int32_t> ids) {
  bounds_.push_back(bounds_.back() + ids.size());
  while (!ids.empty()) {
    const std::span<const int32_t> part = ids.first(std::min(ids.size(), kBuffer - buffer_.size()));
    buffer_.insert(buffer_.end(), part.begin(), part.end());
    ids = ids.subspan(part.size());
    if (buffer_.size() == kBuffer) flush();
  }
}

void EncodedPairsWriter::flush() {
  std::span<const std::byte> bytes = std::as_bytes(std::span(buffer_));
  while (!bytes.empty()) {
    const ssize_t count = ::write(file_.number(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      fail(folder_.native(), ": cannot write ", grouped(static_cast<int64_t>(bytes.size())),
           " bytes of encoded pairs after ", grouped(static_cast<int64_t>(written_)), ": ", system_reason(errno));
    }
    bytes = bytes.subspan(static_cast<size_t>(count));
    written_ += static_cast<uint64_t>(count);
  }
  buffer_.clear();
}

EncodedPairs EncodedPairsWriter::finish() {
  require(file_.open(), "EncodedPairsWriter: finish() called twice");
  flush();
  EncodedPairs pairs;
  if (written_ > 0) {
    const size_t size = written_;
    // Only this process knows the file, so nobody else can truncate it under the mapping.
    void* mapped = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file_.number(), 0);
    if (mapped == MAP_FAILED) fail(folder_.native(), ": cannot map encoded pairs: ", system_reason(errno));
    pairs.ids_ = {static_cast<const int32_t*>(mapped),
                  [size](const int32_t* ids) { ::munmap(const_cast<int32_t*>(ids), size); }};
  }
  pairs.parts_ = parts_;
  pairs.bounds_ = std::make_shared<const std::vector<uint64_t>>(std::move(bounds_));
  file_.close();
  return pairs;
}

}  // namespace attend::data
