// ingot make-trainable and strip-training: training information written into a model, and taken out.
#include <cstdio>
#include <filesystem>

#include "command.h"
#include "ingot/base/error.h"
#include "ingot/driver/adjust.h"
#include "ingot/driver/array_file.h"
#include "ingot/ir/model.h"
#include "ingot/train/training_info.h"
#include "train_options.h"

namespace ingot::cli {
namespace {

struct Options {
  std::string model, from, output, step_graph;
  std::int64_t opset = 0;
  bool is_dry = false;
  StepOptions step;
  train::InitializationOptions initialization;
};

constexpr std::int64_t kStepOpset = 21;

/// What the step graph's inputs beside the data are before the first step.
std::vector<std::pair<std::string, Array>> state_before(const train::TrainingGraph& training, const Model& step) {
  std::vector<std::pair<std::string, Array>> state;
  for (const Value* input : step.graph->inputs()) {
    const Value* variable = training.model.graph->find(input->name());
    if (variable && variable->initializer) state.emplace_back(input->name(), Array::from(*variable->initializer));
  }
  return state;
}

int run(const Options& options, const Global& global) {
  for (const std::string& output : {options.output, options.step_graph})
    if (!output.empty()) driver::refuse_overwriting(options.model, output);
  driver::Loaded loaded = driver::load(options.model, global.load_options(options.from));
  if (options.output.empty() && options.step_graph.empty() && !options.is_dry)
    throw Error(Code::bad_usage, "nothing would be written").hint("-o trainable.onnx, --step-graph step.onnx, or both");
  train::TrainingOptions how = options.step.load(global);
  const bool has_operator = how.keeps_gradient_op;
  how.keeps_gradient_op = false;
  const train::TrainingGraph training = train::make_training_graph(loaded.model, how);
  if (!global.quiet)
    for (const std::string& note : training.notes) std::fprintf(stderr, "note: %s\n", note.c_str());
  if (options.is_dry) {
    print_parameters(training);
    return 0;
  }
  if (!options.output.empty()) {
    how.keeps_gradient_op = has_operator;
    const Model made = train::make_trainable(loaded.model, {how, options.initialization, options.opset});
    driver::save(made, options.output);
    std::printf("%s written: %zu parameters, %zu variables in all\n", options.output.c_str(), training.parameter_count,
                training.state.size());
  }
  if (!options.step_graph.empty()) {
    Model step = train::step_graph(training);
    driver::AdjustOptions down;
    down.opset = options.opset ? options.opset : kStepOpset;
    driver::adjust(step, down);
    driver::save(step, options.step_graph);
    std::printf("%s written: outputs NAME.next are the inputs NAME of the next step\n", options.step_graph.c_str());
    const std::string state = std::filesystem::path(options.step_graph).replace_extension(".npz").string();
    driver::save_npz(state_before(training, step), state);
    std::printf("%s written: these inputs before the first step\n", state.c_str());
  }
  return 0;
}

}  // namespace

Command add_make_trainable(App& program, const Global& global) {
  auto options = std::make_shared<Options>();
  App* app = program.add_subcommand("make-trainable", "Write how to train into a model");
  app->footer(
      "'ingot train' runs what -o writes without being told how; what --step-graph writes is trained by any runtime:\n"
      "its outputs NAME.next are the inputs NAME of the next step.\n\n"
      "  ingot make-trainable model.onnx -o trainable.onnx --loss cross_entropy --optimizer adam\n"
      "  ingot make-trainable model.onnx --step-graph step.onnx --last 2");
  app->add_option("model", options->model, "The model")->required();
  app->add_option("--from", options->from, "Format of the model; default: the file tells");
  app->add_option("-o,--out", options->output, "The model with training information");
  app->add_option("--step-graph", options->step_graph,
                  "One training step as an ordinary graph that any runtime runs; its state goes into a .npz beside it");
  app->add_option("--opset", options->opset, "Operator set to write; default: the model's own where it is able")
      ->positive();
  app->add_flag("--dry-run", options->is_dry, "Only show which parameters would be trained, and why");
  app->add_flag("--gradient-op", options->step.training.keeps_gradient_op,
                "Write one Gradient operator instead of its expansion");
  app->add_option("--init", options->initialization.scheme,
                  "How parameters begin when training is initialized: kaiming, xavier, zeros, or keep");
  app->add_option("--seed", options->initialization.seed, "Of the numbers drawn then");
  add_step_options(*app, options->step);
  return {app, [options, &global] { return run(*options, global); }};
}

Command add_strip_training(App& program, const Global& global) {
  auto options = std::make_shared<Options>();
  App* app = program.add_subcommand("strip-training", "Take training information out of a model");
  app->footer("  ingot strip-training trainable.onnx -o model.onnx");
  app->add_option("model", options->model, "The model")->required();
  app->add_option("--from", options->from, "Format of the model; default: the file tells");
  app->add_option("-o,--out", options->output, "The model without")->required();
  return {app, [options, &global] {
            driver::refuse_overwriting(options->model, options->output);
            driver::Loaded loaded = driver::load(options->model, global.load_options(options->from));
            const std::size_t count = loaded.model.training.size();
            loaded.model.training.clear();
            train::drop_unused_domains(loaded.model);
            driver::save(loaded.model, options->output);
            std::printf("%s written: %zu algorithm%s taken out\n", options->output.c_str(), count,
                        count == 1 ? "" : "s");
            return 0;
          }};
}

}  // namespace ingot::cli
