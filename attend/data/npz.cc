#include "attend/data/npz.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <unordered_map>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/data/npy.h"
#include "attend/data/seekable_bytes.h"

// PKWARE's APPNOTE.TXT 6.3, sections 4.3 and 4.5.3. Sizes and places are those of the directory at the end: in front of a member
// they may be missing.
namespace attend::data {

struct ZipMember {
  uint16_t flags = 0, method = 0;
  uint32_t checksum = 0;
  uint64_t packed = 0, unpacked = 0, place = 0;
};

namespace {

constexpr uint32_t kMemberMark = 0x04034b50, kDirectoryMark = 0x02014b50, kEndMark = 0x06054b50,
                   kEnd64Mark = 0x06064b50, kEnd64PlaceMark = 0x07064b50;
constexpr int64_t kMemberBytes = 30, kDirectoryBytes = 46, kEndBytes = 22, kEnd64Bytes = 56, kEnd64PlaceBytes = 20;
constexpr uint64_t kIn64 = 0xFFFFFFFF;                   // "see the 64-bit fields"
constexpr int64_t kLongestComment = 0xFFFF;              // behind the end
constexpr int64_t kLargestDirectory = int64_t{1} << 30;  // about ten million names
constexpr uint64_t kMostDeflated = 1032;                 // what deflate makes of a byte at most
constexpr uint16_t kStored = 0, kDeflated = 8;

/// Reads little-endian numbers from the front of some bytes.
class ZipFields {
 public:
  explicit ZipFields(std::string_view bytes) : rest_(bytes) {}

  uint64_t number(size_t bytes) {
    uint64_t value = 0;
    const std::string_view digits = text(bytes);
    for (size_t i = digits.size(); i-- > 0;) value = value << 8 | static_cast<uint8_t>(digits[i]);
    return value;
  }
  std::string_view text(size_t bytes) {
    const std::string_view front = rest_.substr(0, std::min(bytes, rest_.size()));
    whole_ &= front.size() == bytes;
    rest_.remove_prefix(front.size());
    return front;
  }
  void skip(size_t bytes) { text(bytes); }
  size_t left() const { return rest_.size(); }
  /// Whether there was all that was asked for.
  bool whole() const { return whole_; }

 private:
  std::string_view rest_;
  bool whole_ = true;
};

/// Replaces the numbers that did not fit into 32 bits by those of the extra field.
void fill_from_extra(std::string_view extra, ZipMember& member) {
  ZipFields fields(extra);
  while (fields.left() >= 4) {
    const uint64_t tag = fields.number(2);
    ZipFields part(fields.text(fields.number(2)));
    if (tag != 1) continue;
    for (uint64_t* number : {&member.unpacked, &member.packed, &member.place}) {
      if (*number == kIn64) *number = part.number(8);
    }
  }
}

/// zlib's inflater of raw deflate.
class Inflater {
 public:
  explicit Inflater(const std::string& name) : name_(name) {
    require(inflateInit2(&stream_, -MAX_WBITS) == Z_OK, name_, ": no memory to unpack it");
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream_); }

  /// Fills `into`; returns how much of it, which is less only where the packed bytes end.
  size_t run(std::string_view packed, std::span<char> into) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream_.avail_in = static_cast<uInt>(packed.size());
    stream_.next_out = reinterpret_cast<Bytef*>(into.data());
    stream_.avail_out = static_cast<uInt>(into.size());
    const int state = inflate(&stream_, Z_SYNC_FLUSH);
    require(state == Z_OK || state == Z_STREAM_END || state == Z_BUF_ERROR, name_,
            ": cannot unpack it: ", stream_.msg != nullptr ? stream_.msg : "damaged data");
    return into.size() - stream_.avail_out;
  }

 private:
  const std::string& name_;
  z_stream stream_{};
};

}  // namespace

class NpzFile::Archive {
 public:
  Archive(std::unique_ptr<SeekableBytes> bytes, std::string name, size_t most)
      : bytes_(std::move(bytes)), name_(std::move(name)), most_(std::min<size_t>(most, UINT32_MAX / 2)) {
    read_directory();
  }

