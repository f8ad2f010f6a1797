// bottleneck: translation by sentence length, with one vector and with attention.
#include "attend/explain/report_page.h"
#include "lab/experiments.h"

namespace attend::lab {
namespace {

using explain::fixed;

/// How much worse the last group is than the first.
double loss_by_length(const std::vector<Estimate>& groups) { return groups.front().mean - groups.back().mean; }

}  // namespace

std::vector<Run> bottleneck_runs(Scale scale) {
  const std::string common = scale == Scale::quick
                                 ? "task=translate model.embedding=32 model.hidden=64 model.dropout=0 train.steps=400 "
                                   "train.rate=1e-2 valid_sentences=100"
                                 : "task=translate corpus=chains model.hidden=192 train.epochs=16 train.rate=3e-3 "
                                   "batch.tokens=1200 search.beam=1";
  return {{"one vector", common + " model.decoder.input=bridge model.decoder.query=before model.decoder.feeding=false"},
          {"attention", common}};
}

void bottleneck_report(const Results& results, Report& report) {
  report.set_up = results.quick()
                      ? "English sentences of 2 to 14 words to romanised Hindi. Two recurrent encoder-decoders, which "
                        "differ in nothing but "
                        "whether the decoder is given the encoder's last state or attends to all of its states."
                      : "English sentences joined by \"and\", 2 to 60 words and as many of every length, to romanised "
                        "Hindi; 15,000 to learn "
                        "from. Two recurrent encoder-decoders, which differ in nothing but whether the decoder is "
                        "given the encoder's last "
                        "state or attends to all of its states.";
  const std::vector<std::string> runs{"one vector", "attention"};
  const auto groups = results.groups(false);
  const auto vector = results.by_length("one vector", "bleu", groups, false);
  const auto attention = results.by_length("attention", "bleu", groups, false);
  const double vector_loss = loss_by_length(vector), attention_loss = loss_by_length(attention);
  report.check("with attention the longest sentences are better than with one vector",
               attention.back().mean > vector.back().mean + 5,
               "BLEU " + fixed(attention.back().mean) + " against " + fixed(vector.back().mean) + " (" +
                   groups.back().text() + " words)");
  report.check("from the shortest to the longest, one vector loses more", vector_loss > attention_loss,
               fixed(vector_loss) + " against " + fixed(attention_loss) + " BLEU");
  report.plot("by-length", length_plot(results, runs, "bleu", false, report.numbers),
              "BLEU by the length of the sentence.");
  report.live({.text = "The same sentence for both, and longer and longer ones.", .runs = runs});
  const std::vector<std::string> scores{"bleu", "exact", "aer"};
  report.blocks.emplace_back(score_table(results, runs, scores, report.numbers));
  report.plot("curves", curve_plot(results, runs, "bleu"), "How they learned: validations of the first seed.");
  if (!results.quick())
    report.text(
        "Beside it",
        "Sentences of a grammar are easier than those that people write. On Multi30k, German to English, whose "
        "sentences have 13 words on average, the same two networks reach BLEU 28.4 with one vector and 38.1 with "
        "attention (recipes multi30k-de-en-fixed and multi30k-de-en-recurrent; docs/results.md). That was not "
        "measured in this run.");
  report.next = {{"attend compare multi30k-de-en-recurrent multi30k-de-en-fixed --out multi30k",
                  "The same on translations that people made (docs/results.md has the figures):"}};
}

}  // namespace attend::lab
