#include "attend/train/scores.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/base/utf8.h"
#include "attend/data/utf8.h"
#include "attend/train/agreement.h"
#include "attend/train/brackets.h"
#include "attend/train/chrf.h"
#include "attend/train/copying.h"
#include "attend/train/edits.h"
#include "attend/train/labels.h"
#include "attend/train/rouge.h"
#include "attend/train/squad.h"
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

ordered_json edits_json(const EditScores& scores, const char* tokens) {
  return {{"substitutions", scores.substitutions},
          {"insertions", scores.insertions},
          {"deletions", scores.deletions},
          {tokens, scores.tokens}};
}

void report_edits(const Judged& judged, const BleuOptions&, ordered_json& report) {
  const EditScores scores = edit_scores(judged.outputs, judged.right);
  report["phoneme_error"] = rounded(100 * scores.error_rate());
  report["edits"] = edits_json(scores, "phonemes");
}

/// Each text as tokens that edit_scores counts: its characters without blanks at its ends, where "␣" stands for a blank.
std::vector<std::string> as_letters(std::span<const std::string> texts) {
  std::vector<std::string> all;
  for (const std::string& whole : texts) {
    const std::string_view text = data::trimmed(whole);
    std::string letters;
    for (size_t at = 0; at < text.size();) {
      const size_t bytes = std::max<size_t>(1, character_bytes(text.substr(at)));
      if (at > 0) letters += ' ';
      letters += text[at] == ' ' ? std::string_view("␣") : text.substr(at, bytes);
      at += bytes;
    }
    all.push_back(std::move(letters));
  }
  return all;
}

EditScores letter_edits(const Judged& judged) {
  std::vector<std::vector<std::string>> right;
  for (const std::vector<std::string>& one : judged.right) right.push_back(as_letters(one));
  return edit_scores(as_letters(judged.outputs), right);
}

double wer(const Judged& judged) { return 100 * edit_scores(judged.outputs, judged.right).error_rate(); }
double cer(const Judged& judged) { return 100 * letter_edits(judged).error_rate(); }

void report_wer(const Judged& judged, const BleuOptions&, ordered_json& report) {
  const EditScores scores = edit_scores(judged.outputs, judged.right);
  report["wer"] = rounded(100 * scores.error_rate());
  report["word_edits"] = edits_json(scores, "words");
}

void report_cer(const Judged& judged, const BleuOptions&, ordered_json& report) {
  const EditScores scores = letter_edits(judged);
  report["cer"] = rounded(100 * scores.error_rate());
  report["letter_edits"] = edits_json(scores, "letters");
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

double squad_exact(const Judged& judged) { return squad_scores(judged.outputs, judged.right).all.exact_percent(); }
double squad_f1(const Judged& judged) { return squad_scores(judged.outputs, judged.right).all.f1_percent(); }

/// With the keys of evaluate-v2.0.py where some questions have no answer.
void report_squad(const Judged& judged, const BleuOptions&, ordered_json& report) {
  const SquadScores scores = squad_scores(judged.outputs, judged.right);
  report["squad_exact"] = rounded(scores.all.exact_percent()), report["squad_f1"] = rounded(scores.all.f1_percent());
  if (scores.script == SquadScript::v1_1) return;
  const std::pair<std::string, SquadScore> parts[] = {{"HasAns", scores.with_answer}, {"NoAns", scores.without_answer}};
  for (const auto& [key, part] : parts) {
    if (part.total == 0) continue;
    report["squad_v2"][key + "_exact"] = rounded(part.exact_percent());
    report["squad_v2"][key + "_f1"] = rounded(part.f1_percent());
    report["squad_v2"][key + "_total"] = part.total;
  }
}

template <size_t Kind>
double rouge(const Judged& judged) {
  return 100 * rouge_scores(judged.outputs, judged.right, false)[Kind].f1;
}

void report_rouge(const Judged& judged, const BleuOptions&, ordered_json& report) {
  const auto all = [&](bool stems) {
    const RougeScores scores = rouge_scores(judged.outputs, judged.right, stems);
    ordered_json parts;
    for (size_t kind = 0; kind < scores.size(); ++kind) {
      parts[std::string(kRougeNames[kind])] = {{"precision", rounded(100 * scores[kind].precision)},
                                               {"recall", rounded(100 * scores[kind].recall)},
                                               {"f1", rounded(100 * scores[kind].f1)}};
    }
    return parts;
  };
  const ordered_json plain = all(false);
  for (const auto& [name, parts] : plain.items()) report[name] = parts.at("f1");
  report["rouge"] = plain, report["rouge_stemmed"] = all(true);
}

double copied(const Judged& judged) {
  if (judged.sources.empty()) return std::numeric_limits<double>::quiet_NaN();
  return 100 * novelty(judged.outputs, judged.sources).copied_share();
}

/// Of the outputs, and of the references for comparison.
void report_copying(const Judged& judged, const BleuOptions&, ordered_json& report) {
  if (judged.sources.empty()) return;
  const auto shares = [&](const std::vector<std::string>& texts) -> ordered_json {
    const Novelty one = novelty(texts, judged.sources);
    std::vector<double> novel;
    for (size_t n = 1; n <= Novelty::kOrders; ++n) novel.push_back(rounded(100 * one.novel_share(n)));
    return {{"copied_words", rounded(100 * one.copied_share())}, {"novel_words", novel[0]}, {"novel_ngrams", novel}};
  };
  const ordered_json outputs = shares(judged.outputs);
  report["copied"] = outputs.at("copied_words"), report["novel"] = outputs.at("novel_words");
  report["copying"] = {{"outputs", outputs}, {"references", shares(judged.references())}};
}

struct GroupAccuracy {
  std::string name;
  int64_t right = 0, total = 0;
  double error() const { return 100 - 100 * static_cast<double>(right) / static_cast<double>(total); }
};

/// Natural order: "qa2" before "qa10".
bool before_in_order(const std::string& a, const std::string& b) {
  const auto number = [](const std::string& text, size_t& at) {
    const size_t begin = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    return text.substr(begin, at - begin);
  };
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const std::string left = number(a, i), right = number(b, j);
    if (left != right) return left.size() != right.size() ? left.size() < right.size() : left < right;
    if (i == a.size() || j == b.size()) break;
    if (a[i] != b[j]) return a[i] < b[j];
    ++i, ++j;
  }
  return a.size() < b.size();
}

