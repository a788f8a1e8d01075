// Floats to integers, in one of three ways.
#include "ingot/passes/quantize/quantize.h"

#include <algorithm>

#include "ingot/base/error.h"
#include "ingot/ir/drop_unread.h"
#include "ingot/passes/quantize/choice.h"
#include "ingot/passes/quantize/ranged.h"

namespace ingot::passes {
namespace {

void refuse_what_cannot_be(const QuantizeOptions& options) {
  const auto refuse = [](const std::string& why, const std::string& hint) {
    throw Error(Code::bad_usage, why).hint(hint);
  };
  if (options.bits != 8 && options.bits != 4) refuse("weights have 8 or 4 bits", "--bits 8 or --bits 4");
  if (options.block < 0) refuse("a block has a size above 0", "--block 32");
  if (options.method == QuantizeMethod::weights) return;
  if (options.bits != 8) refuse("only weights alone have 4 bits", "--method weights --bits 4");
  if (options.block) refuse("only weights alone have blocks", "--method weights --block 32");
  if (options.method == QuantizeMethod::dynamic && options.form == QuantizeForm::qdq)
    refuse("ranges that are found at run time need operators of integers", "--form integer");
}

bool holds_weights(const Node& node) {
  constexpr std::int64_t kFewest = 32;
  return std::ranges::any_of(node.inputs(), [](const Value* v) {
    const Tensor* weight = quantize_parts::stored(v);
    return weight && weight->dtype() == DType::f32 && weight->rank() >= 2 && weight->size() >= kFewest;
  });
}

/// What holds weights and is left in float by all methods.
std::vector<FloatNode> without_form(Graph& main) {
  static constexpr std::string_view kOperators[] = {"Einsum", "GRU", "LSTM", "RNN"};
  std::vector<FloatNode> nodes;
  for_each_graph(main, [&](Graph& graph) {
    for (const Node& node : graph.nodes()) {
      if (!holds_weights(node)) continue;
      const bool is_product = quantize_parts::role_of(node) == quantize_parts::Role::product;
      const bool is_known = node.domain.empty() && std::ranges::find(kOperators, node.op) != std::end(kOperators);
      if (is_product && &graph != &main)
        nodes.push_back({node.label(), node.op, "it is in a graph inside a node"});
      else if (is_known || !node.domain.empty())
        nodes.push_back({node.label(), node.op, "there is no form of it for integers here"});
    }
  });
  return nodes;
}

}  // namespace

std::vector<std::string> values_to_watch(const Model& model, const QuantizeOptions& options) {
  std::vector<std::string> names;
  if (options.method == QuantizeMethod::ranges)
    for (const Value* v : quantize_parts::values_with_ranges(*model.graph, options)) names.push_back(v->name());
  return names;
}

QuantizeReport quantize(Model& model, const QuantizeOptions& options, const ValueRanges& ranges) {
  refuse_what_cannot_be(options);
  std::vector<FloatNode> rest = without_form(*model.graph);
  QuantizeReport report;
  switch (options.method) {
    case QuantizeMethod::ranges:
      report = quantize_parts::quantize_by_ranges(*model.graph, options, ranges);
      if (options.form == QuantizeForm::integer) quantize_parts::to_integer_operators(model);
      break;
    case QuantizeMethod::dynamic:
      report = quantize_parts::quantize_dynamically(*model.graph, options);
      break;
    case QuantizeMethod::weights:
      report = quantize_parts::quantize_weights(model, options);
      break;
  }
  drop_unread(*model.graph);
  std::ranges::move(rest, std::back_inserter(report.kept));
  return report;
}

}  // namespace ingot::passes
