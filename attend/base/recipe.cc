#include "attend/base/recipe.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "attend/base/error.h"
#include "attend/base/replacement.h"
#include "attend/base/utf8.h"

namespace attend {
namespace {

constexpr size_t kMostBytes = 1 << 20;
constexpr int kDeepest = 8;
constexpr size_t kLongestName = 100;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_control(char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; }

/// Words separated by dots; none begins with a digit or a dash, which YAML might take for something else.
bool is_name(std::string_view text) {
  const auto begins = [](char c) { return is_letter(c) || c == '_'; };
  const auto goes_on = [&](char c) { return begins(c) || is_digit(c) || c == '-'; };
  bool fresh = true;
  for (const char c : text) {
    if (fresh ? !begins(c) : !goes_on(c) && c != '.') return false;
    fresh = c == '.';
  }
  return !fresh && text.size() <= kLongestName;
}

// Reading.

/// What yaml-cpp would silently accept, or reject without saying why: it stops at a byte 4, and guesses encodings.
void check_line(std::string_view line, const std::string& where) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  require(is_utf8(line), where, ": expected text in UTF-8, got other bytes");
  require(std::none_of(line.begin(), line.end(), is_control), where, ": expected text, got a control character");
  const size_t first = line.find_first_not_of(' ');
  require(first == std::string_view::npos || line[first] != '\t', where,
          ": expected indentation by spaces, got a tab");
}

void check_lines(std::string_view text, const std::string& name) {
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    check_line(text.substr(0, end), name + ":" + std::to_string(number));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// Receives the parser's events. It keeps no tree and follows no aliases, so what is read is never larger than the
/// text.
class RecipeReader : public YAML::EventHandler {
 public:
  explicit RecipeReader(std::string file) : file_(std::move(file)) {}
  SettingList settings;

  std::string at(const YAML::Mark& mark) const {
    return mark.is_null() ? file_ : file_ + ":" + std::to_string(mark.line + 1);
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    require(!std::exchange(started_, true), at(mark), ": expected one document, got another");
  }
  void OnDocumentEnd() override {}

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { refuse_anchor(mark); }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (anchor != YAML::NullAnchor) refuse_anchor(mark);
    require(!maps_.empty(), file_, ": expected options (name: value), got none");
    if (in_list_) fail(at(mark), ": ", key_, ": expected entries that are not empty, got nothing");
    if (at_key_) fail(at(mark), ": expected a name, got nothing");
    fail(where_, ": ", key_, ": expected a value, got nothing (\"\" is an empty text)");
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check_node(mark, tag, anchor);
    // The escapes \N and \_ of yaml-cpp 0.7 give single bytes.
    require(is_utf8(value), at(mark), ": expected text in UTF-8, got other bytes");
    if (maps_.empty()) fail(at(mark), ": expected options (name: value), got ", quoted(value));
    if (in_list_) {
      add_entry(mark, value);
    } else if (at_key_) {
      take_key(mark, value);
    } else {
      settings.push_back({key_, value, where_});
      at_key_ = true;
    }
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    check_node(mark, tag, anchor);
    require_value_place(mark, "a list");
    settings.push_back({key_, "", where_, true});
    in_list_ = true;
  }
  void OnSequenceEnd() override {
    in_list_ = false;
    at_key_ = true;
  }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    check_node(mark, tag, anchor);
    if (!maps_.empty()) require_value_place(mark, "a mapping");
    require(maps_.size() < size_t{kDeepest}, at(mark), ": expected at most ", kDeepest,
            " mappings within each other");
    maps_.push_back(maps_.empty() ? "" : key_ + ".");
    at_key_ = true;
  }
  void OnMapEnd() override {
    maps_.pop_back();
    at_key_ = true;
  }

 private:
  [[noreturn]] void refuse_anchor(const YAML::Mark& mark) const {
    fail(at(mark), ": expected plain values, got an anchor (&) or an alias (*)");
  }

  void check_node(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) const {
    if (anchor != YAML::NullAnchor) refuse_anchor(mark);
    // The parser reports "?" for a plain scalar, "!" for a quoted one.
    require(tag.empty() || tag == "?" || tag == "!", at(mark), ": expected plain values, got a tag (!)");
  }

  void require_value_place(const YAML::Mark& mark, const char* got) const {
    if (maps_.empty()) fail(at(mark), ": expected options (name: value), got ", got);
    if (in_list_) fail(at(mark), ": ", key_, ": expected a list of single values, got ", got, " within it");
    if (at_key_) fail(at(mark), ": expected a name, got ", got);
  }

  void take_key(const YAML::Mark& mark, const std::string& name) {
    require(is_name(name), at(mark), ": expected a name of letters, digits, \"_\", \"-\" and \".\", got ",
            quoted(name));
    key_ = maps_.back() + name;
    where_ = at(mark);
    require(std::count(key_.begin(), key_.end(), '.') < kDeepest, where_, ": expected at most ", kDeepest,
            " names with dots between them, got ", quoted(key_));
    const auto [first, fresh] = lines_.emplace(key_, mark.line + 1);
    require(fresh, where_, ": ", key_, ": given twice (first in line ", first->second, ")");
    at_key_ = false;
  }

