#include "bench/run.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <regex>
#include <sstream>

#include "attend/base/error.h"
#include "attend/kernels/isa.h"
#include "attend/kernels/parallel.h"
#include "bench/peer.h"

namespace attend::bench {
namespace {

bool is_rate(Unit unit) { return unit == Unit::gflops || unit == Unit::gbs; }

double limit_for(Unit unit, const Limits& limits) { return unit == Unit::gflops ? limits.gflops : limits.copy_gbs; }

double value_of(const Row& row, double seconds) {
  switch (row.unit) {
    case Unit::nanoseconds: return 1e9 * seconds / row.work;
    case Unit::milliseconds: return 1e3 * seconds;
    case Unit::tokens: return row.work / seconds;
    default: return 1e-9 * row.work / seconds;
  }
}

std::string number(double x, int digits) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, x);
  return text.data();
}

std::string target_of(const Row& row) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (row.percent) add("≥ " + number(*row.percent, 0) + " %");
  if (row.peer && row.unit == Unit::mebibytes) {
    add("≤ PyTorch's");
  } else if (row.peer) {
    add("≥ " + number(*row.peer, 2) + "× PyTorch");
  }
  for (const OtherPeer& other : row.others) add("≥ " + number(other.least, 2) + "× " + other.name);
  if (row.composed) add("≥ " + number(*row.composed, 0) + "× composed");
  if (row.least) add("≥ " + number(*row.least, 0) + " " + name_of(row.unit));
  if (row.most) add("≤ " + number(*row.most, 0) + " " + name_of(row.unit));
  return text;
}

/// Whether the figures meet their targets.
std::optional<bool> holds(const Row& row, const Result& r) {
  std::optional<bool> all;
  const auto meet = [&](bool yes) { all = all.value_or(true) && yes; };
  if (row.percent && r.percent_of_limit) meet(*r.percent_of_limit >= *row.percent);
  for (const PeerResult& peer : r.peers) meet(peer.ratio >= peer.target);
  if (row.composed && r.composed_ratio) meet(*r.composed_ratio >= *row.composed);
  if (row.least) meet(r.value >= *row.least);
  if (row.most) meet(r.value <= *row.most);
  return all;
}

struct Timing {
  double seconds = 0, composed_seconds = 0, value = 0;
};

Timing time_row(const Row& row, double seconds) {
  if (row.value) return {.value = row.value()};
  Timing t;
  t.seconds = best_seconds(row.prepare(), seconds, row.least_runs);
  if (row.prepare_composed) t.composed_seconds = best_seconds(row.prepare_composed(), seconds, row.least_runs);
  t.value = value_of(row, t.seconds);
  return t;
}

Result judge(const Row& row, const Timing& t, const Limits& limits, const PeerFigures& peers) {
  Result r{.name = row.name, .value = t.value, .unit = row.unit, .target = target_of(row)};
  if (is_rate(row.unit)) r.percent_of_limit = 100 * t.value / limit_for(row.unit, limits);
  for (const char* name : {kPyTorch, kCompiled, kCTranslate2, kLibrosa}) {
    const auto target = row.against(name);
    const auto peer = peers.find(name);
    if (!target || peer == peers.end()) continue;
    const auto figure = peer->second.find(row.name);
    if (figure == peer->second.end()) continue;
    const double seconds = figure->second.milliseconds / 1e3, mebibytes = figure->second.mebibytes;
    if (row.unit == Unit::mebibytes && mebibytes > 0)
      r.peers.push_back({name, mebibytes, mebibytes / t.value, *target});
    if (row.unit != Unit::mebibytes && seconds > 0) {
      r.peers.push_back({name, value_of(row, seconds), seconds / t.seconds, *target});
    }
  }
  if (!r.peers.empty() && r.peers[0].name == kPyTorch) r.peer_ratio = r.peers[0].ratio;
  if (t.composed_seconds > 0) r.composed_ratio = t.composed_seconds / t.seconds;
  r.holds = holds(row, r);
  return r;
}

/// What the columns have no place for: ratios to others than PyTorch, and how much memory PyTorch took.
std::string remarks(const Result& r) {
  std::string text;
  for (const PeerResult& peer : r.peers) {
    const bool memory = r.unit == Unit::mebibytes;
    if (peer.name == kPyTorch && !memory) continue;
    text += (text.empty() ? "  (" : ", ") + peer.name + " ";
    text += memory ? number(peer.value, 1) + " " + name_of(r.unit) : number(peer.ratio, 2) + "×";
  }
  return text.empty() ? text : text + ")";
}

void print(const Result& r, std::ostream& out) {
  std::array<char, 256> line{};
  const std::string percent = r.percent_of_limit ? number(*r.percent_of_limit, 0) + " %" : "";
  const std::string peer = r.peer_ratio ? number(*r.peer_ratio, 2) + "×" : "";
  const std::string own = r.composed_ratio ? number(*r.composed_ratio, 1) + "×" : "";
  std::snprintf(line.data(), line.size(), "%-40s %9.1f %-8s %6s %8s %8s  ", r.name.c_str(), r.value, name_of(r.unit),
                percent.c_str(), peer.c_str(), own.c_str());
  out << line.data() << (r.holds ? *r.holds ? "yes  " : "NO   " : "     ") << r.target << remarks(r) << std::endl;
}

std::vector<Row> matching(const Group& group, const std::string& pattern) {
  std::vector<Row> rows;
  const std::regex selected(pattern);
  for (const Row& row : group.rows) {
    if (std::regex_search(row.name, selected)) rows.push_back(row);
  }
  return rows;
}

}  // namespace

