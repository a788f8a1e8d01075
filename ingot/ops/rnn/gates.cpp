// Weights of recurrent cells in ONNX's order and form.
#include "ingot/ops/rnn/gates.h"

namespace ingot::ops {

std::vector<std::int64_t> gate_order(std::string_view stored, std::string_view wanted) {
  std::vector<std::int64_t> order;
  for (const char gate : wanted) order.push_back(static_cast<std::int64_t>(stored.find(gate)));
  return order;
}

Value* reordered_gates(GraphBuilder& g, Value* weights, const std::vector<std::int64_t>& order, std::int64_t axis) {
  if (order.size() == 1) return weights;
  const auto gates = static_cast<std::int64_t>(order.size());
  const Values parts = g.op("Split", {weights}, {{"axis", axis}, {"num_outputs", gates}}, order.size());
  Values chosen;
  for (const std::int64_t k : order) chosen.push_back(parts[static_cast<std::size_t>(k)]);
  return g.concat(chosen, axis);
}

Value* onnx_weights(GraphBuilder& g, Value* weights, const std::vector<std::int64_t>& order) {
  Value* turned = g.transpose(reordered_gates(g, weights, order, 1), {1, 0});
  return g.unsqueeze(turned, {0});
}

Value* onnx_bias(GraphBuilder& g, Value* input, Value* state, const std::vector<std::int64_t>& order,
                 std::int64_t units, DType elem) {
  Value* none = nullptr;
  if (!input || !state) {
    const std::int64_t count = static_cast<std::int64_t>(order.size()) * units;
    const std::vector<float> zeros(static_cast<std::size_t>(count), 0);
    none = g.cast(g.constant(Tensor::of<float>({1, count}, zeros)), elem);
  }
  const auto half = [&](Value* bias) { return bias ? g.unsqueeze(reordered_gates(g, bias, order, 0), {0}) : none; };
  Value* first = half(input);
  return g.concat({first, half(state)}, 1);
}

}  // namespace ingot::ops
