// The table of ONNX operators that TFLite has, and the plain ones among them.
#include "ingot/backends/tflite/operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "ingot/base/error.h"
#include "ingot/ops/infer.h"
#include "ingot/passes/layout/axes.h"

namespace ingot::backends::tflite {

const Tensor* NodeOut::constant(std::size_t i) const { return has(i) ? ops::constant_of(node.input(i)) : nullptr; }

Ints NodeOut::ints(std::size_t i) const { return constant(i)->to_ints(); }

std::int32_t NodeOut::in_int32(std::size_t i) const {
  const Value* v = node.input(i);
  if (const Tensor* t = constant(i)) {
    std::vector<std::int32_t> narrow;
    for (const std::int64_t x : t->to_ints())
      narrow.push_back(static_cast<std::int32_t>(std::clamp<std::int64_t>(x, INT32_MIN, INT32_MAX)));
    return e.constant(Tensor::of<std::int32_t>(t->dims(), narrow));
  }
  if (v->type.elem == DType::i32) return e.tensor(v);
  const std::int32_t narrow = e.temporary(DType::i32, v->type.shape.value_or(Shape{}));
  Options options(BuiltinOperator::CAST);
  options.set("in_data_type", *tensor_type_of(v->type.elem)).set("out_data_type", TensorType::INT32);
  e.add(BuiltinOperator::CAST, {e.tensor(v)}, {narrow}, options);
  return narrow;
}

std::int64_t NodeOut::axis(std::int64_t fallback, std::size_t input) const {
  const std::int64_t a = attr("axis", fallback);
  return a < 0 ? a + static_cast<std::int64_t>(rank(input)) : a;
}

bool is_fixed(const Shape& shape) {
  return std::ranges::all_of(shape, [](const Dim& d) { return d.is_known(); });
}

Ints dims_of(const Shape& shape) {
  Ints dims;
  for (const Dim& d : shape) dims.push_back(d.as_int().value_or(-1));
  return dims;
}

std::string needs_types(const Node& node, std::initializer_list<DType> types, std::size_t input) {
  const Value* v = node.input(input);
  if (!v || std::ranges::find(types, v->type.elem) != types.end()) return {};
  return fmt::format("TFLite has no kernel for {}", name_of(v->type.elem));
}

std::string needs_rank(const Node& node, std::size_t input) {
  const Value* v = node.input(input);
  return !v || v->type.shape ? "" : fmt::format("the rank of input '{}' is not known", v->name());
}

std::string needs_constant(const Node& node, std::size_t input, std::string_view what) {
  const Value* v = node.input(input);
  return !v || ops::constant_of(v) ? "" : fmt::format("{} ('{}') is computed at run time", what, v->name());
}

std::int32_t reshaped(Emitter& e, std::int32_t tensor, DType elem, const Shape& shape) {
  const std::int32_t out = e.temporary(elem, shape);
  const Ints dims = dims_of(shape);
  const std::int32_t target = e.ints(dims);
  Options options(BuiltinOperator::RESHAPE);
  options.set("new_shape", dims);
  e.add(BuiltinOperator::RESHAPE, {tensor, target}, {out}, options);
  return out;
}

std::int32_t transposed(Emitter& e, std::int32_t tensor, DType elem, const Shape& shape, const Ints& perm) {
  const std::int32_t out = e.temporary(elem, passes::permuted(shape, perm));
  const std::int32_t order = e.ints(perm);
  e.add(BuiltinOperator::TRANSPOSE, {tensor, order}, {out});
  return out;
}

namespace {

using Op = BuiltinOperator;
constexpr std::initializer_list<DType> kFloat = {DType::f32};
constexpr std::initializer_list<DType> kArithmetic = {DType::f32, DType::i32, DType::i64};
constexpr std::initializer_list<DType> kBool = {DType::boolean};
constexpr std::initializer_list<DType> kMoved = {DType::f32, DType::i32, DType::i64,
                                                 DType::i8,  DType::u8,  DType::boolean};

template <Op op> void unary(NodeOut& n) { n.e.add(op, {n.in(0)}, {n.out()}); }
/// An operand in the result's shape where the kernels of older runtimes broadcast 4 dimensions only.
std::int32_t operand(NodeOut& n, std::size_t i) {
  const std::int32_t x = n.in(i);
  constexpr std::size_t kBroadcast = 4;
  const auto &shape = n.node.input(i)->type.shape, &wanted = n.node.output(0)->type.shape;
  if (!shape || !wanted || wanted->size() <= kBroadcast || !is_fixed(*shape) || !is_fixed(*wanted)) return x;
  if (dims_of(*shape) == dims_of(*wanted)) return x;
  const std::int32_t full = n.e.temporary(n.elem(i), *wanted), dims = n.e.ints(dims_of(*wanted));
  n.e.add(Op::BROADCAST_TO, {x, dims}, {full}, Options(Op::BROADCAST_TO), 2);
  return full;
}
template <Op op> void binary(NodeOut& n) {
  const std::int32_t a = operand(n, 0), b = operand(n, 1);
  n.e.add(op, {a, b}, {n.out()});
}

std::string floats(const Node& n) { return needs_types(n, kFloat); }
std::string arithmetic(const Node& n) { return needs_types(n, kArithmetic); }
std::string booleans(const Node& n) { return needs_types(n, kBool); }
std::string moved(const Node& n) { return needs_types(n, kMoved); }
std::string compared(const Node& n) { return needs_types(n, {DType::f32, DType::i32, DType::i64}); }
std::string equated(const Node& n) { return needs_types(n, {DType::f32, DType::i32, DType::i64, DType::boolean}); }
std::string signed_numbers(const Node& n) { return needs_types(n, kArithmetic); }
std::string nothing(const Node&) { return {}; }

/// Any number of operands by an operator of two.
template <Op op> void folded(NodeOut& n) {
  std::int32_t total = n.in(0);
  for (std::size_t i = 1; i < n.node.input_count(); ++i) {
    const bool is_last = i + 1 == n.node.input_count();
    const std::int32_t next = is_last ? n.out() : n.e.temporary(n.elem(), n.out_shape());
    const std::int32_t operand = n.in(i);
    n.e.add(op, {total, operand}, {next});
    total = next;
  }
  if (n.node.input_count() == 1) {
    const std::int32_t same = n.in(0);
    n.e.alias(n.node.output(0), same);
  }
}
std::string refuse_folded(const Node& n) {
  if (n.input_count() == 1) return "one operand";  // decomposes into Identity, or is one
  std::string why = needs_types(n, {DType::f32, DType::i32, DType::i64});
  if (why.empty() && (!n.output(0)->type.shape || n.output(0)->type.shape->size() > 5))
    why = "the rank is not known or beyond 5";
  return why;
}

void emit_identity(NodeOut& n) {
  // A reshape to the same shape: TFLite has no copy of its own.
  const std::int32_t x = n.in(0), y = n.out();
  const Shape* shape = n.node.input(0)->type.shape ? &n.shape() : nullptr;
  if (shape && std::ranges::count_if(*shape, [](const Dim& d) { return !d.is_known(); }) <= 1) {
    const std::int32_t target = n.e.ints(dims_of(*shape));
    Options options(Op::RESHAPE);
    options.set("new_shape", dims_of(*shape));
    return n.e.add(Op::RESHAPE, {x, target}, {y}, options);
  }
  const std::int32_t sizes = n.e.temporary(DType::i32, Shape{Dim()});
  Options options(Op::SHAPE);
  options.set("out_type", TensorType::INT32);
  n.e.add(Op::SHAPE, {x}, {sizes}, options);
  n.e.add(Op::RESHAPE, {x, sizes}, {y});
}

void emit_reciprocal(NodeOut& n) {
  const std::int32_t one = n.e.scalar(1, n.elem()), x = n.in(0);
  n.e.add(Op::DIV, {one, x}, {n.out()});
}

void emit_clip(NodeOut& n) {
  const auto bound = [&](std::size_t i) -> std::optional<double> {
    return n.constant(i) && n.constant(i)->size() == 1 ? std::optional(n.constant(i)->to_doubles()[0]) : std::nullopt;
  };
  const auto low = bound(1), high = bound(2);
  const bool is_float = n.elem() == DType::f32;
  if (is_float && low == 0 && !n.has(2)) return n.e.add(Op::RELU, {n.in(0)}, {n.out()});
  if (is_float && low == 0 && high == 6) return n.e.add(Op::RELU6, {n.in(0)}, {n.out()});
  if (is_float && low == -1 && high == 1) return n.e.add(Op::RELU_N1_TO_1, {n.in(0)}, {n.out()});
  std::int32_t x = n.in(0);
  if (!n.has(1) && !n.has(2)) return emit_identity(n);
  if (n.has(1)) {
    const std::int32_t y = n.has(2) ? n.e.temporary(n.elem(), n.out_shape()) : n.out();
    const std::int32_t limit = n.in(1);
    n.e.add(Op::MAXIMUM, {x, limit}, {y});
    x = y;
  }
  if (n.has(2)) {
    const std::int32_t limit = n.in(2);
    n.e.add(Op::MINIMUM, {x, limit}, {n.out()});
  }
}
std::string refuse_clip(const Node& n) {
  return n.input(0)->type.shape ? needs_types(n, {DType::f32, DType::i32, DType::i64, DType::i8, DType::u8})
                                : "the rank is not known";
}

void emit_leaky_relu(NodeOut& n) {
  Options options(Op::LEAKY_RELU);
  options.set("alpha", n.attr("alpha", 0.01f));
  n.e.add(Op::LEAKY_RELU, {n.in(0)}, {n.out()}, options);
}

std::string refuse_elu(const Node& n) {
  return n.attributes.float_or("alpha", 1.f) == 1.f ? floats(n) : "alpha is not 1";
}

void emit_cast(NodeOut& n) {
  Options options(Op::CAST);
  options.set("in_data_type", *tensor_type_of(n.elem()))
      .set("out_data_type", *tensor_type_of(n.node.output(0)->type.elem));
  n.e.add(Op::CAST, {n.in(0)}, {n.out()}, options);
}
std::string refuse_cast(const Node& n) {
  const std::initializer_list<DType> types = {DType::f32, DType::i32,     DType::i64, DType::i8, DType::u8,
                                              DType::i16, DType::boolean, DType::u32, DType::f64};
  std::string why = needs_types(n, types);
  const DType to = n.output(0)->type.elem;
  if (why.empty() && std::ranges::find(types, to) == types.end())
    why = fmt::format("TFLite does not cast to {}", name_of(to));
  return why;
}

void emit_mod(NodeOut& n) { binary<Op::FLOOR_MOD>(n); }
std::string refuse_mod(const Node& n) {
  return n.attributes.int_or("fmod", 0) ? "fmod=1: TFLite's remainder has the divisor's sign"
                                        : needs_types(n, {DType::i32, DType::i64});
}

std::string refuse_pow(const Node& n) {
  std::string why = needs_types(n, {DType::f32, DType::i32});
  if (why.empty() && n.input(1)->type.elem != n.input(0)->type.elem) why = "base and exponent differ in type";
  return why;
}

void emit_xor(NodeOut& n) { binary<Op::NOT_EQUAL>(n); }
void emit_where(NodeOut& n) {
  const std::int32_t condition = operand(n, 0), yes = operand(n, 1), no = operand(n, 2);
  n.e.add(Op::SELECT_V2, {condition, yes, no}, {n.out()});
}
std::string refuse_where(const Node& n) { return needs_types(n, kMoved, 1); }

void emit_is_nan(NodeOut& n) {
  const std::int32_t x = n.in(0);
  n.e.add(Op::NOT_EQUAL, {x, x}, {n.out()});
}

void emit_sign(NodeOut& n) {
  const std::int32_t zero = n.e.scalar(0, n.elem()), x = n.in(0);
  const Shape& shape = n.out_shape();
  const auto compared_to_zero = [&](Op op) {
    const std::int32_t is = n.e.temporary(DType::boolean, shape), number = n.e.temporary(n.elem(), shape);
    n.e.add(op, {x, zero}, {is});
    Options options(Op::CAST);
    options.set("in_data_type", TensorType::BOOL).set("out_data_type", *tensor_type_of(n.elem()));
    n.e.add(Op::CAST, {is}, {number}, options);
    return number;
  };
  const std::int32_t above = compared_to_zero(Op::GREATER), below = compared_to_zero(Op::LESS);
  n.e.add(Op::SUB, {above, below}, {n.out()});
}
std::string refuse_sign(const Node& n) {
  const std::string why = needs_rank(n);
  return why.empty() ? arithmetic(n) : why;
}

/// Softmax and LogSoftmax know the last axis only: others are brought there.
template <Op op> void emit_softmax(NodeOut& n) {
  Options options(op);
  if constexpr (op == Op::SOFTMAX) options.set("beta", 1.0f);
  const std::int64_t axis = n.axis(-1), last = static_cast<std::int64_t>(n.rank()) - 1;
  if (axis == last) return n.e.add(op, {n.in(0)}, {n.out()}, options);
  Ints perm(n.rank());
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[static_cast<std::size_t>(axis)], perm.back());
  const std::int32_t x = transposed(n.e, n.in(0), n.elem(), n.shape(), perm);
  const std::int32_t y = n.e.temporary(n.elem(), passes::permuted(n.shape(), perm));
  n.e.add(op, {x}, {y}, options);
  const std::int32_t back = n.e.ints(perm);
  n.e.add(Op::TRANSPOSE, {y, back}, {n.out()});
}
std::string refuse_softmax(const Node& n) {
  std::string why = needs_rank(n);
  if (why.empty() && n.input(0)->type.shape->empty()) why = "a scalar";
  if (why.empty() && n.input(0)->type.shape->size() > 6) why = "more than 6 dimensions";
  return why.empty() ? floats(n) : why;
}

template <Op op> void emit_reduce(NodeOut& n) {
  Options options(op);
  options.set("keep_dims", n.attr("keepdims", 1) != 0);
  std::int32_t axes;
  const bool none = !n.has(1) || (n.constant(1) && n.constant(1)->size() == 0);
  if (none && n.attr("noop_with_empty_axes", 0)) return emit_identity(n);
  if (none) {
    Ints all(n.rank());
    std::iota(all.begin(), all.end(), 0);
    axes = n.e.ints(all);
  } else {
    axes = n.in_int32(1);
  }
  n.e.add(op, {n.in(0), axes}, {n.out()}, options);
}
std::string refuse_reduce(const Node& n) {
  std::string why = needs_rank(n);
  if (why.empty() && n.input(1) && !ops::constant_of(n.input(1))) {
    const auto& shape = n.input(1)->type.shape;  // no axes at all would mean another thing to TFLite
    if (!shape || shape->size() != 1 || !(*shape)[0].is_at_least(1)) why = "axes that are computed, maybe none";
  }
  return why.empty() ? needs_types(n, {DType::f32, DType::i32, DType::i64}) : why;
}

template <Op op> void emit_arg(NodeOut& n) {
  const std::int64_t axis = n.axis(0);
  Options options(op);
  options.set("output_type", TensorType::INT64);
  const std::int32_t dim = n.e.index(axis), x = n.in(0);
  if (!n.attr("keepdims", 1)) return n.e.add(op, {x, dim}, {n.out()}, options);
  Shape rest = n.shape();
  rest.erase(rest.begin() + axis);
  const std::int32_t found = n.e.temporary(DType::i64, rest), again = n.e.index(axis);
  n.e.add(op, {x, dim}, {found}, options);
  n.e.add(Op::EXPAND_DIMS, {found, again}, {n.out()});
}
std::string refuse_arg(const Node& n) {
  if (n.attributes.int_or("select_last_index", 0)) return "the last of equal elements: TFLite takes the first";
  const std::string why = needs_rank(n);
  return why.empty() ? needs_types(n, {DType::f32, DType::i32, DType::i8, DType::u8}) : why;
}

void emit_shape(NodeOut& n) {
  Options options(Op::SHAPE);
  options.set("out_type", TensorType::INT64);
  const std::int64_t start = n.attr("start", 0);
  if (!start && !n.node.attributes.has("end")) return n.e.add(Op::SHAPE, {n.in(0)}, {n.out()}, options);
  const auto rank = static_cast<std::int64_t>(n.rank());
  const auto clamped = [&](std::int64_t i) { return std::clamp<std::int64_t>(i < 0 ? i + rank : i, 0, rank); };
  const std::int64_t from = clamped(start), to = std::max(from, clamped(n.attr("end", rank)));
  const std::int32_t all = n.e.temporary(DType::i64, Ints{rank});
  n.e.add(Op::SHAPE, {n.in(0)}, {all}, options);
  const std::int32_t begin = n.e.ints({from}), size = n.e.ints({to - from});
  n.e.add(Op::SLICE, {all, begin, size}, {n.out()});
}

void emit_size(NodeOut& n) {
  Options options(Op::SHAPE);
  options.set("out_type", TensorType::INT64);
  const std::int32_t sizes = n.e.temporary(DType::i64, Shape{Dim(static_cast<std::int64_t>(n.rank()))});
  n.e.add(Op::SHAPE, {n.in(0)}, {sizes}, options);
  const std::int32_t axis = n.e.ints({0});
  n.e.add(Op::REDUCE_PROD, {sizes, axis}, {n.out()});
}

void emit_transpose(NodeOut& n) {
  const std::int32_t order = n.e.ints(passes::perm_of(n.node));
  n.e.add(Op::TRANSPOSE, {n.in(0), order}, {n.out()});
}
std::string refuse_transpose(const Node& n) {
  if (passes::perm_of(n).empty() && !(n.input(0)->type.shape && n.input(0)->type.shape->empty()))
    return "the rank is not known";
  return n.input(0)->type.shape->size() > 5 ? "more than 5 dimensions" : moved(n);
}

void emit_concat(NodeOut& n) {
  std::vector<std::int32_t> inputs;
  for (std::size_t i = 0; i < n.node.input_count(); ++i) inputs.push_back(n.in(i));
  Options options(Op::CONCATENATION);
  options.set("axis", n.axis(0));
  n.e.add(Op::CONCATENATION, inputs, {n.out()}, options);
}

void emit_split(NodeOut& n) {
  std::vector<std::int32_t> outputs;
  Ints sizes;
  const auto axis = static_cast<std::size_t>(n.axis(0));
  for (std::size_t i = 0; i < n.node.output_count(); ++i) {
    const Value* v = n.node.output(i);
    outputs.push_back(n.e.tensor(v));
    sizes.push_back((*v->type.shape)[axis].value());
  }
  const std::int32_t x = n.in(0), lengths = n.e.ints(sizes), dim = n.e.index(n.axis(0));
  Options options(Op::SPLIT_V);
  options.set("num_splits", static_cast<std::int64_t>(outputs.size()));
  n.e.add(Op::SPLIT_V, {x, lengths, dim}, outputs, options);
}
std::string refuse_split(const Node& n) {
  if (std::string why = needs_rank(n); !why.empty()) return why;
  const auto rank = static_cast<std::int64_t>(n.input(0)->type.shape->size());
  std::int64_t axis = n.attributes.int_or("axis", 0);
  if (axis < 0) axis += rank;
  for (const Value* v : n.outputs())
    if (!v || !v->type.shape || !(*v->type.shape)[static_cast<std::size_t>(axis)].is_known())
      return "the sizes of the parts are not known";
  return moved(n);
}

void emit_gather(NodeOut& n) {
  Options options(Op::GATHER);
  options.set("axis", n.axis(0));
  // Negative indices count from the end: constants are turned, others must not be negative.
  std::int32_t indices;
  const Dim& size = n.shape()[static_cast<std::size_t>(n.axis(0))];
  if (const Tensor* t = n.constant(1); t && size.is_known()) {
    std::vector<std::int32_t> values;
    for (const std::int64_t i : t->to_ints()) values.push_back(static_cast<std::int32_t>(i < 0 ? i + size.value() : i));
    indices = n.e.constant(Tensor::of<std::int32_t>(t->dims(), values));
  } else if (n.constant(1)) {
    indices = n.in_int32(1);
  } else {
    const Shape& shape = n.shape(1);
    const DType type = n.elem(1);
    const std::int32_t raw = n.in(1), zero = n.e.scalar(0, type), is_negative = n.e.temporary(DType::boolean, shape);
    n.e.add(Op::LESS, {raw, zero}, {is_negative});
    std::int32_t count;
    if (size.is_known()) {
      count = n.e.scalar(static_cast<double>(size.value()), type);
    } else {
      const std::int32_t sizes = n.e.temporary(type, Ints{static_cast<std::int64_t>(n.rank())});
      Options out_type(Op::SHAPE);
      out_type.set("out_type", *tensor_type_of(type));
      n.e.add(Op::SHAPE, {n.in(0)}, {sizes}, out_type);
      const std::int32_t begin = n.e.ints({n.axis(0)}), one = n.e.ints({1});
      count = n.e.temporary(type, Ints{1});
      n.e.add(Op::SLICE, {sizes, begin, one}, {count});
    }
    const std::int32_t from_end = n.e.temporary(type, shape);
    n.e.add(Op::ADD, {raw, count}, {from_end});
    indices = n.e.temporary(type, shape);
    n.e.add(Op::SELECT_V2, {is_negative, from_end, raw}, {indices});
  }
  n.e.add(Op::GATHER, {n.in(0), indices}, {n.out()}, options);
}
std::string refuse_gather(const Node& n) {
  for (const std::size_t i : {0U, 1U})
    if (std::string why = needs_rank(n, i); !why.empty()) return why;
  if (!ops::constant_of(n.input(1)) && n.input(1)->type.shape->size() > 4) return "indices of more than 4 dimensions";
  return needs_types(n, {DType::f32, DType::i32, DType::i64, DType::i8, DType::u8, DType::boolean, DType::string});
}

/// For each place of `dims`, its number along one axis: a column of coordinates.
std::int32_t coordinates(NodeOut& n, Ints dims, std::size_t axis) {
  std::int64_t inner = 1, count = 1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    count *= dims[i];
    if (i > axis) inner *= dims[i];
  }
  std::vector<std::int32_t> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<std::int32_t>(i / inner % dims[axis]));
  dims.push_back(1);
  return n.e.constant(Tensor::of<std::int32_t>(dims, values));
}

