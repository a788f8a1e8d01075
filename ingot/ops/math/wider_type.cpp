// The same operator in a wider element type between two casts.
#include "ingot/ops/math/wider_type.h"

namespace ingot::ops {

Attrs attributes_of(const Node& node) {
  Attrs attrs;
  for (const Attribute& attribute : node.attributes) {
    const auto add = [&]<class T>(const T& value) {
      if constexpr (std::is_constructible_v<Attr, std::string_view, T>) attrs.emplace_back(attribute.name, value);
    };
    std::visit(add, attribute.value);
  }
  return attrs;
}

Values in_wider_type(DecomposeContext& c, DType narrow, DType wide) {
  Values inputs = c.node.inputs();
  bool is_any_cast = false;
  for (Value*& input : inputs) {
    if (!input || input->type.elem != narrow) continue;
    input = c.g.cast(input, wide);
    is_any_cast = true;
  }
  if (!is_any_cast) return {};
  Values outputs = c.g.op(Name(*find(c.node)), inputs, attributes_of(c.node), c.node.output_count());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!c.wants(i))
      outputs[i] = nullptr;
    else if (outputs[i]->type.elem == wide)
      outputs[i] = c.g.cast(outputs[i], narrow);
  }
  return outputs;
}

Values bfloat16_in_float(DecomposeContext& c) { return in_wider_type(c, DType::bf16, DType::f32); }

Values halves_in_float(DecomposeContext& c) {
  Values made = in_wider_type(c, DType::bf16, DType::f32);
  return made.empty() ? in_wider_type(c, DType::f16, DType::f32) : made;
}

Values small_integers_in_int32(DecomposeContext& c) {
  for (const DType narrow : {DType::i8, DType::i16, DType::u8, DType::u16})
    if (c.elem(0) == narrow) return in_wider_type(c, narrow, DType::i32);
  return {};
}

}  // namespace ingot::ops
