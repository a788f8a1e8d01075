// Draws graphs of elementwise operators, reductions and operators that move elements.
#include "tests/train/random_graph.h"

#include <algorithm>

namespace ingot::test {

RandomGraph::RandomGraph(std::uint64_t seed) : random_(seed) {
  model_.ir_version = 10;
  model_.opsets.set("", 28);
  const int inputs = static_cast<int>(below(3)) + 1;
  for (int i = 0; i < inputs; ++i) {
    Ints dims;
    for (std::int64_t rank = below(5); rank > 0; --rank) dims.push_back(below(20) == 0 ? 0 : below(4) + 1);
    Value* v = graph().add_input("x" + std::to_string(i), Type::tensor(DType::f64, Shape(dims.begin(), dims.end())));
    values_.push_back(v);
    inputs_.push_back({v->name(), array(dims)});
  }
  const std::int64_t nodes = below(9) + 2;
  for (std::int64_t i = 0; i < nodes; ++i) add_node();
  // All that nobody reads is put out, so that every node counts.
  for (Value* v : values_)
    if (v->uses().empty() && v->producer()) graph().add_output(v);
}

Array RandomGraph::array(const Ints& dims) {
  std::vector<double> numbers(static_cast<std::size_t>(tensor_size(dims)));
  for (double& number : numbers) number = uniform(-1.5, 1.5);
  return Array::of<double>(dims, numbers);
}

Value* RandomGraph::of_rank(std::int64_t least) {
  Value* v = any();
  while (rank(v) < least) v = g_.unsqueeze(v, {0});
  return v;
}

Value* RandomGraph::of_exact_rank(std::int64_t wanted) {
  Value* v = of_rank(wanted);
  if (rank(v) == wanted) return v;
  Ints shape = dims(v);
  std::int64_t rest = 1;
  for (std::size_t i = static_cast<std::size_t>(wanted) - 1; i < shape.size(); ++i) rest *= shape[i];
  shape.resize(static_cast<std::size_t>(wanted) - 1);
  shape.push_back(rest);
  return g_.op("Reshape", {v, g_.ints(shape)}, {{"allowzero", 1}});
}

Value* RandomGraph::partner(Value* x) {
  for (int tries = 0; tries < 4; ++tries) {
    Value* y = any();
    const Ints a = dims(x), b = dims(y);
    bool fits = true;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      const std::int64_t p = a[a.size() - 1 - i], q = b[b.size() - 1 - i];
      fits &= p == q || p == 1 || q == 1;
    }
    if (fits) return y;
  }
  Ints shape = dims(x);
  shape.erase(shape.begin(), shape.begin() + below(std::ssize(shape) + 1));
  for (std::int64_t& d : shape)
    if (below(3) == 0) d = 1;
  return weights(shape);
}

void RandomGraph::add_node() {
  switch (below(11)) {
    case 0:
    case 1:
      return add_unary();
    case 2:
    case 3:
      return add_binary();
    case 4:
      return add_reduction();
    case 5:
    case 6:
      return add_move();
    case 7:
      return add_layer();
    case 8:
      return add_normalization();
    case 9:
      return add_sequence_layer();
    default:
      return add_pick();
  }
}

void RandomGraph::add_unary() {
  static constexpr const char* kNames[] = {
      "Sin",     "Cos",       "Tanh", "Sigmoid",  "Erf",       "Softplus",    "Softsign", "Gelu",
      "Mish",    "Swish",     "Atan", "Asinh",    "Elu",       "Selu",        "Celu",     "LeakyRelu",
      "Relu",    "Abs",       "Neg",  "Identity", "HardSwish", "HardSigmoid", "Shrink",   "ThresholdedRelu",
      "Softmax", "LogSoftmax"};
  const std::string name = kNames[static_cast<std::size_t>(below(std::ssize(kNames)))];
  const bool has_axis = name == "Softmax" || name == "LogSoftmax";
  Value* x = has_axis ? of_rank(1) : any();
  Attrs attrs;
  if (has_axis) attrs.emplace_back("axis", axis(rank(x)));
  Value* y = g_.op(ops::Name(*ops::find("", name)), {x}, attrs);
  if (below(6) == 0) y = g_.op("Exp", {g_.op("Tanh", {y})});
  if (below(8) == 0) y = g_.op("Sqrt", {g_.add(g_.mul(y, y), 0.5)});
  if (below(8) == 0) y = g_.op("Log", {g_.add(g_.mul(y, y), 0.5)});
  keep(y);
}

