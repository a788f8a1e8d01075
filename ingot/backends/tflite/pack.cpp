// PACK and UNPACK, which ONNX says with Unsqueeze and Concat, Split and Squeeze.
#include "ingot/backends/tflite/pack.h"

#include <algorithm>

#include "ingot/backends/tflite/links.h"

namespace ingot::backends::tflite {
namespace {

using Op = BuiltinOperator;
using fmt_tflite::Operator;
using fmt_tflite::SubGraph;
using fmt_tflite::Tensor;

bool is_reshape(const Operator& op) {
  return op.code.builtin == Op::RESHAPE || op.code.builtin == Op::EXPAND_DIMS || op.code.builtin == Op::SQUEEZE;
}

bool has_kernel(TensorType type) {
  return type == TensorType::FLOAT32 || type == TensorType::INT32 || type == TensorType::INT64 ||
         type == TensorType::INT8 || type == TensorType::UINT8;
}

/// `whole` is `part` with an axis of size 1 more.
bool adds_axis(const Tensor& part, const Tensor& whole, std::int64_t axis) {
  if (!part.shape_signature.empty() || !whole.shape_signature.empty()) return false;
  std::vector<std::int64_t> shape = part.shape;
  if (axis < 0 || static_cast<std::size_t>(axis) > shape.size()) return false;
  shape.insert(shape.begin() + axis, 1);
  return shape == whole.shape && part.type == whole.type && part.quantization == whole.quantization;
}

class Packer {
 public:
  explicit Packer(SubGraph& graph) : graph_(graph), links_(graph), reader_(graph.tensors.size(), nullptr) {
    for (Operator& op : graph_.operators)
      for (const std::int32_t t : op.inputs)
        if (t >= 0) reader_[static_cast<std::size_t>(t)] = &op;
  }

  void run() {
    for (Operator& op : graph_.operators) {
      if (op.code.builtin == Op::CONCATENATION) pack(op);
      if (op.code.builtin == Op::SPLIT_V) unpack(op);
    }
  }

 private:
  Tensor& tensor(std::int32_t i) { return graph_.tensors[static_cast<std::size_t>(i)]; }

  void pack(Operator& op) {
    const std::int64_t axis = op.options.get_int("axis");
    if (op.inputs.size() < 2 || !has_kernel(tensor(op.outputs[0]).type)) return;
    std::vector<std::int32_t> parts;
    for (const std::int32_t t : op.inputs) {
      const int i = links_.maker[static_cast<std::size_t>(t)];
      const Operator* reshape = i < 0 ? nullptr : &graph_.operators[static_cast<std::size_t>(i)];
      if (!reshape || !is_reshape(*reshape) || links_.readers[static_cast<std::size_t>(t)] != 1) return;
      if (!adds_axis(tensor(reshape->inputs[0]), tensor(t), axis)) return;
      parts.push_back(reshape->inputs[0]);
    }
    Options options(Op::PACK);
    options.set("values_count", static_cast<std::int64_t>(parts.size())).set("axis", axis);
    op.code = {.builtin = Op::PACK, .custom = {}, .version = 1};
    op.inputs = std::move(parts);
    op.options = std::move(options);
  }

  void unpack(Operator& op) {
    if (op.outputs.size() < 2 || !has_kernel(tensor(op.outputs[0]).type)) return;
    std::vector<std::int32_t> parts;
    std::int64_t axis = -1;
    for (const std::int32_t t : op.outputs) {
      Operator* reshape = reader_[static_cast<std::size_t>(t)];
      if (!reshape || !is_reshape(*reshape) || links_.readers[static_cast<std::size_t>(t)] != 1) return;
      const std::int32_t part = reshape->outputs[0];
      if (axis < 0) axis = axis_of(tensor(op.inputs[0]), tensor(t));
      if (axis < 0 || !adds_axis(tensor(part), tensor(t), axis)) return;
      parts.push_back(part);
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
      // What made the part reads the slice no longer: it makes a tensor that nobody reads.
      Operator& reshape = *reader_[static_cast<std::size_t>(op.outputs[i])];
      reshape.outputs[0] = op.outputs[i];
      reshape.inputs[0] = parts[i];
    }
    Options options(Op::UNPACK);
    options.set("num", static_cast<std::int64_t>(parts.size())).set("axis", axis);
    op.code = {.builtin = Op::UNPACK, .custom = {}, .version = 1};
    op.inputs.resize(1);
    op.outputs = std::move(parts);
    op.options = std::move(options);
  }

  /// The one axis in which a slice is 1 and the whole is not; -1: there is none, or it is not clear.
  static std::int64_t axis_of(const Tensor& whole, const Tensor& slice) {
    if (whole.shape.size() != slice.shape.size()) return -1;
    std::int64_t axis = -1;
    for (std::size_t i = 0; i < whole.shape.size(); ++i) {
      if (whole.shape[i] == slice.shape[i]) continue;
      if (axis >= 0 || slice.shape[i] != 1) return -1;
      axis = static_cast<std::int64_t>(i);
    }
    return axis;
  }

  SubGraph& graph_;
  Links links_;
  std::vector<Operator*> reader_;
};

}  // namespace

void pack(fmt_tflite::SubGraph& graph) { Packer(graph).run(); }

}  // namespace ingot::backends::tflite