std::vector<GroupAccuracy> accuracy_by_group(const Judged& judged) {
  require(judged.groups.size() == judged.outputs.size(), "scores: expected a kind for each of ", judged.outputs.size(),
          " outputs, got ", judged.groups.size());
  std::map<std::string, GroupAccuracy, decltype(&before_in_order)> groups(before_in_order);
  for (size_t i = 0; i < judged.outputs.size(); ++i) {
    GroupAccuracy& group = groups[judged.groups[i]];
    group.right += percent_right({{judged.outputs[i]}, {judged.right[i]}}, false) == 100;
    ++group.total;
  }
  std::vector<GroupAccuracy> all;
  for (auto& [name, group] : groups) all.push_back(group), all.back().name = name;
  return all;
}

/// Whether examples are of several kinds.
bool has_groups(const Judged& judged) {
  return std::ranges::any_of(judged.groups, [](const std::string& one) { return !one.empty(); });
}

double mean_error_of(std::span<const GroupAccuracy> groups) {
  double sum = 0;
  for (const GroupAccuracy& group : groups) sum += group.error();
  return sum / static_cast<double>(groups.size());
}

double group_error(const Judged& judged) {
  if (!has_groups(judged)) return std::numeric_limits<double>::quiet_NaN();
  return mean_error_of(accuracy_by_group(judged));
}

/// Each kind, and how many kinds have more than 5 % of errors: a failed task, as bAbI's papers count.
void report_groups(const Judged& judged, const BleuOptions&, ordered_json& report) {
  if (!has_groups(judged)) return;
  const std::vector<GroupAccuracy> groups = accuracy_by_group(judged);
  report["group_error"] = rounded(mean_error_of(groups));
  report["failed_groups"] = std::ranges::count_if(groups, [](const GroupAccuracy& one) { return one.error() > 5; });
  for (const GroupAccuracy& group : groups) {
    report["groups"][group.name.empty() ? "others" : group.name] = {{"accuracy", rounded(100 - group.error())},
                                                                    {"error", rounded(group.error())},
                                                                    {"examples", group.total}};
  }
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
      {"squad_exact", "EM %", "exact match, %",
       "share of answers that are right but for case, punctuation and articles, as SQuAD's scripts compute it", 1,
       squad_exact, report_squad},
      {"squad_f1", "F1 %", "F1, %", "of the words of answers, as SQuAD's scripts compute it", 1, squad_f1, nothing},
      {"group_error", "Mean error %", "mean error, %", "share of wrong answers, mean over the kinds of examples", -1,
       group_error, report_groups},
      {"rouge1", "ROUGE-1", "ROUGE-1 F1, %", "of single words, as rouge-score computes it", 1, rouge<0>, report_rouge},
      {"rouge2", "ROUGE-2", "ROUGE-2 F1, %", "of pairs of words, as rouge-score computes it", 1, rouge<1>, nothing},
      {"rougeL", "ROUGE-L", "ROUGE-L F1, %", "of the longest common subsequence, as rouge-score computes it", 1,
       rouge<2>, nothing},
      {"wer", "WER %", "word error rate, %",
       "edits of words per word of the reference, as jiwer counts them; of phonemes, where the answer is phonemes", -1, wer,
       report_wer},
      {"cer", "CER %", "character error rate, %", "edits of characters, blanks among them, per character of the reference, as "
       "jiwer counts them", -1, cer, report_cer},
      {"frame_accuracy", "Frames %", "frames, %", "share of frames whose label is right", 1, tag_accuracy},
      {"copied", "Copied %", "copied words, %", "share of words that occur in the source", 1, copied, report_copying},
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
