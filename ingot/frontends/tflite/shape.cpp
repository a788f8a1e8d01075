// Operators that move elements or say where they are: shapes, joins, splits, paddings.
#include <algorithm>
#include <limits>

#include "ingot/frontends/tflite/spatial.h"
#include "ingot/frontends/tflite/translators.h"

namespace ingot::frontends::tflite {
namespace {

Value* reshaped(Op& op, Value* x, const Ints& dims) {
  Value* shape = op.b.ints(dims);
  Attrs attrs;
  if (std::ranges::find(dims, 0) != dims.end()) attrs.emplace_back("allowzero", 1);
  return op.b.op("Reshape", {x, shape}, attrs);
}

/// Pads of TFLite, [rank, 2] with before and after of each axis, in ONNX's order: all befores, then all afters.
Value* pads_of(Op& op, std::size_t i) {
  if (const auto known = op.known_ints(i)) {
    Ints pads;
    op.require(known->size() % 2 == 0, "each axis has a padding before it and one behind it");
    for (std::size_t k = 0; k < known->size(); k += 2) pads.push_back((*known)[k]);
    for (std::size_t k = 1; k < known->size(); k += 2) pads.push_back((*known)[k]);
    return op.b.ints(pads);
  }
  Value* pairs = op.indices(i);
  Value* turned = op.b.transpose(pairs, {1, 0});
  return op.b.reshape(turned, {-1});
}

/// Whether the operator moves complex numbers, which stand as pairs along a last axis more.
bool takes_pairs(const Op& op) { return is_complex(dtype_for(op.tensor(0).type)); }
/// An axis of complex numbers as one of pairs.
std::int64_t before_pairs(std::int64_t axis) { return axis < 0 ? axis - 1 : axis; }

bool pads_integers(DType dtype) { return dtype == DType::i8 || dtype == DType::u8; }

}  // namespace

void reshape(Op& op) {
  const bool is_pairs = takes_pairs(op);
  if (op.has(1)) {
    if (auto dims = op.known_ints(1)) {
      if (is_pairs) dims->push_back(2);
      return op.move(0, [&](Value* x) { return reshaped(op, x, *dims); });
    }
    Value* shape = op.index_list(1);
    if (is_pairs) shape = op.b.concat({shape, op.b.ints({2})}, 0);
    return op.move(0, [&](Value* x) { return op.b.op("Reshape", {x, shape}, {{"allowzero", 1}}); });
  }
  const auto stated = op.options.get_ints("new_shape");
  Ints dims(stated.begin(), stated.end());
  if (dims == Ints{0}) dims.clear();  // how older files write a scalar
  if (is_pairs) dims.push_back(2);
  op.move(0, [&](Value* x) { return reshaped(op, x, dims); });
}

void squeeze(Op& op) {
  const auto stated = op.options.get_ints("squeeze_dims");
  Ints axes(stated.begin(), stated.end());
  if (takes_pairs(op))
    for (std::int64_t& axis : axes) axis = before_pairs(axis);
  op.move(0, [&](Value* x) { return axes.empty() ? op.b.op("Squeeze", {x}) : op.b.squeeze(x, axes); });
}

void expand_dims(Op& op) {
  const std::int64_t stated = op.integer(1, "the axis"), axis = takes_pairs(op) ? before_pairs(stated) : stated;
  op.move(0, [&](Value* x) { return op.b.unsqueeze(x, {axis}); });
}

void transpose(Op& op) {
  Ints perm = op.ints(1, "the permutation");
  if (takes_pairs(op)) perm.push_back(static_cast<std::int64_t>(perm.size()));
  op.move(0, [&](Value* x) { return op.b.transpose(x, perm); });
}

void concatenation(Op& op) {
  op.require(op.input_count() > 0, "there is nothing to join");
  const std::int64_t axis = op.options.get_int("axis");
  bool stays = op.options.get_enum<tfl::ActivationFunctionType>("fused_activation_function") ==
               tfl::ActivationFunctionType::NONE;
  for (std::size_t i = 0; i < op.input_count(); ++i) stays &= op.alike(op.tensor(i), op.out_tensor());
  Values xs;
  for (std::size_t i = 0; i < op.input_count(); ++i) xs.push_back(stays ? op.stored(i) : op.real(i));
  Value* y = op.b.concat(xs, axis);
  if (stays) return op.set(0, y);
  op.set_real(0, op.activated(y));
}

void pack(Op& op) {
  op.require(op.input_count() > 0, "there is nothing to pack");
  const std::int64_t axis = op.options.get_int("axis");
  bool stays = true;
  for (std::size_t i = 0; i < op.input_count(); ++i) stays &= op.alike(op.tensor(i), op.out_tensor());
  Values xs;
  for (std::size_t i = 0; i < op.input_count(); ++i) {
    Value* x = stays ? op.stored(i) : op.real(i);
    const std::int64_t rank = op.rank_of(x);
    xs.push_back(op.b.unsqueeze(x, {op.axis(axis, rank + 1)}));
  }
  Value* y = xs.size() == 1 ? xs[0] : op.b.concat(xs, op.axis(axis, op.rank_of(xs[0])));
  if (stays) return op.set(0, y);
  op.set_real(0, y);
}

namespace {

/// Sets all outputs to parts of input `from`, each through `finish`.
template <class Finish> void split_into(Op& op, std::size_t from, std::int64_t axis, Value* sizes, Finish finish) {
  bool stays = true;
  const std::size_t count = op.output_count();
  for (std::size_t i = 0; i < count; ++i) stays &= op.alike(op.tensor(from), op.out_tensor(i));
  Value* x = stays ? op.stored(from) : op.real(from);
  Values parts{x};
  if (count > 1) {
    Attrs attrs{{"axis", axis}};
    if (!sizes) attrs.emplace_back("num_outputs", static_cast<std::int64_t>(count));
    parts = op.b.op("Split", {x, sizes}, attrs, count);
  }
  for (std::size_t i = 0; i < count; ++i) {
    Value* part = finish(parts[i]);
    if (stays)
      op.set(i, part);
    else
      op.set_real(i, part);
  }
}

}  // namespace

void unpack(Op& op) {
  const std::int64_t axis = op.axis(op.options.get_int("axis"), op.rank(0));
  split_into(op, 0, axis, nullptr, [&](Value* part) { return op.b.squeeze(part, {axis}); });
}

void split(Op& op) {
  const std::int64_t axis = op.axis(op.integer(0, "the axis"), op.rank(1));
  split_into(op, 1, axis, nullptr, [](Value* part) { return part; });
}

void split_v(Op& op) {
  const std::int64_t axis = op.axis(op.integer(2, "the axis"), op.rank(0));
  Value* sizes = nullptr;
  if (auto known = op.known_ints(1)) {
    const auto open = std::ranges::find(*known, -1);
    if (open != known->end()) {
      const Value* x = op.stored(0);
      const bool has_axis = x->type.shape && static_cast<std::size_t>(axis) < x->type.shape->size();
      const auto whole = has_axis ? (*x->type.shape)[static_cast<std::size_t>(axis)].as_int() : std::nullopt;
      op.require(whole.has_value(), "the size of the axis that is split must be known");
      *open = *whole;
      for (auto s = known->begin(); s != known->end(); ++s)
        if (s != open) *open -= *s;
    }
    sizes = op.b.ints(*known);
  } else {
    sizes = op.index_list(1);
  }
  split_into(op, 0, axis, sizes, [](Value* part) { return part; });
}

void shape_of(Op& op) {
  Value* dims = op.b.shape(op.stored(0));
  op.set(0, op.b.cast(dims, op.out_dtype()));
}

void rank_of(Op& op) {
  Value* dims = op.b.shape(op.stored(0));
  Value* count = op.b.op("Size", {dims});
  op.set(0, op.b.cast(count, op.out_dtype()));
}

void fill(Op& op) {
  Value* shape = op.index_list(0);
  op.move(1, [&](Value* x) { return op.b.op("Expand", {x, shape}); });
}

void zeros_like(Op& op) {
  Value* shape = op.b.shape(op.stored(0));
  const DType type = op.out_dtype();
  const Tensor zero = Tensor::scalar(0.0, type).reshaped({1});
  op.set(0, op.b.op("ConstantOfShape", {shape}, {{"value", zero}}));
}

void range(Op& op) {
  Values limits;
  for (std::size_t i = 0; i < 3; ++i) {
    Value* x = op.stored(i);
    if (!x->type.shape || !x->type.shape->empty()) x = op.b.reshape(x, {});
    limits.push_back(x);
  }
  op.set(0, op.b.op("Range", limits));
}

void tile(Op& op) {
  Value* repeats = op.index_list(1);
  op.move(0, [&](Value* x) { return op.b.op("Tile", {x, repeats}); });
}

void broadcast_to(Op& op) {
  Value* shape = op.index_list(1);
  op.move(0, [&](Value* x) { return op.b.op("Expand", {x, shape}); });
}

void broadcast_args(Op& op) {
  Value* a = op.index_list(0);
  Value* c = op.index_list(1);
  const auto length = [&](const Value* v) { return v->type.shape ? (*v->type.shape)[0].as_int() : std::nullopt; };
  const auto first = length(a), second = length(c);
  op.require(first && second, "the lengths of the shapes must be known");
  const auto padded = [&](Value* v, std::int64_t missing) {
    if (missing <= 0) return v;
    Value* ones = op.b.ints(Ints(static_cast<std::size_t>(missing), 1));
    return op.b.concat({ones, v}, 0);
  };
  a = padded(a, *second - *first);
  c = padded(c, *first - *second);
  Value* one = op.b.index(1);
  Value* is_one = op.b.op("Equal", {a, one});
  Value* both = op.b.where(is_one, c, a);
  op.set(0, op.b.cast(both, op.out_dtype()));
}

void pad(Op& op) {
  Value* pads = pads_of(op, 1);
  const bool has_value = op.has(2);
  const bool stays = op.alike(op.tensor(0), op.out_tensor()) &&
                     (!op.is_quantized(0) || pads_integers(op.out_dtype())) &&
                     (!has_value || op.alike(op.tensor(2), op.out_tensor()));
  if (stays) {
    Value* x = op.stored(0);
    Value* filler = nullptr;
    if (has_value) {
      filler = op.stored(2);
      if (!filler->type.shape || !filler->type.shape->empty()) filler = op.b.reshape(filler, {});
    } else if (op.is_quantized(0)) {
      const tfl::Quantization& q = *op.tensor(0).quantization;
      const double zero = q.zero_point.empty() ? 0.0 : static_cast<double>(q.zero_point[0]);
      filler = op.b.constant(integer_tensor(float_tensor({}, {zero}), op.out_dtype()));
    }
    return op.set(0, op.b.op("Pad", {x, pads, filler}));
  }
  Value* x = op.real(0);
  Value* filler = has_value ? op.real(2) : nullptr;
  if (filler && (!filler->type.shape || !filler->type.shape->empty())) filler = op.b.reshape(filler, {});
  op.set_real(0, op.b.op("Pad", {x, pads, filler}));
}

bool repeats_edge(const Op& op) {
  return op.options.get_enum<tfl::MirrorPadMode>("mode") == tfl::MirrorPadMode::SYMMETRIC;
}

void mirror_pad(Op& op) {
  if (op.options.get_enum<tfl::MirrorPadMode>("mode") == tfl::MirrorPadMode::REFLECT) {
    Value* pads = pads_of(op, 1);
    return op.move(0, [&](Value* x) { return op.b.op("Pad", {x, pads, nullptr}, {{"mode", "reflect"}}); });
  }
  // The border is repeated, which Pad does not know: reversed slices are joined on.
  const Ints pairs = op.ints(1, "the padding");
  op.move(0, [&](Value* x) {
    for (std::size_t axis = 0; axis * 2 + 1 < pairs.size(); ++axis) {
      const std::int64_t before = pairs[2 * axis], after = pairs[2 * axis + 1];
      Value* axes = op.b.ints({static_cast<std::int64_t>(axis)});
      Value* back = op.b.ints({-1});
      Values parts;
      if (before > 0) {
        Value* start = op.b.ints({before - 1});
        Value* end = op.b.ints({std::numeric_limits<std::int64_t>::min()});
        parts.push_back(op.b.op("Slice", {x, start, end, axes, back}));
      }
      parts.push_back(x);
      if (after > 0) {
        Value* start = op.b.ints({-1});
        Value* end = op.b.ints({-1 - after});
        parts.push_back(op.b.op("Slice", {x, start, end, axes, back}));
      }
      if (parts.size() > 1) x = op.b.concat(parts, static_cast<std::int64_t>(axis));
    }
    return x;
  });
}

void depth_to_space(Op& op) {
  const std::int64_t size = op.options.get_int("block_size");
  op.move(0, [&](Value* input) {
    Value* x = channels_first(op.b, input);
    Value* y = op.b.op("DepthToSpace", {x}, {{"blocksize", size}});
    return channels_last(op.b, y);
  });
}

void space_to_depth(Op& op) {
  const std::int64_t size = op.options.get_int("block_size");
  op.move(0, [&](Value* input) {
    Value* x = channels_first(op.b, input);
    Value* y = op.b.op("SpaceToDepth", {x}, {{"blocksize", size}});
    return channels_last(op.b, y);
  });
}

namespace {

/// A size that is asked for: a number, or that of an axis, divided and multiplied.
struct Size {
  std::int64_t number = 0;
  std::optional<std::size_t> axis = std::nullopt;
  std::int64_t over = 1, times = 1;