/// Indices as int32 with those that count from the end turned; `size`: of the axis that they go along.
std::int32_t wrapped_indices(NodeOut& n, std::size_t input, std::int64_t size) {
  const std::int32_t raw = n.in_int32(input), zero = n.e.index(0), many = n.e.index(size);
  const Shape& shape = n.shape(input);
  const std::int32_t is_negative = n.e.temporary(DType::boolean, shape), from_end = n.e.temporary(DType::i32, shape);
  n.e.add(Op::LESS, {raw, zero}, {is_negative});
  n.e.add(Op::ADD, {raw, many}, {from_end});
  const std::int32_t indices = n.e.temporary(DType::i32, shape);
  n.e.add(Op::SELECT_V2, {is_negative, from_end, raw}, {indices});
  return indices;
}

void emit_gather_elements(NodeOut& n) {
  const auto axis = static_cast<std::size_t>(n.axis(0));
  const Ints dims = dims_of(n.shape(1));
  Shape column = n.shape(1);
  column.push_back(Dim(1));
  std::vector<std::int32_t> parts;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (i != axis) {
      parts.push_back(coordinates(n, dims, i));
      continue;
    }
    const std::int32_t indices = wrapped_indices(n, 1, n.shape()[axis].value());
    parts.push_back(reshaped(n.e, indices, DType::i32, column));
  }
  std::int32_t places = parts[0];
  if (parts.size() > 1) {
    Shape all = n.shape(1);
    all.push_back(Dim(static_cast<std::int64_t>(parts.size())));
    places = n.e.temporary(DType::i32, all);
    Options options(Op::CONCATENATION);
    options.set("axis", static_cast<std::int64_t>(dims.size()));
    n.e.add(Op::CONCATENATION, parts, {places}, options);
  }
  n.e.add(Op::GATHER_ND, {n.in(0), places}, {n.out()});
}
std::string refuse_gather_elements(const Node& n) {
  for (const std::size_t i : {0U, 1U}) {
    if (std::string why = needs_rank(n, i); !why.empty()) return why;
    if (!is_fixed(*n.input(i)->type.shape)) return "sizes that are not known before running";
  }
  if (n.input(1)->type.shape->empty() || n.input(1)->type.shape->size() > 3) return "more than 3 dimensions";
  return needs_types(n, {DType::f32, DType::i32, DType::i64, DType::i8, DType::u8});
}

