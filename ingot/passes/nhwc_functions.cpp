// Transpose(Conv(Transpose(x), w, b)) = ingot.nhwc.Conv(x, w, b)
#include "ingot/passes/nhwc_functions.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "ingot/ir/drop_unread.h"
#include "ingot/ops/builder.h"

namespace ingot::passes {
namespace {

struct Spatial {
  std::string_view op;
  std::size_t inputs;
  std::vector<std::pair<std::string_view, AttrType>> attributes{};
};

const std::vector<Spatial>& spatial_operators() {
  using enum AttrType;
  static const std::vector<std::pair<std::string_view, AttrType>> kWindow = {
      {"auto_pad", string},   {"dilations", ints}, {"group", int_},
      {"kernel_shape", ints}, {"pads", ints},      {"strides", ints}};
  static const std::vector<std::pair<std::string_view, AttrType>> kPool = {{"auto_pad", string}, {"ceil_mode", int_},
                                                                           {"dilations", ints},  {"kernel_shape", ints},
                                                                           {"pads", ints},       {"strides", ints}};
  static const std::vector<Spatial> kAll = [] {
    auto transposed = kWindow;
    transposed.insert(transposed.end(), {{"output_padding", ints}, {"output_shape", ints}});
    auto average = kPool;
    average.emplace_back("count_include_pad", int_);
    return std::vector<Spatial>{
        {"AveragePool", 1, average},
        {"BatchNormalization", 5, {{"epsilon", float_}}},
        {"Conv", 3, kWindow},
        {"ConvTranspose", 3, transposed},
        {"DepthToSpace", 1, {{"blocksize", int_}, {"mode", string}}},
        {"GlobalAveragePool", 1},
        {"GlobalMaxPool", 1},
        {"InstanceNormalization", 3, {{"epsilon", float_}}},
        {"LRN", 1, {{"alpha", float_}, {"beta", float_}, {"bias", float_}, {"size", int_}}},
        {"MaxPool", 1, kPool},
        {"SpaceToDepth", 1, {{"blocksize", int_}}},
    };
  }();
  return kAll;
}

const std::vector<std::int64_t> kToFirst = {0, 3, 1, 2}, kToLast = {0, 2, 3, 1};

bool is_transpose(const Node* node, const std::vector<std::int64_t>& perm) {
  return node && node->is("Transpose") && node->attributes.ints_or("perm", {}) == perm;
}

/// Null: not an operator that has a function, or one that uses what the function has not.
const Spatial* spatial(const Node& node) {
  if (!node.domain.empty() || !node.output(0)) return nullptr;
  const auto& all = spatial_operators();
  const auto it = std::ranges::find(all, node.op, &Spatial::op);
  if (it == all.end()) return nullptr;
  for (std::size_t i = 1; i < node.output_count(); ++i)
    if (node.output(i)) return nullptr;
  const bool is_known = std::ranges::all_of(node.attributes, [&](const Attribute& a) {
    return std::ranges::any_of(it->attributes, [&](const auto& known) { return known.first == a.name; });
  });
  return is_known ? &*it : nullptr;
}

/// Element by element, so that any layout will do.
bool is_activation(const Node& node) {
  static const std::set<std::string_view> kAll = {"Clip", "Elu",  "HardSigmoid", "HardSwish", "LeakyRelu",
                                                  "Relu", "Selu", "Sigmoid",     "Softplus",  "Tanh"};
  return node.domain.empty() && kAll.contains(node.op);
}

/// The transpose behind a node and its activations; null: there is none, or others read what lies between.
Node* transpose_behind(const Node& node) {
  for (const Node* at = &node;;) {
    const auto uses = at->output(0)->uses();
    if (uses.size() != 1 || !uses[0].node || uses[0].index != 0) return nullptr;
    Node* reader = uses[0].node;
    if (is_transpose(reader, kToLast)) return reader;
    if (!is_activation(*reader) || !reader->output(0)) return nullptr;
    at = reader;
  }
}

bool stands_between(const Node& node) {
  return node.input(0) && is_transpose(node.input(0)->producer(), kToFirst) && transpose_behind(node);
}

/// The body: channels first, the operator, channels last.
std::unique_ptr<Function> function_of(const Spatial& row, std::int64_t opset) {
  auto function = std::make_unique<Function>();
  function->domain = kNhwcDomain;
  function->name = row.op;
  function->opsets.set("", opset);
  function->doc_string = std::string(row.op) + " of ONNX, for x and a result whose channels come last";
  function->body = std::make_unique<Graph>();
  Graph& body = *function->body;
  body.name = std::string(row.op);
  Values inputs;
  for (std::size_t i = 0; i < row.inputs; ++i) inputs.push_back(body.add_input(i ? "in" + std::to_string(i) : "x", {}));
  const auto transposed = [&](Value* v, const std::vector<std::int64_t>& perm, const std::string& name) {
    Node* node = body.add_node("Transpose");
    node->add_input(v);
    node->attributes.set(Attribute("perm", AttrValue(perm)));
    return node->add_output(name);
  };
  inputs[0] = transposed(inputs[0], kToFirst, "channels_first");
  Node* node = body.add_node(std::string(row.op));
  for (Value* v : inputs) node->add_input(v);
  for (const auto& [name, type] : row.attributes) {
    function->attributes.emplace_back(name);
    Attribute reference;
    reference.name = reference.reference = std::string(name);
    reference.reference_type = type;
    node->attributes.set(std::move(reference));
  }
  body.add_output(transposed(node->add_output("result"), kToLast, "y"));
  return function;
}

/// The node itself becomes the call, and the transposes around it and its activations go.
void call_instead(Node& node) {
  Node* last = transpose_behind(node);
  node.domain = kNhwcDomain;
  node.set_input(0, node.input(0)->producer()->input(0));
  for (Value* v = node.output(0); v != last->output(0); v = v->uses()[0].node->output(0))
    v->type = last->output(0)->type;
  replace_node(*last, {last->input(0)});
}

}  // namespace

std::size_t use_nhwc_functions(Model& model) {
  std::set<const Spatial*> used;
  std::size_t count = 0;
  for (const GraphPlace& place : all_graphs(model)) {
    if (place.function) continue;  // a function's operators are called as they are
    std::vector<Node*> nodes;
    for (Node& node : place.graph->nodes())
      if (spatial(node) && stands_between(node)) nodes.push_back(&node);
    for (Node* node : nodes) {
      used.insert(spatial(*node));
      call_instead(*node);
    }
    count += nodes.size();
    drop_unread(*place.graph);
  }
  for (const Spatial* row : used) model.functions.push_back(function_of(*row, model.opsets.version("")));
  if (count) model.opsets.set(kNhwcDomain, 1);
  return count;
}

}  // namespace ingot::passes
