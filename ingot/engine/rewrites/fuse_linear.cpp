// Products with constant matrices take in what follows them.
#include "ingot/engine/rewrites/fuse_linear.h"

#include "ingot/engine/domain.h"
#include "ingot/engine/element_step.h"
#include "ingot/engine/rewrites/pattern.h"
#include "ingot/ops/builder.h"

namespace ingot::engine {
namespace {

bool is_float(const Value* v) { return v && v->type.elem == DType::f32; }

/// A product that an earlier rewrite left alone.
bool keeps_bits(const Node& node) { return node.domain == kEngineDomain && node.op == "Linear"; }

/// The number of columns of the result, if the node is a product with a constant matrix that the kernel can do.
std::optional<std::int64_t> columns_of(const Node& node) {
  if (keeps_bits(node)) return constant_of(node.input(1))->dims()[node.attributes.int_or("transB", 0) ? 0 : 1];
  if (!node.is("MatMul") && !node.is("Gemm")) return {};
  const Tensor* matrix = constant_of(node.input(1));
  if (!is_float(node.input(0)) || !matrix || matrix->dtype() != DType::f32 || matrix->rank() != 2) return {};
  if (node.is("MatMul")) return matrix->dims()[1];
  const Attributes& attributes = node.attributes;
  if (attributes.int_or("transA", 0) != 0 || attributes.float_or("alpha", 1) != 1) return {};
  const std::int64_t columns = matrix->dims()[attributes.int_or("transB", 0) ? 0 : 1];
  if (node.input(2)) {
    const Tensor* bias = constant_of(node.input(2));
    if (attributes.float_or("beta", 1) != 1 || !bias || bias->dtype() != DType::f32) return {};
    if (bias->rank() == 0 || bias->size() != columns || bias->dims().back() != columns) return {};
  }
  return columns;
}

Value* other_operand(const Node& sum, const Value* one) { return sum.input(0) == one ? sum.input(1) : sum.input(0); }

/// A constant row that is added to every row of a result whose rank is known.
bool is_row(const Value* v, std::int64_t columns, const Value* result) {
  const Tensor* tensor = constant_of(v);
  return tensor && tensor->dtype() == DType::f32 && tensor->rank() >= 1 && tensor->size() == columns &&
         tensor->dims().back() == columns && result->type.shape && tensor->dims().size() <= result->type.shape->size();
}

void fuse(Node& product, std::int64_t columns) {
  Node* tail = &product;
  Value *bias = product.input(2), *residual = nullptr;
  std::optional<Limits> limits;
  const auto next = [&] { return only_reader(tail->output(0)); };
  std::vector<Node*> nodes = {&product};
  const auto take = [&](Node* node) {
    tail = node;
    nodes.push_back(node);
  };
  if (Node* sum = next(); sum && !bias && sum->is("Add")) {
    Value* other = other_operand(*sum, tail->output(0));
    if (is_row(other, columns, tail->output(0))) {
      bias = other;
      take(sum);
    }
  }
  if (Node* sum = next(); sum && sum->is("Add")) {
    Value* other = other_operand(*sum, tail->output(0));
    if (other != tail->output(0) && is_float(other) && !constant_of(other) && have_same_shape(other, tail->output(0))) {
      residual = other;
      take(sum);
    }
  }
  std::optional<ElementStep> function;
  if (Node* node = next(); node && node->input(0) == tail->output(0)) {
    limits = limits_of(*node);
    if (!limits) function = step_for(*node);
    if (function && function->is_binary) function.reset();
    if (limits || function) take(node);
  }
  Graph& graph = product.graph();
  GraphBuilder g(graph, tail);
  Attrs attrs = {{"transB", product.attributes.int_or("transB", 0)}};
  Values inputs = {product.input(0), product.input(1), bias, residual};
  if (keeps_bits(product)) {
    attrs.emplace_back("block", product.attributes.int_or("block", 0));
    inputs.insert(inputs.end(), {product.input(4), product.input(5)});
  }
  if (limits) {
    attrs.emplace_back("low", limits->low);
    attrs.emplace_back("high", limits->high);
  }
  if (function) {
    attrs.emplace_back("function", static_cast<std::int64_t>(function->unary));
    attrs.emplace_back("a", function->a);
    attrs.emplace_back("b", function->b);
  }
  Node* fused = g.node("Linear", kEngineDomain, inputs, attrs, 1);
  fused->name = names_of(nodes);
  fused->output(0)->type = tail->output(0)->type;
  graph.replace_all_uses(tail->output(0), fused->output(0));
  for (std::size_t i = nodes.size(); i-- > 0;) graph.erase(nodes[i]);
}

}  // namespace

void fuse_linear(Graph& graph) {
  std::vector<std::pair<Node*, std::int64_t>> products;
  for (Node& node : graph.nodes())
    if (const auto columns = columns_of(node)) products.emplace_back(&node, *columns);
  for (const auto& [node, columns] : products) fuse(*node, columns);
}

}  // namespace ingot::engine
