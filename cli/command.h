#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ingot/driver/load.h"
#include "options.h"

namespace ingot::cli {

/// What every command shares: limits, links, output style.
struct Global {
  bool quiet = false;
  bool allow_links = false;
  bool untrusted = false;
  bool unchecked = false;
  std::string max_memory, max_time;
  std::vector<std::string> plugins;
  Budget* budget = nullptr;

  driver::LoadOptions load_options(const std::string& from = {}) const;
};

/// A command adds itself to the program; `run` is called when it was chosen and returns the exit code.
struct Command {
  App* app;
  std::function<int()> run;
};

#define INGOT_COMMAND(name) Command add_##name(App& program, const Global& global);
#include "commands.def"
#undef INGOT_COMMAND

}  // namespace ingot::cli
