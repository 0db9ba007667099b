// tutti completion: scripts that let a shell complete subcommands, options, choices, files and case keys. They are made
// from the same tree of commands that parses the command line, so they cannot be stale.
#include <algorithm>

#include "app/commands.hpp"
#include "tutti/program/help_internal.hpp"

namespace tutti::app {
namespace {

enum class ValueKind { none, words, file, folder, key, other };

struct Value {
  ValueKind kind = ValueKind::none;
  std::vector<std::string> words;
};

struct CommandOption {
  std::vector<std::string> names;  ///< "-o", "--output"
  std::string description;
  Value value;
};

struct Command {
  std::string name;                                              ///< "tutti mesh info"
  std::vector<std::pair<std::string, std::string>> subcommands;  ///< with their descriptions
  std::vector<CommandOption> options;                            ///< those of the commands above it, too
  Value argument;                                                ///< of its positional
};

Value value_of(const CLI::Option& option) {
  if (option.get_type_size() == 0) return {};
  if (auto words = choices_of(option); !words.empty()) return {ValueKind::words, std::move(words)};
  const std::string name = value_name(option);
  if (name == "DIR") return {ValueKind::folder, {}};
  if (name == "CASE" || name == "MESH" || name.starts_with("FILE")) return {ValueKind::file, {}};
  if (name == "A.B=V") return {ValueKind::key, {}};
  return {ValueKind::other, {}};
}

void collect(const CLI::App& app, std::vector<Command>& commands) {
  Command command;
  command.name = full_name(app);
  for (const CLI::App* sub : subcommands_of(app))
    command.subcommands.emplace_back(sub->get_name(), sub->get_description());
  for (const CLI::App* level = &app; level != nullptr; level = level->get_parent()) {
    for (const CLI::Option* o : level->get_options()) {
      if (o->get_group().empty()) continue;
      if (o->get_positional()) {
        if (level == &app) command.argument = value_of(*o);
        continue;
      }
      if (level != &app && o == level->get_help_ptr()) continue;
      if (level != &app && o->check_name("--version")) continue;
      CommandOption option;
      for (const auto& name : o->get_snames()) option.names.push_back("-" + name);
      for (const auto& name : o->get_lnames()) option.names.push_back("--" + name);
      option.description = o->get_description();
      option.value = value_of(*o);
      command.options.push_back(std::move(option));
    }
  }
  commands.push_back(std::move(command));
  for (const CLI::App* sub : subcommands_of(app)) collect(*sub, commands);
}

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& w : words) text += (text.empty() ? "" : " ") + w;
  return text;
}

std::vector<std::string> names_of(const Command& command) {
  std::vector<std::string> names;
  for (const auto& [name, _] : command.subcommands) names.push_back(name);
  return names;
}

/// "time.dt=": what may stand behind --set, of any model, each once, without lists of tables.
std::vector<std::string> case_keys() {
  std::vector<std::string> keys;
  for (const auto& model : model_names(models())) {
    const CaseSchema schema = schema_of(models(), model);
    for (const KeyDoc& key : schema.keys())
      if (const std::string word = key.path + "="; word.find('[') == std::string::npos && !has_any_name(key) &&
                                                   std::find(keys.begin(), keys.end(), word) == keys.end())
        keys.push_back(word);
  }
  return keys;
}

/// Between single quotes, in which bash and zsh know no escape and fish knows two.
std::string quoted(const std::string& text, bool fish = false) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'')
      result += fish ? "\\'" : "'\\''";
    else if (c == '\\' && fish)
      result += "\\\\";
    else
      result += c;
  }
  return result + "'";
}

/// The lines that bash and zsh share: which command the words before the cursor name, and what it takes. `words`,
/// `files`, `folders` and `keys` are the functions of the shell that offer something.
std::string shell_cases(const std::vector<Command>& commands) {
  std::string values, arguments;
  const auto offer = [](const Value& value) -> std::string {
    switch (value.kind) {
      case ValueKind::words:
        return "_tutti_words " + quoted(join(value.words));
      case ValueKind::file:
        return "_tutti_files";
      case ValueKind::folder:
        return "_tutti_folders";
      case ValueKind::key:
        return "_tutti_keys";
      default:
        return ":";
    }
  };
  for (const Command& c : commands) {
    std::vector<std::string> options;
    for (const CommandOption& o : c.options) {
      std::string patterns;
      for (const std::string& name : o.names) {
        patterns += (patterns.empty() ? "" : "|") + quoted(c.name + " " + name);
        options.push_back(name);
      }
      if (o.value.kind != ValueKind::none) values += "    " + patterns + ") " + offer(o.value) + "; return ;;\n";
    }
    arguments += "    " + quoted(c.name) + ")\n      case \"$cur\" in\n        -*) _tutti_words " +
                 quoted(join(options)) + " ;;\n        *) " +
                 (c.subcommands.empty() ? offer(c.argument) : "_tutti_words " + quoted(join(names_of(c)))) +
                 " ;;\n      esac ;;\n";
  }
  return "  case \"$at $prev\" in\n" + values + "  esac\n  case \"$at\" in\n" + arguments + "  esac\n";
}