  const std::vector<std::string>& names() const { return names_; }
  bool has(std::string_view name) const { return members_.contains(std::string(name)); }

  Tensor read(std::string_view name) const {
    const ZipMember& member = found(name);
    const std::string where = called(name), bytes = unpacked(where, member, member.unpacked);
    require(bytes.size() == member.unpacked, where, ": expected ", member.unpacked, " bytes, got ", bytes.size());
    const uLong sum = crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
    require(sum == member.checksum, where, ": expected bytes with the checksum ", member.checksum, ", got ", sum,
            ": the file is damaged");
    return decode_npy(std::as_bytes(std::span(bytes)), where);
  }

  Shape shape(std::string_view name) const {
    const ZipMember& member = found(name);
    // A header of an array of few axes; all of what it may be where that is not enough.
    for (const uint64_t most : {uint64_t{256}, uint64_t{kLongestNpyFront}}) {
      const std::string front = unpacked(called(name), member, std::min(member.unpacked, most));
      try {
        return decode_npy_shape(std::as_bytes(std::span(front)), called(name));
      } catch (const Error&) {
        if (most >= kLongestNpyFront || front.size() < most) throw;
      }
    }
    return {};
  }

 private:
  std::string called(std::string_view name) const { return name_ + ":" + std::string(name); }

  const ZipMember& found(std::string_view name) const {
    const auto member = members_.find(std::string(name));
    require(member != members_.end(), name_, ": expected an array ", quoted(name), ", got none of that name");
    return member->second;
  }

  std::string bytes_at(uint64_t place, uint64_t count) const {
    std::string bytes(count, '\0');
    bytes.resize(bytes_->read(static_cast<int64_t>(place), bytes));
    return bytes;
  }
  uint64_t size() const { return static_cast<uint64_t>(bytes_->size()); }

  [[noreturn]] void refuse_archive(const char* what) const {
    fail(name_, ": expected an .npz file, a zip archive of .npy files, got one ", what);
  }

  void read_directory() {
    const uint64_t tail = std::min<uint64_t>(size(), kEndBytes + kLongestComment);
    const std::string end = bytes_at(size() - tail, tail);
    const size_t at = end.rfind(std::string_view("PK\5\6", 4));
    if (at == end.npos || end.size() - at < static_cast<size_t>(kEndBytes))
      refuse_archive("without a directory at its end");
    ZipFields fields(std::string_view(end).substr(at + 8));
    fields.skip(2);
    uint64_t count = fields.number(2), bytes = fields.number(4), place = fields.number(4);
    if (count == 0xFFFF || bytes == kIn64 || place == kIn64) find_large(size() - tail + at, count, bytes, place);
    if (place > size() || bytes > size() - place || bytes > static_cast<uint64_t>(kLargestDirectory)) {
      refuse_archive("whose directory lies outside of it");
    }
    read_members(bytes_at(place, bytes), count);
  }

  /// The directory of an archive with more than 65,534 members or 4 GiB.
  void find_large(uint64_t end, uint64_t& count, uint64_t& bytes, uint64_t& place) const {
    if (end < static_cast<uint64_t>(kEnd64PlaceBytes)) return;
    const std::string mark = bytes_at(end - kEnd64PlaceBytes, kEnd64PlaceBytes);
    ZipFields locator(mark);
    if (locator.number(4) != kEnd64PlaceMark) return;
    locator.skip(4);
    const uint64_t at = locator.number(8);
    if (at > size()) refuse_archive("whose directory lies outside of it");
    const std::string large = bytes_at(at, kEnd64Bytes);
    ZipFields fields(large);
    if (fields.number(4) != kEnd64Mark) refuse_archive("whose directory is damaged");
    fields.skip(28);
    count = fields.number(8), bytes = fields.number(8), place = fields.number(8);
    if (!fields.whole()) refuse_archive("whose directory is damaged");
  }

