// A check of SentencePiece models that SentencePiece itself does not make.
#pragma once

#include <string_view>

namespace attend::data {

/// Throws Error unless the normalisation rules inside a serialised model stay within their own tables: SentencePiece
/// follows them unchecked, out of bounds if a damaged file says so.
void check_subword_model(std::string_view where, std::string_view model);

}  // namespace attend::data
