// ingot man: the help texts as manual pages.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "command.h"
#include "ingot/base/atomic_file.h"
#include "ingot/base/error.h"

namespace ingot::cli {
namespace {

/// Text that roff takes for text.
std::string roff(const std::string& text) {
  std::string result;
  bool is_line_start = true;
  for (const char c : text) {
    if (is_line_start && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else
      result += c;
    is_line_start = c == '\n';
  }
  return result;
}

/// Paragraphs are filled to the reader's width; what is indented (examples, tables) stays as it is.
std::string roff_paragraphs(const std::string& text) {
  std::string result;
  bool is_kept = false;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.empty()) {
      result += is_kept ? ".fi\n.PP\n" : ".PP\n";
      is_kept = false;
      continue;
    }
    if (const bool keeps = line.starts_with(' '); keeps != is_kept) {
      result += keeps ? ".nf\n" : ".fi\n";
      is_kept = keeps;
    }
    result += roff(line) + "\n";
  }
  return is_kept ? result + ".fi\n" : result;
}

std::string upper(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

std::string options_of(const CommandDescription& command) {
  std::string text;
  for (const OptionDescription& o : command.options) {
    std::string names;
    for (const std::string& name : o.names) names += (names.empty() ? "" : ", ") + name;
    text += ".TP\n\\fB" + roff(names) + "\\fR";
    if (o.takes_value && !o.is_positional) {
      std::string words;
      for (const std::string& word : o.words) words += (words.empty() ? "" : "|") + word;
      text += " \\fI" + roff(words.empty() ? "VALUE" : words) + "\\fR";
    }
    text += "\n" + roff(o.help) + "\n";
  }
  return text;
}

std::string page_of(const CommandDescription& command, const std::vector<CommandDescription>& all) {
  const bool is_program = &command == &all.front();
  const std::string name = is_program ? "ingot" : "ingot-" + command.name;
  std::string text = ".TH " + upper(roff(name)) + " 1 \"\" \"ingot " INGOT_VERSION "\" \"Ingot\"\n";
  text += ".SH NAME\n" + roff(name) + " \\- " + roff(command.about) + "\n.SH SYNOPSIS\n.B " +
          roff(is_program ? "ingot" : "ingot " + command.name) + "\n[OPTIONS]";
  for (const OptionDescription& o : command.options)
    if (o.is_positional) text += roff(o.is_required ? " " + o.names.front() : " [" + o.names.front() + "]");
  text += is_program ? " COMMAND ...\n" : "\n";
  if (!command.footer.empty()) text += ".SH DESCRIPTION\n" + roff_paragraphs(command.footer);
  text += ".SH OPTIONS\n" + options_of(command);
  if (!is_program) return text + ".SH SEE ALSO\n.BR ingot (1)\n";
  text += ".SH COMMANDS\n";
  for (std::size_t i = 1; i < all.size(); ++i)
    text += ".TP\n.BR ingot\\-" + roff(all[i].name) + " (1)\n" + roff(all[i].about) + "\n";
  return text;
}

int run(const std::string& name, const std::string& directory, const App& program) {
  const std::vector<CommandDescription> all = program.describe();
  for (const CommandDescription& command : all) {
    const std::string page = page_of(command, all);
    if (directory.empty()) {
      if (command.name != (name.empty() ? "ingot" : name)) continue;
      std::fputs(page.c_str(), stdout);
      return 0;
    }
    std::filesystem::create_directories(directory);
    AtomicFile file(directory + "/" + (&command == &all.front() ? "ingot" : "ingot-" + command.name) + ".1");
    file.write(page);
    file.commit();
  }
  if (directory.empty())
    throw Error(Code::unknown_name, "there is no command '" + name + "'").hint("'ingot help' lists them");
  return 0;
}

}  // namespace

Command add_man(App& program, const Global&) {
  struct Options {
    std::string command, directory;
  };
  auto options = std::make_shared<Options>();
  App* app = program.add_subcommand("man", "The help texts as manual pages");
  app->footer("  ingot man convert | man -l -\n  ingot man -o ~/.local/share/man/man1");
  app->add_option("COMMAND", options->command, "The command to print the page of (default: the program itself)");
  app->add_option("-o,--output", options->directory, "Write all pages to this folder");
  return {app, [options, &program] { return run(options->command, options->directory, program); }};
}

}  // namespace ingot::cli
