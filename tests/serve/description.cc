#include "tests/serve/description.h"

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <sstream>

namespace attend::test {
namespace {

using nlohmann::json;

json json_of_yaml(const YAML::Node& node) {
  if (node.IsScalar()) return node.Scalar();
  json all = node.IsSequence() ? json::array() : json::object();
  for (const auto& one : node) {
    if (node.IsSequence()) {
      all.push_back(json_of_yaml(one));
    } else {
      all[one.first.Scalar()] = json_of_yaml(one.second);
    }
  }
  return all;
}

/// What "#/components/…" stands for; all else is itself.
const json& resolved(const json& node) {
  if (!node.contains("$ref")) return node;
  return description().at(json::json_pointer(node["$ref"].get<std::string>().substr(1)));
}

std::vector<std::string> parts_of_path(const std::string& path) {
  std::vector<std::string> parts;
  std::istringstream in(path.substr(0, path.find('?')));
  for (std::string part; std::getline(in, part, '/');) parts.push_back(part);
  return parts;
}

bool same_path(const std::string& pattern, const std::string& path) {
  const auto want = parts_of_path(pattern), have = parts_of_path(path);
  const auto fits = [](const std::string& a, const std::string& b) { return a == b || a.starts_with('{'); };
  return std::ranges::equal(want, have, fits);
}

json operation_of(const std::string& method, const std::string& path) {
  for (const auto& [pattern, operations] : description()["paths"].items()) {
    if (same_path(pattern, path) && operations.contains(method)) return operations[method];
  }
  return {};
}

bool has_type(const json& value, const std::string& type) {
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_boolean();
  if (type == "string") return value.is_string();
  return type == "array" ? value.is_array() : value.is_object();
}

void expect_valid(const json& node, const json& value, const std::string& where) {
  const json& schema = resolved(node);
  if (value.is_null()) {
    EXPECT_EQ(schema.value("nullable", "false"), "true") << where << " is null";
    return;
  }
  EXPECT_TRUE(has_type(value, schema.value("type", "object"))) << where << ": " << value;
  if (schema.contains("enum")) {
    EXPECT_NE(std::ranges::find(schema["enum"], value), schema["enum"].end()) << where << ": " << value;
  }
  for (const json& name : schema.value("required", json::array())) {
    EXPECT_TRUE(value.contains(name.get<std::string>())) << where << " has no " << name;
  }
  for (size_t i = 0; value.is_array() && i < value.size(); ++i) {
    expect_valid(schema.at("items"), value[i], where + "[" + std::to_string(i) + "]");
  }
  if (!value.is_object()) return;
  const json properties = schema.value("properties", json::object());
  for (const auto& [name, inner] : value.items()) {
    if (properties.contains(name)) {
      expect_valid(properties[name], inner, where + "." + name);
    } else if (const auto others = schema.find("additionalProperties"); others != schema.end() && others->is_object()) {
      expect_valid(*others, inner, where + "." + name);
    } else {
      EXPECT_EQ(schema.value("additionalProperties", "false"), "true") << where << " has " << name;
    }
  }
}

}  // namespace

const json& description() {
  static const json all = json_of_yaml(YAML::LoadFile(ATTEND_SOURCE_DIR "/serve/openapi.yaml"));
  return all;
}

std::set<std::string> described_statuses(const std::string& method, const std::string& path) {
  std::set<std::string> all;
  const json operation = operation_of(method, path);
  if (operation.is_null()) return all;
  for (const auto& [status, response] : operation["responses"].items()) all.insert(status);
  return all;
}

json described_properties(const std::string& schema) {
  const json& node = description().at(json::json_pointer("/components/schemas/" + schema));
  json all = node.value("properties", json::object());
  for (const json& part : node.value("allOf", json::array())) {
    all.update(resolved(part).at("properties"));
  }
  return all;
}

void expect_described(const std::string& method, const std::string& path, const httplib::Result& result) {
  const json operation = operation_of(method, path);
  if (!result || operation.is_null()) return;
  const std::string status = std::to_string(result->status), type = result->get_header_value("Content-Type");
  const std::string where = method + " " + path + " → " + status;
  ASSERT_TRUE(operation["responses"].contains(status)) << where << ": " << result->body;
  const json content = resolved(operation["responses"][status])["content"];
  ASSERT_TRUE(content.contains(type)) << where << ": " << type;
  if (type.find("json") == type.npos) return;
  std::istringstream lines(result->body);
  for (std::string line; std::getline(lines, line);) {
    expect_valid(content[type].at("schema"), json::parse(line, nullptr, false), where);
  }
}

}  // namespace attend::test
