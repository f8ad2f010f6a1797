#include "attend/base/options.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <utility>

namespace attend {
namespace detail {
namespace {

template <class Number>
void parse_number(const char* kind, const std::string& name, const std::string& text, Number& field) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  require_usage(error == std::errc() && end == text.data() + text.size() && !text.empty(), name, ": expected ", kind,
                ", got ", quoted(text));
  field = value;
}

template <class Number>
std::string print_number(Number value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof(text), value).ptr};
}

}  // namespace

void parse_option(const std::string&, const std::string& text, std::string& field) { field = text; }
void parse_option(const std::string& name, const std::string& text, int64_t& field) {
  parse_number("a whole number", name, text, field);
}
void parse_option(const std::string& name, const std::string& text, double& field) {
  parse_number("a number", name, text, field);
}
void parse_option(const std::string& name, const std::string& text, float& field) {
  parse_number("a number", name, text, field);
}
void parse_option(const std::string& name, const std::string& text, bool& field) {
  require_usage(text == "true" || text == "false", name, ": expected true or false, got ", quoted(text));
  field = text == "true";
}

void parse_option(const std::string& name, const std::string& text, std::vector<std::string>& field) {
  std::vector<std::string> entries;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    require_usage(end > begin, name, ": expected entries that are not empty, got ", quoted(text));
    entries.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  field = std::move(entries);
}

std::string print_option(const std::string& field) { return field; }
std::string print_option(int64_t field) { return print_number(field); }
std::string print_option(double field) { return print_number(field); }
std::string print_option(float field) { return print_number(field); }
std::string print_option(bool field) { return field ? "true" : "false"; }
std::string print_option(const std::vector<std::string>& field) {
  std::string text;
  for (const std::string& entry : field) {
    require(!entry.empty() && entry.find('\n') == std::string::npos,
            "list: expected entries of one line, none of them empty, got ", quoted(entry));
    text.append(text.empty() ? "" : "\n").append(entry);
  }
  return text;
}

std::string place_of(const Setting& setting) {
  if (setting.where.starts_with("--")) return setting.where;
  return setting.where.empty() ? setting.name : setting.where + ": " + setting.name;
}

void require_one(const Setting& setting) {
  require_usage(!setting.list, place_of(setting), ": expected one value, got a list");
}

}  // namespace detail

namespace {

template <class Field>
void check_as(const Setting& setting, const Bounds& bounds) {
  Field scratch{};
  detail::parse_setting(setting, scratch, bounds);
}

struct TypeRow {
  std::string_view name;
  void (*check)(const Setting&, const Bounds&);
};
constexpr TypeRow kTypes[] = {
    {"text", check_as<std::string>},   {"whole number", check_as<int64_t>},          {"number", check_as<double>},
    {"true or false", check_as<bool>}, {"list", check_as<std::vector<std::string>>},
};

/// The distance to the name, or to a part after one of its dots; none to those that begin with the name and a dot.
size_t distance(const OptionInfo& option, std::string_view name) {
  if (option.name.starts_with(std::string(name) + ".")) return 0;
  size_t least = edit_distance(name, option.name);
  for (size_t dot = option.name.find('.'); dot != std::string::npos; dot = option.name.find('.', dot + 1)) {
    least = std::min(least, edit_distance(name, option.name.substr(dot + 1)));
  }
  return least;
}

std::string_view without(std::string_view name, std::string_view prefix) {
  require(name.starts_with(prefix), name, ": expected a name that begins with ", quoted(prefix), "");
  return name.substr(prefix.size());
}

}  // namespace

const OptionInfo* nearest_option(std::span<const OptionInfo> options, std::string_view name) {
  const OptionInfo* nearest = nullptr;
  size_t least = misspelt_by(name.size()) + 1;
  for (const OptionInfo& option : options) {
    const size_t far = distance(option, name);
    if (far < least && !option.bounds.destroys) nearest = &option, least = far;
  }
  return nearest;
}

void refuse_unknown(const SettingList& settings, std::span<const OptionInfo> options) {
  for (const Setting& setting : settings) {
    const auto named = [&](const OptionInfo& option) { return option.name == setting.name; };
    if (std::any_of(options.begin(), options.end(), named)) continue;
    const std::string where = setting.where.empty() ? "" : setting.where + ": ";
    const OptionInfo* nearest = nearest_option(options, setting.name);
    require_usage(nearest != nullptr, where, "there is no option ", quoted(setting.name));
    fail_usage(where, "there is no option ", quoted(setting.name), "; the nearest is \"", nearest->name, "\"");
  }
}

void check_value(const OptionInfo& option, const Setting& setting) {
  row_named("type of option", kTypes, option.type).check(setting, option.bounds);
}

void require_files(std::span<const OptionInfo> options, const SettingList& given) {
  namespace fs = std::filesystem;
  for (const OptionInfo& option : options) {
    if (!option.bounds.reads && !option.bounds.writes) continue;
    std::vector<std::string> names;
    detail::parse_option(option.name, option.value, names);
    const Setting* setting = find_setting(given, option.name);
    const std::string place = setting ? detail::place_of(*setting) : option.name;
    for (const std::string& name : names) {
      std::error_code problem;
      const fs::path folder = fs::path(name).parent_path();
      if (option.bounds.reads && name != "-" && !fs::exists(name, problem)) {
        fail_usage(place, ": there is no file ", quoted(name));
      }
      if (option.bounds.writes && !folder.empty() && !fs::is_directory(folder, problem)) {
        fail_usage(place, ": there is no folder ", quoted(folder.string()), " to write into");
      }
    }
  }
}

SettingList take_prefix(SettingList& settings, std::string_view prefix) {
  const auto other = [&](const Setting& setting) { return !setting.name.starts_with(prefix); };
  const auto first = std::stable_partition(settings.begin(), settings.end(), other);
  SettingList taken(std::make_move_iterator(first), std::make_move_iterator(settings.end()));
  settings.erase(first, settings.end());
  return taken;
}

const Setting* find_setting(const SettingList& settings, std::string_view name) {
  const auto named = [&](const Setting& setting) { return setting.name == name; };
  const auto last = std::find_if(settings.rbegin(), settings.rend(), named);
  return last == settings.rend() ? nullptr : &*last;
}

Settings settings_of(const SettingList& settings, std::string_view prefix) {
  Settings all;
  for (const Setting& setting : settings) all[std::string(without(setting.name, prefix))] = setting.value;
  return all;
}

Settings settings_of(std::span<const OptionInfo> options, std::string_view prefix) {
  Settings all;
  for (const OptionInfo& option : options) all[std::string(without(option.name, prefix))] = option.value;
  return all;
}

}  // namespace attend
