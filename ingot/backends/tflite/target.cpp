// TFLite as a target: its predicate, its rewrites, its types, its layout.
#include "ingot/backends/tflite/target.h"

#include <algorithm>

#include "ingot/backends/channels_last.h"
#include "ingot/backends/tflite/operators.h"
#include "ingot/ir/source_notes.h"
#include "ingot/ops/infer.h"
#include "ingot/passes/legalize/rewrites.h"

namespace ingot::backends::tflite {
namespace {

using passes::legalize::Rewrite;
using passes::legalize::Rewriting;
using passes::legalize::Target;

/// Whether a custom operator of a TFLite file comes back as what it was.
bool is_custom_again(const Node& node, const ExportOptions& options) {
  return std::ranges::any_of(options.allow_custom, [&](const std::string& allowed) {
    return comes_from(node, "CUSTOM:" + allowed) && !note_of(node.metadata, kCustomOptions).empty();
  });
}

Refused refusal_with(const Node& node, const ExportOptions& options) {
  if (is_custom_again(node, options)) return {};
  if (Refused why = refusal(node)) return why;
  if (!node.is("LSTM") || options.native_lstm || comes_from(node, "UNIDIRECTIONAL_SEQUENCE_LSTM")) return {};
  return Refusal{Kind::structure, "TFLite has it as an operator of its own only"};
}

/// A Resize by scales or sizes that are computed: its decomposition computes all sizes, which TFLite's kernels do not
/// survive.
bool keeps_sizes_open(const Node& node) {
  const auto is_computed = [&](std::size_t i) { return node.input(i) && !ops::constant_of(node.input(i)); };
  return node.is("Resize") && (is_computed(2) || is_computed(3));
}

/// PAD and STRIDED_SLICE have room for 5 axes.
constexpr Rewrite kOwnRewrites[] = {
    {"pad-of-5-axes", "Pad", [](Rewriting& r) { return passes::legalize::pad_within(r, 5); }},
    {"slice-of-5-axes", "Slice", [](Rewriting& r) { return passes::legalize::slice_within(r, 5); }},
};

}  // namespace

Target target_for(const ExportOptions& options) {
  Target target;
  target.title = "TFLite";
  target.refuses = [options](const Node& node) { return refusal_with(node, options); };
  target.has_port = [](const Type& type) { return tensor_type_of(type.elem).has_value(); };
  target.most_dimensions = 8;  // what the kernels have room for
  target.rewrites = {"arcs-by-series",
                     "areas-by-logarithm",
                     "batch-normalization-as-line",
                     "bits-by-arithmetic",
                     "conv-3d-in-groups",
                     "det-by-elimination",
                     "empty-product-as-zeros",
                     "erf-by-polynomial",
                     "eye-as-constant",
                     "fmod-of-integers",
                     "forest-by-tensors",
                     "gather-in-rows",
                     "global-pool-by-reduction",
                     "hyperbolic-by-exp",
                     "integer-products-in-float",
                     "known-branch",
                     "last-extremum-reversed",
                     "max-pool-with-places",
                     "pad-all-axes",
                     "pool-3d-in-two",
                     "range-in-int32",
                     "reductions-in-float",
                     "resize-by-matrices",
                     "resize-computed",
                     "tan-by-quotient",
                     "transpose-of-joined-axes",
                     "unique-slices-by-comparison",
                     "unrolled-loop",
                     "loop-gathers-in-state"};
  target.own_rewrites = kOwnRewrites;
  target.keeps_whole = keeps_sizes_open;
  target.keeps_computed = [](const Node& n) { return n.is("DequantizeLinear"); };
  target.casts = {{DType::f16, DType::f32, false}, {DType::bf16, DType::f32, false}, {DType::i8, DType::i32, false},
                  {DType::u8, DType::i32, false},  {DType::i16, DType::i32, false},  {DType::u16, DType::i32, false},
                  {DType::u32, DType::i64, false}, {DType::i64, DType::i32, true},   {DType::u64, DType::i64, true},
                  {DType::f64, DType::f32, true}};
  target.has_doubles = false;
  target.has_halves = false;
  target.has_infinities = false;
  target.has_defaults = false;
  target.layout.wanted = [](const Node& n) {
    return is_spatial(n) ? passes::Layout::channels_last : passes::Layout::channels_first;
  };
  target.layout.penalty = transpose_penalty;
  return target;
}

}  // namespace ingot::backends::tflite
