// TensorFlow and TF.js as targets: predicate, rewrites, types, layout.
#include "ingot/backends/tensorflow/target.h"

#include <algorithm>
#include <numeric>

#include "ingot/backends/channels_last.h"
#include "ingot/backends/tensorflow/operators.h"
#include "ingot/backends/tensorflow/quantized.h"
#include "ingot/backends/tensorflow/tables.h"
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

/// A text is compared with all keys, where no table can be filled. The value of what is no key stands behind the
/// others.
Values compared_with_keys(Rewriting& r) {
  const auto encoding = encoding_of(r.node);
  if (!encoding || !r.in()->type.shape) return {};
  GraphBuilder& g = r.g;
  const auto axis = static_cast<std::int64_t>(r.rank()), count = encoding->keys.size();
  Value* is_key = g.op("Equal", {g.unsqueeze(r.in(), {axis}), g.constant(encoding->keys.reshaped({count}))});
  Value* numbers = g.cast(is_key, DType::f32);
  Value* place = g.op("ArgMax", {numbers}, {{"axis", axis}, {"keepdims", 0}});
  Value* found = g.cast(g.op("ReduceMax", {numbers, g.ints({axis})}, {{"keepdims", 0}}), DType::boolean);
  Value* values = g.constant(encoding->values.reshaped({count}));
  Value* all = g.concat({values, g.constant(encoding->fallback.reshaped({1}))}, 0);
  return {g.op("Gather", {all, g.where(found, place, g.index(count))})};
}
constexpr Rewrite kOwnRewrites[] = {{"texts-by-comparison", "LabelEncoder", compared_with_keys, "ai.onnx.ml"}};

/// Each row's own steps, the first so many of them backwards.
Values reverse_by_gathering(Rewriting& r) {
  const std::size_t rank = r.rank();
  if (rank < 2) return {};
  GraphBuilder& g = r.g;
  std::vector<std::int64_t> perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  if (r.attr("batch_axis", 1) != 0) std::swap(perm[0], perm[1]);
  Value* x = g.transpose(r.in(), perm);
  Value *sizes = g.shape(x), *second = g.index(1);
  Value* steps = g.op("Range", {g.index(0), g.op("Gather", {sizes, second}), g.index(1)});
  Value* counts = g.unsqueeze(r.in(1), {1});
  Value* is_turned = g.op("Less", {steps, counts});
  Value* places = g.where(is_turned, g.sub(g.sub(counts, 1), steps), steps);
  return {g.transpose(g.op("GatherND", {x, g.unsqueeze(places, {2})}, {{"batch_dims", 1}}), perm)};
}

/// What TF.js lacks of TensorFlow.
constexpr Rewrite kTfjsOwnRewrites[] = {
    {"few-bits-by-arithmetic", "BitShift", of_few_bits<passes::legalize::rewrite_bit_shift>},
    {"few-bits-by-arithmetic", "BitwiseAnd", of_few_bits<passes::legalize::rewrite_bitwise_and>},
    {"few-bits-by-arithmetic", "BitwiseOr", of_few_bits<passes::legalize::rewrite_bitwise_or>},
    {"few-bits-by-arithmetic", "BitwiseXor", of_few_bits<passes::legalize::rewrite_bitwise_xor>},
    {"reverse-by-gathering", "ReverseSequence", reverse_by_gathering},
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
  if (dialect == Dialect::tensorflow) {
    target.rewrites.push_back("small-floats-by-cast");
    target.own_rewrites = kOwnRewrites;
  }
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
