// Products of matrices, and normalisation over channels.
#include <algorithm>

#include "ingot/frontends/tflite/spatial.h"
#include "ingot/frontends/tflite/translators.h"

namespace ingot::frontends::tflite {

void fully_connected(Op& op) {
  op.require(op.options.get_enum<tfl::FullyConnectedOptionsWeightsFormat>("weights_format") ==
                 tfl::FullyConnectedOptionsWeightsFormat::DEFAULT,
             "shuffled weights are an internal format");
  const Ints& dims = op.tensor(1).shape;
  op.require(dims.size() == 2, "the weights must be a matrix");
  const std::int64_t depth = dims[1], units = dims[0];
  op.note_dynamic_range(1, 0);
  const bool keeps = op.options.get_bool("keep_num_dims");
  const auto& shape = op.stored(0)->type.shape;
  const bool fits = shape && !shape->empty() && shape->back().as_int() == depth;
  // ONNX Runtime 1.30 makes a Gemm of MatMul and Add by reshapes of its own, and then cannot take back a
  // DequantizeLinear before them: integers are reshaped here.
  const auto open_sizes = std::ranges::count_if(op.out_tensor().shape_signature, [](std::int64_t d) { return d < 0; });
  const bool reshapes = op.is_quantized(0) && op.has(2) && open_sizes < 2;
  const bool keeps_rank = keeps && fits && shape->size() != 2 && !reshapes;
  Value* x = op.real_moved(0, [&](Value* v) {
    return keeps_rank || (fits && shape->size() == 2) ? v : op.b.reshape(v, {-1, depth});
  });
  Value* bias = op.bias(2, 0, 1);
  Value* y = nullptr;
  if (keeps_rank) {
    Value* w = op.weights(1, {1, 0});
    y = op.b.op("MatMul", {x, w});
    if (bias) y = op.b.add(y, bias);
  } else {
    Value* w = op.is_quantized(1) || op.frame.resolved(op.input(1)) != op.input(1) ? op.real(1) : op.stored(1);
    y = op.activated(op.b.op("Gemm", {x, w, bias}, {{"transB", 1}}));
    if (keeps) {
      const Ints& target = op.out_tensor().shape;
      op.require(!target.empty() && target.back() == units, "the result does not have the size that the weights give");
      Ints wanted = target;
      for (std::size_t i = 0; i < wanted.size() && op.out_tensor().shape_signature.size() == wanted.size(); ++i)
        wanted[i] = op.out_tensor().shape_signature[i];
      // Integers are reshaped here too: the product stands beside its QuantizeLinear.
      const bool is_quantized = op.frame.is_quantized(op.out_tensor());
      if (wanted.size() != 2 && is_quantized)
        return op.set(0, op.b.reshape(op.frame.quantize(y, op.out_tensor()), wanted));
      if (wanted.size() != 2) y = op.b.reshape(y, wanted);
    }
    return op.set_real(0, y);
  }
  op.set_real(0, op.activated(y));
}

bool has_two_widths(const Op& op) {
  return op.is_quantized(0) && op.is_quantized(1) && op.tensor(0).type != op.tensor(1).type;
}

void batch_matmul(Op& op) {
  const auto turned = [&](std::size_t i, bool turns) {
    Value* x = op.real(i);
    if (!turns) return x;
    const std::int64_t rank = op.rank_of(x);
    Ints perm;
    for (std::int64_t k = 0; k < rank; ++k) perm.push_back(k);
    op.require(rank >= 2, "matrices are needed");
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    return op.frame.weights(op.input(i), perm);
  };
  op.note_dynamic_range(1, 0);
  Value* x = turned(0, op.options.get_bool("adj_x"));
  Value* y = turned(1, op.options.get_bool("adj_y"));
  op.set_real(0, op.b.op("MatMul", {x, y}));
}

void local_response_normalization(Op& op) {
  const std::int64_t size = 2 * op.options.get_int("radius") + 1;
  Value* x = spatial_input(op, 0);
  Value* y = op.b.op("LRN", {x},
                     {{"alpha", op.options.get_float("alpha") * static_cast<float>(size)},
                      {"beta", op.options.get_float("beta")},
                      {"bias", op.options.get_float("bias")},
                      {"size", size}});
  set_spatial(op, y);
}

}  // namespace ingot::frontends::tflite
