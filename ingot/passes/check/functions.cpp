// Model-local functions: their signatures, and that none calls itself.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "ingot/ops/schema.h"
#include "ingot/passes/check/rules.h"

namespace ingot::passes::rules {
namespace {

constexpr int kDeepestCall = 100;

void check_signature(Context& c, const Function& f) {
  const std::string place = function_name(f);
  if (f.name.empty()) c.report.error(Code::bad_name, place, "the function has no name", "give it one");
  if (!f.body->initializers().empty())
    c.report.error(Code::bad_function, place, "a function cannot have initializers", "make them Constant nodes");
  std::unordered_set<std::string_view> attributes;
  const auto declare = [&](std::string_view name) {
    if (name.empty())
      c.report.error(Code::bad_name, place, "an attribute of the function has no name", "give it one");
    else if (!attributes.insert(name).second)
      c.report.error(Code::bad_function, place, fmt::format("attribute {} is declared twice", quoted(name)),
                     "declare each attribute once, with or without a default");
  };
  for (const std::string& name : f.attributes) declare(name);
  for (const Attribute& a : f.attribute_defaults) {
    declare(a.name);
    if (a.is_reference() || a.type() == AttrType::undefined)
      c.report.error(Code::bad_function, place, fmt::format("the default of attribute {} has no value", quoted(a.name)),
                     "give the value, or declare the attribute without a default");
  }
  if (c.imports_of(nullptr).version(f.domain) == 0)
    c.report.warning(Code::bad_opset_import, place,
                     fmt::format("the model does not import the function's domain {}", quoted(domain_name(f.domain))),
                     fmt::format("add an opset import of {} to the model", quoted(domain_name(f.domain))));
}

void check_uniqueness(Context& c) {
  std::unordered_set<std::string> keys;
  for (const auto& f : c.model.functions) {
    const std::string key = std::string(normal_domain(f->domain)) + '\0' + f->name + '\0' + f->overload;
    if (!keys.insert(key).second)
      c.report.error(Code::bad_function, function_name(*f), "the function is defined twice",
                     "remove one of the definitions, or tell them apart by their overload");
  }
}

/// Operators may mean other things in the function's operator sets than in the model's. Ingot keeps them apart, ONNX's
/// own checker refuses the model.
void check_versions_agree(Context& c, const Function& f) {
  const Imports &own = c.imports_of(&f), &models = c.imports_of(nullptr);
  std::unordered_set<std::string> seen;
  for_each_graph(*f.body, [&](Graph& graph) {
    for (const Node& node : graph.nodes()) {
      const std::int64_t here = own.version(node.domain), there = models.version(node.domain);
      if (here == there || here == 0 || there == 0 || c.functions.find(node)) continue;
      if (ops::schema_for(node.domain, node.op, here) == ops::schema_for(node.domain, node.op, there)) continue;
      if (!seen.insert(op_name(node.domain, node.op)).second) continue;
      c.report.warning(
          Code::bad_function, c.places.of(node),
          fmt::format("opset {} of {}, which the function imports, has another version of the operator than opset {}, "
                      "which the model imports",
                      here, domain_name(node.domain), there),
          "import the same version in both: some runtimes ignore the function's");
    }
  });
}

std::vector<const Function*> callees(Context& c, const Function& f) {
  std::vector<const Function*> found;
  for_each_graph(*f.body, [&](Graph& graph) {
    for (const Node& node : graph.nodes())
      if (const Function* callee = c.functions.find(node)) found.push_back(callee);
  });
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

void report_recursion(Context& c, const std::vector<const Function*>& circle) {
  std::string text;
  for (const Function* f : circle) text += quoted(op_name(f->domain, f->name)) + " -> ";
  text += quoted(op_name(circle.front()->domain, circle.front()->name));
  c.report.error(Code::recursive_function, function_name(*circle.front()), "the function calls itself: " + text,
                 "break the circle; repetition is expressed by Loop or Scan");
}

void check_calls(Context& c) {
  struct Frame {
    const Function* function;
    std::vector<const Function*> callees;
    std::size_t next = 0;
    int depth = 1;  // of the deepest chain of calls below, itself included
  };
  std::unordered_map<const Function*, int> depths;  // 0: on the path
  for (const auto& root : c.model.functions) {
    if (depths.contains(root.get())) continue;
    std::vector<Frame> path;
    const auto enter = [&](const Function& f) {
      depths[&f] = 0;
      path.push_back({&f, callees(c, f)});
    };
    enter(*root);
    while (!path.empty()) {
      Frame& frame = path.back();
      if (frame.next < frame.callees.size()) {
        const Function* callee = frame.callees[frame.next++];
        const auto known = depths.find(callee);
        if (known == depths.end()) {
          enter(*callee);
        } else if (known->second == 0) {
          std::vector<const Function*> circle;
          for (auto it = path.rbegin(); it != path.rend(); ++it) {
            circle.push_back(it->function);
            if (it->function == callee) break;
          }
          std::ranges::reverse(circle);
          report_recursion(c, circle);
        } else {
          frame.depth = std::max(frame.depth, known->second + 1);
        }
        continue;
      }
      if (frame.depth == kDeepestCall + 1)
        c.report.error(Code::bad_function, function_name(*frame.function),
                       fmt::format("calls of functions nest more than {} deep", kDeepestCall),
                       "inline some of the functions");
      const int depth = frame.depth;
      depths[frame.function] = depth;
      path.pop_back();
      if (!path.empty()) path.back().depth = std::max(path.back().depth, depth + 1);
    }
  }
}

using Names = std::unordered_set<std::string_view>;

Names attributes_of(const Function& f) {
  Names names(f.attributes.begin(), f.attributes.end());
  for (const Attribute& a : f.attribute_defaults) names.insert(a.name);
  return names;
}

/// What a call gives a function, compared with what the function declares.
void check_call(Context& c, const Node& call, const Function& f, const Names& declared) {
  const std::size_t inputs = f.body->inputs().size(), outputs = f.body->output_count();
  if (call.input_count() > inputs)
    c.report.error(
        Code::bad_arity, c.places.of(call),
        fmt::format("{} given, but {} takes {}", counted(call.input_count(), "input"), function_name(f), inputs),
        "remove the inputs beyond the function's");
  if (call.output_count() > outputs)
    c.report.error(
        Code::bad_arity, c.places.of(call),
        fmt::format("{} given, but {} gives {}", counted(call.output_count(), "output"), function_name(f), outputs),
        "remove the outputs beyond the function's");
  for (const Attribute& a : call.attributes)
    if (!declared.contains(a.name))
      c.report.warning(Code::bad_attribute, c.places.of(call),
                       fmt::format("{} does not declare attribute {}", function_name(f), quoted(a.name)),
                       "remove the attribute: it has no effect");
}

}  // namespace

void check_functions(Context& c) {
  if (c.model.functions.empty()) return;
  check_uniqueness(c);
  for (const auto& f : c.model.functions) {
    check_signature(c, *f);
    check_versions_agree(c, *f);
  }
  check_calls(c);
  std::unordered_map<const Function*, Names> declared;
  for (const auto& f : c.model.functions) declared.emplace(f.get(), attributes_of(*f));
  for (const GraphPlace& place : c.graphs)
    for (const Node& node : place.graph->nodes())
      if (const Function* f = c.functions.find(node)) check_call(c, node, *f, declared.at(f));
}

}  // namespace ingot::passes::rules