void emit_gather_nd(NodeOut& n) {
  const std::int64_t batch = n.attr("batch_dims", 0);
  if (!batch) return n.e.add(Op::GATHER_ND, {n.in(0), n.in(1)}, {n.out()});
  Ints dims = dims_of(n.shape(1));
  const std::int64_t depth = dims.back();
  dims.pop_back();
  std::vector<std::int32_t> parts;
  for (std::int64_t i = 0; i < batch; ++i) parts.push_back(coordinates(n, dims, static_cast<std::size_t>(i)));
  parts.push_back(n.in_int32(1));
  Ints all = dims;
  all.push_back(depth + batch);
  const std::int32_t places = n.e.temporary(DType::i32, all);
  Options options(Op::CONCATENATION);
  options.set("axis", static_cast<std::int64_t>(dims.size()));
  n.e.add(Op::CONCATENATION, parts, {places}, options);
  n.e.add(Op::GATHER_ND, {n.in(0), places}, {n.out()});
}
std::string refuse_gather_nd(const Node& n) {
  for (const std::size_t i : {0U, 1U})
    if (std::string why = needs_rank(n, i); !why.empty()) return why;
  if (n.attributes.int_or("batch_dims", 0) &&
      (!is_fixed(*n.input(1)->type.shape) || n.input(1)->type.shape->size() > 4))
    return "batch_dims over sizes that are not known, or too many";
  const Tensor* t = ops::constant_of(n.input(1));
  if (t && std::ranges::any_of(t->to_ints(), [](std::int64_t i) { return i < 0; })) return "negative indices";
  return needs_types(n, {DType::f32, DType::i32, DType::i64, DType::i8, DType::u8});
}

