// The operators of torch.export that take graphs: branches and loops.
#include <fmt/format.h>

#include "ingot/base/error.h"
#include "ingot/frontends/repeat.h"
#include "ingot/frontends/torch/call.h"
#include "ingot/frontends/torch/exported_graph.h"
#include "ingot/ops/infer.h"

namespace ingot::frontends::torch {
namespace {

namespace files = formats::torch;
constexpr int kDeepestGraph = 16;

const files::ExportedGraph& graph_at(const files::ExportedNode& node, std::size_t i) {
  if (i >= node.inputs.size() || !node.inputs[i].value.graph)
    throw Error(Code::bad_source_graph, fmt::format("argument {} of '{}' is no graph", i, node.target));
  return *node.inputs[i].value.graph;
}

void add_flat(const Item& item, std::vector<Item>& made) {
  if (const ListRef* list = item.get<ListRef>())
    made.insert(made.end(), (*list)->items.begin(), (*list)->items.end());
  else
    made.push_back(item);
}

Value* value_of(Translation& t, const Item& item) {
  if (const TensorRef* tensor = item.get<TensorRef>()) return t.read(*tensor);
  if (item.is_number()) return t.value_of(item, DType::f64);
  refuse("a graph that is chosen or repeated when the model runs gives a " + kind_text(item));
}

Values values_of(Translation& t, const std::vector<Item>& items) {
  Values made;
  for (const Item& item : items) made.push_back(value_of(t, item));
  return made;
}

/// The item with another value: a number stays one.
Item like(const Item& item, Value* value) { return item.is_number() ? Item(Scalar{value}) : Item(value); }

std::vector<Item> all_like(const std::vector<Item>& items, const Values& values, std::size_t from = 0) {
  std::vector<Item> made;
  for (std::size_t i = 0; i < items.size(); ++i) made.push_back(like(items[i], values.at(from + i)));
  return made;
}

Value* condition_of(Translation& t, const Item& item) {
  Value* value = t.g().cast(value_of(t, item), DType::boolean);
  return rank_of(value) == 0 ? value : t.g().reshape(value, {});
}

GraphPtr inner_graph(Translation& t, const char* name) {
  auto graph = std::make_unique<Graph>(&t.g().graph());
  graph->name = t.g().graph().fresh_name(name);
  return graph;
}

}  // namespace

std::vector<Item> ExportedGraph::operands(const Node& node, std::size_t from) const {
  std::vector<Item> made;
  for (std::size_t i = from; i < node.inputs.size(); ++i) add_flat(item(node.inputs[i].value), made);
  return made;
}

std::vector<Item> ExportedGraph::inner(const files::ExportedGraph& graph, const std::vector<Item>& inputs) {
  if (depth_ >= kDeepestGraph) throw Error(Code::depth_limit, "graphs are nested too deeply");
  if (graph.inputs.size() != inputs.size())
    throw Error(Code::bad_source_graph,
                fmt::format("a graph of {} inputs is given {}", graph.inputs.size(), inputs.size()));
  ExportedGraph own(t_);
  own.depth_ = depth_ + 1;
  for (std::size_t i = 0; i < inputs.size(); ++i) own.set(graph.inputs[i].text, inputs[i]);
  own.run(graph);
  std::vector<Item> outputs;
  for (const Argument& output : graph.outputs) add_flat(own.item(output), outputs);
  return outputs;
}

Item ExportedGraph::cond(const Node& node) {
  const files::ExportedGraph &yes = graph_at(node, 1), &no = graph_at(node, 2);
  const Item condition = item(node.inputs.at(0).value);
  const std::vector<Item> given = operands(node, 3);
  if (const auto* known = condition.get<bool>()) return Item::tuple(inner(*known ? yes : no, given));
  Value* chosen = condition_of(t_, condition);
  std::vector<Item> results;
  GraphPtr branches[2];
  for (const bool is_yes : {true, false}) {
    GraphPtr& branch = branches[is_yes ? 0 : 1];
    branch = inner_graph(t_, "branch");
    t_.inside(*branch, [&] {
      results = inner(is_yes ? yes : no, given);
      for (const Item& result : results) branch->add_output(t_.g().op("Identity", {value_of(t_, result)}));
    });
  }
  if (branches[0]->outputs().size() != branches[1]->outputs().size())
    throw Error(Code::bad_source_graph, "two branches give different numbers of results");
  ingot::Node* made = t_.g().node("If", "", {chosen}, {}, results.size());
  made->attributes.append(Attribute("then_branch", AttrValue(std::move(branches[0]))));
  made->attributes.append(Attribute("else_branch", AttrValue(std::move(branches[1]))));
  ops::InferSession session;
  ops::infer_node(*made, session);
  return Item::tuple(all_like(results, made->outputs()));
}

/// f(condition, body, carried, others)
Item ExportedGraph::while_loop(const Node& node) {
  const files::ExportedGraph &goes_on = graph_at(node, 0), &body = graph_at(node, 1);
  std::vector<Item> carried, others;
  add_flat(item(node.inputs.at(2).value), carried);
  others = operands(node, 3);
  const auto with_others = [&](std::vector<Item> items) {
    items.insert(items.end(), others.begin(), others.end());
    return items;
  };
  const auto holds = [&](const std::vector<Item>& items) {
    return condition_of(t_, inner(goes_on, with_others(items)).at(0));
  };
  Values start = values_of(t_, carried);
  start.push_back(holds(carried));
  // The condition goes round as state: a loop whose condition fails at once makes no round.
  GraphPtr loop_body = inner_graph(t_, "body");
  Graph& inside = *loop_body;
  inside.add_input(inside.fresh_name("round"), Type::tensor(DType::i64, Shape()));
  inside.add_input(inside.fresh_name("condition"), Type::tensor(DType::boolean, Shape()));
  Values state;
  for (std::size_t i = 0; i + 1 < start.size(); ++i)
    state.push_back(inside.add_input(inside.fresh_name("state"), start[i]->type));
  t_.inside(inside, [&] {
    const std::vector<Item> next = inner(body, with_others(all_like(carried, state)));
    if (next.size() < carried.size()) throw Error(Code::bad_source_graph, "a loop gives back less than it carries");
    const std::vector<Item> kept(next.begin(), next.begin() + static_cast<std::ptrdiff_t>(carried.size()));
    inside.add_output(t_.g().op("Identity", {holds(kept)}));
    for (const Item& one : kept) inside.add_output(t_.g().op("Identity", {value_of(t_, one)}));
  });
  Values inputs{nullptr, start.back()};
  inputs.insert(inputs.end(), start.begin(), start.end() - 1);
  ingot::Node* made = t_.g().node("Loop", "", inputs, {}, carried.size());
  made->attributes.append(Attribute("body", AttrValue(std::move(loop_body))));
  ops::InferSession session;
  ops::infer_node(*made, session);
  return Item::tuple(all_like(carried, made->outputs()));
}

/// f(body, arrays, others): the body runs for each index of the first axis.
Item ExportedGraph::map(const Node& node) {
  const files::ExportedGraph& body = graph_at(node, 0);
  std::vector<Item> arrays;
  add_flat(item(node.inputs.at(1).value), arrays);
  const std::vector<Item> others = operands(node, 2);
  const Values from = values_of(t_, arrays);
  if (from.empty()) refuse("nothing is mapped");
  GraphBuilder& g = t_.g();
  // A Loop has a state: a number that nobody reads.
  const auto one_row = [&](GraphBuilder& inner_g, Value* round, const Values& state) {
    Values results = state;
    t_.inside(inner_g.graph(), [&] {
      std::vector<Item> inputs;
      for (Value* array : from) inputs.emplace_back(t_.g().op("Gather", {array, round}));
      inputs.insert(inputs.end(), others.begin(), others.end());
      for (Value* made : values_of(t_, inner(body, inputs))) results.push_back(made);
    });
    return results;
  };
  const Values made = repeat(g, size_of(g, from[0], 0), {g.index(0)}, one_row);
  return Item::tensors(Values(made.begin() + 1, made.end()));
}

/// f(body, state, arrays, others): the state goes through the rows of the arrays.
Item ExportedGraph::scan(const Node& node) {
  const files::ExportedGraph& body = graph_at(node, 0);
  std::vector<Item> state, arrays;
  add_flat(item(node.inputs.at(1).value), state);
  add_flat(item(node.inputs.at(2).value), arrays);
  for (std::size_t i = 3; i < node.inputs.size(); ++i)
    if (node.inputs[i].value.kind == Argument::Kind::boolean && node.inputs[i].value.integer)
      refuse("a scan from the end");
  std::vector<Item> others;
  if (node.inputs.size() > 3 && node.inputs.back().value.kind == Argument::Kind::list)
    add_flat(item(node.inputs.back().value), others);
  const Values from = values_of(t_, arrays);
  if (from.empty()) refuse("nothing is scanned");
  GraphBuilder& g = t_.g();
  const Values made = repeat(g, size_of(g, from[0], 0), values_of(t_, state),
                             [&](GraphBuilder& inner_g, Value* round, const Values& now) {
                               Values results;
                               t_.inside(inner_g.graph(), [&] {
                                 std::vector<Item> inputs = all_like(state, now);
                                 for (Value* array : from) inputs.emplace_back(t_.g().op("Gather", {array, round}));
                                 inputs.insert(inputs.end(), others.begin(), others.end());
                                 results = values_of(t_, inner(body, inputs));
                               });
                               return results;
                             });
  return Item::tensors(made);
}

Item ExportedGraph::higher_order(std::string_view name, const Node& node) {
  try {
    if (name == "cond") return cond(node);
    if (name == "while_loop") return while_loop(node);
    if (name == "map_impl" || name == "map") return map(node);
    if (name == "scan") return scan(node);
    // Contexts around a graph, which change nothing of what it computes.
    for (std::size_t i = 0; name.starts_with("wrap") || name.starts_with("invoke_subgraph") || name == "hints_wrapper";
         ++i) {
      if (i >= node.inputs.size()) break;
      if (!node.inputs[i].value.graph) continue;
      std::size_t from = i + 1;
      if (name == "invoke_subgraph" && from < node.inputs.size() &&
          node.inputs[from].value.kind == Argument::Kind::text)
        ++from;  // which one it is
      return Item::tuple(inner(*node.inputs[i].value.graph, operands(node, from)));
    }
  } catch (const Error& error) {
    if (error.exit_code() == 70 || error.exit_code() == 5) throw;
    t_.problems.add(t_.scope(), "higher_order." + std::string(name), error);
    return Unknown{};
  }
  t_.problems.add(t_.scope(), "higher_order." + std::string(name), "there is no translation for this operator",
                  Code::unsupported_operator);
  return Unknown{};
}

}  // namespace ingot::frontends::torch
