#include "attend/explain/grid.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "attend/base/error.h"
#include "attend/explain/alignment.h"
#include "attend/explain/labels.h"

namespace attend::explain {
namespace {

constexpr const char* kBegin = "<s>";

void check_side(const char* name, const TraceSide& side) {
  require(side.word_of.size() == side.tokens.size(), "trace: ", name, ": expected word_of of ", side.tokens.size(),
          " tokens, got ", side.word_of.size());
  const auto words = static_cast<int32_t>(side.words.size());
  for (const int32_t word : side.word_of) {
    require(word >= -1 && word < words, "trace: ", name, ": word_of: expected a word below ", words, ", got ", word);
  }
}

bool by_words(const std::string& level) {
  require(level == "words" || level == "tokens", "level: expected words or tokens, got '", level, "'");
  return level == "words";
}

/// Each place is a label of its own.
Axis numbered_axis(std::vector<std::string> labels) {
  Axis axis{std::move(labels), {}};
  axis.label_of.resize(axis.labels.size());
  std::iota(axis.label_of.begin(), axis.label_of.end(), 0);
  return axis;
}

/// The source, the target, or a further input.
const TraceSide& side_named(const Trace& trace, const std::string& name) {
  if (name == "source") return trace.source;
  if (name == "target") return trace.target;
  const auto found = std::ranges::find(trace.inputs, name, &TraceSide::name);
  require(found != trace.inputs.end(),
          "trace: expected a site's queries and keys as source, target, before, source+before, sentences or the name of an "
          "input, got '",
          name, "'");
  check_side(name.c_str(), *found);
  return *found;
}

/// What was read before each target token: the beginning, and then the token before.
Axis before_axis(const TraceSide& target, bool words) {
  Axis axis{{kBegin}, {0}};
  const std::vector<std::string>& labels = words ? target.words : target.tokens;
  axis.labels.insert(axis.labels.end(), labels.begin(), words || labels.empty() ? labels.end() : labels.end() - 1);
  for (size_t t = 0; t + 1 < target.tokens.size(); ++t) {
    const int32_t word = target.word_of[t];
    axis.label_of.push_back(!words ? static_cast<int32_t>(t) + 1 : word < 0 ? -1 : word + 1);
  }
  return axis;
}

/// One after another.
Axis joined_axes(Axis first, const Axis& second) {
  const auto places = static_cast<int32_t>(first.labels.size());
  first.labels.insert(first.labels.end(), second.labels.begin(), second.labels.end());
  for (const int32_t label : second.label_of) first.label_of.push_back(label < 0 ? -1 : label + places);
  return first;
}

/// A position among tokens → the position among labels: each token has an equal share of its word's cell.
double place_of(const Axis& axis, double place) {
  const auto count = static_cast<double>(axis.label_of.size());
  auto near = static_cast<size_t>(std::clamp(std::round(place), 0.0, count - 1));
  const double rest = std::clamp(place - static_cast<double>(near) + 0.5, 0.0, 1.0);
  while (near > 0 && axis.label_of[near] < 0) --near;
  const int32_t label = axis.label_of[near];
  size_t first = near, end = near;
  while (first > 0 && axis.label_of[first - 1] == label) --first;
  while (end < axis.label_of.size() && axis.label_of[end] == label) ++end;
  return label - 0.5 + (static_cast<double>(near - first) + rest) / static_cast<double>(end - first);
}

/// The labels within a window around `centre`, together with those it had before.
void widen(std::optional<RowWindow>& window, const Axis& columns, double centre, int64_t reach) {
  const auto far = static_cast<double>(reach);
  for (size_t s = 0; s < columns.label_of.size(); ++s) {
    const int64_t label = columns.label_of[s];
    if (label < 0 || std::abs(static_cast<double>(s) - centre) > far) continue;
    if (!window) window = RowWindow{0, label, label};
    window->first = std::min(window->first, label), window->last = std::max(window->last, label);
  }
}

/// Windows of one head. A word's window is everything that any of its tokens saw, around the mean of their centres.
std::vector<std::optional<RowWindow>> windows_of(const TraceSite& site, int64_t head, const Axis& rows,
                                                 const Axis& columns) {
  const auto tokens = static_cast<int64_t>(rows.label_of.size());
  require(site.centres.rank() == 2 && site.centres.dim(0) == site.heads && site.centres.dim(1) == tokens,
          "trace: ", site.site, ": expected centres [", site.heads, ", ", tokens, "], got ", site.centres.shape());
  std::vector<std::optional<RowWindow>> windows(rows.labels.size());
  std::vector<double> sums(rows.labels.size()), counts(rows.labels.size());
  for (size_t t = 0; t < rows.label_of.size(); ++t) {
    if (rows.label_of[t] < 0 || columns.label_of.empty()) continue;
    const auto row = static_cast<size_t>(rows.label_of[t]);
    const double centre = static_cast<double>(site.centres.data()[static_cast<size_t>(head * tokens) + t]);
    require(std::isfinite(centre), "trace: ", site.site, ": expected centres that are numbers");
    widen(windows[row], columns, centre, site.reach);
    sums[row] += place_of(columns, centre), counts[row] += 1;
  }
  for (size_t r = 0; r < windows.size(); ++r) {
    if (windows[r]) windows[r]->centre = sums[r] / counts[r];
  }
  return windows;
}

/// The sites that a map or a choice was read from.
std::vector<const TraceSite*> sites_of(const Trace& trace, const std::string& site, int64_t layer) {
  std::vector<const TraceSite*> found;
  for (const TraceSite& one : trace.sites) {
    if (one.site == site && (layer < 0 || one.layer == layer)) found.push_back(&one);
  }
  return found;
}

/// Dots and windows: the latter only if the picture is of a single head.
HeatmapOptions look_of(const std::vector<const TraceSite*>& sites, int64_t head, const Axis& rows,
                       const Axis& columns) {
  HeatmapOptions look;
  look.hard = !sites.empty() && std::ranges::all_of(sites, [](const TraceSite* site) { return site->hard; });
  const bool alone = sites.size() == 1 && (head >= 0 || sites[0]->heads == 1);
  if (alone && sites[0]->centres.defined())
    look.windows = windows_of(*sites[0], std::max<int64_t>(0, head), rows, columns);
  return look;
}

void add_heads(Tensor& total, const TraceSite& site, int64_t head) {
  require(head < site.heads, "trace: ", site.site, ": expected a head below ", site.heads, ", got ", head);
  require(site.weights.rank() == 3 && site.weights.dim(0) == site.heads && site.weights.dim(1) == total.dim(0) &&
              site.weights.dim(2) == total.dim(1),
          "trace: ", site.site, ": expected weights [", site.heads, ", ", total.dim(0), ", ", total.dim(1),
          "], as it has tokens, got ", site.weights.shape());
  for (int64_t h = head < 0 ? 0 : head; h < (head < 0 ? site.heads : head + 1); ++h) {
    const Tensor one = site.weights[h];
    for (size_t i = 0; i < total.size(); ++i) total.data()[i] += one.data()[i];
  }
}

std::string formatted(double value, const char* format) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  std::string out = text;
  if (out.starts_with('-')) out.replace(0, 1, "−");
  return out;
}

}  // namespace

