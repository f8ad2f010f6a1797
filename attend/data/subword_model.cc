#include "attend/data/subword_model.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "attend/base/error.h"

namespace attend::data {
namespace {

/// Walks over the fields of a protocol buffer (wire types 0, 1, 2, 5).
class Fields {
 public:
  Fields(std::string_view where, std::string_view bytes) : where_(where), rest_(bytes) {}

  /// The next field; false at the end. `bytes` is empty unless it is of wire type 2.
  bool next(uint64_t& number, std::string_view& bytes) {
    if (rest_.empty()) return false;
    const uint64_t key = take_number();
    number = key >> 3;
    bytes = {};
    switch (key & 7) {
      case 0: take_number(); break;
      case 1: take(8); break;
      case 2: bytes = take(take_number()); break;
      case 5: take(4); break;
      default: refuse();
    }
    return true;
  }

 private:
  std::string_view take(uint64_t size) {
    if (size > rest_.size()) refuse();
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  uint64_t take_number() {
    uint64_t number = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const uint64_t byte = static_cast<uint8_t>(take(1)[0]);
      number |= (byte & 0x7F) << shift;
      if (byte < 0x80) return number;
    }
    refuse();
  }

  [[noreturn]] void refuse() const { fail(where_, ": expected a SentencePiece model, got a damaged one"); }

  std::string_view where_, rest_;
};

/// The units of a double array (Yata's darts-clone, which SentencePiece uses). A leaf (bit 31) holds a place in the
/// texts. Any other unit i leads to the units (i ^ offset) ^ c for bytes c and, if bit 8 is set, to a leaf at i ^
/// offset. Walks begin at unit 0.
class Trie {
 public:
  explicit Trie(std::string_view bytes) : bytes_(bytes) {}
  uint64_t size() const { return bytes_.size() / sizeof(uint32_t); }

  /// Whether every walk stays within the array, and every leaf within that many bytes of texts.
  bool stays_within(uint64_t texts) const {
    if (size() == 0 || is_leaf(unit_at(0))) return false;
    for (uint64_t i = 0; i < size(); ++i) {
      if (!unit_stays_within(i, texts)) return false;
    }
    return true;
  }

 private:
  bool unit_stays_within(uint64_t i, uint64_t texts) const {
    const uint32_t unit = unit_at(i);
    if (is_leaf(unit)) return (unit & 0x7FFFFFFF) < texts;
    const uint64_t next = i ^ offset(unit);
    if ((next | 0xFF) >= size()) return false;
    const bool has_leaf = (unit >> 8 & 1) != 0;
    return !has_leaf || is_leaf(unit_at(next));
  }
  static bool is_leaf(uint32_t unit) { return unit >> 31 != 0; }
  uint32_t unit_at(uint64_t i) const {
    uint32_t unit;
    std::memcpy(&unit, bytes_.data() + i * sizeof(unit), sizeof(unit));
    return unit;
  }
  static uint64_t offset(uint32_t unit) { return uint64_t{unit >> 10} << ((unit & (1u << 9)) >> 6); }

  std::string_view bytes_;
};

/// The rules: the length of the trie in bytes (32 bits), the trie, texts that end with zeros.
void check_rules(std::string_view where, std::string_view rules) {
  if (rules.empty()) return;
  uint32_t length = 0;
  if (rules.size() >= sizeof(length)) std::memcpy(&length, rules.data(), sizeof(length));
  const uint64_t behind = rules.size() - std::min(rules.size(), sizeof(length));
  require(length > 0 && length % sizeof(uint32_t) == 0 && length < behind && rules.back() == '\0', where,
          ": expected rules of normalisation, got a damaged table of them");
  const Trie trie(rules.substr(sizeof(length), length));
  require(trie.stays_within(behind - length), where,
          ": expected rules of normalisation, got some that lead out of their table");
}

}  // namespace

void check_subword_model(std::string_view where, std::string_view model) {
  constexpr uint64_t kNormaliser = 3, kDenormaliser = 5, kRules = 2;  // of sentencepiece_model.proto
  Fields fields(where, model);
  uint64_t number = 0, inner = 0;
  for (std::string_view bytes, rules; fields.next(number, bytes);) {
    if (number != kNormaliser && number != kDenormaliser) continue;
    Fields spec(where, bytes);
    while (spec.next(inner, rules)) {
      if (inner == kRules) check_rules(where, rules);
    }
  }
}

}  // namespace attend::data
