// A check of SentencePiece models that SentencePiece leaves out.
#pragma once

#include <string_view>

namespace attend::data {

/// Throws Error unless the rules of normalisation inside of a serialised model stay within their own tables: SentencePiece
/// follows them as they are, out of its memory if a damaged file says so.
void check_subword_model(std::string_view where, std::string_view model);

}  // namespace attend::data
