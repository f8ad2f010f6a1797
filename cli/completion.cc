// `attend completion SHELL`: a script for bash, zsh or fish. The scripts know nothing of the options: they ask
// `attend --complete`, so that what is completed is what this version takes.
#include <iostream>
#include <string>
#include <string_view>

#include "attend/base/joined.h"
#include "attend/base/names.h"
#include "cli/commands.h"
#include "cli/completion.h"
#include "cli/flags.h"

namespace attend::cli {
namespace {

// Bash splits words at "=": they are joined again, and of a candidate only what follows is given back.
constexpr std::string_view kBash = R"(# bash completion for attend; to use it: source <(attend completion bash)
_attend() {
  local words=() i line kind typed
  for ((i = 1; i <= COMP_CWORD; i++)); do
    if [[ ${#words[@]} -gt 0 && (${COMP_WORDS[i]} == "=" || ${COMP_WORDS[i-1]} == "=") ]]; then
      words[-1]+=${COMP_WORDS[i]}
    else
      words+=("${COMP_WORDS[i]}")
    fi
  done
  typed=${words[-1]}
  [[ $typed == --*=* ]] && typed=${typed#*=}
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :files | :folders)
        compopt -o filenames 2>/dev/null
        [[ $line == :files ]] && kind=-f || kind=-d
        while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen "$kind" -- "$typed")
        ;;
      --*=*) line=${line%%$'\t'*}; COMPREPLY+=("${line#*=}") ;;
      *) COMPREPLY+=("${line%%$'\t'*}") ;;
    esac
  done < <("${1/#\~/$HOME}" --complete "${words[@]}" 2>/dev/null)
}
complete -F _attend attend
)";

constexpr std::string_view kZsh = R"(#compdef attend
# zsh completion for attend; to use it: source <(attend completion zsh), after compinit
_attend() {
  local line name help
  local -a names shown
  local files= folders=
  while IFS= read -r line; do
    case $line in
      :files) files=1 ;;
      :folders) folders=1 ;;
      *)
        name=${line%%$'\t'*} help=${line#*$'\t'}
        names+=("$name")
        shown+=("$name${help:+  -- $help}")
        ;;
    esac
  done < <("${~words[1]}" --complete "${(@)words[2,CURRENT]}" 2>/dev/null)
  [[ ${#names} -gt 0 ]] && compadd -l -d shown -- "${names[@]}"
  if [[ -n $files$folders ]]; then
    [[ $PREFIX == --*=* ]] && compset -P '*='
    if [[ -n $files ]]; then _files; else _files -/; fi
  fi
  return 0
}
if [[ ${funcstack[1]} == _attend ]]; then _attend "$@"; else compdef _attend attend; fi
)";

constexpr std::string_view kFish = R"(# fish completion for attend; to use it: attend completion fish | source
function __attend_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    set -l value (string replace -r -- '^--[^=]*=' '' "$typed")
    set -l flag (string match -r -- '^--[^=]*=' "$typed"; or echo '')
    for line in ($words[1] --complete $words[2..] "$typed" 2>/dev/null)
        switch $line
            case ':files'
                for path in (__fish_complete_path $value)
                    echo $flag$path
                end
            case ':folders'
                for path in (__fish_complete_directories $value '')
                    echo $flag$path
                end
            case '*'
                echo $line
        end
    end
end
complete -c attend -f -a '(__attend_complete)'
)";

struct ShellRow {
  std::string_view name, script;
};
constexpr ShellRow kShells[] = {{"bash", kBash}, {"zsh", kZsh}, {"fish", kFish}};

}  // namespace

std::vector<std::string_view> shells() {
  std::vector<std::string_view> names;
  for (const ShellRow& row : kShells) names.push_back(row.name);
  return names;
}

int completion(int argc, char** argv) {
  std::string shell;
  Flags flags("completion", "prints a script that lets a shell complete commands, options and names; for bash:\n"
                            "\n  source <(attend completion bash)");
  flags.argument("SHELL", shell, joined(shells()));
  if (const auto code = flags.parse(argc, argv)) return *code;
  try {
    std::cout << row_named("SHELL", kShells, shell).script;
  } catch (const Error& error) {
    return flags.refuse(error.what());
  }
  return 0;
}

}  // namespace attend::cli
