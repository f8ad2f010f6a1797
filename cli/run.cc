// `attend run`: answers what it is given: one line for each line of text, one for each image.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/base/packed.h"
#include "attend/base/replacement.h"
#include "attend/data/image_file.h"
#include "attend/data/lines.h"
#include "attend/data/utf8.h"
#include "attend/dist/company.h"
#include "attend/dist/deal.h"
#include "attend/explain/trace.h"
#include "attend/tasks/typed.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/input_flags.h"
#include "cli/model_argument.h"
#include "cli/on_error.h"
#include "cli/output_lines.h"
#include "cli/quiet.h"
#include "cli/run_sounds.h"

namespace attend::cli {
namespace {

namespace fs = std::filesystem;

struct RunOptions {
  explicit RunOptions(const tasks::TaskRow* row) : row(row), given(row) {}

  const tasks::TaskRow* row;
  InputFlags given;
  double no_answer_threshold = 0;
  std::string input, output, prefix, prefixes, alignments, trace, rebuilt;
  double alignment_threshold = 0;
  bool unk_replace = false, scores = false;
  int64_t batch = 256;
  std::string on_error = "stop";
  ThreadOption threads;

  SoundRunOptions sounds;

  bool of_text() const { return !row || row->input().streamed; }
  bool of_sound() const { return row && row->input().reads == models::Reads::sound; }

  template <class Visit>
  void fields(Visit&& visit) {
    if (of_text()) {
      given.fields(visit);
      visit("input", input, "file or pipe of lines, plain or gzip; - or none: standard input", bounds::files_to_read());
      if (row && row->inputs.size() > 1) {
        visit("no_answer_threshold", no_answer_threshold,
              "networks that may give no answer: how much the score of one has to be above that; none: the model's own",
              bounds::within(-1e6, 1e6));
      }
      visit("prefix", prefix, "how every answer begins");
      visit("prefixes", prefixes, "file with one such beginning per line", bounds::files_to_read());
      visit("alignments", alignments,
            "file for word alignments as Moses writes them (\"0-0 2-1\": source word, target word, split at white "
            "space); subword weights are summed to words, the end of a sentence is left out",
            bounds::file_to_write());
      visit("alignment_threshold", alignment_threshold,
            "links all words with at least this weight; 0: each target word with its best source word",
            bounds::within(0, 1));
      visit("trace", trace,
            "file for what was looked at, one JSON object per line (docs/traces.md); answers stay the same",
            bounds::file_to_write());
      visit("unk_replace", unk_replace, "an unknown word becomes the source word that was looked at most");
      visit("batch", batch, "most lines that are answered at once", bounds::within(1, 1 << 20));
    } else if (of_sound()) {
      sounds.fields(visit);
    } else {
      visit("rebuilt", rebuilt, "autoencoder: folder for what it makes of the images, as PNG");
    }
    visit("on_error", on_error,
          of_text()
              ? "a line that cannot be answered (no UTF-8, too long, …): stop, skip it, or replace its answer by an "
                "empty line, so that line i still answers line i"
              : "a file that cannot be answered: stop, skip it, or replace its answer by an empty one",
          bounds::one_of({"stop", "skip", "replace"}));
    visit("output", output, "file in place of standard output", bounds::file_to_write());
    visit("scores", scores,
          "write \"score<tab>answer\" (of a label its probability); n-best lists of text have them anyway: \"line ||| "
          "answer ||| score\"");
    threads.fields(visit);
  }
};

/// A line to be answered; or why it cannot be.
struct InputLine {
  std::string text, fault = {};
};

/// Lines to be answered, some at once: as many as have come, but at least one.
class InputLines {
 public:
  explicit InputLines(data::LineReader reader) : reader_(std::move(reader)) {}

  const std::string& name() const { return reader_.name(); }

  /// False at the end. Where a file cannot be read on, the lines before that are answered first.
  bool next(std::vector<InputLine>& lines, size_t most) {
    lines.clear();
    if (fault_) std::rethrow_exception(fault_);
    try {
      while (lines.size() < most && (lines.empty() || !reader_.waits()) && add_next(lines)) {
      }
    } catch (const Error&) {
      if (lines.empty()) throw;
      fault_ = std::current_exception();
    }
    return !lines.empty();
  }

