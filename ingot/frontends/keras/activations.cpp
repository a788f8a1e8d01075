// Activations, by name and as layers.
#include "ingot/frontends/keras/activations.h"

#include <algorithm>

#include "ingot/base/error.h"
#include "ingot/frontends/keras/operand.h"
#include "ingot/frontends/keras/translators.h"

namespace ingot::frontends::keras {
namespace {

using Function = IrValue* (*)(GraphBuilder&, IrValue*);

IrValue* clipped(GraphBuilder& b, IrValue* x, double low, double high) {
  return b.op("Clip", {x, b.scalar(low, x->type.elem), b.scalar(high, x->type.elem)});
}
IrValue* linear(GraphBuilder&, IrValue* x) { return x; }
IrValue* relu6(GraphBuilder& b, IrValue* x) { return clipped(b, x, 0, 6); }
IrValue* relu6_sigmoid(GraphBuilder& b, IrValue* x) { return b.div(relu6(b, b.add(x, 3)), 6); }
IrValue* silu(GraphBuilder& b, IrValue* x) { return b.mul(x, b.op("Sigmoid", {x})); }
IrValue* hard_silu(GraphBuilder& b, IrValue* x) { return b.mul(x, relu6_sigmoid(b, x)); }
IrValue* mish(GraphBuilder& b, IrValue* x) { return b.mul(x, b.op("Tanh", {b.op("Softplus", {x})})); }
IrValue* tanh_shrink(GraphBuilder& b, IrValue* x) { return b.sub(x, b.op("Tanh", {x})); }
IrValue* soft_shrink(GraphBuilder& b, IrValue* x) { return b.op("Shrink", {x}, {{"lambd", 0.5}, {"bias", 0.5}}); }
IrValue* hard_shrink(GraphBuilder& b, IrValue* x) { return b.op("Shrink", {x}, {{"lambd", 0.5}, {"bias", 0.0}}); }
IrValue* leaky_relu(GraphBuilder& b, IrValue* x) { return b.op("LeakyRelu", {x}, {{"alpha", 0.2}}); }
IrValue* hard_tanh(GraphBuilder& b, IrValue* x) { return clipped(b, x, -1, 1); }
IrValue* log_sigmoid(GraphBuilder& b, IrValue* x) { return b.neg(b.op("Softplus", {b.neg(x)})); }
IrValue* gelu(GraphBuilder& b, IrValue* x) { return b.op("Gelu", {x}); }
IrValue* square_plus(GraphBuilder& b, IrValue* x) { return b.div(b.add(x, b.op("Sqrt", {b.add(b.mul(x, x), 4)})), 2); }
/// 0 below -1, x above 1, a parabola between.
IrValue* sparse_plus(GraphBuilder& b, IrValue* x) {
  IrValue* between = clipped(b, x, -1, 1);
  IrValue* moved = b.add(between, 1);
  IrValue* parabola = b.div(b.mul(moved, moved), 4);
  return b.add(parabola, b.op("Relu", {b.sub(x, 1)}));
}
IrValue* sparse_sigmoid(GraphBuilder& b, IrValue* x) { return clipped(b, b.div(b.add(x, 1), 2), 0, 1); }
IrValue* glu(GraphBuilder& b, IrValue* x) {
  const Values parts = b.op("Split", {x}, {{"axis", -1}, {"num_outputs", 2}}, 2);
  return b.mul(parts[0], b.op("Sigmoid", {parts[1]}));
}

/// The projection onto the simplex: the largest k elements less what makes their sum 1.
IrValue* sparsemax(GraphBuilder& b, IrValue* x) {
  IrValue* count = b.reshape(size_of(b, x, -1), {1});
  IrValue* sorted = b.op("TopK", {x, count}, {{"axis", -1}}, 2)[0];
  IrValue* sums = b.op("CumSum", {sorted, b.index(-1)});
  IrValue* place = b.cast(b.add(counted(b, b.squeeze(count, {0})), 1), x->type.elem);
  IrValue* is_in = b.op("Greater", {b.add(b.mul(sorted, place), 1), sums});
  IrValue* k = b.reduce_sum(b.cast(is_in, DType::i64), {-1});
  IrValue* sum = b.op("GatherElements", {sums, b.sub(k, 1)}, {{"axis", -1}});
  IrValue* tau = b.div(b.sub(sum, 1), b.cast(k, x->type.elem));
  return b.op("Relu", {b.sub(x, tau)});
}

IrValue* softmax_last(GraphBuilder& b, IrValue* x) { return b.op("Softmax", {x}, {{"axis", -1}}); }
IrValue* log_softmax_last(GraphBuilder& b, IrValue* x) { return b.op("LogSoftmax", {x}, {{"axis", -1}}); }
IrValue* elu(GraphBuilder& b, IrValue* x) { return b.op("Elu", {x}); }
IrValue* celu(GraphBuilder& b, IrValue* x) { return b.op("Celu", {x}); }
IrValue* selu(GraphBuilder& b, IrValue* x) {
  return b.op("Selu", {x}, {{"alpha", 1.6732632423543772}, {"gamma", 1.0507009873554805}});
}
template <const ops::OpDef& def> IrValue* plain(GraphBuilder& b, IrValue* x) { return b.op(ops::Name(def), {x}); }

struct Named {
  std::string_view name;
  Function function;
};
namespace defs = ops::defs;
constexpr Named kActivations[] = {
    {"celu", celu},
    {"elu", elu},
    {"exponential", plain<defs::Exp>},
    {"gelu", gelu},
    {"glu", glu},
    {"hard_shrink", hard_shrink},
    {"hard_silu", hard_silu},
    {"hard_swish", hard_silu},
    {"hard_tanh", hard_tanh},
    {"leaky_relu", leaky_relu},
    {"linear", linear},
    {"log_sigmoid", log_sigmoid},
    {"log_softmax", log_softmax_last},
    {"mish", mish},
    {"relu", plain<defs::Relu>},
    {"relu6", relu6},
    {"selu", selu},
    {"sigmoid", plain<defs::Sigmoid>},
    {"silu", silu},
    {"soft_shrink", soft_shrink},
    {"softmax", softmax_last},
    {"softplus", plain<defs::Softplus>},
    {"softsign", plain<defs::Softsign>},
    {"sparse_plus", sparse_plus},
    {"sparse_sigmoid", sparse_sigmoid},
    {"sparsemax", sparsemax},
    {"squareplus", square_plus},
    {"swish", silu},
    {"tanh", plain<defs::Tanh>},
    {"tanh_shrink", tanh_shrink},
};
static_assert(std::ranges::is_sorted(kActivations, {}, &Named::name), "keep the table sorted");

}  // namespace

IrValue* softmax(GraphBuilder& b, IrValue* x, const Ints& axes) {
  if (axes.size() == 1) return b.op("Softmax", {x}, {{"axis", axes[0]}});
  IrValue* at = b.ints(axes);
  IrValue* power = b.op("Exp", {b.sub(x, b.op("ReduceMax", {x, at}))});
  return b.div(power, b.op("ReduceSum", {power, at}));
}

std::string activation_name(const Config& activation) {
  if (activation.is_null()) return "linear";
  if (activation.is_text()) return std::string(activation.text());
  if (activation["config"].is_text()) return std::string(activation["config"].text());  // a function of Keras 3
  return "";
}

IrValue* activated(GraphBuilder& b, int version, std::string_view name, IrValue* x) {
  // Keras 2 and 3 disagree about this one.
  if (name == "hard_sigmoid")
    return version >= 3 ? relu6_sigmoid(b, x) : b.op("HardSigmoid", {x}, {{"alpha", 0.2}, {"beta", 0.5}});
  const auto found = std::ranges::lower_bound(kActivations, name, {}, &Named::name);
  if (found != std::end(kActivations) && found->name == name) return found->function(b, x);
  throw Error(Code::unsupported_operator, "the activation '" + std::string(name) + "' is not one of Keras's")
      .hint("an activation of your own is Python code: write it as layers, and save the model again");
}

IrValue* activated(Call& call, std::string_view name, IrValue* x) {
  return activated(call.b, call.import.version, name, x);
}

IrValue* activated(Call& call, const Config& activation, IrValue* x) {
  if (const std::string name = activation_name(activation); !name.empty()) return activated(call, name, x);
  return call.call("activation", activation, {}, {{.tensor = Flow{x, nullptr}}})[0].value;
}

void activation(Call& call) { call.set(activated(call, call.at("activation"), call.in())); }

void leaky_relu_layer(Call& call) {
  call.set(call.b.op("LeakyRelu", {call.in()}, {{"alpha", call.number("negative_slope", 0.3)}}));
}
void elu_layer(Call& call) { call.set(call.b.op("Elu", {call.in()}, {{"alpha", call.number("alpha", 1)}})); }
void thresholded_relu(Call& call) {
  call.set(call.b.op("ThresholdedRelu", {call.in()}, {{"alpha", call.number("theta", 1)}}));
}

void relu_layer(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = call.in();
  const double slope = call.number("negative_slope", 0), from = call.number("threshold", 0);
  const Config largest = call.at("max_value");
  IrValue* y = nullptr;
  if (from == 0) {
    y = slope == 0 ? b.op("Relu", {x}) : b.op("LeakyRelu", {x}, {{"alpha", slope}});
  } else {
    IrValue* is_above = b.op("GreaterOrEqual", {x, b.scalar(from, x->type.elem)});
    y = b.where(is_above, x, b.mul(b.sub(x, from), slope));
  }
  if (!largest.is_null()) y = b.op("Min", {y, b.scalar(largest.as_number().value_or(0), x->type.elem)});
  call.set(y);
}

void softmax_layer(Call& call) {
  const Config axis = call.at("axis");
  IrValue* x = call.in();
  const Ints axes = axis.is_list() ? call.ints("axis", axis.size(), -1) : Ints{call.integer("axis", -1)};
  // A mask takes what does not count out of the sum.
  if (const Argument* mask = call.argument(1, "mask"); mask && mask->tensor) {
    const double far = x->type.elem == DType::f16 ? -3e4 : -3e38;
    IrValue* off = call.b.mul(call.b.sub(1, call.b.cast(mask->tensor->value, x->type.elem)), far);
    x = call.b.add(x, off);
  }
  call.set(softmax(call.b, x, axes));
}

void prelu(Call& call) {
  Dims sizes = Dims(static_cast<std::size_t>(call.rank() - 1));
  for (std::size_t i = 0; i < sizes.size(); ++i)
    sizes[i] = dim_of(call.in(), static_cast<std::int64_t>(i) + 1).value_or(-1);
  for (const std::int64_t axis : ints_of(call.at("shared_axes")))
    if (axis > 0 && axis < call.rank()) sizes[static_cast<std::size_t>(axis - 1)] = 1;
  IrValue* alpha = call.weight("alpha", sizes);
  call.set(call.b.op("PRelu", {call.in(), alpha}));
}

}  // namespace ingot::frontends::keras