void emit_tile(NodeOut& n) { n.e.add(Op::TILE, {n.in(0), n.in_int32(1)}, {n.out()}); }
std::string refuse_tile(const Node& n) {
  return needs_types(n, {DType::f32, DType::i32, DType::i64, DType::u8, DType::boolean});
}

void emit_expand(NodeOut& n) {
  const std::int32_t x = n.in(0);
  if (is_fixed(n.out_shape())) {
    const std::int32_t target = n.e.ints(dims_of(n.out_shape()));
    return n.e.add(Op::BROADCAST_TO, {x, target}, {n.out()}, Options(Op::BROADCAST_TO), 2);
  }
  // Both shapes are broadcast: the input's may be the larger one.
  const std::int32_t sizes = n.e.temporary(DType::i32, Ints{static_cast<std::int64_t>(n.rank())});
  Options options(Op::SHAPE);
  options.set("out_type", TensorType::INT32);
  n.e.add(Op::SHAPE, {x}, {sizes}, options);
  const std::int32_t wanted = n.in_int32(1);
  const std::int32_t target = n.e.temporary(DType::i32, Ints{static_cast<std::int64_t>(n.out_shape().size())});
  n.e.add(Op::BROADCAST_ARGS, {sizes, wanted}, {target});
  n.e.add(Op::BROADCAST_TO, {x, target}, {n.out()}, Options(Op::BROADCAST_TO), 2);
}
std::string refuse_expand(const Node& n) {
  if (std::string why = needs_rank(n); !why.empty()) return why;
  if (!n.output(0)->type.shape) return "the rank of the result is not known";
  if (n.output(0)->type.shape->size() > 8) return "more than 8 dimensions";
  return moved(n);
}