 private:
  bool add_next(std::vector<InputLine>& lines) {
    try {
      std::string text;
      if (!reader_.next(text)) return false;
      lines.push_back({std::move(text)});
    } catch (const data::BadLine& bad) {
      lines.push_back({"", bad.what()});
    }
    return true;
  }

  data::LineReader reader_;
  std::exception_ptr fault_;
};

/// A file or a pipe by its name; "" and "-" are standard input.
data::LineReader open_input(const std::string& path) { return data::LineReader(fs::path(path.empty() ? "-" : path)); }

/// Says on standard error what a reader of the output would not see.
class Warnings {
 public:
  /// Once for each word of a beginning that the vocabulary cannot say.
  void prefix(const tasks::TaskModel& model, const std::string& text) {
    if (text.empty() || !model.output().words()) return;
    const data::TokenisedWords tokens = model.output().words()->tokenise(text);
    for (size_t i = 0; i < tokens.ids.size(); ++i) {
      if (tokens.ids[i] != data::kUnknown || tokens.word_of[i] < 0) continue;
      const std::string& word = tokens.words[static_cast<size_t>(tokens.word_of[i])];
      if (!unknown_.insert(word).second) continue;
      note("attend run: the vocabulary does not contain " + quoted(word) +
           ": answers that have to begin with it have " + std::string(data::Tokeniser::kUnknownText) + " there");
    }
  }

  void line(int64_t number, const std::vector<tasks::Answer>& answers, const tasks::TaskModel& model) {
    if (answers.empty()) return;
    if (answers[0].parts > 1 && !model.reads_documents()) {
      note("attend run: line " + std::to_string(number) + " has more than " + std::to_string(model.longest()) +
           " tokens, the longest that training saw; answered in " + std::to_string(answers[0].parts) + " parts");
    }
    if (!answers[0].ended && cut_++ == 0) first_cut_ = number;
  }

  /// What is said once, when all lines are answered.
  void summary(int64_t lines) const {
    if (cut_ == 0) return;
    note("attend run: " + std::to_string(cut_) + " of " + std::to_string(lines) +
         (lines == 1 ? " answer" : " answers") +
         " reached the greatest length before the end (--max-length); the first is that of line " +
         std::to_string(first_cut_));
  }

