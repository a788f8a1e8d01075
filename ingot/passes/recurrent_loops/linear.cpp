// The products of a cell: of the input and of the state, joint or apart.
#include "ingot/passes/recurrent_loops/linear.h"

#include "ingot/ops/known.h"
#include "ingot/ops/rnn/gates.h"
#include "ingot/passes/recurrent_loops/patterns.h"

namespace ingot::passes::recurrent_loops {
namespace {

constexpr int kMostTerms = 8;

/// Whether the value is x and h side by side.
bool joins(const SequenceLoop& loop, const Value* v, const Value* h) {
  const Node* both = made_by(v, "Concat");
  const std::int64_t axis = both ? both->attributes.int_or("axis", 0) : 0;
  return both && both->input_count() == 2 && both->input(0) == loop.x() && both->input(1) == h &&
         (axis == 1 || axis == -1);
}

}  // namespace

std::optional<Linear> linear(const SequenceLoop& loop, Value* v, const Value* h) {
  Linear form;
  std::vector<Value*> terms{v};
  for (int seen = 0; !terms.empty(); ++seen) {
    Value* term = terms.back();
    terms.pop_back();
    if (seen == kMostTerms) return std::nullopt;
    if (loop.is_outside(term)) {
      if (form.bias || rank_of(term) != 1) return std::nullopt;
      form.bias = term;
    } else if (const Node* sum = made_by(term, "Add")) {
      terms.push_back(sum->input(0));
      terms.push_back(sum->input(1));
    } else if (const Node* product = made_by(term, "MatMul"); product && loop.is_outside(product->input(1))) {
      const Value* factor = product->input(0);
      Value** place = factor == loop.x()       ? &form.weights
                      : factor == h            ? &form.recurrent
                      : joins(loop, factor, h) ? &form.joint
                                               : nullptr;
      if (!place || *place) return std::nullopt;
      *place = product->input(1);
    } else {
      return std::nullopt;
    }
  }
  const bool are_two = form.weights && form.recurrent && !form.joint;
  const bool is_joint = form.joint && !form.weights && !form.recurrent;
  return are_two || is_joint ? std::optional(form) : std::nullopt;
}

std::optional<Matrices> onnx_matrices(GraphBuilder& g, const Linear& form, const std::vector<std::int64_t>& order) {
  const auto gates = static_cast<std::int64_t>(order.size());
  const auto width = dim_of(form.joint ? form.joint : form.weights, 1);
  if (!width || *width < gates || *width % gates != 0) return std::nullopt;
  Matrices m{form.weights, form.recurrent, *width / gates};
  if (form.joint) {
    const auto height = dim_of(form.joint, 0);
    if (!height || *height <= m.units) return std::nullopt;
    const Values rows = g.op("Split", {form.joint, g.ints({*height - m.units, m.units})}, {{"axis", 0}}, 2);
    m.weights = rows[0];
    m.recurrent = rows[1];
  }
  m.weights = ops::onnx_weights(g, m.weights, order);
  m.recurrent = ops::onnx_weights(g, m.recurrent, order);
  return m;
}

}  // namespace ingot::passes::recurrent_loops
