// One example of a text task: a source and its target.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attend/data/alignment.h"

namespace attend::data {

/// A stretch of a text, in bytes: [begin, end).
struct TextRange {
  int64_t begin = 0, end = 0;
  bool operator==(const TextRange&) const = default;
};

/// The bytes of a text in that range.
inline std::string_view text_in(std::string_view text, const TextRange& range) {
  return text.substr(static_cast<size_t>(range.begin), static_cast<size_t>(range.end - range.begin));
}

/// Every text task is source → target; examples.h says how each kind of file spells them.
struct Example {
  std::string source, target;
  Links links = {};                        ///< gold word alignment (by white space) where it is known
  std::vector<std::string> also = {};      ///< other targets that are equally correct
  std::vector<std::string> further = {};   ///< what is read besides the source: the question about a document
  std::vector<TextRange> found = {};       ///< where in the source the target stands, then each of `also`, an empty range
                                           ///< for one that does not; none at all: none does, or it is not known
  std::vector<int32_t> support = {};       ///< sentences of the source (data::split_sentences) that the target follows from
  std::string group = {};                  ///< what kind of example it is, if scores are given by kind
  std::string name = {};                   ///< its own, such as the id of a question; "": none
};

}  // namespace attend::data
