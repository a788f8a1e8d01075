// Gradients against central differences.
#include "ingot/train/gradcheck.h"

#include <algorithm>
#include <cmath>

#include "ingot/base/error.h"
#include "ingot/ops/builder.h"
#include "ingot/ops/quantization/scales.h"
#include "ingot/ops/well_formed.h"
#include "ingot/passes/convert_version.h"
#include "ingot/passes/inline_functions.h"
#include "ingot/train/autodiff.h"
#include "ingot/train/expand_gradients.h"

namespace ingot::train {
namespace {

bool is_narrow(DType dtype) { return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16; }

Tensor widened(const Tensor& tensor) {
  return is_narrow(tensor.dtype()) ? Tensor::of<double>(tensor.dims(), tensor.to_doubles()) : tensor;
}

/// Inputs that are of single precision whatever the others are.
bool is_always_single(const Value& v) {
  for (const Use& use : v.uses())
    if (use.node && ((use.node->is("Resize") && use.index == 2) || (use.node->is("Upsample") && use.index == 1)))
      return true;
  return false;
}

void widen(Type& type) {
  if (is_narrow(type.elem)) type.elem = DType::f64;
  if (!type.element) return;
  Type inner = *type.element;
  widen(inner);
  type.element = std::make_shared<const Type>(std::move(inner));
}

/// What is single precision by default, or can only be said in it, is said in double.
void widen_defaults(Node& node) {
  Attributes& attributes = node.attributes;
  if (node.is("SequenceEmpty") && !attributes.has("dtype")) attributes.set({"dtype", DType::f64});
  if (node.is("ConstantOfShape") && !attributes.has("value"))
    attributes.set(Attribute("value", AttrValue(Tensor::of<double>({1}, {0}))));
  if (!node.is("Constant")) return;
  if (const float* number = attributes.get<float>("value_float")) {
    const double value = *number;
    attributes.erase("value_float");
    attributes.set(Attribute("value", AttrValue(Tensor::scalar<double>(value))));
  } else if (const auto* numbers = attributes.get<std::vector<float>>("value_floats")) {
    const std::vector<double> values(numbers->begin(), numbers->end());
    attributes.erase("value_floats");
    const auto count = static_cast<std::int64_t>(values.size());
    attributes.set(Attribute("value", AttrValue(Tensor::of<double>({count}, values))));
  }
}

void widen(Node& node) {
  widen_defaults(node);
  for (Attribute& a : node.attributes) {
    if (const auto* tensor = std::get_if<Tensor>(&a.value)) a.value = widened(*tensor);
    const bool names_type = a.name == "to" || a.name == "dtype" || a.name == "stash_type" || a.name == "output_dtype" ||
                            a.name == "output_datatype" || a.name == "softmax_precision";
    if (auto* number = std::get_if<std::int64_t>(&a.value))
      if (names_type && is_narrow(static_cast<DType>(*number))) *number = static_cast<std::int64_t>(DType::f64);
  }
}

/// Random numbers in (-1, 1) that are the same everywhere.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : state_(seed) {}
  double operator()() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    z ^= z >> 31;
    return std::ldexp(static_cast<double>(z >> 11), -52) - 1;
  }
  std::vector<double> many(std::size_t count) {
    std::vector<double> values(count);
    for (double& v : values) v = (*this)();
    return values;
  }

 private:
  std::uint64_t state_;
};

bool is_real(const Value* v) { return v && v->type.is_tensor() && v->type.elem == DType::f64; }

/// Zero point and scale of a node as real numbers that broadcast against its first input.
struct Parameters {
  Value *zero = nullptr, *scale = nullptr;

  Parameters(GraphBuilder& g, const Node& node, std::int64_t axis) {
    ops::DecomposeContext own(g, node);
    scale = ops::spread(own, g.cast(node.input(1), DType::f64), axis);
    if (node.input(2)) zero = ops::spread(own, g.cast(node.input(2), DType::f64), axis);
  }
};

/// The axis along which the scales of the node vary; nothing: not enough is known.
std::optional<std::int64_t> axis_of(GraphBuilder& g, const Node& node) {
  return ops::spread_axis(ops::DecomposeContext(g, node));
}

