// Examples in the usual file formats. A format is a row of a table: a task names one, and reads source → target
// whatever the files look like (docs/formats.md shows each with an example).
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/data/example.h"

namespace attend::data {

/// Streams the examples of one file or folder.
class ExampleReader {
 public:
  virtual ~ExampleReader() = default;
  /// False after the last one. Throws Error with file and line for anything that does not fit the format.
  virtual bool next(Example& example) = 0;
  /// "file:line" where the example last returned by next() begins.
  virtual std::string where() const = 0;
};

struct ExampleFormat {
  std::string_view name, summary;
  /// Throws Error if there is no such file. A file without any example is refused at the first next().
  std::unique_ptr<ExampleReader> (*open)(const std::filesystem::path& path);
};

std::span<const ExampleFormat> example_formats();
/// Throws Error, suggesting the nearest name, if there is no such format.
std::unique_ptr<ExampleReader> open_examples(std::string_view format, const std::filesystem::path& path);
std::vector<Example> read_examples(std::string_view format, const std::filesystem::path& path);

enum class Split { kTrain, kValid, kTest };

/// Which part an example belongs to, by a hash of its source: the same on every machine, in every run and for any order
/// of files, with all answers to one source in the same part. `valid` and `test` are shares, 0 … 1 together.
Split split_of(std::string_view source, double valid, double test);

}  // namespace attend::data
