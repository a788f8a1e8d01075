// The ranks that operators ask of their inputs.
#include "ingot/frontends/tensorflow/known_ranks.h"

#include <algorithm>
#include <array>

namespace ingot::frontends::tensorflow {
namespace {

struct Line {
  std::string_view op;
  std::array<std::uint8_t, 4> ranks;  // of the inputs in order; 0: any
};

constexpr Line kLines[] = {
    {"AvgPool", {4}},
    {"AvgPool3D", {5}},
    {"Conv2D", {4, 4}},
    {"Conv2DBackpropInput", {1, 4, 4}},
    {"Conv3D", {5, 5}},
    {"Conv3DBackpropInputV2", {1, 5, 5}},
    {"CropAndResize", {4, 2, 1, 1}},
    {"DepthToSpace", {4}},
    {"DepthwiseConv2dNative", {4, 4}},
    {"Dilation2D", {4, 3}},
    {"ExtractImagePatches", {4}},
    {"FusedBatchNorm", {4}},
    {"FusedBatchNormV2", {4}},
    {"FusedBatchNormV3", {4}},
    {"FusedDepthwiseConv2dNative", {4, 4}},
    {"FusedPadConv2D", {4, 2, 4}},
    {"FusedResizeAndPadConv2D", {4, 1, 2, 4}},
    {"LRN", {4}},
    {"MatMul", {2, 2}},
    {"MaxPool", {4}},
    {"MaxPool3D", {5}},
    {"MaxPoolV2", {4, 1, 1}},
    {"MaxPoolWithArgmax", {4}},
    {"NonMaxSuppression", {2, 1}},
    {"NonMaxSuppressionV2", {2, 1}},
    {"NonMaxSuppressionV3", {2, 1}},
    {"NonMaxSuppressionV4", {2, 1}},
    {"NonMaxSuppressionV5", {2, 1}},
    {"QuantizedConv2D", {4, 4}},
    {"ResizeArea", {4, 1}},
    {"ResizeBicubic", {4, 1}},
    {"ResizeBilinear", {4, 1}},
    {"ResizeNearestNeighbor", {4, 1}},
    {"SegmentMax", {0, 1}},
    {"SegmentMean", {0, 1}},
    {"SegmentSum", {0, 1}},
    {"SpaceToDepth", {4}},
    {"SparseSoftmaxCrossEntropyWithLogits", {2, 1}},
    {"_FusedConv2D", {4, 4}},
    {"_FusedMatMul", {2, 2}},
};
static_assert(std::ranges::is_sorted(kLines, {}, &Line::op), "lines ascend by name");

/// The input that has the rank of the node's output, of this many axes; null: none must.
Value* source_of_rank(const Node& node, std::size_t rank) {
  constexpr std::string_view kSame[] = {
      "Abs",      "Cast",      "Ceil", "Clip",       "Dropout",  "Elu",      "Erf",        "Exp",  "Floor",
      "Identity", "LeakyRelu", "Log",  "LogSoftmax", "Neg",      "Pad",      "Reciprocal", "Relu", "Round",
      "Selu",     "Sigmoid",   "Sign", "Softmax",    "Softplus", "Softsign", "Sqrt",       "Tanh"};
  constexpr std::string_view kBinary[] = {"Add", "Div", "Mul", "Sub"};
  if (!node.domain.empty()) return nullptr;
  if (std::ranges::find(kSame, node.op) != std::end(kSame)) return node.input(0);
  if (std::ranges::find(kBinary, node.op) == std::end(kBinary)) return nullptr;
  // Of two that are broadcast, the one that is not the smaller.
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    const Value* other = node.input(1 - i);
    if (other && other->type.shape && other->type.shape->size() < rank) return node.input(i);
  }
  return nullptr;
}

bool state_rank(Value* v, std::size_t rank) {
  bool is_news = false;
  while (v && v->type.is_tensor() && !v->type.shape) {
    const bool is_inner_input = v->is_input() && v->graph().parent();  // its type is agreed with the node around
    if (is_inner_input) break;
    Shape shape(rank);
    if (v->is_input())
      for (std::size_t i = 0; i < rank; ++i) shape[i] = Dim::symbol(v->name() + "_" + std::to_string(i));
    v->type.shape = std::move(shape);
    is_news = true;
    v = v->producer() ? source_of_rank(*v->producer(), rank) : nullptr;
  }
  return is_news;
}

}  // namespace

bool state_ranks(const tf::NodeDef& def, const Operands& inputs) {
  const auto line = std::ranges::lower_bound(kLines, std::string_view(def.op), {}, &Line::op);
  if (line == std::end(kLines) || line->op != def.op) return false;
  // Normalisation also takes volumes.
  const tf::AttrValue* format = def.find("data_format");
  const auto* letters = format ? std::get_if<std::string>(format) : nullptr;
  if (letters && letters->size() != line->ranks[0]) return false;
  bool is_news = false;
  for (std::size_t i = 0; i < std::min(inputs.size(), line->ranks.size()); ++i)
    if (line->ranks[i]) is_news |= state_rank(inputs[i].value, line->ranks[i]);
  return is_news;
}

}  // namespace ingot::frontends::tensorflow
