// Elements picked by their places.
#include <algorithm>

#include "ingot/backends/tflite/rows.h"
#include "ingot/ops/infer.h"

namespace ingot::backends::tflite {

using Op = BuiltinOperator;

bool counts_from_the_front(const Node& node, std::size_t input) {
  if (const Tensor* t = ops::constant_of(node.input(input)))
    return std::ranges::all_of(t->to_ints(), [](std::int64_t i) { return i >= 0; });
  constexpr std::string_view kSources[] = {"EMBEDDING_LOOKUP", "GATHER", "GATHER_ND", "SCATTER_ND"};
  return std::ranges::any_of(kSources, [&](std::string_view op) { return comes_from(node, op); });
}

void emit_gather(NodeOut& n) {
  Options options(Op::GATHER);
  options.set("axis", n.axis(0));
  // Negative indices count from the end: constants are turned here, others at run time.
  std::int32_t indices;
  const Dim& size = n.shape()[static_cast<std::size_t>(n.axis(0))];
  if (const Tensor* t = n.constant(1); t && size.is_known()) {
    std::vector<std::int32_t> values;
    for (const std::int64_t i : t->to_ints()) values.push_back(static_cast<std::int32_t>(i < 0 ? i + size.value() : i));
    indices = n.e.constant(Tensor::of<std::int32_t>(t->dims(), values));
  } else if (counts_from_the_front(n.node, 1)) {
    const Node* maker = n.node.input(1)->producer();
    const bool was_narrow = maker && maker->is("Cast") && maker->input(0)->type.elem == DType::i32;
    indices = n.constant(1) || was_narrow ? n.in_int32(1) : n.in(1);
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
      if (shape.empty()) {  // a list of one size would make a list of the index
        count = n.e.temporary(type, Ints{});
        n.e.add(Op::GATHER, {sizes, n.e.scalar(static_cast<double>(n.axis(0)), DType::i32)}, {count});
      } else {
        const std::int32_t begin = n.e.ints({n.axis(0)}), one = n.e.ints({1});
        count = n.e.temporary(type, Ints{1});
        n.e.add(Op::SLICE, {sizes, begin, one}, {count});
      }
    }
    const std::int32_t from_end = n.e.temporary(type, shape);
    n.e.add(Op::ADD, {raw, count}, {from_end});
    indices = n.e.temporary(type, shape);
    n.e.add(Op::SELECT_V2, {is_negative, from_end, raw}, {indices});
  }
  n.e.add(Op::GATHER, {n.in(0), indices}, {n.out()}, options);
}
Refused refuse_gather(const Node& n) {
  for (const std::size_t i : {0U, 1U})
    if (Refused why = needs_rank(n, i)) return why;
  if (!ops::constant_of(n.input(1)) && n.input(1)->type.shape->size() > 4)
    return Refusal{Kind::dimensions, "indices of more than 4 dimensions"};
  return needs_types(n, {DType::f32, DType::i32, DType::i64, DType::i8, DType::u8, DType::boolean, DType::string});
}

namespace {

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

/// [N, columns] along the second axis: rows stay among themselves, however many there are.
bool is_by_rows(const Node& n) {
  const auto &x = n.input(0)->type.shape, &indices = n.input(1)->type.shape;
  std::int64_t axis = n.attributes.int_or("axis", 0);
  return x && indices && x->size() == 2 && indices->size() == 2 && (axis == 1 || axis == -1) &&
         same((*x)[0], (*indices)[0]) && (*x)[1].is_known();
}

}  // namespace

