// One case: converted, checked, run, compared.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/driver/check.h"
#include "ingot/engine/session.h"
#include "ingot/formats/tensorflow/reader.h"
#include "ingot/frontends/tensorflow/import.h"
#include "ingot/passes/recurrent_loops/recurrent_loops.h"
#include "tests/frontends/tensorflow/graph_case.h"
#include "tests/frontends/tensorflow/operator_cases.h"

namespace ingot::test {
namespace {

namespace front = frontends::tensorflow;
namespace tf = formats::tensorflow;

std::string text_of(const Dims& dims) {
  std::string text = "[";
  for (const std::int64_t d : dims) text += (text.size() > 1 ? "," : "") + std::to_string(d);
  return text + "]";
}

/// rtol 1e-4, atol 1e-5; whatever is no real number exactly.
std::string difference(const Array& got, const Array& want) {
  if (got.dtype() != want.dtype())
    return std::string(name_of(got.dtype())) + " instead of " + std::string(name_of(want.dtype()));
  if (got.dims() != want.dims()) return "shape " + text_of(got.dims()) + " instead of " + text_of(want.dims());
  if (got.dtype() == DType::string) {
    for (std::size_t i = 0; i < want.data<std::string>().size(); ++i)
      if (got.data<std::string>()[i] != want.data<std::string>()[i])
        return "text '" + got.data<std::string>()[i] + "' instead of '" + want.data<std::string>()[i] + "'";
    return {};
  }
  const std::vector<double> a = got.to_doubles(), b = want.to_doubles();
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    const bool is_close = is_float(got.dtype()) && std::abs(a[i] - b[i]) <= 1e-5 + 1e-4 * std::abs(b[i]);
    if (!is_close)
      return "element " + std::to_string(i) + " is " + std::to_string(a[i]) + " instead of " + std::to_string(b[i]);
  }
  return {};
}

std::string difference(const Array& got, const OperatorCase::Distribution& want) {
  if (got.dtype() != want.dtype) return "the type is " + std::string(name_of(got.dtype()));
  if (got.dims() != want.dims) return "shape " + text_of(got.dims()) + " instead of " + text_of(want.dims);
  const std::vector<double> values = got.to_doubles();
  const double count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  const double deviation = std::sqrt(squares / count);
  if (std::abs(mean - want.mean) > want.slack) return "the mean is " + std::to_string(mean);
  if (std::abs(deviation - want.deviation) > want.slack) return "the deviation is " + std::to_string(deviation);
  return {};
}

struct Ran {
  std::vector<engine::NamedDatum> outputs;
  std::string problem;
};

Ran run(const OperatorCase& c, const tf::GraphDef& graph, bool is_open) {
  front::ImportOptions options;
  std::vector<engine::NamedDatum> inputs;
  for (const OperatorCase::Tensor& input : c.inputs) {
    options.inputs.push_back(input.name);
    if (is_open) {
      Shape shape;
      for (std::int64_t i = 0; i < input.value.rank(); ++i)
        shape.push_back(Dim::symbol(input.name + "_" + std::to_string(i)));
      options.input_shapes.emplace_back(input.name, shape);
    }
    inputs.push_back({input.name, input.value});
  }
  for (const OperatorCase::Tensor& output : c.outputs) options.outputs.push_back(output.name);
  for (const OperatorCase::Distribution& output : c.distributions) options.outputs.push_back(output.name);
  front::ModelFiles files;
  files.variable = [&](const std::string& name) -> std::optional<Tensor> {
    const auto found = std::ranges::find(c.variables, name, &OperatorCase::Tensor::name);
    return found == c.variables.end() ? std::nullopt : std::optional(found->value.to_tensor());
  };
  files.asset = [&](const std::string& name) -> std::optional<Bytes> {
    for (const auto& [asset, text] : c.assets)
      if (asset == name) return Bytes::own(std::string(text));
    return std::nullopt;
  };
  Model model = front::import_graph(graph, options, files).model;
  passes::recognise_recurrent_loops(model);  // as every import does
  for (const driver::Problem& problem : driver::check(model))
    if (problem.severity == driver::Severity::error) return {{}, problem.str()};
  std::set<std::string> made;
  for (const Node& node : model.graph->nodes()) made.insert(node.op);
  for (const std::string& op : c.makes)
    if (!made.contains(op) || made.contains("Loop")) return {{}, "no " + op + " instead of a Loop"};
  std::erase_if(inputs, [&](const engine::NamedDatum& d) { return !model.graph->find(d.name); });
  return {engine::Session(model).run(inputs), {}};
}

}  // namespace

std::string run_operator_case(const OperatorCase& c, bool is_open, Operators* operators) {
  Ran ran;
  tf::GraphDef graph;
  try {
    graph = tf::read_graph(Bytes::own(std::string(c.text)), Budget::unlimited());
    ran = run(c, graph, is_open);
  } catch (const Error& error) {
    return error.message();
  }
  if (!ran.problem.empty()) return ran.problem;
  const auto found = [&](const std::string& name) -> const Array* {
    const auto at = std::ranges::find(ran.outputs, name, &engine::NamedDatum::name);
    return at == ran.outputs.end() ? nullptr : at->value.array();
  };
  const auto compare = [&](const auto& wanted) -> std::string {
    for (const auto& want : wanted) {
      const Array* got = found(want.name);
      if (!got) return want.name + " is not there";
      const std::string why = [&] {
        if constexpr (requires { want.value; })
          return difference(*got, want.value);
        else
          return difference(*got, want);
      }();
      if (!why.empty()) return want.name + ": " + why;
    }
    return {};
  };
  std::string why = compare(c.outputs);
  if (why.empty()) why = compare(c.distributions);
  if (!why.empty() || !operators) return why;
  std::set<std::string> all;
  for (const tf::NodeDef& node : graph.nodes) all.insert(node.name);
  note_operators(graph, all, *operators);
  return {};
}

}  // namespace ingot::test
