// Elements written to places of a copy.
#include <algorithm>

#include "ingot/backends/tflite/rows.h"
#include "ingot/ops/infer.h"

namespace ingot::backends::tflite {

using Op = BuiltinOperator;

std::int32_t index_tuples(NodeOut& n, std::size_t input, std::size_t first_axis) {
  const Shape& shape = n.shape(input);
  const auto depth = static_cast<std::size_t>(shape.back().value());
  const Shape sizes(n.shape().begin() + static_cast<std::ptrdiff_t>(first_axis),
                    n.shape().begin() + static_cast<std::ptrdiff_t>(first_axis + depth));
  if (const Tensor* t = n.constant(input); t && is_fixed(sizes)) {
    std::vector<std::int32_t> values;
    for (const std::int64_t i : t->to_ints()) {
      const std::int64_t size = sizes[values.size() % depth].value();
      values.push_back(static_cast<std::int32_t>(i < 0 ? i + size : i));
    }
    return n.e.constant(Tensor::of<std::int32_t>(t->dims(), values));
  }
  const std::int32_t raw = n.in_int32(input);
  if (counts_from_the_front(n.node, input)) return raw;
  const std::int32_t zero = n.e.index(0);
  std::int32_t many;
  if (is_fixed(sizes)) {
    many = n.e.ints(dims_of(sizes));
  } else {
    const std::int32_t all = shape_of(n.e, n.in(0), n.rank());
    const std::int32_t begin = n.e.ints({static_cast<std::int64_t>(first_axis)});
    const std::int32_t count = n.e.ints({static_cast<std::int64_t>(depth)});
    many = n.e.temporary(DType::i32, Ints{static_cast<std::int64_t>(depth)});
    n.e.add(Op::SLICE, {all, begin, count}, {many});
  }
  const std::int32_t is_negative = n.e.temporary(DType::boolean, shape), from_end = n.e.temporary(DType::i32, shape);
  n.e.add(Op::LESS, {raw, zero}, {is_negative});
  n.e.add(Op::ADD, {raw, many}, {from_end});
  const std::int32_t tuples = n.e.temporary(DType::i32, shape);
  n.e.add(Op::SELECT_V2, {is_negative, from_end, raw}, {tuples});
  return tuples;
}

std::int32_t shape_of(Emitter& e, std::int32_t tensor, std::size_t rank) {
  const std::int32_t sizes = e.temporary(DType::i32, Ints{static_cast<std::int64_t>(rank)});
  Options options(Op::SHAPE);
  options.set("out_type", TensorType::INT32);
  e.add(Op::SHAPE, {tensor}, {sizes}, options);
  return sizes;
}

namespace {

bool is_zero(const Tensor* t) {
  return t && std::ranges::all_of(t->bytes().span(), [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace

void emit_scatter_nd(NodeOut& n) {
  Emitter& e = n.e;
  const Shape& shape = n.shape();
  const std::int32_t tuples = index_tuples(n, 1, 0), updates = n.in(2);
  if (is_fixed(shape) && is_zero(n.constant(0))) {
    const std::int32_t sizes = e.ints(dims_of(shape));
    return e.add(Op::SCATTER_ND, {tuples, updates, sizes}, {n.out()});
  }
  const std::int32_t data = n.in(0);
  const std::int32_t sizes = is_fixed(shape) ? e.ints(dims_of(shape)) : shape_of(e, data, n.rank());
  const std::int32_t written = e.temporary(n.elem(), shape);
  e.add(Op::SCATTER_ND, {tuples, updates, sizes}, {written});
  if (n.attr("reduction", "none") == "add") return e.add(Op::ADD, {data, written}, {n.out()});
  // Which places were written: ones at the same places.
  const std::int32_t ones = e.temporary(DType::i32, n.shape(2)), one = e.index(1);
  const std::int32_t counts = is_fixed(n.shape(2)) ? e.ints(dims_of(n.shape(2))) : shape_of(e, updates, n.rank(2));
  e.add(Op::FILL, {counts, one}, {ones});
  const std::int32_t marks = e.temporary(DType::i32, shape), zero = e.index(0);
  e.add(Op::SCATTER_ND, {tuples, ones, sizes}, {marks});
  const std::int32_t is_written = e.temporary(DType::boolean, shape);
  e.add(Op::NOT_EQUAL, {marks, zero}, {is_written});
  e.add(Op::SELECT_V2, {is_written, written, data}, {n.out()});
}

Refused refuse_scatter_nd(const Node& n) {
  for (const std::size_t i : {0U, 1U, 2U})
    if (Refused why = needs_rank(n, i)) return why;
  const Shape& tuples = *n.input(1)->type.shape;
  if (tuples.empty() || !tuples.back().is_known() || tuples.back().value() < 1)
    return Refusal{Kind::unknown_size, "index tuples of no known length"};
  if (n.input(0)->type.shape->size() > 8) return Refusal{Kind::dimensions, "more than 8 dimensions"};
  const std::string reduction = n.attributes.string_or("reduction", "none");
  if (reduction != "none" && reduction != "add") return Refusal{Kind::attribute_value, "reduction '" + reduction + "'"};
  if (const Tensor* t = ops::constant_of(n.input(1)); t && reduction == "none") {
    // SCATTER_ND adds up where places repeat; ONNX does not say which update stays, others take the last.
    const auto depth = static_cast<std::size_t>(tuples.back().value());
    std::vector<Ints> rows;
    const Ints all = t->to_ints();
    for (std::size_t i = 0; i + depth <= all.size(); i += depth)
      rows.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(i),
                        all.begin() + static_cast<std::ptrdiff_t>(i + depth));
    std::ranges::sort(rows);
    if (std::ranges::adjacent_find(rows) != rows.end())
      return Refusal{Kind::structure, "places that are written twice"};
  }
  return needs_types(n, {DType::f32, DType::i32, DType::i64, DType::i8, DType::u8});
}

}  // namespace ingot::backends::tflite