std::vector<std::string> sentences_of(const TraceSide& input) {
  std::vector<std::string> texts;
  for (const auto& [begin, end] : input.sentences) {
    texts.push_back(input.text.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin)));
  }
  return texts;
}

Axis axis_of(const Trace& trace, const std::string& side, bool words) {
  check_side("source", trace.source), check_side("target", trace.target);
  if (side == "before") return before_axis(trace.target, words);
  if (side == "source+before") return joined_axes(axis_of(trace, "source", words), before_axis(trace.target, words));
  if (side == "sentences") return numbered_axis(sentences_of(trace.source));
  const TraceSide& from = side_named(trace, side);
  return words ? Axis{from.words, from.word_of} : numbered_axis(from.tokens);
}

Grid map_grid(const Trace& trace, const TraceMap& map, const std::string& level) {
  const bool words = by_words(level);
  const Axis rows = axis_of(trace, map.queries, words), columns = axis_of(trace, map.keys, words);
  Grid grid{words ? map.words : map.tokens, rows.labels, columns.labels, {}, map.label};
  require(grid.values.defined(), "trace: expected a map with ", level, ", got one without (", map.method, ")");
  if (map.method == "attention") grid.look = look_of(sites_of(trace, map.site, map.layer), map.head, rows, columns);
  grid.look.is_signed = map.is_signed;
  check_grid("trace: map", grid);
  return grid;
}

