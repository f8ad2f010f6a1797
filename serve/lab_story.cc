#include <algorithm>
#include <array>
#include <functional>
#include <map>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "serve/lab.h"

namespace attend::serve {
namespace {

constexpr size_t kMost = 2000;           // entries of a list
constexpr size_t kLongestTold = 20'000;  // bytes of a text
constexpr int64_t kFarthest = 10'000;    // words or letters of a slider

std::string shown_kind(const Json& value) {
  return value.is_string()   ? attend::quoted(value.get_ref<const std::string&>())
         : value.is_array()  ? "a list"
         : value.is_object() ? "an object"
                             : value.dump();
}

/// A value of a report, and where in it that is.
struct Part {
  const Json& value;
  std::string where;

  [[noreturn]] void wrong(std::string_view wanted) const {
    fail("report.json: ", where, ": expected ", wanted, ", got ", shown_kind(value));
  }
  Part operator[](const char* name) const {
    static const Json nothing;
    if (!value.is_object()) wrong("an object");
    const auto found = value.find(name);
    return {found == value.end() ? nothing : *found, where.empty() ? name : where + "." + name};
  }
  bool missing() const { return value.is_null(); }
  std::string text() const {
    if (!value.is_string()) wrong("a text");
    if (value.get_ref<const std::string&>().size() > kLongestTold) wrong("a shorter text");
    return value.get<std::string>();
  }
  bool truth() const {
    if (!value.is_boolean()) wrong("true or false");
    return value.get<bool>();
  }
  int64_t number(int64_t least, int64_t most) const {
    if (!value.is_number_integer() || value < least || value > most) wrong("a whole number within its bounds");
    return value.get<int64_t>();
  }
  /// A list, of each of which `each` makes something.
  Json list(const std::function<Json(const Part&)>& each) const {
    if (!value.is_array()) wrong("a list");
    if (value.size() > kMost)
      fail("report.json: ", where, ": expected at most ", kMost, " entries, got ", value.size());
    Json all = Json::array();
    for (size_t i = 0; i < value.size(); ++i) all.push_back(each({value[i], where + "[" + std::to_string(i) + "]"}));
    return all;
  }
  Json texts() const {
    return list([](const Part& one) { return one.text(); });
  }
  /// A name that can be one of a file, without a folder.
  std::string file_name() const {
    const std::string name = text();
    const auto plain = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
             c == '.';
    };
    if (name.empty() || name.size() > 100 || name[0] == '.' || !std::ranges::all_of(name, plain)) {
      wrong("a name of letters, digits, - and _");
    }
    return name;
  }
};

Json text_block(const Part& block) { return {{"text", block["text"].text()}}; }
Json checks_block(const Part&) { return Json::object(); }
Json table_block(const Part& block) {
  return {{"title", block["title"].text()},
          {"head", block["head"].texts()},
          {"rows", block["rows"].list([](const Part& row) { return row.texts(); })},
          {"words", block["words"].truth()}};
}
Json figure_block(const Part& block) {
  return {{"name", block["name"].file_name()}, {"caption", block["caption"].text()}};
}
Json live_block(const Part& block) {
  return {{"text", block["text"].text()},
          {"runs", block["runs"].texts()},
          {"sliders", block["sliders"].texts()},
          {"longest", block["longest"].number(0, kFarthest)}};
}
Json command_block(const Part& block) { return {{"text", block["text"].text()}, {"command", block["command"].text()}}; }

struct BlockRow {
  std::string_view kind;
  Json (*read)(const Part& block);
};
constexpr std::array kBlocks{BlockRow{"text", text_block},   BlockRow{"checks", checks_block},
                             BlockRow{"table", table_block}, BlockRow{"figure", figure_block},
                             BlockRow{"live", live_block},   BlockRow{"command", command_block}};

Json block_of(const Part& block) {
  const std::string kind = block["kind"].text();
  const auto row = std::ranges::find(kBlocks, kind, &BlockRow::kind);
  if (row == kBlocks.end()) block["kind"].wrong("text, checks, table, figure, live or command");
  Json read = {{"kind", kind}};
  read.update(row->read(block));
  return read;
}

Json example_of(const Part& example) {
  Json read = {{"source", example["source"].text()}, {"reference", example["reference"].text()}};
  if (const Part inputs = example["inputs"]; !inputs.missing()) {
    if (!inputs.value.is_object() || inputs.value.size() > 8) inputs.wrong("a few texts by their names");
    for (const auto& [name, value] : inputs.value.items())
      read["inputs"][name] = Part{value, inputs.where + "." + name}.text();
  }
  return read;
}

}  // namespace

Json story_of_report(const Json& report) {
  const Part all{report, ""};
  require(report.is_object(), "report.json: expected an object, got ", shown_kind(report));
  require(!all["story"].missing(),
          "report.json: it has no story, as that of an earlier version; the same `attend lab` command writes it, and "
          "keeps the "
          "models that are trained");
  return {{"name", all["experiment"].file_name()},
          {"number", all["number"].number(0, 1'000'000)},
          {"title", all["title"].text()},
          {"claim", all["claim"].text()},
          {"verdict", all["verdict"].text()},
          {"quick", all["quick"].truth()},
          {"command", all["command"].text()},
          {"checks", all["checks"].list([](const Part& check) {
             return Json{{"expected", check["expected"].text()},
                         {"measured", check["measured"].text()},
                         {"held", check["held"].truth()}};
           })},
          {"story", all["story"].list([](const Part& step) {
             return Json{{"title", step["title"].text()}, {"blocks", step["blocks"].list(block_of)}};
           })},
          {"models", all["models"].list([](const Part& model) {
             return Json{{"run", model["run"].text()},
                         {"seed", model["seed"].number(1, 1'000'000)},
                         {"folder", model["folder"].file_name()}};
           })},
          {"tests", all["tests"].list([](const Part& test) {
             return Json{{"runs", test["runs"].texts()}, {"examples", test["examples"].list(example_of)}};
           })}};
}

}  // namespace attend::serve
