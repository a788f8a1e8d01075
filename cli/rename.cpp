// ingot rename: other names for values and dimensions.
#include <cstdio>

#include "command.h"
#include "ingot/base/error.h"
#include "ingot/base/json.h"
#include "ingot/driver/edit.h"
#include "ingot/ir/opaque_model.h"
#include "terminal.h"

namespace ingot::cli {
namespace {

struct Options {
  std::string model, output, prefix;
  std::vector<std::string> values, dims;
  bool json = false;
};

int run(const Options& options, const Global& global) {
  driver::RenameOptions rename;
  for (const std::string& text : options.values) rename.values.push_back(driver::parse_rename(text));
  for (const std::string& text : options.dims) rename.dims.push_back(driver::parse_rename(text));
  rename.prefix = options.prefix;
  if (rename.values.empty() && rename.dims.empty() && rename.prefix.empty())
    throw Error(Code::bad_usage, "nothing is renamed").hint("old=new, --dim batch=N or --prefix p/");
  driver::refuse_overwriting(options.model, options.output);
  driver::Loaded loaded = driver::load(options.model, global.load_options());
  try {
    driver::rename(loaded.model, rename);
  } catch (Error& error) {
    error.in_file(options.model);
    throw;
  }
  driver::save(loaded.model, options.output);
  if (options.json)
    std::printf("%s\n", Json{{"model", options.model},
                             {"output", options.output},
                             {"values", rename.values.size()},
                             {"dims", rename.dims.size()}}
                            .dump(2)
                            .c_str());
  else if (!global.quiet)
    std::fprintf(stderr, "wrote %s\n", options.output.c_str());
  return 0;
}

}  // namespace

Command add_rename(App& program, const Global& global) {
  auto options = std::make_shared<Options>();
  App* app = program.add_subcommand("rename", "Other names for inputs, outputs, values inside and dimensions");
  app->footer(
      "Names may be exchanged (a=b b=a). What mentions a value by its name follows: quantisation notes, training "
      "bindings.\n\n"
      "  ingot rename model.onnx -o named.onnx input_1=image 647=logits\n"
      "  ingot rename model.onnx -o named.onnx --dim unk__1=batch --prefix backbone/");
  app->add_option("MODEL", options->model, "The model")->required();
  app->add_option("RENAMES", options->values, "old=new, values of the main graph");
  app->add_option("-o,--output", options->output, "The file to write")->required();
  app->add_option("--dim", options->dims, "Another name, or a number, for a named dimension: old=new");
  app->add_option("--prefix", options->prefix, "Put before the names of nodes and of values but inputs and outputs");
  app->add_flag("--json", options->json, "For programs");
  return {app, [options, &global] { return run(*options, global); }};
}

}  // namespace ingot::cli
