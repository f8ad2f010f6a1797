// Bytes as letters that JSON, SVG and pages can hold (RFC 4648, section 4).
#pragma once

#include <string>
#include <string_view>

namespace attend {

std::string base64(std::string_view bytes);
/// The reverse; throws Error ("where: …") if the text is not valid base64.
std::string from_base64(std::string_view text, std::string_view where);

}  // namespace attend
