// serve/openapi.yaml, and whether answers are as it says.
#pragma once

#include <httplib.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace attend::test {

/// The whole description; all its values are texts, as YAML has them.
const nlohmann::json& description();
/// The statuses that it lists for "get" or "post" of a path, which may have a name in place of "{name}"; none where it does not
/// have that path.
std::set<std::string> described_statuses(const std::string& method, const std::string& path);
/// The properties of a schema, with those of all that it consists of.
nlohmann::json described_properties(const std::string& schema);
/// Fails where an answer of a described path has a status that is not listed, a null that is not announced, or anything else
/// that its schema does not have.
void expect_described(const std::string& method, const std::string& path, const httplib::Result& result);

}  // namespace attend::test
