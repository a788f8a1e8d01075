// CategoryMapper: strings to integers and back.
#include "ingot/ops/catalog.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

using Strings = std::vector<std::string>;
using Ints = std::vector<std::int64_t>;

void infer(InferContext& c) {
  const auto* ints = c.attr_ints("cats_int64s");
  const auto* strings = c.node().attributes.get<Strings>("cats_strings");
  if (ints && strings && ints->size() != strings->size()) c.fail("the lists of integers and strings differ in length");
  if (c.elem(0) == DType::string) c.out_elem(0, DType::i64);
  if (c.elem(0) == DType::i64) c.out_elem(0, DType::string);
  c.out_shape_like(0, 0);
}

/// LabelEncoder says the same with names for both sides.
Values decompose(DecomposeContext& c) {
  const auto* ints = c.node.attributes.get<Ints>("cats_int64s");
  const auto* strings = c.node.attributes.get<Strings>("cats_strings");
  if (!ints || !strings || ints->size() != strings->size()) return {};
  if (c.elem(0) == DType::string)
    return {c.g.op("LabelEncoder", {c.in(0)},
                   {{"keys_strings", *strings},
                    {"values_int64s", *ints},
                    {"default_int64", c.attr("default_int64", std::int64_t{-1})}})};
  if (c.elem(0) == DType::i64)
    return {c.g.op("LabelEncoder", {c.in(0)},
                   {{"keys_int64s", *ints},
                    {"values_strings", *strings},
                    {"default_string", c.attr("default_string", "_Unused")}})};
  return {};
}

}  // namespace

constinit const OpDef defs::CategoryMapper = {
    .name = "CategoryMapper",
    .domain = "ai.onnx.ml",
    .infer = infer,
    .decompose = decompose,
};

}  // namespace ingot::ops
