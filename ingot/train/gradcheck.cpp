// Gradients against central differences.
#include "ingot/train/gradcheck.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "ingot/base/current_budget.h"
#include "ingot/base/error.h"
#include "ingot/ops/builder.h"
#include "ingot/ops/quantization/scales.h"
#include "ingot/ops/well_formed.h"
#include "ingot/passes/canonicalize.h"
#include "ingot/passes/inline_functions.h"
#include "ingot/passes/widen.h"
#include "ingot/train/autodiff.h"
#include "ingot/train/expand_gradients.h"

namespace ingot::train {
namespace {

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

double dot(const Array& a, std::span<const double> b) {
  double sum = 0;
  const auto x = a.data<double>();
  for (std::size_t i = 0; i < x.size() && i < b.size(); ++i) sum += x[i] * b[i];
  return sum;
}

/// Moves real inputs at random; returns the places of those to differentiate by.
std::vector<std::size_t> move_inputs(const Model& model, std::vector<engine::NamedDatum>& inputs,
                                     const GradientCheckOptions& options, Noise& noise) {
  std::vector<std::size_t> moved;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Value* v = model.graph->find(inputs[i].name);
    const Array* array = inputs[i].value.array();
    if (!is_real(v) || !v->is_input() || v->initializer || !array || array->dtype() != DType::f64) continue;
    if (options.jitter > 0) {
      std::vector<double> values = array->to_doubles();
      for (double& x : values) x += options.jitter * noise() * std::max(1.0, std::abs(x));
      inputs[i].value = Array::of<double>(array->dims(), values);
    }
    if (options.wrt.empty() || std::ranges::find(options.wrt, inputs[i].name) != options.wrt.end()) moved.push_back(i);
  }
  return moved;
}

/// The gradient of the model's outputs, weighted and summed: a model of the same inputs, and of the weights.
struct WeightedGradient {
  Model model;
  std::vector<std::size_t> real_outputs;  // of the model that is differentiated
  std::vector<std::string> weights;       // inputs, one for each of these
  std::vector<std::size_t> given;         // by which inputs of `wrt` there is a gradient: the outputs
};

/// Nothing where no output is real, or no input.
std::optional<WeightedGradient> weighted_gradient(const Model& model, const std::vector<std::string>& names) {
  WeightedGradient made;
  made.model = model.clone();
  Graph& graph = *made.model.graph;
  std::vector<Seed> seeds;
  for (std::size_t i = 0; i < graph.output_count(); ++i) {
    Value* y = graph.output(i);
    if (!is_real(y)) continue;
    made.real_outputs.push_back(i);
    seeds.push_back({y, graph.add_input(graph.fresh_name("weight"), y->type)});
    made.weights.push_back(seeds.back().weight->name());
  }
  if (seeds.empty() || names.empty()) return {};
  Values wrt;
  for (const std::string& name : names) wrt.push_back(graph.find(name));
  const Values gradients = differentiate(graph, seeds, wrt);
  graph.resize_outputs(0);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i]) continue;
    made.given.push_back(i);
    Value* out = gradients[i];
    if (!out->producer() || out->graph().output_count()) out = GraphBuilder(graph).op("Identity", {out});
    graph.add_output(out);
  }
  return made;
}

/// The outputs' weighted sum as a function of the inputs.
class Functional {
 public:
  Functional(const Model& model, const std::vector<engine::NamedDatum>& inputs, std::vector<std::size_t> outputs,
             Noise& noise)
      : session_(model, {.budget = &current_budget()}), inputs_(inputs), outputs_(std::move(outputs)) {
    const auto base = session_.run(inputs);
    for (const std::size_t k : outputs_) {
      const Array& y = *base[k].value.array();
      weights_.push_back(Array::of<double>(y.dims(), noise.many(static_cast<std::size_t>(y.size()))));
    }
  }

  const std::vector<Array>& weights() const { return weights_; }
  const engine::NamedDatum& input(std::size_t i) const { return inputs_[i]; }

  /// With one input moved in a direction.
  double at(std::size_t input, const std::vector<double>& direction, double step) const {
    auto inputs = inputs_;
    const Array& x = *inputs_[input].value.array();
    std::vector<double> values = x.to_doubles();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += step * direction[i];
    inputs[input].value = Array::of<double>(x.dims(), values);
    const auto results = session_.run(inputs);
    double sum = 0;
    for (std::size_t k = 0; k < outputs_.size(); ++k)
      sum += dot(*results[outputs_[k]].value.array(), weights_[k].data<double>());
    return sum;
  }