 private:
  std::set<std::string> unknown_;
  int64_t cut_ = 0, first_cut_ = 0;
};

/// Whether both would be one file: what is written would be read again, without end. Devices may be named twice.
bool same_file(const std::string& one, const std::string& other) {
  std::error_code missing;
  if (one.empty() || one == "-" || other.empty() || (fs::exists(one, missing) && !fs::is_regular_file(one, missing)))
    return false;
  return one == other || fs::equivalent(one, other, missing);
}

fs::path rebuilt_path(const std::string& folder, const std::string& file) {
  return fs::path(folder) / (fs::path(file).stem().string() + ".png");
}

/// Why what is made of these images cannot all be written to the folder; "" if it can.
std::string rebuilt_objection(const std::vector<std::string>& files, const std::string& folder) {
  std::map<fs::path, std::string> written;
  for (const std::string& file : files) {
    const fs::path out = rebuilt_path(folder, file);
    std::error_code none;
    if (fs::equivalent(out, file, none)) return "--rebuilt: choose another folder, as " + file + " is in this one";
    const auto [other, added] = written.emplace(out, file);
    if (!added) return "--rebuilt: " + other->second + " and " + file + " would both become " + out.string();
  }
  return "";
}

/// What is wrong with the files that were named, and with where answers go; "" if nothing is.
std::string files_objection(const ModelArgument& given, const RunOptions& o, const std::vector<std::string>& files) {
  if (o.of_text() && files.empty()) return "";
  if (o.of_text()) return "unexpected argument " + quoted(files[0]) + ": texts come from --input or standard input";
  if (o.of_sound()) return objection(o.sounds, files);
  if (files.empty()) return "name at least one image: attend run " + given.folder + " a.png";
  const bool rebuilds = &given.config->output() == &tasks::kImageOutput;
  if (rebuilds && o.rebuilt.empty()) return "--rebuilt is needed, as an autoencoder answers with images";
  if (!rebuilds && !o.rebuilt.empty()) return "--rebuilt is for autoencoders, got " + given.config->model.name;
  for (const std::string& file : files) {
    std::error_code problem;
    if (!fs::exists(file, problem)) return "there is no file " + quoted(file);
    if (same_file(o.output, file)) return "--output: choose another file, as " + file + " is an image to be looked at";
  }
  return rebuilds ? rebuilt_objection(files, o.rebuilt) : "";
}

/// What is wrong with these flags together; "" if nothing is.
std::string objection(const RunOptions& o) {
  if (!o.prefix.empty() && !o.prefixes.empty()) return "--prefix or --prefixes, not both";
  const std::string* const files[] = {&o.input, &o.output, &o.alignments, &o.trace};
  for (size_t i = 0; i < std::size(files); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (same_file(*files[k], *files[i])) {
        return "--input, --output, --alignments and --trace: each needs a file of its own, got one twice";
      }
    }
  }
  const bool asks_by_input = o.input.empty() || o.input == "-";
  if (asks_by_input && std::ranges::find(o.given.files, "-") != o.given.files.end()) {
    return "standard input cannot be read twice: name a file for what is asked (--input), or for what it is about";
  }
  return "";
}

std::string numbered(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.4f", value);
  return text;
}

/// n-best lists as Moses writes them: "line ||| answer ||| score".
void write_answers(OutputLines& out, int64_t number, const std::vector<tasks::Answer>& answers, bool n_best,
                   bool scores) {
  if (!n_best) {
    const tasks::Answer& best = answers.at(0);
    return out.write((scores ? numbered(best.score) + "\t" : "") + data::on_one_line(best.text));
  }
  for (const tasks::Answer& one : answers) {
    out.write(std::to_string(number - 1) + " ||| " + data::on_one_line(one.text) + " ||| " + numbered(one.score));
  }
}

void write_traces(explain::TraceWriter& out, int64_t line, std::vector<explain::Trace>& parts) {
  for (size_t i = 0; i < parts.size(); ++i) {
    parts[i].line = line;
    if (parts.size() > 1) parts[i].part = static_cast<int64_t>(i) + 1;
    out.add(parts[i]);
  }
}

/// Says on a terminal what is asked for next.
class Prompt {
 public:
  explicit Prompt(const RunOptions& options)
      : asks_(options.given.any() && options.input.empty() && ::isatty(STDIN_FILENO) == 1),
        text_(asks_ ? std::string(options.row->inputs.back().name) + ": " : "") {}
  ~Prompt() {
    if (asks_) std::cerr << std::endl;
  }
  Prompt(const Prompt&) = delete;
  Prompt& operator=(const Prompt&) = delete;

  void ask() const { std::cerr << text_ << std::flush; }
  /// A person who mistypes may try again.
  std::string on_error(const std::string& otherwise) const { return asks_ ? "skip" : otherwise; }

