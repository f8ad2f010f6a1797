// `attend`: finds the command in a table and runs it.
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <iomanip>
#include <iostream>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attend/base/error.h"
#include "attend/base/joined.h"
#include "attend/base/names.h"
#include "attend/base/real.h"
#include "attend/dist/company.h"
#include "attend/kernels/isa.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/standard_streams.h"

namespace attend::cli {
namespace {

constexpr Command kCommands[] = {
    {"train", "a model from a recipe, or a task on its built-in corpus", "attend train translate --out my-model", train,
     true},
    {"run", "one line in, one line out", "attend run my-model < in.txt > out.txt", run, true},
    {"eval", "a model, or outputs that anyone made: BLEU, chrF, exact match",
     "attend eval my-model --source a --target b", eval, true},
    {"explain", "what it looked at: a heat map here, or as HTML, SVG, PNG, JSON",
     "attend explain my-model \"some text\" --out x.html", explain},
    {"info", "what a model is: network, size, data, scores, options", "attend info my-model", info},
    {"serve", "models over HTTP, with a page for the browser", "attend serve my-model", serve},
    {"compare", "one model per choice, and one report of all of them",
     "attend compare translate --vary attention.score=dot,additive --out report", compare},
    {"lab", "claims about attention, each shown by one command", "attend lab bottleneck --out lab", lab},
    {"list", "models, scores, aligns and the rest, with formula and paper", "attend list scores", list},
    {"demo", "trains the built-in translation and shows where it looks", "attend demo", demo},
#ifdef ATTEND_BENCH
    {"bench", "this machine's limit, and how close we come to it", "attend bench --json bench.json", bench},
#endif
    {"completion", "a script that lets the shell complete commands, options and names", "attend completion bash",
     completion},
    {"man", "the manual page of attend or of a command", "attend man train", man},
};

int print_commands() {
  std::cout << "attend: attention networks on a CPU; train them, run them, look inside them\n\n";
  const auto wider = [](size_t width, const Command& c) { return std::max(width, c.example.size()); };
  const auto width = std::accumulate(std::begin(kCommands), std::end(kCommands), size_t{16}, wider);
  const auto row = [width](std::string_view example, std::string_view help) {
    std::cout << "  " << std::left << std::setw(static_cast<int>(width) + 2) << example << help << '\n';
  };
  for (const Command& command : kCommands) row(command.example, command.help);
  row("attend --version, -V", "version, number type, instruction set, processor");
  std::cout << "\n`attend COMMAND --help` lists a command's options.\n";
  return 0;
}

int print_version() {
  std::cout << "attend " << ATTEND_VERSION << '\n'
            << "numbers          float" << 8 * sizeof(real) << '\n'
            << "instruction set  " << kernels::instruction_set() << " (here: " << joined(kernels::instruction_sets())
            << ")\n"
            << "processor        " << kernels::processor() << '\n';
  return 0;
}

int unknown_command(std::string_view name) {
  std::vector<std::string_view> known;
  for (const Command& command : kCommands) known.push_back(command.name);
  const std::string_view nearest = nearest_name(known, name);
  std::cerr << "attend: there is no command " << quoted(name);
  if (!nearest.empty()) std::cerr << "; the nearest is \"" << nearest << '"';
  std::cerr << " (`attend` alone lists them all)\n";
  return 2;
}

int dispatch(int argc, char** argv) {
  if (const char* isa = std::getenv("ATTEND_ISA")) {
    try {
      kernels::cap_instruction_set(isa);
    } catch (const Error& error) {
      std::cerr << "attend: ATTEND_ISA in the environment: " << error.what() << '\n';
      return 2;
    }
  }
  if (argc < 2) return print_commands();
  const std::string_view name = argv[1];
  if (name == "--help" || name == "-h" || name == "help") return print_commands();
  if (name == "--version" || name == "-V") return print_version();
  if (name == "--complete") return complete(argc - 1, argv + 1);
  const auto command = std::ranges::find(kCommands, name, &Command::name);
  if (command == std::end(kCommands)) return unknown_command(name);
  if (!command->shared && dist::launch().rank > 0) return 0;
  try {
    return command->run(argc - 1, argv + 1);
  } catch (const std::exception& error) {
    return report(name, error);
  }
}

int run_command(int argc, char** argv) {
  try {
    return dispatch(argc, argv);
  } catch (const std::exception& error) {
    return report("", error);
  }
}

}  // namespace

std::span<const Command> commands() { return kCommands; }

}  // namespace attend::cli

int main(int argc, char** argv) {
  attend::cli::hold_standard_streams();
  return attend::cli::end_output(attend::cli::run_command(argc, argv));
}
