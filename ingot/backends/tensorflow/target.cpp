// TensorFlow and TF.js as targets: predicate, rewrites, types, layout.
#include "ingot/backends/tensorflow/target.h"

#include <algorithm>

#include "ingot/backends/channels_last.h"
#include "ingot/backends/tensorflow/operators.h"
#include "ingot/backends/tensorflow/quantized.h"
#include "ingot/ops/infer.h"
#include "ingot/passes/legalize/rewrites.h"

namespace ingot::backends::tensorflow {
namespace {

using passes::legalize::Rewrite;
using passes::legalize::Rewriting;
using passes::legalize::Target;

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
  target.refuses = [dialect, has_tables = options.has_tables](const Node& node) -> std::optional<Refusal> {
    if (!has_tables && node.is("LabelEncoder", "ai.onnx.ml"))
      return Refusal{Kind::unknown_operator, "the file cannot fill a table"};
    return refusal(node, dialect);
  };
  target.has_port = [dialect, is_ragged = options.has_ragged_ports](const Type& type) {
    bool is_list = is_ragged && type.kind == Type::Kind::sequence && type.element;
    // TF.js takes tensors apart into rows only, and forgets how long what it joins is.
    if (dialect == Dialect::tfjs) is_list = is_list && type.element->shape && type.element->shape->empty();
    const Type& tensor = is_list ? *type.element : type;
    return tensor.is_tensor() && tf::data_type_of(tensor.elem) != tf::DataType::invalid;
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
  if (dialect == Dialect::tensorflow) target.keeps_computed = holds_weights;
  target.layout.wanted = [](const Node& n) {
    return is_spatial(n) ? passes::Layout::channels_last : passes::Layout::channels_first;
  };
  target.layout.penalty = transpose_penalty;
  return target;
}

}  // namespace ingot::backends::tensorflow
