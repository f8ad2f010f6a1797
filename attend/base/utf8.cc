#include "attend/base/utf8.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>

namespace attend {
namespace {

/// The well-formed sequences by their first byte; the second one has a narrower range where overlong forms, surrogates
/// and code points beyond U+10FFFF would begin. All further bytes are 80..BF.
struct Form {
  uint8_t first_from, first_to, second_from, second_to, length;
};
constexpr Form kForms[] = {
    {0x00, 0x7F, 0x00, 0x00, 1}, {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
    {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
    {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
};

uint8_t byte_at(std::string_view text, size_t at) { return static_cast<uint8_t>(text[at]); }

bool is_form(const Form& form, std::string_view text) {
  if (byte_at(text, 0) < form.first_from || byte_at(text, 0) > form.first_to || text.size() < form.length) return false;
  if (form.length == 1) return true;
  if (byte_at(text, 1) < form.second_from || byte_at(text, 1) > form.second_to) return false;
  for (size_t i = 2; i < form.length; ++i) {
    if ((byte_at(text, i) & 0xC0) != 0x80) return false;
  }
  return true;
}

}  // namespace

size_t character_bytes(std::string_view text) {
  const Form* form = std::find_if(std::begin(kForms), std::end(kForms), [&](auto& f) { return is_form(f, text); });
  return form != std::end(kForms) ? form->length : 0;
}

char32_t code_point(std::string_view character) {
  constexpr uint8_t kPayload[] = {0x7F, 0x7F, 0x1F, 0x0F, 0x07};
  char32_t code = byte_at(character, 0) & kPayload[character.size()];
  for (size_t i = 1; i < character.size(); ++i) code = code << 6 | (byte_at(character, i) & 0x3F);
  return code;
}

size_t first_fault(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    uint64_t eight;
    if (at + sizeof(eight) <= text.size()) {  // most text is ASCII
      std::memcpy(&eight, text.data() + at, sizeof(eight));
      if ((eight & 0x8080808080808080) == 0) {
        at += sizeof(eight);
        continue;
      }
    }
    const size_t length = character_bytes(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return at;
}

}  // namespace attend
