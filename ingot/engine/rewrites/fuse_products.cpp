// Products with changing matrices take in what is around them.
#include "ingot/engine/rewrites/fuse_products.h"

#include <numeric>
#include <unordered_set>

#include "ingot/engine/domain.h"
#include "ingot/engine/rewrites/pattern.h"
#include "ingot/ops/builder.h"

namespace ingot::engine {
namespace {

using Perm = std::vector<std::int64_t>;

bool is_matrix(const Value* v) {
  return v && v->type.elem == DType::f32 && v->type.shape && v->type.shape->size() >= 2;
}

Perm usual_order(std::size_t rank) {
  Perm perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  return perm;
}

/// An operand, and the order in which its axes are read.
struct Operand {
  Value* value;
  Perm perm;
  std::vector<Node*> transposes;  // which are not needed for this product, the last one first

  explicit Operand(Value* v) : value(v), perm(usual_order(v->type.shape->size())) {
    Perm read = perm;
    std::vector<Node*> passed;
    for (Node* node = v->producer(); node && node->is("Transpose") && &node->graph() == &v->graph();
         node = node->input(0)->producer()) {
      const Perm own = node->attributes.ints_or("perm", {});
      if (!is_matrix(node->input(0)) || own.size() != perm.size()) return;
      for (std::int64_t& axis : read) axis = own[static_cast<std::size_t>(axis)];
      passed.push_back(node);
      // One of the two axes of a matrix stays without gaps, or reading is slow.
      const auto last = static_cast<std::int64_t>(perm.size()) - 1;
      if (read[perm.size() - 1] != last && read[perm.size() - 2] != last) continue;
      value = node->input(0);
      perm = read;
      transposes = passed;
    }
  }
  void swap_last() { std::swap(perm[perm.size() - 1], perm[perm.size() - 2]); }
};

/// A product as it is found.
struct Found {
  Node* node;
  Operand a, b;
  Value* bias = nullptr;
};

bool is_row_of(const Value* v, const Value* y) {
  if (!v || v->type.elem != DType::f32 || !v->type.shape || v->type.shape->empty() || !y->type.shape) return false;
  const Shape& row = *v->type.shape;
  if (row.size() > y->type.shape->size() || !same(row.back(), y->type.shape->back())) return false;
  for (std::size_t i = 0; i + 1 < row.size(); ++i)
    if (!same(row[i], 1)) return false;
  return true;
}

std::optional<Found> found_at(Node& node) {
  if ((!node.is("MatMul") && !node.is("Gemm")) || !is_matrix(node.input(0)) || !is_matrix(node.input(1)) ||
      !is_matrix(node.output(0)))
    return {};
  // A constant matrix is packed once, by another kernel.
  if (constant_of(node.input(1)) && node.input(1)->type.shape->size() == 2) return {};
  // Few rows do not repay what this kernel packs.
  constexpr std::int64_t kFewRows = 4;
  const Shape& result = *node.output(0)->type.shape;
  if (const Dim& rows = result[result.size() - 2]; rows.is_known() && rows.value() < kFewRows) return {};
  Found found{&node, Operand(node.input(0)), Operand(node.input(1))};
  if (node.is("MatMul")) return found;
  const Attributes& attributes = node.attributes;
  if (attributes.float_or("alpha", 1) != 1) return {};
  if (attributes.int_or("transA", 0) != 0) found.a.swap_last();
  if (attributes.int_or("transB", 0) != 0) found.b.swap_last();
  if (Value* added = node.input(2)) {
    if (attributes.float_or("beta", 1) != 1 || !is_row_of(added, node.output(0))) return {};
    found.bias = added;
  }
  return found;
}

void fuse(Found found) {
  Node* tail = found.node;
  std::vector<Node*> nodes = {tail};
  const auto take = [&](Node* node) {
    tail = node;
    nodes.push_back(node);
  };
  const auto next = [&] { return only_reader(tail->output(0)); };
  Perm turned;
  Value *bias = found.bias, *residual = nullptr;
  std::optional<Limits> limits;
  const auto other_of = [&](const Node& sum) { return sum.input(0) == tail->output(0) ? sum.input(1) : sum.input(0); };
  if (Node* sum = next(); sum && !bias && sum->is("Add") && have_same_shape(sum->output(0), tail->output(0)) &&
                          is_row_of(other_of(*sum), tail->output(0))) {
    bias = other_of(*sum);
    take(sum);
  }
  if (Node* change = next(); change && change->is("Transpose")) {
    Perm perm = change->attributes.ints_or("perm", {});
    const auto last = static_cast<std::int64_t>(perm.size()) - 1;
    if (last > 0 && perm.back() == last - 1 && !bias) {
      // The product turned is that of its operands turned, exchanged.
      std::swap(found.a, found.b);
      found.a.swap_last();
      found.b.swap_last();
      for (std::int64_t& axis : perm) axis = axis == last ? last - 1 : axis == last - 1 ? last : axis;
    }
    if (last > 0 && perm.back() == last) {
      turned = perm;
      take(change);
    }
  }
  if (Node* sum = next(); sum && sum->is("Add")) {
    Value* other = other_of(*sum);
    if (other != tail->output(0) && other->type.elem == DType::f32 && have_same_shape(other, tail->output(0))) {
      residual = other;
      take(sum);
    }
  }
  if (Node* node = next(); node && node->input(0) == tail->output(0)) {
    limits = limits_of(*node);
    if (limits) take(node);
  }
  Graph& graph = tail->graph();
  GraphBuilder g(graph, tail);
  Attrs attrs = {{"perm_a", found.a.perm}, {"perm_b", found.b.perm}};
  if (!turned.empty()) attrs.emplace_back("perm_out", turned);
  if (limits) {
    attrs.emplace_back("low", limits->low);
    attrs.emplace_back("high", limits->high);
  }
  Node* fused = g.node("Product", kEngineDomain, {found.a.value, found.b.value, bias, residual}, attrs, 1);
  fused->name = names_of(nodes);
  fused->output(0)->type = tail->output(0)->type;
  graph.replace_all_uses(tail->output(0), fused->output(0));
  for (std::size_t i = nodes.size(); i-- > 0;) graph.erase(nodes[i]);
  // Both operands may have read the same one: none of them is looked at after it went.
  std::unordered_set<Node*> gone;
  for (const Operand* operand : {&found.a, &found.b})
    for (Node* node : operand->transposes) {
      if (gone.contains(node)) continue;
      if (!node->output(0)->uses().empty()) break;
      graph.erase(node);
      gone.insert(node);
    }
}

}  // namespace

void fuse_products(Graph& graph) {
  std::vector<Node*> nodes;
  for (Node& node : graph.nodes())
    if (node.is("MatMul") || node.is("Gemm")) nodes.push_back(&node);
  for (Node* node : nodes)
    if (const auto found = found_at(*node)) fuse(*found);
}

}  // namespace ingot::engine