Grid site_grid(const Trace& trace, const std::string& site, int64_t layer, int64_t head, const std::string& level) {
  const bool words = by_words(level);
  std::vector<const TraceSite*> sites = sites_of(trace, site, layer);
  std::erase_if(sites, [](const TraceSite* one) { return !one->weights.defined(); });
  require(!sites.empty(), "trace: expected a site with weights, got none called ", site,
          layer < 0 ? std::string() : " of layer " + std::to_string(layer));
  const std::string &queries = sites[0]->queries, &keys = sites[0]->keys;
  const Axis rows = axis_of(trace, queries, words), columns = axis_of(trace, keys, words);
  Tensor total =
      Tensor::zeros({static_cast<int64_t>(rows.label_of.size()), static_cast<int64_t>(columns.label_of.size())});
  int64_t heads = 0;
  for (const TraceSite* one : sites) {
    require(one->queries == queries && one->keys == keys, "trace: ", site, ": expected layers of one kind");
    add_heads(total, *one, head);
    heads += head < 0 ? one->heads : 1;
  }
  for (real& value : total.values()) value /= static_cast<real>(heads);
  if (words) {
    total = word_weights(total, columns.label_of, rows.label_of, static_cast<int64_t>(columns.labels.size()),
                         static_cast<int64_t>(rows.labels.size()));
  }
  const std::string what =
      heads > 1 ? "mean of " + std::to_string(heads) + " heads"
                : "layer " + std::to_string(sites[0]->layer) + " · head " + std::to_string(std::max<int64_t>(0, head));
  return {total, rows.labels, columns.labels, look_of(sites, head, rows, columns), site + ", " + what};
}

Colour Scale::colour(double value) const { return is_signed ? diverging(value / most) : sequential(value / most); }

std::string Scale::shown(double value) const {
  if (!std::isfinite(value)) return "no number";
  if (share) return percent(value);
  if (std::abs(value) < 0.005) return "0";
  return formatted(value, is_signed ? "%+.2g" : "%.2g");
}

Scale scale_of(const Grid& grid) {
  double most = grid.look.most;
  for (const real value : grid.values.values()) {
    if (grid.look.most <= 0 && std::isfinite(value)) most = std::max(most, std::abs(static_cast<double>(value)));
  }
  return {most > 0 ? most : 1, grid.look.is_signed, !grid.look.is_signed && most <= 1.0001};
}

std::string phrase(const Grid& grid, const Scale& scale, size_t row, size_t column) {
  const auto value = static_cast<double>(grid.values.data()[row * grid.columns.size() + column]);
  return isolated(grid.rows[row]) + " ← " + isolated(grid.columns[column]) + " " + scale.shown(value);
}

std::vector<std::optional<size_t>> strongest(const Grid& grid) {
  const auto size = [&](real value) { return grid.look.is_signed ? std::abs(value) : value; };
  std::vector<std::optional<size_t>> best(grid.rows.size());
  for (size_t r = 0; r < grid.rows.size(); ++r) {
    const real* row = grid.values.data() + r * grid.columns.size();
    for (size_t c = 0; c < grid.columns.size(); ++c) {
      if (size(row[c]) > (best[r] ? size(row[*best[r]]) : 0)) best[r] = c;
    }
  }
  return best;
}

void check_grid(const char* where, const Grid& grid) {
  const auto rows = static_cast<int64_t>(grid.rows.size()), columns = static_cast<int64_t>(grid.columns.size());
  const Tensor& values = grid.values;
  require(values.rank() == 2 && values.dim(0) == rows && values.dim(1) == columns, where, ": expected weights [", rows,
          ",", columns, "], got ", values.shape());
  require(grid.look.windows.empty() || grid.look.windows.size() == grid.rows.size(), where, ": expected windows of ",
          rows, " rows, got ", grid.look.windows.size());
  for (const auto& window : grid.look.windows) {
    require(!window || (0 <= window->first && window->first <= window->last && window->last < columns), where,
            ": expected windows within ", columns, " columns");
  }
}

}  // namespace attend::explain
