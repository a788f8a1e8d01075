// Small models for the tests of one operator.
#include "tests/ops/op_case.h"

#include <functional>
#include <stdexcept>

#include "ingot/base/error.h"
#include "ingot/engine/session.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/schema.h"
#include "ingot/passes/convert_version.h"
#include "ingot/passes/decompose.h"

namespace ingot::test {
namespace {

Shape parse_dims(std::string_view text) {
  Shape shape;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string dim(text.substr(0, comma));
    const bool is_number = dim.find_first_not_of("-0123456789") == std::string::npos;
    shape.push_back(dim == "?" ? Dim() : is_number ? Dim(std::stoll(dim)) : Dim::symbol(dim));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return shape;
}

}  // namespace

Type tensor_type(std::string_view text) {
  const std::size_t bracket = text.find('[');
  const auto elem =
      text.substr(0, bracket) == "?" ? DType::undefined : dtype_from_name(text.substr(0, bracket)).value();
  if (bracket == std::string_view::npos) return Type::tensor(elem, Shape{});
  const std::string_view dims = text.substr(bracket + 1, text.size() - bracket - 2);
  return dims == "..." ? Type::tensor(elem) : Type::tensor(elem, parse_dims(dims));
}

OpCase::OpCase(int opset, std::string domain) : domain_(std::move(domain)) {
  model.ir_version = 8;
  if (!domain_.empty()) model.opsets.set("", ops::newest_opset(""));
  model.opsets.set(domain_, opset ? opset : ops::newest_opset(domain_));
}

Value* OpCase::in(Type type) {
  Graph& graph = *model.graph;
  Value* value = graph.add_input(graph.fresh_name("x"), std::move(type));
  value->is_declared = true;
  return value;
}

Value* OpCase::constant(Tensor value) {
  return model.graph->add_initializer(model.graph->fresh_name("c"), std::move(value));
}

Value* OpCase::known(std::string_view dims) {
  Value* value = in("int64[" + std::to_string(parse_dims(dims).size()) + "]");
  value->known_ints = std::make_shared<const std::vector<Dim>>(parse_dims(dims));
  return value;
}

Values OpCase::ops(std::string_view op, const Values& inputs, const Attrs& attrs, std::size_t outputs) {
  GraphBuilder builder(*model.graph);
  Node* node = builder.node(op, domain_, inputs, attrs, outputs);
  if (model.opsets.version(domain_) == ops::newest_opset(domain_)) {
    ops::InferSession session;
    ops::infer_node(*node, session);
  }
  for (Value* output : node->outputs()) model.graph->add_output(output);
  return node->outputs();
}

void OpCase::convert(int opset) {
  OpsetImports targets;
  targets.set(domain_, opset);
  passes::convert_version(model, targets);
  check_invariants(model);
}

bool OpCase::decompose() {
  const bool is_done = passes::decompose_node(*model.graph->last());
  check_invariants(model);
  return is_done;
}

std::vector<Datum> OpCase::run(const std::vector<Datum>& inputs) const {
  std::vector<engine::NamedDatum> named;
  for (std::size_t i = 0; i < inputs.size(); ++i) named.push_back({model.graph->inputs()[i]->name(), inputs[i]});
  std::vector<Datum> outputs;
  for (engine::NamedDatum& output : engine::Session(model).run(named)) outputs.push_back(std::move(output.value));
  return outputs;
}

namespace {

Type type_of(const Datum& datum) {
  if (const Array* array = datum.array()) return Type::tensor(array->dtype());
  if (const Sequence* sequence = datum.sequence())
    return Type::sequence(sequence->empty() ? Type() : type_of(sequence->front()));
  if (const MapData* map = datum.map())
    return Type::map(map->string_keys.empty() ? DType::i64 : DType::string, Type::tensor(map->values.dtype()));
  return {};
}

}  // namespace

std::vector<Datum> run_ops(std::string_view op, const std::vector<Datum>& inputs, const Attrs& attrs,
                           std::size_t outputs, std::string domain) {
  OpCase model(0, std::move(domain));
  Values values;
  std::vector<Datum> given;
  for (const Datum& input : inputs) {
    values.push_back(input ? model.in(type_of(input)) : nullptr);
    if (input) given.push_back(input);
  }
  model.ops(op, values, attrs, outputs);
  return model.run(given);
}

Array run_op(std::string_view op, const std::vector<Datum>& inputs, const Attrs& attrs) {
  return *run_ops(op, inputs, attrs, 1).front().array();
}

std::string OpCase::nodes() const {
  std::string text;
  for (const Node& node : model.graph->nodes()) text += (text.empty() ? "" : " ") + node.op;
  return text;
}

Node& OpCase::node(std::string_view op) const {
  for (Node& node : model.graph->nodes())
    if (node.op == op) return node;
  throw std::runtime_error("no node " + std::string(op) + " among " + nodes());
}

std::string refusal(const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& error) {
    return error.message();
  }
  return {};
}

std::string elements(const Value* value) {
  if (!value->known_ints) return "unknown";
  std::string text;
  for (const Dim& d : *value->known_ints) text += (text.empty() ? "" : ",") + (d.is_unknown() ? "?" : d.str());
  return "[" + text + "]";
}

}  // namespace ingot::test
