// Outputs and references, line by line: the basis of all text scores.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "attend/base/error.h"
#include "attend/data/unicode.h"
#include "attend/data/utf8.h"

namespace attend::train {

/// Throws Error unless there are as many outputs as references, and at least one.
inline void check_counts(std::string_view where, size_t outputs, size_t references) {
  require(outputs == references, where, ": expected as many outputs as references, got ", outputs, " outputs and ",
          references, " references");
  require(outputs > 0, where, ": expected at least one line, got none");
}

/// Calls visit(output, reference) with the code points of every pair of lines. Throws Error unless there are as many
/// outputs as references, and at least one, in UTF-8.
template <class Visit>
void visit_lines(std::string_view where, std::span<const std::string> outputs, std::span<const std::string> references,
                 bool lowercase, Visit&& visit) {
  check_counts(where, outputs.size(), references.size());
  const auto read = [&](const char* side, std::span<const std::string> lines, size_t i) {
    const std::u32string text =
        data::code_points(std::string(where) + ": " + side + " " + std::to_string(i + 1), lines[i]);
    return lowercase ? data::lower_case(text) : text;
  };
  for (size_t i = 0; i < outputs.size(); ++i) visit(read("output", outputs, i), read("reference", references, i));
}

}  // namespace attend::train
