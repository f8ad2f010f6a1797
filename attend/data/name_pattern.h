// What the name of a file says: "7_jackson_32" by the pattern "{label}_{group}_{number}" is the label 7, the group jackson
// and the number 32.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attend::data {

/// The parts that a name has; "" and −1 for those that the pattern does not ask for.
struct NameParts {
  std::string label, group;
  int64_t number = -1;
};

/// {label}, {group}, {number} (of digits) and {} (anything), with text between them. Each part reaches to where the text
/// behind it first stands, the last one to the end; none is empty.
class NamePattern {
 public:
  /// Throws OptionError ("pattern") where it is none: "{speaker}", "{label}{group}", nothing in braces.
  explicit NamePattern(std::string_view pattern);

  /// Nothing if the name is not of that kind.
  std::optional<NameParts> match(std::string_view name) const;
  bool has_label() const { return has("label"); }
  bool has_group() const { return has("group"); }
  const std::string& text() const { return text_; }

 private:
  struct Part {
    std::string name, behind;  // the text that ends it
  };
  bool has(std::string_view name) const;

  std::string text_, front_;
  std::vector<Part> parts_;
};

}  // namespace attend::data
