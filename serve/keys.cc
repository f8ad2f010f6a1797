#include "serve/keys.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/names.h"

namespace attend::serve {
namespace {

constexpr std::string_view kHashed = "sha256:";
constexpr size_t kShortestKey = 20, kLongestName = 64, kMostKeys = 10'000;
constexpr int64_t kMostPerMinute = 1'000'000;

std::array<uint8_t, 32> digest_of(std::string_view text) {
  std::array<uint8_t, 32> digest{};
  unsigned size = 0;
  require(::EVP_Digest(text.data(), text.size(), digest.data(), &size, ::EVP_sha256(), nullptr) == 1 && size == 32,
          "keys: cannot compute SHA-256");
  return digest;
}

std::string hex(const std::array<uint8_t, 32>& bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : bytes) text += kDigits[byte >> 4], text += kDigits[byte & 15];
  return text;
}

std::array<uint8_t, 32> read_hex(std::string_view text, const std::string& where) {
  std::array<uint8_t, 32> bytes{};
  bool right = text.size() == 2 * bytes.size();
  for (size_t i = 0; right && i < bytes.size(); ++i) {
    const char* const two = text.data() + 2 * i;
    const auto [end, error] = std::from_chars(two, two + 2, bytes[i], 16);
    right = error == std::errc() && end == two + 2;
  }
  require_usage(right, where, ": expected sha256: and 64 hexadecimal digits, got something else");
  return bytes;
}

void check_name(const std::string& name, const std::string& where) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  };
  require_usage(!name.empty() && name.size() <= kLongestName && std::ranges::all_of(name, allowed), where,
                ": expected a name of at most 64 letters, digits, -, _ and ., got ", attend::quoted(name));
}

}  // namespace

Keys::Keys(std::filesystem::path file, Now now) : file_(std::move(file)), now_(std::move(now)), rows_(read(file_)) {}

Keys::Row Keys::row_of(const std::vector<std::string>& words, const std::string& where) {
  require_usage(words.size() >= 2 && words.size() <= 4, where, ": expected NAME KEY [PER_MINUTE] [admin], got ",
                words.size(), " words");
  Row row;
  row.holder.name = words[0];
  check_name(words[0], where);
  const bool hashed = words[1].starts_with(kHashed);
  require_usage(hashed || words[1].size() >= kShortestKey, where, ": expected a key of at least ", kShortestKey,
                " characters, got a shorter one; attend serve --make-key ", words[0], " makes one");
  row.digest = hashed ? read_hex(std::string_view(words[1]).substr(kHashed.size()), where) : digest_of(words[1]);
  for (size_t i = 2; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "admin" && i + 1 == words.size()) {
      row.holder.admin = true;
    } else if (word != "-") {
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), row.per_minute);
      const bool whole = error == std::errc() && end == word.data() + word.size();
      require_usage(i == 2 && whole && row.per_minute >= 1 && row.per_minute <= kMostPerMinute, where,
                    ": expected requests per minute (1 to ", kMostPerMinute, ", or -) and then perhaps admin, got ",
                    attend::quoted(word));
    }
  }
  return row;
}

std::vector<Keys::Row> Keys::read(const std::filesystem::path& file) {
  std::ifstream in(file);
  require_usage(in.good(), "--keys: cannot read ", attend::quoted(file.native()));
  std::vector<Row> rows;
  std::set<std::string> names;
  std::string line;
  for (size_t number = 1; std::getline(in, line); ++number) {
    const std::string where = file.native() + ":" + std::to_string(number);
    std::istringstream split(line);
    std::vector<std::string> words;
    for (std::string word; split >> word && !word.starts_with('#') && words.size() < 6;) words.push_back(word);
    if (words.empty()) continue;
    rows.push_back(row_of(words, where));
    require_usage(names.insert(words[0]).second, where, ": expected each name once, got ", words[0], " again");
    require_usage(rows.size() <= kMostKeys, where, ": expected at most ", kMostKeys, " keys");
  }
  require_usage(!rows.empty(), file.native(), ": expected at least one key; attend serve --make-key NAME makes one");
  return rows;
}

void Keys::reload() {
  std::vector<Row> fresh = read(file_);
  const std::lock_guard lock(mutex_);
  rows_ = std::move(fresh);
}

std::optional<Holder> Keys::holder(std::string_view key) const {
  const std::array<uint8_t, 32> digest = digest_of(key);
  const std::lock_guard lock(mutex_);
  const Row* found = nullptr;
  for (const Row& row : rows_) {  // all of them, each to its last byte
    const bool same = ::CRYPTO_memcmp(row.digest.data(), digest.data(), digest.size()) == 0;
    found = same ? &row : found;
  }
  if (!found) return std::nullopt;
  return found->holder;
}

double Keys::ask(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto row = std::ranges::find_if(rows_, [&](const Row& one) { return one.holder.name == name; });
  if (row == rows_.end() || row->per_minute == 0) return 0;
  const auto most = static_cast<double>(row->per_minute);
  const double rate = most / 60;
  const Clock::time_point now = now_();
  const auto [place, fresh] = buckets_.try_emplace(name, Bucket{most, now});
  Bucket& bucket = place->second;
  bucket.tokens = std::min(most, bucket.tokens + rate * std::chrono::duration<double>(now - bucket.at).count());
  bucket.at = now;
  if (bucket.tokens < 1) return (1 - bucket.tokens) / rate;
  bucket.tokens -= 1;
  return 0;
}

size_t Keys::size() const {
  const std::lock_guard lock(mutex_);
  return rows_.size();
}

std::string Keys::note() const {
  struct stat status {};
  if (::stat(file_.c_str(), &status) != 0 || (status.st_mode & (S_IRWXG | S_IRWXO)) == 0) return "";
  return file_.native() + " can be read by others than its owner; chmod 600 " + file_.native();
}

NewKey make_key(const std::string& name) {
  check_name(name, "--make-key");
  std::array<uint8_t, 32> random{};
  require(::RAND_bytes(random.data(), static_cast<int>(random.size())) == 1,
          "--make-key: the system gave no random bytes");
  NewKey made{.key = "attend-" + hex(random), .line = ""};
  made.line = name + " " + std::string(kHashed) + hex(digest_of(made.key));
  return made;
}

}  // namespace attend::serve