void RandomGraph::add_binary() {
  Value* x = any();
  Value* y = partner(x);
  switch (below(9)) {
    case 0:
      return keep(g_.add(x, y));
    case 1:
      return keep(g_.sub(x, y));
    case 2:
      return keep(g_.mul(x, y));
    case 3:
      return keep(g_.op("Max", {x, y}));
    case 4:
      return keep(g_.op("Min", {x, y}));
    case 5:
      return keep(g_.div(x, g_.add(g_.mul(y, y), 1)));
    case 6: {
      Value* base = g_.add(g_.op("Sigmoid", {x}), 0.5);
      return keep(g_.op("Pow", {base, g_.op("Tanh", {y})}));
    }
    case 7:
      return keep(g_.op("Sum", {x, y, x}));
    default: {
      Ints shape = dims(x);
      Value* condition = g_.op("Less", {weights(shape), g_.scalar(0, DType::f64)});
      return keep(g_.where(condition, x, y));
    }
  }
}

void RandomGraph::add_reduction() {
  static constexpr const char* kNames[] = {"ReduceSum", "ReduceMean",      "ReduceMax",       "ReduceMin", "ReduceL2",
                                           "ReduceL1",  "ReduceLogSumExp", "ReduceSumSquare", "ReduceProd"};
  const std::string name = kNames[static_cast<std::size_t>(below(std::ssize(kNames)))];
  Value* x = of_rank(1);
  if (is_empty(x) && name != "ReduceSum" && name != "ReduceL1" && name != "ReduceSumSquare") return add_unary();
  Ints axes = {axis(rank(x))};
  const bool keepdims = below(2) != 0;
  Values inputs = {x};
  if (below(4)) inputs.push_back(g_.ints(axes));
  keep(g_.op(ops::Name(*ops::find("", name)), inputs, {{"keepdims", keepdims}}));
}

void RandomGraph::add_move() {
  Value* x = of_rank(1);
  const std::int64_t r = rank(x), at = axis(r), size = dims(x)[static_cast<std::size_t>(at < 0 ? at + r : at)];
  switch (below(13)) {
    case 0: {
      Ints perm(static_cast<std::size_t>(r));
      for (std::size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<std::int64_t>(i);
      std::shuffle(perm.begin(), perm.end(), random_);
      return keep(g_.transpose(x, perm));
    }
    case 1:
      return keep(g_.op("Reshape", {x, g_.ints({tensor_size(dims(x))})}, {{"allowzero", 1}}));
    case 2:
      return keep(g_.unsqueeze(x, {axis(r + 1)}));
    case 3: {
      const std::int64_t first = below(size + 1), step = below(2) ? 1 : -1;
      const Ints ends = {step > 0 ? size : -size - 1};
      Value *from = g_.ints({first}), *to = g_.ints(ends), *axes = g_.ints({at});
      return keep(g_.op("Slice", {x, from, to, axes, g_.ints({step})}));
    }
    case 4: {
      if (size == 0) return add_unary();
      const Ints picks = {below(size), below(size) - size, below(size)};
      return keep(g_.op("Gather", {x, g_.ints(picks)}, {{"axis", at}}));
    }
    case 5:
      return keep(g_.concat({x, g_.op("Tanh", {x})}, at));
    case 6: {
      const std::int64_t first = below(size + 1);
      const Values parts = g_.op("Split", {x, g_.ints({first, size - first})}, {{"axis", at}}, 2);
      keep(parts[0]);
      return keep(parts[1]);
    }
    case 7: {
      Ints pads(static_cast<std::size_t>(2 * r));
      for (std::int64_t& p : pads) p = below(2);
      return keep(g_.op("Pad", {x, g_.ints(pads)}));
    }
    case 8: {
      Ints shape = dims(x);
      shape.insert(shape.begin(), below(3) + 1);
      return keep(g_.op("Expand", {x, g_.ints(shape)}));
    }
    case 9: {
      Ints repeats(static_cast<std::size_t>(r));
      for (std::int64_t& n : repeats) n = below(2) + 1;
      return keep(g_.op("Tile", {x, g_.ints(repeats)}));
    }
    case 10:
      return keep(g_.op("CumSum", {x, g_.index(at)}, {{"exclusive", below(2)}, {"reverse", below(2)}}));
    case 11: {
      if (size == 0) return add_unary();
      return keep(g_.op("TopK", {x, g_.ints({below(size) + 1})}, {{"axis", at}}, 2).front());
    }
    default: {
      Value* plane = of_rank(2);
      return keep(g_.op("Trilu", {plane}, {{"upper", below(2)}}));
    }
  }
}

}  // namespace ingot::test
