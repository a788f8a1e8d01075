// What the definitions of other domains' operators share.
#include "ingot/ops/vendor/body.h"

#include <cmath>
#include <limits>

#include "ingot/base/error.h"

namespace ingot::ops {

void infer_by_body(InferContext& c) {
  const Node& node = c.node();
  const OpDef* def = find(node);
  Graph scratch;
  Graph::ValueMap map;
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    const Value* v = node.input(i);
    if (!v || map.contains(v)) continue;
    const std::string name = "in." + std::to_string(i);
    Value* copy = nullptr;
    if (const Tensor* constant = c.constant(i)) {
      copy = scratch.add_initializer(name, *constant);
    } else {
      if (!v->type.is_tensor() || v->type.elem == DType::undefined) return;
      copy = scratch.add_input(name, v->type);
      copy->known_ints = v->known_ints;
    }
    map[v] = copy;
  }
  Node* copy = scratch.add_copy(node, map);
  GraphBuilder g(scratch, copy);
  DecomposeContext context(g, *copy);
  const Values made = def->decompose(context);
  for (std::size_t i = 0; i < made.size() && i < node.output_count(); ++i) {
    if (!made[i] || !made[i]->type) continue;
    Type type = made[i]->type;
    if (type.shape)
      for (std::size_t k = 0; k < type.shape->size(); ++k) {
        std::vector<std::string> names;
        (*type.shape)[k].collect_symbols(names);
        for (const std::string& name : names)
          if (names_inner_size(name, scratch)) (*type.shape)[k] = c.data_dim(i, static_cast<std::int64_t>(k));
      }
    c.out(i, type);
    if (made[i]->known_ints) c.out_ints(i, *made[i]->known_ints);
  }
}

namespace {

/// What is known of an axis of a value of known rank. The bodies ask for axes that an operator's inputs should have.
Dim dim_of(const Value* x, std::int64_t axis) {
  const Shape& shape = *x->type.shape;
  const std::int64_t at = axis < 0 ? axis + std::ssize(shape) : axis;
  if (at < 0 || at >= std::ssize(shape))
    throw Error(Code::inference_failed, "an input of " + std::to_string(shape.size()) + " dimensions should have more");
  return shape[static_cast<std::size_t>(at)];
}

}  // namespace

Value* size_of(GraphBuilder& g, Value* x, std::int64_t axis) {
  if (x->type.shape)
    if (const Dim d = dim_of(x, axis); d.is_known()) return g.ints({d.value()});
  if (axis == -1) return g.op("Shape", {x}, {{"start", axis}});
  return g.op("Shape", {x}, {{"start", axis}, {"end", axis + 1}});
}

Value* count_of(GraphBuilder& g, Value* x, std::int64_t axis) {
  if (x->type.shape)
    if (const Dim d = dim_of(x, axis); d.is_known()) return g.index(d.value());
  return g.squeeze(size_of(g, x, axis), {0});
}

std::optional<std::int64_t> last_size(const Value* x) {
  if (!x->type.shape || x->type.shape->empty() || !x->type.shape->back().is_known()) return std::nullopt;
  return x->type.shape->back().value();
}

Value* slice(GraphBuilder& g, Value* x, std::int64_t axis, std::int64_t begin, std::int64_t end) {
  return g.op("Slice", {x, g.ints({begin}), g.ints({end}), g.ints({axis})});
}

Value* swish(GraphBuilder& g, Value* x, double alpha) {
  return g.mul(x, g.op("Sigmoid", {alpha == 1 ? x : g.mul(x, alpha)}));
}

Value* gelu(GraphBuilder& g, Value* x) { return g.op("Gelu", {x}); }

Value* gelu_tanh(GraphBuilder& g, Value* x) { return g.op("Gelu", {x}, {{"approximate", "tanh"}}); }

Attrs attributes_of(const Node& node, std::initializer_list<std::string_view> names) {
  Attrs attrs;
  for (const std::string_view name : names) {
    if (const auto* ints = node.attributes.get<std::vector<std::int64_t>>(name)) attrs.emplace_back(name, *ints);
    if (const auto* number = node.attributes.get<std::int64_t>(name)) attrs.emplace_back(name, *number);
    if (const auto* text = node.attributes.get<std::string>(name)) attrs.emplace_back(name, *text);
    if (const auto* real = node.attributes.get<float>(name)) attrs.emplace_back(name, *real);
  }
  return attrs;
}

Value* channels_first(GraphBuilder& g, Value* x) {
  std::vector<std::int64_t> perm{0, std::ssize(*x->type.shape) - 1};
  for (std::int64_t i = 1; i + 1 < std::ssize(*x->type.shape); ++i) perm.push_back(i);
  return g.transpose(x, perm);
}

Value* channels_last(GraphBuilder& g, Value* x) {
  std::vector<std::int64_t> perm{0};
  for (std::int64_t i = 2; i < std::ssize(*x->type.shape); ++i) perm.push_back(i);
  perm.push_back(1);
  return g.transpose(x, perm);
}

}  // namespace ingot::ops
