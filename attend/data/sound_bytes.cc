#include "attend/data/sound_bytes.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "attend/base/error.h"

namespace attend::data {
namespace {

/// Keeps all bytes until forget(), and from then on only those that have not been read yet.
class PipedSound : public SeekableBytes {
 public:
  PipedSound(std::unique_ptr<ByteStream> stream, std::string name)
      : stream_(std::move(stream)), name_(std::move(name)) {
    set_size();
  }

  int64_t size() const override { return int64_t{1} << 60; }
  bool piped() const override { return true; }
  void forget() override { forgets_ = true; }

  size_t read(int64_t at, std::span<char> into) override {
    // A decoder that has found the samples looks behind them for more about them, of which nothing is known yet.
    if (at < from_ || at > from_ + static_cast<int64_t>(kept_.size() + kFarthest)) return 0;
    const size_t skipped = static_cast<size_t>(at - from_);
    while (kept_.size() < skipped + into.size() && pull()) continue;
    if (kept_.size() <= skipped) return 0;
    const size_t count = std::min(into.size(), kept_.size() - skipped);
    std::copy_n(kept_.begin() + static_cast<ptrdiff_t>(skipped), count, into.begin());
    if (forgets_) drop(skipped + count);
    return count;
  }

 private:
  static constexpr size_t kFarthest = size_t{1} << 16, kLongestHead = size_t{4} << 20;

  /// Who writes into a pipe may leave the size of the samples at 0, which libsndfile takes for none: all that come.
  void set_size() {
    for (size_t at = 12;;) {
      while (kept_.size() < at + 8 && pull()) continue;
      if (kept_.size() < at + 8) return;
      uint32_t size = 0;
      for (size_t i = 8; i-- > 4;) size = size << 8 | static_cast<uint8_t>(kept_[at + i]);
      if (std::string_view(kept_.data() + at, 4) == "data") {
        if (size == 0) std::fill_n(kept_.begin() + static_cast<ptrdiff_t>(at) + 4, 4, '\xFF');
        return;
      }
      at += 8 + size_t{size} + size % 2;
    }
  }

  bool pull() {
    if (!forgets_ && kept_.size() > kLongestHead) return false;
    const std::span<const char> part = stream_->next(name_);
    kept_.insert(kept_.end(), part.begin(), part.end());
    return !part.empty();
  }
  void drop(size_t count) {
    kept_.erase(kept_.begin(), kept_.begin() + static_cast<ptrdiff_t>(count));
    from_ += static_cast<int64_t>(count);
  }

  std::unique_ptr<ByteStream> stream_;
  std::string name_;
  std::vector<char> kept_;
  int64_t from_ = 0;  // where the first of those is
  bool forgets_ = false;
};

}  // namespace

std::string first_bytes(SeekableBytes& bytes) {
  std::string front(12, '\0');
  front.resize(bytes.read(0, front));
  return front;
}

std::unique_ptr<SeekableBytes> sound_stream_bytes(std::unique_ptr<ByteStream> stream, const std::string& name,
                                                  size_t most) {
  std::string front;
  while (front.size() < 4) {
    const std::span<const char> part = stream->next(name);
    if (part.empty()) break;
    front.append(part.begin(), part.end());
  }
  if (front.starts_with("RIFF")) return std::make_unique<PipedSound>(put_back(front, std::move(stream)), name);
  for (std::span<const char> part; !(part = stream->next(name)).empty();) {
    require(front.size() + part.size() <= most, name, ": expected at most ", most,
            " bytes of a sound that comes through a pipe and is not WAV, got more");
    front.append(part.begin(), part.end());
  }
  return seekable_memory(std::move(front));
}

}  // namespace attend::data
