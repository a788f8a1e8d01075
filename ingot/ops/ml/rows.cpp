// What several operators of ai.onnx.ml infer alike.
#include "ingot/ops/ml/rows.h"

namespace ingot::ops {

Dim rows(const InferContext& c) {
  const auto rank = c.rank(0);
  if (!rank) return {};
  c.require(*rank == 1 || *rank == 2, "the input must have shape [N, C] or [C]");
  return *rank == 1 ? Dim(1) : c.dim(0, 0);
}

DType label_type(const Attributes& attributes, std::string_view strings) {
  const auto* texts = attributes.get<std::vector<std::string>>(strings);
  return texts && !texts->empty() ? DType::string : DType::i64;
}

std::size_t label_count(const Attributes& attributes, std::string_view strings, std::string_view ints) {
  const auto* texts = attributes.get<std::vector<std::string>>(strings);
  const auto* numbers = attributes.get<std::vector<std::int64_t>>(ints);
  return texts && !texts->empty() ? texts->size() : numbers ? numbers->size() : 0;
}

}  // namespace ingot::ops