void emit_range(NodeOut& n) { n.e.add(Op::RANGE, {n.in(0), n.in(1), n.in(2)}, {n.out()}); }
std::string refuse_range(const Node& n) { return needs_types(n, {DType::f32, DType::i32}); }

void emit_fill(NodeOut& n) {
  const Tensor* value = n.node.attributes.get<Tensor>("value");
  const std::int32_t dims = n.in_int32(0);
  const std::int32_t element = value ? n.e.constant(value->reshaped({})) : n.e.scalar(0, DType::f32);
  n.e.add(Op::FILL, {dims, element}, {n.out()});
}
std::string refuse_fill(const Node& n) {
  const DType t = n.output(0)->type.elem;
  return t == DType::f32 || t == DType::i32 || t == DType::i64 || t == DType::boolean || t == DType::i8
             ? ""
             : "TFLite does not fill this type";
}

void emit_one_hot(NodeOut& n) {
  const Ints depth = n.ints(1);
  const Tensor& values = *n.constant(2);
  const auto value = [&](std::int64_t i) {
    return n.e.scalar(values.to_doubles()[static_cast<std::size_t>(i)], values.dtype());
  };
  const auto rank = static_cast<std::int64_t>(n.rank());
  std::int64_t axis = n.attr("axis", -1);
  if (axis < 0) axis += rank + 1;
  Options options(Op::ONE_HOT);
  options.set("axis", axis);
  std::int32_t indices;
  if (n.constant(0)) {
    std::vector<std::int32_t> narrow;
    for (const std::int64_t i : n.constant(0)->to_ints())
      narrow.push_back(static_cast<std::int32_t>(i < 0 ? i + depth[0] : i));
    indices = n.e.constant(Tensor::of<std::int32_t>(n.constant(0)->dims(), narrow));
  } else {
    // Negative ones count from the end: (i + depth) mod depth would also wrap those that are out of range.
    const std::int32_t raw = n.in_int32(0), zero = n.e.index(0), many = n.e.index(depth[0]);
    const std::int32_t is_negative = n.e.temporary(DType::boolean, n.shape()),
                       wrapped = n.e.temporary(DType::i32, n.shape());
    n.e.add(Op::LESS, {raw, zero}, {is_negative});
    n.e.add(Op::ADD, {raw, many}, {wrapped});
    indices = n.e.temporary(DType::i32, n.shape());
    n.e.add(Op::SELECT_V2, {is_negative, wrapped, raw}, {indices});
  }
  const std::int32_t count = n.e.index(depth[0]), on = value(1), off = value(0);
  n.e.add(Op::ONE_HOT, {indices, count, on, off}, {n.out()}, options);
}
std::string refuse_one_hot(const Node& n) {
  if (std::string why = needs_rank(n); !why.empty()) return why;
  for (const std::size_t i : {1U, 2U})
    if (std::string why = needs_constant(n, i, "depth or values"); !why.empty()) return why;
  const std::string why = needs_types(n, {DType::f32, DType::i32, DType::i64, DType::boolean}, 2);
  return why.empty() ? needs_types(n, {DType::i32, DType::i64, DType::f32}) : why;
}

