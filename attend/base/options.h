// Options: each struct of options lists its fields once, in `fields(visit)`; setting, printing and explaining options
// all visit that list. A field may itself be such a struct; the outer name is then a prefix ("attention.score"). Behind
// its help, an option may have bounds: visit("heads", heads, "number of heads", bounds::at_least(1)).
#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "attend/base/bounds.h"
#include "attend/base/error.h"
#include "attend/base/names.h"

namespace attend {

/// Name of an option → its value, both as text.
using Settings = std::map<std::string, std::string>;

/// One value for one option, and where it was given ("recipes/x.yml:12", "--model.hidden"), which begins any message
/// about it.
struct Setting {
  std::string name, value, where;
  bool list = false;  ///< given as a list: `value` has one entry per line
};
/// In the order given; if an option is set twice, the later value counts.
using SettingList = std::vector<Setting>;

/// An option as flags, help, recipes and documents show it.
struct OptionInfo {
  std::string name, value, help;
  std::string type;    ///< "whole number", "number", "true or false", "text" or "list" (of texts)
  Bounds bounds = {};  ///< which values it may have
};

namespace detail {
struct AnyVisitor {
  template <class Field>
  void operator()(const char*, Field&, const char*, const Bounds& = {}) const {}
};

void parse_option(const std::string& name, const std::string& text, std::string& field);
void parse_option(const std::string& name, const std::string& text, int64_t& field);
void parse_option(const std::string& name, const std::string& text, double& field);
void parse_option(const std::string& name, const std::string& text, float& field);
void parse_option(const std::string& name, const std::string& text, bool& field);
void parse_option(const std::string& name, const std::string& text, std::vector<std::string>& field);

std::string print_option(const std::string& field);
std::string print_option(int64_t field);
std::string print_option(double field);
std::string print_option(float field);
std::string print_option(bool field);
/// One entry per line; entries are not empty and contain no line breaks.
std::string print_option(const std::vector<std::string>& field);

inline const char* option_type(const std::string&) { return "text"; }
inline const char* option_type(int64_t) { return "whole number"; }
inline const char* option_type(double) { return "number"; }
inline const char* option_type(float) { return "number"; }
inline const char* option_type(bool) { return "true or false"; }
inline const char* option_type(const std::vector<std::string>&) { return "list"; }

/// How a message about this setting begins; a flag already contains the name.
std::string place_of(const Setting& setting);
void require_one(const Setting& setting);

template <class Field>
void parse_setting(const Setting& setting, Field& field, const Bounds& bounds) {
  if constexpr (!std::is_same_v<Field, std::vector<std::string>>) require_one(setting);
  Field value{};
  parse_option(place_of(setting), setting.value, value);
  const std::string wrong = objection(value, bounds);
  if (!wrong.empty()) fail_usage(place_of(setting), ": ", wrong);
  field = std::move(value);
}
}  // namespace detail

template <class Options>
concept HasFields = requires(Options& options, detail::AnyVisitor visit) {
  options.fields(visit);
};

/// Calls visit(full name, field, help, bounds) for every field, those of nested structs too.
template <HasFields Options, class Visit>
void visit_fields(Options& options, Visit&& visit, const std::string& prefix = "") {
  options.fields([&]<class Field>(const char* name, Field& field, const char* help, const Bounds& bounds = {}) {
    if constexpr (HasFields<Field>) {
      visit_fields(field, visit, prefix + name + ".");
    } else {
      visit(prefix + name, field, help, bounds);
    }
  });
}

/// Throws OptionError for the first value that is not within its bounds: for options that were set by a program.
template <HasFields Options>
void check_bounds(Options options, const std::string& prefix = "") {
  const auto check = [](const std::string& name, const auto& field, const char*, const Bounds& bounds) {
    const std::string wrong = objection(field, bounds);
    if (!wrong.empty()) throw OptionError(name, wrong);
  };
  visit_fields(options, check, prefix);
}

/// Sets the fields that `settings` names. Rejects an unknown name, suggesting the nearest, and an invalid value, saying
/// what was expected.
template <HasFields Options>
void set_options(std::string_view where, Options& options, const Settings& settings) {
  std::vector<std::string> names;
  visit_fields(options, [&](const std::string& name, auto& field, const char*, const Bounds& bounds) {
    names.push_back(name);
    const auto found = settings.find(name);
    if (found == settings.end()) return;
    detail::parse_option(name, found->second, field);
    const std::string wrong = objection(field, bounds);
    if (!wrong.empty()) throw OptionError(name, wrong);
  });
  const std::vector<std::string_view> known(names.begin(), names.end());
  for (const auto& [name, value] : settings) {
    bool found = false;
    for (const std::string_view one : known) found |= one == name;
    if (!found) refuse_name(where, known, name);
  }
}

/// Every option with its value, each name prefixed with `prefix` ("model.").
template <HasFields Options>
std::vector<OptionInfo> describe_options(Options options, const std::string& prefix = "") {
  std::vector<OptionInfo> all;
  const auto add = [&](const std::string& name, auto& field, const char* help, const Bounds& bounds) {
    all.push_back({name, detail::print_option(field), help, detail::option_type(field), bounds});
  };
  visit_fields(options, add, prefix);
  return all;
}

/// The option that was probably meant, judged by its full name or by the part after the last dot: it differs in few
/// letters, and is not one that destroys something. Null if there is none.
const OptionInfo* nearest_option(std::span<const OptionInfo> options, std::string_view name);

/// Throws UsageError if a setting names none of these options: `x.yml:12: there is no option "hiden"; …`.
void refuse_unknown(const SettingList& settings, std::span<const OptionInfo> options);
/// Throws UsageError if the setting's value is invalid for this option.
void check_value(const OptionInfo& option, const Setting& setting);
/// Throws UsageError for the first file that an option names and that does not exist although it is to be read
/// (`--source: there is no file "a.txt"`; "-" is standard input), or that is to be written where there is no folder.
void require_files(std::span<const OptionInfo> options, const SettingList& given);

/// Sets the fields that `settings` name, all of which begin with `prefix`. Rejects a setting that matches no field and
/// an invalid value: `recipes/x.yml:12: model.hidden: expected a whole number, got "abc"`.
template <HasFields Options>
void set_options(Options& options, const SettingList& settings, const std::string& prefix = "") {
  refuse_unknown(settings, describe_options(options, prefix));
  const auto set = [&](const std::string& name, auto& field, const char*, const Bounds& bounds) {
    for (const Setting& setting : settings) {
      if (setting.name == name) detail::parse_setting(setting, field, bounds);
    }
  };
  visit_fields(options, set, prefix);
}

/// Moves the settings whose name begins with `prefix` ("model.") out of `settings`. They keep their full names, as
/// set_options and describe_options take the prefix too.
SettingList take_prefix(SettingList& settings, std::string_view prefix);
/// The last value given for an option; null if it was not set.
const Setting* find_setting(const SettingList& settings, std::string_view name);

/// Calls `check`, and rethrows what it says about an option (with `prefix` before its name) with the place at which
/// that option was given; of one that was not given, with its name.
template <class Check>
void with_places(const SettingList& given, const std::string& prefix, Check&& check) {
  try {
    check();
  } catch (const OptionError& error) {
    const std::string name = prefix + error.option();
    const Setting* setting = find_setting(given, name);
    fail_usage(setting ? detail::place_of(*setting) : name, ": ", error.reason());
  }
}

/// With `prefix`, which every name begins with, removed.
Settings settings_of(const SettingList& settings, std::string_view prefix = "");
Settings settings_of(std::span<const OptionInfo> options, std::string_view prefix = "");

/// All fields as text; passing them to set_options restores the same options.
template <HasFields Options>
Settings settings_of(Options options) {
  Settings settings;
  visit_fields(options, [&](const std::string& name, auto& field, const char*, const Bounds&) {
    settings[name] = detail::print_option(field);
  });
  return settings;
}

}  // namespace attend
