// Calls, conditions and loops by functions, and the parts of the old control flow that stand for themselves.
#include "ingot/base/error.h"
#include "ingot/frontends/tensorflow/control_flow.h"
#include "ingot/frontends/tensorflow/translation.h"
#include "ingot/frontends/tensorflow/updates.h"

namespace ingot::frontends::tensorflow {
namespace {

const tf::FunctionName& function_attr(const TfNode& n, std::string_view name) {
  const tf::AttrValue* attr = n.attr(name);
  const auto* function = attr ? std::get_if<std::shared_ptr<const tf::FunctionName>>(attr) : nullptr;
  if (!function) n.unsupported("attribute '" + std::string(name) + "' names no function");
  return **function;
}

const tf::FunctionDef& function_of(const TfNode& n, const tf::FunctionName& name, std::size_t arguments) {
  const tf::FunctionDef* function = n.translation().bodies().find_function(name.name);
  if (!function) n.unsupported("the model has no function '" + name.name + "'");
  if (arguments != function->inputs.size())
    throw Error(Code::bad_source_graph, "function '" + name.name + "' takes " +
                                            std::to_string(function->inputs.size()) + " arguments, not " +
                                            std::to_string(arguments));
  return *function;
}

Operands call(const TfNode& n, const tf::FunctionName& name, Operands arguments, Graph& graph) {
  const tf::FunctionDef& function = function_of(n, name, arguments.size());
  return n.translation().call(function, std::move(arguments), &name.attrs, graph, n.scope().prefix + n.name() + "/");
}

/// Numbers count as true unless zero, texts unless empty.
Value* truth(GraphBuilder& g, Value* v) {
  if (v->type.elem == DType::boolean) return v;
  Value* nothing = v->type.elem == DType::string ? g.constant(Tensor::of_strings({}, {""})) : g.scalar(0, v->type.elem);
  return g.op("Not", {g.op("Equal", {v, nothing})});
}

/// Whether the function hands argument k through.
bool is_handed_through(Translation& t, const tf::FunctionDef& function, std::size_t k) {
  if (k >= function.outputs.size()) return false;
  for (const auto& [name, value] : function.returns) {
    if (name != function.outputs[k].name) continue;
    const Body& body = t.bodies().body_of(function);
    return body.behind_identities(body.resolve(value)) == Source{Source::kArgument, static_cast<std::int32_t>(k)};
  }
  return false;
}

}  // namespace

Operands partitioned_call(const TfNode& n, GraphBuilder& g) {
  const tf::FunctionName& name = function_attr(n, "f");
  const tf::FunctionDef& function = function_of(n, name, n.input_count());
  return n.translation().call_or_keep(function, n.operands(), &name.attrs, g, n.scope().prefix + n.name() + "/");
}

Operands if_by_functions(const TfNode& n, GraphBuilder& g) {
  const Operands arguments(n.operands().begin() + 1, n.operands().end());
  const auto called = [&](std::string_view attr) -> Step {
    return [&n, &arguments, attr](Graph& graph, const Operands&) {
      return call(n, function_attr(n, attr), arguments, graph);
    };
  };
  return branch(g, truth(g, n.input(0)), called("then_branch"), called("else_branch"));
}

Operands case_by_functions(const TfNode& n, GraphBuilder& g) {
  const tf::AttrValue* attr = n.attr("branches");
  const auto* list = attr ? std::get_if<std::shared_ptr<const tf::AttrList>>(attr) : nullptr;
  if (!list || (*list)->functions.empty() || (*list)->functions.size() > 64)
    n.unsupported("the branches are not known");
  const auto& branches = (*list)->functions;
  const Operands arguments(n.operands().begin() + 1, n.operands().end());
  Value* which = as_int64(g, n.input(0));
  // If of the first, else of the rest; what is out of range means the last.
  const std::function<Operands(Graph&, std::size_t)> from = [&](Graph& graph, std::size_t i) -> Operands {
    if (i + 1 == branches.size()) return call(n, *branches[i], arguments, graph);
    GraphBuilder inner(graph);
    inner.name_after(n.name());
    Value* is_this = inner.op("Equal", {which, inner.index(static_cast<std::int64_t>(i))});
    const Step then = [&](Graph& sub, const Operands&) { return call(n, *branches[i], arguments, sub); };
    const Step otherwise = [&](Graph& sub, const Operands&) { return from(sub, i + 1); };
    return branch(inner, is_this, then, otherwise);
  };
  return from(g.graph(), 0);
}

Operands while_by_functions(const TfNode& n, GraphBuilder& g) {
  const tf::FunctionName &cond = function_attr(n, "cond"), &body = function_attr(n, "body");
  const tf::FunctionDef* function = n.translation().bodies().find_function(body.name);
  if (!function) n.unsupported("the model has no function '" + body.name + "'");
  std::vector<bool> invariant;
  for (std::size_t k = 0; k < n.input_count(); ++k)
    invariant.push_back(is_handed_through(n.translation(), *function, k));
  const Step condition = [&](Graph& graph, const Operands& state) {
    Operands result = call(n, cond, state, graph);
    GraphBuilder inner(graph);
    if (!result.empty() && result[0].value) result[0].value = truth(inner, result[0].value);
    return result;
  };
  const Step step = [&](Graph& graph, const Operands& state) { return call(n, body, state, graph); };
  return loop(g, n.operands(), invariant, condition, step);
}

// Outside of a Merge or Exit these hand on what they get.
Operands pass(const TfNode& n, GraphBuilder&) { return {n.operand(0)}; }
Operands pass_all(const TfNode& n, GraphBuilder&) { return n.operands(); }
Operands switch_node(const TfNode& n, GraphBuilder&) { return {n.operand(0), n.operand(0)}; }

// Variables.
namespace {

Operand handle(const TfNode& n, Resource::Kind kind) {
  auto resource = std::make_shared<Resource>();
  resource->kind = kind;
  resource->name = n.scope().prefix + n.name();
  resource->shared_name = n.text("shared_name", "");
  return {nullptr, std::move(resource)};
}

const Resource& variable_of(const TfNode& n, std::size_t i) {
  const Operand& o = n.operand(i);
  if (!o.resource || o.resource->kind != Resource::Kind::variable)
    n.unsupported("the handle is not that of a variable");
  return *o.resource;
}

}  // namespace

Operands var_handle(const TfNode& n, GraphBuilder&) { return {handle(n, Resource::Kind::variable)}; }
Operands read_variable(const TfNode& n, GraphBuilder&) {
  if (n.operand(0).value) return {n.operand(0)};  // frozen: the handle has become the value
  Value* variable = n.translation().variables().get(variable_of(n, 0));
  return {{value_after(n, variable)}};
}
Operands variable(const TfNode& n, GraphBuilder&) {
  const Resource resource{Resource::Kind::variable, n.name(), n.text("shared_name", "")};
  return {{n.translation().variables().get(resource)}};
}
Operands resource_gather(const TfNode& n, GraphBuilder& g) {
  Value* x = n.operand(0).value ? n.operand(0).value : n.translation().variables().get(variable_of(n, 0));
  return {{g.op("Gather", {x, n.input(1)}, {{"axis", 0}})}};
}
Operands placeholder(const TfNode& n, GraphBuilder&) { n.unsupported("a placeholder inside a function has no value"); }
Operands nothing(const TfNode&, GraphBuilder&) { return {Operand{nullptr, std::make_shared<Resource>()}}; }

}  // namespace ingot::frontends::tensorflow
