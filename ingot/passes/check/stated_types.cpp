// Types as the model states them: complete where they must be, and well formed.
#include <fmt/format.h>

#include "ingot/passes/check/rules.h"

namespace ingot::passes::rules {
namespace {

constexpr const char* kStateRank = "state its rank at least: sizes that are not known may stay empty";
constexpr TypeSet kMapKeys = TypeSet(Integers{}) | TypeSet{DType::string};

/// What is wrong with a type; empty: nothing.
std::string flaw(const Type& type) {
  for (const Type* t = &type; t; t = t->element.get()) {
    switch (t->kind) {
      case Type::Kind::map:
        if (t->elem == DType::undefined) return "a map needs the type of its keys";
        if (!kMapKeys.has(t->elem))
          return fmt::format("the keys of a map are integers or strings, not {}", name_of(t->elem));
        if (!t->inner()) return "a map needs the type of its values";
        break;
      case Type::Kind::sequence:
        if (!t->inner()) return "a sequence needs the type of its elements";
        break;
      case Type::Kind::optional:
        if (!t->inner()) return "an optional needs the type of its element";
        if (t->inner().is_optional()) return "an optional cannot hold an optional";
        break;
      case Type::Kind::opaque:
        if (!t->notes || t->notes->opaque_name.empty()) return "an opaque type needs a name";
        break;
      default:
        break;
    }
  }
  return {};
}

void check_form(Context& c, const Value& value) {
  if (!value.type) return;
  if (std::string what = flaw(value.type); !what.empty())
    c.report.error(Code::bad_type, c.places.of(value), std::move(what), "complete the type");
  for (const Type* t = &value.type; t; t = t->element.get()) {
    if (!t->shape) continue;
    for (const Dim& d : *t->shape)
      if (d.is_known() && d.value() < 0) {
        c.report.warning(Code::bad_type, c.places.of(value),
                         fmt::format("dimension {} in {} is negative", d.value(), t->str()),
                         "leave a size that is not known empty, or give it a name");
        break;
      }
  }
}

bool is_any_tensor(const Type& type) {
  return type.kind == Type::Kind::tensor || type.kind == Type::Kind::sparse_tensor;
}

bool lacks_type(const Type& type) { return !type || (is_any_tensor(type) && type.elem == DType::undefined); }

/// The main graph's inputs and outputs are what users see: their types must be stated. Runtimes do without ranks.
void check_input(Context& c, const Value& value) {
  const auto place = [&] { return fmt::format("input {}", quoted(value.name())); };
  const Type& type = value.type;
  if (!type)
    c.report.error(Code::missing_type, place(), "the input has no type", "state its type and shape");
  else if (lacks_type(type))
    c.report.error(Code::missing_type, place(), "the input has no element type", "state it");
  else if (is_any_tensor(type) && !type.shape)
    c.report.warning(Code::missing_type, place(), "the input has no shape", kStateRank);
}

/// Runtimes infer what an output does not state, and so does Ingot.
void check_output(Context& c, const Value& value) {
  const std::string place = fmt::format("output {}", quoted(value.name()));
  const Type& type = value.type;
  if (lacks_type(type)) {
    const char* what = type ? "the output has no element type" : "the output has no type";
    if (c.inferred && !lacks_type(c.type_of(value)))
      c.report.warning(Code::missing_type, place, fmt::format("{}; it must be {}", what, c.type_of(value).str()),
                       "state it for programs that do not infer types");
    else
      c.report.error(Code::missing_type, place, what, type ? "state it" : "state its type and shape");
    return;
  }
  if (!is_any_tensor(type) || type.shape) return;
  if (c.inferred && !c.type_of(value).shape)
    c.report.note(Code::missing_type, place, "the output has no shape, and its rank cannot be inferred",
                  "programs that insist on a rank want it stated");
  else
    c.report.warning(Code::missing_type, place, "the output has no shape", kStateRank);
}

}  // namespace

void check_outputs(Context& c) {
  const Graph& graph = *c.model.graph;
  for (std::size_t i = 0; i < graph.output_count(); ++i)
    if (const Value* v = graph.output(i); v && !v->is_undefined() && !v->is_input()) check_output(c, *v);
}

void check_stated_types(Context& c) {
  const Graph& graph = *c.model.graph;
  for (const Value* v : graph.inputs()) check_input(c, *v);
  for (const GraphPlace& place : c.graphs) {
    for (const Value* v : place.graph->inputs()) check_form(c, *v);
    for (const Node& node : place.graph->nodes())
      for (std::size_t i = 0; i < node.output_count(); ++i)
        if (node.output(i)) check_form(c, *node.output(i));
  }
}

}  // namespace ingot::passes::rules
