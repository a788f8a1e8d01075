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

Command add_bench(App& program, const Global& global);
Command add_check(App& program, const Global& global);
Command add_completion(App& program, const Global& global);
Command add_config(App& program, const Global& global);
Command add_compile(App& program, const Global& global);
Command add_convert(App& program, const Global& global);
Command add_diff(App& program, const Global& global);
Command add_eval(App& program, const Global& global);
Command add_explain(App& program, const Global& global);
Command add_extract(App& program, const Global& global);
Command add_grad(App& program, const Global& global);
Command add_gradcheck(App& program, const Global& global);
Command add_inspect(App& program, const Global& global);
Command add_make_trainable(App& program, const Global& global);
Command add_man(App& program, const Global& global);
Command add_merge(App& program, const Global& global);
Command add_ops(App& program, const Global& global);
Command add_optimize(App& program, const Global& global);
Command add_partition(App& program, const Global& global);
Command add_quantize(App& program, const Global& global);
Command add_rename(App& program, const Global& global);
Command add_report(App& program, const Global& global);
Command add_run(App& program, const Global& global);
Command add_scoreboard(App& program, const Global& global);
Command add_split(App& program, const Global& global);
Command add_strip_training(App& program, const Global& global);
Command add_test(App& program, const Global& global);
Command add_train(App& program, const Global& global);
Command add_verify(App& program, const Global& global);
Command add_view(App& program, const Global& global);
Command add_zoo_report(App& program, const Global& global);

}  // namespace ingot::cli