  /// Where it is known for an input of this shape.
  std::optional<std::int64_t> of(const Op& op, const Shape& shape) const {
    if (!axis) return number;
    const auto size = shape[*axis].as_int();
    if (!size) return std::nullopt;
    op.require(*size % over == 0, "the blocks do not divide the input");
    return *size / over * times;
  }
};

/// `x` with sizes that are told by those of `like`.
Value* resized(Op& op, Value* x, Value* like, const std::vector<Size>& sizes) {
  const Shape& shape = *like->type.shape;
  Ints dims;
  for (const Size& size : sizes) dims.push_back(size.of(op, shape).value_or(-1));
  if (std::ranges::count(dims, -1) <= 1) return op.b.reshape(x, dims);
  Value* all = op.b.shape(like);
  Values parts;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Value* part = op.b.ints({dims[i]});
    if (dims[i] < 0) {
      part = op.b.op("Gather", {all, op.b.ints({static_cast<std::int64_t>(*sizes[i].axis)})}, {{"axis", 0}});
      if (sizes[i].over != 1) part = op.b.div(part, op.b.ints({sizes[i].over}));
      if (sizes[i].times != 1) part = op.b.mul(part, op.b.ints({sizes[i].times}));
    }
    parts.push_back(part);
  }
  Value* wanted = op.b.concat(parts, 0);
  return op.b.op("Reshape", {x, wanted}, {{"allowzero", 1}});
}

void require_blocks(const Op& op, const Ints& blocks, const Ints& pairs, std::int64_t rank) {
  op.require(pairs.size() == 2 * blocks.size() && rank > std::ssize(blocks), "the block sizes do not fit the input");
  op.require(std::ranges::all_of(blocks, [](std::int64_t b) { return b > 0 && b <= 1 << 20; }),
             "a block size is out of range");
}

std::int64_t product_of(const Op& op, const Ints& blocks) {
  std::int64_t product = 1;
  for (const std::int64_t block : blocks) {
    product *= block;
    op.require(product <= 1 << 30, "the blocks are too large");
  }
  return product;
}

}  // namespace

