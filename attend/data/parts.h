// Sources of several texts: one of them by itself, or all of them as one text.
#pragma once

#include <string_view>

#include "attend/data/batch.h"

namespace attend::data {

/// What ends the name of a part that marks the words of another with small numbers from 0: which text a word is from, say.
constexpr std::string_view kMarks = ".marks";

/// The part of that name with what it contains ("question", "question.letters"), as if there were no other; throws Error if
/// there is none.
Source only(const Source& source, std::string_view name);

/// All texts of a source as one: the words of each follow those of the one before, in every row by themselves, so that there is
/// no padding between them; with letters where all have them. Its marks say which text each word is from.
Source joined_texts(const Source& source);

}  // namespace attend::data
