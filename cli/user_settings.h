#pragma once
#include <string>
#include <utility>
#include <vector>

#include "options.h"

namespace ingot::cli {

/// Defaults of a user: "max-memory" -> "4G", "convert.opset" -> "17". They are in the user's own configuration folder,
/// never in the working directory, and may name options that change how much is used or how results look: neither files
/// nor other programs.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// $XDG_CONFIG_HOME/ingot/config or ~/.config/ingot/config; empty where there is no such folder.
std::string settings_path();
/// None where there is no file. Refuses lines that are none.
Settings read_settings(const std::string& path);
void write_settings(const std::string& path, const Settings& settings);

/// Refuses what is no option, or one that settings may not give.
void require_allowed(const std::string& key, const std::vector<CommandDescription>& commands);
/// The keys that may be set.
std::vector<std::string> allowed_keys(const std::vector<CommandDescription>& commands);

/// The arguments with what the user's settings add: what the command line says itself, it says last.
std::vector<std::string> with_settings(const std::vector<std::string>& arguments,
                                       const std::vector<CommandDescription>& commands);

}  // namespace ingot::cli
