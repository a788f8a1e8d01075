// Loops and branches of the old control flow.
#include "ingot/frontends/tensorflow/old_control_flow.h"

#include <algorithm>
#include <set>

#include "ingot/base/error.h"
#include "ingot/frontends/tensorflow/control_flow.h"
#include "ingot/frontends/tensorflow/translation.h"

namespace ingot::frontends::tensorflow {
namespace {

/// The condition that a Merge joins the branches of; `branch`: input 1 is the one of "true".
std::optional<Guard> condition_of(const Body& body, std::int32_t merge) {
  const auto inputs = body.inputs(merge);
  if (inputs.size() != 2) return std::nullopt;
  std::vector<Guard> candidates;
  for (const Source& s : inputs) {
    if (s.node < 0) continue;
    for (const Guard& g : body.guards(s.node)) candidates.push_back(g);
    const bool is_switch = body.node(s.node).op == "Switch" || body.node(s.node).op == "RefSwitch";
    if (is_switch && body.inputs(s.node).size() == 2)
      candidates.push_back({body.behind_identities(body.inputs(s.node)[1]), s.port == 1});
  }
  for (const Guard& g : candidates) {
    const Guard other{g.condition, !g.branch};
    for (int i = 0; i < 2; ++i)
      if (body.has_guard(inputs[static_cast<std::size_t>(i)], g) &&
          body.has_guard(inputs[static_cast<std::size_t>(1 - i)], other))
        return Guard{g.condition, (i == 1) == g.branch};  // branch: input 1 is the one of "true"
  }
  return std::nullopt;
}

}  // namespace

std::vector<NodeInScope> loop_needs(Scope& scope, std::int32_t exit) {
  std::vector<NodeInScope> all;
  const auto inputs = scope.body.inputs(exit);
  const std::int32_t frame = inputs.empty() || inputs[0].node < 0 ? -1 : scope.body.frame(inputs[0].node);
  if (frame < 0) return all;
  for (const std::int32_t enter : scope.body.loop(frame).enters)
    for (const Source& s : scope.body.inputs(enter))
      if (s.node >= 0) all.push_back({&scope.home(s.node), s.node, s.port});
  return all;
}

Operands old_loop(Translation& t, Scope& scope, std::int32_t exit) {
  const Body& body = scope.body;
  const auto fail_shape = [](const char* what) -> Operands { throw Error(Code::bad_source_graph, what); };
  if (body.inputs(exit).empty() || body.inputs(exit)[0].node < 0) return fail_shape("an Exit stands outside a loop");
  const std::int32_t frame = body.frame(body.inputs(exit)[0].node);
  if (frame < 0) return fail_shape("an Exit stands outside a loop");
  const LoopFrame& loop_frame = body.loop(frame);
  if (loop_frame.condition < 0 || body.inputs(loop_frame.condition).empty())
    return fail_shape("a loop has no condition");

  const std::vector<std::int32_t>& merges = loop_frame.merges;
  std::vector<Source> begins(merges.size()), nexts(merges.size());
  std::vector<std::int32_t> switches(merges.size(), -1);
  for (std::size_t k = 0; k < merges.size(); ++k) {
    for (const Source& s : body.inputs(merges[k])) {
      if (s.node < 0) continue;
      const bool is_next = body.node(s.node).op == "NextIteration" || body.node(s.node).op == "RefNextIteration";
      if (body.inputs(s.node).empty()) return fail_shape("a loop variable has no value");
      (is_next ? nexts : begins)[k] = is_next ? body.inputs(s.node)[0] : s;
    }
  }
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(body.size()); ++i) {
    if (body.node(i).op != "Switch" || body.inputs(i).size() != 2) continue;
    const auto merge = std::ranges::find(merges, body.inputs(i)[0].node);
    if (merge != merges.end() && body.behind_identities(body.inputs(i)[1]).node == loop_frame.condition)
      switches[static_cast<std::size_t>(merge - merges.begin())] = i;
  }
  Operands start;
  std::vector<bool> invariant;
  for (std::size_t k = 0; k < merges.size(); ++k) {
    start.push_back(t.get(scope, begins[k]));  // an Enter gives what enters
    invariant.push_back(body.behind_identities(nexts[k]) == Source{switches[k], 1});
  }
  const auto inner = [&](Graph& graph, const Operands& state, bool is_body) {
    auto s = std::make_unique<Scope>(body, &scope, graph, Scope::Kind::loop);
    s->frame = frame;
    s->prefix = scope.prefix;
    for (std::size_t k = 0; k < merges.size(); ++k) {
      s->done[merges[k]] = {state[k], Operand{}};
      if (is_body && switches[k] >= 0) s->done[switches[k]] = {state[k], state[k]};
    }
    return s;
  };
  const Step condition = [&](Graph& graph, const Operands& state) -> Operands {
    const auto s = inner(graph, state, false);
    return {t.get(*s, body.inputs(loop_frame.condition)[0])};
  };
  const Step step = [&](Graph& graph, const Operands& state) -> Operands {
    const auto s = inner(graph, state, true);
    Operands next;
    for (const Source& source : nexts) next.push_back(t.get(*s, source));
    return next;
  };
  const Operands results = loop(scope.builder, start, invariant, condition, step);
  if (any_missing(results)) return missing();
  Operands own;
  for (const std::int32_t e : loop_frame.exits) {
    const std::int32_t from = body.inputs(e).empty() ? -1 : body.inputs(e)[0].node;
    const auto found = std::ranges::find(switches, from);
    if (from < 0 || found == switches.end()) return fail_shape("an Exit does not leave a loop variable");
    const Operand result = results[static_cast<std::size_t>(found - switches.begin())];
    if (e == exit)
      own = {result};
    else
      scope.done.insert_or_assign(e, Operands{result});
  }
  return own;
}

