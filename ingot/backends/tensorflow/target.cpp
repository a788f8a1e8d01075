// TensorFlow and TF.js as targets: predicate, rewrites, types, layout.
#include "ingot/backends/tensorflow/target.h"

#include <algorithm>

#include "ingot/backends/tensorflow/operators.h"
#include "ingot/ops/infer.h"
#include "ingot/passes/layout/axes.h"
#include "ingot/passes/legalize/rewrites.h"

namespace ingot::backends::tensorflow {
namespace {

using passes::legalize::Rewrite;
using passes::legalize::Rewriting;
using passes::legalize::Target;

constexpr std::string_view kSpatial[] = {"AveragePool", "Conv",    "ConvTranspose", "DepthToSpace",
                                         "LRN",         "MaxPool", "SpaceToDepth"};

std::int64_t bytes_of(const Value* v) {
  std::int64_t n = 4;
  for (const Dim& d : *v->type.shape) n *= std::clamp<std::int64_t>(d.as_int().value_or(64), 1, 1 << 16);
  return n;
}

/// Operators that TensorFlow has for the last axis only, or for channels last only, bring two transposes with them.
std::int64_t penalty(const Node& node, std::span<const std::int64_t> perm) {
  const Value* x = node.input(0);
  if (!x || !x->type.shape || x->type.shape->size() != perm.size()) return 0;
  const passes::Perm order(perm.begin(), perm.end());
  const auto last = static_cast<std::int64_t>(perm.size()) - 1;
  if (node.is("Softmax") || node.is("LogSoftmax") || node.is("TopK"))
    return passes::moved_axis(order, node.attributes.int_or("axis", -1)) == last ? 0 : 2 * bytes_of(x);
  if (node.is("Resize")) {
    const Shape &in = *x->type.shape, &out = *node.output(0)->type.shape;
    const auto channels = static_cast<std::size_t>(order.back());
    return same(in[channels], out[channels]) ? 0 : 2 * bytes_of(x);
  }
  return 0;
}

/// What only ONNX has.
constexpr std::string_view kRewrites[] = {"batch-normalization-as-line",
                                          "conv-3d-in-groups",
                                          "eye-as-constant",
                                          "fmod-of-integers",
                                          "forest-by-tensors",
                                          "gather-in-rows",
                                          "global-pool-by-reduction",
                                          "known-branch",
                                          "last-extremum-reversed",
                                          "max-pool-with-places",
                                          "pad-all-axes",
                                          "resize-by-matrices",
                                          "resize-computed",
                                          "unique-slices-by-comparison",
                                          "integer-products-in-float"};

/// Bits by arithmetic, where the 32 bits of TF.js's integers have room for it.
template <Values (*rewrite)(Rewriting&)> Values of_few_bits(Rewriting& r) {
  const DType type = r.elem();
  const bool is_short = type == DType::i8 || type == DType::u8 || type == DType::i16 || type == DType::u16;
  return is_short ? rewrite(r) : Values{};
}

/// What TF.js lacks of TensorFlow.
constexpr Rewrite kTfjsOwnRewrites[] = {
    {"few-bits-by-arithmetic", "BitShift", of_few_bits<passes::legalize::rewrite_bit_shift>},
    {"few-bits-by-arithmetic", "BitwiseAnd", of_few_bits<passes::legalize::rewrite_bitwise_and>},
    {"few-bits-by-arithmetic", "BitwiseOr", of_few_bits<passes::legalize::rewrite_bitwise_or>},
    {"few-bits-by-arithmetic", "BitwiseXor", of_few_bits<passes::legalize::rewrite_bitwise_xor>},
};
constexpr std::string_view kTfjsRewrites[] = {"det-by-elimination", "loop-gathers-in-state"};

}  // namespace

Target target_for(const ExportOptions& options) {
  const Dialect dialect = options.dialect;
  Target target;
  target.title = dialect == Dialect::tfjs ? "TF.js" : "TensorFlow";
  target.refuses = [dialect](const Node& node) { return refusal(node, dialect); };
  target.has_port = [](const Type& type) {
    return type.is_tensor() && tf::data_type_of(type.elem) != tf::DataType::invalid;
  };
  target.rewrites.assign(std::begin(kRewrites), std::end(kRewrites));
  if (dialect == Dialect::tensorflow) target.rewrites.push_back("small-floats-by-cast");
  if (dialect == Dialect::tfjs) target.own_rewrites = kTfjsOwnRewrites;
  if (dialect == Dialect::tfjs)
    target.rewrites.insert(target.rewrites.end(), std::begin(kTfjsRewrites), std::end(kTfjsRewrites));
  target.casts = {{DType::f16, DType::f32, false}, {DType::bf16, DType::f32, false}, {DType::i8, DType::i32, false},
                  {DType::u8, DType::i32, false},  {DType::i16, DType::i32, false},  {DType::u16, DType::i32, false},
                  {DType::u32, DType::i64, false}, {DType::u64, DType::i64, true},   {DType::f64, DType::f32, true}};
  target.has_defaults = false;
  target.layout.wanted = [](const Node& n) {
    return std::ranges::binary_search(kSpatial, n.op) ? passes::Layout::channels_last : passes::Layout::channels_first;
  };
  target.layout.penalty = penalty;
  return target;
}

}  // namespace ingot::backends::tensorflow