 private:
  bool asks_;
  std::string text_;
};

/// Lines as examples. What is none has nothing in it, and a fault.
std::vector<tasks::Example> examples_in(const tasks::TaskRow& row, const std::vector<std::string>& given,
                                        std::vector<InputLine>& lines, const std::string& name, int64_t first) {
  std::vector<tasks::Example> examples;
  for (size_t i = 0; i < lines.size(); ++i) {
    InputLine& line = lines[i];
    examples.push_back({.inputs = std::vector<tasks::Value>(row.inputs.size(), std::string())});
    if (!line.fault.empty()) continue;
    if (row.inputs.size() == 1) {
      examples.back().inputs[0] = line.text;
      continue;
    }
    try {
      const std::string where = name + ":" + std::to_string(first + static_cast<int64_t>(i));
      examples.back() = tasks::typed_example(row, given, where, line.text);
    } catch (const Error& error) {
      line.fault = error.what();
    }
  }
  return examples;
}

/// Answers some lines at once. If that fails, it answers them one by one, and notes which it was.
std::vector<std::vector<tasks::Answer>> answer_lines(const tasks::TaskModel& model,
                                                     const std::vector<std::string>& given,
                                                     std::vector<InputLine>& lines, const std::string& name,
                                                     int64_t first, tasks::AnswerOptions options) {
  // A bad line is an empty one: what is drawn depends on the place.
  const std::vector<tasks::Example> examples = examples_in(model.row(), given, lines, name, first);
  try {
    return model.answer(examples, options);
  } catch (const UsageError&) {
    throw;
  } catch (const Error&) {  // whichever line it was
  }
  std::vector<std::vector<tasks::Answer>> answers(lines.size());
  const std::span<const std::string> prefixes = options.prefixes;
  const int64_t first_sentence = options.search.first_sentence;
  for (size_t i = 0; i < lines.size(); ++i) {
    options.search.first_sentence = first_sentence + static_cast<int64_t>(i);
    if (!prefixes.empty()) options.prefixes = prefixes.subspan(i, 1);
    try {
      answers[i] = std::move(model.answer(std::span(&examples[i], 1), options).at(0));
    } catch (const UsageError&) {
      throw;
    } catch (const Error& error) {
      if (lines[i].fault.empty()) {
        lines[i].fault = name + ":" + std::to_string(first + static_cast<int64_t>(i)) + ": " + error.what();
      }
    }
  }
  return answers;
}

/// Where answers to lines go.
struct Outputs {
  OutputLines answers;
  std::optional<OutputLines> alignments = {};
  std::optional<explain::TraceWriter> traces = {};
  bool n_best = false, scores = false;

  Outputs(const RunOptions& options, const tasks::AnswerOptions& answer)
      : answers(options.output), n_best(answer.search.n_best > 1), scores(options.scores) {
    if (answer.align) alignments.emplace(options.alignments);
    if (answer.trace) traces.emplace(options.trace);
  }

  void write(int64_t number, std::vector<tasks::Answer>& line) {
    write_answers(answers, number, line, n_best, scores);
    if (alignments) {
      for (const tasks::Answer& one : line) alignments->write(data::print_links(one.links));
    }
    if (traces) write_traces(*traces, number, line.at(0).traces);
  }
  void flush() {
    answers.flush();
    if (alignments) alignments->flush();
  }
};

/// Some lines that are answered at once, the first of which has that number.
struct Block {
  int64_t first = 1;
  std::vector<InputLine> lines;
  std::vector<std::string> prefixes;
};

/// Lines as they come, with how their answers have to begin.
class Blocks {
 public:
  Blocks(const tasks::TaskModel& model, const RunOptions& options, Warnings& warnings)
      : model_(model), options_(options), warnings_(warnings), in_(open_input(options.input)), prompt_(options) {
    if (!options.prefixes.empty()) prefix_lines_.emplace(options.prefixes);
    warnings_.prefix(model, options.prefix);
  }
  const std::string& name() const { return in_.name(); }
  std::string on_error() const { return prompt_.on_error(options_.on_error); }

  bool next(Block& block) {
    prompt_.ask();
    block.first = read_ + 1, block.prefixes.clear();
    if (!in_.next(block.lines, static_cast<size_t>(options_.batch))) return false;
    read_ += std::ssize(block.lines);
    if (prefix_lines_ || !options_.prefix.empty()) block.prefixes.assign(block.lines.size(), options_.prefix);
    for (std::string& prefix : block.prefixes) {
      if (!prefix_lines_) break;
      require(prefix_lines_->next(prefix), options_.prefixes, ": expected a beginning for every line, got ",
              prefix_lines_->number());
      warnings_.prefix(model_, prefix);
    }
    return true;
  }

 private:
  const tasks::TaskModel& model_;
  const RunOptions& options_;
  Warnings& warnings_;
  InputLines in_;
  Prompt prompt_;
  std::optional<data::LineReader> prefix_lines_;
  int64_t read_ = 0;
};

using Answers = std::vector<std::vector<tasks::Answer>>;

/// Where answers to blocks go, and what is said of them.
class Written {
 public:
  Written(const tasks::TaskModel& model, const RunOptions& options, const tasks::AnswerOptions& answer,
          const std::string& on_error, Warnings& warnings)
      : model_(model), out_(options, answer), on_error_(on_error, "line"), warnings_(warnings) {}