void emit_top_k(NodeOut& n) {
  const std::int64_t axis = n.axis(-1), last = static_cast<std::int64_t>(n.rank()) - 1;
  Ints perm(n.rank());
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[static_cast<std::size_t>(axis)], perm.back());
  const bool is_last = axis == last;
  // The smallest are the largest of the negated.
  const bool is_smallest = !n.attr("largest", 1);
  std::int32_t x = is_last ? n.in(0) : transposed(n.e, n.in(0), n.elem(), n.shape(), perm);
  if (is_smallest) {
    const std::int32_t negated = n.e.temporary(n.elem(), passes::permuted(n.shape(), perm));
    n.e.add(Op::NEG, {x}, {negated});
    x = negated;
  }
  const Shape found = passes::permuted(n.out_shape(), perm);
  std::int32_t values = is_last && !is_smallest ? n.out(0) : n.e.temporary(n.elem(), found);
  const std::int32_t places = n.e.temporary(DType::i32, found);
  std::int32_t k;
  if (n.constant(1)) {
    k = n.e.index(n.ints(1)[0]);
  } else {
    const std::int32_t vector = n.in_int32(1);
    k = reshaped(n.e, vector, DType::i32, Shape{});
  }
  n.e.add(Op::TOPK_V2, {x, k}, {values, places});
  if (is_smallest) {
    const std::int32_t back = is_last ? n.out(0) : n.e.temporary(n.elem(), found);
    n.e.add(Op::NEG, {values}, {back});
    values = back;
  }
  std::int32_t wide = n.node.output(1) && is_last ? n.out(1) : n.e.temporary(DType::i64, found);
  Options options(Op::CAST);
  options.set("in_data_type", TensorType::INT32).set("out_data_type", TensorType::INT64);
  if (n.node.output(1)) n.e.add(Op::CAST, {places}, {wide}, options);
  if (is_last) return;
  const std::int32_t back = n.e.ints(perm);
  if (n.node.output(0)) n.e.add(Op::TRANSPOSE, {values, back}, {n.out(0)});
  if (n.node.output(1)) n.e.add(Op::TRANSPOSE, {wide, back}, {n.out(1)});
}
std::string refuse_top_k(const Node& n) {
  const std::string why = needs_rank(n);
  if (why.empty() && !n.output(0)) return "the values are not asked for";
  return why.empty() ? needs_types(n, {DType::f32, DType::i32, DType::i64}) : why;
}

void emit_non_zero(NodeOut& n) {
  const auto rank = static_cast<std::int64_t>(n.rank());
  std::int32_t condition = n.in(0);
  if (n.elem() != DType::boolean) {
    const std::int32_t zero = n.e.scalar(0, n.elem());
    const std::int32_t is = n.e.temporary(DType::boolean, n.shape());
    n.e.add(Op::NOT_EQUAL, {condition, zero}, {is});
    condition = is;
  }
  const std::int32_t rows = n.e.temporary(DType::i64, Shape{Dim(), Dim(rank)}), perm = n.e.ints({1, 0});
  n.e.add(Op::WHERE, {condition}, {rows});
  n.e.add(Op::TRANSPOSE, {rows, perm}, {n.out()});
}
std::string refuse_non_zero(const Node& n) {
  const std::string why = needs_rank(n);
  if (why.empty() && n.input(0)->type.shape->empty()) return "a scalar";
  return why.empty() ? needs_types(n, {DType::f32, DType::i32, DType::i64, DType::boolean}) : why;
}

void emit_cum_sum(NodeOut& n) {
  Options options(Op::CUMSUM);
  options.set("exclusive", n.attr("exclusive", 0) != 0).set("reverse", n.attr("reverse", 0) != 0);
  const std::int32_t axis = n.constant(1) ? n.e.index(n.ints(1)[0]) : n.in_int32(1);
  n.e.add(Op::CUMSUM, {n.in(0), axis}, {n.out()}, options);
}

