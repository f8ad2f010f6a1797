// Zip archives, made in memory.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace attend::test {

/// Members "name" → bytes, deflated or stored; with `large`, in the form for archives that need 64-bit numbers.
class ZipFile {
 public:
  explicit ZipFile(bool deflated = true, bool large = false) : deflated_(deflated), large_(large) {}

  void add(const std::string& name, const std::string& bytes) {
    const std::string packed = deflated_ ? deflate_raw(bytes) : bytes;
    const uint64_t place = bytes_.size();
    const std::string middle = little(20, 2) + little(0, 2) + little(deflated_ ? 8 : 0, 2) + little(0, 4) +
                               little(crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), uInt(bytes.size())), 4);
    // In front of a member, sizes are left out, as of archives that are written in one go.
    bytes_ += little(0x04034b50, 4) + middle + little(0, 8) + little(name.size(), 2) + little(0, 2) + name + packed;
    const uint64_t in64 = 0xFFFFFFFF;
    std::string extra;
    if (large_)
      extra = little(1, 2) + little(24, 2) + little(bytes.size(), 8) + little(packed.size(), 8) + little(place, 8);
    directory_ += little(0x02014b50, 4) + little(20, 2) + middle + little(large_ ? in64 : packed.size(), 4) +
                  little(large_ ? in64 : bytes.size(), 4) + little(name.size(), 2) + little(extra.size(), 2) +
                  little(0, 2) + little(0, 8) + little(large_ ? in64 : place, 4) + name + extra;
    ++count_;
  }

  std::string finished() const {
    const uint64_t place = bytes_.size(), size = directory_.size(), end = place + size;
    std::string all = bytes_ + directory_;
    if (large_) {
      all += little(0x06064b50, 4) + little(44, 8) + little(45, 2) + little(45, 2) + little(0, 8) + little(count_, 8) +
             little(count_, 8) + little(size, 8) + little(place, 8);
      all += little(0x07064b50, 4) + little(0, 4) + little(end, 8) + little(1, 4);
    }
    const uint64_t most = 0xFFFF, in64 = 0xFFFFFFFF;
    return all + little(0x06054b50, 4) + little(0, 4) + little(large_ ? most : count_, 2) +
           little(large_ ? most : count_, 2) + little(large_ ? in64 : size, 4) + little(large_ ? in64 : place, 4) +
           little(0, 2);
  }

  static std::string little(uint64_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> 8 * i);
    return text;
  }

 private:
  static std::string deflate_raw(const std::string& bytes) {
    z_stream stream{};
    if (deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY) != Z_OK)
      throw std::runtime_error("zlib");
    std::string packed(deflateBound(&stream, bytes.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data())), stream.avail_in = uInt(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data()), stream.avail_out = uInt(packed.size());
    deflate(&stream, Z_FINISH);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    return packed;
  }

  bool deflated_, large_;
  std::string bytes_, directory_;
  uint64_t count_ = 0;
};

/// An .npy file of float32 [frames, width].
inline std::string npy_bytes(int64_t frames, int64_t width, const std::vector<float>& values) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(frames) + ", " +
                       std::to_string(width) + "), }";
  header.resize(117, ' ');
  header += '\n';
  const std::string data(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  return std::string("\x93NUMPY\x01", 7) + '\0' + ZipFile::little(header.size(), 2) + header + data;
}

}  // namespace attend::test
