// ingot compile: a model as source code, all of its files or none.
#include "ingot/driver/compile.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "ingot/backends/cpp/emit.h"
#include "ingot/backends/cpp/names.h"
#include "ingot/backends/matlab/emit.h"
#include "ingot/backends/mlir/emit.h"
#include "ingot/backends/mlir/onnx_dialect.h"
#include "ingot/base/atomic_file.h"
#include "ingot/base/error.h"
#include "ingot/driver/check.h"
#include "ingot/driver/inputs.h"
#include "ingot/driver/native_code.h"
#include "ingot/driver/run.h"
#include "ingot/engine/session.h"
#include "ingot/lower/lower.h"
#include "ingot/passes/canonicalize.h"
#include "ingot/passes/inline_functions.h"

namespace ingot::driver {
namespace {

constexpr std::int64_t kMostEmbedded = 1 << 20;  // bytes of weights that a compiler reads quickly

std::int64_t weight_bytes(const lower::Program& program) {
  std::int64_t bytes = 0;
  for (const lower::Buffer& b : program.buffers)
    if (b.value) bytes += static_cast<std::int64_t>(b.value->bytes().size());
  return bytes;
}

/// All files stand beside their old versions before the first is replaced.
void write_all(const std::string& directory, const std::vector<backends::cpp::File>& files, CompileReport& report) {
  std::vector<std::unique_ptr<AtomicFile>> open;
  for (const auto& file : files) {
    open.push_back(std::make_unique<AtomicFile>(directory + "/" + file.name));
    open.back()->write(std::string_view(file.content));
  }
  // The header last: who sees it sees what it declares.
  for (std::size_t i = open.size(); i-- > 0;) open[i]->commit();
  for (const auto& file : files) report.files.push_back(directory == "." ? file.name : directory + "/" + file.name);
}

bool rounds_coarsely(const Model& model) {
  for (const Node& node : model.graph->nodes()) {
    if (node.op.find("Quantize") != std::string::npos || node.op.starts_with("QLinear")) return true;
    for (const Value* v : node.inputs())
      if (v && (v->type.elem == DType::f16 || v->type.elem == DType::bf16)) return true;
    if (node.is("Cast") && node.attributes.int_or("to", 0) == static_cast<std::int64_t>(DType::f16)) return true;
  }
  return false;
}

/// How far neighbours are apart where a result was integers just before: the steps of all that is added up. 0: it was
/// not.
double step_of(const Value* value, int depth = 0) {
  constexpr int kDeepest = 4;
  const Node* node = value ? value->producer() : nullptr;
  if (!node || depth > kDeepest) return 0;
  if (node->op == "DequantizeLinear") {
    const Value* scale = node->input_count() > 1 ? node->input(1) : nullptr;
    if (!scale || !scale->initializer || scale->initializer->size() != 1) return 0;
    return std::abs(scale->initializer->to_doubles()[0]);
  }
  constexpr std::string_view kKeepSteps[] = {"Add",      "Clip", "Concat",  "Flatten",
                                             "Identity", "Relu", "Reshape", "Transpose"};
  if (std::ranges::find(kKeepSteps, node->op) == std::end(kKeepSteps)) return 0;
  double steps = 0;
  for (const Value* input : node->inputs()) steps += step_of(input, depth + 1);
  return steps;
}

/// Inputs, and what the engine gives for them, as the test program reads them; throws Error if it cannot run.
std::string made_test_data(const Model& model, bool has_half_weights) {
  const auto require_tensor = [](const Value* v) {
    if (v && !v->type.is_tensor()) throw Error(Code::not_expressible, "'" + v->name() + "' is no tensor");
  };
  std::ranges::for_each(model.graph->inputs(), require_tensor);
  std::ranges::for_each(model.graph->outputs(), require_tensor);
  const auto inputs = random_inputs(model, 1);
  const engine::Session session(model);
  std::vector<Array> given, results;
  for (const Value* input : model.graph->inputs())
    for (const auto& datum : inputs)
      if (!input->initializer && datum.name == input->name() && datum.value.array())
        given.push_back(*datum.value.array());
  for (const auto& datum : session.run(inputs))
    if (const Array* array = datum.value.array()) results.push_back(*array);
  std::vector<double> steps;
  for (const Value* output : model.graph->outputs()) steps.push_back(step_of(output));
  return backends::cpp::test_data(given, results, has_half_weights || rounds_coarsely(model), steps);
}

/// Empty: there is none, and the report says why.
std::string test_data_of(const Model& model, const CompileRequest& request, CompileReport& report) {
  try {
    return made_test_data(model, request.half_weights);
  } catch (const Error& error) {
    if (error.exit_code() == 5) throw;  // limits and interrupts
    report.why_no_test = error.message();
    return "";
  }
}

std::vector<backends::cpp::File> as_files(std::vector<backends::mlir::File> made) {
  std::vector<backends::cpp::File> files;
  for (auto& file : made) files.push_back({std::move(file.name), std::move(file.content)});
  return files;
}

/// Operators as they are, for another compiler.
CompileReport write_onnx_dialect(Model& model, const SplitPath& path) {
  CompileReport report;
  passes::inline_functions(model);
  passes::canonicalize(model);
  for (const auto& place : all_graphs(model))
    for (const Value* value : place.graph->initializers())
      if (value->initializer) report.weight_bytes += static_cast<std::int64_t>(value->initializer->bytes().size());
  write_all(path.directory, {{path.name + ".onnx.mlir", backends::mlir::onnx_dialect(model)}}, report);
  return report;
}

/// Native code is called with arrays.
void require_tensors(const Model& model) {
  std::string problems;
  const auto look_at = [&](const char* what, const Value* value) {
    if (!value->type.is_tensor())
      problems += "\n  " + (what + (" '" + value->name())) + "': no native code can be made for " + value->type.str();
  };
  for (const Value* input : model.graph->inputs()) look_at("input", input);
  for (const Value* output : model.graph->outputs())
    if (output) look_at("output", output);
  if (problems.empty()) return;
  throw Error(Code::not_expressible, "the model cannot be compiled:" + problems).hint("--emit cpp takes sequences");
}

void require_word(const char* option, const std::string& word, const std::vector<std::string>& known) {
  if (word.empty() || std::ranges::find(known, word) != known.end()) return;
  std::string list;
  for (const std::string& name : known) list += (list.empty() ? "" : ", ") + name;
  throw Error(Code::bad_usage, std::string(option) + " does not take '" + word + "'").hint("one of " + list);
}

/// What says how one kind of code is written means nothing of another.
void require_fitting(const CompileRequest& request) {
  require_word("--emit", request.emit, compile_targets());
  require_word("--target", request.target, {"avx2", "avx512", "neon", "scalar"});
  require_word("--weights", request.weights, {"embed", "file"});
  const bool is_native = request.emit == "object" || request.emit == "so";
  if (request.emit == "c" && request.has_threads)
    throw Error(Code::bad_usage, "C code has no threads").hint("--threads goes with --emit cpp");
  if (request.emit == "cpp" || request.emit == "c") return;
  const std::pair<const char*, bool> given[] = {
      {"--weights", !request.weights.empty()},     {"--target", !request.target.empty() && !is_native},
      {"--threads", request.has_threads},          {"--no-alloc", request.no_alloc},
      {"--float16-weights", request.half_weights}, {"--profile", request.has_profile}};
  for (const auto& [option, is_given] : given)
    if (is_given)
      throw Error(Code::bad_usage, "--emit " + request.emit + " does not take " + option)
          .hint("it goes with --emit cpp and --emit c");
}

/// Code is made of what is known to hold, whatever was asked for.
void require_sound_model(const Model& model) {
  try {
    require_valid(model);
  } catch (const Error& error) {
    throw Error(error.code(), error.message())
        .hint("'ingot check' tells what to do about each; no code is made of what is not valid");
  }
}

void require_function_name(const std::string& name, const std::string& emit) {
  const std::string possible =
      emit == "matlab" ? backends::matlab::function_name(name) : backends::cpp::global_identifier(name, "model");
  if (possible == name) return;
  throw Error(Code::bad_usage, "'" + name + "' is no name for a function")
      .hint("letters, digits and single underscores, and nothing that has another meaning, such as -o " + possible);
}

}  // namespace

std::vector<std::string> compile_targets() {
  return {"c", "cpp", "llvm", "matlab", "mlir", "mlir-onnx", "object", "so"};
}

CompileReport compile(Model& model, const CompileRequest& request) {
  const SplitPath path = split_path(request.output);
  if (path.name.empty()) throw Error(Code::bad_usage, "'" + request.output + "' names no file");
  require_fitting(request);
  require_sound_model(model);
  if (std::optional<Model> form = runnable_form(model)) model = std::move(*form);
  if (request.emit == "mlir-onnx") return write_onnx_dialect(model, path);
  require_function_name(path.name, request.emit);
  CompileReport report;
  const bool is_source = request.emit == "cpp" || request.emit == "c";
  if (!is_source && request.emit != "matlab") require_tensors(model);
  const std::string test = request.has_test && is_source ? test_data_of(model, request, report) : "";
  lower::legalize(model);
  const lower::Program program = lower::lower(
      model, path.name, {.forests = request.emit == "cpp" || (request.emit == "c" && !request.target.empty())});
  report.is_static = program.is_static();
  report.weight_bytes = weight_bytes(program);
  if (request.emit == "matlab") {
    std::vector<backends::cpp::File> files;
    for (auto& file : backends::matlab::emit(program)) files.push_back({file.name, std::move(file.content)});
    write_all(path.directory, files, report);
    return report;
  }
  if (!is_source) {
    backends::mlir::Sizes sizes;
    auto made = backends::mlir::emit(program, &sizes);
    report.arena_bytes = sizes.arena;
    if (request.emit != "mlir") made = make_native(std::move(made), path.name, request.emit, request.target);
    write_all(path.directory, as_files(std::move(made)), report);
    return report;
  }
  backends::cpp::Options options;
  options.is_c = request.emit == "c";
  options.target = request.target;
  options.weights_in_file =
      request.weights == "file" || (request.weights.empty() && report.weight_bytes > kMostEmbedded);
  options.no_alloc = request.no_alloc;
  options.half_weights = request.half_weights;
  options.has_profile = request.has_profile;
  options.has_threads = request.has_threads;
  options.has_test = !test.empty();
  backends::cpp::Sizes sizes;
  auto files = backends::cpp::emit(program, options, &sizes);
  if (!test.empty()) files.push_back({path.name + "_test.bin", test});
  report.arena_bytes = sizes.arena;
  report.weight_bytes = sizes.weights;
  write_all(path.directory, files, report);
  return report;
}

}  // namespace ingot::driver
