// `attend eval`: scores a file of outputs, whoever made them, and word alignments; JSON on standard output.
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "attend/data/alignment.h"
#include "attend/data/lines.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/evaluation.h"

namespace attend::cli {
namespace {

struct Files {
  std::filesystem::path output, target, alignments, gold, possible;
};

/// The lines of two files that belong together line by line.
struct Pair {
  std::vector<std::string> first, second;
};

/// Throws CLI::ValidationError (a wrong request) where they differ in length or are empty.
Pair read_pair(const std::filesystem::path& first, const std::filesystem::path& second) {
  Pair pair{data::read_lines(first), data::read_lines(second)};
  const auto count = [](const std::vector<std::string>& lines, const std::filesystem::path& path) {
    return std::to_string(lines.size()) + (lines.size() == 1 ? " line in " : " lines in ") + path.string();
  };
  if (pair.first.size() != pair.second.size()) {
    throw CLI::ValidationError("as many lines in both files are wanted, got " + count(pair.first, first) + " and " +
                               count(pair.second, second));
  }
  if (pair.first.empty()) throw CLI::ValidationError("at least one line is wanted, got none in " + first.string());
  return pair;
}

std::vector<data::Links> parse_lines(const std::filesystem::path& path, const std::vector<std::string>& lines) {
  std::vector<data::Links> links;
  for (const std::string& line : lines) {
    links.push_back(data::parse_links(path.string() + ":" + std::to_string(links.size() + 1), line));
  }
  return links;
}

nlohmann::ordered_json evaluate_alignments(const Files& files) {
  const Pair pair = read_pair(files.alignments, files.gold);
  std::vector<data::Links> possible;
  if (!files.possible.empty()) {
    possible = parse_lines(files.possible, read_pair(files.possible, files.gold).first);
  }
  return alignment_scores(parse_lines(files.alignments, pair.first), parse_lines(files.gold, pair.second), possible);
}

nlohmann::ordered_json evaluate(const Files& files, const train::BleuOptions& options) {
  nlohmann::ordered_json result = nlohmann::ordered_json::object();
  if (!files.output.empty()) {
    const Pair pair = read_pair(files.output, files.target);
    result = scores(pair.first, pair.second, options);
  }
  if (!files.alignments.empty()) result["alignment"] = evaluate_alignments(files);
  return result;
}

void declare_files(CLI::App& app, Files& files) {
  const auto file = [&](const char* name, std::filesystem::path& path, const char* help) {
    return app.add_option(name, path, help)->check(CLI::ExistingFile);
  };
  auto* output = file("--output", files.output, "Outputs, one a line");
  auto* target = file("--target", files.target, "References, one a line");
  auto* alignments =
      file("--alignments", files.alignments, "Word alignments to score, as 0-0 2-1, one sentence a line");
  auto* gold = file("--gold", files.gold, "Word alignments that are sure");
  file("--possible", files.possible, "Word alignments that are possible, beside the sure ones")->needs(gold);
  output->needs(target);
  target->needs(output);
  alignments->needs(gold);
  gold->needs(alignments);
  app.callback([output, alignments] {
    if (!*output && !*alignments)
      throw CLI::ValidationError("--output and --target, or --alignments and --gold, are wanted");
  });
}

void declare_options(CLI::App& app, train::BleuOptions& options) {
  app.add_option("--tokenise", options.tokenise, "BLEU's words: 13a, intl, char or none (attend list tokenisers)")
      ->check(a_row_of(train::bleu_tokenisers()))
      ->capture_default_str();
  app.add_option("--smooth", options.smooth, "What an order of n-grams without a match counts (attend list smoothings)")
      ->check(a_row_of(train::bleu_smoothings()))
      ->capture_default_str();
  app.add_flag("--lowercase", options.lowercase, "Without regard to case");
}

}  // namespace

int eval(int argc, char** argv) {
  CLI::App app(
      "Scores outputs against references: BLEU and chrF as sacreBLEU has them, exact match; JSON on standard output",
      "attend eval");
  Files files;
  train::BleuOptions options;
  declare_files(app, files);
  declare_options(app, options);
  if (const auto code = parse_arguments(app, argc, argv)) return *code;
  try {
    std::cout << evaluate(files, options).dump(2) << '\n';
    return 0;
  } catch (const CLI::ValidationError& error) {
    std::cerr << "attend eval: " << error.what() << '\n';
    return 2;
  }
}

}  // namespace attend::cli
