// What version steps and decompositions look up and do.
#include "ingot/ops/steps.h"

#include "ingot/base/error.h"
#include "ingot/ops/infer.h"

namespace ingot::ops {
namespace {

std::optional<std::int64_t> rank_of(const Value* value) {
  if (!value || !value->type.shape) return std::nullopt;
  return static_cast<std::int64_t>(value->type.shape->size());
}

}  // namespace

const Type& StepContext::type(std::size_t i) const {
  static const Type unknown;
  const Value* value = node.input(i);
  return value ? value->type : unknown;
}

std::optional<std::int64_t> StepContext::rank(std::size_t i) const { return rank_of(node.input(i)); }

std::int64_t StepContext::need_rank(std::size_t i) const {
  if (const auto r = rank(i)) return *r;
  throw Error(Code::shape_needed, "the rank of input " + std::to_string(i) + " is needed but not known")
      .hint("give the inputs' shapes with --input-shape")
      .in_node(node.name, node.op, node.label());
}

const Tensor* StepContext::constant(std::size_t i) const { return constant_of(node.input(i), true); }

std::vector<std::int64_t> StepContext::need_ints(std::size_t i, std::string_view what) const {
  const Tensor* t = constant(i);
  if (!t) cannot(std::string(what) + " must be constant, but is computed while running");
  return t->to_ints();
}

void StepContext::attribute_to_input(std::string_view attribute, std::size_t i) {
  if (const auto* values = node.attributes.get<std::vector<std::int64_t>>(attribute))
    node.set_input(i, g.ints(*values));
  node.attributes.erase(attribute);
}

void StepContext::input_to_attribute(std::size_t i, std::string_view attribute) {
  if (!node.input(i)) return;
  node.attributes.set(Attribute(std::string(attribute), AttrValue(need_ints(i, attribute))));
  node.set_input(i, nullptr);
  std::size_t count = node.input_count();
  while (count && !node.input(count - 1)) --count;
  node.resize_inputs(count);
}

void StepContext::cannot(std::string reason, std::string hint) const {
  Error error(Code::cannot_downgrade, std::move(reason));
  if (!hint.empty()) error.hint(std::move(hint));
  throw error.in_node(node.name, node.op, node.label());
}

std::optional<std::int64_t> DecomposeContext::rank(std::size_t i) const { return rank_of(node.input(i)); }
const Tensor* DecomposeContext::constant(std::size_t i) const { return constant_of(node.input(i)); }

}  // namespace ingot::ops