void space_to_batch(Op& op) {
  const Ints blocks = op.ints(1, "the block sizes");
  const Ints pairs = op.ints(2, "the padding");
  op.move(0, [&](Value* x) {
    const auto rank = static_cast<std::size_t>(op.rank_of(x));
    const std::size_t spatial = blocks.size();
    require_blocks(op, blocks, pairs, static_cast<std::int64_t>(rank));
    Ints pads(2 * rank, 0);
    for (std::size_t i = 0; i < spatial; ++i) {
      pads[i + 1] = pairs[2 * i];
      pads[rank + i + 1] = pairs[2 * i + 1];
    }
    if (std::ranges::any_of(pads, [](std::int64_t p) { return p != 0; })) {
      Value* amounts = op.b.ints(pads);
      Value* filler = nullptr;
      if (op.is_quantized(0) && x == op.stored(0)) {
        const tfl::Quantization& q = *op.tensor(0).quantization;
        const double zero = q.zero_point.empty() ? 0.0 : static_cast<double>(q.zero_point[0]);
        filler = op.b.constant(integer_tensor(float_tensor({}, {zero}), x->type.elem));
      }
      x = op.b.op("Pad", {x, amounts, filler});
    }
    std::vector<Size> apart{{.axis = 0}}, joined{{.axis = 0, .times = product_of(op, blocks)}};
    Ints perm;
    for (std::size_t i = 0; i < spatial; ++i) {
      apart.push_back({.axis = i + 1, .over = blocks[i]});
      apart.push_back({.number = blocks[i]});
      joined.push_back({.axis = i + 1, .over = blocks[i]});
      perm.push_back(static_cast<std::int64_t>(2 * i + 2));
    }
    perm.push_back(0);
    for (std::size_t i = 0; i < spatial; ++i) perm.push_back(static_cast<std::int64_t>(2 * i + 1));
    for (std::size_t i = spatial + 1; i < rank; ++i) {
      perm.push_back(static_cast<std::int64_t>(i + spatial));
      apart.push_back({.axis = i});
      joined.push_back({.axis = i});
    }
    return resized(op, op.b.transpose(resized(op, x, x, apart), perm), x, joined);
  });
}

