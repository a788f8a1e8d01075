// If and Loop as statements.
#include <fmt/format.h>

#include "ingot/backends/torch/operators.h"

namespace ingot::backends::torch {
namespace {

const Graph& body_of(const Node& node, std::string_view name) { return **node.attributes.get<GraphPtr>(name); }

/// Sets variables to a graph's outputs, all at once: one may be what another was.
void hand_over(Script& s, const std::vector<std::string>& names, std::vector<std::string> values) {
  for (std::size_t i = 0; i < names.size(); ++i)
    for (std::size_t j = i + 1; j < names.size(); ++j)
      if (values[j] == names[i]) {
        const std::string kept = s.fresh("kept");
        s.line(kept + " = " + values[j]);
        values[j] = kept;
      }
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] != values[i]) s.line(names[i] + " = " + values[i]);
}

void write_branch(const NodeOut& n, const Graph& branch, const std::vector<std::string>& names) {
  n.s.indent();
  write_nodes(n.s, branch);
  std::vector<std::string> values;
  for (std::size_t i = 0; i < branch.output_count(); ++i) values.push_back(n.s.name(branch.output(i)));
  hand_over(n.s, names, values);
  n.s.dedent();
}

/// What a Loop gathers, one element per round: of no rounds an empty tensor.
std::string stacked(const NodeOut& n, const std::string& rounds, const Value* one) {
  std::string sizes = "0";
  if (one->type.shape)
    for (const Dim& d : *one->type.shape) sizes += ", " + text_of(d.as_int().value_or(0));
  return fmt::format("torch.stack({0}, 0) if len({0}) > 0 else torch.zeros([{1}], dtype={2})", rounds, sizes,
                     n.type(one->type.elem));
}

}  // namespace

void write_if(const NodeOut& n) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < n.node.output_count(); ++i) names.push_back(n.out(i));
  // A variable that is optional in one branch alone must be known as such before.
  for (std::size_t i = 0; i < names.size(); ++i)
    if (n.node.output(i) && n.node.output(i)->type.is_optional())
      n.s.line(names[i] + ": " + annotation_of(n.node.output(i)->type) + " = None");
  n.s.line("if bool(" + n.in(0) + "):");
  write_branch(n, body_of(n.node, "then_branch"), names);
  n.s.line("else:");
  write_branch(n, body_of(n.node, "else_branch"), names);
}

void write_loop(const NodeOut& n) {
  Script& s = n.s;
  const Graph& body = body_of(n.node, "body");
  const std::size_t carried = n.node.input_count() < 2 ? 0 : n.node.input_count() - 2;
  const std::string round = s.fresh("round"), goes_on = s.fresh("goes_on");
  s.line(round + " = 0");
  s.line(goes_on + " = " + (n.has(1) ? "bool(" + n.in(1) + ")" : "True"));
  std::vector<std::string> state{goes_on}, lists;
  for (std::size_t i = 0; i < carried; ++i) {
    const Value* inner = body.inputs()[i + 2];
    state.push_back(s.fresh(inner->name()));
    s.bind(inner, state.back());
    const Type& type = n.node.input(i + 2)->type;
    s.line(state.back() + (type.is_tensor() ? std::string() : ": " + annotation_of(type)) + " = " + n.in(i + 2));
  }
  for (std::size_t i = carried; i < n.node.output_count(); ++i) {
    lists.push_back(s.fresh("rounds"));
    s.line(lists.back() + ": List[Tensor] = []");
  }
  const std::string limit = n.has(0) ? s.fresh("limit") : "";
  if (n.has(0)) s.line(limit + " = " + n.integer(0));
  s.line("while " + (n.has(0) ? round + " < " + limit + " and " : std::string()) + goes_on + ":");
  s.indent();
  for (std::size_t i = 0; i < 2; ++i) {
    const Value* inner = body.inputs()[i];
    s.bind(inner, s.fresh(inner->name()));
    if (!inner->uses().empty()) s.line(s.name(inner) + " = torch.tensor(" + (i == 0 ? round : goes_on) + ")");
  }
  write_nodes(s, body);
  for (std::size_t i = 0; i < lists.size(); ++i)
    s.line(lists[i] + ".append(" + s.name(body.output(carried + 1 + i)) + ")");
  std::vector<std::string> values{body.output(0) == body.inputs()[1] ? goes_on
                                                                     : "bool(" + s.name(body.output(0)) + ")"};
  for (std::size_t i = 0; i < carried; ++i) values.push_back(s.name(body.output(i + 1)));
  hand_over(s, state, values);
  s.line(round + " = " + round + " + 1");
  s.dedent();
  for (std::size_t i = 0; i < carried; ++i) {
    const Value* out = n.node.output(i);
    if (out && !out->type.is_optional() && n.node.input(i + 2)->type.is_optional())
      s.line("assert " + state[i + 1] + " is not None");
    n.set(state[i + 1], i);
  }
  for (std::size_t i = 0; i < lists.size(); ++i) n.set(stacked(n, lists[i], body.output(carried + 1 + i)), carried + i);
}

}  // namespace ingot::backends::torch
