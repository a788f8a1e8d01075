// A new last layer for a model that learns other classes.
#include "ingot/train/new_head.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ingot/base/error.h"
#include "ingot/ir/model.h"

namespace ingot::train {
namespace {

Value* output_of(const Model& model, const std::string& prediction) {
  for (Value* v : model.graph->outputs())
    if (prediction.empty() || v->name() == prediction) return v;
  throw Error(Code::bad_usage, "the model has no output '" + prediction + "'");
}

/// Operators that hand classes on as they are.
bool keeps_classes(const Node& node) {
  constexpr std::array kOps = {"AveragePool", "Cast",      "Clip",       "Dropout",    "Flatten", "GlobalAveragePool",
                               "Identity",    "LeakyRelu", "LogSoftmax", "ReduceMean", "Relu",    "Reshape",
                               "Sigmoid",     "Softmax",   "Squeeze",    "Unsqueeze"};
  return node.domain.empty() && std::ranges::find(kOps, node.op) != kOps.end();
}

/// The value's own initializer, through copies.
Value* stored(Value* v) {
  while (v && v->producer() && v->producer()->is("Identity")) v = v->producer()->input(0);
  return v && v->initializer ? v : nullptr;
}

struct Head {
  Node* layer = nullptr;
  Value *weight = nullptr, *bias = nullptr;
  Node* bias_node = nullptr;  // where the bias is read: the layer, or an Add behind it
  std::size_t bias_input = 0;
  std::size_t class_axis = 0;  // of the weight
  std::vector<Node*> behind;   // from the layer to the output
};

Head find_head(Value* y) {
  Head head;
  for (Node* node = y->producer(); node;) {
    const bool is_product = node->is("Gemm") || node->is("MatMul") || node->is("Conv");
    head.weight = is_product ? stored(node->input(1)) : nullptr;
    if (head.weight) {
      head.layer = node;
      break;
    }
    head.behind.push_back(node);
    if (node->is("Add") && !head.bias_node) {
      const std::size_t which = stored(node->input(1)) ? 1 : 0;
      head.bias = stored(node->input(which));
      if (!head.bias) break;
      head.bias_node = node;
      head.bias_input = which;
      node = node->input(1 - which) ? node->input(1 - which)->producer() : nullptr;
    } else if (keeps_classes(*node)) {
      node = node->input(0) ? node->input(0)->producer() : nullptr;
    } else {
      break;
    }
  }
  if (!head.layer)
    throw Error(Code::bad_usage,
                "output '" + y->name() + "' does not come from a layer whose weights could be replaced" +
                    (head.behind.empty()
                         ? ""
                         : ": before it stands " + head.behind.back()->label() + " (" + head.behind.back()->op + ")"))
        .hint("--output names another output");
  if (!head.layer->is("MatMul") && head.layer->input(2)) {
    head.bias = stored(head.layer->input(2));
    head.bias_node = head.layer;
    head.bias_input = 2;
  }
  const std::size_t rank = head.weight->initializer->dims().size();
  const bool is_first = head.layer->is("Conv") || head.layer->attributes.int_or("transB", 0) != 0;
  head.class_axis = is_first ? 0 : rank - 1;
  return head;
}

/// As PyTorch draws a linear layer: evenly within one by the root of the inputs.
Tensor drawn(const Tensor& like, std::size_t class_axis, std::int64_t classes, std::uint64_t seed) {
  Dims dims = like.dims();
  dims[class_axis] = classes;
  const double fan_in = static_cast<double>(tensor_size(dims)) / static_cast<double>(classes);
  const double bound = 1 / std::sqrt(std::max(fan_in, 1.0));
  std::uint64_t state = seed * 0x9e3779b97f4a7c15 + 1;
  std::vector<double> values(static_cast<std::size_t>(tensor_size(dims)));
  for (double& v : values) {
    state += 0x9e3779b97f4a7c15;
    std::uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    v = (static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1) * bound;
  }
  if (like.dtype() == DType::f64) return Tensor::of<double>(dims, values);
  return Tensor::of<float>(dims, std::vector<float>(values.begin(), values.end()));
}

/// The node reads a value of its own, also where others read the old one.
void set_weight(Node& node, std::size_t input, Value* old, Tensor value) {
  if (old->uses().size() > 1 || node.input(input) != old) {
    node.set_input(input, node.graph().add_initializer(node.graph().fresh_name(old->name()), std::move(value)));
    return;
  }
  old->type = value.type();
  old->initializer = std::move(value);
}

/// Constant sizes of a Reshape that name the old number of classes.
void adapt_sizes(Node& reshape, std::int64_t before, std::int64_t classes) {
  Value* sizes = reshape.input(1);
  std::optional<Tensor> constant = sizes ? sizes->initializer : std::nullopt;
  if (sizes && !constant && sizes->producer() && sizes->producer()->is("Constant"))
    if (const auto* tensor = sizes->producer()->attributes.get<Tensor>("value")) constant = *tensor;
  if (!constant) return;
  std::vector<std::int64_t> numbers = constant->to_ints();
  if (std::ranges::count(numbers, before) != 1) return;
  std::ranges::replace(numbers, before, classes);
  Graph& graph = reshape.graph();
  reshape.set_input(1, graph.add_initializer(graph.fresh_name("head/sizes"), Tensor::ints(numbers)));
}

void adapt_type(Type& type, std::int64_t before, std::int64_t classes) {
  if (!type.shape) return;
  for (std::size_t i = 1; i < type.shape->size(); ++i)
    if (Dim& d = (*type.shape)[i]; d.is_known() && d.value() == before) {
      d = Dim(classes);
      return;
    }
}

}  // namespace

std::optional<std::int64_t> class_count(const Model& model, const std::string& prediction) {
  const Type& type = output_of(model, prediction)->type;
  if (!type.is_tensor() || !type.shape || type.shape->size() < 2 || !(*type.shape)[1].is_known()) return std::nullopt;
  return (*type.shape)[1].value();
}

bool ends_in_softmax(const Model& model, const std::string& prediction) {
  const Node* last = output_of(model, prediction)->producer();
  return last && last->is("Softmax");
}

std::string replace_head(Model& model, std::int64_t classes, std::uint64_t seed, const std::string& prediction) {
  Value* y = output_of(model, prediction);
  const Head head = find_head(y);
  const Tensor old = *head.weight->initializer;
  const std::int64_t before = old.dims()[head.class_axis];
  if (old.dtype() != DType::f32 && old.dtype() != DType::f64)
    throw Error(Code::bad_usage, "the last layer's weights are " + old.type().str() + ", which cannot be drawn anew");
  set_weight(*head.layer, 1, head.weight, drawn(old, head.class_axis, classes, seed));
  if (head.bias) {
    Dims dims = head.bias->initializer->dims();
    const auto axis = std::ranges::find(dims, before);
    if (axis != dims.end()) *axis = classes;
    const auto count = static_cast<std::size_t>(tensor_size(dims));
    Tensor zeros = head.bias->initializer->dtype() == DType::f64 ? Tensor::of<double>(dims, std::vector<double>(count))
                                                                 : Tensor::of<float>(dims, std::vector<float>(count));
    set_weight(*head.bias_node, head.bias_input, head.bias, std::move(zeros));
  }
  for (Value* v : head.layer->outputs()) adapt_type(v->type, before, classes);
  for (Node* node : head.behind) {
    if (node->is("Reshape")) adapt_sizes(*node, before, classes);
    for (Value* v : node->outputs())
      if (v) adapt_type(v->type, before, classes);
  }
  return "a new last layer (" + head.layer->label() + ", " + head.layer->op + ") for " + std::to_string(classes) +
         " classes in place of " + std::to_string(before);
}

}  // namespace ingot::train
