// Complex numbers: ONNX has them as pairs of floats in a last dimension, and only around Fourier transforms.
#include "ingot/frontends/tflite/translators.h"

namespace ingot::frontends::tflite {
namespace {

void part(Op& op, std::int64_t which) {
  Value* pairs = op.stored(0);
  Value* index = op.b.index(which);
  op.set(0, op.b.op("Gather", {pairs, index}, {{"axis", -1}}));
}

}  // namespace

void rfft_2d(Op& op) {
  const Ints lengths = op.ints(1, "the lengths of the transform");
  op.require(lengths.size() == 2 && lengths[0] > 0 && lengths[1] > 0, "two lengths are needed");
  Value* x = op.real(0);
  Value* pairs = op.b.unsqueeze(x, {-1});
  Value* width = op.b.index(lengths[1]);
  Value* across = op.b.index(-2);
  Value* rows = op.b.op("DFT", {pairs, width, across}, {{"onesided", 1}});
  Value* height = op.b.index(lengths[0]);
  Value* down = op.b.index(-3);
  op.set(0, op.b.op("DFT", {rows, height, down}));
}

void real_part(Op& op) { part(op, 0); }
void imaginary_part(Op& op) { part(op, 1); }

void complex_abs(Op& op) {
  Value* pairs = op.stored(0);
  Value* axes = op.b.ints({-1});
  op.set(0, op.b.op("ReduceL2", {pairs, axes}, {{"keepdims", 0}}));
}

void bitcast(Op& op) {
  Value* x = op.stored(0);
  op.require(bits_of(x->type.elem) == bits_of(op.out_dtype()), "only types of one width can be exchanged");
  op.set(0, op.b.op("BitCast", {x}, {{"to", op.out_dtype()}}));
}

}  // namespace ingot::frontends::tflite
