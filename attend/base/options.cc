#include "attend/base/options.h"

#include <charconv>

namespace attend::detail {
namespace {

template <class Number>
void parse_number(const char* kind, const std::string& name, const std::string& text, Number& field) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  require(error == std::errc() && end == text.data() + text.size() && !text.empty(), name, ": ", kind,
          " is wanted, got \"", text, "\"");
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
  require(text == "true" || text == "false", name, ": true or false is wanted, got \"", text, "\"");
  field = text == "true";
}

std::string print_option(const std::string& field) { return field; }
std::string print_option(int64_t field) { return print_number(field); }
std::string print_option(double field) { return print_number(field); }
std::string print_option(float field) { return print_number(field); }
std::string print_option(bool field) { return field ? "true" : "false"; }

}  // namespace attend::detail
