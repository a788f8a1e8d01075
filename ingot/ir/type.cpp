// Types of values: spelling, comparison, and what two statements about one value amount to.
#include "ingot/ir/type.h"

namespace ingot {
namespace {

Type make_tensor(Type::Kind kind, DType elem, std::optional<Shape> shape) {
  Type t;
  t.kind = kind;
  t.elem = elem;
  t.shape = std::move(shape);
  return t;
}

Type make_container(Type::Kind kind, Type element) {
  Type t;
  t.kind = kind;
  t.element = std::make_shared<const Type>(std::move(element));
  return t;
}

std::string element_name(DType elem) { return elem == DType::undefined ? "?" : std::string(name_of(elem)); }

bool fail(std::string* why, std::string text) {
  if (why) *why = std::move(text);
  return false;
}

Dim refine(const Dim& a, const Dim& b) {
  if (a.is_known() || b.is_unknown()) return a;
  if (b.is_known() || a.is_unknown()) return b;
  return a;
}

Dim common(const Dim& a, const Dim& b) { return same(a, b) ? a : Dim(); }

}  // namespace

Type Type::tensor(DType elem, std::optional<Shape> shape) { return make_tensor(Kind::tensor, elem, std::move(shape)); }
Type Type::sparse_tensor(DType elem, std::optional<Shape> shape) {
  return make_tensor(Kind::sparse_tensor, elem, std::move(shape));
}
Type Type::sequence(Type element) { return make_container(Kind::sequence, std::move(element)); }
Type Type::optional(Type element) { return make_container(Kind::optional, std::move(element)); }
Type Type::map(DType key, Type value) {
  Type t = make_container(Kind::map, std::move(value));
  t.elem = key;
  return t;
}

const Type& Type::inner() const {
  static const Type unknown;
  return element ? *element : unknown;
}

std::string Type::schema_name() const {
  switch (kind) {
    case Kind::none:
      return "?";
    case Kind::tensor:
      return "tensor(" + element_name(elem) + ")";
    case Kind::sparse_tensor:
      return "sparse_tensor(" + element_name(elem) + ")";
    case Kind::sequence:
      return "seq(" + inner().schema_name() + ")";
    case Kind::optional:
      return "optional(" + inner().schema_name() + ")";
    case Kind::map:
      return "map(" + element_name(elem) + "," + inner().schema_name() + ")";
    case Kind::opaque:
      return "opaque(" + (notes ? notes->opaque_domain + "," + notes->opaque_name : "") + ")";
  }
  return "?";
}

std::string Type::str() const {
  switch (kind) {
    case Kind::tensor:
    case Kind::sparse_tensor: {
      std::string text = kind == Kind::sparse_tensor ? "sparse " + element_name(elem) : element_name(elem);
      if (!shape) return text + "[...]";
      if (shape->empty()) return text;
      text += '[';
      for (std::size_t i = 0; i < shape->size(); ++i) {
        if (i) text += ',';
        text += (*shape)[i].is_unknown() ? "?" : (*shape)[i].str();
      }
      return text + ']';
    }
    case Kind::sequence:
      return "seq(" + inner().str() + ")";
    case Kind::optional:
      return "optional(" + inner().str() + ")";
    case Kind::map:
      return "map(" + element_name(elem) + "," + inner().str() + ")";
    case Kind::none:
    case Kind::opaque:
      return schema_name();
  }
  return "?";
}

bool operator==(const Type& a, const Type& b) {
  const auto equal = [](const auto& x, const auto& y) { return x == y || (x && y && *x == *y); };
  return a.kind == b.kind && a.elem == b.elem && a.shape == b.shape && equal(a.element, b.element) &&
         equal(a.notes, b.notes);
}

bool may_match(const Type& a, const Type& b, std::string* why) {
  if (!a || !b) return true;
  if (a.kind != b.kind) return fail(why, a.schema_name() + " is not " + b.schema_name());
  if (a.elem != b.elem && a.elem != DType::undefined && b.elem != DType::undefined)
    return fail(why, a.schema_name() + " is not " + b.schema_name());
  if (a.shape && b.shape) {
    if (a.shape->size() != b.shape->size())
      return fail(why, "rank " + std::to_string(a.shape->size()) + " is not rank " + std::to_string(b.shape->size()));
    for (std::size_t i = 0; i < a.shape->size(); ++i)
      if (!may_equal((*a.shape)[i], (*b.shape)[i]))
        return fail(why,
                    "dimension " + std::to_string(i) + ": " + (*a.shape)[i].str() + " is not " + (*b.shape)[i].str());
  }
  return !a.element || !b.element || may_match(*a.element, *b.element, why);
}

Type refine(const Type& a, const Type& b) {
  if (!a) return b;
  if (!b || a.kind != b.kind) return a;
  Type t = a;
  if (t.elem == DType::undefined) t.elem = b.elem;
  if (!t.shape) {
    t.shape = b.shape;
  } else if (b.shape && b.shape->size() == t.shape->size()) {
    for (std::size_t i = 0; i < t.shape->size(); ++i) (*t.shape)[i] = refine((*t.shape)[i], (*b.shape)[i]);
  }
  if (b.element) t.element = a.element ? std::make_shared<const Type>(refine(*a.element, *b.element)) : b.element;
  if (t.notes || !b.notes) return t;
  t.notes = b.notes;
  if (t.shape && b.shape && t.shape->size() != b.shape->size()) {
    // What is said of the dimensions is said of others.
    TypeNotes notes = *b.notes;
    notes.dim_denotations.clear();
    notes.dim_unknown.clear();
    t.notes = notes == TypeNotes() ? nullptr : std::make_shared<const TypeNotes>(std::move(notes));
  }
  return t;
}

Type common(const Type& a, const Type& b) {
  if (a.kind != b.kind || a.elem != b.elem) return {};
  Type t = a;
  if (!a.shape || !b.shape || a.shape->size() != b.shape->size()) {
    t.shape.reset();
  } else {
    for (std::size_t i = 0; i < t.shape->size(); ++i) (*t.shape)[i] = common((*a.shape)[i], (*b.shape)[i]);
  }
  if (a.element && b.element) t.element = std::make_shared<const Type>(common(*a.element, *b.element));
  return t;
}

std::optional<std::vector<std::int64_t>> static_dims(const std::optional<Shape>& shape) {
  if (!shape) return std::nullopt;
  std::vector<std::int64_t> dims;
  dims.reserve(shape->size());
  for (const Dim& d : *shape) {
    if (!d.is_known()) return std::nullopt;
    dims.push_back(d.value());
  }
  return dims;
}

}  // namespace ingot