/// Follows the subcommands among the words before the cursor.
std::string shell_path(const std::vector<Command>& commands) {
  std::string patterns;
  for (const Command& c : commands)
    if (c.name != "tutti") patterns += (patterns.empty() ? "" : "|") + quoted(c.name);
  return "    case \"$at $word\" in\n      " + patterns + ") at=\"$at $word\" ;;\n    esac\n";
}

std::string bash_script(const std::vector<Command>& commands) {
  return "# Completion of tutti for bash, made by `tutti completion bash`.\n"
         "_tutti_words() { mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$cur\"); }\n"
         "_tutti_files() { mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); compopt -o filenames 2>/dev/null || true; "
         "}\n"
         "_tutti_folders() { mapfile -t COMPREPLY < <(compgen -d -- \"$cur\"); compopt -o filenames 2>/dev/null || "
         "true; }\n"
         "_tutti_keys() { _tutti_words " +
         quoted(join(case_keys())) +
         "; compopt -o nospace 2>/dev/null || true; }\n"
         "_tutti() {\n"
         "  local cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"${COMP_WORDS[COMP_CWORD-1]}\" at=tutti word i\n"
         "  COMPREPLY=()\n"
         "  for ((i = 1; i < COMP_CWORD; i++)); do\n    word=\"${COMP_WORDS[i]}\"\n" +
         shell_path(commands) + "  done\n" + shell_cases(commands) + "}\ncomplete -F _tutti tutti\n";
}

std::string zsh_script(const std::vector<Command>& commands) {
  return "#compdef tutti\n# Completion of tutti for zsh, made by `tutti completion zsh`.\n"
         "_tutti_words() { compadd -- ${=1}; }\n"
         "_tutti_files() { _files; }\n"
         "_tutti_folders() { _files -/; }\n"
         "_tutti_keys() { compadd -S '' -- ${=:-" +
         join(case_keys()) +
         "}; }\n"
         "_tutti() {\n"
         "  local cur=\"${words[CURRENT]}\" prev=\"${words[CURRENT-1]}\" at=tutti word i\n"
         "  for ((i = 2; i < CURRENT; i++)); do\n    word=\"${words[i]}\"\n" +
         shell_path(commands) + "  done\n" + shell_cases(commands) +
         "}\n"
         // Found in fpath, the file is the function; read by `source`, it registers it.
         "if [[ ${funcstack[1]} == _tutti ]]; then _tutti \"$@\"; else compdef _tutti tutti; fi\n";
}

std::string fish_script(const std::vector<Command>& commands) {
  std::string names;
  for (const Command& c : commands)
    if (c.name != "tutti") names += " " + quoted(c.name);
  std::string text =
      "# Completion of tutti for fish, made by `tutti completion fish`.\n"
      "function __tutti_at\n"
      "  set -l at tutti\n"
      "  for word in (commandline -opc)[2..-1]\n"
      "    if contains -- \"$at $word\"" +
      names +
      "\n      set at \"$at $word\"\n    end\n  end\n"
      "  test \"$at\" = \"$argv\"\nend\n"
      "complete -c tutti -f\n";
  const auto takes = [](const Value& value) -> std::string {
    switch (value.kind) {
      case ValueKind::words:
        return " -x -a " + quoted(join(value.words));
      case ValueKind::file:
        return " -r -F";
      case ValueKind::folder:
        return " -x -a '(__fish_complete_directories)'";
      case ValueKind::key:
        return " -x -a " + quoted(join(case_keys()));
      case ValueKind::other:
        return " -x";
      case ValueKind::none:
        return "";
    }
    return "";
  };
  for (const Command& c : commands) {
    const std::string here = "complete -c tutti -n " + quoted("__tutti_at " + c.name);
    for (const auto& [name, description] : c.subcommands)
      text += here + " -a " + name + " -d " + quoted(description, true) + "\n";
    for (const CommandOption& o : c.options) {
      text += here;
      for (const std::string& name : o.names)
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      text += takes(o.value) + " -d " + quoted(o.description, true) + "\n";
    }
    if (c.argument.kind == ValueKind::file) text += here + " -F\n";
    if (c.argument.kind == ValueKind::folder) text += here + " -a '(__fish_complete_directories)'\n";
    if (c.argument.kind == ValueKind::words) text += here + " -a " + quoted(join(c.argument.words)) + "\n";
  }
  return text;
}

}  // namespace

void add_completion(CLI::App& program, Action& action) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = program.add_subcommand("completion", "print a script that completes tutti in your shell");
  command->add_option("shell", *shell, "which shell")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer(
      "Examples:\n"
      "  source <(tutti completion bash)                                  in ~/.bashrc: for every new bash\n"
      "  tutti completion bash > ~/.local/share/bash-completion/completions/tutti\n"
      "  tutti completion zsh > ~/.zfunc/_tutti                           a folder of zsh's fpath\n"
      "  tutti completion fish > ~/.config/fish/completions/tutti.fish");
  command->callback([shell, &program, &action] {
    action = [shell, &program](const Comm& comm) {
      if (!comm.is_root()) return;
      std::vector<Command> commands;
      collect(program, commands);
      const std::string text = *shell == "bash"  ? bash_script(commands)
                               : *shell == "zsh" ? zsh_script(commands)
                                                 : fish_script(commands);
      std::fputs(text.c_str(), stdout);
    };
  });
}

}  // namespace tutti::app
