#include "attend/tasks/config.h"

#include <algorithm>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/data/builtin.h"
#include "attend/data/image_set.h"
#include "attend/data/name_pattern.h"
#include "attend/models/image_networks.h"
#include "attend/tasks/image_features.h"
#include "attend/tasks/sound_corpus.h"
#include "attend/tasks/trial.h"
#include "attend/train/scores.h"

namespace attend::tasks {
namespace {

/// With characters, a filter meant for subwords would leave out a tenth of ordinary sentences.
constexpr int64_t kLongestInCharacters = 500;

/// Refuses a score that validations will not have: now, not after the first epoch.
void check_best_by(const TaskOptions& options) {
  std::vector<std::string_view> known{"loss"};
  if (options.scored != 0 || !options.row->input().streamed) {
    for (const std::string_view name : options.row->scores) {
      known.push_back(name);
    }
  }
  for (const std::string_view one : known) {
    if (one == options.train.best_by) return;
  }
  refuse_name("train.best_by", known, options.train.best_by);
}

/// As many files of answers as of sources.
void check_pairs(const TextFiles& files, const char* source, const char* target) {
  require_option(files.source.size() == files.target.size(), files.source.empty() ? target : source,
                 "expected as many files of sources as of targets, got ", files.source.size(), " and ",
                 files.target.size());
}

constexpr const char* kBoth = "expected files or a built-in corpus, got both: ";

void check_text(const TaskConfig& config) {
  const TaskOptions& o = config.options;
  check_pairs(o.text, "source", "target"), check_pairs(o.valid_text, "valid_source", "valid_target");
  if (!o.corpus.empty()) {
    row_named("corpus", data::builtin_corpora(), o.corpus);
    require_option(o.text.empty(), "corpus", kBoth, o.corpus);
    return;
  }
  require_option(!o.text.empty(), std::string(config.row().file_option()).c_str(),
                 "expected files to train on, or a built-in corpus, got none");
}

/// A network that is told where to look learns only from examples with gold word alignments, which files do not have.
void check_told(const TaskConfig& config) {
  const std::string& corpus = config.options.corpus;
  require_option(config.row().input().streamed && config.row().inputs.size() == 1 && &config.output() == &kWordsOutput,
                 "oracle", "only answers in words to one text have gold word alignments, got the task ",
                 config.row().name);
  std::string aligned;
  for (const data::BuiltinRow& row : data::builtin_corpora()) {
    if (row.aligned && row.name == corpus) return;
    if (row.aligned) aligned += (aligned.empty() ? "" : ", ") + std::string(row.name);
  }
  fail_option("oracle", "expected a corpus with gold word alignments to tell it of (", aligned, "), got ",
              corpus.empty() ? "files, which have none" : corpus);
}

void check_images(const TaskConfig& config) {
  const ImageFiles& files = config.options.images;
  const std::string& corpus = config.options.corpus;
  const bool captions = &config.output() == &kWordsOutput;
  if (!corpus.empty()) {
    if (!captions) row_named("corpus", data::image_corpora(), corpus);
    require_option(!captions || corpus == kShapesCorpus, "corpus", "expected ", kShapesCorpus, ", got ",
                   quoted(corpus));
    require_option(files.images.empty(), "corpus", kBoth, corpus);
    return;
  }
  const char* const given = !files.labels.empty() ? "labels" : !files.captions.empty() ? "captions" : "images";
  require_option(!files.images.empty(), given,
                 "expected an IDX file or a folder to train on (images), or a built-in corpus, got none");
  require_option(!captions || !files.captions.empty(), "images",
                 "expected the file of their captions as well (captions), got none");
}

void check_sounds(const TaskConfig& config) {
  const TaskOptions& o = config.options;
  if (!o.corpus.empty()) {
    row_named("corpus", spoken_corpora(), o.corpus);
    require_option(o.sound.sounds.empty(), "corpus", kBoth, o.corpus);
    require_option(!o.given_frames(), "features.kind", "expected logmel or mfcc for a built-in corpus, which is sound, got given");
    require_option(o.sound.join.most == 1, "join.most", "expected 1 for a built-in corpus, got ", o.sound.join.most);
  } else {
    require_option(!o.sound.sounds.empty(), o.sound.folder.empty() ? "sounds" : "folder",
                   "expected a list or a folder of sounds to train on (sounds), or a built-in corpus, got none");
  }
  if (!o.sound.pattern.empty()) (void)data::NamePattern(o.sound.pattern);
  with_places(config.given, "join.", [&] { data::check_join(o.sound.join); });
  with_places(config.given, "augment.", [&] { data::check_augment(o.augment); });
  with_places(config.given, "features.", [&] { (void)data::SoundFeatures(o.features); });
}

/// That cutting texts anew fits the task, the network and the kinds of tokens.
void check_subwords(const TaskConfig& config) {
  const SubwordOptions& o = config.options.batch.subwords;
  if (!o.any()) return;
  const char* const option = o.dropout > 0 ? "batch.subwords.dropout" : "batch.subwords.alpha";
  require_option(o.dropout == 0 || o.alpha == 0, "batch.subwords.alpha",
                 "expected 0 with batch.subwords.dropout: one is for bpe, the other for unigram; got ", o.alpha);
  const bool answers_words = &config.output() == &kWordsOutput;
  require_option(config.row().input().streamed && (answers_words || &config.output() == &kLabelOutput), option,
                 "texts are cut anew only where the answer does not depend on how: in words or a label, got the task ",
                 config.row().name);
  require_option(!config.model.copies() && !config.model.reads_letters() && !config.model.reads_sentences(), option,
                 "texts are cut anew only for a network that knows nothing of its tokens but their ids (no copy, no "
                 "letters, no sentences), got ",
                 config.model.name);
  const TokenOptions& tokens = config.options.tokeniser;
  const std::string& target = tokens.target_kind.empty() ? tokens.kind : tokens.target_kind;
  const char* const wanted = o.dropout > 0 ? "bpe" : "unigram";
  const auto require_kind = [&](const char* name, const std::string& kind) {
    require_option(kind == wanted, name, "expected ", wanted, " for ", option,
                   " on that side (batch.subwords.sides), got ", kind);
  };
  if (o.sides != "target") require_kind("tokeniser.kind", tokens.kind);
  require_option(o.sides != "target" || answers_words, "batch.subwords.sides",
                 "expected both or source where the answer is a label, got target");
  if (o.sides != "source" && answers_words) {
    require_kind(tokens.target_kind.empty() ? "tokeniser.kind" : "tokeniser.target_kind", target);
  }
}

/// The one option that is meant by a name, or by the end of one: "heads" is model.attention.heads; "" if several end
/// so.
std::string whole_name(const std::vector<OptionInfo>& options, const std::string& end) {
  std::string found;
  for (const OptionInfo& option : options) {
    if (option.name == end || option.name == "model." + end) return option.name;
    if (!option.name.ends_with("." + end)) continue;
    if (!found.empty()) return "";
    found = option.name;
  }
  return found;
}

/// Says why no such network can be trained, and what was given that makes it so.
[[noreturn]] void refuse_network(const TaskConfig& config, const Error& error) {
  const auto* about = dynamic_cast<const OptionError*>(&error);
  const std::string name = about ? whole_name(config.all(), about->option()) : "";
  const Setting* setting = name.empty() ? nullptr : find_setting(config.given, name);
  if (!setting) setting = culprit_of(config);
  const std::string subject = setting ? detail::place_of(*setting) : name.empty() ? "model" : name;
  const bool told = about && !name.empty() && (!setting || setting->name == name);
  const std::string known = about ? (name.empty() ? about->option() : name) + ": " + about->reason() : error.what();
  fail_usage(subject, ": ", told ? about->reason() : known);
}

}  // namespace

std::vector<std::string> TextFiles::all() const {
  std::vector<std::string> names;
  for (const auto* list : {&source, &target, &tsv, &data}) names.insert(names.end(), list->begin(), list->end());
  return names;
}

TaskConfig::TaskConfig(const SettingList& asked) : options(task_of(asked)), given(asked) {
  SettingList settings = with_task_defaults(asked);
  with_places(asked, "", [&] { model = ModelChoice::take(settings, row().networks); });
  refuse_unknown(settings, all());  // before set_options, which does not know the network's: "modle.hidden"
  set_options(options, settings);
  options.task = row().name;
  if (row().input().is_image() && options.images.channels == 0 &&
      models::find_image_network(image_encoder_options(*this).kind)) {
    options.images.channels = 3;  // published networks have seen nothing else
  }
  if (!find_setting(settings, "search.beam")) decode::widen(options.search);
  if (options.tokeniser.kind == "characters" && !find_setting(settings, "filter.longest")) {
    options.filter.longest = kLongestInCharacters;
  }
}

std::vector<OptionInfo> TaskConfig::all() const { return model.with(describe_options(options)); }

void TaskConfig::check() const {
  with_places(given, "", [&] {
    check_bounds(options);
    check_best_by(options);
    check_data();
  });
  with_places(given, "train.", [&] { train::check(options.train); });
  with_places(given, "search.", [&] { decode::check(options.search); });
  check_network();
}

void TaskConfig::check_files(bool resumed) const {
  std::vector<OptionInfo> options = all();
  const auto read_once = [](const OptionInfo& option) {
    return option.name == "vectors" || option.name == "model.encoder.weights";
  };
  if (resumed) std::erase_if(options, read_once);
  require_files(options, given);
  if (!resumed) check_encoder_weights(*this);
}

void TaskConfig::check_data() const {
  if (row().input().streamed) {
    check_text(*this);
  } else {
    row().input().is_image() ? check_images(*this) : check_sounds(*this);
  }
  const bool held = !options.valid_text.empty() || !options.images.valid_images.empty() ||
                    !options.images.valid_names.empty() || !options.sound.valid_sounds.empty() || !options.corpus.empty();
  require_option(held || options.held_out > 0, "held_out",
                 "expected more than 0 where no validation files are named, got ", options.held_out);
  const bool words = options.tokeniser.kind == "words" || options.tokeniser.kind == "punctuated";
  require_option(!model.reads_letters() || words, "tokeniser.kind",
                 "a network that looks inside words (letters.kind) needs words or punctuated, got ",
                 options.tokeniser.kind);
  require_option(!model.copies() || (row().input().streamed && &output() == &kWordsOutput), "copy",
                 "only words of a text can be copied, into an answer in words, got the task ", row().name);
  require_option(!model.copies() || words || options.tokeniser.joint, "tokeniser.kind",
                 "a network that copies (copy) needs words or punctuated, or one vocabulary for both sides "
                 "(tokeniser.joint: true), got ",
                 options.tokeniser.kind);
  if (model.is_told()) check_told(*this);
  check_subwords(*this);
  require_option(options.document.stride <= options.document.window, "document.stride",
                 "expected at most document.window, ", options.document.window, ", got ", options.document.stride,
                 ": what lies between two windows would never be read");
}

void TaskConfig::check_network() const {
  const std::vector<OptionInfo> options_of_run = all();
  for (const char* tied : {"model.tied", "model.decoder.tied"}) {
    const auto found = std::ranges::find(options_of_run, tied, &OptionInfo::name);
    if (found == options_of_run.end() || found->value != "all" || options.tokeniser.joint) continue;
    with_places(given, "", [&] {
      fail_option(tied, "all needs one vocabulary for both sides (tokeniser.joint: true), got one for each");
    });
  }
  try {
    try_network(*this);
  } catch (const Error& error) {
    refuse_network(*this, error);
  }
}

}  // namespace attend::tasks
