// `attend run`: one line in, one line out.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <set>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/data/lines.h"
#include "attend/kernels/parallel.h"
#include "attend/tasks/text.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/folders.h"
#include "cli/images.h"
#include "cli/searching.h"

namespace attend::cli {
namespace {

struct RunOptions {
  std::string input, output, prefix, prefixes, alignments, trace;
  double alignment_threshold = 0;
  bool unk_replace = false, scores = false;
  int64_t batch = 256, threads = 0;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("input", input, "file or pipe of lines, plain or gzip; - or none: standard input");
    visit("output", output, "file in place of standard output");
    visit("prefix", prefix, "how every answer begins");
    visit("prefixes", prefixes, "file with one such beginning per line");
    visit(
        "alignments", alignments,
        "file for word alignments as Moses writes them (\"0-0 2-1\": source word, target word, split at white space); "
        "subword weights are summed to words, the end of a sentence is left out");
    visit("alignment_threshold", alignment_threshold,
          "links all words with at least this weight; 0: each target word with its best source word");
    visit("trace", trace,
          "file for what was looked at, one JSON object per line (docs/traces.md); answers stay the same");
    visit("unk_replace", unk_replace, "an unknown word becomes the source word that was looked at most");
    visit("scores", scores, "write \"score<tab>answer\"; n-best lists have them anyway: \"line ||| answer ||| score\"");
    visit("batch", batch, "most lines that are answered at once");
    visit("threads", threads, "0: as many as the machine has");
  }
};

/// Lines to be answered, some at once: as many as have come, but at least one.
class InputLines {
 public:
  explicit InputLines(data::LineReader reader) : reader_(std::move(reader)) {}

  /// False at the end. A line that is none is refused when those before it have been answered.
  bool next(std::vector<std::string>& lines, size_t most) {
    lines.clear();
    if (fault_) std::rethrow_exception(fault_);
    try {
      for (std::string line; lines.size() < most && (lines.empty() || !reader_.waits()) && reader_.next(line);) {
        lines.push_back(std::move(line));
      }
    } catch (const Error&) {
      if (lines.empty()) throw;
      fault_ = std::current_exception();
    }
    return !lines.empty();
  }

 private:
  data::LineReader reader_;
  std::exception_ptr fault_;
};

/// A file or a pipe by its name; "" and "-" are standard input.
data::LineReader open_input(const std::string& path) {
  if (path.empty() || path == "-") return data::LineReader::standard_input();
  return data::LineReader(std::filesystem::path(path));
}

/// Standard output or a file; a write that fails is an error, not silence.
class OutputLines {
 public:
  explicit OutputLines(const std::string& path) : name_(path.empty() ? "standard output" : path) {
    if (path.empty()) return;
    file_.open(path);
    require(file_.good(), path, ": cannot be written: ", std::strerror(errno));
  }
  void write(const std::string& line) { out() << line << '\n'; }
  void flush() {
    out().flush();
    require(out().good(), name_, ": cannot be written");
  }

 private:
  std::ostream& out() { return file_.is_open() ? static_cast<std::ostream&>(file_) : std::cout; }
  std::string name_;
  std::ofstream file_;
};

/// Says on standard error what a reader of the output would not see.
class Warnings {
 public:
  /// Once for each word of a beginning that the vocabulary cannot say.
  void prefix(const data::Tokeniser& vocabulary, const std::string& text) {
    const data::TokenisedWords tokens = vocabulary.tokenise(text);
    for (size_t i = 0; i < tokens.ids.size(); ++i) {
      if (tokens.ids[i] != data::kUnknown || tokens.word_of[i] < 0) continue;
      const std::string& word = tokens.words[static_cast<size_t>(tokens.word_of[i])];
      if (!unknown_.insert(word).second) continue;
      std::cerr << "attend run: the vocabulary does not know " << quoted(word)
                << ": answers that have to begin with it have " << data::Tokeniser::kUnknownText << " there\n";
    }
  }

  void line(int64_t number, const std::vector<tasks::Answer>& answers, int64_t longest) {
    if (answers.empty()) return;
    if (answers[0].parts > 1) {
      std::cerr << "attend run: line " << number << " has more than " << longest
                << " tokens, the longest that training saw; answered in " << answers[0].parts << " parts\n";
    }
    if (!answers[0].ended && cut_++ == 0) first_cut_ = number;
  }

  /// What is said once, when all lines are answered.
  void summary(int64_t lines) const {
    if (cut_ == 0) return;
    std::cerr << "attend run: " << cut_ << " of " << lines << (lines == 1 ? " answer" : " answers")
              << " reached the greatest length before the end (--max-length); the first is that of line " << first_cut_
              << "\n";
  }

