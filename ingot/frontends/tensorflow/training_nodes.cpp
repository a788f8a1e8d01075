// Which nodes change variables, and how these begin.
#include "ingot/frontends/tensorflow/training_nodes.h"

#include <set>

namespace ingot::frontends::tensorflow {
namespace {

bool is_variable(std::string_view op) { return op == "VarHandleOp" || op == "VariableV2" || op == "Variable"; }

bool is_plain_assignment(std::string_view op) { return op == "Assign" || op == "AssignVariableOp"; }

bool is_step(std::string_view op) {
  return op.starts_with("Apply") || op.starts_with("ResourceApply") || op.starts_with("AssignAdd") ||
         op.starts_with("AssignSub");
}

/// Which nodes' values change from step to step: they depend on variables, inputs, arguments or a checkpoint.
std::vector<bool> changing(const Body& body) {
  std::vector<bool> changes(body.size(), false);
  for (bool more = true; more;) {
    more = false;
    for (std::size_t i = 0; i < body.size(); ++i) {
      if (changes[i]) continue;
      const std::string& op = body.node(static_cast<std::int32_t>(i)).op;
      bool now = is_variable(op) || op == "Placeholder" || op == "PlaceholderV2" || op.starts_with("Restore");
      for (const Source& s : body.inputs(static_cast<std::int32_t>(i)))
        now |= s.node < 0 || changes[static_cast<std::size_t>(s.node)];
      changes[i] = now;
      more |= now;
    }
  }
  return changes;
}

}  // namespace

std::vector<bool> ancestors(const Body& body, const std::vector<std::int32_t>& from) {
  std::vector<bool> seen(body.size(), false);
  std::vector<std::int32_t> stack;
  const auto visit = [&](std::int32_t node) {
    if (node < 0 || seen[static_cast<std::size_t>(node)]) return;
    seen[static_cast<std::size_t>(node)] = true;
    stack.push_back(node);
  };
  for (const std::int32_t node : from) visit(node);
  while (!stack.empty()) {
    const std::int32_t node = stack.back();
    stack.pop_back();
    for (const Source& s : body.inputs(node)) visit(s.node);
    for (const std::int32_t c : body.controls(node)) visit(c);
  }
  return seen;
}

std::vector<std::int32_t> update_nodes(const Body& body, bool is_main, const std::vector<std::string>& operations) {
  std::vector<bool> is_asked(body.size(), true);
  if (is_main && !operations.empty()) {
    std::vector<std::int32_t> roots;
    for (const std::string& name : operations) roots.push_back(body.find(name.substr(0, name.find(':'))));
    is_asked = ancestors(body, roots);
  }
  const std::vector<bool> changes = is_main ? changing(body) : std::vector<bool>(body.size(), true);
  std::vector<std::int32_t> nodes;
  for (std::size_t i = 0; i < body.size(); ++i) {
    const auto node = static_cast<std::int32_t>(i);
    const std::string& op = body.node(node).op;
    if (!is_asked[i] || (!is_step(op) && !is_plain_assignment(op))) continue;
    if (is_plain_assignment(op)) {
      // What never changes is how a variable begins; what comes from a file belongs to saving.
      const Source value = body.inputs(node).size() > 1 ? body.behind_identities(body.inputs(node)[1]) : Source{};
      const bool is_saving = value.node >= 0 && body.node(value.node).op.starts_with("Restore");
      const bool begins = value.node >= 0 && !changes[static_cast<std::size_t>(value.node)];
      if (is_saving || begins) continue;
    }
    nodes.push_back(node);
  }
  return nodes;
}

std::map<std::int32_t, Source> beginnings(const Body& main) {
  const std::vector<bool> changes = changing(main);
  std::map<std::int32_t, Source> found;
  for (std::size_t i = 0; i < main.size(); ++i) {
    const auto node = static_cast<std::int32_t>(i);
    if (!is_plain_assignment(main.node(node).op) || main.inputs(node).size() < 2) continue;
    const Source variable = main.behind_identities(main.inputs(node)[0]), value = main.inputs(node)[1];
    if (variable.node < 0 || value.node < 0 || !is_variable(main.node(variable.node).op)) continue;
    if (!changes[static_cast<std::size_t>(value.node)]) found.try_emplace(variable.node, value);
  }
  return found;
}

void drop_beginnings(const Body& main, std::vector<Port>& outputs) {
  std::set<std::string> names;
  for (const auto& [variable, value] : beginnings(main)) names.insert(main.node(value.node).name);
  std::erase_if(outputs, [&](const Port& port) { return names.contains(port.tensor); });
}

}  // namespace ingot::frontends::tensorflow
