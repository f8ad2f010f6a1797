#include "attend/data/shallow_json.h"

#include <nlohmann/json.hpp>

namespace attend::data {

nlohmann::json shallow_json(std::string_view text, int deepest) {
  using nlohmann::json;
  bool too_deep = false;
  const auto shallow = [&](int depth, json::parse_event_t event, json&) {
    const bool begins = event == json::parse_event_t::object_start || event == json::parse_event_t::array_start;
    too_deep = too_deep || (begins && depth >= deepest);
    return !too_deep;
  };
  json value = json::parse(text, shallow, false);
  return too_deep ? json(json::value_t::discarded) : value;
}

}  // namespace attend::data