const char* name_of(Unit unit) {
  switch (unit) {
    case Unit::gflops: return "GFLOP/s";
    case Unit::gbs: return "GB/s";
    case Unit::tokens: return "tokens/s";
    case Unit::nanoseconds: return "ns";
    case Unit::mebibytes: return "MiB";
    case Unit::milliseconds: return "ms";
    case Unit::percent: return "%";
  }
  return "";
}

std::vector<Group> all_groups() {
  return {{"products", product_rows()},
          {"recurrent", recurrent_rows()},
          {"attention", attention_rows()},
          {"elements", element_rows()},
          {"training", training_rows()},
          {"convolution", convolution_rows()},
          {"overhead", overhead_rows()},
          {"models", model_rows(), "torch_models.py"},
          {"labels", label_rows(), "torch_labels.py"},
          {"readers", reader_rows(), "torch_readers.py"},
          {"copying", copying_rows(), "torch_copying.py"},
          {"speech", speech_rows(), "torch_speech.py"},
          {"decoding", decoding_rows(), "torch_models.py"},
          {"glimpse", glimpse_rows(), "torch_glimpse.py"},
          {"photos", photo_rows(), "torch_photos.py"},
          {"sounds", sound_rows(), "torch_sounds.py"}};
}

Report run(const RunOptions& options, std::ostream& out) {
  Report report{
      .processor = kernels::processor(), .instruction_set = kernels::instruction_set(), .threads = kernels::threads()};
  out << report.processor << ", " << report.instruction_set << ", " << report.threads << " threads" << std::endl;
  report.limits.refresh(2 * options.seconds);
  out << "limit: " << number(report.limits.gflops, 0) << " GFLOP/s (oneDNN, " << report.limits.product << "), copy "
      << number(report.limits.copy_gbs, 1) << " GB/s (past the caches " << number(report.limits.streamed_gbs, 1) << ")"
      << std::endl;
  Peers peers(options);
  char head[256];
  std::snprintf(head, sizeof(head), "\n%-40s %9s %-8s %6s %8s %8s  ", "row", "value", "", "limit", "PyTorch",
                "composed");
  out << head << "holds target" << std::endl;
  for (const Group& group : all_groups()) {
    const std::vector<Row> rows = matching(group, options.match);
    if (rows.empty()) continue;
    std::vector<Timing> timings;
    // The limits again right before and after each row, the better of both: on a shared machine they drift by half
    // within a minute, and a row must be compared with the machine as it was then.
    std::vector<Limits> near(rows.size());
    Limits before;
    before.refresh(options.seconds / 4);
    for (size_t i = 0; i < rows.size(); ++i) {
      timings.push_back(time_row(rows[i], options.seconds));
      near[i] = before;
      before = Limits{};
      if (is_rate(rows[i].unit)) before.refresh(options.seconds / 4);
      near[i].keep_better(before);
      report.limits.keep_better(near[i]);
    }
    const PeerFigures beside = peers.measure(group, rows);
    for (size_t i = 0; i < rows.size(); ++i) {
      report.results.push_back(judge(rows[i], timings[i], near[i], beside));
      print(report.results.back(), out);
    }
  }
  report.peer = peers.state();
  const auto missed =
      std::count_if(report.results.begin(), report.results.end(), [](const Result& r) { return r.holds == false; });
  out << "\nlimit, best of the run: " << number(report.limits.gflops, 0) << " GFLOP/s (" << report.limits.product
      << "), copy " << number(report.limits.copy_gbs, 1) << " GB/s\n"
      << report.peer << "\n"
      << (missed == 0 ? "every target holds" : std::to_string(missed) + " target(s) missed") << std::endl;
  return report;
}

void write_json(const Report& report, const std::string& path) {
  using nlohmann::json;
  const auto optional = [](const auto& x) { return x ? json(*x) : json(nullptr); };
  const auto fact = [](const std::string& name, double value, const char* unit) {
    return json{{"name", name},          {"value", value}, {"unit", unit},    {"percent_of_limit", nullptr},
                {"peer_ratio", nullptr}, {"target", ""},   {"holds", nullptr}};
  };
  json rows = json::array({fact("limit/product (" + report.limits.product + ")", report.limits.gflops, "GFLOP/s"),
                           fact("limit/copy", report.limits.copy_gbs, "GB/s"),
                           fact("limit/copy past the caches", report.limits.streamed_gbs, "GB/s")});
  for (const Result& r : report.results) {
    json row{{"name", r.name},
             {"value", r.value},
             {"unit", name_of(r.unit)},
             {"percent_of_limit", optional(r.percent_of_limit)},
             {"peer_ratio", optional(r.peer_ratio)},
             {"target", r.target},
             {"holds", optional(r.holds)}};
    for (const PeerResult& peer : r.peers) {
      row["peers"].push_back(
          {{"name", peer.name}, {"value", peer.value}, {"ratio", peer.ratio}, {"target", peer.target}});
    }
    if (r.composed_ratio) row["composed_ratio"] = *r.composed_ratio;
    rows.push_back(std::move(row));
  }
  for (json& row : rows) {
    row["processor"] = report.processor;
    row["instruction_set"] = report.instruction_set;
    row["threads"] = report.threads;
    row["peer"] = report.peer;
  }
  std::ofstream file(path);
  file << rows.dump(1) << "\n";
  file.close();
  require(file.good(), "bench: cannot write ", path);
}

}  // namespace attend::bench