void emit_reverse_sequence(NodeOut& n) {
  Options options(Op::REVERSE_SEQUENCE);
  options.set("seq_dim", n.attr("time_axis", 0)).set("batch_dim", n.attr("batch_axis", 1));
  n.e.add(Op::REVERSE_SEQUENCE, {n.in(0), n.in(1)}, {n.out()}, options);
}
std::string refuse_reverse_sequence(const Node& n) {
  return needs_types(n, {DType::f32, DType::i32, DType::i64, DType::u8});
}

void emit_prelu(NodeOut& n) { n.e.add(Op::PRELU, {n.in(0), n.in(1)}, {n.out()}); }
std::string refuse_prelu(const Node& n) {
  for (const std::size_t i : {0U, 1U})
    if (std::string why = needs_rank(n, i); !why.empty()) return why;
  return n.input(0)->type.shape->size() > 4 ? "more than 4 dimensions" : floats(n);
}

std::string refuse_shape(const Node& n) { return needs_rank(n); }
std::string refuse_size(const Node& n) { return needs_rank(n); }
std::string refuse_concat(const Node& n) {
  const std::string why = needs_rank(n);
  return why.empty() ? needs_types(n, {DType::f32, DType::i32, DType::i64, DType::i8, DType::u8, DType::i16,
                                       DType::boolean, DType::string})
                     : why;
}
std::string refuse_reshape(const Node& n) {
  if (n.is("Reshape") && !ops::constant_of(n.input(1)) && n.attributes.int_or("allowzero", 0))
    return "allowzero with a computed shape";
  if (n.is("Reshape") && ops::constant_of(n.input(1)) && !n.output(0)->type.shape) return "the rank is not known";
  return {};
}

constexpr Row kRows[] = {
    {"Abs", unary<Op::ABS>, floats},
    {"Add", binary<Op::ADD>, arithmetic},
    {"And", binary<Op::LOGICAL_AND>, booleans},
    {"ArgMax", emit_arg<Op::ARG_MAX>, refuse_arg},
    {"ArgMin", emit_arg<Op::ARG_MIN>, refuse_arg},
    {"AveragePool", emit_pool, refuse_pool},
    {"Cast", emit_cast, refuse_cast},
    {"Ceil", unary<Op::CEIL>, floats},
    {"Clip", emit_clip, refuse_clip},
    {"Concat", emit_concat, refuse_concat},
    {"ConstantOfShape", emit_fill, refuse_fill},
    {"Conv", emit_conv, refuse_conv},
    {"ConvTranspose", emit_conv_transpose, refuse_conv_transpose},
    {"Cos", unary<Op::COS>, floats},
    {"CumSum", emit_cum_sum, arithmetic},
    {"DepthToSpace", emit_depth_to_space, refuse_depth_to_space},
    {"DequantizeLinear", emit_dequantize, refuse_dequantize},
    {"Div", binary<Op::DIV>,
     [](const Node& n) {
       return needs_types(n, {DType::f32, DType::i32});
     }},
    {"Elu", unary<Op::ELU>, refuse_elu},
    {"Equal", binary<Op::EQUAL>, equated},
    {"Exp", unary<Op::EXP>, floats},
    {"Expand", emit_expand, refuse_expand},
    {"Flatten", emit_reshape, refuse_reshape},
    {"Floor", unary<Op::FLOOR>, floats},
    {"Gather", emit_gather, refuse_gather},
    {"GatherElements", emit_gather_elements, refuse_gather_elements},
    {"GatherND", emit_gather_nd, refuse_gather_nd},
    {"Gemm", emit_gemm, refuse_gemm},
    {"Greater", binary<Op::GREATER>, compared},
    {"GreaterOrEqual", binary<Op::GREATER_EQUAL>, compared},
    {"HardSwish", unary<Op::HARD_SWISH>, floats},
    {"Identity", emit_identity, nothing},
    {"If", emit_if, refuse_if},
    {"IsNaN", emit_is_nan, floats},
    {"LRN", emit_lrn, refuse_lrn},
    {"LeakyRelu", emit_leaky_relu, floats},
    {"Less", binary<Op::LESS>, compared},
    {"LessOrEqual", binary<Op::LESS_EQUAL>, compared},
    {"Log", unary<Op::LOG>, floats},
    {"LogSoftmax", emit_softmax<Op::LOG_SOFTMAX>, refuse_softmax},
    {"Loop", emit_loop, refuse_loop},
    {"MatMul", emit_matmul, refuse_matmul},
    {"Max", folded<Op::MAXIMUM>, refuse_folded},
    {"MaxPool", emit_pool, refuse_pool},
    {"Min", folded<Op::MINIMUM>, refuse_folded},
    {"Mod", emit_mod, refuse_mod},
    {"Mul", binary<Op::MUL>, arithmetic},
    {"Neg", unary<Op::NEG>, signed_numbers},
    {"NonZero", emit_non_zero, refuse_non_zero},
    {"Not", unary<Op::LOGICAL_NOT>, booleans},
    {"OneHot", emit_one_hot, refuse_one_hot},
    {"Or", binary<Op::LOGICAL_OR>, booleans},
    {"PRelu", emit_prelu, refuse_prelu},
    {"Pad", emit_pad, refuse_pad},
    {"Pow", binary<Op::POW>, refuse_pow},
    {"QuantizeLinear", emit_quantize, refuse_quantize},
    {"Range", emit_range, refuse_range},
    {"Reciprocal", emit_reciprocal, floats},
    {"ReduceMax", emit_reduce<Op::REDUCE_MAX>, refuse_reduce},
    {"ReduceMean", emit_reduce<Op::MEAN>, refuse_reduce},
    {"ReduceMin", emit_reduce<Op::REDUCE_MIN>, refuse_reduce},
    {"ReduceProd", emit_reduce<Op::REDUCE_PROD>, refuse_reduce},
    {"ReduceSum", emit_reduce<Op::SUM>, refuse_reduce},
    {"Relu", unary<Op::RELU>, floats},
    {"Reshape", emit_reshape, refuse_reshape},
    {"Resize", emit_resize, refuse_resize},
    {"ReverseSequence", emit_reverse_sequence, refuse_reverse_sequence},
    {"Round", unary<Op::ROUND>, floats},
    {"Shape", emit_shape, refuse_shape},
    {"Sigmoid", unary<Op::LOGISTIC>, floats},
    {"Sign", emit_sign, refuse_sign},
    {"Sin", unary<Op::SIN>, floats},
    {"Size", emit_size, refuse_size},
    {"Slice", emit_slice, refuse_slice},
    {"Softmax", emit_softmax<Op::SOFTMAX>, refuse_softmax},
    {"SpaceToDepth", emit_space_to_depth, refuse_space_to_depth},
    {"Split", emit_split, refuse_split},
    {"Sqrt", unary<Op::SQRT>, floats},
    {"Squeeze", emit_reshape, refuse_reshape},
    {"Sub", binary<Op::SUB>, arithmetic},
    {"Sum", folded<Op::ADD>, refuse_folded},
    {"Tanh", unary<Op::TANH>, floats},
    {"Tile", emit_tile, refuse_tile},
    {"TopK", emit_top_k, refuse_top_k},
    {"Transpose", emit_transpose, refuse_transpose},
    {"Unsqueeze", emit_reshape, refuse_reshape},
    {"Where", emit_where, refuse_where},
    {"Xor", emit_xor, booleans},
};
static_assert(std::ranges::is_sorted(kRows, {}, &Row::op), "keep the table sorted");

}  // namespace

