// Where nodes of a body are translated.
#include "ingot/frontends/tensorflow/scope.h"

#include <algorithm>

namespace ingot::frontends::tensorflow {

const Scope& Scope::outermost() const {
  const Scope* scope = this;
  while (scope->parent) scope = scope->parent;
  return *scope;
}

const tf::AttrValue* Scope::call_attr(std::string_view name) const {
  const std::vector<tf::Attr>* attrs = outermost().call_attrs;
  if (!attrs) return nullptr;
  for (const tf::Attr& attr : *attrs)
    if (attr.name == name) return &attr.value;
  return nullptr;
}

Scope& Scope::home(std::int32_t node) {
  Scope* scope = this;
  if (body.node(node).op == "Const") {
    while (scope->parent) scope = scope->parent;
    return *scope;
  }
  while (scope->parent) {
    if (scope->kind == Kind::loop && body.is_inside(body.frame(node), scope->frame)) break;
    if (scope->kind == Kind::branch && std::ranges::find(body.guards(node), scope->guard) != body.guards(node).end())
      break;
    scope = scope->parent;
  }
  return *scope;
}

}  // namespace ingot::frontends::tensorflow