void emit_gather_elements(NodeOut& n) {
  if (is_by_rows(n.node)) {
    Options options(Op::GATHER);
    options.set("axis", 1).set("batch_dims", 1);
    const std::int32_t x = n.in(0), indices = wrapped_indices(n, 1, n.shape()[1].value());
    return n.e.add(Op::GATHER, {x, indices}, {n.out()}, options, 5);
  }
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
Refused refuse_gather_elements(const Node& n) {
  if (is_by_rows(n)) return needs_types(n, {DType::f32, DType::i32, DType::i64, DType::i8, DType::u8});
  for (const std::size_t i : {0U, 1U}) {
    if (Refused why = needs_rank(n, i)) return why;
    if (!is_fixed(*n.input(i)->type.shape))
      return Refusal{Kind::unknown_size, "sizes that are not known before running"};
  }
  if (n.input(1)->type.shape->empty() || n.input(1)->type.shape->size() > 3)
    return Refusal{Kind::dimensions, "more than 3 dimensions"};
  return needs_types(n, {DType::f32, DType::i32, DType::i64, DType::i8, DType::u8});
}

void emit_gather_nd(NodeOut& n) {
  const std::int64_t batch = n.attr("batch_dims", 0);
  const std::int32_t own = index_tuples(n, 1, static_cast<std::size_t>(batch));
  if (!batch) return n.e.add(Op::GATHER_ND, {n.in(0), own}, {n.out()});
  Ints dims = dims_of(n.shape(1));
  const std::int64_t depth = dims.back();
  dims.pop_back();
  std::vector<std::int32_t> parts;
  for (std::int64_t i = 0; i < batch; ++i) parts.push_back(coordinates(n, dims, static_cast<std::size_t>(i)));
  parts.push_back(own);
  Ints all = dims;
  all.push_back(depth + batch);
  const std::int32_t places = n.e.temporary(DType::i32, all);
  Options options(Op::CONCATENATION);
  options.set("axis", static_cast<std::int64_t>(dims.size()));
  n.e.add(Op::CONCATENATION, parts, {places}, options);
  n.e.add(Op::GATHER_ND, {n.in(0), places}, {n.out()});
}
Refused refuse_gather_nd(const Node& n) {
  for (const std::size_t i : {0U, 1U}) {
    if (Refused why = needs_rank(n, i)) return why;
    if (n.input(i)->type.shape->size() > 4) return Refusal{Kind::dimensions, "more than 4 dimensions"};
  }
  const Shape& tuples = *n.input(1)->type.shape;
  if (tuples.empty() || !tuples.back().is_known() || tuples.back().value() < 1)
    return Refusal{Kind::unknown_size, "index tuples of no known length"};
  if (n.attributes.int_or("batch_dims", 0) && !is_fixed(tuples))
    return Refusal{Kind::unknown_size, "batch_dims over sizes that are not known"};
  return needs_types(n, {DType::f32, DType::i32, DType::i64, DType::i8, DType::u8});
}

void emit_one_hot(NodeOut& n) {
  Emitter& e = n.e;
  const auto rank = static_cast<std::int64_t>(n.rank());
  std::int64_t axis = n.attr("axis", -1);
  if (axis < 0) axis += rank + 1;
  Options options(Op::ONE_HOT);
  options.set("axis", axis);
  const std::int32_t depth = n.constant(1) ? e.index(n.ints(1)[0]) : reshaped(e, n.in_int32(1), DType::i32, Shape{});
  const auto value = [&](std::int64_t i) {
    if (const Tensor* t = n.constant(2)) return e.scalar(t->to_doubles()[static_cast<std::size_t>(i)], t->dtype());
    const std::int32_t pair = n.in(2), begin = e.ints({i}), one = e.ints({1});
    const std::int32_t element = e.temporary(n.elem(2), Ints{1});
    e.add(Op::SLICE, {pair, begin, one}, {element});
    return reshaped(e, element, n.elem(2), Shape{});
  };
  std::int32_t indices;
  if (n.constant(0) && n.constant(1)) {
    std::vector<std::int32_t> narrow;
    for (const std::int64_t i : n.constant(0)->to_ints())
      narrow.push_back(static_cast<std::int32_t>(i < 0 ? i + n.ints(1)[0] : i));
    indices = e.constant(Tensor::of<std::int32_t>(n.constant(0)->dims(), narrow));
  } else {
    // Negative ones count from the end: (i + depth) mod depth would also wrap those that are out of range.
    const std::int32_t raw = n.in_int32(0), zero = e.index(0);
    const std::int32_t is_negative = e.temporary(DType::boolean, n.shape()),
                       wrapped = e.temporary(DType::i32, n.shape());
    e.add(Op::LESS, {raw, zero}, {is_negative});
    e.add(Op::ADD, {raw, depth}, {wrapped});
    indices = e.temporary(DType::i32, n.shape());
    e.add(Op::SELECT_V2, {is_negative, wrapped, raw}, {indices});
  }
  const std::int32_t on = value(1), off = value(0);
  e.add(Op::ONE_HOT, {indices, depth, on, off}, {n.out()}, options);
}
Refused refuse_one_hot(const Node& n) {
  if (Refused why = needs_rank(n)) return why;
  if (n.input(0)->type.shape->size() > 4) return Refusal{Kind::dimensions, "more than 4 dimensions"};
  Refused why = needs_types(n, {DType::f32, DType::i32, DType::i64, DType::boolean}, 2);
  return why ? why : needs_types(n, {DType::i32, DType::i64, DType::f32});
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
Refused refuse_non_zero(const Node& n) {
  if (Refused why = needs_rank(n)) return why;
  if (n.input(0)->type.shape->empty()) return Refusal{Kind::dimensions, "a scalar"};
  return needs_types(n, {DType::f32, DType::i32, DType::i64, DType::boolean});
}

}  // namespace ingot::backends::tflite
