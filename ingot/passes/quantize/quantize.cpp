// Floats to integers, in one of three ways.
#include "ingot/passes/quantize/quantize.h"

#include "ingot/base/error.h"
#include "ingot/ir/drop_unread.h"
#include "ingot/passes/quantize/ranged.h"

namespace ingot::passes {
namespace {

void refuse_what_cannot_be(const QuantizeOptions& options) {
  const auto refuse = [](const std::string& why, const std::string& hint) {
    throw Error(Code::bad_usage, why).hint(hint);
  };
  if (options.bits != 8 && options.bits != 4) refuse("weights have 8 or 4 bits", "--bits 8 or --bits 4");
  if (options.block < 0) refuse("a block has a size above 0", "--block 32");
  if (options.method == QuantizeMethod::weights) return;
  if (options.bits != 8) refuse("only weights alone have 4 bits", "--method weights --bits 4");
  if (options.block) refuse("only weights alone have blocks", "--method weights --block 32");
  if (options.method == QuantizeMethod::dynamic && options.form == QuantizeForm::qdq)
    refuse("ranges that are found at run time need operators of integers", "--form integer");
}

}  // namespace

std::vector<std::string> values_to_watch(const Model& model, const QuantizeOptions& options) {
  std::vector<std::string> names;
  if (options.method == QuantizeMethod::ranges)
    for (const Value* v : quantize_parts::values_with_ranges(*model.graph, options)) names.push_back(v->name());
  return names;
}

QuantizeReport quantize(Model& model, const QuantizeOptions& options, const ValueRanges& ranges) {
  refuse_what_cannot_be(options);
  QuantizeReport report;
  switch (options.method) {
    case QuantizeMethod::ranges:
      report = quantize_parts::quantize_by_ranges(*model.graph, options, ranges);
      if (options.form == QuantizeForm::integer) quantize_parts::to_integer_operators(model);
      break;
    case QuantizeMethod::dynamic:
      report = quantize_parts::quantize_dynamically(*model.graph, options);
      break;
    case QuantizeMethod::weights:
      report = quantize_parts::quantize_weights(model, options);
      break;
  }
  drop_unread(*model.graph);
  return report;
}

}  // namespace ingot::passes