 private:
  engine::Session session_;
  const std::vector<engine::NamedDatum>& inputs_;
  std::vector<std::size_t> outputs_;
  std::vector<Array> weights_;
};

/// The gradient by each input; nothing where it is zero for all.
std::vector<std::optional<Array>> gradients_of(const WeightedGradient& gradient, std::vector<engine::NamedDatum> inputs,
                                               std::size_t count, const Functional& functional) {
  std::vector<std::optional<Array>> found(count);
  const engine::Session session(gradient.model, {.budget = &current_budget()});
  if (gradient.given.empty()) return found;
  for (std::size_t k = 0; k < gradient.weights.size(); ++k)
    inputs.push_back({gradient.weights[k], functional.weights()[k]});
  const auto results = session.run(inputs);
  for (std::size_t k = 0; k < gradient.given.size(); ++k) found[gradient.given[k]] = *results[k].value.array();
  return found;
}

GradientCheck check_input(const Functional& functional, std::size_t input, const std::optional<Array>& gradient,
                          const std::vector<double>& direction) {
  const Array& x = *functional.input(input).value.array();
  double largest = 1;
  for (const double v : x.data<double>()) largest = std::max(largest, std::abs(v));
  const double h = 6e-6 * largest;
  GradientCheck check{.input = functional.input(input).name};
  const auto at = [&](double step) { return functional.at(input, direction, step); };
  const auto slope = [&](double step) { return (at(step) - at(-step)) / (2 * step); };
  check.numeric = (4 * slope(h) - slope(2 * h)) / 3;
  const double here = at(0);
  const double right = (at(h) - here) / h, left = (here - at(-h)) / h;
  check.is_at_kink = std::abs(right - left) > 1e-3 * std::max({0.1, std::abs(right), std::abs(left)});
  if (gradient) {
    if (gradient->dims() != x.dims())
      throw Error(Code::broken_invariant, "the gradient of '" + check.input + "' has another shape than the input");
    check.analytic = dot(*gradient, direction);
  }
  // Between two slopes that differ, the one of either side is right.
  const double scale = std::max({1.0, std::abs(right), std::abs(left)});
  const double nearest = std::min(std::abs(check.analytic - right), std::abs(check.analytic - left));
  check.is_at_kink |= !check.passed() && std::abs(right - left) > 1e-4 * scale && nearest <= 1e-4 * scale;
  return check;
}

}  // namespace

bool GradientCheck::passed() const {
  constexpr double kTolerance = 1e-6;
  const double scale = std::max({1.0, std::abs(analytic), std::abs(numeric)});
  return std::abs(analytic - numeric) <= kTolerance * scale;
}

Model in_double(const Model& model) {
  Model wide = model.clone();
  passes::inline_functions(wide);
  passes::canonicalize(wide);
  expand_gradients(*wide.graph);
  ops::require_well_formed(*wide.graph);
  passes::widen_floats(wide, {.reads_double = true, .widens_halves = true, .follows_schemas = false});
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
  if (!array || !passes::is_narrow_float(array->dtype())) return datum;
  return Array::of<double>(array->dims(), array->to_doubles());
}

std::vector<GradientCheck> check_gradients(const Model& model, std::vector<engine::NamedDatum> inputs,
                                           const GradientCheckOptions& options) {
  Noise noise(options.seed);
  const std::vector<std::size_t> moved = move_inputs(model, inputs, options, noise);
  std::vector<std::string> wrt;
  for (const std::size_t i : moved) wrt.push_back(inputs[i].name);
  const std::optional<WeightedGradient> gradient = weighted_gradient(model, wrt);
  if (!gradient) return {};
  const Functional functional(model, inputs, gradient->real_outputs, noise);
  const auto gradients = gradients_of(*gradient, inputs, moved.size(), functional);
  std::vector<GradientCheck> checks;
  for (std::size_t m = 0; m < moved.size(); ++m) {
    const std::vector<double> direction = noise.many(static_cast<std::size_t>(inputs[moved[m]].value.array()->size()));
    checks.push_back(check_input(functional, moved[m], gradients[m], direction));
  }
  return checks;
}

}  // namespace ingot::train
