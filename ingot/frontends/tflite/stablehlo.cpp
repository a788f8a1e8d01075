// The StableHLO operators that TFLite files may hold.
#include <algorithm>
#include <limits>

#include "ingot/frontends/tflite/translators.h"

namespace ingot::frontends::tflite {
namespace {

Ints listed(const Op& op, const char* field) {
  const auto values = op.options.get_ints(field);
  return Ints(values.begin(), values.end());
}

}  // namespace

void hlo_clamp(Op& op) {
  Value* least = op.stored(0);
  Value* x = op.stored(1);
  Value* most = op.stored(2);
  Value* bounded = op.b.op("Max", {x, least});
  op.set(0, op.b.op("Min", {bounded, most}));
}

void hlo_concatenate(Op& op) {
  Values xs;
  for (std::size_t i = 0; i < op.input_count(); ++i) xs.push_back(op.stored(i));
  op.set(0, op.b.concat(xs, op.options.get_int("dimension")));
}

void hlo_reshape(Op& op) {
  const Ints& dims = op.out_tensor().shape;
  Value* shape = op.b.ints(dims);
  op.set(0, op.b.op("Reshape", {op.stored(0), shape}, {{"allowzero", std::ranges::find(dims, 0) != dims.end()}}));
}

void hlo_broadcast_in_dim(Op& op) {
  const Ints places = listed(op, "broadcast_dimensions");
  const Ints& out = op.out_tensor().shape;
  const Ints& in = op.tensor(0).shape;
  op.require(places.size() == in.size(), "the dimensions do not fit the input");
  op.require(std::ranges::is_sorted(places), "dimensions in another order have no counterpart");
  Ints apart(out.size(), 1);
  for (std::size_t i = 0; i < places.size(); ++i) {
    op.require(places[i] >= 0 && places[i] < static_cast<std::int64_t>(out.size()),
               "a dimension is none of the result's");
    apart[static_cast<std::size_t>(places[i])] = in[i];
  }
  Value* x = op.b.reshape(op.stored(0), apart);
  Value* shape = op.b.ints(out);
  op.set(0, op.b.op("Expand", {x, shape}));
}

void hlo_slice(Op& op) {
  Value* starts = op.b.ints(listed(op, "start_indices"));
  Value* ends = op.b.ints(listed(op, "limit_indices"));
  const Ints strides = listed(op, "strides");
  Ints axes;
  for (std::size_t i = 0; i < strides.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  Value* along = op.b.ints(axes);
  Value* steps = op.b.ints(strides);
  op.set(0, op.b.op("Slice", {op.stored(0), starts, ends, along, steps}));
}

void hlo_dynamic_slice(Op& op) {
  const Ints sizes = listed(op, "slice_sizes");
  const auto whole = op.dims(0);
  op.require(whole && whole->size() == sizes.size(), "the sizes must be known");
  Values starts;
  Ints most, axes;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Value* start = op.index_list(i + 1);
    starts.push_back(start);
    most.push_back((*whole)[i] - sizes[i]);
    axes.push_back(static_cast<std::int64_t>(i));
  }
  Value* asked = starts.size() == 1 ? starts[0] : op.b.concat(starts, 0);
  Value* limit = op.b.ints(most);
  Value* bounded = op.b.op("Min", {asked, limit});
  Value* zero = op.b.index(0);
  Value* first = op.b.op("Max", {bounded, zero});
  Value* lengths = op.b.ints(sizes);
  Value* last = op.b.add(first, lengths);
  Value* along = op.b.ints(axes);
  op.set(0, op.b.op("Slice", {op.stored(0), first, last, along}));
}

void hlo_transpose(Op& op) { op.set(0, op.b.transpose(op.stored(0), listed(op, "permutation"))); }

void hlo_iota(Op& op) {
  const Ints& dims = op.out_tensor().shape;
  const auto axis =
      static_cast<std::size_t>(op.axis(op.options.get_int("iota_dimension"), static_cast<std::int64_t>(dims.size())));
  Value* zero = op.b.index(0);
  Value* limit = op.b.index(dims[axis]);
  Value* one = op.b.index(1);
  Value* numbers = op.b.op("Range", {zero, limit, one});
  numbers = op.b.cast(numbers, op.out_dtype());
  Ints apart(dims.size(), 1);
  apart[axis] = dims[axis];
  Value* spread = op.b.reshape(numbers, apart);
  Value* shape = op.b.ints(dims);
  op.set(0, op.b.op("Expand", {spread, shape}));
}

void hlo_compare(Op& op) {
  using tfl::StablehloComparisonDirection;
  Value* x = op.stored(0);
  Value* y = op.stored(1);
  Value* answer = nullptr;
  switch (op.options.get_enum<StablehloComparisonDirection>("comparison_direction")) {
    case StablehloComparisonDirection::EQ:
      answer = op.b.op("Equal", {x, y});
      break;
    case StablehloComparisonDirection::NE: {
      Value* equal = op.b.op("Equal", {x, y});
      answer = op.b.op("Not", {equal});
      break;
    }
    case StablehloComparisonDirection::GE:
      answer = op.b.op("GreaterOrEqual", {x, y});
      break;
    case StablehloComparisonDirection::GT:
      answer = op.b.op("Greater", {x, y});
      break;
    case StablehloComparisonDirection::LE:
      answer = op.b.op("LessOrEqual", {x, y});
      break;
    case StablehloComparisonDirection::LT:
      answer = op.b.op("Less", {x, y});
      break;
    default:
      op.refuse("the comparison is unknown");
  }
  op.set(0, answer);
}

void hlo_remainder(Op& op) {
  // The sign of the dividend.
  Value* x = op.stored(0);
  Value* y = op.stored(1);
  op.set(0, op.b.op("Mod", {x, y}, {{"fmod", 1}}));
}

void hlo_and(Op& op) {
  Value* x = op.stored(0);
  Value* y = op.stored(1);
  const bool is_truth = x->type.elem == DType::boolean;
  op.set(0, is_truth ? op.b.op("And", {x, y}) : op.b.op("BitwiseAnd", {x, y}));
}

void hlo_or(Op& op) {
  Value* x = op.stored(0);
  Value* y = op.stored(1);
  const bool is_truth = x->type.elem == DType::boolean;
  op.set(0, is_truth ? op.b.op("Or", {x, y}) : op.b.op("BitwiseOr", {x, y}));
}

void hlo_cbrt(Op& op) {
  Value* x = op.stored(0);
  Value* size = op.b.op("Abs", {x});
  Value* third = op.b.scalar(1.0 / 3.0, x->type.elem);
  Value* root = op.b.op("Pow", {size, third});
  Value* sign = op.b.op("Sign", {x});
  op.set(0, op.b.mul(root, sign));
}

void hlo_shift_left(Op& op) {
  Value* x = op.b.cast(op.stored(0), DType::i64);
  Value* by = op.b.cast(op.stored(1), DType::i64);
  Value* two = op.b.scalar(2, DType::i64);
  Value* power = op.b.op("Pow", {two, by});
  Value* shifted = op.b.mul(x, power);
  op.set(0, op.b.cast(shifted, op.out_dtype()));
}

void hlo_pad(Op& op) {
  Ints low = listed(op, "edge_padding_low"), high = listed(op, "edge_padding_high");
  const Ints between = listed(op, "interior_padding");
  op.require(std::ranges::all_of(between, [](std::int64_t p) { return p == 0; }),
             "padding between elements has no counterpart");
  low.insert(low.end(), high.begin(), high.end());
  Value* pads = op.b.ints(low);
  Value* filler = op.b.reshape(op.stored(1), {});
  op.set(0, op.b.op("Pad", {op.stored(0), pads, filler}));
}

void hlo_dot_general(Op& op) {
  const Ints batch_a = listed(op, "lhs_batching_dimensions"), batch_b = listed(op, "rhs_batching_dimensions");
  const Ints sum_a = listed(op, "lhs_contracting_dimensions"), sum_b = listed(op, "rhs_contracting_dimensions");
  const std::int64_t rank_a = op.rank(0), rank_b = op.rank(1);
  op.require(rank_a + rank_b <= 26 && batch_a.size() == batch_b.size() && sum_a.size() == sum_b.size(),
             "the dimensions do not belong together");
  // Batch dimensions first, then what is left of each side: an Einsum says just that.
  std::string a(static_cast<std::size_t>(rank_a), '?'), b(static_cast<std::size_t>(rank_b), '?'), out;
  char next = 'a';
  for (std::size_t i = 0; i < batch_a.size(); ++i, ++next) {
    a.at(static_cast<std::size_t>(batch_a[i])) = next;
    b.at(static_cast<std::size_t>(batch_b[i])) = next;
    out += next;
  }
  for (std::size_t i = 0; i < sum_a.size(); ++i, ++next) {
    a.at(static_cast<std::size_t>(sum_a[i])) = next;
    b.at(static_cast<std::size_t>(sum_b[i])) = next;
  }
  for (std::string* side : {&a, &b})
    for (char& letter : *side)
      if (letter == '?') out += letter = next++;
  Value* x = op.real(0);
  Value* y = op.real(1);
  op.set_real(0, op.b.op("Einsum", {x, y}, {{"equation", a + "," + b + "->" + out}}));
}

void hlo_reduce(Op& op) {
  // The body is one operator, as a rule: that names the reduction.
  const auto index = static_cast<std::size_t>(op.options.get_int("body_subgraph_index"));
  op.require(op.output_count() == 1 && index < op.import.source.subgraphs.size(), "only one value can be reduced");
  const tfl::SubGraph& body = op.import.source.subgraphs[index];
  op.require(body.operators.size() == 1, "a reduction by several operators has no counterpart");
  const std::string type = tfl::describe(body.operators[0].code);
  Value* x = op.stored(0);
  Value* axes = op.b.ints(listed(op, "dimensions"));
  const Attrs attrs{{"keepdims", 0}};
  Value* start = op.stored(1);
  Value* y = nullptr;
  if (type == "STABLEHLO_ADD" || type == "ADD") {
    y = op.b.op("ReduceSum", {x, axes}, attrs);
    y = op.b.add(y, start);
  } else if (type == "STABLEHLO_MULTIPLY" || type == "MUL") {
    y = op.b.op("ReduceProd", {x, axes}, attrs);
    y = op.b.mul(y, start);
  } else if (type == "STABLEHLO_MAXIMUM" || type == "MAXIMUM") {
    y = op.b.op("ReduceMax", {x, axes}, attrs);
    y = op.b.op("Max", {y, start});
  } else if (type == "STABLEHLO_MINIMUM" || type == "MINIMUM") {
    y = op.b.op("ReduceMin", {x, axes}, attrs);
    y = op.b.op("Min", {y, start});
  } else {
    op.refuse("a reduction by " + type + " has no counterpart");
  }
  op.set(0, y);
}

}  // namespace ingot::frontends::tflite
