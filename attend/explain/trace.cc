#include "attend/explain/trace.h"

#include <algorithm>
#include <cerrno>

#include "attend/base/error.h"
#include "attend/base/replacement.h"
#include "attend/data/sentences.h"
#include "attend/data/utf8.h"
#include "attend/explain/trace_json-inl.h"
#include "attend/explain/trace_sound_json.h"
#include "attend/tensor/safetensors.h"

namespace attend::explain {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLargest = size_t{1} << 30;
constexpr const char* kFormat = "attend-trace/1";
constexpr const char* kFates[] = {"grown", "ended", "cut", "passed"};

Json range_json(const data::TextRange& range) { return Json::array({range.begin, range.end}); }

Json ranges_json(const std::vector<data::TextRange>& ranges) {
  Json list = Json::array();
  for (const data::TextRange& range : ranges) list.push_back(range_json(range));
  return list;
}

/// Where a tensor's numbers go: into the JSON, or, if they are many, into a file beside it under this name.
struct Beside {
  std::vector<NamedTensor>* tensors = nullptr;
  size_t inline_numbers = 0;

  void put(Json& json, const std::string& key, const std::string& name, const Tensor& t) const {
    if (!t.defined()) return;
    if (!tensors || t.size() <= inline_numbers) {
      json[key] = numbers(t);
      return;
    }
    json[key + "_in"] = name;
    tensors->push_back({name, t});
  }
};

/// `where` begins the names of its tensors.
Json side_json(const TraceSide& side, const Beside& beside, const std::string& where) {
  Json json{{"text", side.text},       {"tokens", side.tokens},   {"words", side.words},
            {"word_of", side.word_of}, {"unknown", side.unknown}, {"kind", side.kind}};
  if (!side.name.empty()) json["name"] = side.name;
  if (!side.word_ranges.empty()) json["word_ranges"] = ranges_json(side.word_ranges);
  if (!side.sentences.empty()) json["sentences"] = ranges_json(side.sentences);
  if (!side.times.empty()) json["times"] = times_json(side.times);
  if (side.sound) {
    json["sound"] = sound_json(*side.sound);
    beside.put(json["sound"], "posteriors", where + "posteriors", side.sound->posteriors);
  }
  return json;
}

Json site_json(const TraceSite& site, size_t number, const Beside& beside) {
  Json json{{"site", site.site},   {"purpose", name_of(site.purpose)}, {"layer", site.layer},
            {"heads", site.heads}, {"queries", site.queries},          {"keys", site.keys},
            {"hard", site.hard}};
  const std::string name = "site" + std::to_string(number) + ".";
  beside.put(json, "weights", name + "weights", site.weights);
  beside.put(json, "centres", name + "centres", site.centres);
  if (site.centres.defined()) json["reach"] = site.reach;
  return json;
}

Json map_json(const TraceMap& map, size_t number, const Beside& beside) {
  Json json{{"method", map.method}, {"label", map.label},      {"site", map.site},       {"layer", map.layer},
            {"head", map.head},     {"signed", map.is_signed}, {"queries", map.queries}, {"keys", map.keys}};
  const std::string name = "map" + std::to_string(number) + ".";
  beside.put(json, "tokens", name + "tokens", map.tokens);
  beside.put(json, "words", name + "words", map.words);
  return json;
}

Json as_json(const Trace& trace, const Beside& beside) {
  Json json{
      {"format", kFormat},
      {"model",
       {{"name", trace.model}, {"task", trace.task}, {"network", trace.network}, {"parameters", trace.parameters}}}};
  if (trace.line > 0) json["line"] = trace.line;
  if (trace.part > 0) json["part"] = trace.part;
  json["options"] = Json::object();
  for (const auto& [name, value] : trace.options) json["options"][name] = value;
  json["source"] = side_json(trace.source, beside, "source.");
  if (!trace.inputs.empty()) json["inputs"] = Json::array();
  for (const TraceSide& input : trace.inputs) {
    json["inputs"].push_back(side_json(input, beside, "input" + std::to_string(json["inputs"].size()) + "."));
  }
  Json target = side_json(trace.target, beside, "target.");
  target["given"] = trace.given, target["ended"] = trace.ended;
  target["score"] = total(trace.score), target["log_probability"] = total(trace.log_probability);
  target["log_probabilities"] = Json::array();
  for (const double p : trace.token_log_probabilities) target["log_probabilities"].push_back(total(p));
  for (const double share : trace.copied) target["copied"].push_back(rounded(share));
  if (trace.found) target["found"] = range_json(*trace.found);
  json["target"] = std::move(target);
  for (const char* list : {"sites", "maps", "evidence", "beam", "answers"}) json[list] = Json::array();
  for (size_t i = 0; i < trace.sites.size(); ++i) json["sites"].push_back(site_json(trace.sites[i], i, beside));
  for (size_t i = 0; i < trace.maps.size(); ++i) json["maps"].push_back(map_json(trace.maps[i], i, beside));
  for (const TraceEvidence& one : trace.evidence) {
    json["evidence"].push_back(
        {{"change", one.change}, {"before", total(one.before)}, {"after", total(one.after)}, {"meaning", one.meaning}});
  }
  for (const TraceNode& node : trace.beam) {
    json["beam"].push_back({{"parent", node.parent},
                            {"id", node.id},
                            {"token", node.token},
                            {"log_probability", total(node.log_probability)},
                            {"total", total(node.total)},
                            {"fate", kFates[static_cast<size_t>(node.fate)]}});
  }
  for (const TraceAnswer& answer : trace.answers) {
    json["answers"].push_back({{"text", answer.text},
                               {"score", total(answer.score)},
                               {"log_probability", total(answer.log_probability)},
                               {"ended", answer.ended},
                               {"node", answer.node}});
    if (answer.found) json["answers"].back()["found"] = range_json(*answer.found);
  }
  json["notes"] = trace.notes;
  return json;
}

Tensor tensor_of(const Json& json, const std::string& key, int rank, const SafetensorsFile* beside) {
  if (json.contains(key + "_in")) {
    require(beside != nullptr, "trace: its numbers are in a safetensors file beside it, which is not there");
    return beside->read(json.at(key + "_in").get<std::string>());
  }
  return tensor_at(json, key, rank);
}

data::TextRange range_of(const Json& json, const std::string& text) {
  require(json.is_array() && json.size() == 2, "trace: expected a range as [begin, end] in bytes, got ", json.dump());
  const data::TextRange range{json[0].get<int64_t>(), json[1].get<int64_t>()};
  require(0 <= range.begin && range.begin <= range.end && range.end <= static_cast<int64_t>(text.size()),
          "trace: expected a range within the ", text.size(), " bytes of its text, got [", range.begin, ", ", range.end,
          "]");
  return range;
}

/// In ascending order; none if there is no such list.
std::vector<data::TextRange> ranges_of(const Json& json, const char* key, const std::string& text) {
  std::vector<data::TextRange> ranges;
  if (!json.contains(key)) return ranges;
  for (const Json& one : json.at(key)) {
    ranges.push_back(range_of(one, text));
    require(ranges.size() < 2 || ranges[ranges.size() - 2].end <= ranges.back().begin, "trace: ", key,
            ": expected ranges one after another, got one that begins at ", ranges.back().begin);
  }
  return ranges;
}

std::optional<data::TextRange> found_of(const Json& json, const std::string& text) {
  if (!json.contains("found")) return std::nullopt;
  return range_of(json.at("found"), text);
}

std::shared_ptr<const TraceSound> side_sound(const Json& json, size_t places, const SafetensorsFile* beside) {
  auto sound = std::make_shared<TraceSound>(sound_of(json));
  sound->posteriors = tensor_of(json, "posteriors", 2, beside);
  check_sound(*sound, static_cast<int64_t>(places));
  return sound;
}

TraceSide side_of(const Json& json, const SafetensorsFile* beside) {
  TraceSide side{json.at("text"),
                 json.at("tokens"),
                 json.at("words"),
                 json.at("word_of"),
                 json.value("unknown", std::vector<int32_t>()),
                 json.value("kind", "words"),
                 json.value("name", "")};
  side.word_ranges = ranges_of(json, "word_ranges", side.text);
  require(side.word_ranges.empty() || side.word_ranges.size() == side.words.size(),
          "trace: word_ranges: expected one for each of ", side.words.size(), " words, got ", side.word_ranges.size());
  side.sentences = ranges_of(json, "sentences", side.text);
  if (json.contains("times")) side.times = times_of(json.at("times"));
  if (json.contains("sound")) side.sound = side_sound(json.at("sound"), side.tokens.size(), beside);
  return side;
}

/// Older traces do not have it: it is derived from who looks at what.
Purpose purpose_of(const Json& json) {
  if (json.contains("purpose")) return purpose_named(json.at("purpose").get<std::string>());
  if (json.at("queries") == "source") return Purpose::self;
  return json.at("keys") == "source" ? Purpose::source : Purpose::past;
}

TraceNode::Fate fate_named(const std::string& name) {
  const auto found = std::ranges::find(kFates, name);
  require(found != std::end(kFates), "trace: fate: expected grown, ended, cut or passed, got '", name, "'");
  return static_cast<TraceNode::Fate>(found - std::begin(kFates));
}

Trace trace_of(const Json& json, const SafetensorsFile* beside) {
  require(json.is_object() && json.value("format", "") == kFormat, "trace: \"format\": expected \"", kFormat, "\"");
  Trace trace;
  const Json& model = json.at("model");
  trace.model = model.at("name"), trace.task = model.at("task"), trace.network = model.at("network");
  trace.parameters = model.at("parameters");
  trace.line = json.value("line", int64_t{0}), trace.part = json.value("part", int64_t{0});
  for (const auto& [name, value] : json.at("options").items()) trace.options.emplace_back(name, value);
  trace.source = side_of(json.at("source"), beside);
  for (const Json& input : json.value("inputs", Json::array())) trace.inputs.push_back(side_of(input, beside));
  const Json& target = json.at("target");
  trace.target = side_of(target, beside);
  if (trace.source.sound) check_times("times of the answer", trace.target.times, trace.source.sound->seconds);
  trace.given = target.at("given"), trace.ended = target.at("ended");
  trace.score = number_of(target.at("score")), trace.log_probability = number_of(target.at("log_probability"));
  for (const Json& one : target.at("log_probabilities")) trace.token_log_probabilities.push_back(number_of(one));
  for (const Json& one : target.value("copied", Json::array())) trace.copied.push_back(number_of(one));
  trace.found = found_of(target, trace.source.text);
  for (const Json& one : json.at("sites")) {
    trace.sites.push_back({one.at("site"), purpose_of(one), one.at("layer"), one.at("heads"), one.at("queries"),
                           one.at("keys"), one.at("hard"), tensor_of(one, "weights", 3, beside),
                           tensor_of(one, "centres", 2, beside), one.value("reach", int64_t{0})});
  }
  for (const Json& one : json.at("maps")) {
    trace.maps.push_back({one.at("method"), one.at("label"), one.at("site"), one.at("layer"), one.at("head"),
                          one.at("signed"), tensor_of(one, "tokens", 2, beside), tensor_of(one, "words", 2, beside),
                          one.value("queries", "target"), one.value("keys", "source")});
  }
  for (const Json& one : json.at("evidence")) {
    trace.evidence.push_back(
        {one.at("change"), number_of(one.at("before")), number_of(one.at("after")), one.at("meaning")});
  }
  for (const Json& one : json.at("beam")) {
    trace.beam.push_back({one.at("parent"), one.at("id"), one.at("token"), number_of(one.at("log_probability")),
                          number_of(one.at("total")), fate_named(one.at("fate"))});
    require(trace.beam.back().parent < static_cast<int32_t>(trace.beam.size()) - 1,
            "trace: beam: expected parents before their children, got ", trace.beam.back().parent, " at ",
            trace.beam.size() - 1);
  }
  for (const Json& one : json.at("answers")) {
    trace.answers.push_back({one.at("text"), number_of(one.at("score")), number_of(one.at("log_probability")),
                             one.at("ended"), one.at("node"), found_of(one, trace.source.text)});
  }
  trace.notes = json.value("notes", std::vector<std::string>());
  return trace;
}

/// The file named in a line of a trace file, which must be in the same folder.
std::optional<SafetensorsFile> beside_of(const fs::path& path, const Json& json) {
  if (!json.is_object() || !json.contains("beside")) return std::nullopt;
  const fs::path name = json.at("beside").get<std::string>();
  require(!name.empty() && name == name.filename(), "trace: beside: expected a file of the same folder, got ",
          name.string());
  return std::optional<SafetensorsFile>(std::in_place, path.parent_path() / name);
}

}  // namespace

