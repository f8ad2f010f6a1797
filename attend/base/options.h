// Options: each struct of options lists its fields once, in `fields(visit)`; whoever sets, prints or explains options is
// a visitor of that list. A field may itself be such a struct: its names then begin with the outer one's ("attention.score").
#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "attend/base/error.h"
#include "attend/base/names.h"

namespace attend {

/// Name of an option → its value, both as text.
using Settings = std::map<std::string, std::string>;

namespace detail {
struct AnyVisitor {
  template <class Field>
  void operator()(const char*, Field&, const char*) const {}
};

void parse_option(const std::string& name, const std::string& text, std::string& field);
void parse_option(const std::string& name, const std::string& text, int64_t& field);
void parse_option(const std::string& name, const std::string& text, double& field);
void parse_option(const std::string& name, const std::string& text, float& field);
void parse_option(const std::string& name, const std::string& text, bool& field);

std::string print_option(const std::string& field);
std::string print_option(int64_t field);
std::string print_option(double field);
std::string print_option(float field);
std::string print_option(bool field);
}  // namespace detail

template <class Options>
concept HasFields = requires(Options& options, detail::AnyVisitor visit) { options.fields(visit); };

/// Calls visit(full name, field, help) for every field, those of nested structs too.
template <HasFields Options, class Visit>
void visit_fields(Options& options, Visit&& visit, const std::string& prefix = "") {
  options.fields([&]<class Field>(const char* name, Field& field, const char* help) {
    if constexpr (HasFields<Field>) {
      visit_fields(field, visit, prefix + name + ".");
    } else {
      visit(prefix + name, field, help);
    }
  });
}

/// Sets the fields that `settings` names; an unknown name is refused with the nearest, a value that is none with what was
/// wanted.
template <HasFields Options>
void set_options(std::string_view where, Options& options, const Settings& settings) {
  std::vector<std::string> names;
  visit_fields(options, [&](const std::string& name, auto& field, const char*) {
    names.push_back(name);
    if (const auto found = settings.find(name); found != settings.end()) {
      detail::parse_option(name, found->second, field);
    }
  });
  const std::vector<std::string_view> known(names.begin(), names.end());
  for (const auto& [name, value] : settings) {
    bool found = false;
    for (const std::string_view one : known) found |= one == name;
    if (!found) refuse_name(where, known, name);
  }
}

/// All fields as text: set_options of these gives the same options.
template <HasFields Options>
Settings settings_of(Options options) {
  Settings settings;
  visit_fields(options, [&](const std::string& name, auto& field, const char*) {
    settings[name] = detail::print_option(field);
  });
  return settings;
}

}  // namespace attend
