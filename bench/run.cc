#include "bench/run.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <regex>
#include <sstream>

#include "attend/base/error.h"
#include "attend/kernels/isa.h"
#include "attend/kernels/parallel.h"

namespace attend::bench {
namespace {

std::string shell_word(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// PyTorch's milliseconds by row, measured by its script in a process of its own.
class Peer {
 public:
  explicit Peer(const RunOptions& options) {
    if (!options.peer) {
      state_ = "PyTorch was not asked for";
      return;
    }
    const char* given = std::getenv("ATTEND_PEER_PYTHON");
    const std::string python = !options.peer_python.empty() ? options.peer_python : given ? given : "python3";
    command_ = shell_word(python) + " " + shell_word(options.peer_script) + " --seconds " +
               std::to_string(options.seconds) + " --threads " + std::to_string(kernels::threads());
    if (std::system((shell_word(python) + " -c 'import torch' 2>/dev/null").c_str()) != 0) {
      command_.clear();
      state_ = "PyTorch cannot be imported by " + python + " (set ATTEND_PEER_PYTHON): no ratios to it";
    }
  }

  std::map<std::string, double> milliseconds(const std::vector<Row>& rows) {
    std::map<std::string, double> found;
    std::string names;
    for (const Row& row : rows) {
      if (row.peer) names += (names.empty() ? "" : ",") + row.name;
    }
    if (command_.empty() || names.empty()) return found;
    FILE* pipe = popen((command_ + " --rows " + shell_word(names)).c_str(), "r");
    require(pipe != nullptr, "bench: cannot start ", command_);
    std::array<char, 4096> line{};
    while (std::fgets(line.data(), static_cast<int>(line.size()), pipe)) {
      const nlohmann::json said = nlohmann::json::parse(line.data(), nullptr, false);
      if (said.is_discarded()) continue;
      if (said.contains("torch")) {
        state_ = "PyTorch " + said["torch"].get<std::string>() + ", " + std::to_string(said["threads"].get<int>()) +
                 " threads";
      }
      if (said.contains("name")) found[said["name"].get<std::string>()] = said["ms"].get<double>();
    }
    pclose(pipe);
    return found;
  }
  const std::string& state() const { return state_; }

 private:
  std::string command_, state_;
};

bool is_rate(Unit unit) { return unit == Unit::gflops || unit == Unit::gbs; }

double limit_for(Unit unit, const Limits& limits) { return unit == Unit::gflops ? limits.gflops : limits.copy_gbs; }

double value_of(const Row& row, double seconds) {
  switch (row.unit) {
    case Unit::nanoseconds: return 1e9 * seconds / row.work;
    case Unit::milliseconds: return 1e3 * seconds;
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
  if (row.peer) add("≥ " + number(*row.peer, 2) + "× PyTorch");
  if (row.composed) add("≥ " + number(*row.composed, 0) + "× composed");
  if (row.most) add("≤ " + number(*row.most, 0) + " " + name_of(row.unit));
  return text;
}

/// What the targets ask of the figures that there are.
std::optional<bool> holds(const Row& row, const Result& r) {
  std::optional<bool> all;
  const auto meet = [&](bool yes) { all = all.value_or(true) && yes; };
  if (row.percent && r.percent_of_limit) meet(*r.percent_of_limit >= *row.percent);
  if (row.peer && r.peer_ratio) meet(*r.peer_ratio >= *row.peer);
  if (row.composed && r.composed_ratio) meet(*r.composed_ratio >= *row.composed);
  if (row.most) meet(r.value <= *row.most);
  return all;
}

struct Timing {
  double seconds = 0, composed_seconds = 0, value = 0;
};

Timing time_row(const Row& row, double seconds) {
  if (row.value) return {.value = row.value()};
  Timing t;
  t.seconds = best_seconds(row.prepare(), seconds);
  if (row.prepare_composed) t.composed_seconds = best_seconds(row.prepare_composed(), seconds);
  t.value = value_of(row, t.seconds);
  return t;
}

Result judge(const Row& row, const Timing& t, const Limits& limits, const std::map<std::string, double>& peers) {
  Result r{.name = row.name, .value = t.value, .unit = row.unit, .target = target_of(row)};
  if (is_rate(row.unit)) r.percent_of_limit = 100 * t.value / limit_for(row.unit, limits);
  if (const auto peer = peers.find(row.name); peer != peers.end()) r.peer_ratio = peer->second / (1e3 * t.seconds);
  if (t.composed_seconds > 0) r.composed_ratio = t.composed_seconds / t.seconds;
  r.holds = holds(row, r);
  return r;
}

void print(const Result& r, std::ostream& out) {
  std::array<char, 256> line{};
  const std::string percent = r.percent_of_limit ? number(*r.percent_of_limit, 0) + " %" : "";
  const std::string peer = r.peer_ratio ? number(*r.peer_ratio, 2) + "×" : "";
  const std::string own = r.composed_ratio ? number(*r.composed_ratio, 1) + "×" : "";
  std::snprintf(line.data(), line.size(), "%-32s %9.1f %-8s %6s %8s %8s  ", r.name.c_str(), r.value, name_of(r.unit),
                percent.c_str(), peer.c_str(), own.c_str());
  out << line.data() << (r.holds ? *r.holds ? "yes  " : "NO   " : "     ") << r.target << std::endl;
}

std::vector<Row> matching(const Group& group, const std::string& pattern) {
  std::vector<Row> rows;
  const std::regex wanted(pattern);
  for (const Row& row : group.rows) {
    if (std::regex_search(row.name, wanted)) rows.push_back(row);
  }
  return rows;
}

}  // namespace

const char* name_of(Unit unit) {
  switch (unit) {
    case Unit::gflops: return "GFLOP/s";
    case Unit::gbs: return "GB/s";
    case Unit::nanoseconds: return "ns";
    case Unit::mebibytes: return "MiB";
    case Unit::milliseconds: return "ms";
  }
  return "";
}

std::vector<Group> all_groups() {
  return {{"products", product_rows()}, {"recurrent", recurrent_rows()}, {"attention", attention_rows()},
          {"elements", element_rows()}, {"training", training_rows()},   {"convolution", convolution_rows()},
          {"overhead", overhead_rows()}};
}

Report run(const RunOptions& options, std::ostream& out) {
  Report report{
      .processor = kernels::processor(), .instruction_set = kernels::instruction_set(), .threads = kernels::threads()};
  out << report.processor << ", " << report.instruction_set << ", " << report.threads << " threads" << std::endl;
  report.limits.refresh(2 * options.seconds);
  out << "limit: " << number(report.limits.gflops, 0) << " GFLOP/s (oneDNN, " << report.limits.product << "), copy "
      << number(report.limits.copy_gbs, 1) << " GB/s (past the caches " << number(report.limits.streamed_gbs, 1) << ")"
      << std::endl;
  Peer peer(options);
  char head[256];
  std::snprintf(head, sizeof(head), "\n%-32s %9s %-8s %6s %8s %8s  ", "row", "value", "", "limit", "PyTorch",
                "composed");
  out << head << "holds target" << std::endl;
  for (const Group& group : all_groups()) {
    const std::vector<Row> rows = matching(group, options.match);
    if (rows.empty()) continue;
    std::vector<Timing> timings;
    // The limits again right before and after each row, the better of both: on a shared machine they drift by half
    // within a minute, and a row has to be held against the machine that it met.
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
    const auto peers = peer.milliseconds(rows);
    for (size_t i = 0; i < rows.size(); ++i) {
      report.results.push_back(judge(rows[i], timings[i], near[i], peers));
      print(report.results.back(), out);
    }
  }
  report.peer = peer.state();
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
