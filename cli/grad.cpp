// ingot grad and gradcheck: gradients as models, and whether they are right.
#include <cmath>
#include <cstdio>

#include "command.h"
#include "ingot/base/error.h"
#include "ingot/base/json.h"
#include "ingot/driver/adjust.h"
#include "ingot/driver/inputs.h"
#include "ingot/train/gradcheck.h"
#include "ingot/train/gradient_model.h"
#include "terminal.h"

namespace ingot::cli {
namespace {

constexpr std::int64_t kWrittenOpset = 21;

struct Options {
  std::string model, from, output;
  train::GradientModelOptions gradient;
  std::int64_t opset = kWrittenOpset;
  std::uint32_t seed = 1;
  bool is_jacobian = false, is_hessian = false, json = false;
};

int run_grad(const Options& options, const Global& global) {
  driver::refuse_overwriting(options.model, options.output);
  const driver::Loaded loaded = driver::load(options.model, global.load_options(options.from));
  using Kind = train::GradientModelOptions::Kind;
  train::GradientModelOptions gradient = options.gradient;
  if (options.is_jacobian) gradient.kind = Kind::jacobian;
  if (options.is_hessian) gradient.kind = Kind::hessian_vector;
  Model made = train::gradient_model(loaded.model, gradient);
  driver::AdjustOptions down;
  down.opset = options.opset;
  driver::adjust(made, down);
  driver::save(made, options.output);
  std::printf("%s written:", options.output.c_str());
  for (const Value* v : made.graph->outputs()) std::printf(" %s", v->name().c_str());
  std::printf("\n");
  return 0;
}

int run_gradcheck(const Options& options, const Global& global) {
  const driver::Loaded loaded = driver::load(options.model, global.load_options(options.from));
  Model model = train::in_double(loaded.model);
  const std::size_t places = train::leave_out_rounding(model);
  if (places && !options.json)
    std::printf("without the rounding of %zu QuantizeLinear: gradients pass straight through it\n", places);
  const std::vector<train::GradientCheck> checks = train::check_gradients(
      model, driver::random_inputs(model, options.seed), {.seed = options.seed, .jitter = 0, .wrt = {}});
  bool is_good = true;
  Table table;
  Json json{{"model", options.model}, {"rounding_left_out", places}, {"inputs", Json::array()}};
  for (const train::GradientCheck& check : checks) {
    const bool passed = check.passed();
    is_good &= passed || check.is_at_kink;
    json["inputs"].push_back({{"input", check.input},
                              {"equal", passed},
                              {"kink", check.is_at_kink},
                              {"gradient", check.analytic},
                              {"differences", check.numeric}});
    char numbers[96];
    std::snprintf(numbers, sizeof numbers, "gradient %.12g  differences %.12g", check.analytic, check.numeric);
    table.add({check.is_at_kink && !passed ? "kink" : passed ? "equal" : "WRONG", check.input, numbers});
  }
  if (options.json) {
    std::printf("%s\n", json.dump(2).c_str());
    return is_good ? 0 : 1;
  }
  std::fputs(table.str().c_str(), stdout);
  if (checks.empty()) std::printf("the model has no real inputs to differentiate by\n");
  return is_good ? 0 : 1;
}

}  // namespace

Command add_grad(App& program, const Global& global) {
  auto options = std::make_shared<Options>();
  App* app = program.add_subcommand("grad", "A model that computes a gradient: forces, saliency, guidance");
  app->footer(
      "The result is an ordinary model with the same inputs and outputs such as dy/dx. Operators on the way that have\n"
      "no gradient are listed completely, and the exit code is 4.\n\n"
      "  ingot grad model.onnx --of energy --wrt positions -o forces.onnx\n"
      "  ingot grad model.onnx --jacobian -o jacobian.onnx");
  app->add_option("model", options->model, "The model")->required();
  app->add_option("--from", options->from, "Format of the model; default: the file tells");
  app->add_option("--of", options->gradient.of,
                  "What is differentiated: an output or any value; default: first output");
  app->add_option("--wrt", options->gradient.wrt, "By what: inputs, weights or any values; default: all real inputs")
      ->delimiter(',');
  app->add_option("--stop-gradient", options->gradient.stops, "No gradient flows back through these values")
      ->delimiter(',');
  Option* jacobian =
      app->add_flag("--jacobian", options->is_jacobian, "Of each element, instead of their sum: dimensions of both");
  app->add_flag("--hvp", options->is_hessian, "The second derivative times a vector, which is a further input v/NAME")
      ->excludes(jacobian);
  app->add_flag("--keep-forward", options->gradient.keeps_forward, "Keep the model's own outputs");
  app->add_option("--opset", options->opset, "Operator set to write")->positive();
  app->add_option("-o,--out", options->output, "The gradient model")->required();
  return {app, [options, &global] { return run_grad(*options, global); }};
}

Command add_gradcheck(App& program, const Global& global) {
  auto options = std::make_shared<Options>();
  App* app = program.add_subcommand("gradcheck", "Compare a model's gradients with central differences");
  app->footer(
      "Differentiates the outputs by each real input along a random direction, in double precision. Exit code 0: they\n"
      "are equal but at kinks; 1: a gradient is wrong.\n\n"
      "  ingot gradcheck model.onnx --seed 2");
  app->add_option("model", options->model, "The model")->required();
  app->add_option("--from", options->from, "Format of the model; default: the file tells");
  app->add_option("--seed", options->seed, "Of the random inputs and directions");
  app->add_flag("--json", options->json, "For programs");
  return {app, [options, &global] { return run_gradcheck(*options, global); }};
}

}  // namespace ingot::cli