TraceSide text_side(const data::Tokeniser& tokeniser, const data::TokenisedWords& words, std::string text) {
  TraceSide side{std::move(text), {}, words.words, words.word_of, {}};
  for (size_t i = 0; i < words.ids.size(); ++i) {
    side.tokens.push_back(tokeniser.piece(words.ids[i]));
    if (words.ids[i] == data::kUnknown) side.unknown.push_back(static_cast<int32_t>(i));
  }
  return side;
}

void locate(TraceSide& input) {
  input.word_ranges.clear();
  for (const std::string_view word : data::split_words(input.text)) {
    const int64_t begin = word.data() - input.text.data();
    input.word_ranges.push_back({begin, begin + static_cast<int64_t>(word.size())});
  }
  require(input.word_ranges.size() == input.words.size(), "trace: expected the ", input.word_ranges.size(),
          " words of its text, got ", input.words.size());
  input.sentences = data::split_sentences(input.text);
}

TraceSide sound_side(TraceSound sound, std::string name, int64_t places) {
  TraceSide side{std::move(name), {}, {}, {}, {}};
  for (int64_t p = 0; p < places; ++p) {
    side.tokens.push_back(seconds_name(sound.begin_of(p)));
    side.word_of.push_back(static_cast<int32_t>(p));
  }
  side.words = side.tokens;
  check_sound(sound, places);
  side.sound = std::make_shared<const TraceSound>(std::move(sound));
  return side;
}