  void read_members(const std::string& directory, uint64_t count) {
    ZipFields fields(directory);
    for (uint64_t i = 0; i < count; ++i) {
      if (fields.number(4) != kDirectoryMark) refuse_archive("whose directory is damaged");
      add_member(fields);
      if (!fields.whole()) refuse_archive("whose directory is damaged");
    }
  }

  void add_member(ZipFields& fields) {
    ZipMember member;
    fields.skip(4);
    member.flags = static_cast<uint16_t>(fields.number(2)), member.method = static_cast<uint16_t>(fields.number(2));
    fields.skip(4);
    member.checksum = static_cast<uint32_t>(fields.number(4));
    member.packed = fields.number(4), member.unpacked = fields.number(4);
    const size_t name_bytes = fields.number(2), extra_bytes = fields.number(2), comment_bytes = fields.number(2);
    fields.skip(8);
    member.place = fields.number(4);
    std::string_view name = fields.text(name_bytes);
    fill_from_extra(fields.text(extra_bytes), member);
    fields.skip(comment_bytes);
    if (!name.ends_with(".npy")) return;
    name.remove_suffix(4);
    require(members_.try_emplace(std::string(name), member).second, name_, ": expected each array once, got ",
            quoted(name), " again");
    names_.emplace_back(name);
  }

  /// The first `count` bytes of a member.
  std::string unpacked(const std::string& where, const ZipMember& member, uint64_t count) const {
    check_member(where, member);
    const std::string front = bytes_at(member.place, kMemberBytes);
    ZipFields fields(front);
    require(fields.number(4) == kMemberMark, where, ": expected a member of the archive at byte ", member.place,
            ", got something else: the file is damaged");
    fields.skip(22);
    const uint64_t skipped = fields.number(2) + fields.number(2), place = member.place + kMemberBytes + skipped;
    require(fields.whole() && place <= size() && member.packed <= size() - place, where, ": expected ", member.packed,
            " bytes, got the end of the file");
    if (member.method == kStored) return bytes_at(place, count);
    // Deflate makes more of few bytes, but what begins an array fits into as many and a little.
    const std::string packed =
        bytes_at(place, count == member.unpacked ? member.packed : std::min(member.packed, count + 1024));
    std::string bytes(count, '\0');
    bytes.resize(Inflater(where).run(packed, bytes));
    return bytes;
  }

  void check_member(const std::string& where, const ZipMember& member) const {
    require(member.method == kStored || member.method == kDeflated, where,
            ": expected an array that is stored or deflated, got the method ", member.method);
    require((member.flags & 1) == 0, where, ": expected an array without a password, got one with");
    require(member.unpacked <= most_, where, ": expected at most ", most_, " bytes, got ", member.unpacked);
    require(member.place <= size() && member.packed <= size(), where, ": expected ", member.packed,
            " bytes, got the end of the file");
    const uint64_t possible = member.method == kStored ? member.packed : member.packed * kMostDeflated;
    require(member.unpacked <= possible, where, ": expected what ", member.packed, " bytes can hold, got a claim of ",
            member.unpacked);
  }

  std::unique_ptr<SeekableBytes> bytes_;
  std::string name_;
  size_t most_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, ZipMember> members_;
};

NpzFile::NpzFile(const std::filesystem::path& path, size_t most_bytes)
    : archive_(std::make_unique<Archive>(seekable_file(path), path.native(), most_bytes)) {}
NpzFile::NpzFile(std::string bytes, std::string name, size_t most_bytes)
    : archive_(std::make_unique<Archive>(seekable_memory(std::move(bytes)), std::move(name), most_bytes)) {}
NpzFile::NpzFile(NpzFile&&) noexcept = default;
NpzFile& NpzFile::operator=(NpzFile&&) noexcept = default;
NpzFile::~NpzFile() = default;

const std::vector<std::string>& NpzFile::names() const { return archive_->names(); }
bool NpzFile::has(std::string_view name) const { return archive_->has(name); }
Tensor NpzFile::read(std::string_view name) const { return archive_->read(name); }
Shape NpzFile::shape(std::string_view name) const { return archive_->shape(name); }

}  // namespace attend::data