  void write(const Block& block, Answers& answers) {
    for (size_t i = 0; i < block.lines.size(); ++i) {
      const int64_t number = block.first + static_cast<int64_t>(i);
      if (block.lines[i].fault.empty()) {
        out_.write(number, answers[i]);
        warnings_.line(number, answers[i], model_);
        on_error_.answered();
        continue;
      }
      out_.flush();  // before it is told, which may be the end
      on_error_.meet(block.lines[i].fault);
      if (!on_error_.replaces()) continue;
      std::vector<tasks::Answer> none{{.score = std::numeric_limits<double>::quiet_NaN()}};
      out_.write(number, none);
    }
    out_.flush();
  }
  void summary() const {
    warnings_.summary(on_error_.count_answered());
    on_error_.summary();
  }

 private:
  const tasks::TaskModel& model_;
  Outputs out_;
  OnError on_error_;
  Warnings& warnings_;
};

std::string packed(const Block& block) {
  Packing out;
  out.add(block.first).add(static_cast<uint64_t>(block.lines.size()));
  for (const InputLine& line : block.lines) out.add(line.text).add(line.fault);
  return std::move(out.add(block.prefixes)).bytes();
}

Block taken_block(Unpacking& in) {
  Block block{.first = in.taken<int64_t>()};
  block.lines.resize(in.taken<uint64_t>());
  for (InputLine& line : block.lines) in.take(line.text), in.take(line.fault);
  in.take(block.prefixes);
  return block;
}

/// What is written of answers: not their traces.
std::string packed(const Answers& answers) {
  Packing out;
  for (const std::vector<tasks::Answer>& line : answers) {
    out.add(static_cast<uint64_t>(line.size()));
    for (const tasks::Answer& one : line) {
      out.add(one.text).add(one.score).add(one.ended).add(one.parts).add(data::print_links(one.links));
    }
  }
  return std::move(out).bytes();
}

Answers taken_answers(Unpacking& in) {
  Answers answers;
  while (!in.at_end()) {
    std::vector<tasks::Answer>& line = answers.emplace_back(in.taken<uint64_t>());
    for (tasks::Answer& one : line) {
      in.take(one.text), in.take(one.score), in.take(one.ended), in.take(one.parts);
      one.links = data::parse_links("rank", in.taken<std::string>());
    }
  }
  return answers;
}

/// Blocks are dealt out to the ranks. What goes wrong while one is read counts once those before it are written.
void deal_lines(train::Company& company, const std::function<bool(Block&)>& next,
                const std::function<Answers(Block&)>& answers_to,
                const std::function<void(const Block&, Answers&)>& write) {
  std::exception_ptr fault;
  const auto next_packed = [&](std::string& text) {
    Block block;
    try {
      if (fault || !next(block)) return false;
    } catch (const Error&) {
      fault = std::current_exception();
      return false;
    }
    text = packed(block);
    return true;
  };
  const auto work = [&](const std::string& text) {
    Unpacking in(text);
    Block block = taken_block(in);
    const Answers answers = answers_to(block);
    return std::move(Packing().add(packed(block)).add(packed(answers))).bytes();
  };
  const auto take = [&](const std::string& text) {
    Unpacking in(text);
    const auto block_text = in.taken<std::string>(), answer_text = in.taken<std::string>();
    Unpacking block_in(block_text), answers_in(answer_text);
    const Block block = taken_block(block_in);
    Answers answers = taken_answers(answers_in);
    write(block, answers);
  };
  dist::deal(company, {next_packed, work, take});
  if (fault) std::rethrow_exception(fault);
}

/// One text after another, as they come.
void run_lines(train::Company& company, const tasks::TaskModel& model, const RunOptions& options,
               const std::vector<std::string>& given, tasks::AnswerOptions answer) {
  const int64_t first_sentence = answer.search.first_sentence;
  std::string name = options.input.empty() || options.input == "-" ? "standard input" : options.input;
  const auto answers_to = [&](Block& block) {
    answer.search.first_sentence = first_sentence + block.first - 1;
    answer.prefixes = block.prefixes;
    return answer_lines(model, given, block.lines, name, block.first, answer);
  };
  if (!company.leads()) return deal_lines(company, {}, answers_to, {});
  Warnings warnings;
  Blocks blocks(model, options, warnings);
  name = blocks.name();
  Written written(model, options, answer, blocks.on_error(), warnings);
  const auto write = [&](const Block& block, Answers& answers) { written.write(block, answers); };
  if (company.alone()) {
    for (Block block; blocks.next(block);) {
      Answers answers = answers_to(block);
      write(block, answers);
    }
  } else {
    deal_lines(
        company, [&](Block& block) { return blocks.next(block); }, answers_to, write);
  }
  written.summary();
}

/// One file after another; where there are several, each answer begins with the name of its file.
void run_files(const tasks::TaskModel& model, const RunOptions& options, const tasks::AnswerOptions& answer,
               const std::vector<std::string>& files) {
  OutputLines out(options.output);
  OnError on_error(options.on_error, "image");
  if (!options.rebuilt.empty()) require_writable(options.rebuilt);
  for (const std::string& file : files) {
    std::vector<tasks::Answer> answers;
    try {
      const tasks::Example example{.inputs = {model.input().typed(file)}, .name = file};
      answers = std::move(model.answer(std::span(&example, 1), answer).at(0));
      on_error.answered();
    } catch (const UsageError&) {
      throw;
    } catch (const Error& error) {
      on_error.meet(error.what());
      const bool named = files.size() > 1 || model.output().is_image();
      if (on_error.replaces()) out.write(named ? file + '\t' : "");
    }
    for (const tasks::Answer& one : answers) {
      if (model.output().is_image()) {
        const fs::path path = rebuilt_path(options.rebuilt, file);
        data::write_png(path, one.image);
        out.write(file + '\t' + path.string());
        continue;
      }
      std::ostringstream line;
      if (files.size() > 1) line << file << '\t';
      if (options.scores) line << one.score << '\t';
      out.write(line.str() + one.text);
    }
    out.flush();
  }
  on_error.summary();
}

}  // namespace

