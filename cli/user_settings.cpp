// Defaults from the user's own configuration folder.
#include "user_settings.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

#include "ingot/base/atomic_file.h"
#include "ingot/base/error.h"

namespace ingot::cli {
namespace {

/// Options that may have a default, of whatever command has them. What names a file or a program is not among them.
constexpr std::string_view kAllowed[] = {"auto-cast", "for",   "level", "max-memory", "max-time",
                                         "most",      "opset", "quiet", "threads",    "untrusted"};
/// Commands that must work whatever the settings say.
constexpr std::string_view kExempt[] = {"completion", "config", "explain", "man"};
constexpr std::string_view kHelp[] = {"help", "--help", "-h"};
constexpr std::uintmax_t kLargest = 1 << 20;  // bytes: more is no file of settings

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1));
}

/// "convert.opset" -> the command, and its option; a key without a dot is the program's own.
const OptionDescription* find_option(const std::string& key, const std::vector<CommandDescription>& commands) {
  const std::size_t dot = key.find('.');
  const std::string command = dot == std::string::npos ? commands.front().name : key.substr(0, dot);
  const std::string flag = "--" + (dot == std::string::npos ? key : key.substr(dot + 1));
  for (const CommandDescription& c : commands)
    for (const OptionDescription& o : c.options)
      if (c.name == command && std::ranges::find(o.names, flag) != o.names.end()) return &o;
  return nullptr;
}

bool is_allowed(const OptionDescription& option) {
  return std::ranges::any_of(option.names, [](const std::string& name) {
    return name.starts_with("--") && std::ranges::find(kAllowed, name.substr(2)) != std::end(kAllowed);
  });
}

bool is_given(const std::vector<std::string>& arguments, std::string_view flag) {
  return std::ranges::any_of(arguments, [&](const std::string& a) {
    return a == flag || a.starts_with(std::string(flag) + "=") || (flag == "--quiet" && a == "-q");
  });
}

Error unusable(const std::string& path, const std::string& why) {
  return Error(Code::bad_usage, why).in_file(path).hint("these are your settings: mend the file, or remove it");
}

/// What the file says; empty where there is none. A pipe or a device would be read forever.
std::string text_of_settings(const std::string& path) {
  std::error_code failed;
  const std::filesystem::file_status status = std::filesystem::status(path, failed);
  if (path.empty() || !std::filesystem::exists(status)) return {};
  const bool is_file = std::filesystem::is_regular_file(status);
  if (!is_file || std::filesystem::file_size(path, failed) > kLargest)
    throw unusable(path, is_file ? "it is too large for settings" : "it is not a regular file");
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) throw unusable(path, "it cannot be read");
  constexpr std::string_view kMark = "\xef\xbb\xbf";  // as some editors begin a file
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

}  // namespace

std::string settings_path() {
  const char* config = std::getenv("XDG_CONFIG_HOME");
  if (config && *config == '/') return std::string(config) + "/ingot/config";
  const char* home = std::getenv("HOME");
  return home && *home == '/' ? std::string(home) + "/.config/ingot/config" : std::string();
}

Settings read_settings(const std::string& path) {
  Settings settings;
  std::istringstream lines(text_of_settings(path));
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::string where = "line " + std::to_string(++number);
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const std::size_t equals = line.find('=');
    const std::string key = trimmed(line.substr(0, equals));
    if (equals == std::string::npos || key.empty()) throw unusable(path, where + " is not 'option = value'");
    if (std::ranges::find(settings, key, &Settings::value_type::first) != settings.end())
      throw unusable(path, where + " sets '" + key + "' again");
    settings.emplace_back(key, trimmed(line.substr(equals + 1)));
  }
  return settings;
}

void write_settings(const std::string& path, const Settings& settings) {
  if (path.empty()) throw Error(Code::cannot_write, "there is no home directory to keep settings in");
  for (const auto& [key, value] : settings)
    if (value.find_first_of("#\n\r") != std::string::npos)
      throw Error(Code::bad_usage, "the value of '" + key + "' is not what one line of a file can hold");
  std::error_code failed;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), failed);
  AtomicFile file(path);
  for (const auto& [key, value] : settings) file.write(key + " = " + value + "\n");
  file.commit();
}

std::vector<std::string> allowed_keys(const std::vector<CommandDescription>& commands) {
  std::vector<std::string> keys;
  for (const CommandDescription& command : commands)
    for (const OptionDescription& option : command.options)
      if (is_allowed(option))
        keys.push_back((&command == &commands.front() ? "" : command.name + ".") + option.names.back().substr(2));
  return keys;
}

void require_allowed(const std::string& key, const std::vector<CommandDescription>& commands) {
  const OptionDescription* option = find_option(key, commands);
  if (!option)
    throw Error(Code::unknown_name, "there is no option '" + key + "'")
        .hint("'ingot config --keys' lists those that can be set");
  if (!is_allowed(*option))
    throw Error(Code::bad_usage, "'" + key + "' cannot have a default: settings name neither files nor programs")
        .hint("'ingot config --keys' lists those that can be set");
}

std::vector<std::string> with_settings(const std::vector<std::string>& arguments,
                                       const std::vector<CommandDescription>& commands) {
  const auto is_command = [&](const std::string& word) {
    return std::ranges::any_of(commands,
                               [&](const CommandDescription& c) { return &c != &commands.front() && c.name == word; });
  };
  const auto command = std::ranges::find_if(arguments, is_command);
  const bool asks_for_help = std::ranges::find_first_of(arguments, kHelp) != arguments.end();
  if (asks_for_help || command == arguments.end() || std::ranges::find(kExempt, *command) != std::end(kExempt))
    return arguments;
  const std::string path = settings_path();
  std::vector<std::string> result;
  for (const auto& [key, value] : read_settings(path)) {
    try {
      require_allowed(key, commands);
    } catch (Error& error) {
      throw Error(error.code(), error.message()).hint(error.hint_text()).in_file(path);
    }
    const std::size_t dot = key.find('.');
    if (dot != std::string::npos && key.substr(0, dot) != *command) continue;
    const std::string flag = "--" + (dot == std::string::npos ? key : key.substr(dot + 1));
    const bool is_version = flag == "--opset" || flag == "--for";  // either says which
    if (is_given(arguments, flag) || (is_version && (is_given(arguments, "--opset") || is_given(arguments, "--for"))))
      continue;
    const bool takes_value = find_option(key, commands)->takes_value;
    if (!takes_value && value != "true") continue;
    result.push_back(takes_value ? flag + "=" + value : flag);
  }
  // Options of the command stand behind it, those of the program may.
  result.insert(result.begin(), arguments.begin(), command + 1);
  result.insert(result.end(), command + 1, arguments.end());
  return result;
}

}  // namespace ingot::cli
