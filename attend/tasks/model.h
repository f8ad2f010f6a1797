// A trained task: its network, what its inputs and its output have learned, and the options that it was trained with.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attend/data/alignment.h"
#include "attend/tasks/corpus.h"
#include "attend/tasks/input.h"
#include "attend/tasks/output.h"
#include "attend/train/company.h"
#include "attend/train/scores.h"

namespace attend::tasks {

/// One answer to one example.
struct Answer {
  std::string text;
  double score = 0, log_probability = 0;
  bool ended = true;  ///< false: it reached the longest length
  std::vector<int32_t> tokens;
  std::vector<std::string> source, target;  ///< words, where alignments were asked for
  Tensor weights;                           ///< [target words, source words]
  data::Links links;
  std::vector<explain::Trace> traces;  ///< where they were asked for, of the first answer: one per part
  int64_t parts = 1;                   ///< a text that is too long for the model is answered in parts, or read in windows
  std::optional<data::TextRange> found = {};  ///< of a stretch of the first input: its bytes
  bool none = false;                          ///< it says that there is no answer
  std::vector<data::TimedLabel> times = {};   ///< of a sound, where they were asked for: when each word was said
  int64_t part = 0;                           ///< the window that it was found in, from 0
  data::Image image;                   ///< of a model that answers with images
};

struct AnswerOptions {
  decode::SearchOptions search;
  bool align = false;
  bool trace = false;
  bool times = false;            ///< of the words of an answer to a sound
  double threshold = 0;          ///< of links; 0: the best for each target word
  bool replace_unknown = false;  ///< an unknown word becomes the source word that it looked at most
  std::optional<double> no_answer;  ///< in place of the model's own document.threshold
  std::function<void()> check;   ///< called after each step of a search; what it throws ends it
  /// Told of the likeliest beginning of the first answer after each step.
  std::function<void(const std::string& text)> partial;
  /// How each answer has to begin: one for each example, or none at all.
  std::span<const std::string> prefixes;
};

class TaskModel {
 public:
  using Inputs = std::vector<std::unique_ptr<Input>>;

  /// With new weights; inputs and output have learned.
  TaskModel(TaskConfig config, Inputs inputs, std::unique_ptr<Output> output);
  TaskModel(TaskModel&& other) noexcept;
  TaskModel& operator=(TaskModel&&) = delete;
  /// What save() and a trainer wrote into a folder. Throws Error, naming the file, where one is not what was written.
  static TaskModel load(const std::filesystem::path& folder);
  /// What was learned, the options, further files by name, and the manifest of them, which replace those of the folder together;
  /// weights are the trainer's.
  void save(const std::filesystem::path& folder, const std::map<std::string, std::string>& further = {}) const;
  static Inputs new_inputs(const TaskConfig& config);
  /// Has those inputs learn, or load, that are the first of their kind; the others share what these know.
  static void each_learner(const Inputs& inputs, const TaskConfig& config,
                           const std::function<void(Input& input)>& learn);

  /// The folder's, where it was loaded from one.
  const std::string& name() const { return name_; }
  int64_t parameters() const { return parameters_; }
  const TaskConfig& config() const { return config_; }
  const TaskRow& row() const { return config_.row(); }
  const Input& input(size_t i = 0) const { return *inputs_.at(i); }
  const Output& output() const { return *output_; }
  models::Model& model() { return *model_; }
  const models::Model& model() const { return *model_; }

  /// Whether it answers questions about a document: one answer for all of it, however long it is, where a text alone is answered
  /// part by part.
  bool reads_documents() const { return inputs_.size() > 1; }
  /// Most tokens of a text that is answered in one piece: the longest that training has seen; of a document, the longest window.
  /// 0: any.
  int64_t longest() const;
  /// All inputs of an example in one piece. Throws Error where it has another number of them.
  Ready ready(const Example& example) const;
  /// The same to learn from: changed at random, where that helps.
  Ready varied(const Example& example, Random& random) const;
  /// The same in the parts, or the windows of its document, in which it is answered.
  std::vector<Ready> parts(const Example& example) const;
  /// A small example to try it with.
  Example trial() const;
  data::Source source(std::span<const Ready* const> batch) const;
  /// What the network learns from these: each right answer of each example, which is varied by `random`.
  data::Batch batch(std::span<const Example> examples, Random* random = nullptr) const;