int run(int argc, char** argv) {
  const ModelArgument given = model_argument(argc, argv);
  std::string folder;
  std::vector<std::string> files;
  RunOptions options(given.row());
  tasks::AnswerOptions answer;
  answer.search = given.search();
  Flags flags("run", options.of_text()    ? "answers one line with one line: attend run DIR < in > out"
                     : options.of_sound() ? "writes what is said: attend run DIR a.wav b.flac, … | attend run DIR -"
                                          : "says what images show: attend run DIR a.png b.jpg");
  flags.argument("DIR", folder, "folder of the model")
      .arguments("FILES", files,
                 given.config ? "what it reads, unless that comes from standard input: " +
                                    std::string(options.row->input().given)
                              : "images, for models that read those")
      .options("run", options)
      .options("search", answer.search);
  if (!given.config) flags.defaults_are(kModelsOwn);
  if (const auto code = flags.parse(argc, argv)) return *code;
  require_first(given, folder);
  complete_search(flags, answer.search);
  options.sounds.output = options.output, options.sounds.on_error = options.on_error,
  options.sounds.scores = options.scores;
  for (const std::string& wrong :
       {files_objection(given, options, files), objection(options), options.given.objection()}) {
    if (!wrong.empty()) return flags.refuse(wrong);
  }
  if (dist::launch().rank == 0) flags.check_files();  // what others do not read may be there alone
  options.threads.apply();
  const std::vector<std::string> texts = options.given.read();
  const std::unique_ptr<train::Company> company = dist::company();
  if (!company->alone() && (!options.of_text() || !options.trace.empty())) {
    return flags.refuse("several ranks (mpirun) answer texts, and write no traces; run this without mpirun");
  }
  if (!company->leads()) set_quiet(true);
  const tasks::TaskModel model = given.load();
  answer.align = !options.alignments.empty();
  answer.trace = !options.trace.empty();
  answer.threshold = options.alignment_threshold;
  answer.replace_unknown = options.unk_replace;
  if (flags.given("no_answer_threshold")) answer.no_answer = options.no_answer_threshold;
  flags.check([&] {  // of a search for which there is no memory
    if (options.of_text()) return run_lines(*company, model, options, texts, answer);
    if (!options.of_sound()) return run_files(model, options, answer, files);
    run_sounds(model, options.sounds, answer, files);
  });
  return 0;
}

}  // namespace attend::cli
