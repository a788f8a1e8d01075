// ingot config: defaults of the user's own.
#include <algorithm>
#include <cstdio>

#include "command.h"
#include "ingot/base/error.h"
#include "terminal.h"
#include "user_settings.h"

namespace ingot::cli {
namespace {

struct Options {
  std::string key;
  std::optional<std::string> value;
  bool unset = false, keys = false;
};

void print(const std::string& path, const Settings& settings) {
  if (path.empty()) {
    std::puts("there is no home directory to keep settings in: nothing is set");
    return;
  }
  std::printf("%s%s\n", out_style(Style::bold, path).c_str(), settings.empty() ? ": nothing is set" : "");
  Table table;
  for (const auto& [key, value] : settings) table.add({key, value});
  std::fputs(table.str().c_str(), stdout);
}

int run(const Options& options, const App& program) {
  const std::vector<CommandDescription> commands = program.describe();
  if (options.keys) {
    for (const std::string& key : allowed_keys(commands)) std::printf("%s\n", key.c_str());
    return 0;
  }
  const std::string path = settings_path();
  Settings settings = read_settings(path);
  if (options.key.empty()) {
    print(path, settings);
    return 0;
  }
  const auto found = std::ranges::find(settings, options.key, &Settings::value_type::first);
  if (options.unset) {
    if (found == settings.end()) throw Error(Code::unknown_name, "'" + options.key + "' is not set");
    settings.erase(found);
    write_settings(path, settings);
    return 0;
  }
  require_allowed(options.key, commands);
  if (!options.value) {
    if (found == settings.end()) return 1;
    std::printf("%s\n", found->second.c_str());
    return 0;
  }
  if (found == settings.end())
    settings.emplace_back(options.key, *options.value);
  else
    found->second = *options.value;
  write_settings(path, settings);
  return 0;
}

}  // namespace

Command add_config(App& program, const Global&) {
  auto options = std::make_shared<Options>();
  App* app = program.add_subcommand("config", "Defaults of your own for options, kept in your configuration folder");
  app->footer(
      "They are read from $XDG_CONFIG_HOME/ingot/config, or ~/.config/ingot/config, and nowhere else; what the "
      "command\n"
      "line says comes first. Options that name files or other programs cannot have a default. A flag is set to "
      "true.\n\n"
      "  ingot config                        what is set\n"
      "  ingot config max-memory 4G          of all commands\n"
      "  ingot config convert.opset 17       of one command\n"
      "  ingot config convert.opset --unset");
  app->add_option("KEY", options->key, "An option without its dashes, after its command and a dot");
  app->add_option("VALUE", options->value, "Its default from now on");
  app->add_flag("--unset", options->unset, "Forget the default");
  app->add_flag("--keys", options->keys, "List what can be set");
  return {app, [options, &program] { return run(*options, program); }};
}

}  // namespace ingot::cli
