// Layers of several inputs.
#include <algorithm>

#include "ingot/frontends/keras/translators.h"

namespace ingot::frontends::keras {
namespace {

/// Inputs of lower rank get axes behind the batch, as Keras's do.
Values aligned(Call& call) {
  std::int64_t most = 0;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) most = std::max(most, call.rank(i));
  Values values;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    IrValue* x = call.in(i);
    const std::int64_t rank = call.rank(i);
    Ints axes;
    for (std::int64_t a = rank; a < most; ++a) axes.push_back(static_cast<std::int64_t>(axes.size()) + 1);
    values.push_back(axes.empty() || rank == 0 ? x : call.b.unsqueeze(x, axes));
  }
  return values;
}

/// Keras 2: what all masks let through, inputs without one left out. Keras 3: what any lets through, if all have one.
IrValue* common_mask(Call& call) {
  const bool is_new = call.import.version >= 3;
  IrValue* all = nullptr;
  for (const Flow& flow : call.inputs) {
    if (!flow.mask && is_new) return nullptr;
    if (!flow.mask) continue;
    if (!all)
      all = flow.mask;
    else
      all = is_new ? call.b.op("Or", {all, flow.mask}) : call.b.op("And", {all, flow.mask});
  }
  return all;
}

template <class Step> void fold(Call& call, Step step) {
  const Values values = aligned(call);
  call.require(!values.empty(), "it is called without inputs");
  IrValue* sum = values[0];
  for (std::size_t i = 1; i < values.size(); ++i) sum = step(sum, values[i]);
  call.set(sum, common_mask(call));
}

IrValue* l2_normalized(GraphBuilder& b, IrValue* x, std::int64_t axis) {
  IrValue* sum = b.op("ReduceSum", {b.mul(x, x), b.ints({axis})});
  return b.div(x, b.op("Sqrt", {b.op("Max", {sum, b.scalar(1e-12, x->type.elem)})}));
}

}  // namespace

void add(Call& call) {
  fold(call, [&](IrValue* x, IrValue* y) { return call.b.add(x, y); });
}
void multiply(Call& call) {
  fold(call, [&](IrValue* x, IrValue* y) { return call.b.mul(x, y); });
}
void maximum(Call& call) {
  fold(call, [&](IrValue* x, IrValue* y) { return call.b.op("Max", {x, y}); });
}
void minimum(Call& call) {
  fold(call, [&](IrValue* x, IrValue* y) { return call.b.op("Min", {x, y}); });
}
void average(Call& call) {
  add(call);
  call.outputs[0].value = call.b.div(call.outputs[0].value, static_cast<double>(call.inputs.size()));
}
void subtract(Call& call) {
  call.require(call.inputs.size() == 2, "it takes two inputs");
  fold(call, [&](IrValue* x, IrValue* y) { return call.b.sub(x, y); });
}

void concatenate(Call& call) {
  GraphBuilder& b = call.b;
  Values values;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) values.push_back(call.in(i));
  const std::int64_t axis = call.integer("axis", -1), rank = call.rank();
  IrValue* y = values.size() == 1 ? values[0] : b.concat(values, axis);
  // Steps of inputs without a mask all count. Along other axes Keras 2 has all masks agree, Keras 3 any.
  const bool has_mask = std::ranges::any_of(call.inputs, [](const Flow& f) { return f.mask != nullptr; });
  const std::int64_t at = axis < 0 ? axis + rank : axis;
  IrValue* mask = nullptr;
  if (has_mask && at == 1) {
    Values masks;
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
      IrValue* own = call.inputs[i].mask;
      if (!own) {
        IrValue* sizes = b.op("Slice", {b.shape(call.in(i)), b.ints({0}), b.ints({2}), b.ints({0})});
        own = b.op("Expand", {b.scalar(1, DType::boolean), sizes});
      }
      masks.push_back(own);
    }
    mask = b.concat(masks, 1);
  } else if (has_mask && call.import.version >= 3) {
    mask = common_mask(call);
  } else if (has_mask) {
    for (const Flow& flow : call.inputs)
      if (flow.mask) mask = mask ? b.op("And", {mask, flow.mask}) : flow.mask;
  }
  call.set(y, mask);
}

void dot(Call& call) {
  GraphBuilder& b = call.b;
  call.require(call.inputs.size() == 2, "it takes two inputs");
  const Config stated = call.at("axes");
  Ints axes = stated.is_list() ? call.ints("axes", 2, -1) : Ints(2, call.integer("axes", -1));
  IrValue *x = call.in(0), *y = call.in(1);
  const Ints ranks{call.rank(0), call.rank(1)};
  for (std::size_t i = 0; i < 2; ++i) {
    if (axes[i] < 0) axes[i] += ranks[i];
    call.require(axes[i] > 0 && axes[i] < ranks[i], "its axis lies outside the input");
  }
  if (call.flag("normalize", false)) {
    x = l2_normalized(b, x, axes[0]);
    y = l2_normalized(b, y, axes[1]);
  }
  if (ranks[0] == 2 && ranks[1] == 2) return call.set(b.reduce_sum(b.mul(x, y), {1}));
  // By letters: the batch is shared, the axis is summed.
  std::string first = "n", second = "n", result = "n";
  char next = 'a';
  for (std::int64_t i = 1; i < ranks[0]; ++i) {
    first += i == axes[0] ? 'z' : next;
    if (i != axes[0]) result += next++;
  }
  for (std::int64_t i = 1; i < ranks[1]; ++i) {
    second += i == axes[1] ? 'z' : next;
    if (i != axes[1]) result += next++;
  }
  call.require(next < 'm', "its inputs have too many axes");
  call.set(einsum(b, {x, y}, first + "," + second + "->" + result));
}

/// Keras 1: one layer for all ways.
void merge(Call& call) {
  const std::string mode = call.text("mode", "sum");
  if (mode == "sum") return add(call);
  if (mode == "mul") return multiply(call);
  if (mode == "ave") return average(call);
  if (mode == "max") return maximum(call);
  if (mode == "concat") return concatenate(call);
  if (mode == "dot") return dot(call);
  call.refuse("merging by '" + mode + "' has no translation");
}

}  // namespace ingot::frontends::keras
