// Which function translates which operator.
#include "ingot/frontends/tensorflow/operator_table.h"

#include <algorithm>

#include "ingot/frontends/tensorflow/import.h"

namespace ingot::frontends::tensorflow {

#define INGOT_TF(op, function) Values function(const TfNode&, GraphBuilder&);
#define INGOT_TF_OPERANDS(op, function) Operands function(const TfNode&, GraphBuilder&);
#define INGOT_TF_SAME(op, onnx)
#include "ingot/frontends/tensorflow/operators.def"
#undef INGOT_TF
#undef INGOT_TF_OPERANDS
#undef INGOT_TF_SAME

namespace {

/// Most translators make values of values; those that deal in handles and functions make operands.
template <Values (*kTranslate)(const TfNode&, GraphBuilder&)> Operands of_values(const TfNode& n, GraphBuilder& g) {
  Operands made;
  for (Value* value : kTranslate(n, g)) made.push_back({value});
  return made;
}

/// The ONNX operator of the same meaning.
template <const ops::OpDef& kDef> Operands same(const TfNode& n, GraphBuilder& g) {
  return {{g.op(ops::Name(kDef), n.inputs(), {}, 1).front()}};
}

constexpr Row kRows[] = {
#define INGOT_TF(op, function) {#op, of_values<function>},
#define INGOT_TF_OPERANDS(op, function) {#op, function},
#define INGOT_TF_SAME(op, onnx) {#op, same<ops::defs::onnx>},
#include "ingot/frontends/tensorflow/operators.def"
#undef INGOT_TF
#undef INGOT_TF_OPERANDS
#undef INGOT_TF_SAME
};
static_assert(is_sorted_table<Row>(kRows), "rows ascend by name, each once");

constexpr std::string_view kCovered[] = {
#define INGOT_TF_COVERED(op) #op,
#include "ingot/frontends/tensorflow/covered.def"
#undef INGOT_TF_COVERED
};

}  // namespace

std::span<const Row> all_rows() { return kRows; }

const Row* find_row(std::string_view op) { return find_translator<Row>(kRows, op); }

std::vector<std::string_view> supported_operators() {
  std::vector<std::string_view> names{"Exit", "Merge"};  // the loops and conditions that are found as wholes
  for (const Row& row : kRows) names.push_back(row.name);
  std::ranges::sort(names);
  return names;
}

std::vector<std::string_view> covered_operators() { return {std::begin(kCovered), std::end(kCovered)}; }

}  // namespace ingot::frontends::tensorflow
