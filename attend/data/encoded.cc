#include "attend/data/encoded.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "attend/base/error.h"
#include "attend/data/batch.h"

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

/// A new file without a name.
int create_unnamed(const fs::path& folder) {
  std::string name = (folder / "attend-pairs-XXXXXX").native();
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) fail(folder.native(), ": cannot create a file for encoded pairs: ", system_reason(errno));
  ::unlink(name.c_str());
  return file;
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

std::span<const int32_t> EncodedPairs::part(int64_t k) const {
  require(k >= 0 && k / parts_ < size(), "EncodedPairs: expected a pair from 0 to ", size() - 1, ", got ", k / parts_);
  return {ids_.get() + (*bounds_)[static_cast<size_t>(k)], static_cast<size_t>(length(k))};
}

std::vector<std::vector<int32_t>> EncodedPairs::letters(int64_t i) const {
  std::vector<std::vector<int32_t>> words(1);
  for (const int32_t id : part(parts_ * i + 2)) {
    if (id == kPad) words.emplace_back();
    if (id != kPad) words.back().push_back(id);
  }
  words.pop_back();
  return words;
}

EncodedPairsWriter::EncodedPairsWriter(fs::path folder, PairFilter filter, bool letters)
    : folder_(std::move(folder)), letters_(letters), file_(create_unnamed(folder_)) {
  require(filter.longest >= 0, "longest: expected 0 or more tokens, got ", filter.longest);
  require(filter.ratio == 0 || filter.ratio >= 1, "ratio: expected 0, or at least 1, got ", filter.ratio);
  report_.filter = filter;
  buffer_.reserve(kBuffer);
}

bool EncodedPairsWriter::add(std::span<const int32_t> source, std::span<const int32_t> target,
                             std::span<const std::vector<int32_t>> letters) {
  require(file_.open(), "EncodedPairsWriter: expected pairs before finish(), got one after it");
  require(!letters_ || letters.size() == source.size(), "EncodedPairsWriter: expected the letters of ", source.size(),
          " words, got those of ", letters.size());
  if (!admit(source.size(), target.size())) return false;
  append(source);
  append(target);
  if (!letters_) return true;
  std::vector<int32_t> flat;
  for (const std::vector<int32_t>& word : letters) {
    flat.insert(flat.end(), word.begin(), word.end());
    flat.push_back(kPad);
  }
  append(flat);
  return true;
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
  pairs.parts_ = letters_ ? 3 : 2;
  pairs.bounds_ = std::make_shared<const std::vector<uint64_t>>(std::move(bounds_));
  file_.close();
  return pairs;
}

}  // namespace attend::data
