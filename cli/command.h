#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "ingot/driver/load.h"

namespace CLI {
class App;
}

namespace ingot::cli {

/// What every command shares: limits, links, output style.
struct Global {
  bool quiet = false;
  bool allow_links = false;
  bool untrusted = false;
  std::string max_memory, max_time;
  Budget* budget = nullptr;

  driver::LoadOptions load_options(const std::string& from = {}) const;
};

/// A command adds itself to the program; `run` is called when it was chosen and returns the exit code.
struct Command {
  CLI::App* app;
  std::function<int()> run;
  /// It computes for long and writes little: an interruption, and the limit on time, need not wait for it to notice.
  bool may_end_any_time = false;
};

Command add_bench(CLI::App& program, const Global& global);
Command add_check(CLI::App& program, const Global& global);
Command add_convert(CLI::App& program, const Global& global);
Command add_eval(CLI::App& program, const Global& global);
Command add_grad(CLI::App& program, const Global& global);
Command add_gradcheck(CLI::App& program, const Global& global);
Command add_inspect(CLI::App& program, const Global& global);
Command add_make_trainable(CLI::App& program, const Global& global);
Command add_ops(CLI::App& program, const Global& global);
Command add_run(CLI::App& program, const Global& global);
Command add_strip_training(CLI::App& program, const Global& global);
Command add_test(CLI::App& program, const Global& global);
Command add_train(CLI::App& program, const Global& global);
Command add_verify(CLI::App& program, const Global& global);

/// "4G", "512M", "1000": bytes; refuses others.
std::uint64_t parse_size(const std::string& text);

}  // namespace ingot::cli
