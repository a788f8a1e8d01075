// Operations of keras.ops that put elements into arrays, take parts of them out, or sum them up in groups.
#include <algorithm>

#include "ingot/frontends/keras/operand.h"
#include "ingot/frontends/keras/tensorflow_node.h"
#include "ingot/frontends/keras/translators.h"

namespace ingot::frontends::keras {
namespace {

/// Places as one list of int64, whose entries may be computed one by one.
IrValue* places_argument(Call& call, std::size_t place, const char* name) {
  const Argument* stated = argument_of(call, place, {name});
  call.require(stated != nullptr, "it is called without one of its arguments");
  if (stated->tensor || has_tensor(*stated)) return sizes_of(call, *stated);
  return call.b.cast(operand_named(call, place, {name}, DType::i64), DType::i64);
}

}  // namespace

/// Values at places of zeros; those of one place are added.
void op_scatter(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* places = b.cast(operand_named(call, 0, {"indices"}, DType::i32), DType::i64);
  IrValue* values = operand_named(call, 1, {"values"}, DType::undefined);
  const Ints sizes = ints_of(setting(call, 2, {"shape"}));
  call.require(!sizes.empty(), "it does not say in which shape");
  IrValue* zeros = b.op("Expand", {number_like(b, values, 0), b.ints(sizes)});
  call.set(b.op("ScatterND", {zeros, places, values}, {{"reduction", "add"}}));
}

void op_scatter_update(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = first(call);
  IrValue* places = b.cast(operand_named(call, 1, {"indices"}, DType::i32), DType::i64);
  IrValue* values = b.cast(operand_named(call, 2, {"updates"}, x->type.elem), x->type.elem);
  std::string how(setting(call, 3, {"reduction"}).text());
  if (how.empty()) how = "none";
  const bool is_known = how == "none" || how == "add" || how == "max" || how == "min" || how == "mul";
  if (!is_known) call.refuse("the reduction '" + how + "' has no translation");
  call.set(b.op("ScatterND", {x, places, values}, {{"reduction", how}}));
}

void op_slice(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = first(call);
  IrValue* from = places_argument(call, 1, "start_indices");
  const Ints sizes = ints_of(setting(call, 2, {"shape"}));
  call.require(static_cast<std::int64_t>(sizes.size()) == rank_needed(call, x), "its shape does not fit the input");
  call.set(b.op("Slice", {x, from, b.add(from, b.ints(sizes))}));
}

/// A part of an array replaced.
void op_slice_update(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = first(call);
  IrValue* from = places_argument(call, 1, "start_indices");
  IrValue* part = b.cast(operand_named(call, 2, {"updates"}, x->type.elem), x->type.elem);
  IrValue* behind = b.sub(b.sub(b.shape(x), from), b.shape(part));
  IrValue* pads = b.concat({from, behind}, 0);
  IrValue* is_part = b.cast(b.op("Pad", {b.cast(filled_like(b, part, 1), DType::i32), pads}), DType::boolean);
  call.set(b.where(is_part, b.op("Pad", {part, pads}), x));
}

/// "SegmentSum", "SegmentMax", "SegmentMin", "SegmentProd": of rows that belong together.
void op_segments(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = operand_named(call, 0, {"data"}, DType::undefined);
  IrValue* groups = b.cast(operand_named(call, 1, {"segment_ids"}, DType::i32), DType::i32);
  const auto stated = setting(call, 2, {"num_segments"}).as_int();
  formats::tensorflow::NodeDef node;
  node.op = "Unsorted" + call.layer.class_name;
  node.attrs.push_back({"T", formats::tensorflow::data_type_of(x->type.elem)});
  NodeInput count;
  if (stated) {
    call.require(*stated >= 0 && *stated < (std::int64_t{1} << 31), "its number of groups is impossible");
    count.constant = Tensor::scalar<std::int32_t>(static_cast<std::int32_t>(*stated));
  } else {
    count.tensor = b.add(b.op("ReduceMax", {groups}, {{"keepdims", 0}}), 1);
  }
  call.set(translate_node(call, std::move(node), {{.tensor = x}, {.tensor = groups}, count}, 1)[0]);
}

/// Parts of one length, each some steps after the one before, along the last axis.
void op_extract_sequences(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = first(call);
  const std::int64_t length = setting(call, 1, {"sequence_length"}).as_int().value_or(0);
  const std::int64_t stride = setting(call, 2, {"sequence_stride"}).as_int().value_or(0);
  call.require(length > 0 && stride > 0 && length < (1 << 24) && stride < (1 << 24),
               "its length or stride is impossible");
  IrValue* whole = b.sub(size_of(b, x, -1), static_cast<double>(length));
  IrValue* count = b.add(b.div(whole, static_cast<double>(stride)), 1);
  IrValue* starts = b.mul(counted(b, b.op("Max", {count, b.index(0)})), static_cast<double>(stride));
  IrValue* places = b.add(b.unsqueeze(starts, {1}), counted(b, b.index(length)));
  call.set(b.op("Gather", {x, places}, {{"axis", -1}}));
}

}  // namespace ingot::frontends::keras
