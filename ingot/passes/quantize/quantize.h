#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "ingot/base/dtype.h"
#include "ingot/ir/opaque_model.h"

namespace ingot::passes {

enum class QuantizeMethod : std::uint8_t {
  ranges,   // activations by ranges that were seen, weights by their values
  dynamic,  // activations by the ranges that each run has
  weights,  // weights alone: they are stored small and computed with as floats
};

enum class QuantizeForm : std::uint8_t {
  qdq,      // float operators between QuantizeLinear and DequantizeLinear, which runtimes fuse
  integer,  // operators that take integers: QLinearConv ..., MatMulInteger, MatMulNBits
};

struct ValueRange {
  double least = 0, most = 0;   // of the finite numbers
  bool has_infinities = false;  // beside them
};
using ValueRanges = std::unordered_map<std::string, ValueRange>;

struct QuantizeOptions {
  QuantizeMethod method = QuantizeMethod::ranges;
  QuantizeForm form = QuantizeForm::qdq;
  DType activations = DType::i8, weights = DType::i8;
  bool is_per_channel = true;  // each output channel of a weight has a scale of its own
  bool is_symmetric = false;   // activations too: their zero point is in the middle
  bool is_narrow = false;      // weights have 7 bits: sums of pairs of products fit 16 bits
  int bits = 8;                // of weights where they alone are quantised: 8 or 4
  std::int64_t block = 0;      // elements that share a scale there, along the axis that is summed over; 0: a channel
  std::vector<std::string> only{}, exclude{};  // operators ("Op", "Op:domain") and names of nodes
};

/// A value that is quantised: its name in the float model, and the name that it has, dequantised, in the other.
struct QuantizedValue {
  std::string node, op, value, quantized;
};
struct QuantizedWeight {
  std::string name;
  std::uint64_t bytes_before = 0, bytes_after = 0;
  double noise = 0;  // of the signal, in decibels; more is better
};
struct FloatNode {
  std::string node, op, reason;
};
struct QuantizeReport {
  std::size_t quantized = 0;  // nodes
  std::vector<QuantizedValue> values;
  std::vector<QuantizedWeight> weights;
  std::vector<FloatNode> kept;  // of those that the method is for, and why
};

/// The values whose ranges `quantize` needs, by name; none unless it goes by ranges. The model must be canonical, with
/// types inferred.
std::vector<std::string> values_to_watch(const Model& model, const QuantizeOptions& options);

/// Changes the main graph of a canonical model, with types inferred; names of inputs and outputs stay, and their types.
QuantizeReport quantize(Model& model, const QuantizeOptions& options, const ValueRanges& ranges = {});

}  // namespace ingot::passes