  void add_entry(const YAML::Mark& mark, const std::string& value) {
    require(!value.empty() && value.find('\n') == std::string::npos, at(mark), ": ", key_,
            ": expected entries of one line, none of them empty, got ", quoted(value));
    std::string& all = settings.back().value;
    all.append(all.empty() ? "" : "\n").append(value);
  }

  std::string file_;
  bool started_ = false;
  std::vector<std::string> maps_;     // the enclosing mappings, as prefixes of names
  std::string key_, where_;           // of the value that is being read
  std::map<std::string, int> lines_;  // of every name so far
  bool at_key_ = false, in_list_ = false;
};

// Printing.

/// Words that YAML readers take for something other than text.
bool is_reserved(std::string word) {
  constexpr std::string_view kWords[] = {"true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf"};
  std::transform(word.begin(), word.end(), word.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

bool is_plain(const std::string& text) {
  const auto safe = [](char c) {
    return is_letter(c) || is_digit(c) || std::string_view("_-./+").find(c) != std::string_view::npos;
  };
  return !text.empty() && (is_letter(text[0]) || text[0] == '_' || text[0] == '/') && !is_reserved(text) &&
         std::all_of(text.begin(), text.end(), safe);
}

std::string print_text(const std::string& name, const std::string& text) {
  constexpr const char* kDigits = "0123456789abcdef";
  if (is_plain(text)) return text;
  require(is_utf8(text), name, ": expected text in UTF-8, got ", quoted(text));
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n";
    } else if (is_control(c) || c == '\t') {
      out.append("\\x").append(1, kDigits[byte >> 4]).append(1, kDigits[byte & 15]);
    } else {
      out.append(c == '"' || c == '\\' ? "\\" : "").append(1, c);
    }
  }
  return out + '"';
}

std::string print_value(const OptionInfo& option) {
  if (option.type == "text") return print_text(option.name, option.value);
  if (option.type != "list") return option.value;
  std::vector<std::string> entries;
  detail::parse_option(option.name, option.value, entries);
  std::string out = "[";
  for (const std::string& entry : entries) out += (out.size() > 1 ? ", " : "") + print_text(option.name, entry);
  return out + ']';
}

/// A mapping, or an option where `option` is set.
struct Node {
  std::string key;
  const OptionInfo* option = nullptr;
  std::vector<Node> children;
};

/// Where to put an option: the mappings of its name, made if they are missing. A name that is itself an option
/// ("model" beside "model.hidden") cannot be a mapping, so its dot stays in the key.
void insert(Node& root, const OptionInfo& option, const std::set<std::string_view>& names) {
  const std::string_view name = option.name;
  Node* node = &root;
  size_t begin = 0;
  for (size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.', dot + 1)) {
    if (names.contains(name.substr(0, dot))) continue;
    const std::string_view key = name.substr(begin, dot - begin);
    const auto same = [&](const Node& child) { return child.option == nullptr && child.key == key; };
    auto child = std::find_if(node->children.begin(), node->children.end(), same);
    if (child == node->children.end()) child = node->children.insert(child, Node{std::string(key), nullptr, {}});
    node = &*child;
    begin = dot + 1;
  }
  node->children.push_back({std::string(name.substr(begin)), &option, {}});
}

void print(const Node& node, const std::string& indent, bool help, std::string& out) {
  for (const Node& child : node.children) {
    out += indent + print_text("recipe", child.key) + ":";
    if (child.option == nullptr) {
      out += "\n";
      print(child, indent + "  ", help, out);
      continue;
    }
    out += " " + print_value(*child.option);
    if (help && !child.option->help.empty()) out += "  # " + child.option->help;
    out += "\n";
  }
}

SettingList parsed(std::string_view text, const std::string& name) {
  require(text.size() <= kMostBytes, name, ": expected at most ", kMostBytes, " bytes, got ", text.size());
  check_lines(text, name);
  RecipeReader reader(name);
  try {
    // Without the comment, yaml-cpp 0.7 would accept a quotation that is still open at the end of the last line.
    std::istringstream in(std::string(text) + (text.ends_with('\n') ? "#" : "\n#"));
    YAML::Parser parser(in);
    require(parser.HandleNextDocument(reader), name, ": expected options (name: value), got none");
    parser.HandleNextDocument(reader);  // the reader refuses a second one
  } catch (const YAML::Exception& error) {
    // The parser's message may quote as much of the file as it took for a name.
    const std::string said = quoted(error.msg);
    fail(reader.at(error.mark), ": expected YAML, got: ", said.substr(1, said.size() - 2));
  }
  return std::move(reader.settings);
}

/// A recipe says what is asked for: whatever is wrong with it was asked wrongly.
template <class Read>
SettingList as_asked(Read&& read) {
  try {
    return read();
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
}

}  // namespace

SettingList parse_recipe(std::string_view text, const std::string& name) {
  return as_asked([&] { return parsed(text, name); });
}

SettingList read_recipe(const std::filesystem::path& path) {
  return as_asked([&] { return parsed(read_file(path, kMostBytes), path.native()); });
}

std::string print_recipe(std::span<const OptionInfo> options, bool help) {
  std::set<std::string_view> names;
  for (const OptionInfo& option : options) {
    require(names.insert(option.name).second, "recipe: ", option.name, ": given twice");
  }
  Node root;
  for (const OptionInfo& option : options) insert(root, option, names);
  std::string out;
  print(root, "", help, out);
  return out.empty() ? "{}\n" : out;
}

}  // namespace attend