/// Reshape, Flatten, Squeeze, Unsqueeze: the result's sizes, or where those are not known, how to get them.
void emit_reshape(NodeOut& n) {
  const Value* y = n.node.output(0);
  const std::int32_t x = n.in(0);
  std::optional<Ints> target;
  if (y->type.shape) {
    target = dims_of(*y->type.shape);
    if (std::ranges::count(*target, -1) > 1) target.reset();
  }
  if (!target && n.node.is("Unsqueeze") && n.constant(1)) {
    Ints axes = n.ints(1);
    const auto rank = static_cast<std::int64_t>(n.rank() + axes.size());
    for (std::int64_t& a : axes) a = a < 0 ? a + rank : a;
    std::ranges::sort(axes);
    std::int32_t at = x;
    Shape shape = n.shape();
    for (std::size_t i = 0; i < axes.size(); ++i) {
      shape.insert(shape.begin() + axes[i], Dim(1));
      const std::int32_t next = i + 1 == axes.size() ? n.out() : n.e.temporary(n.elem(), shape);
      const std::int32_t axis = n.e.index(axes[i]);
      n.e.add(Op::EXPAND_DIMS, {at, axis}, {next});
      at = next;
    }
    return;
  }
  if (!target && n.node.is("Squeeze")) {
    Options options(Op::SQUEEZE);
    if (n.constant(1)) options.set("squeeze_dims", n.ints(1));
    return n.e.add(Op::SQUEEZE, {x}, {n.out()}, options);
  }
  if (target) {
    const std::int32_t dims = n.e.ints(*target);
    Options options(Op::RESHAPE);
    options.set("new_shape", *target);
    return n.e.add(Op::RESHAPE, {x, dims}, {n.out()}, options);
  }
  // A 0 means the input's size there: taken from its shape at run time.
  const Tensor* wanted = n.constant(1);
  std::int32_t dims;
  if (n.node.is("Flatten") || (wanted && std::ranges::count(wanted->to_ints(), 0) == 0)) {
    dims = n.in_int32(1);
  } else {
    const std::int32_t asked = n.in_int32(1);
    const auto count = static_cast<std::int64_t>(y->type.shape ? y->type.shape->size() : 0);
    const std::int32_t sizes = n.e.temporary(DType::i32, Ints{static_cast<std::int64_t>(n.rank())});
    Options options(Op::SHAPE);
    options.set("out_type", TensorType::INT32);
    n.e.add(Op::SHAPE, {x}, {sizes}, options);
    // The first `count` sizes of the input, filled up with ones where it has fewer.
    std::int32_t padded = sizes;
    if (static_cast<std::int64_t>(n.rank()) < count) {
      padded = n.e.temporary(DType::i32, Ints{count});
      const std::int32_t ones = n.e.ints(Ints(static_cast<std::size_t>(count) - n.rank(), 1));
      n.e.add(Op::CONCATENATION, {sizes, ones}, {padded});
    } else if (static_cast<std::int64_t>(n.rank()) > count) {
      padded = n.e.temporary(DType::i32, Ints{count});
      const std::int32_t begin = n.e.ints({0}), size = n.e.ints({count});
      n.e.add(Op::SLICE, {sizes, begin, size}, {padded});
    }
    const std::int32_t zero = n.e.index(0), is_zero = n.e.temporary(DType::boolean, Ints{count});
    n.e.add(Op::EQUAL, {asked, zero}, {is_zero});
    dims = n.e.temporary(DType::i32, Ints{count});
    n.e.add(Op::SELECT_V2, {is_zero, padded, asked}, {dims});
  }
  n.e.add(Op::RESHAPE, {x, dims}, {n.out()});
}

std::span<const Row> all_rows() { return kRows; }

const Row* row_of(const Node& node) {
  if (!node.domain.empty() && node.domain != passes::kChannelsLastDomain) return nullptr;
  const auto* found = std::ranges::lower_bound(kRows, std::string_view(node.op), {}, &Row::op);
  return found != std::end(kRows) && found->op == node.op ? found : nullptr;
}

std::string refusal(const Node& node) {
  const Row* row = row_of(node);
  if (!row) return "TFLite has no such operator";
  for (const Value* v : node.outputs())
    if (v && !v->type.is_tensor()) return "TFLite has tensors only, no sequences, maps or optionals";
  return row->refuses ? row->refuses(node) : std::string();
}

}  // namespace ingot::backends::tflite
