#include "attend/tasks/task.h"

#include <algorithm>

#include "attend/base/error.h"
#include "attend/base/names.h"

namespace attend::tasks {
namespace {

constexpr TaskInput kText[] = {{"text", &kTextInput}};
constexpr TaskInput kDocument[] = {{"document", &kTextInput}, {"question", &kTextInput}};
constexpr TaskInput kImage[] = {{"image", &kImageInput}};
constexpr TaskInput kSound[] = {{"sound", &kSoundInput}};

constexpr std::string_view kTranslators[] = {"transformer", "recurrent", "encoder_decoder", "language_model", "ctc"};
constexpr std::string_view kClassifiers[] = {"classifier"};
constexpr std::string_view kTaggers[] = {"tagger"};
constexpr std::string_view kParsers[] = {"recurrent", "transformer", "encoder_decoder"};
constexpr std::string_view kSpeakers[] = {"recurrent", "transformer", "encoder_decoder", "ctc"};
constexpr std::string_view kReaders[] = {"reader", "memory", "recurrent", "transformer", "encoder_decoder"};
constexpr std::string_view kSummarisers[] = {"recurrent", "transformer", "encoder_decoder"};
constexpr std::string_view kListeners[] = {"joint", "encoder_decoder", "ctc"};
constexpr std::string_view kLookers[] = {"glimpse", "image_classifier"};
constexpr std::string_view kCaptioners[] = {"captioner", "encoder_decoder"};
constexpr std::string_view kAutoencoders[] = {"autoencoder"};

constexpr std::string_view kSharedByListeners[] = {"model.encoder.", "model.decoder.", "model.attention."};
constexpr std::string_view kSharedByTaggers[] = {"model.encoder."};

constexpr std::string_view kTranslation[] = {"bleu", "chrf", "exact"};
constexpr std::string_view kExactFirst[] = {"exact", "chrf"};
constexpr std::string_view kAccuracy[] = {"accuracy"};
constexpr std::string_view kLabels[] = {"accuracy", "macro_f1"};
constexpr std::string_view kTagging[] = {"tag_accuracy", "span_f1"};
constexpr std::string_view kBrackets[] = {"bracket_f1", "exact", "well_formed"};
constexpr std::string_view kPronunciation[] = {"phoneme_error", "word_error", "exact"};
constexpr std::string_view kAnswering[] = {"squad_f1", "squad_exact", "group_error"};
constexpr std::string_view kSummaries[] = {"rouge1", "rouge2", "rougeL", "exact", "copied"};
constexpr std::string_view kListening[] = {"wer", "cer", "exact"};
constexpr std::string_view kFrames[] = {"frame_accuracy"};
constexpr std::string_view kCaptions[] = {"bleu4", "bleu1", "bleu2", "bleu3", "exact"};

constexpr TaskSetting kTextDefaults[] = {{"search.length_penalty", "0.6"}};
// A label is far shorter than its text: no pair is left out for that.
constexpr TaskSetting kClassifyDefaults[] = {{"held_out", "0.1"},
                                             {"filter.longest", "400"},
                                             {"filter.ratio", "0"},
                                             {"tokeniser.kind", "words"},
                                             {"tokeniser.lowercase", "true"},
                                             {"model.encoder.size", "128"},
                                             {"model.pooling", "attention"},
                                             {"train.epochs", "10"},
                                             {"train.best_by", "accuracy"}};
constexpr TaskSetting kTagDefaults[] = {{"held_out", "0.05"},
                                        {"filter.longest", "400"},
                                        {"tokeniser.kind", "words"},
                                        {"model.encoder.size", "128"},
                                        {"model.encoder.dropout", "0.3"},
                                        {"model.encoder.letters.kind", "convolution"},
                                        {"model.output", "crf"},
                                        {"train.epochs", "15"},
                                        {"train.best_by", "tag_accuracy"}};
constexpr TaskSetting kParseDefaults[] = {{"filter.longest", "400"},
                                          {"filter.ratio", "0"},
                                          {"tokeniser.kind", "words"},
                                          {"model.embedding", "128"},
                                          {"model.hidden", "256"},
                                          {"model.dropout", "0.3"},
                                          {"model.decoder.query", "after"},
                                          {"model.decoder.feeding", "true"},
                                          {"train.best_by", "bracket_f1"}};
constexpr TaskSetting kPronounceDefaults[] = {{"filter.longest", "60"},
                                              {"tokeniser.kind", "characters"},
                                              {"tokeniser.target_kind", "words"},
                                              {"model.embedding", "64"},
                                              {"model.hidden", "256"},
                                              {"model.dropout", "0.2"},
                                              {"model.decoder.query", "after"},
                                              {"model.decoder.feeding", "true"},
                                              {"train.best_by", "exact"}};
// A document is far longer than its question and its answer: none is left out for that, and windows bound what is read at once.
constexpr TaskSetting kAnswerDefaults[] = {{"held_out", "0.05"},
                                           {"filter.longest", "0"},
                                           {"filter.ratio", "0"},
                                           {"tokeniser.kind", "punctuated"},
                                           {"tokeniser.lowercase", "true"},
                                           {"tokeniser.vocabulary", "30000"},
                                           {"tokeniser.min_count", "2"},
                                           {"model.encoder.letters.kind", "convolution"},
                                           {"model.dropout", "0.2"},
                                           {"batch.tokens", "4000"},
                                           {"train.best_by", "squad_f1"}};
// A headline is far shorter than its text, whose rare words it takes over: they are unknown, and copied.
constexpr TaskSetting kSummariseDefaults[] = {{"filter.longest", "400"},
                                              {"filter.ratio", "0"},
                                              {"tokeniser.kind", "words"},
                                              {"tokeniser.joint", "true"},
                                              {"tokeniser.min_count", "5"},
                                              {"model.embedding", "128"},
                                              {"model.hidden", "256"},
                                              {"model.dropout", "0.3"},
                                              {"model.decoder.query", "after"},
                                              {"model.decoder.feeding", "true"},
                                              {"model.decoder.copy", "true"},
                                              {"search.beam", "4"},
                                              {"search.length_penalty", "0.6"},
                                              {"search.no_repeat_ngram", "3"},
                                              {"search.no_unknown", "true"},
                                              {"train.best_by", "rouge1"}};
constexpr TaskSetting kImageDefaults[] = {{"held_out", "0.05"},
                                          {"tokeniser.kind", "words"},
                                          {"tokeniser.lowercase", "true"},
                                          {"tokeniser.min_count", "2"},
                                          {"search.max_length", "40"},
                                          {"search.no_unknown", "true"}};

constexpr TaskSetting kListenDefaults[] = {{"held_out", "0.05"},
                                           {"tokeniser.kind", "characters"},
                                           {"tokeniser.lowercase", "true"},
                                           {"model.encoder.kind", "listener"},
                                           {"model.encoder.size", "192"},
                                           {"model.encoder.layers", "1"},
                                           {"model.encoder.pyramid", "2"},
                                           {"model.encoder.dropout", "0.2"},
                                           {"model.decoder.size", "256"},
                                           {"model.decoder.embedding", "64"},
                                           {"model.decoder.dropout", "0.2"},
                                           {"model.attention.score", "location_aware"},
                                           {"model.decoder.query", "after"},
                                           {"model.decoder.feeding", "true"},
                                           {"masks.pitch_masks", "2"},
                                           {"masks.time_masks", "2"},
                                           {"search.no_unknown", "true"},
                                           {"train.best_by", "wer"}};
constexpr TaskSetting kFramesDefaults[] = {{"held_out", "0.05"},
                                           {"model.encoder.kind", "recurrent"},
                                           {"model.encoder.size", "128"},
                                           {"model.encoder.dropout", "0.2"},
                                           {"train.best_by", "frame_accuracy"}};

// The query comes after the update: before it, a decoder has not yet read the word that it said last, and has to guess where
// to look (alignment error rate 0.30 against 0.17).
constexpr TaskSetting kHindi[] = {
    {"tokeniser.kind", "words"},
    {"model.name", "recurrent"},
    {"model.embedding", "64"},
    {"model.hidden", "128"},
    {"model.dropout", "0.1"},
    {"model.decoder.query", "after"},
    {"model.decoder.feeding", "true"},
    {"batch.tokens", "600"},
    {"train.rate", "4e-3"},
    {"train.epochs", "6"},
    {"train.best_by", "exact"},
};
// Of Multi30k's 29,000 pairs, 8 epochs of this network take 12 minutes and of the Transformer 28, for the same BLEU
// (docs/results.md).
constexpr TaskSetting kOwnPairs[] = {
    {"tokeniser.vocabulary", "4000"},
    {"model.name", "recurrent"},
    {"model.embedding", "256"},
    {"model.hidden", "256"},
    {"model.dropout", "0.3"},
    {"model.label_smoothing", "0.1"},
    {"model.decoder.query", "after"},
    {"model.decoder.feeding", "true"},
    {"batch.tokens", "1200"},
    {"train.rate", "2e-3"},
    {"train.epochs", "0"},
};
constexpr TaskSetting kCharacters[] = {
    {"tokeniser.kind", "characters"},
    {"model.name", "recurrent"},
    {"model.embedding", "64"},
    {"model.hidden", "128"},
    {"batch.tokens", "1000"},
    {"train.rate", "4e-3"},
    {"train.epochs", "8"},
    {"train.best_by", "exact"},
};

constexpr TaskSetting kFeelings[] = {{"model.encoder.size", "48"}, {"batch.tokens", "1000"}, {"train.epochs", "4"}, {"train.rate", "3e-3"}};

constexpr TaskSetting kTags[] = {
    {"model.encoder.size", "48"}, {"batch.tokens", "600"}, {"train.epochs", "4"}, {"train.rate", "3e-3"}};

constexpr TaskSetting kTrees[] = {{"model.embedding", "48"},
                                 {"model.hidden", "96"},
                                 {"model.dropout", "0.1"},
                                 {"batch.tokens", "600"},
                                 {"train.epochs", "6"},
                                 {"train.rate", "4e-3"}};

constexpr TaskSetting kLetters[] = {
    {"model.hidden", "96"}, {"model.dropout", "0.1"}, {"batch.tokens", "1000"}, {"train.epochs", "4"}, {"train.rate", "4e-3"}};

// Names of people are rare in training, so that they are read by their letters there, as they have to be later.
constexpr TaskSetting kStories[] = {{"tokeniser.min_count", "50"},
                                    {"model.encoder.size", "48"},
                                    {"model.dropout", "0.1"},
                                    {"batch.tokens", "2000"},
                                    {"train.epochs", "6"},
                                    {"train.rate", "3e-3"}};

// Names of people, places and firms are too rare for the vocabulary, and so learned to be copied.
constexpr TaskSetting kHeadlines[] = {{"tokeniser.min_count", "200"}, {"model.embedding", "48"}, {"model.hidden", "96"},
                                      {"model.dropout", "0.1"},      {"batch.tokens", "1500"},  {"train.epochs", "4"},
                                      {"train.rate", "4e-3"},        {"train.best_by", "exact"}};

constexpr TaskSetting kGlimpse[] = {
    {"model.name", "glimpse"}, {"model.first", "random"}, {"model.deviation", "0.05"},   {"model.reward", "likelihood"},
    {"batch.images", "128"},   {"train.epochs", "20"},    {"train.best_by", "accuracy"},
};
constexpr TaskSetting kShapes[] = {
    {"model.name", "captioner"},
    {"model.encoder.stages", "16,32,64,64"},
    {"model.encoder.reduce_last", "false"},
    {"model.encoder.norm", "group"},
    {"model.encoder.positions", "learned"},
    {"model.embedding", "64"},
    {"model.hidden", "192"},
    {"model.query", "state_word"},
    {"model.dropout", "0.1"},
    {"batch.images", "16"},
    {"batch.captions", "3"},
    {"train.epochs", "5"},
    {"train.rate", "2e-3"},
    {"train.validate_every", "500"},
    {"train.best_by", "exact"},
};
constexpr TaskSetting kSpeech[] = {{"model.encoder.size", "96"},    {"model.encoder.dropout", "0.1"},
                                   {"model.decoder.size", "128"},   {"model.decoder.embedding", "32"},
                                   {"model.decoder.dropout", "0.1"}, {"model.attention.hidden", "64"},
                                   {"batch.seconds", "80"},         {"train.rate", "3e-3"},
                                   {"train.epochs", "6"}};
constexpr TaskSetting kSpeechFrames[] = {
    {"model.encoder.size", "64"}, {"batch.seconds", "60"}, {"train.rate", "3e-3"}, {"train.epochs", "2"}};
constexpr TaskSetting kAutoencode[] = {
    {"model.name", "autoencoder"},
    {"train.epochs", "5"},
};

std::vector<TaskRow>& table() {
  static std::vector<TaskRow> rows = with_room<TaskRow>({
      {"translate", "one language to another; built in: English to romanised Hindi", kText, &kWordsOutput, kTranslators,
       "pairs", "hindi", kTextDefaults, kHindi, kTranslation, kOwnPairs},
      {"dates", "dates as people write them to ISO 8601", kText, &kWordsOutput, kTranslators, "pairs", "dates",
       kTextDefaults, kCharacters, kExactFirst},
      {"reverse", "words spelled backwards", kText, &kWordsOutput, kTranslators, "pairs", "reverse", kTextDefaults,
       kCharacters, kExactFirst},
      {"classify", "texts to labels; built in: how people feel about what they write of", kText, &kLabelOutput,
       kClassifiers, "labels", "feelings", kClassifyDefaults, kFeelings, kLabels},
      {"tag", "a tag for each word; built in: parts of speech, and names with --corpus names", kText, &kTagsOutput,
       kTaggers, "tags", "tags", kTagDefaults, kTags, kTagging},
      {"parse", "sentences to grammar trees; built in: sentences of a small grammar", kText, &kTreeOutput, kParsers,
       "trees", "trees", kParseDefaults, kTrees, kBrackets},
      {"pronounce", "spelling to phonemes; built in: a spelling system of our own", kText, &kWordsOutput, kSpeakers,
       "pronunciations", "letters", kPronounceDefaults, kLetters, kPronunciation},
      {"summarise", "texts to headlines, with words copied; built in: news of people, places and firms", kText,
       &kWordsOutput, kSummarisers, "pairs", "headlines", kSummariseDefaults, kHeadlines, kSummaries},
      {"answer", "questions about a document to answers; built in: small stories", kDocument, nullptr, kReaders,
       "questions", "stories", kAnswerDefaults, kStories, kAnswering},
      {"listen", "sounds to what is said; built in: numbers and commands by a synthesiser", kSound, &kWordsOutput,
       kListeners, "sounds", "spoken", kListenDefaults, kSpeech, kListening, {}, kSharedByListeners},
      {"frames", "sounds to a label for each frame; built in: the phonemes of numbers and commands", kSound, &kTagsOutput,
       kTaggers, "sounds", "spoken", kFramesDefaults, kSpeechFrames, kFrames, {}, kSharedByTaggers},
      {"glimpse", "images to labels, by a few glances; built in: digits", kImage, &kLabelOutput, kLookers, "images",
       "digits", kImageDefaults, kGlimpse, kAccuracy},
      {"caption", "images to sentences; built in: scenes of coloured shapes", kImage, &kWordsOutput, kCaptioners,
       "images", "shapes", kImageDefaults, kShapes, kCaptions},
      {"autoencode", "images to a few numbers and back; built in: digits", kImage, &kImageOutput, kAutoencoders,
       "images", "digits", kImageDefaults, kAutoencode, {}},
  });
  return rows;
}

std::string value_or(const SettingList& settings, std::string_view name, std::string_view otherwise) {
  const Setting* found = find_setting(settings, name);
  return found ? found->value : std::string(otherwise);
}

bool names_files(const TaskRow& task, const SettingList& asked) {
  const auto& files = task.input().files;
  return std::ranges::any_of(asked, [&](const Setting& s) { return std::ranges::find(files, s.name) != files.end(); });
}

/// The options that the named network has in the same sense as all others of the task; none if the task does not have it.
std::vector<std::string> shared_options(const TaskRow& task, const std::string& network) {
  std::vector<std::string> names;
  if (std::ranges::find(task.networks, network) == task.networks.end()) return names;
  for (OptionInfo& option : models::model_row(network).options({}, "model.")) {
    const auto begins = [&](std::string_view front) { return option.name.starts_with(front); };
    if (std::ranges::any_of(task.shared, begins)) names.push_back(std::move(option.name));
  }
  return names;
}

}  // namespace

const OutputRow& TaskRow::output_with(std::string_view network) const {
  if (output) return *output;
  switch (models::model_row(network).answers) {
    case models::Answers::words: return kWordsOutput;
    case models::Answers::label: return kLabelOutput;
    case models::Answers::tags: return kTagsOutput;
    case models::Answers::span: return kSpanOutput;
    case models::Answers::image: return kImageOutput;
  }
  fail("task ", name, ": expected a network with a known kind of answer, got ", network);
}

std::string_view TaskRow::file_option() const {
  return format == "pairs" ? "source" : input().streamed ? "data" : input().files[0];
}

bool TaskRow::derives(std::string_view network, std::string_view option) const {
  const auto has = [&](const auto& names) { return std::ranges::find(names, option) != names.end(); };
  return has(input().derived) || has(output_with(network).derived);
}

std::span<const TaskRow> tasks() { return table(); }
void add_task(const TaskRow& row) { table().push_back(row); }
const TaskRow& task_named(std::string_view name) { return row_named("task", tasks(), name); }

const TaskRow& task_of(const SettingList& asked) {
  const std::string name = value_or(asked, "task", tasks()[0].name), corpus = value_or(asked, "corpus", "");
  with_places(asked, "", [&] { task_named(name); });
  const TaskRow* owner = nullptr;
  for (const TaskRow& row : tasks()) {
    if (row.corpus == corpus && (!owner || row.name == name)) owner = &row;
  }
  return owner ? *owner : task_named(name);
}

SettingList with_task_defaults(const SettingList& asked) {
  const TaskRow& task = task_of(asked);
  const std::string where = "task " + std::string(task.name);
  const Setting* named = find_setting(asked, "model.name");  // has options of its own
  const std::vector<std::string> shared = named ? shared_options(task, named->value) : std::vector<std::string>();
  const auto suits = [&](std::string_view name) {
    return !named || !name.starts_with("model.") || std::ranges::find(shared, name) != shared.end();
  };
  SettingList settings;
  const auto add = [&](std::span<const TaskSetting> some) {
    for (const TaskSetting& s : some) {
      if (!suits(s.name)) continue;
      settings.push_back({std::string(s.name), std::string(s.value), where});
    }
  };
  add(task.defaults);
  if (names_files(task, asked)) {
    add(task.on_files);
    const auto suits_its_network = [](const Setting& s) { return s.name == "train.rate"; };
    if (named) std::erase_if(settings, suits_its_network);
  } else {
    settings.push_back({"corpus", std::string(task.corpus), where});
    add(task.on_builtin);
  }
  settings.insert(settings.end(), asked.begin(), asked.end());
  return settings;
}

}  // namespace attend::tasks
