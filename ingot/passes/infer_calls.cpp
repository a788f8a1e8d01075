// Inference through calls of a model's own functions.
#include "ingot/passes/infer_calls.h"

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "ingot/base/budget.h"
#include "ingot/passes/canonicalize.h"
#include "ingot/passes/inline_functions.h"

namespace ingot::passes {
namespace {

constexpr int kDeepestCall = 100;

/// What calls of functions gave, so that a function called often, or from many functions, is inferred once per
/// combination of types: without this a chain of functions that call the next one twice takes exponential time.
struct CallMemo {
  explicit CallMemo(const Model& model) : index(model) {}
  FunctionIndex index;
  std::unordered_map<std::string, std::vector<Type>> results;
  std::unordered_set<const Function*> open;
};

/// Everything that the result of a call can depend on; empty: not worth remembering.
std::string signature(const Node& call, const Function& function) {
  std::string text = std::to_string(reinterpret_cast<std::uintptr_t>(&function));
  for (const Value* input : call.inputs()) {
    text += '|';
    if (!input) continue;
    text += input->type.str();
    if (input->known_ints)
      for (const Dim& d : *input->known_ints) text += ',' + d.str();
    if (const Tensor* t = ops::constant_of(input)) text += '@' + std::to_string(reinterpret_cast<std::uintptr_t>(t));
  }
  for (const Attribute& a : call.attributes) {
    text += '|' + a.name + '=';
    if (const auto* i = std::get_if<std::int64_t>(&a.value))
      text += std::to_string(*i);
    else if (const auto* s = std::get_if<std::string>(&a.value))
      text += *s;
    else if (const auto* v = std::get_if<std::vector<std::int64_t>>(&a.value))
      for (const std::int64_t n : *v) text += std::to_string(n) + ',';
    else
      text += '&' + std::to_string(reinterpret_cast<std::uintptr_t>(&a));
  }
  return text;
}

std::vector<Type> infer_body(const Node& call, const Function& function, ops::InferSession& session) {
  if (session.budget) session.budget->charge_nodes(function.body->node_count());
  const GraphPtr body = body_as_called(function, call);
  for (std::size_t i = 0; i < body->inputs().size(); ++i)
    if (const Value* given = call.input(i)) body->inputs()[i]->known_ints = given->known_ints;
  ops::InferSession inner = session;
  inner.stated.clear();
  inner.on_contradiction = nullptr;
  ++inner.depth;
  const OpsetImports newest = newest_imports(function.opsets);
  const bool is_newest = std::ranges::all_of(
      newest, [&](const OpsetImport& import) { return function.opsets.version(import.domain) == import.version; });
  if (is_newest) {
    ops::infer_graph(*body, inner);
  } else {
    // Here types and attributes are known, which steps between versions ask for.
    VersionReport report;
    std::vector<Obstacle> obstacles;
    move_nodes(*body, function.opsets, newest, &inner, report, obstacles);
  }
  std::vector<Type> types;
  for (const Value* output : body->outputs()) types.push_back(output->type);
  return types;
}

void collect_symbols(const Value& value, std::vector<std::string>& names) {
  for (const Type* t = &value.type; t; t = t->element.get())
    if (t->shape)
      for (const Dim& d : *t->shape) d.collect_symbols(names);
  if (value.known_ints)
    for (const Dim& d : *value.known_ints) d.collect_symbols(names);
}

void infer_call(Node& call, const Function& function, ops::InferSession& session, CallMemo& memo) {
  const std::string key = signature(call, function);
  auto found = memo.results.find(key);
  if (found == memo.results.end()) {
    std::vector<Type> types;
    // Recursion is the checker's to report; here it only must end.
    if (session.depth < kDeepestCall && memo.open.insert(&function).second) {
      types = infer_body(call, function, session);
      memo.open.erase(&function);
    }
    found = memo.results.emplace(key, std::move(types)).first;
  }
  // Sizes that only data decides have names of the body's values: each call has sizes of its own.
  std::vector<std::string> names;
  for (const Value* input : call.inputs())
    if (input) collect_symbols(*input, names);
  const std::unordered_set<std::string> given(names.begin(), names.end());
  const std::string base = call.output() ? call.output()->name() : call.name;
  const auto own = [&](std::string_view symbol) -> std::optional<Dim> {
    std::string name(symbol);
    if (given.contains(name)) return std::nullopt;
    return Dim::symbol(base + '.' + name);
  };
  ops::InferContext context(call, session);
  for (std::size_t i = 0; i < found->second.size(); ++i)
    if (found->second[i]) context.out(i, ops::substitute(found->second[i], own));
  context.commit();
}

}  // namespace

void prepare(ops::InferSession& session, const Model& model) {
  session.defaults_are_constants = model.ir_version < 4;
  const auto memo = std::make_shared<CallMemo>(model);
  session.find_function = [memo](const Node& node) { return memo->index.find(node); };
  session.infer_call = [memo](Node& call, const Function& f, ops::InferSession& s) { infer_call(call, f, s, *memo); };
}

}  // namespace ingot::passes
