// Questions about documents, in any of the usual layouts.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "attend/data/byte_stream.h"
#include "attend/data/examples.h"

namespace attend::data {

/// Recognised by how they begin: SQuAD's JSON (squad.h), bAbI's stories (babi.h), lines of columns or JSON
/// (question_lines.h).
std::unique_ptr<ExampleReader> questions(std::string name, std::unique_ptr<ByteStream> bytes);
std::unique_ptr<ExampleReader> open_questions(const std::filesystem::path& path);

}  // namespace attend::data
