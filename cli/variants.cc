#include "cli/variants.h"

#include <algorithm>
#include <set>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/tasks/config.h"
#include "attend/tasks/layers.h"

namespace attend::cli {
namespace {

constexpr const char* kModelName = "model.name";

std::string trimmed(const std::string& text) {
  constexpr const char* kBlank = " \t\n\r";
  const size_t first = text.find_first_not_of(kBlank);
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

struct Vary {
  std::string key;
  std::vector<std::string> values;
};

Vary parse_vary(const std::string& text) {
  const size_t equal = text.find('=');
  require_usage(equal != std::string::npos && equal > 0,
          "--vary: expected KEY=A,B, such as attention.score=dot,additive, got ", quoted(text));
  Vary vary{trimmed(text.substr(0, equal)), {}};
  for (size_t begin = equal + 1; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    vary.values.push_back(trimmed(text.substr(begin, end - begin)));
    require_usage(!vary.values.back().empty(), "--vary ", vary.key, ": expected values with commas between them, got ",
            quoted(text.substr(equal + 1)));
    begin = end + 1;
  }
  return vary;
}

/// The next word of a variant, which may have quotes in it: key="a b".
std::string next_word(const std::string& text, size_t& at) {
  std::string word;
  bool in_quotes = false;
  for (; at < text.size() && (in_quotes || (text[at] != ' ' && text[at] != '\t')); ++at) {
    if (text[at] == '"') {
      in_quotes = !in_quotes;
    } else {
      word += text[at];
    }
  }
  require_usage(!in_quotes, "--variant: expected a second quotation mark, got ", quoted(text));
  return word;
}

Variant parse_variant(const std::string& text) {
  const size_t colon = std::min(text.find(':'), text.size());
  Variant variant{trimmed(text.substr(0, colon)), {}};
  require_usage(!variant.name.empty() && variant.name.find('=') == std::string::npos,
          "--variant: expected \"NAME: KEY=VALUE KEY=VALUE\", got ", quoted(text));
  const std::string where = "--variant " + attend::quoted(variant.name);
  for (size_t at = colon + 1; at < text.size(); ++at) {
    const std::string word = next_word(text, at);
    if (word.empty()) continue;
    const size_t equal = word.find('=');
    require_usage(equal != std::string::npos && equal > 0, where, ": expected KEY=VALUE, got ", quoted(word));
    const std::string key = word.substr(0, equal);
    variant.settings.push_back({key, word.substr(equal + 1), where + ": " + key});
  }
  return variant;
}

/// A value that says nothing by itself is called by its option: "hidden 256".
std::string value_name(const std::string& key, const std::string& value) {
  const bool number = value.find_first_not_of("0123456789.eE+-") == std::string::npos;
  const std::string last = key.substr(key.rfind('.') + 1);
  return number || value == "true" || value == "false" || value == "none" ? last + " " + value : value;
}

void refuse_doubles(const std::vector<Variant>& variants) {
  std::set<std::string> names;
  for (const Variant& variant : variants) {
    require_usage(names.insert(variant.name).second, "expected variants of different names, got two called ",
            quoted(variant.name));
  }
}

/// The option that is meant: by its whole name, or without "model.".
std::string whole_name(const std::vector<OptionInfo>& options, const std::string& key) {
  for (const std::string& name : {key, "model." + key}) {
    if (std::ranges::find(options, name, &OptionInfo::name) != options.end()) return name;
  }
  return key;
}

}  // namespace

std::vector<Variant> make_variants(std::span<const std::string> vary, std::span<const std::string> variant) {
  std::vector<Variant> all;
  if (!vary.empty() || variant.empty()) all.push_back({});
  for (const std::string& text : vary) {
    const Vary one = parse_vary(text);
    std::vector<Variant> longer;
    for (const Variant& shorter : all) {
      for (const std::string& value : one.values) {
        Variant next = shorter;
        next.name += (next.name.empty() ? "" : ", ") + value_name(one.key, value);
        next.settings.push_back({one.key, value, "--vary " + one.key});
        longer.push_back(std::move(next));
      }
    }
    all = std::move(longer);
  }
  for (const std::string& text : variant) all.push_back(parse_variant(text));
  refuse_doubles(all);
  return all;
}

SettingList settings_over(const SettingList& recipe, const Variant& variant) {
  SettingList settings = recipe, own = variant.settings;
  const std::string model = tasks::TaskConfig(recipe).model.name;
  for (const Setting& s : own) {
    if ((s.name != kModelName && s.name != "name") || s.value == model) continue;
    (void)take_prefix(settings, "model.");
    settings.push_back({kModelName, s.value, s.where});
  }
  const std::vector<OptionInfo> options = tasks::TaskConfig(settings).all();
  for (Setting& s : own) s.name = whole_name(options, s.name);
  refuse_unknown(own, options);
  std::erase_if(own, [](const Setting& s) { return s.name == kModelName; });
  return tasks::laid_over(std::move(settings), own).settings;
}

std::string slug(const std::string& name) {
  std::string text;
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    const bool capital = c >= 'A' && c <= 'Z';
    const bool point =
        c == '.' && !text.empty() && text.back() != '-';  // within a number; no name is hidden, none goes up
    if (letter || capital || point) {
      text += capital ? static_cast<char>(c - 'A' + 'a') : c;
    } else if (!text.empty() && text.back() != '-') {
      text += '-';
    }
  }
  while (text.ends_with('-') || text.ends_with('.')) text.pop_back();
  return text.empty() ? "model" : text;
}

}  // namespace attend::cli
