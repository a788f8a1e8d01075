// ingot compile: a model as source code.
#include "ingot/driver/compile.h"

#include <cstdio>

#include "command.h"
#include "ingot/base/error.h"
#include "ingot/base/json.h"
#include "ingot/driver/adjust.h"
#include "terminal.h"

namespace ingot::cli {
namespace {

struct Options {
  std::string model;
  driver::CompileRequest request;
  std::vector<std::string> input_shapes;
  bool is_c = false, json = false, no_test = false;
};

int run(const Options& options, const Global& global) {
  driver::CompileRequest request = options.request;
  if (options.is_c) request.emit = "c";
  request.has_test = !options.no_test;
  driver::InputShapes shapes;
  for (const std::string& text : options.input_shapes) shapes.push_back(driver::parse_input_shape(text));
  driver::LoadOptions load = global.load_options();
  load.requires_valid = false;  // compile() asks itself, with or without --unchecked
  driver::Loaded loaded = driver::load(options.model, load);
  driver::CompileReport report;
  try {
    driver::set_input_shapes(loaded.model, shapes);
    report = driver::compile(loaded.model, request);
  } catch (Error& error) {
    error.in_file(options.model);
    throw;
  }
  if (options.json) {
    const Json json{{"model", options.model},
                    {"emit", request.emit},
                    {"files", report.files},
                    {"weight_bytes", report.weight_bytes},
                    {"arena_bytes", report.arena_bytes},
                    {"static", report.is_static},
                    {"why_no_test", report.why_no_test}};
    std::printf("%s\n", json.dump(2).c_str());
  } else if (!global.quiet) {
    for (const std::string& file : report.files) std::fprintf(stderr, "wrote %s\n", file.c_str());
    if (!report.why_no_test.empty()) std::fprintf(stderr, "no test program: %s\n", report.why_no_test.c_str());
    const bool is_c = request.emit == "c";
    std::fprintf(stderr, "%s%lld bytes of weights, %s%lld bytes of memory to run%s\n", is_c ? "ROM: " : "",
                 static_cast<long long>(report.weight_bytes), is_c ? "RAM: " : "",
                 static_cast<long long>(report.arena_bytes),
                 report.is_static ? "" : ", and what the sizes of its inputs ask for");
  }
  return 0;
}

}  // namespace

Command add_compile(App& program, const Global& global) {
  auto options = std::make_shared<Options>();
  App* app = program.add_subcommand("compile", "A model as source code that needs nothing but a compiler");
  app->footer(
      "The code is C++17 (or C99, with --c) and calls the standard library only. All files of a model are written or\n"
      "none. What no code can be made for is listed completely, and the exit code is 4.\n\n"
      "  ingot compile model.onnx -o model            model.h, model.cpp, and model_test.cpp to try it\n"
      "  ingot compile model.onnx -o net --c          the same in C, for fixed sizes\n"
      "  ingot compile model.onnx -o net --emit matlab    net.m, and net.mat with the weights\n"
      "  ingot compile model.onnx -o net --emit so    net.so and net.h: native code by Debian's LLVM 22\n"
      "  ingot compile model.onnx -o net --input-shape x:1,3,224,224");
  app->add_option("MODEL", options->model, "The model")->required();
  app->add_option("-o,--output", options->request.output, "The files' common name, without extension")->required();
  Option* emit = app->add_option("--emit", options->request.emit,
                                 "What to write: cpp (default), c, matlab; mlir, mlir-onnx (for onnx-mlir); by LLVM: "
                                 "llvm, object, so");
  emit->one_of(driver::compile_targets());
  app->add_flag("--c", options->is_c, "The same as --emit c")->excludes(emit);
  app->add_option("--weights", options->request.weights,
                  "Where weights go: embed (into the source) or file (beside it, read at the start); default: by size")
      ->one_of({"embed", "file"});
  app->add_option("--target", options->request.target,
                  "The processor that products of matrices are made for (default: what the compiler is told)")
      ->one_of({"avx2", "avx512", "neon", "scalar"});
  app->add_flag("--threads", options->request.has_threads,
                "C++: share products and convolutions among the threads that set_threads() asks for");
  app->add_flag("--no-alloc", options->request.no_alloc, "Code that never asks for memory; sizes must be fixed");
  app->add_flag("--float16-weights", options->request.half_weights, "Store weights of float as float16");
  app->add_flag("--profile", options->request.has_profile, "Code that calls on_step(), if it is set, around each step");
  app->add_option("--input-shape", options->input_shapes, "Fix an input's dimensions: x:1,3,224,224 (? keeps one)");
  app->add_flag("--no-test", options->no_test,
                "C++ and C: without NAME_test, which runs the code on stored inputs, and NAME.cmake");
  app->add_flag("--json", options->json, "For programs");
  return {app, [options, &global] { return run(*options, global); }};
}

}  // namespace ingot::cli