void batch_to_space(Op& op) {
  if (dilated_conv(op)) return;
  const Ints blocks = op.ints(1, "the block sizes");
  const Ints pairs = op.ints(2, "the crops");
  op.move(0, [&](Value* x) {
    const auto rank = static_cast<std::size_t>(op.rank_of(x));
    const std::size_t spatial = blocks.size();
    require_blocks(op, blocks, pairs, static_cast<std::int64_t>(rank));
    const Size batch{.axis = 0, .over = product_of(op, blocks)};
    std::vector<Size> apart, joined{batch};
    Ints perm{static_cast<std::int64_t>(spatial)};
    for (const std::int64_t block : blocks) apart.push_back({.number = block});
    apart.push_back(batch);
    for (std::size_t i = 0; i < spatial; ++i) {
      apart.push_back({.axis = i + 1});
      joined.push_back({.axis = i + 1, .times = blocks[i]});
      perm.push_back(static_cast<std::int64_t>(spatial + 1 + i));
      perm.push_back(static_cast<std::int64_t>(i));
    }
    for (std::size_t i = spatial + 1; i < rank; ++i) {
      apart.push_back({.axis = i});
      joined.push_back({.axis = i});
      perm.push_back(static_cast<std::int64_t>(i + spatial));
    }
    x = resized(op, op.b.transpose(resized(op, x, x, apart), perm), x, joined);
    Ints starts, ends, axes;
    for (std::size_t i = 0; i < spatial; ++i) {
      if (!pairs[2 * i] && !pairs[2 * i + 1]) continue;
      axes.push_back(static_cast<std::int64_t>(i + 1));
      starts.push_back(pairs[2 * i]);
      ends.push_back(pairs[2 * i + 1] ? -pairs[2 * i + 1] : std::numeric_limits<std::int64_t>::max());
    }
    if (axes.empty()) return x;
    Value* first = op.b.ints(starts);
    Value* last = op.b.ints(ends);
    Value* along = op.b.ints(axes);
    return op.b.op("Slice", {x, first, last, along});
  });
}