 private:
  std::set<std::string> unknown_;
  int64_t cut_ = 0, first_cut_ = 0;
};

/// Whether both would be one file: what is written would be read again, without end. Devices may be named twice.
bool same_file(const std::string& one, const std::string& other) {
  namespace fs = std::filesystem;
  std::error_code missing;
  if (one.empty() || one == "-" || other.empty() || (fs::exists(one, missing) && !fs::is_regular_file(one, missing)))
    return false;
  return one == other || fs::equivalent(one, other, missing);
}

/// What is wrong with these flags together; "" if nothing is.
std::string objection(const RunOptions& o, const decode::SearchOptions& search, bool beam_given) {
  if (search.sample && beam_given && search.beam > 1) {
    return "--sample or --beam, not both: drawn answers keep no beam";
  }
  if (o.batch < 1) return "--batch: at least 1 is wanted, got " + std::to_string(o.batch);
  if (!o.prefix.empty() && !o.prefixes.empty()) return "--prefix or --prefixes, not both";
  const std::string* const files[] = {&o.input, &o.output, &o.alignments, &o.trace};
  for (size_t i = 0; i < std::size(files); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (same_file(*files[k], *files[i])) {
        return "--input, --output, --alignments and --trace: different files are wanted, got one twice";
      }
    }
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
    return out.write(scores ? numbered(best.score) + "\t" + best.text : best.text);
  }
  for (const tasks::Answer& one : answers) {
    out.write(std::to_string(number - 1) + " ||| " + one.text + " ||| " + numbered(one.score));
  }
}

void write_traces(explain::TraceWriter& out, int64_t line, std::vector<explain::Trace>& parts) {
  for (size_t i = 0; i < parts.size(); ++i) {
    parts[i].line = line;
    if (parts.size() > 1) parts[i].part = static_cast<int64_t>(i) + 1;
    out.add(parts[i]);
  }
}

}  // namespace

int run(int argc, char** argv) {
  if (looks_at_images(named_folder(argc, argv))) return run_images(argc, argv);
  std::string folder;
  const bool named = argc > 1 && argv[1][0] != '-';
  Flags flags("run",
              "answers one line with one line: attend run DIR < in > out (of a model that looks at images: attend run "
              "DIR --help)");
  std::optional<tasks::TextModel> model;
  const auto load = [&](const std::string& from) {
    const std::string wrong = folder_objection(from);
    if (wrong.empty()) model.emplace(tasks::TextModel::load(from));
    return wrong;
  };
  if (named) {
    if (const std::string wrong = load(argv[1]); !wrong.empty()) return flags.refuse(wrong);
  }
  RunOptions options;
  tasks::AnswerOptions answer;
  if (model) answer.search = model->config().options.search;
  flags.argument("DIR", folder, "folder of the model").options("run", options).options("search", answer.search);
  if (!model) flags.defaults_are(kModelsOwn);
  if (const auto code = flags.parse(argc, argv)) return *code;
  if (!model) {  // flags came before DIR: once more, over its own way of searching
    if (const std::string wrong = load(folder); !wrong.empty()) return flags.refuse(wrong);
    answer.search = model->config().options.search;
    if (const auto code = flags.parse(argc, argv)) return *code;
  }
  const std::string wrong = objection(options, answer.search, flags.given("beam"));
  if (!wrong.empty()) return flags.refuse(wrong);
  const bool n_best = answer.search.n_best > 1;
  if (!flags.given("beam")) answer.search.beam = std::max(answer.search.beam, answer.search.n_best);
  if (const std::string none = search_objection(answer.search); !none.empty()) return flags.refuse(none);
  if (options.threads > 0) kernels::set_threads(static_cast<int>(options.threads));
  answer.align = !options.alignments.empty();
  answer.trace = !options.trace.empty();
  answer.threshold = options.alignment_threshold;
  answer.replace_unknown = options.unk_replace;

  InputLines in(open_input(options.input));
  OutputLines out(options.output);
  std::optional<OutputLines> alignments;
  if (answer.align) alignments.emplace(options.alignments);
  std::optional<explain::TraceWriter> traces;
  if (answer.trace) traces.emplace(options.trace);
  std::optional<data::LineReader> prefix_lines;
  if (!options.prefixes.empty()) prefix_lines.emplace(options.prefixes);

  Warnings warnings;
  warnings.prefix(model->target(), options.prefix);
  int64_t number = 0;
  const int64_t first_sentence = answer.search.first_sentence;
  for (std::vector<std::string> lines; in.next(lines, static_cast<size_t>(options.batch));) {
    std::vector<std::string> prefixes;
    if (prefix_lines || !options.prefix.empty()) prefixes.assign(lines.size(), options.prefix);
    for (std::string& prefix : prefixes) {
      if (prefix_lines)
        require(prefix_lines->next(prefix), options.prefixes, ": a beginning for every line is wanted, got ",
                prefix_lines->number());
      if (prefix_lines) warnings.prefix(model->target(), prefix);
    }
    answer.search.first_sentence = first_sentence + number;
    auto answers = model->answer(lines, answer, prefixes);
    for (std::vector<tasks::Answer>& line : answers) {
      ++number;
      write_answers(out, number, line, n_best, options.scores);
      if (alignments) {
        for (const tasks::Answer& one : line) alignments->write(data::print_links(one.links));
      }
      if (traces) write_traces(*traces, number, line.at(0).traces);
      warnings.line(number, line, model->longest());
    }
    out.flush();
    if (alignments) alignments->flush();
  }
  warnings.summary(number);
  return 0;
}

}  // namespace attend::cli
