// The commands that not every file meets: what writes other formats, takes models apart, trains, judges and shows them.
#include "tests/hostile/rare_commands.h"

#include "ingot/base/budget.h"
#include "ingot/driver/adjust.h"
#include "ingot/driver/compile.h"
#include "ingot/driver/costs.h"
#include "ingot/driver/diff.h"
#include "ingot/driver/edit.h"
#include "ingot/driver/load.h"
#include "ingot/driver/partition.h"
#include "ingot/driver/quantize_words.h"
#include "ingot/ir/model.h"
#include "ingot/pages/diff_page.h"
#include "ingot/pages/model_page.h"
#include "ingot/train/gradcheck.h"
#include "ingot/train/gradient_model.h"
#include "ingot/train/training_graph.h"
#include "ingot/verify/verify.h"

namespace ingot::test {
namespace {

/// Writes the model in a format, and reads again what was written.
void there_and_back(const char* format, const Model& model, const std::string& to) {
  driver::SaveOptions options;
  options.to = &driver::format_by_name(format);
  driver::save(model, to, options);
  if (options.to->load) driver::load(to, {.from = options.to});
}

void compile(const char* language, const Model& model, const std::string& to) {
  Model copy = model.clone();
  driver::compile(copy, {.output = to, .emit = language});
}

void optimize(const Model& model, Budget& budget, std::uint64_t seed) {
  Model copy = model.clone();
  driver::optimize(copy, {.level = driver::OptimizeLevel::all, .fuse = seed % 2 ? "com.microsoft" : "", .budget = &budget});
}

/// What changes a model without another format: half precision, other batches, ONNX's own operators alone.
void adjust(const Model& model, Budget& budget, std::uint64_t seed) {
  Model copy = model.clone();
  driver::AdjustOptions options;
  options.budget = &budget;
  if (seed % 3 == 0) options.half.emplace();
  if (seed % 3 == 1) options.batch = Dim(static_cast<std::int64_t>(1 + seed % 7));
  options.standard = true;
  options.infer_types = seed % 2;
  driver::adjust(copy, options);
}

/// The part that the last output of some node in the middle needs, and what is left in two halves.
void cut(const Model& model, std::uint64_t seed) {
  std::vector<std::string> names;
  for (const Node& node : model.graph->nodes())
    for (const Value* v : node.outputs())
      if (v) names.push_back(v->name());
  if (names.empty()) return;
  const std::string& name = names[seed % names.size()];
  Model copy = model.clone();
  driver::extract(copy, {}, {name});
  driver::diff(model, copy);
  driver::split(model, {.cuts = {{name}}});
}

void rename(const Model& model) {
  Model copy = model.clone();
  driver::RenameOptions options{.prefix = "p/"};
  for (const Value* input : model.graph->inputs()) options.values.emplace_back(input->name(), "in/" + input->name());
  driver::rename(copy, options);
}

/// The model behind itself.
void merge(const Model& model) {
  driver::MergeOptions options{.prefix_a = "a/", .prefix_b = "b/"};
  if (!model.graph->inputs().empty() && model.graph->output_count() > 0 && model.graph->outputs()[0])
    options.connections = {{model.graph->outputs()[0]->name(), model.graph->inputs()[0]->name()}};
  driver::MergeReport report;
  driver::merge(model.clone(), model.clone(), options, report);
}

void partition(const Model& model, Budget& budget, std::uint64_t seed) {
  constexpr const char* kTargets[] = {"tflite", "tensorflow", "ort-cpu-1.30", "tensorrt-10"};
  const driver::Partition parts = driver::partition(
      model, {{kTargets[seed % std::size(kTargets)], "ingot"}, static_cast<std::size_t>(1 + seed % 3), &budget});
  driver::as_functions(model, parts);
}

void quantize(const Model& model, Budget& budget, std::uint64_t seed) {
  constexpr const char* kMethods[] = {"static", "dynamic", "weights"};
  driver::QuantizeWords words{.method = kMethods[seed % 3]};
  if (seed % 3 == 0 && seed % 2) words.form = "integer";
  if (seed % 3 == 2) words.bits = 4, words.block = 16;
  driver::QuantizeRequest request = driver::quantize_request(words);
  request.budget = request.calibration.budget = &budget;
  driver::set_random_samples(request, model, 1);
  Model copy = model.clone();
  driver::quantize(copy, request);
}

/// One step of training on drawn numbers.
void train_a_step(const Model& model, Budget& budget, std::uint64_t seed) {
  train::TrainingOptions options;
  options.loss.name = seed % 2 ? "mse" : "cross_entropy";
  options.optimizer.name = seed % 3 ? "adam" : "sgd";
  run(train::step_graph(train::make_training_graph(model, options)), budget);
}

void check_gradients(const Model& model) {
  Model wide = train::in_double(model);
  train::leave_out_rounding(wide);
  train::check_gradients(wide, driver::random_inputs(wide, 1), {.seed = 1, .jitter = 0, .wrt = {}});
}

void verify(const std::string& path, Budget& budget) {
  verify::VerifyRequest request;
  request.a.file = request.b.file = path;
  request.a.runtimes = request.b.runtimes = {verify::Runtime::ingot};
  request.a.load.budget = request.b.load.budget = &budget;
  request.peers.budget = &budget;
  request.seeds = 1;
  verify::verify(request);
}

void show(const Model& model) {
  pages::to_html(pages::model_page(model, {.title = "mutant"}));
  pages::to_html(pages::diff_page(model, model, driver::diff(model, model), "a", "b"));
  driver::costs_of(model);
}

}  // namespace

std::vector<std::pair<const char*, Step>> rare_commands(const Model& model, const std::string& path,
                                                        const std::string& scratch, std::uint64_t seed) {
  const auto written = [&](const char* format, const char* name) {
    return [&model, format, to = scratch + "/" + name](Budget&) { there_and_back(format, model, to); };
  };
  const auto compiled = [&](const char* language, const char* name) {
    return [&model, language, to = scratch + "/" + name](Budget&) { compile(language, model, to); };
  };
  return {
      {"convert to SavedModel", written("savedmodel", "saved")},
      {"compile to C++", compiled("cpp", "net")},
      {"quantize", [&model, seed](Budget& budget) { quantize(model, budget, seed); }},
      {"convert to TF.js", written("tfjs", "tfjs/model.json")},
      {"train", [&model, seed](Budget& budget) { train_a_step(model, budget, seed); }},
      {"compile to MATLAB", compiled("matlab", "net_m")},
      {"partition", [&model, seed](Budget& budget) { partition(model, budget, seed); }},
      {"convert to Keras", written("keras", "keras")},
      {"optimize", [&model, seed](Budget& budget) { optimize(model, budget, seed); }},
      {"compile to MLIR", compiled("mlir", "net_i")},
      {"verify", [path](Budget& budget) { verify(path, budget); }},
      {"convert to TorchScript", written("torch", "net.pt")},
      {"adjust", [&model, seed](Budget& budget) { adjust(model, budget, seed); }},
      {"compile to C", compiled("c", "net_c")},
      {"cut", [&model, seed](Budget&) { cut(model, seed); }},
      {"convert to PyTorch source", written("torch-source", "net_py")},
      {"gradcheck", [&model](Budget&) { check_gradients(model); }},
      {"convert to text", written("onnxtxt", "net.onnxtxt")},
      {"show", [&model](Budget&) { show(model); }},
      {"convert to TensorFlow", written("tensorflow", "net.pb")},
      {"rename", [&model](Budget&) { rename(model); }},
      {"compile to ONNX's dialect", compiled("mlir-onnx", "net_o")},
      {"merge", [&model](Budget&) { merge(model); }},
      {"convert to safetensors", written("safetensors", "net.safetensors")},
      {"run gradients", [&model](Budget& budget) { run(train::gradient_model(model, {}), budget); }},
      {"convert to JSON", written("json", "net.json")},
  };
}

}  // namespace ingot::test
