// Element types that an attribute states by its number.
#include "ingot/ops/math/type_attribute.h"

#include "ingot/ops/schema.h"

namespace ingot::ops {

void out_elem_from_attribute(InferContext& c, std::string_view name, DType absent) {
  const Attribute* attribute = c.node().attributes.find(name);
  if (attribute && attribute->is_reference()) return;
  if (!attribute) {
    if (absent != DType::undefined) c.out_elem(0, absent);
    return;
  }
  const auto* number = std::get_if<std::int64_t>(&attribute->value);
  if (!number || !is_valid_dtype(*number)) c.fail("attribute '" + std::string(name) + "' is no element type");
  const auto elem = static_cast<DType>(*number);
  const Schema* schema = newest_schema(c.node().domain, c.node().op);
  if (schema && !schema->outputs[0].type->allows(Type::tensor(elem)))
    c.fail("the output cannot be of type " + std::string(name_of(elem)));
  c.out_elem(0, elem);
}

}  // namespace ingot::ops
