#include "attend/tasks/typed.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "attend/base/error.h"
#include "attend/base/joined.h"
#include "attend/base/names.h"
#include "attend/data/shallow_json.h"
#include "attend/data/utf8.h"

namespace attend::tasks {
namespace {

using nlohmann::json;

/// What lines of questions have besides, which an answer does not depend on.
constexpr std::string_view kBesides[] = {"answer", "name", "group"};

std::vector<std::string_view> names_of(std::span<const TaskInput> inputs) {
  std::vector<std::string_view> names;
  for (const TaskInput& input : inputs) names.push_back(input.name);
  return names;
}

/// {"document": …, "question": …}
std::string object_of(std::span<const TaskInput> inputs) {
  return "{" + joined(names_of(inputs), ", ", [](std::string_view name) { return "\"" + std::string(name) + "\": …"; }) + "}";
}

std::vector<std::string> from_json(std::span<const TaskInput> wanted, const std::string& where, std::string_view line) {
  const json object = data::shallow_json(line, 2);
  require(object.is_object(), where, ": expected a JSON object ", object_of(wanted), ", got ", quoted(line));
  std::vector<std::string_view> known = names_of(wanted);
  known.insert(known.end(), std::begin(kBesides), std::end(kBesides));
  for (const auto& [key, value] : object.items()) {
    const bool is_known = std::ranges::find(known, key) != known.end();
    require(is_known, where, ": ", is_known ? "" : not_among(known, key));
  }
  std::vector<std::string> texts;
  for (const TaskInput& input : wanted) {
    const auto found = object.find(input.name);
    require(found != object.end(), where, ": expected ", object_of(wanted), ", got no \"", input.name, "\"");
    require(found->is_string(), where, ": expected text in \"", input.name, "\", got ", found->type_name());
    texts.push_back(found->get<std::string>());
  }
  return texts;
}

std::vector<std::string> from_columns(std::span<const TaskInput> wanted, const std::string& where,
                                      std::string_view line) {
  const std::vector<std::string_view> columns = data::split_columns(line);
  require(columns.size() == wanted.size(), where, ": expected ",
          wanted.size() == 1 ? "a " + std::string(wanted[0].name) : quoted(joined(names_of(wanted), "<tab>")), " or ",
          object_of(wanted), ", got ", columns.size(), columns.size() == 1 ? " column in " : " columns in ", quoted(line));
  return {columns.begin(), columns.end()};
}

}  // namespace

std::string input_names(const TaskRow& row) { return joined(names_of(row.inputs), " and "); }

void check_typed(const std::string& where, std::string_view input, std::string_view text) {
  data::check_utf8(where + ": " + std::string(input), text);
  require(!data::split_words(text).empty(), where, ": expected a ", input, " with at least one word, got an empty one");
}

Example typed_example(const TaskRow& row, const std::vector<std::string>& given, const std::string& where,
                      std::string_view line) {
  require(given.size() < row.inputs.size(), where, ": expected at most ", row.inputs.size() - 1, " inputs before the line, got ",
          given.size());
  const std::span wanted = row.inputs.subspan(given.size());
  const bool is_json = data::trimmed(line).starts_with('{');
  Example example;
  for (const std::string& text : given) example.inputs.emplace_back(text);
  for (std::string& text : is_json ? from_json(wanted, where, line) : from_columns(wanted, where, line)) {
    check_typed(where, row.inputs[example.inputs.size()].name, text);
    example.inputs.emplace_back(std::move(text));
  }
  return example;
}

}  // namespace attend::tasks
