#include "attend/train/scores.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/train/agreement.h"
#include "attend/train/brackets.h"
#include "attend/train/chrf.h"
#include "attend/train/edits.h"
#include "attend/train/labels.h"
#include "attend/train/tags.h"

namespace attend::train {
namespace {

using nlohmann::ordered_json;

const BleuOptions kCaptionBleu{.tokenise = "13a"};

/// As people read it: 14.37, not 14.370000000000005.
double rounded(double percent) { return std::round(percent * 1e4) / 1e4; }

double bleu(const Judged& judged) { return train::bleu(judged.outputs, judged.references()).score; }

void report_bleu(const Judged& judged, const BleuOptions& options, ordered_json& report) {
  const BleuScore bleu = train::bleu(judged.outputs, judged.references(), options);
  report["bleu"] = {{"score", bleu.score},           {"text", bleu.text()},    {"signature", bleu_signature(options)},
                    {"precisions", bleu.precisions}, {"bp", bleu.brevity},     {"ratio", bleu.ratio()},
                    {"hyp_len", bleu.hyp_len},       {"ref_len", bleu.ref_len}};
}

double chrf(const Judged& judged) { return train::chrf(judged.outputs, judged.references()); }

void report_chrf(const Judged& judged, const BleuOptions& bleu, ordered_json& report) {
  const ChrfOptions options{.lowercase = bleu.lowercase};
  const double score = train::chrf(judged.outputs, judged.references(), options);
  char text[64];
  std::snprintf(text, sizeof(text), "%s = %.2f", chrf_name(options).c_str(), score);
  report["chrf"] = {{"score", score}, {"text", text}, {"signature", chrf_signature(options)}};
}

/// The share of answers that are among the right ones, in percent.
double percent_right(const Judged& judged, bool lowercase) {
  double right = 0;
  for (size_t i = 0; i < judged.outputs.size(); ++i) {
    right += std::ranges::any_of(judged.right[i], [&](const std::string& one) {
      return exact_match(std::span(&judged.outputs[i], 1), std::span(&one, 1), lowercase) == 100;
    });
  }
  return 100 * right / static_cast<double>(judged.outputs.size());
}

double exact(const Judged& judged) { return percent_right(judged, false); }

void report_exact(const Judged& judged, const BleuOptions& options, ordered_json& report) {
  report["exact"] = rounded(percent_right(judged, options.lowercase));
}

void report_accuracy(const Judged& judged, const BleuOptions&, ordered_json& report) {
  const double percent = exact(judged);
  report["accuracy"] = rounded(percent), report["error"] = rounded(100 - percent);
}

double macro_f1(const Judged& judged) {
  return 100 * label_scores(judged.outputs, judged.references()).macro_f1;
}

ordered_json matches_json(const Matches& one) {
  return {{"precision", rounded(100 * one.precision())},
          {"recall", rounded(100 * one.recall())},
          {"f1", rounded(100 * one.f1())},
          {"examples", one.references}};
}

void report_labels(const Judged& judged, const BleuOptions&, ordered_json& report) {
  const LabelScores scores = label_scores(judged.outputs, judged.references());
  report["macro_f1"] = rounded(100 * scores.macro_f1);
  for (size_t i = 0; i < scores.labels.size(); ++i) {
    report["labels"][scores.labels[i]] = matches_json(scores.by_label[i]);
  }
  report["confusion"] = {{"labels", scores.labels}, {"rows_are_right", scores.confusion}};
}

double tag_accuracy(const Judged& judged) {
  return 100 * tag_scores(judged.outputs, judged.references()).accuracy();
}

/// Whether tags mark spans: B-PER, I-PER, O.
bool marks_spans(const Judged& judged) {
  const auto begins = [](const std::string& tags) { return tags.starts_with("B-") || tags.find(" B-") != tags.npos; };
  return std::ranges::any_of(judged.right, [&](const auto& right) { return begins(right.at(0)); });
}

double span_f1(const Judged& judged) {
  if (!marks_spans(judged)) return std::numeric_limits<double>::quiet_NaN();
  return 100 * span_scores(judged.outputs, judged.references()).all.f1();
}

void report_spans(const Judged& judged, const BleuOptions&, ordered_json& report) {
  if (!marks_spans(judged)) return;
  const SpanScores scores = span_scores(judged.outputs, judged.references());
  report["span_f1"] = rounded(100 * scores.all.f1());
  report["spans"] = matches_json(scores.all);
  for (const auto& [type, matches] : scores.types) report["span_types"][type] = matches_json(matches);
}

double bracket_f1(const Judged& judged) {
  return 100 * bracket_scores(judged.outputs, judged.references()).all.strict().f1();
}

double well_formed(const Judged& judged) {
  return 100 * bracket_scores(judged.outputs, judged.references()).well_formed_share();
}

void report_brackets(const Judged& judged, const BleuOptions&, ordered_json& report) {
  const BracketScores scores = bracket_scores(judged.outputs, judged.references());
  const auto totals = [](const BracketTotals& one) -> ordered_json {
    return {{"precision", rounded(100 * one.precision())},
            {"recall", rounded(100 * one.recall())},
            {"f1", rounded(100 * one.f1())},
            {"exact", rounded(100 * one.exact_match())},
            {"crossing", rounded(one.average_crossing())},
            {"tag_accuracy", rounded(100 * one.tag_accuracy())},
            {"sentences", one.sentences},
            {"failed", one.failed}};
  };
  report["bracket_f1"] = rounded(100 * scores.all.strict().f1());
  report["evalb"] = totals(scores.all), report["evalb_up_to_40_words"] = totals(scores.up_to_40);
}

double phoneme_error(const Judged& judged) {
  return 100 * edit_scores(judged.outputs, judged.right).error_rate();
}

double word_error(const Judged& judged) { return 100 * edit_scores(judged.outputs, judged.right).wrong_rate(); }

void report_edits(const Judged& judged, const BleuOptions&, ordered_json& report) {
  const EditScores scores = edit_scores(judged.outputs, judged.right);
  report["phoneme_error"] = rounded(100 * scores.error_rate());
  report["edits"] = {{"substitutions", scores.substitutions},
                     {"insertions", scores.insertions},
                     {"deletions", scores.deletions},
                     {"phonemes", scores.tokens}};
}

/// BLEU of the n-grams up to K words, against all references: as captions are scored.
template <size_t K>
double bleu_up_to(const Judged& judged) {
  return train::bleu(judged.outputs, judged.right, kCaptionBleu).up_to(K);
}

void report_caption_bleu(const Judged& judged, const BleuOptions&, ordered_json& report) {
  const BleuScore bleu = train::bleu(judged.outputs, judged.right, kCaptionBleu);
  for (size_t k = 1; k <= BleuScore::kOrders; ++k) report["bleu" + std::to_string(k)] = rounded(bleu.up_to(k));
  const size_t first = judged.right[0].size();
  const bool alike = std::ranges::all_of(judged.right, [&](const auto& one) { return one.size() == first; });
  report["bleu_signature"] = bleu_signature(kCaptionBleu, alike ? first : 0);
}

/// What another row of the same task reports.
void nothing(const Judged&, const BleuOptions&, ordered_json&) {}

std::vector<ScoreRow>& table() {
  static std::vector<ScoreRow> rows = with_room<ScoreRow>({
      {"bleu", "BLEU", "BLEU", "of the whole test, as sacreBLEU computes it", 1, bleu, report_bleu},
      {"chrf", "chrF", "chrF", "F-score of n-grams of letters, as sacreBLEU computes it", 1, chrf, report_chrf},
      {"exact", "Exact %", "exact match, %", "share of answers that are the reference", 1, exact, report_exact},
      {"accuracy", "Accuracy %", "accuracy, %", "share of labels that are right", 1, exact, report_accuracy},
      {"macro_f1", "Macro F1", "macro F1, %", "mean of F1 over the labels, as scikit-learn computes it", 1, macro_f1,
       report_labels},
      {"tag_accuracy", "Accuracy %", "tag accuracy, %", "share of words whose tag is right", 1, tag_accuracy},
      {"span_f1", "Span F1", "span F1, %", "of spans that BIO tags mark, as seqeval computes it", 1, span_f1,
       report_spans},
      {"bracket_f1", "Bracket F1", "labelled bracket F1, %",
       "of labelled brackets, as evalb counts them with COLLINS.prm; a sentence that evalb leaves out counts as missed", 1,
       bracket_f1, report_brackets},
      {"well_formed", "Well-formed %", "well-formed, %", "share of answers that are trees over exactly the words", 1,
       well_formed},
      {"phoneme_error", "PER %", "phoneme error rate, %", "edits per phoneme of the nearest right answer, as jiwer counts",
       -1, phoneme_error, report_edits},
      {"word_error", "WER %", "word error rate, %", "share of words that are not pronounced right", -1, word_error},
      {"bleu4", "BLEU-4", "BLEU-4", "of n-grams up to four words, against all captions", 1, bleu_up_to<4>,
       report_caption_bleu},
      {"bleu1", "BLEU-1", "BLEU-1", "of single words, against all captions", 1, bleu_up_to<1>, nothing},
      {"bleu2", "BLEU-2", "BLEU-2", "of n-grams up to two words, against all captions", 1, bleu_up_to<2>, nothing},
      {"bleu3", "BLEU-3", "BLEU-3", "of n-grams up to three words, against all captions", 1, bleu_up_to<3>, nothing},
  });
  return rows;
}

}  // namespace

std::vector<std::string> Judged::references() const {
  std::vector<std::string> first;
  for (const std::vector<std::string>& one : right) first.push_back(one.at(0));
  return first;
}

std::span<const ScoreRow> scores() { return table(); }
void add_score_row(const ScoreRow& row) { table().push_back(row); }
const ScoreRow& score_named(std::string_view name) { return row_named("score", scores(), name); }

ordered_json report_of(std::span<const std::string_view> names, const Judged& judged,
                       const BleuOptions& options) {
  require(!judged.outputs.empty() && judged.outputs.size() == judged.right.size(),
          "scores: expected as many right answers as outputs and at least one, got ", judged.right.size(), " and ",
          judged.outputs.size());
  ordered_json report = ordered_json::object();
  for (const std::string_view name : names) {
    const ScoreRow& row = score_named(name);
    if (row.report) {
      row.report(judged, options, report);
    } else {
      report[std::string(name)] = rounded(row.score(judged));
    }
  }
  return report;
}

}  // namespace attend::train
