// How training begins: the initialization graph, written and run.
#include "ingot/train/initialization.h"

#include <algorithm>
#include <cmath>

#include "ingot/base/current_budget.h"
#include "ingot/base/error.h"
#include "ingot/engine/session.h"
#include "ingot/ops/builder.h"

namespace ingot::train {
namespace {

struct Fan {
  double in = 1, out = 1;
};

/// How many numbers meet in one result, and in how many results one number takes part.
Fan fan_of(const Value& parameter) {
  const Dims& dims = parameter.initializer->dims();
  double rest = 1;
  for (std::size_t i = 2; i < dims.size(); ++i) rest *= static_cast<double>(dims[i]);
  Fan fan{static_cast<double>(dims[1]) * rest, static_cast<double>(dims[0]) * rest};
  for (const Use& use : parameter.uses()) {
    if (!use.node) continue;
    const bool is_plain_gemm = use.node->is("Gemm") && use.node->attributes.int_or("transB", 0) == 0;
    const bool is_right = use.index == 1 && (use.node->is("MatMul") || is_plain_gemm);
    if (is_right || use.node->is("ConvTranspose")) std::swap(fan.in, fan.out);
    break;
  }
  return fan;
}

enum class Role { weight, bias, scale, offset, mean, variance, other };

Role role_of(const Value& variable) {
  for (const Use& use : variable.uses()) {
    if (!use.node) continue;
    const bool is_norm = use.node->op.ends_with("Normalization");
    if (is_norm && use.index == 1) return Role::scale;
    if (is_norm && use.index == 2) return Role::offset;
    if (is_norm && use.index == 3) return Role::mean;
    if (is_norm && use.index == 4) return Role::variance;
  }
  return variable.initializer->rank() >= 2 ? Role::weight : Role::bias;
}

class Writer {
 public:
  Writer(Graph& graph, const InitializationOptions& options) : g_(graph), options_(options) {}

  Value* filled(const Tensor& like, double number) {
    Value* dims = g_.op("Constant", {}, {{"value", Tensor::ints(like.dims())}});
    return g_.op("ConstantOfShape", {dims}, {{"value", Tensor::scalar(number, like.dtype()).reshaped({1})}});
  }
  Value* stored(const Tensor& value) {
    const std::vector<double> numbers = is_float(value.dtype()) ? value.to_doubles() : std::vector<double>();
    const bool is_zero = !numbers.empty() && std::ranges::all_of(numbers, [](double v) { return v == 0; });
    return is_zero ? filled(value, 0) : g_.op("Constant", {}, {{"value", value}});
  }
  Value* drawn(const Tensor& like, double bound) {
    if (options_.scheme == "zeros") return filled(like, 0);
    const auto seed = static_cast<double>(options_.seed + ++draws_);
    return g_.op("RandomUniform", {},
                 {{"dtype", like.dtype()}, {"high", bound}, {"low", -bound}, {"seed", seed}, {"shape", like.dims()}});
  }
  Value* parameter(const Value& v) {
    const Tensor& like = *v.initializer;
    switch (role_of(v)) {
      case Role::scale:
      case Role::variance:
        return filled(like, 1);
      case Role::weight: {
        const Fan fan = fan_of(v);
        last_fan_ = fan;
        const double bound =
            options_.scheme == "xavier" ? std::sqrt(6 / (fan.in + fan.out)) : 1 / std::sqrt(std::max(fan.in, 1.0));
        return drawn(like, bound);
      }
      case Role::bias:
        // That of the layer whose weight came before it.
        return options_.scheme == "kaiming" ? drawn(like, 1 / std::sqrt(std::max(last_fan_.in, 1.0))) : filled(like, 0);
      default:
        return filled(like, 0);
    }
  }

 private:
  GraphBuilder g_;
  const InitializationOptions& options_;
  std::uint64_t draws_ = 0;
  Fan last_fan_;
};

}  // namespace

void add_initialization(TrainingInfo& info, Graph& inference, const TrainingGraph& training,
                        const std::unordered_map<std::string, std::string>& names,
                        const InitializationOptions& options) {
  constexpr std::string_view kSchemes[] = {"kaiming", "xavier", "zeros", "keep"};
  if (std::ranges::find(kSchemes, options.scheme) == std::end(kSchemes))
    throw Error(Code::bad_usage, "there is no initialization '" + options.scheme + "'")
        .hint("kaiming, xavier, zeros or keep");
  info.initialization = std::make_unique<Graph>(&inference);
  Graph& graph = *info.initialization;
  graph.name = "initialization";
  Writer writer(graph, options);
  for (std::size_t i = 0; i < training.state.size(); ++i) {
    const Value& variable = *training.model.graph->find(training.state[i].name);
    const auto renamed = names.find(variable.name());
    const std::string key = renamed == names.end() ? variable.name() : renamed->second;
    const Value* in_model = inference.find(variable.name());
    const bool is_learnt = i < training.parameter_count || (in_model && in_model->initializer);
    if (is_learnt && options.scheme == "keep") continue;
    Value* begin = is_learnt ? writer.parameter(variable) : writer.stored(*variable.initializer);
    graph.rename(begin, graph.fresh_name("init/" + key));
    begin->producer()->name = begin->name();
    graph.add_output(begin);
    info.initialization_binding.emplace_back(key, begin->name());
  }
}

std::vector<std::string> initialize(Model& model) {
  std::vector<std::string> set;
  bool has_any = false;
  for (TrainingInfo& info : model.training) {
    if (!info.initialization) continue;
    has_any = true;
    if (!info.initialization->inputs().empty())
      throw Error(Code::bad_training_info, "an initialization must not have inputs");
    Model begin;
    begin.ir_version = model.ir_version;
    begin.opsets = model.opsets;
    Graph::ValueMap map;
    begin.graph = info.initialization->clone(nullptr, map);
    const auto results = engine::Session(begin, {.budget = &current_budget()}).run({});
    for (const auto& [key, name] : info.initialization_binding) {
      const auto found = std::ranges::find(results, name, &engine::NamedDatum::name);
      if (found == results.end() || !found->value.array())
        throw Error(Code::bad_training_info, "the initialization has no output '" + name + "' for '" + key + "'");
      Value* variable = model.graph->find(key);
      if ((!variable || !variable->initializer) && info.algorithm) variable = info.algorithm->find(key);
      if (!variable || !variable->initializer)
        throw Error(Code::bad_training_info, "'" + key + "' is initialized but is no initializer");
      Tensor value = found->value.array()->to_tensor();
      if (value.dtype() != variable->initializer->dtype() || value.dims() != variable->initializer->dims())
        throw Error(Code::bad_training_info, "'" + key + "' is " + variable->initializer->type().str() +
                                                 " but its initialization gives " + value.type().str());
      variable->initializer = std::move(value);
      set.push_back(key);
    }
  }
  if (!has_any) throw Error(Code::bad_training_info, "the model has no initialization");
  return set;
}

}  // namespace ingot::train
