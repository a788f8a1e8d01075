// What gradient rules share.
#include "ingot/ops/gradient.h"

#include "ingot/base/error.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/sequence/elements.h"

namespace ingot::ops {

Values gradient_zero(GradContext&) { return {}; }

GradContext::GradContext(GraphBuilder& builder, Node& n, Values output_gradients, std::vector<bool> wanted)
    : g(builder), node(n), dys_(std::move(output_gradients)), wanted_(std::move(wanted)) {}
GradContext::~GradContext() = default;

bool GradContext::wants_read(std::size_t i) const { return wanted_.empty() || (i < wanted_.size() && wanted_[i]); }

Value* GradContext::keep(Value* condition, Value* x) { return g.where(condition, x, g.scalar(0, x->type.elem)); }
Value* GradContext::less(Value* a, Value* b) { return g.op("Less", {a, b}); }
Value* GradContext::equal(Value* a, Value* b) { return g.op("Equal", {a, b}); }

void GradContext::fail(std::string message) const {
  throw Error(Code::not_differentiable, std::move(message)).in_node(node.name, node.op, node.label());
}

std::int64_t GradContext::rank(std::size_t i) const {
  if (!x(i) || !x(i)->type.shape) fail("the gradient needs the rank of input " + std::to_string(i));
  return static_cast<std::int64_t>(x(i)->type.shape->size());
}

const Tensor* GradContext::constant(std::size_t i) const { return x(i) ? constant_of(x(i)) : nullptr; }

Attrs GradContext::same_attrs(std::initializer_list<const char*> names) const {
  Attrs attrs;
  for (const char* name : names) {
    if (const auto* ints = node.attributes.get<std::vector<std::int64_t>>(name))
      attrs.emplace_back(name, *ints);
    else if (const auto* number = node.attributes.get<std::int64_t>(name))
      attrs.emplace_back(name, *number);
    else if (const auto* text = node.attributes.get<std::string>(name))
      attrs.emplace_back(name, *text);
    else if (const auto* real = node.attributes.get<float>(name))
      attrs.emplace_back(name, *real);
  }
  return attrs;
}

Value* GradContext::ensure_output(std::size_t i) {
  if (Value* made = node.output(i)) return made;
  Graph& graph = node.graph();
  const std::string base = node.output() ? node.output()->name() : node.op;
  // A node's outputs only grow at the end; absent ones in between stay absent.
  while (node.output_count() < i) node.add_output({});
  if (node.output_count() > i) fail("output " + std::to_string(i) + " is needed but left out");
  Value* made = node.add_output(graph.fresh_name(base + "/" + std::to_string(i)));
  InferSession session;
  infer_node(node, session);
  return made;
}

Value* GradContext::zeros(Value* like) { return zeros_like(g, like); }

Value* GradContext::ones(Value* like) {
  return g.op("ConstantOfShape", {g.shape(like)}, {{"value", Tensor::scalar(1, like->type.elem).reshaped({1})}});
}

Value* GradContext::shaped(Value* x, Value* like) { return g.op("Reshape", {x, g.shape(like)}, {{"allowzero", 1}}); }

Value* GradContext::stretched(Value* x, Value* like) { return g.op("Expand", {x, g.shape(like)}); }

Value* GradContext::ratio_of_sizes(Value* x, Value* y) {
  Value* more = g.cast(g.op("Size", {x}), x->type.elem);
  Value* fewer = g.cast(g.op("Size", {y}), x->type.elem);
  return g.div(more, fewer);
}

Value* GradContext::positions(Value* x) {
  Value* count = g.op("Size", {x});
  Value *first = g.index(0), *step = g.index(1);
  return shaped(g.op("Range", {first, count, step}), x);
}

Value* GradContext::add_at(Value* from, Value* at, Value* dy) {
  Value* count = g.unsqueeze(g.op("Size", {from}), {0});
  Value* flat = g.op("ConstantOfShape", {count}, {{"value", Tensor::scalar(0, from->type.elem).reshaped({1})}});
  Value *where = g.reshape(at, {-1}), *what = g.reshape(dy, {-1});
  Value* added = g.op("ScatterElements", {flat, where, what}, {{"axis", 0}, {"reduction", "add"}});
  return shaped(added, from);
}

Value* GradContext::sum_to(Value* x, Value* like) {
  const auto &from = x->type.shape, &to = like->type.shape;
  if (from && to && from->size() >= to->size()) {
    // An axis is settled if it is the same in both or 1 in `like`.
    std::vector<std::int64_t> leading, stretched;
    bool settled = true;
    const std::size_t extra = from->size() - to->size();
    for (std::size_t i = 0; i < extra; ++i) leading.push_back(static_cast<std::int64_t>(i));
    for (std::size_t i = 0; i < to->size(); ++i) {
      if (same((*from)[extra + i], (*to)[i])) continue;
      if (same((*to)[i], 1))
        stretched.push_back(static_cast<std::int64_t>(i));
      else
        settled = false;
    }
    if (settled) {
      if (!leading.empty()) x = g.reduce_sum(x, leading, false);
      return stretched.empty() ? x : g.reduce_sum(x, stretched);
    }
  }
  // Where `like`, filled up with ones in front, has a 1, summing is right whether or not it was stretched.
  Value* shape = g.shape(like);
  Value* missing = g.sub(g.op("Size", {g.shape(x)}), g.op("Size", {shape}));
  Value* ones = g.op("ConstantOfShape", {g.unsqueeze(missing, {0})}, {{"value", Tensor::ints({1})}});
  Value* is_one = g.op("Equal", {g.concat({ones, shape}, 0), g.ints({1})});
  Value* axes = g.squeeze(g.op("NonZero", {is_one}), {0});
  Value* sum = g.op("ReduceSum", {x, axes}, {{"keepdims", 1}, {"noop_with_empty_axes", 1}});
  return g.op("Reshape", {sum, shape}, {{"allowzero", 1}});
}

}  // namespace ingot::ops