/// Both ends in plain arithmetic, without rounding between them; false: not enough is known.
bool leave_out_rounding(Node& quantize) {
  Graph& graph = quantize.graph();
  Value* steps = quantize.output();
  std::vector<Node*> readers;
  for (const Use& use : steps->uses()) readers.push_back(use.node);
  GraphBuilder g(graph, &quantize);
  bool is_known = axis_of(g, quantize).has_value();
  for (const Node* reader : readers) is_known &= &reader->graph() == &graph && axis_of(g, *reader).has_value();
  if (!is_known) return false;
  const Parameters own(g, quantize, *axis_of(g, quantize));
  Value* place = g.div(g.cast(quantize.input(0), DType::f64), own.scale);
  if (own.zero) place = g.add(place, own.zero);
  const ops::IntegerRange range = ops::range_of(steps->type.elem);
  Value* least = g.scalar(range.least, DType::f64);
  Value* held = g.op("Clip", {place, least, g.scalar(range.most, DType::f64)});
  for (Node* reader : readers) {
    GraphBuilder after(graph, reader);
    const Parameters theirs(after, *reader, *axis_of(after, *reader));
    Value* number = theirs.zero ? after.sub(held, theirs.zero) : held;
    replace_node(*reader, {after.mul(number, theirs.scale)});
  }
  graph.erase(&quantize);
  return true;
}

double dot(const Array& a, const std::vector<double>& b) {
  double sum = 0;
  const auto x = a.data<double>();
  for (std::size_t i = 0; i < x.size() && i < b.size(); ++i) sum += x[i] * b[i];
  return sum;
}

}  // namespace

bool GradientCheck::passed() const {
  constexpr double kTolerance = 1e-6;
  const double scale = std::max({1.0, std::abs(analytic), std::abs(numeric)});
  return std::abs(analytic - numeric) <= kTolerance * scale;
}

Model in_double(const Model& model) {
  Model wide = model.clone();
  passes::canonicalize(wide);
  passes::inline_functions(wide);
  expand_gradients(*wide.graph);
  ops::require_well_formed(*wide.graph);
  for_each_graph(*wide.graph, [](Graph& graph) {
    for (Value* v : graph.inputs())
      if (!is_always_single(*v)) widen(v->type);
    for (Value* v : graph.initializers()) {
      if (is_always_single(*v) || !v->initializer) continue;
      v->initializer = widened(*v->initializer);
      widen(v->type);
    }
    for (Node& node : graph.nodes()) {
      if (node.op == "LayerNormalization" || node.op == "RMSNormalization" || node.op == "GroupNormalization")
        node.attributes.set({"stash_type", DType::f64});
      if (node.output() && is_always_single(*node.output())) continue;
      widen(node);
      for (Value* v : node.outputs())
        if (v) widen(v->type);
    }
  });
  return wide;
}

std::size_t leave_out_rounding(Model& model) {
  std::size_t count = 0;
  for_each_graph(*model.graph, [&](Graph& graph) {
    std::vector<Node*> found;
    for (Node& node : graph.nodes())
      if (node.is("QuantizeLinear") && node.output() && stands_for_reals(node.output())) found.push_back(&node);
    for (Node* node : found) count += leave_out_rounding(*node);
  });
  return count;
}

Datum in_double(const Datum& datum) {
  const Array* array = datum.array();
  if (!array || !is_narrow(array->dtype())) return datum;
  return Array::of<double>(array->dims(), array->to_doubles());
}

