// What is known of a value that comes from one of several places.
#include "ingot/ops/controlflow/merge_types.h"

namespace ingot::ops {
namespace {

// Takes over element types that are not known in one of the two.
void share_elements(Type& a, Type& b) {
  if (a.kind != b.kind) return;
  if (a.elem == DType::undefined) a.elem = b.elem;
  if (b.elem == DType::undefined) b.elem = a.elem;
  if (!a.element || !b.element || a.inner().kind != b.inner().kind) return;
  Type x = a.inner(), y = b.inner();
  share_elements(x, y);
  a.element = std::make_shared<const Type>(std::move(x));
  b.element = std::make_shared<const Type>(std::move(y));
}

}  // namespace

Type without_shapes(const Type& type) {
  Type bare = type;
  bare.shape.reset();
  bare.notes.reset();
  if (type.element) bare.element = std::make_shared<const Type>(without_shapes(*type.element));
  return bare;
}

Type merged(const InferContext& c, const Type& a, const Type& b, std::string_view what) {
  if (!a) return without_shapes(b);
  if (!b) return without_shapes(a);
  Type x = a, y = b;
  share_elements(x, y);
  Type t = common(x, y);
  if (!t || (x.element && y.element && x.inner() && y.inner() && !t.inner()))
    c.fail(std::string(what) + " is " + a.schema_name() + " here and " + b.schema_name() + " there");
  return t;
}

}  // namespace ingot::ops
