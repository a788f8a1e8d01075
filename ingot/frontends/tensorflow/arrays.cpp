// Shapes, joining, splitting, filling.
#include <algorithm>
#include <limits>
#include <numeric>

#include "ingot/frontends/tensorflow/constants.h"
#include "ingot/frontends/tensorflow/node.h"
#include "ingot/frontends/tensorflow/translation.h"

namespace ingot::frontends::tensorflow {

Operands constant(const TfNode& n, GraphBuilder&) {
  const tf::AttrValue* attr = n.attr("value");
  const auto* tensor = attr ? std::get_if<std::shared_ptr<const tf::TensorProto>>(attr) : nullptr;
  if (!tensor) n.unsupported("the constant has no value");
  if ((*tensor)->dtype == tf::DataType::resource || (*tensor)->dtype == tf::DataType::variant)
    return {Operand{nullptr, std::make_shared<Resource>()}};
  Graph& graph = n.translation().root();  // visible from everywhere
  Tensor value = to_tensor(**tensor, n.translation().budget());
  const bool is_pairs = is_complex(value.dtype());
  if (is_pairs) {
    Dims dims = value.dims();
    dims.push_back(2);
    value = Tensor(value.dtype() == DType::c64 ? DType::f32 : DType::f64, dims, value.bytes());
  }
  Value* made = graph.add_initializer(graph.fresh_name(n.scope().prefix + n.name()), std::move(value));
  return {{is_pairs ? n.translation().mark_complex(made) : made}};
}

Values shape(const TfNode& n, GraphBuilder& g) {
  return {g.cast(g.shape(n.input(0)), n.dtype("out_type", DType::i32))};
}
Values shape_n(const TfNode& n, GraphBuilder& g) {
  Values shapes;
  for (Value* x : n.inputs()) shapes.push_back(g.cast(g.shape(x), n.dtype("out_type", DType::i32)));
  return shapes;
}
Values size(const TfNode& n, GraphBuilder& g) {
  return {g.cast(g.op("Size", {n.input(0)}), n.dtype("out_type", DType::i32))};
}
Values rank(const TfNode& n, GraphBuilder& g) {
  if (const auto r = rank_of(n.input(0))) return {g.scalar(static_cast<double>(*r), DType::i32)};
  Value* dims = g.shape(n.input(0));
  return {g.cast(g.op("Size", {dims}), DType::i32)};
}

Values reshape(const TfNode& n, GraphBuilder& g) {
  const auto dims = n.known_ints(1);
  if (!dims) return {g.op("Reshape", {n.input(0), as_int64_vector(g, n.input(1))})};
  if (std::ranges::find(*dims, 0) == dims->end()) return {g.reshape(n.input(0), *dims)};
  // A 0 is a size of 0, not one to copy; beside it an open size may be anything and is 1.
  std::vector<std::int64_t> fixed = *dims;
  std::ranges::replace(fixed, -1, 1);
  return {g.op("Reshape", {n.input(0), g.ints(fixed)}, {{"allowzero", 1}})};
}

Values ensure_shape(const TfNode& n, GraphBuilder& g) {
  const tf::TensorShape stated = n.shape("shape");
  if (stated.unknown_rank) return {n.input(0)};
  Value* y = g.op("Identity", {n.input(0)});
  const Type type = Type::tensor(y->type.elem, to_shape(stated));
  if (may_match(y->type, type)) y->type = refine(y->type, type);
  return {y};
}
Values expand_dims(const TfNode& n, GraphBuilder& g) {
  return {g.op("Unsqueeze", {n.input(0), as_int64_vector(g, n.input(1))})};
}
Values squeeze(const TfNode& n, GraphBuilder& g) {
  std::vector<std::int64_t> axes = n.ints("squeeze_dims");
  if (axes.empty()) axes = n.ints("axis");
  return {axes.empty() ? g.op("Squeeze", {n.input(0)}) : g.squeeze(n.input(0), axes)};
}

Values pack(const TfNode& n, GraphBuilder& g) {
  const std::int64_t axis = n.integer("axis", 0);
  Values parts;
  for (Value* x : n.inputs()) parts.push_back(g.unsqueeze(x, {axis}));
  return {parts.size() == 1 ? parts[0] : g.concat(parts, axis)};
}
Values unpack(const TfNode& n, GraphBuilder& g) {
  const std::int64_t axis = n.integer("axis", 0);
  const std::int64_t count = n.integer("num", dim_of(n.input(0), axis).value_or(-1));
  if (count < 0 || count > 100'000) n.unsupported("the number of parts must be known");
  if (count == 0) return {};
  Values parts = g.op("Split", {n.input(0)}, {{"axis", axis}, {"num_outputs", count}}, static_cast<std::size_t>(count));
  for (Value*& part : parts) part = g.squeeze(part, {axis});
  return parts;
}

namespace {

/// TensorFlow joins empty tensors of any rank-fitting shape; ONNX as well, so nothing is left out but single parts.
Value* joined(const TfNode& n, GraphBuilder& g, const Values& parts, std::size_t axis_input) {
  const std::int64_t axis = n.need_int(axis_input);
  return parts.size() == 1 ? parts[0] : g.concat(parts, axis);
}

}  // namespace

Values concat(const TfNode& n, GraphBuilder& g) { return {joined(n, g, n.inputs(1), 0)}; }
Values concat_v2(const TfNode& n, GraphBuilder& g) {
  Values parts = n.inputs();
  parts.pop_back();
  return {joined(n, g, parts, n.input_count() - 1)};
}
Values parallel_concat(const TfNode& n, GraphBuilder& g) { return {g.concat(n.inputs(), 0)}; }

Values split(const TfNode& n, GraphBuilder& g) {
  const std::int64_t count = n.integer("num_split", 1);
  if (count < 1 || count > 100'000) n.unsupported("the number of parts is not sensible");
  return g.op("Split", {n.input(1)}, {{"axis", n.need_int(0)}, {"num_outputs", count}},
              static_cast<std::size_t>(count));
}
Values split_v(const TfNode& n, GraphBuilder& g) {
  const std::int64_t axis = n.need_int(2);
  const std::int64_t count = n.integer("num_split", dim_of(n.input(1), 0).value_or(0));
  if (count < 1 || count > 100'000) n.unsupported("the number of parts is not known");
  Value* sizes = as_int64_vector(g, n.input(1));
  if (const auto known = n.known_ints(1)) {
    std::vector<std::int64_t> parts = *known;
    const std::int64_t sum = std::accumulate(parts.begin(), parts.end(), std::int64_t{0});
    if (const auto open = std::ranges::find(parts, -1); open != parts.end()) {
      const auto whole = dim_of(n.input(0), axis);
      if (!whole) n.unsupported("a part of open size needs the size of the whole");
      *open = *whole - (sum + 1);
    }
    sizes = g.ints(parts);
  }
  return g.op("Split", {n.input(0), sizes}, {{"axis", axis}}, static_cast<std::size_t>(count));
}

Values fill(const TfNode& n, GraphBuilder& g) { return {g.op("Expand", {n.input(1), as_int64_vector(g, n.input(0))})}; }
Values empty(const TfNode& n, GraphBuilder& g) {
  const DType t = n.dtype("dtype", DType::f32);
  return {g.op("Expand", {g.scalar(0, t), as_int64_vector(g, n.input(0))})};
}
Values broadcast_to(const TfNode& n, GraphBuilder& g) {
  return {g.op("Expand", {n.input(0), as_int64_vector(g, n.input(1))})};
}
Values broadcast_args(const TfNode& n, GraphBuilder& g) {
  // The shape that two tensors of these shapes make together.
  Value* a = g.op("Expand", {g.scalar(0, DType::f32), as_int64_vector(g, n.input(0))});
  Value* b = g.op("Expand", {g.scalar(0, DType::f32), as_int64_vector(g, n.input(1))});
  return {g.cast(g.shape(g.add(a, b)), n.elem(0))};
}
Values tile(const TfNode& n, GraphBuilder& g) { return {g.op("Tile", {n.input(0), as_int64_vector(g, n.input(1))})}; }
Values transpose(const TfNode& n, GraphBuilder& g) {
  if (const auto perm = n.known_ints(1)) return {g.transpose(n.input(0), *perm)};
  if (dim_of(n.input(1), 0) == 1 || rank_of(n.input(0)) == 1) return {n.input(0)};
  n.unsupported("the order of the axes must be a constant");
}
Values invert_permutation(const TfNode& n, GraphBuilder& g) {
  Value* p = as_int64_vector(g, n.input(0));
  Value* places = g.op("Range", {g.index(0), g.op("Size", {p}), g.index(1)});
  return {g.cast(g.op("ScatterElements", {p, p, places}), n.elem(0))};
}

Values range(const TfNode& n, GraphBuilder& g) {
  const DType t = n.elem(0);
  const DType wide = is_integer(t) && bits_of(t) < 32 ? DType::i32 : t;
  Values ends;
  for (Value* v : n.inputs()) ends.push_back(g.cast(v, wide));
  return {g.cast(g.op("Range", ends), t)};
}
Values lin_space(const TfNode& n, GraphBuilder& g) {
  const DType t = n.elem(0);
  Value* count = as_int64(g, n.input(2));
  Value* steps = g.op("Range", {g.index(0), count, g.index(1)});
  Value* gaps = g.op("Max", {g.sub(count, g.index(1)), g.index(1)});
  Value* step = g.div(g.sub(n.input(1), n.input(0)), g.cast(gaps, t));
  return {g.add(n.input(0), g.mul(g.cast(steps, t), step))};
}
Values one_hot(const TfNode& n, GraphBuilder& g) {
  Value* on = g.reshape(n.input(2), {1});
  Value* off = g.reshape(n.input(3), {1});
  Value* depth = as_int64_vector(g, n.input(1));
  // ONNX counts negative indices from the end, TensorFlow gives them no one: they become the depth, beyond the end.
  Value* at = as_int64(g, n.input(0));
  Value* is_negative = g.op("Less", {at, g.index(0)});
  Value* safe = g.where(is_negative, depth, at);
  if (rank_of(at) == 0) safe = g.op("Reshape", {safe, g.ints({})});
  return {g.op("OneHot", {safe, depth, g.concat({off, on}, 0)}, {{"axis", n.integer("axis", -1)}})};
}

namespace {

/// [before, after] per axis, as ONNX wants it: all of before, then all of after.
Value* onnx_pads(const TfNode& n, GraphBuilder& g) {
  if (const auto pads = n.known_ints(1)) {
    std::vector<std::int64_t> order;
    for (std::size_t i = 0; i < pads->size(); i += 2) order.push_back((*pads)[i]);
    for (std::size_t i = 1; i < pads->size(); i += 2) order.push_back((*pads)[i]);
    return g.ints(order);
  }
  Value* turned = g.transpose(as_int64(g, n.input(1)), {1, 0});
  return g.reshape(turned, {-1});
}

}  // namespace

Values pad(const TfNode& n, GraphBuilder& g) {
  Value* pads = onnx_pads(n, g);
  Value* with = n.input_count() > 2 ? n.input(2) : nullptr;
  return {g.op("Pad", {n.input(0), pads, with})};
}
Values mirror_pad(const TfNode& n, GraphBuilder& g) {
  const std::string mode = n.text("mode", "REFLECT");
  Value* pads = onnx_pads(n, g);
  if (mode == "REFLECT") return {g.op("Pad", {n.input(0), pads}, {{"mode", "reflect"}})};
  // SYMMETRIC repeats the edge itself. Along each axis the elements p = -before ... size + after - 1 are read, those
  // outside at -p - 1 and 2 * size - 1 - p.
  Value* x = n.input(0);
  const std::int64_t rank = n.rank(0);
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    Value* before = g.op("Gather", {pads, g.index(axis)});
    Value* after = g.op("Gather", {pads, g.index(rank + axis)});
    Value* size = g.op("Gather", {g.shape(x), g.index(axis)});
    Value* p = g.op("Range", {g.neg(before), g.add(size, after), g.index(1)});
    Value* low = g.sub(g.neg(p), g.index(1));
    Value* high = g.sub(g.add(size, low), g.neg(size));
    Value* is_high = g.op("GreaterOrEqual", {p, size});
    Value* is_low = g.op("Less", {p, g.index(0)});
    Value* at = g.where(is_low, low, g.where(is_high, high, p));
    x = g.op("Gather", {x, at}, {{"axis", axis}});
  }
  return {x};
}

namespace {

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kBeforeStart = std::numeric_limits<std::int64_t>::min();

Value* reversed(GraphBuilder& g, Value* x, const std::vector<std::int64_t>& axes) {
  if (axes.empty()) return x;
  const std::vector<std::int64_t> starts(axes.size(), -1), ends(axes.size(), kBeforeStart), steps(axes.size(), -1);
  Value* from = g.ints(starts);
  Value* to = g.ints(ends);
  Value* along = g.ints(axes);
  return g.op("Slice", {x, from, to, along, g.ints(steps)});
}

}  // namespace

Values reverse_v2(const TfNode& n, GraphBuilder& g) { return {reversed(g, n.input(0), n.need_ints(1))}; }
Values reverse(const TfNode& n, GraphBuilder& g) {
  const std::vector<std::int64_t> flags = n.need_ints(1);
  std::vector<std::int64_t> axes;
  for (std::size_t i = 0; i < flags.size(); ++i)
    if (flags[i]) axes.push_back(static_cast<std::int64_t>(i));
  return {reversed(g, n.input(0), axes)};
}
Values reverse_sequence(const TfNode& n, GraphBuilder& g) {
  const std::int64_t time = n.integer("seq_dim", 0), batch = n.integer("batch_dim", 0);
  Value* lengths = as_int64(g, n.input(1));
  const bool is_direct = (time == 0 && batch == 1) || (time == 1 && batch == 0);
  if (is_direct) return {g.op("ReverseSequence", {n.input(0), lengths}, {{"time_axis", time}, {"batch_axis", batch}})};
  // ONNX knows the first two axes only.
  std::vector<std::int64_t> perm{time, batch}, back(static_cast<std::size_t>(n.rank(0)));
  for (std::int64_t axis = 0; axis < n.rank(0); ++axis)
    if (axis != time && axis != batch) perm.push_back(axis);
  for (std::size_t i = 0; i < perm.size(); ++i)
    back.at(static_cast<std::size_t>(perm[i])) = static_cast<std::int64_t>(i);
  Value* x = g.transpose(n.input(0), perm);
  Value* y = g.op("ReverseSequence", {x, lengths}, {{"time_axis", 0}, {"batch_axis", 1}});
  return {g.transpose(y, back)};
}

Values roll(const TfNode& n, GraphBuilder& g) {
  const std::vector<std::int64_t> axes = n.need_ints(2);
  Value* shifts = as_int64_vector(g, n.input(1));
  Value* x = n.input(0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    // By s to the right: the last s elements, then the others; s counts modulo the size.
    Value* axis = g.ints({axes[i]});
    Value* size = g.op("Gather", {g.shape(x), axis});
    Value* shift =
        g.op("Slice", {shifts, g.ints({static_cast<std::int64_t>(i)}), g.ints({static_cast<std::int64_t>(i) + 1})});
    Value* one = g.ints({1});
    Value* start = g.op("Mod", {g.neg(shift), g.op("Max", {size, one})});
    Value* tail = g.op("Slice", {x, start, g.ints({kEnd}), axis});
    Value* head = g.op("Slice", {x, g.ints({0}), start, axis});
    x = g.concat({tail, head}, axes[i]);
  }
  return {x};
}

Values where(const TfNode& n, GraphBuilder& g) {
  Value* x = n.input(0);
  if (n.elem(0) != DType::boolean) x = g.op("Not", {g.op("Equal", {x, g.scalar(0, n.elem(0))})});
  return {g.transpose(g.op("NonZero", {x}), {1, 0})};
}

Values select(const TfNode& n, GraphBuilder& g) {
  Value* condition = n.input(0);
  // A vector chooses whole rows.
  const auto rows = rank_of(condition), rank = rank_of(n.input(1));
  if (rows == 1 && !rank) n.unsupported("the rank of what is chosen must be known");
  if (rows == 1 && *rank > 1) {
    std::vector<std::int64_t> axes(static_cast<std::size_t>(*rank - 1));
    std::iota(axes.begin(), axes.end(), 1);
    condition = g.unsqueeze(condition, axes);
  }
  return {g.where(condition, n.input(1), n.input(2))};
}
Values select_v2(const TfNode& n, GraphBuilder& g) { return {g.where(n.input(0), n.input(1), n.input(2))}; }

Values slice(const TfNode& n, GraphBuilder& g) {
  const auto begin = n.known_ints(1), size = n.known_ints(2);
  const auto count = begin ? static_cast<std::int64_t>(begin->size()) : dim_of(n.input(1), 0).value_or(n.rank(0));
  std::vector<std::int64_t> axes(static_cast<std::size_t>(count));
  std::iota(axes.begin(), axes.end(), 0);
  if (begin && size && begin->size() == size->size()) {
    std::vector<std::int64_t> ends(*size);
    for (std::size_t i = 0; i < ends.size(); ++i) ends[i] = ends[i] < 0 ? kEnd : ends[i] + (*begin)[i];
    Value* from = g.ints(*begin);
    Value* to = g.ints(ends);
    return {axes.empty() ? n.input(0) : g.op("Slice", {n.input(0), from, to, g.ints(axes)})};
  }
  Value* from = as_int64_vector(g, n.input(1));
  Value* length = as_int64_vector(g, n.input(2));
  Value* is_open = g.op("Less", {length, g.ints({0})});
  Value* to = g.where(is_open, g.ints({kEnd}), g.add(from, length));
  return {g.op("Slice", {n.input(0), from, to, g.ints(axes)})};
}

}  // namespace ingot::frontends::tensorflow