void reverse(Op& op) {
  const Ints axes = op.ints(1, "the axes");
  const std::size_t count = axes.size();
  op.move(0, [&](Value* x) {
    Value* starts = op.b.ints(Ints(count, -1));
    Value* ends = op.b.ints(Ints(count, std::numeric_limits<std::int64_t>::min()));
    Value* along = op.b.ints(axes);
    Value* steps = op.b.ints(Ints(count, -1));
    return op.b.op("Slice", {x, starts, ends, along, steps});
  });
}

void reverse_sequence(Op& op) {
  const std::int64_t rank = op.rank(0);
  const std::int64_t time = op.axis(op.options.get_int("seq_dim"), rank);
  const std::int64_t batch = op.axis(op.options.get_int("batch_dim"), rank);
  Value* lengths = op.index_list(1);
  op.move(0, [&](Value* x) {
    if (time <= 1 && batch <= 1)
      return op.b.op("ReverseSequence", {x, lengths}, {{"time_axis", time}, {"batch_axis", batch}});
    Ints perm{batch, time}, back(static_cast<std::size_t>(rank));
    for (std::int64_t i = 0; i < rank; ++i)
      if (i != time && i != batch) perm.push_back(i);
    for (std::size_t i = 0; i < perm.size(); ++i)
      back[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
    Value* turned = op.b.transpose(x, perm);
    Value* reversed = op.b.op("ReverseSequence", {turned, lengths}, {{"time_axis", 1}, {"batch_axis", 0}});
    return op.b.transpose(reversed, back);
  });
}

void dilate(Op& op) {
  const Ints factors = op.ints(1, "the dilations");
  Value* filler = op.stored(2);
  if (!filler->type.shape || !filler->type.shape->empty()) filler = op.b.reshape(filler, {});
  Value* x = op.stored(0);
  for (std::size_t axis = 0; axis < factors.size(); ++axis) {
    if (factors[axis] <= 1) continue;
    const auto dims = static_dims(x->type.shape);
    op.require(dims.has_value(), "the sizes of the input must be known");
    op.require(axis < dims->size(), "there are more dilations than axes");
    const std::size_t rank = dims->size();
    Value* apart = op.b.unsqueeze(x, {static_cast<std::int64_t>(axis) + 1});
    Ints pads(2 * (rank + 1), 0);
    pads[rank + 1 + axis + 1] = factors[axis] - 1;
    Value* amounts = op.b.ints(pads);
    Value* padded = op.b.op("Pad", {apart, amounts, filler});
    Ints joined = *dims;
    joined[axis] *= factors[axis];
    Value* merged = op.b.reshape(padded, joined);
    Value* start = op.b.ints({0});
    Value* end = op.b.ints({std::max<std::int64_t>((*dims)[axis] - 1, 0) * factors[axis] + 1});
    Value* along = op.b.ints({static_cast<std::int64_t>(axis)});
    x = op.b.op("Slice", {merged, start, end, along});
  }
  op.set(0, x);
}

}  // namespace ingot::frontends::tflite
