#include "cli/run_sounds.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "attend/base/error.h"
#include "attend/base/joined.h"
#include "attend/base/names.h"
#include "attend/base/replacement.h"
#include "attend/data/lines.h"
#include "attend/data/sound_windows.h"
#include "attend/data/timed_text.h"
#include "attend/tasks/sound_stream.h"
#include "cli/on_error.h"
#include "cli/output_lines.h"
#include "cli/progress.h"

namespace attend::cli {
namespace {

namespace fs = std::filesystem;

constexpr double kStride = 0.6;  // of a window: where it is never quiet, the rest is heard twice
constexpr double kStreamed = 0.1;  // seconds that are read at once while a sound comes
constexpr std::string_view kColumns = "tsv";

/// What was heard of one sound.
struct Heard {
  std::vector<tasks::Answer> answers;  // the best ones; of a long sound one
  std::vector<data::TimedLabel> words;
  double seconds = 0;
};

std::string text_of(const std::vector<data::TimedLabel>& words) {
  return joined(words, " ", [](const data::TimedLabel& one) { return one.label; });
}

/// A label for each frame of these stretches; a frame that none has gets that of the next.
std::string text_of_frames(const std::vector<data::TimedLabel>& stretches, double hop) {
  std::string text;
  int64_t frame = 0;
  for (const data::TimedLabel& one : stretches) {
    for (; (static_cast<double>(frame) + 0.5) * hop < one.end; ++frame) text += (frame == 0 ? "" : " ") + one.label;
  }
  return text;
}

/// Words of the next window behind those before. Where windows overlap, each word is taken from the window that has more around
/// it.
void add_words(std::vector<data::TimedLabel>& words, std::vector<data::TimedLabel> next, const data::SoundWindow& window) {
  const double border = window.begin + window.overlap / 2;
  const auto middle = [](const data::TimedLabel& one) { return (one.begin + one.end) / 2; };
  for (data::TimedLabel& one : next) one.begin += window.begin, one.end += window.begin;
  if (window.overlap > 0) {
    std::erase_if(words, [&](const data::TimedLabel& one) { return middle(one) >= border; });
    std::erase_if(next, [&](const data::TimedLabel& one) { return middle(one) < border; });
  }
  for (data::TimedLabel& one : next) {
    const double from = words.empty() ? 0 : words.back().end;
    one.begin = std::max(one.begin, from), one.end = std::max(one.end, one.begin);
    words.push_back(std::move(one));
  }
}

/// In windows, of which one at a time is in memory.
Heard hear_windows(const tasks::TaskModel& model, const std::string& file, tasks::AnswerOptions how) {
  const double most = model.config().options.sound.longest;
  data::SoundReader reader(file, model.config().options.features.rate);
  const std::optional<double> seconds = reader.seconds();
  how.times |= !seconds || *seconds > most;
  Progress bar("listening", seconds ? static_cast<long>(*seconds) : 0);
  data::SoundWindows windows(std::move(reader), {.window = most, .stride = kStride * most});
  Heard heard;
  data::SoundWindow window;
  for (int64_t count = 0; windows.next(window); ++count) {
    const tasks::Example example{.inputs = {std::move(window.sound)}, .name = file};
    std::vector<tasks::Answer> answers = std::move(model.answer(std::span(&example, 1), how).at(0));
    heard.seconds = window.end;
    add_words(heard.words, answers.at(0).times, window);
    if (count == 0) {
      heard.answers = std::move(answers);
      continue;
    }
    heard.answers.resize(1);
    heard.answers[0].score += answers[0].score;
    heard.answers[0].text =
        model.output().words() ? text_of(heard.words) : text_of_frames(heard.words, model.config().options.features.hop / 1000);
    bar.show(static_cast<long>(window.end), "");
  }
  return heard;
}

Heard hear(const tasks::TaskModel& model, const std::string& file, const tasks::AnswerOptions& how) {
  if (!model.config().options.given_frames()) return hear_windows(model, file, how);
  const tasks::Example example{.inputs = {model.input().typed(file)}, .name = file};
  Heard heard{.answers = std::move(model.answer(std::span(&example, 1), how).at(0))};
  heard.words = heard.answers.at(0).times;
  heard.seconds = static_cast<double>(std::get<Tensor>(example.inputs[0]).dim(0)) * model.config().options.features.hop / 1000;
  return heard;
}

/// "file<tab>begin<tab>end<tab>word" for each word.
std::string columns(const std::string& name, const std::vector<data::TimedLabel>& words) {
  std::string text;
  char times[64];
  for (const data::TimedLabel& one : words) {
    std::snprintf(times, sizeof(times), "\t%.3f\t%.3f\t", one.begin, one.end);
    text += name + times + one.label + "\n";
  }
  return text;
}

std::string timed_text(const std::string& format, const std::string& name, const Heard& heard) {
  if (format == kColumns) return columns(name, heard.words);
  return data::timed_format_named(format).write({name, heard.seconds, heard.words});
}

bool one_file_each(const SoundRunOptions& options, size_t files) {
  return files > 1 && !options.times.empty() && options.times != kColumns && !data::timed_format_named(options.times).several;
}

std::vector<std::string> names(const SoundRunOptions& options, const std::vector<std::string>& files) {
  if (options.list.empty()) return files;
  std::vector<std::string> all = data::read_lines(options.list);
  std::erase(all, "");
  require_usage(!all.empty(), "--list: expected a name of a sound on each line of ", options.list, ", got none");
  return all;
}

/// What times call the sounds: their names without folder and ending, or as they were given where two would be called the same.
std::vector<std::string> short_names(const std::vector<std::string>& files) {
  std::vector<std::string> stems;
  for (const std::string& file : files) stems.push_back(file == "-" ? "stdin" : fs::path(file).stem().string());
  const bool differ = std::set(stems.begin(), stems.end()).size() == stems.size();
  return differ ? stems : files;
}

fs::path timed_path(const SoundRunOptions& options, const std::string& file) {
  const std::string stem = file == "-" ? "stdin" : fs::path(file).stem().string();
  return fs::path(options.output) / (stem + std::string(data::timed_format_named(options.times).extension));
}

/// Refuses, before anything is heard, what would go wrong among these files later.
void check(const SoundRunOptions& o, const std::vector<std::string>& files, int64_t n_best) {
  require_usage(o.times.empty() || (n_best == 1 && !o.scores),
                "--times writes the words of the best answer: without --n-best and --scores");
  std::map<fs::path, std::string> written;
  const bool folder = one_file_each(o, files.size());
  require_usage(!folder || !o.output.empty(), "--times ", o.times,
                ": a file holds the words of one sound; name a folder for those of several (--output)");
  for (const std::string& file : files) {
    std::error_code problem;
    require_usage(o.on_error != "stop" || file == "-" || fs::exists(file, problem), o.list, o.list.empty() ? "" : ": ",
                  "there is no file ", quoted(file));
    require_usage(folder || o.output.empty() || !fs::is_regular_file(file, problem) ||
                      !fs::equivalent(o.output, file, problem),
                  "--output: choose another file, as ", file, " is a sound to be heard");
    if (!folder) continue;
    const auto [other, added] = written.emplace(timed_path(o, file), file);
    require_usage(added, "--output: ", other->second, " and ", file, " would both become ", other->first.string());
  }
}

void run_stream(const tasks::TaskModel& model, const SoundRunOptions& options, const std::string& file) {
  OutputLines out(options.output);
  tasks::SoundStream stream(model);
  data::SoundReader reader(file, stream.rate());
  std::vector<float> samples(static_cast<size_t>(kStreamed * static_cast<double>(stream.rate())));
  while (const size_t count = reader.read(samples)) out.write_part(stream.add(std::span(samples).first(count)));
  out.write(stream.finish());
  out.flush();
}

}  // namespace

std::string objection(const SoundRunOptions& o, const std::vector<std::string>& files) {
  if (o.list.empty() == files.empty()) {
    return files.empty() ? "name at least one sound, a list of them (--list), or - for a WAV that comes through a pipe"
                         : "name sounds, or a list of them (--list), not both";
  }
  for (const std::string& file : files) {
    std::error_code problem;
    if (file != "-" && !fs::exists(file, problem)) return "there is no file " + quoted(file);
  }
  if (o.stream && (files.size() != 1 || !o.times.empty() || o.scores)) {
    return "--stream writes the words of one sound as they come: without --times, --scores and --list";
  }
  return "";
}

void run_sounds(const tasks::TaskModel& model, const SoundRunOptions& options, const tasks::AnswerOptions& answer,
                const std::vector<std::string>& given) {
  const std::vector<std::string> files = names(options, given), called = short_names(files);
  check(options, files, answer.search.n_best);
  if (options.stream) return run_stream(model, options, files.at(0));
  const bool folder = one_file_each(options, files.size());
  if (folder) require_writable(options.output);
  OutputLines out(folder ? "" : options.output);
  OnError on_error(options.on_error, "sound");
  tasks::AnswerOptions how = answer;
  how.times = !options.times.empty();
  for (size_t i = 0; i < files.size(); ++i) {
    const std::string& file = files[i];
    Heard heard;
    try {
      heard = hear(model, file, how);
      on_error.answered();
    } catch (const UsageError&) {
      throw;
    } catch (const Error& error) {
      on_error.meet(error.what());
      if (!on_error.replaces()) continue;
      heard.answers = {{.score = std::numeric_limits<double>::quiet_NaN()}};
    }
    if (folder) {
      write_file(timed_path(options, file), timed_text(options.times, called[i], heard));
    } else if (!options.times.empty()) {
      out.write_part(timed_text(options.times, called[i], heard));
    } else {
      for (const tasks::Answer& one : heard.answers) {
        std::ostringstream line;
        if (files.size() > 1) line << file << '\t';
        if (options.scores) line << one.score << '\t';
        out.write(line.str() + data::on_one_line(one.text));
      }
    }
    out.flush();
  }
  on_error.summary();
}

}  // namespace attend::cli
