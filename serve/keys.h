// Keys: who may ask, and how often. A file has one on each line:
//
//   # name   key, or its SHA-256   requests per minute (any number: -)   admin
//   ann      sha256:9f86d0…        60
//   ops      sha256:60303a…        -                                     admin
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/clock.h"

namespace attend::serve {

/// Somebody whose key is known.
struct Holder {
  std::string name;
  bool admin = false;  ///< may load and unload models
};

class Keys {
 public:
  /// Throws UsageError, with the line, where the file is not as above.
  explicit Keys(std::filesystem::path file, Now now = Clock::now);

  /// Reads the file again; how much each has asked lately stays known. Throws, and changes nothing, where it is wrong.
  void reload();
  /// Nothing: nobody has that key. It takes the same time whichever of the keys it is, and however much of one it has.
  std::optional<Holder> holder(std::string_view key) const;
  /// One request more of that name. Seconds until it may ask; 0: now.
  double ask(const std::string& name);
  size_t size() const;
  /// What is to be said of the file: that others can read it; "" otherwise.
  std::string note() const;

 private:
  struct Row {
    Holder holder;
    std::array<uint8_t, 32> digest{};
    int64_t per_minute = 0;  // 0: any number
  };
  /// As many requests as there are tokens; they come back at a steady rate, up to a minute's worth of them.
  struct Bucket {
    double tokens = 0;
    Clock::time_point at{};
  };
  static std::vector<Row> read(const std::filesystem::path& file);
  static Row row_of(const std::vector<std::string>& words, const std::string& where);

  const std::filesystem::path file_;
  const Now now_;
  mutable std::mutex mutex_;
  std::vector<Row> rows_;
  std::map<std::string, Bucket> buckets_;
};

/// A new key of 256 random bits, and the line of a file for it.
struct NewKey {
  std::string key, line;
};
NewKey make_key(const std::string& name);

}  // namespace attend::serve
