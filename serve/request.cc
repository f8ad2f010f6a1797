#include "serve/request.h"

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "attend/base/base64.h"
#include "attend/base/names.h"
#include "attend/data/utf8.h"

namespace attend::serve {
namespace {

using nlohmann::json;

constexpr int kDeepest = 4;            // an object of lists is all that there is
constexpr size_t kLongestName = 64;    // of a field, for finding the nearest one
constexpr size_t kPrefixTokens = 512;  // more than any answer that is continued by hand

[[noreturn]] void wrong(const std::string& message) { refuse(400, "bad_request", message); }

std::string shown(const json& value) {
  if (value.is_string()) return attend::quoted(value.get_ref<const std::string&>());
  if (value.is_array()) return "a list";
  if (value.is_object()) return "an object";
  return value.dump();
}

json parse_object(std::string_view body) {
  const auto shallow = [](int depth, json::parse_event_t, json&) {
    if (depth > kDeepest) wrong("body: expected an object of texts, numbers and lists, got a deeper one");
    return true;
  };
  json parsed;
  try {
    parsed = json::parse(body, shallow);
  } catch (const json::exception& error) {
    // The library's own words behind its number: "parse error at line 1, column 7: syntax error while …"
    std::string what = error.what();
    what = what.substr(std::min(what.find("] ") + 2, what.size()));
    wrong("body: expected JSON, got " + (body.empty() ? "nothing" : what.substr(0, 300)));
  }
  if (!parsed.is_object()) wrong("body: expected an object {\"text\": …}, got " + shown(parsed));
  return parsed;
}

std::string text_of(const std::string& name, const json& value) {
  if (!value.is_string()) wrong(name + ": expected a text, got " + shown(value));
  return value.get<std::string>();
}

bool switch_of(const std::string& name, const json& value) {
  if (!value.is_boolean()) wrong(name + ": expected true or false, got " + shown(value));
  return value.get<bool>();
}

/// As a setting's text; JSON has types, so "4" is not 4.
std::string value_of(const OptionInfo& option, const json& value) {
  const bool fits = option.type == "whole number"    ? value.is_number_integer()
                    : option.type == "number"        ? value.is_number()
                    : option.type == "true or false" ? value.is_boolean()
                                                     : value.is_string();
  const std::string kind = option.type == "true or false" ? option.type : "a " + option.type;
  if (!fits) wrong(option.name + ": expected " + kind + ", got " + shown(value));
  return value.is_string() ? value.get<std::string>() : value.dump();
}

int64_t characters(std::string_view text) {
  return std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

void check_length(const std::string& name, std::string_view text, const Limits& limits) {
  if (characters(text) > limits.text_characters) {
    refuse(413, "too_large", name, ": expected at most ", limits.text_characters, " characters, got ", characters(text),
           "; send it in parts");
  }
}

void check_text(const std::string& name, std::string_view text, const Limits& limits) {
  if (data::split_words(text).empty()) wrong(name + ": expected a text with at least one word, got an empty one");
  check_length(name, text, limits);
}

std::vector<std::string> texts_of(const std::string& list, const json& value, const Limits& limits) {
  if (!value.is_array() || value.empty()) {
    wrong(list + ": expected a list of at least one text, got " + (value.is_array() ? "an empty one" : shown(value)));
  }
  if (static_cast<int64_t>(value.size()) > limits.texts) {
    refuse(413, "too_large", list, ": expected at most ", limits.texts, ", got ", value.size(),
           "; send them in several requests");
  }
  std::vector<std::string> texts;
  for (const json& one : value) {
    const std::string name = list + "[" + std::to_string(texts.size()) + "]";
    texts.push_back(text_of(name, one));
    check_text(name, texts.back(), limits);
  }
  return texts;
}

/// A text, or a list of them.
std::vector<std::string> one_or_more(const std::string& name, const json& value, const Limits& limits) {
  if (value.is_array()) return texts_of(name, value, limits);
  std::vector<std::string> one{text_of(name, value)};
  check_text(name, one[0], limits);
  return one;
}

/// The names of what tasks of several inputs read; and whether one comes before the last, so that it may be long.
std::map<std::string, bool> input_names() {
  std::map<std::string, bool> names;
  for (const tasks::TaskRow& row : tasks::tasks()) {
    for (size_t i = 0; row.inputs.size() > 1 && i < row.inputs.size(); ++i) {
      names[std::string(row.inputs[i].name)] |= i + 1 < row.inputs.size();
    }
  }
  return names;
}

/// Bytes of base64, with or without "data:image/png;base64," before it, as pages have it. `files`: "PNG or JPEG".
std::string file_of(const std::string& field, const std::string& files, const json& value) {
  const std::string wanted = field + ": expected a " + files + " file in base64, got ";
  if (!value.is_string()) wrong(wanted + shown(value));
  std::string_view text = value.get_ref<const std::string&>();
  if (text.starts_with("data:")) {
    const size_t comma = text.find(',');
    if (comma == text.npos || !text.substr(0, comma).ends_with(";base64")) {
      wrong(field + ": expected a data address in base64, got another");
    }
    text.remove_prefix(comma + 1);
  }
  if (text.empty()) wrong(wanted + "an empty one");
  return from_base64(text, field);
}

std::vector<int32_t> tokens_of(const json& value) {
  std::vector<int32_t> tokens;
  if (!value.is_array()) wrong("prefix_tokens: expected a list of token numbers, got " + shown(value));
  if (value.size() > kPrefixTokens) {
    refuse(413, "too_large", "prefix_tokens: expected at most ", kPrefixTokens, ", got ", value.size());
  }
  for (const json& one : value) {
    // A number above int64 reads as unsigned: asked first, it does not wrap around.
    const bool fits = one.is_number_integer() && (!one.is_number_unsigned() || one.get<uint64_t>() <= INT32_MAX) &&
                      one.get<int64_t>() >= 0 && one.get<int64_t>() <= INT32_MAX;
    if (!fits) wrong("prefix_tokens: expected token numbers from 0, got " + shown(one));
    tokens.push_back(static_cast<int32_t>(one.get<int64_t>()));
  }
  return tokens;
}

/// Less time than the server gives anybody.
double seconds_of(const json& value, const Limits& limits) {
  if (!value.is_number()) wrong("seconds: expected a number, got " + shown(value));
  const double seconds = value.get<double>();
  if (!(seconds > 0)) wrong("seconds: expected more than 0, got " + shown(value));
  if (seconds > limits.seconds) {
    refuse(400, "over_limit", "seconds: expected at most ", limits.seconds, " here, got ", shown(value));
  }
  return seconds;
}

/// The fields that a body may have: names with what is done with their value.
class Fields {
 public:
  using Take = std::function<void(const json& value)>;

  Fields& field(const std::string& name, Take take) {
    takes_.emplace(name, std::move(take));
    return *this;
  }
  /// One for each option of the struct, collected as settings.
  template <HasFields Options>
  Fields& options(const Options& options, SettingList& into) {
    for (const OptionInfo& option : describe_options(options)) {
      field(option.name, [option, &into](const json& value) {
        into.push_back({option.name, value_of(option, value), ""});
        check_value(option, into.back());
      });
    }
    return *this;
  }
  void read(const json& object) const {
    for (const auto& [name, value] : object.items()) {
      const auto found = takes_.find(name);
      if (found == takes_.end()) refuse_field(name);
      if (!value.is_null()) found->second(value);
    }
  }

 private:
  [[noreturn]] void refuse_field(const std::string& name) const {
    std::vector<std::string_view> known;
    for (const auto& [one, take] : takes_) known.push_back(one);
    refuse_name("body: unknown field", known, std::string_view(name).substr(0, kLongestName));
  }

  std::map<std::string, Take> takes_;
};

Fields common_fields(Asked& asked, const Limits& limits) {
  Fields fields;
  fields.field("model", [&](const json& v) { asked.model = text_of("model", v); })
      .field("image", [&](const json& v) { asked.image = file_of("image", "PNG or JPEG", v); })
      .field("sound", [&](const json& v) { asked.sound = file_of("sound", "WAV, FLAC or OGG", v); })
      .field("prefix",
             [&](const json& v) {
               asked.prefix = text_of("prefix", v);
               check_length("prefix", asked.prefix, limits);
             })
      .field("prefix_tokens", [&](const json& v) { asked.prefix_tokens = tokens_of(v); })
      .field("seconds", [&](const json& v) { asked.seconds = seconds_of(v, limits); })
      .options(decode::SearchOptions{}, asked.search);
  for (const auto& [name, is_document] : input_names()) {
    Limits own = limits;
    if (is_document) own.text_characters = limits.document_characters;
    fields.field(name,
                 [&asked, input = name, own](const json& v) { asked.inputs[input] = one_or_more(input, v, own); });
  }
  return fields;
}

void check_prefix(const Asked& asked) {
  if (!asked.prefix.empty() && !asked.prefix_tokens.empty()) wrong("expected prefix or prefix_tokens, got both");
}

/// One of them, and what it is called.
void check_one(std::initializer_list<std::pair<const char*, bool>> given) {
  std::string names;
  for (const auto& [name, there] : given) names += there ? (names.empty() ? "" : " and ") + std::string(name) : "";
  if (names.empty()) wrong("body: expected \"text\", \"image\" or \"sound\", got none");
  if (names.find(' ') != names.npos) wrong("body: expected one text, image or sound, got " + names);
}

/// How many examples the inputs make: as many as the longest list has; the others have as many, or one for all.
size_t count_of(const Asked& asked) {
  size_t count = 1;
  std::string longest;
  for (const auto& [name, texts] : asked.inputs) {
    if (texts.size() > count) count = texts.size(), longest = name;
  }
  for (const auto& [name, texts] : asked.inputs) {
    if (texts.size() == 1 || texts.size() == count) continue;
    wrong(name + ": expected one, or one for each of the " + std::to_string(count) + " in " + longest + ", got " +
          std::to_string(texts.size()));
  }
  return count;
}

void at_most(const char* name, int64_t value, int64_t limit) {
  if (value > limit) refuse(400, "over_limit", name, ": expected at most ", limit, " here, got ", value);
}

}  // namespace

std::string error_json(std::string_view code, std::string_view message) {
  const nlohmann::ordered_json error = {{"error", {{"code", code}, {"message", message}}}};
  return error.dump(-1, ' ', false, json::error_handler_t::replace);
}

RunRequest parse_run(std::string_view body, const Limits& limits) {
  return refusing([&] {
    RunRequest run;
    std::optional<std::string> text;
    Fields fields = common_fields(run, limits);
    fields.field("text", [&](const json& v) { text = text_of("text", v); })
        .field("texts", [&](const json& v) { run.texts = texts_of("texts", v, limits); })
        .field("stream", [&](const json& v) { run.stream = switch_of("stream", v); })
        .read(parse_object(body));
    check_prefix(run);
    check_one({{"text", text.has_value()},
               {"texts", !run.texts.empty()},
               {"image", !run.image.empty()},
               {"sound", !run.sound.empty()},
               {run.inputs.empty() ? "" : run.inputs.begin()->first.c_str(), !run.inputs.empty()}});
    if (text) check_text("text", *text, limits), run.texts = {*text};
    const bool several = std::max(run.texts.size(), count_of(run)) > 1;
    if (several && run.stream) wrong("stream: expected one text, got several");
    if (several && !run.prefix_tokens.empty()) wrong("prefix_tokens: expected one text, got several");
    return run;
  });
}

ExplainRequest parse_explain(std::string_view body, const Limits& limits) {
  return refusing([&] {
    ExplainRequest asked;
    asked.options.weights = false;
    SettingList options;
    bool named = false;
    Fields fields = common_fields(asked, limits);
    fields.field("text", [&](const json& v) { asked.texts = {text_of("text", v)}, named = true; })
        .field("target",
               [&](const json& v) {
                 asked.options.target = text_of("target", v);
                 check_text("target", *asked.options.target, limits);
               })
        .field("weights",
               [&](const json& v) {
                 asked.options.weights = switch_of("weights", v);
                 asked.named.emplace_back("weights");
               })
        .options(asked.options, options)
        .read(parse_object(body));
    set_options(asked.options, options);
    for (const Setting& one : options) asked.named.push_back(one.name);
    check_prefix(asked);
    check_one({{"text", named},
               {"image", !asked.image.empty()},
               {"sound", !asked.sound.empty()},
               {asked.inputs.empty() ? "" : asked.inputs.begin()->first.c_str(), !asked.inputs.empty()}});
    if (count_of(asked) > 1) wrong("body: expected one example to explain, got several");
    if (named) check_text("text", asked.texts[0], limits);
    return asked;
  });
}

decode::SearchOptions search_of(decode::SearchOptions own, const SettingList& asked, const Limits& limits) {
  // A model's own way is no mistake of who asks.
  own.beam = std::min(own.beam, limits.beam), own.n_best = std::min(own.n_best, limits.n_best);
  own.max_length = std::min(own.max_length, limits.answer_tokens);
  own.min_length = std::min(own.min_length, limits.answer_tokens);
  return refusing([&] {
    set_options(own, asked);
    if (own.sample && own.beam > 1 && find_setting(asked, "beam") != nullptr) {
      wrong("expected sample or beam, got both: drawn answers keep no beam");
    }
    at_most("beam", own.beam, limits.beam);
    at_most("n_best", own.n_best, limits.n_best);
    at_most("max_length", own.max_length, limits.answer_tokens);
    at_most("min_length", own.min_length, limits.answer_tokens);
    own.longest = limits.answer_tokens;
    if (!find_setting(asked, "beam")) decode::widen(own);
    return own;
  });
}

}  // namespace attend::serve
