// The table of operators.
#include "ingot/frontends/tensorflow/table.h"

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

/// The ONNX operator of the same meaning.
template <const ops::OpDef& kDef> Values same(const TfNode& n, GraphBuilder& g) {
  return {g.op(ops::Name(kDef), n.inputs(), {}, 1)};
}

constexpr Translator kTable[] = {
#define INGOT_TF(op, function) {#op, function, nullptr},
#define INGOT_TF_OPERANDS(op, function) {#op, nullptr, function},
#define INGOT_TF_SAME(op, onnx) {#op, same<ops::defs::onnx>, nullptr},
#include "ingot/frontends/tensorflow/operators.def"
#undef INGOT_TF
#undef INGOT_TF_OPERANDS
#undef INGOT_TF_SAME
};
static_assert(std::ranges::is_sorted(kTable, {}, &Translator::op), "keep the table sorted");

constexpr std::string_view kCovered[] = {
#define INGOT_TF_COVERED(op) #op,
#include "ingot/frontends/tensorflow/covered.def"
#undef INGOT_TF_COVERED
};

}  // namespace

std::span<const Translator> all_translators() { return kTable; }

const Translator* find_translator(std::string_view op) {
  const auto row = std::ranges::lower_bound(kTable, op, {}, &Translator::op);
  return row != std::end(kTable) && row->op == op ? row : nullptr;
}

std::vector<std::string_view> supported_operators() {
  std::vector<std::string_view> names{"Exit", "Merge"};  // the loops and conditions that are found as wholes
  for (const Translator& row : kTable) names.push_back(row.op);
  std::ranges::sort(names);
  return names;
}

std::vector<std::string_view> covered_operators() { return {std::begin(kCovered), std::end(kCovered)}; }

}  // namespace ingot::frontends::tensorflow
