// ingot completion: what shells must know to complete command lines.
#include <cstdio>

#include "command.h"

namespace ingot::cli {
namespace {

using Commands = std::vector<CommandDescription>;

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string names_of(const Commands& commands) {
  std::string text = "help";
  for (std::size_t i = 1; i < commands.size(); ++i) text += " " + commands[i].name;
  return text;
}

std::vector<std::string> flags_of(const CommandDescription& command) {
  std::vector<std::string> flags;
  for (const OptionDescription& o : command.options)
    if (!o.is_positional) flags.insert(flags.end(), o.names.begin(), o.names.end());
  return flags;
}

/// What a command's own arguments can be, where that is known.
std::string argument_words(const CommandDescription& command) {
  for (const OptionDescription& o : command.options)
    if (o.is_positional && !o.words.empty()) return joined(o.words);
  return {};
}

std::string pattern_of(const std::string& command, const OptionDescription& option) {
  std::string text;
  for (const std::string& name : option.names) text += (text.empty() ? "" : "|") + command + ":" + name;
  return text;
}

std::string for_bash(const Commands& commands) {
  std::string text =
      "# Completion of ingot for bash: source it, or put it into bash-completion's folder.\n"
      "_ingot() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= i words=\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    case \" " +
      names_of(commands) +
      " \" in *\" ${COMP_WORDS[i]} \"*) command=${COMP_WORDS[i]}; break ;; esac\n"
      "  done\n"
      "  case $command:$before in\n";
  for (std::size_t i = 1; i < commands.size(); ++i)
    for (const OptionDescription& o : commands[i].options)
      if (!o.words.empty() && !o.is_positional)
        text += "    " + pattern_of(commands[i].name, o) + ") words=\"" + joined(o.words) + "\" ;;\n";
  text += "    help:*) words=\"" + names_of(commands) +
          "\" ;;\n"
          "  esac\n"
          "  if [[ -z $words && $word == -* ]]; then\n"
          "    words=\"" +
          joined(flags_of(commands.front())) +
          "\"\n"
          "    case $command in\n";
  for (std::size_t i = 1; i < commands.size(); ++i)
    text += "      " + commands[i].name + ") words+=\" " + joined(flags_of(commands[i])) + "\" ;;\n";
  text +=
      "    esac\n"
      "  elif [[ -z $words ]]; then\n"
      "    case $command in\n";
  for (std::size_t i = 1; i < commands.size(); ++i)
    if (const std::string known = argument_words(commands[i]); !known.empty())
      text += "      " + commands[i].name + ") words=\"" + known + "\" ;;\n";
  text +=
      "    esac\n"
      "  fi\n"
      "  if [[ -z $words && -z $command ]]; then\n"
      "    words=\"" +
      names_of(commands) +
      "\"\n"
      "  fi\n"
      "  if [[ -n $words ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "  else\n"
      "    compopt -o filenames 2>/dev/null\n"
      "    local IFS=$'\\n'\n"
      "    COMPREPLY=($(compgen -f -- \"$word\"))\n"
      "  fi\n"
      "}\n"
      "complete -F _ingot ingot\n";
  return text;
}

/// Within single quotes of zsh and fish.
std::string quoted(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return "'" + result + "'";
}

std::string zsh_option(const OptionDescription& o, const std::string& name) {
  std::string help;
  for (const char c : o.help) help += c == '[' || c == ']' || c == ':' ? std::string("\\") + c : std::string(1, c);
  std::string text = name + "[" + help + "]";
  if (o.takes_value) text += o.words.empty() ? ":value:_files" : ":value:(" + joined(o.words) + ")";
  return quoted(text);
}

void add_zsh_options(const CommandDescription& command, std::string& text) {
  for (const OptionDescription& o : command.options)
    if (!o.is_positional)
      for (const std::string& name : o.names) text += "      " + zsh_option(o, name) + "\n";
}

std::string for_zsh(const Commands& commands) {
  std::string text =
      "#compdef ingot\n# Completion of ingot for zsh: put it into a folder of $fpath as _ingot.\n_ingot() {\n"
      "  local -a commands options\n  local command i rest='*:file:_files'\n  commands=(\n"
      "    'help:What a command does'\n";
  for (std::size_t i = 1; i < commands.size(); ++i)
    text += "    " + quoted(commands[i].name + ":" + commands[i].about) + "\n";
  text +=
      "  )\n"
      "  for ((i = 2; i < CURRENT; i++)); do\n"
      "    if (( ${commands[(I)${(b)words[i]}:*]} )); then command=$words[i]; break; fi\n"
      "  done\n"
      "  if [[ $command == help || ( -z $command && $words[CURRENT] != -* ) ]]; then\n"
      "    _describe command commands\n    return\n  fi\n"
      "  options=(\n";
  add_zsh_options(commands.front(), text);
  text += "  )\n  case $command in\n";
  for (std::size_t i = 1; i < commands.size(); ++i) {
    text += "    " + commands[i].name + ") options+=(\n";
    add_zsh_options(commands[i], text);
    text += "    )";
    if (const std::string known = argument_words(commands[i]); !known.empty())
      text += "; rest='*:word:(" + commands[i].name + " " + known + ")'";
    text += " ;;\n";
  }
  text += "  esac\n  _arguments -s $options $rest\n}\n_ingot \"$@\"\n";
  return text;
}

std::string fish_option(const OptionDescription& o, const std::string& condition) {
  std::string text = "complete -c ingot -n " + quoted(condition);
  for (const std::string& name : o.names)
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (o.takes_value) text += o.words.empty() ? " -r" : " -x -a " + quoted(joined(o.words));
  return text + " -d " + quoted(o.help) + "\n";
}

std::string for_fish(const Commands& commands) {
  std::string text = "# Completion of ingot for fish: put it into ~/.config/fish/completions/ingot.fish\n";
  for (std::size_t i = 1; i < commands.size(); ++i)
    text += "complete -c ingot -f -n __fish_use_subcommand -a " + commands[i].name + " -d " +
            quoted(commands[i].about) + "\n";
  text += "complete -c ingot -f -n __fish_use_subcommand -a help -d 'What a command does'\n";
  text += "complete -c ingot -x -n '__fish_seen_subcommand_from help' -a " + quoted(names_of(commands)) + "\n";
  for (std::size_t i = 1; i < commands.size(); ++i)
    if (const std::string known = argument_words(commands[i]); !known.empty())
      text += "complete -c ingot -f -n '__fish_seen_subcommand_from " + commands[i].name + "' -a " + quoted(known) + "\n";
  for (const CommandDescription& command : commands)
    for (const OptionDescription& o : command.options)
      if (!o.is_positional)
        text += fish_option(o, &command == &commands.front() ? "true" : "__fish_seen_subcommand_from " + command.name);
  return text;
}

}  // namespace

Command add_completion(App& program, const Global&) {
  auto shell = std::make_shared<std::string>();
  App* app = program.add_subcommand("completion", "Completion of command lines, for a shell to read");
  app->footer(
      "  source <(ingot completion bash)\n"
      "  ingot completion zsh > ~/.zfunc/_ingot          # in a folder of $fpath\n"
      "  ingot completion fish > ~/.config/fish/completions/ingot.fish");
  app->add_option("SHELL", *shell, "bash, zsh or fish")->required()->one_of({"bash", "zsh", "fish"});
  return {app, [shell, &program] {
            const Commands commands = program.describe();
            const std::string text = *shell == "bash"  ? for_bash(commands)
                                     : *shell == "zsh" ? for_zsh(commands)
                                                       : for_fish(commands);
            std::fputs(text.c_str(), stdout);
            return 0;
          }};
}

}  // namespace ingot::cli