std::vector<GradientCheck> check_gradients(const Model& model, std::vector<engine::NamedDatum> inputs,
                                           const GradientCheckOptions& options) {
  Noise noise(options.seed);
  const auto is_wanted = [&](const std::string& name) {
    return options.wrt.empty() || std::ranges::find(options.wrt, name) != options.wrt.end();
  };
  std::vector<std::size_t> moved;  // inputs to differentiate by
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Value* v = model.graph->find(inputs[i].name);
    const Array* array = inputs[i].value.array();
    if (!is_real(v) || !v->is_input() || v->initializer || !array || array->dtype() != DType::f64) continue;
    if (options.jitter > 0) {
      std::vector<double> values = array->to_doubles();
      for (double& x : values) x += options.jitter * noise() * std::max(1.0, std::abs(x));
      inputs[i].value = Array::of<double>(array->dims(), values);
    }
    if (is_wanted(inputs[i].name)) moved.push_back(i);
  }

  // The gradient model: the same inputs, and the weights of the outputs.
  Model gradient = model.clone();
  Graph& graph = *gradient.graph;
  std::vector<Seed> seeds;
  std::vector<std::size_t> real_outputs;
  for (std::size_t i = 0; i < graph.output_count(); ++i) {
    Value* y = graph.output(i);
    if (!is_real(y)) continue;
    real_outputs.push_back(i);
    seeds.push_back({y, graph.add_input(graph.fresh_name("weight"), y->type)});
  }
  if (seeds.empty() || moved.empty()) return {};
  Values wrt;
  for (const std::size_t i : moved) wrt.push_back(graph.find(inputs[i].name));
  std::vector<std::string> weight_names;
  for (const Seed& seed : seeds) weight_names.push_back(seed.weight->name());
  const Values gradients = differentiate(graph, seeds, wrt);
  graph.resize_outputs(0);
  std::vector<std::size_t> with_gradient;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i]) continue;
    with_gradient.push_back(i);
    Value* out = gradients[i];
    if (!out->producer() || out->graph().output_count()) out = GraphBuilder(graph).op("Identity", {out});
    graph.add_output(out);
  }

  const engine::Session forward(model), backward(gradient);
  const auto base = forward.run(inputs);
  std::vector<std::vector<double>> weights;
  auto with_weights = inputs;
  for (std::size_t k = 0; k < real_outputs.size(); ++k) {
    const Array& y = *base[real_outputs[k]].value.array();
    weights.push_back(noise.many(static_cast<std::size_t>(y.size())));
    with_weights.push_back({weight_names[k], Array::of<double>(y.dims(), weights.back())});
  }
  const auto total = [&](std::size_t input, const std::vector<double>& direction, double step) {
    auto at = inputs;
    const Array& x = *inputs[input].value.array();
    std::vector<double> values = x.to_doubles();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += step * direction[i];
    at[input].value = Array::of<double>(x.dims(), values);
    const auto results = forward.run(at);
    double sum = 0;
    for (std::size_t k = 0; k < real_outputs.size(); ++k)
      sum += dot(*results[real_outputs[k]].value.array(), weights[k]);
    return sum;
  };
  const auto results = with_gradient.empty() ? std::vector<engine::NamedDatum>() : backward.run(with_weights);
  std::vector<GradientCheck> checks;
  for (std::size_t m = 0; m < moved.size(); ++m) {
    const Array& x = *inputs[moved[m]].value.array();
    const std::vector<double> direction = noise.many(static_cast<std::size_t>(x.size()));
    double largest = 1;
    for (const double v : x.data<double>()) largest = std::max(largest, std::abs(v));
    const double h = 6e-6 * largest;
    GradientCheck check{.input = inputs[moved[m]].name};
    const auto slope = [&](double step) {
      return (total(moved[m], direction, step) - total(moved[m], direction, -step)) / (2 * step);
    };
    check.numeric = (4 * slope(h) - slope(2 * h)) / 3;
    const double here = total(moved[m], direction, 0);
    const double right = (total(moved[m], direction, h) - here) / h, left = (here - total(moved[m], direction, -h)) / h;
    check.is_at_kink = std::abs(right - left) > 1e-3 * std::max({0.1, std::abs(right), std::abs(left)});
    const auto found = std::ranges::find(with_gradient, m);
    if (found != with_gradient.end()) {
      const Array& dx = *results[static_cast<std::size_t>(found - with_gradient.begin())].value.array();
      if (dx.dims() != x.dims())
        throw Error(Code::broken_invariant, "the gradient of '" + check.input + "' has another shape than the input");
      check.analytic = dot(dx, direction);
    }
    // Between two slopes that differ, the one of either side is right.
    const double scale = std::max({1.0, std::abs(right), std::abs(left)});
    const double nearest = std::min(std::abs(check.analytic - right), std::abs(check.analytic - left));
    check.is_at_kink |= !check.passed() && std::abs(right - left) > 1e-4 * scale && nearest <= 1e-4 * scale;
    checks.push_back(check);
  }
  return checks;
}

}  // namespace ingot::train
