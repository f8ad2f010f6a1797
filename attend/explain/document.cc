#include "attend/explain/document.h"

#include <algorithm>
#include <cmath>

#include "attend/base/error.h"

namespace attend::explain {
namespace {

constexpr size_t kLong = 60;             // words: more make a wide map
constexpr double kMuchLonger = 2.5;      // than the answer: otherwise the two sides are best seen as a map
constexpr size_t kManySentences = 30;    // more are shown only where they were looked at
constexpr size_t kShortestGap = 3;       // sentences that are worth leaving out
constexpr double kLookedAt = 0.01;

bool answers_in_its_own_picture(const Trace& trace) {
  return trace.target.kind == "tags" || trace.target.kind == "tree";
}

bool is_long(const Trace& trace) {
  const auto words = static_cast<double>(trace.source.words.size());
  return trace.source.words.size() > kLong && words > kMuchLonger * static_cast<double>(trace.target.words.size());
}

/// Attentions that read the sentences of the source, one after another.
std::vector<const TraceSite*> hops_of(const Trace& trace) {
  std::vector<const TraceSite*> hops;
  for (const TraceSite& site : trace.sites) {
    if (site.keys == "sentences" && site.weights.defined()) hops.push_back(&site);
  }
  std::ranges::stable_sort(hops, {}, [](const TraceSite* site) { return site->layer; });
  return hops;
}

/// The mean over heads and queries.
std::vector<double> sentence_means(const TraceSite& site, size_t sentences) {
  require(site.weights.rank() == 3 && static_cast<size_t>(site.weights.dim(2)) == sentences, "trace: ", site.site,
          ": expected weights of ", sentences, " sentences, got ", site.weights.shape());
  const auto rows = static_cast<double>(std::max<int64_t>(1, site.weights.dim(0) * site.weights.dim(1)));
  std::vector<double> mean(sentences);
  for (size_t i = 0; i < site.weights.size(); ++i) {
    mean[i % sentences] += static_cast<double>(site.weights.data()[i]) / rows;
  }
  return mean;
}

std::vector<double> row_of(const Grid& grid, size_t row) {
  const real* values = grid.values.data() + row * grid.columns.size();
  return {values, values + grid.columns.size()};
}

/// What all rows of a map have together: of shares the mean, which is a share again; of other values the sum.
std::vector<double> total_of(const Grid& grid) {
  std::vector<double> total(grid.columns.size());
  for (size_t i = 0; i < grid.values.size(); ++i) {
    total[i % total.size()] += static_cast<double>(grid.values.data()[i]);
  }
  if (scale_of(grid).share) {
    for (double& value : total) value /= static_cast<double>(std::max<size_t>(1, grid.rows.size()));
  }
  return total;
}

void set_scale(Document& document, bool is_signed) {
  double most = 0;
  for (const DocumentLook& look : document.looks) {
    for (const double value : look.values) {
      if (std::isfinite(value)) most = std::max(most, std::abs(value));
    }
  }
  document.scale = {most > 0 ? most : 1, is_signed, !is_signed && most <= 1.0001};
}

}  // namespace

bool is_document(const Trace& trace) {
  const TraceSide& source = trace.source;
  if (source.words.empty() || source.word_ranges.size() != source.words.size() || answers_in_its_own_picture(trace)) {
    return false;
  }
  if (trace.maps.empty() || trace.maps[0].queries != "target" || !trace.maps[0].words.defined()) return false;
  if (trace.maps[0].keys != "source" && trace.maps[0].keys != "sentences") return false;
  return !trace.inputs.empty() || !trace.copied.empty() || trace.target.kind == "span" || is_long(trace);
}

Document document_of(const Trace& trace) {
  require(is_document(trace), "document: expected a trace whose map lies over the words of a text, got another");
  const TraceMap& map = trace.maps[0];
  const Grid grid = map_grid(trace, map, "words");
  Document document;
  document.by_sentence = map.keys == "sentences";
  for (const TraceSite* hop : document.by_sentence ? hops_of(trace) : std::vector<const TraceSite*>()) {
    document.looks.push_back({"hop " + std::to_string(hop->layer + 1), sentence_means(*hop, grid.columns.size())});
  }
  const bool span = trace.target.kind == "span" && grid.rows.size() == 2 && !map.is_signed && !document.by_sentence;
  if (span) document.looks = {{"start", row_of(grid, 0)}, {"end", row_of(grid, 1)}};
  if (document.looks.empty()) document.looks.push_back({"the answer", total_of(grid)});
  set_scale(document, map.is_signed);
  return document;
}

std::vector<double> read_sentences(const Trace& trace) {
  const Document document = document_of(trace);
  const TraceSide& source = trace.source;
  std::vector<double> read(source.sentences.size());
  for (const DocumentLook& look : document.looks) {
    for (size_t i = 0; i < look.values.size(); ++i) {
      // Sentences are in order and none overlaps another: a word is in the last one that begins before it ends.
      const auto after = [&](const data::TextRange& sentence) { return sentence.begin < source.word_ranges.at(i).end; };
      const auto sentence =
          document.by_sentence
              ? static_cast<ptrdiff_t>(i)
              : std::ranges::partition_point(source.sentences, after) - source.sentences.begin() - 1;
      if (sentence >= 0) read.at(static_cast<size_t>(sentence)) += look.values[i];
    }
  }
  return read;
}

std::string answer_in(const Trace& trace) { return trace.target.text.empty() ? "(no answer)" : trace.target.text; }

std::vector<double> copied_words(const Trace& trace) {
  if (trace.copied.empty()) return {};
  require(trace.copied.size() == trace.target.word_of.size(), "trace: copied: expected a number for each of ",
          trace.target.word_of.size(), " tokens, got ", trace.copied.size());
  std::vector<double> sums(trace.target.words.size()), counts(sums.size());
  for (size_t t = 0; t < trace.copied.size(); ++t) {
    const int32_t word = trace.target.word_of[t];
    if (word < 0 || static_cast<size_t>(word) >= sums.size()) continue;
    sums[static_cast<size_t>(word)] += trace.copied[t], counts[static_cast<size_t>(word)] += 1;
  }
  for (size_t w = 0; w < sums.size(); ++w) sums[w] /= std::max(1.0, counts[w]);
  return sums;
}

std::vector<std::vector<size_t>> wrapped_words(const TraceSide& input, double width, double space,
                                          const std::function<double(const std::string& word)>& width_of) {
  std::vector<std::vector<size_t>> lines(1);
  double used = 0;
  for (size_t w = 0; w < input.words.size(); ++w) {
    const double wide = width_of(input.words[w]);
    size_t breaks = 0;  // of lines, in the text before this word
    if (w > 0) {
      const auto begin = static_cast<size_t>(input.word_ranges[w - 1].end);
      const std::string_view between = std::string_view(input.text).substr(
          begin, static_cast<size_t>(input.word_ranges[w].begin) - begin);
      breaks = static_cast<size_t>(std::ranges::count(between, '\n'));
    }
    if (breaks > 1) lines.emplace_back();
    if (breaks > 0 || (!lines.back().empty() && used + space + wide > width)) {
      lines.emplace_back();
      used = 0;
    }
    used += (lines.back().empty() ? 0 : space) + wide;
    lines.back().push_back(w);
  }
  return lines;
}

Covered covered(const TraceSide& input, const std::optional<data::TextRange>& found, size_t word) {
  if (!found) return {};
  const data::TextRange& range = input.word_ranges[word];
  const int64_t begin = std::max(found->begin, range.begin), end = std::min(found->end, range.end);
  if (begin >= end) return {};
  return {static_cast<size_t>(begin - range.begin), static_cast<size_t>(end - range.begin), begin == found->begin,
          end == found->end};
}

std::vector<SentenceRun> sentence_runs(const Document& document) {
  const size_t count = document.looks[0].values.size();
  const auto looked_at = [&](size_t sentence) {
    return std::ranges::any_of(document.looks, [&](const DocumentLook& look) {
      return std::abs(look.values[sentence]) >= kLookedAt * (document.scale.share ? 1 : document.scale.most);
    });
  };
  std::vector<SentenceRun> runs;
  for (size_t s = 0; s < count; ++s) {
    const bool shown = count <= kManySentences || looked_at(s);
    if (runs.empty() || runs.back().shown != shown) runs.push_back({s, s, shown});
    runs.back().end = s + 1;
  }
  for (SentenceRun& run : runs) run.shown = run.shown || run.end - run.begin < kShortestGap;
  return runs;
}

}  // namespace attend::explain