  /// Answers of a search over one window of a document as they are given, best first: a network may prefer to give none.
  void rank(std::vector<decode::Hypothesis>& found, const Ready& source, std::optional<double> threshold = {}) const;
  /// The n_best answers to each example, best first; an empty text has an empty answer.
  std::vector<std::vector<Answer>> answer(std::span<const Example> examples, const AnswerOptions& options) const;

  // The same for whoever has searches of their own, such as a decode::Crowd:
  /// An example, or a part of a long text: what is searched for at once.
  struct Piece {
    size_t example = 0;
    int64_t part = 0;
    Ready ready;
    int64_t size = 0;  ///< of its longest input, once encoded
    std::vector<int32_t> prefix;

    /// What answers are drawn by: the number of its example, so that it does not matter which are answered at once; the further
    /// parts of a text are far from all examples.
    int64_t number() const { return static_cast<int64_t>(example) + (part << 40); }
  };
  /// Prefixes as in AnswerOptions.
  std::vector<Piece> pieces(std::span<const Example> examples, std::span<const std::string> prefixes) const;
  /// What was found for a piece, as answers.
  std::vector<Answer> answers(const Piece& piece, std::vector<decode::Hypothesis> found, const AnswerOptions& options) const;
  /// Answers to so many examples from those to all of their pieces; what is empty has none yet.
  std::vector<std::vector<Answer>> whole(const std::vector<Piece>& pieces, std::vector<std::vector<Answer>> found,
                                         size_t examples, const AnswerOptions& options) const;

 private:
  int64_t document_window(int64_t others) const;
  int64_t most_further() const;
  void tell(const Example& example, std::span<Ready> parts) const;
  std::vector<Ready> with_further(std::vector<Ready> parts, const Example& example) const;
  std::vector<std::vector<Answer>> answer_some(std::span<const Example> examples, const AnswerOptions& options) const;
  std::vector<std::vector<Answer>> answer_batch(std::span<const Piece* const> batch,
                                                const AnswerOptions& options) const;
  std::vector<std::vector<Answer>> rebuilt(std::span<const Ready* const> batch) const;
  void align(std::span<const Piece* const> batch, const AnswerOptions& options,
             std::vector<std::vector<Answer>>& answers) const;
  std::vector<Answer> best_of(std::vector<Answer> all, const AnswerOptions& options) const;
  static TaskModel load_once(const std::filesystem::path& folder);
  void align_one(const Ready& source, const Tensor& weights, const AnswerOptions& options, Answer& answer) const;

  TaskConfig config_;
  Inputs inputs_;
  std::unique_ptr<Output> output_;
  std::unique_ptr<models::Model> model_;
  std::string name_;
  int64_t parameters_ = 0;
};

/// How right a model is on examples.
struct Scored {
  int64_t examples = 0;
  double loss = 0;  ///< where it was asked for
  std::vector<std::string> titles = {};
  /// Where the task reads several texts, those of each example by name; otherwise empty.
  std::vector<std::vector<std::pair<std::string, std::string>>> inputs = {};
  train::Judged judged;
  std::vector<data::Links> links = {}, gold = {};  ///< where there are gold alignments and the model attends

  /// Of the task's rows.
  std::map<std::string, double> scores(const TaskRow& row) const;
};
/// Told how many are done.
using Done = std::function<void(int64_t done)>;

struct EvaluateOptions {
  AnswerOptions answer;
  int64_t most = 0;  ///< examples; 0: all
  bool loss = false, align = false;
  Done done = {};
  /// Ranks that share the examples out; all of them get the same result. None: this one alone.
  train::Company* company = nullptr;
};
Scored evaluate(const TaskModel& model, const Examples& examples, const EvaluateOptions& options);
/// What scores look at of an example: its right answers, its first text, its kind.
void add_example(const Example& example, train::Judged& judged);
/// Whether one of them has a gold alignment.
bool has_links(const Examples& examples);
/// How right it would be to give all of them this one answer, such as the most frequent caption.
Scored evaluate_answer(const TaskModel& model, const Examples& examples, const std::string& answer);

}  // namespace attend::tasks