std::string trace_json(const Trace& trace) { return dumped(as_json(trace, {})); }

Trace parse_trace(const std::string& json) {
  return parsed(json, [](const Json& trace) { return trace_of(trace, nullptr); });
}

TraceWriter::TraceWriter(fs::path path, size_t inline_numbers)
    : path_(std::move(path)), inline_numbers_(inline_numbers), file_(path_) {
  require(file_.good(), path_.string(), ": cannot be written: ", system_reason(errno));
}

void TraceWriter::add(const Trace& trace) {
  std::vector<NamedTensor> tensors;
  Json json = as_json(trace, {&tensors, inline_numbers_});
  ++count_;
  if (!tensors.empty()) {
    const fs::path beside = path_.string() + "." + std::to_string(count_) + ".safetensors";
    write_safetensors(beside, tensors);
    json["beside"] = beside.filename().string();
  }
  file_ << dumped(json) << '\n' << std::flush;
  require(file_.good(), path_.string(), ": cannot be written");
}

std::vector<Trace> read_traces(const fs::path& path) {
  const std::string text = read_file(path, kLargest);
  std::vector<Trace> traces;
  size_t number = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    ++number;
    try {
      if (end > at) {
        traces.push_back(parsed(text.substr(at, end - at), [&](const Json& json) {
          const std::optional<SafetensorsFile> beside = beside_of(path, json);
          return trace_of(json, beside ? &*beside : nullptr);
        }));
      }
    } catch (const Error& error) {
      throw Error(path.string() + ":" + std::to_string(number) + ": " + error.what());
    }
    at = end + 1;
  }
  return traces;
}

}  // namespace attend::explain