std::vector<NodeInScope> branch_needs(Scope& scope, std::int32_t merge) {
  const Body& body = scope.body;
  std::vector<NodeInScope> all;
  const auto guard = condition_of(body, merge);
  if (!guard) return all;
  const auto is_here = [&](std::int32_t node) {
    const std::int32_t frame = body.frame(node);
    for (const Scope* s = &scope; frame >= 0 && s; s = s->parent)
      if (s->kind == Scope::Kind::loop && s->frame == frame) return true;
    return frame < 0;
  };
  std::set<std::int32_t> seen;
  for (const bool branch : {true, false}) {
    const Guard here{guard->condition, branch};
    std::vector<Source> stack{body.inputs(merge)[branch == guard->branch ? 1 : 0]};
    while (!stack.empty()) {
      const Source s = stack.back();
      stack.pop_back();
      if (s.node < 0 || s.node == merge || !seen.insert(s.node).second) continue;
      if (std::ranges::find(body.guards(s.node), here) == body.guards(s.node).end()) {
        if (is_here(s.node)) all.push_back({&scope.home(s.node), s.node, s.port});
        continue;
      }
      for (const Source& input : body.inputs(s.node)) stack.push_back(input);
    }
  }
  if (guard->condition.node >= 0)
    all.push_back({&scope.home(guard->condition.node), guard->condition.node, guard->condition.port});
  return all;
}

Operands old_branch(Translation& t, Scope& scope, std::int32_t merge) {
  const Body& body = scope.body;
  const auto guard = condition_of(body, merge);
  if (!guard) throw Error(Code::unsupported_setting, "the condition that this joins is not found");
  const Operand condition = t.get(scope, guard->condition);
  if (condition.is_missing) return missing();
  const auto step = [&](bool which) -> Step {
    return [&, which](Graph& graph, const Operands&) -> Operands {
      Scope s(body, &scope, graph, Scope::Kind::branch);
      s.guard = {guard->condition, which};
      s.prefix = scope.prefix;
      return {t.get(s, body.inputs(merge)[which == guard->branch ? 1 : 0])};
    };
  };
  Operands result = branch(scope.builder, condition.value, step(true), step(false));
  if (any_missing(result)) return missing();
  GraphBuilder& g = scope.builder;
  Value* is_second = guard->branch ? condition.value : g.op("Not", {condition.value});
  result.push_back({g.cast(is_second, DType::i32)});
  return result;
}

}  // namespace ingot::frontends::tensorflow
