// CategoryMapper: strings to integers and back.
#include <algorithm>
#include <unordered_map>

#include "ingot/ops/catalog.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/kernel.h"
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

template <class From, class To>
void map_all(KernelContext& c, const std::vector<From>& keys, const std::vector<To>& values, const To& absent) {
  std::unordered_map<From, std::size_t> places;
  for (std::size_t i = 0; i < keys.size(); ++i) places.try_emplace(keys[i], i);
  Array& y = c.make(0, dtype_of<To>, c.in(0).dims());
  std::ranges::transform(c.in(0).data<From>(), y.mutable_data<To>().begin(), [&](const From& key) {
    const auto it = places.find(key);
    return it == places.end() ? absent : values[it->second];
  });
}

void run(KernelContext& c) {
  const auto* ints = c.node.attributes.get<Ints>("cats_int64s");
  const auto* strings = c.node.attributes.get<Strings>("cats_strings");
  if (!ints || !strings || ints->size() != strings->size())
    c.fail("the lists of integers and strings differ in length");
  if (c.in(0).dtype() == DType::string)
    map_all(c, *strings, *ints, c.attr("default_int64", std::int64_t{-1}));
  else
    map_all(c, *ints, *strings, c.attr("default_string", "_Unused"));
}

}  // namespace

constinit const OpDef defs::CategoryMapper = {
    .name = "CategoryMapper",
    .domain = "ai.onnx.ml",
    .infer = infer,
    .decompose = decompose,
    .kernel = run,
};

}  // namespace ingot::ops
