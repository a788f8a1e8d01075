// The table of operators that TFLite says in other ones.
#include "ingot/backends/tflite/rewrite.h"

#include <algorithm>

namespace ingot::backends::tflite {
namespace {

struct Row {
  std::string_view op;
  Values (*rewrite)(Rewriting&);
};

constexpr Row kRows[] = {
    {"Acos", rewrite_acos},
    {"Acosh", rewrite_acosh},
    {"ArgMax", rewrite_arg_extremum},
    {"ArgMin", rewrite_arg_extremum},
    {"Asin", rewrite_asin},
    {"Asinh", rewrite_asinh},
    {"Atan", rewrite_atan},
    {"Atanh", rewrite_atanh},
    {"AveragePool", rewrite_average_pool},
    {"BatchNormalization", rewrite_batch_normalization},
    {"BitShift", rewrite_bit_shift},
    {"BitwiseAnd", rewrite_bitwise_and},
    {"BitwiseOr", rewrite_bitwise_or},
    {"BitwiseXor", rewrite_bitwise_xor},
    {"Conv", rewrite_conv},
    {"ConvInteger", rewrite_conv_integer},
    {"Cosh", rewrite_cosh},
    {"Det", rewrite_det},
    {"Erf", rewrite_erf},
    {"EyeLike", rewrite_eye_like},
    {"Gather", rewrite_gather},
    {"GatherElements", rewrite_gather_elements},
    {"GatherND", rewrite_gather_nd},
    {"GlobalAveragePool", rewrite_global_average_pool},
    {"GlobalMaxPool", rewrite_global_max_pool},
    {"If", rewrite_if},
    {"Loop", rewrite_loop},
    {"MatMul", rewrite_matmul},
    {"MatMulInteger", rewrite_matmul_integer},
    {"MaxPool", rewrite_max_pool},
    {"Mod", rewrite_mod},
    {"Pad", rewrite_pad},
    {"Range", rewrite_range},
    {"ReduceL2", rewrite_float_reduction},
    {"ReduceLogSum", rewrite_float_reduction},
    {"ReduceLogSumExp", rewrite_float_reduction},
    {"Resize", rewrite_resize},
    {"Sinh", rewrite_sinh},
    {"Slice", rewrite_slice},
    {"Tan", rewrite_tan},
    {"Transpose", rewrite_transpose},
    {"TreeEnsemble", rewrite_tree_ensemble},
    {"Unique", rewrite_unique},
};
static_assert(std::ranges::is_sorted(kRows, {}, &Row::op), "keep the table sorted");

const Row* row_of(std::string_view op) {
  const auto* found = std::ranges::lower_bound(kRows, op, {}, &Row::op);
  return found != std::end(kRows) && found->op == op ? found : nullptr;
}

std::optional<std::vector<std::int64_t>> known_dims(const Value* v) {
  if (!v || !v->type.shape) return std::nullopt;
  std::vector<std::int64_t> dims;
  for (const Dim& d : *v->type.shape) {
    if (!d.is_known()) return std::nullopt;
    dims.push_back(d.value());
  }
  return dims;
}

}  // namespace

std::optional<std::vector<std::int64_t>> Rewriting::dims(std::size_t i) const { return known_dims(node.input(i)); }
std::optional<std::vector<std::int64_t>> Rewriting::out_dims(std::size_t i) const { return known_dims(node.output(i)); }

std::int64_t Rewriting::axis(std::int64_t fallback, std::size_t rank) const {
  const std::int64_t a = attr("axis", fallback);
  return a < 0 ? a + static_cast<std::int64_t>(rank) : a;
}

bool has_rewrite(std::string_view op) { return row_of(op) != nullptr; }

bool rewrite_node(Node& node, std::vector<std::string>& notes) {
  const bool is_known = node.domain.empty() || node.domain == "ai.onnx.ml";
  const Row* row = is_known ? row_of(node.op) : nullptr;
  if (!row) return false;
  GraphBuilder g(node.graph(), &node);
  g.name_after(node);
  Node* before = node.previous();
  Rewriting r{node, g, notes};
  const Values made = row->rewrite(r);
  if (!made.empty()) {
    replace_node(node, made);
    return true;
  }
  for (Node* n = node.previous(); n != before;) {  // what a refused attempt left behind
    Node* previous = n->previous();
    node.graph().erase(n);
    n = previous;
  }
  return false;
}

}  // namespace ingot::backends::tflite
