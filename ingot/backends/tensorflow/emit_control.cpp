// Branches and loops as functions.
#include <algorithm>

#include "ingot/backends/captured.h"
#include "ingot/backends/tensorflow/rows.h"
#include "ingot/backends/tensorflow/sequences.h"
#include "ingot/ops/infer.h"

namespace ingot::backends::tensorflow {
namespace {

Graph* body_of(const Node& node, std::string_view name) {
  const GraphPtr* graph = node.attributes.get<GraphPtr>(name);
  return graph ? graph->get() : nullptr;
}

/// The values that a Loop hands from round to round; limit and condition may be left out at the end.
std::size_t state_count(const Node& loop) { return std::max<std::size_t>(loop.input_count(), 2) - 2; }

bool draws_numbers(Graph& root) {
  bool is_any = false;
  for_each_graph(root, [&](Graph& g) {
    for (const Node& node : g.nodes()) is_any |= node.op.starts_with("Random");
  });
  return is_any;
}

tf::TensorShape shape_of_value(const Value* v) {
  return v->type.is_tensor() ? shape_word(v->type.shape) : tf::TensorShape{};
}

/// What both branches may give.
tf::TensorShape joined(const tf::TensorShape& a, const tf::TensorShape& b) {
  if (a.unknown_rank || b.unknown_rank || a.dims.size() != b.dims.size()) return {.unknown_rank = true};
  tf::TensorShape both = a;
  for (std::size_t i = 0; i < both.dims.size(); ++i)
    if (a.dims[i] != b.dims[i]) both.dims[i] = -1;
  return both;
}

}  // namespace

Refused refuse_if(const Node& n, Dialect) {
  if (ops::constant_of(n.input(0))) return Refusal{Kind::structure, "the condition is known"};  // and one branch enough
  if (body_of(n, "then_branch") && body_of(n, "else_branch")) return {};
  return Refusal{Kind::structure, "a branch is missing"};
}

void emit_if(NodeOut& n) {
  Emitter& e = n.e;
  Graph *yes = body_of(n.node, "then_branch"), *no = body_of(n.node, "else_branch");
  std::vector<const Value*> captured;
  collect_captured(*yes, captured);
  collect_captured(*no, captured);
  Refs inputs{n.scalar(0)};
  for (const Value* v : captured) inputs.push_back(e.ref(v));
  std::vector<tf::DataType> types;
  std::vector<tf::TensorShape> shapes;
  for (std::size_t i = 0; i < n.node.output_count(); ++i) {
    types.push_back(word_for(yes->output(i)->type));
    shapes.push_back(joined(shape_of_value(yes->output(i)), shape_of_value(no->output(i))));
  }
  const std::string scope = e.scope();
  const std::string first = e.function_of(*yes, captured, scope + "_true"),
                    second = e.function_of(*no, captured, scope + "_false");
  const Ref made = e.add(draws_numbers(*yes) || draws_numbers(*no) ? "If" : "StatelessIf", inputs,
                         {{"Tout", types},
                          function_attr("then_branch", first),
                          function_attr("else_branch", second),
                          {"output_shapes", shapes}});
  for (std::size_t i = 0; i < n.node.output_count(); ++i) n.set({made.node, static_cast<std::int32_t>(i)}, i);
}

Refused refuse_loop(const Node& n, Dialect dialect) {
  Graph* body = body_of(n, "body");
  if (!body) return Refusal{Kind::structure, "the body is missing"};
  if (body->inputs().size() != state_count(n) + 2 || body->output_count() < state_count(n) + 1)
    return Refusal{Kind::structure, "the body does not take or give what the node carries"};
  for (std::size_t i = 2; i < n.input_count(); ++i)
    if (!n.input(i)) return Refusal{Kind::structure, "a state without a first value"};
  // What a function makes TF.js throws away when it returns, elements of lists too.
  if (dialect == Dialect::tfjs && body->output_count() > 1 + state_count(n))
    return Refusal{Kind::structure, "outputs that are gathered from the rounds of a Loop"};
  if (dialect == Dialect::tfjs)
    for (const Value* v : body->inputs())
      if (!v->type.is_tensor()) return Refusal{Kind::not_a_tensor, "TF.js keeps no list from round to round"};
  for (std::size_t i = 1 + state_count(n); i < body->output_count(); ++i)
    if (!body->output(i)->type.is_tensor()) return Refusal{Kind::not_a_tensor, "a sequence gathered from the rounds"};
  return {};
}

namespace {

/// A Loop as it is carried from round to round: round, limit, condition, states, gathered lists, captured values.
struct Carried {
  NodeOut& n;
  Graph& body;
  std::vector<const Value*> captured{};
  std::size_t states = 0, gathered = 0;

  Refs first_values() const {
    Emitter& e = n.e;
    Refs all{e.constant(Tensor::scalar<std::int64_t>(0)),
             n.has(0) ? n.scalar(0) : e.constant(Tensor::scalar<std::int64_t>(INT64_MAX)),
             n.has(1) ? n.scalar(1) : e.constant(Tensor::scalar<bool>(true))};
    for (std::size_t i = 0; i < states; ++i) all.push_back(n.in(2 + i));
    for (std::size_t i = 0; i < gathered; ++i) all.push_back(empty_list(e, body.output(1 + states + i)->type));
    for (const Value* v : captured) all.push_back(e.ref(v));
    return all;
  }

  std::vector<tf::DataType> types() const {
    std::vector<tf::DataType> all{tf::DataType::i64, tf::DataType::i64, tf::DataType::boolean};
    for (std::size_t i = 0; i < states; ++i) all.push_back(word_for(body.inputs()[2 + i]->type));
    all.insert(all.end(), gathered, tf::DataType::variant);
    for (const Value* v : captured) all.push_back(word_for(v->type));
    return all;
  }

  std::vector<tf::TensorShape> shapes() const {
    std::vector<tf::TensorShape> all(3);
    for (std::size_t i = 0; i < states; ++i) all.push_back(state_shape(i));
    all.insert(all.end(), gathered, tf::TensorShape{});
    for (const Value* v : captured) all.push_back(shape_of_value(v));
    return all;
  }

  /// What a state is before the first round and after each.
  tf::TensorShape state_shape(std::size_t i) const {
    return joined(shape_of_value(n.node.input(2 + i)), shape_of_value(body.output(1 + i)));
  }

  std::string condition(const std::string& name) const {
    Emitter inner(n.e.output());
    const std::string made = inner.output().unique(name);
    inner.set_scope(made);
    Refs args;
    for (const tf::DataType type : types()) args.push_back(inner.argument(type));
    const Ref below = inner.add("Less", {args[0], args[1]});
    inner.add_function(made, {inner.add("LogicalAnd", {below, args[2]})});
    return made;
  }

  std::string round(const std::string& name) const {
    Emitter inner(n.e.output());
    const std::string made = inner.output().unique(name);
    inner.set_scope(made);
    Refs args;
    for (const tf::DataType type : types()) args.push_back(inner.argument(type));
    inner.bind(body.inputs()[0], args[0]);
    inner.bind(body.inputs()[1], args[2]);
    for (std::size_t i = 0; i < states; ++i) inner.bind(body.inputs()[2 + i], args[3 + i]);
    const std::size_t outside = 3 + states + gathered;
    for (std::size_t i = 0; i < captured.size(); ++i) inner.bind(captured[i], args[outside + i]);
    inner.emit_nodes(body);
    inner.set_scope(made);
    Refs results{inner.add("AddV2", {args[0], inner.constant(Tensor::scalar<std::int64_t>(1))}), args[1],
                 scalar_of(inner, body.output(0))};
    for (std::size_t i = 0; i < states; ++i) results.push_back(inner.ref(body.output(1 + i)));
    for (std::size_t i = 0; i < gathered; ++i)
      results.push_back(
          inner.add("TensorListPushBack", {args[3 + states + i], inner.ref(body.output(1 + states + i))}));
    for (std::size_t i = 0; i < captured.size(); ++i) results.push_back(args[outside + i]);
    inner.add_function(made, results);
    return made;
  }

  static Ref scalar_of(Emitter& e, const Value* v) {
    const bool is_scalar = v->type.shape && v->type.shape->empty();
    return is_scalar ? e.ref(v) : reshaped(e, e.ref(v), {});
  }
};

}  // namespace

void emit_loop(NodeOut& n) {
  Emitter& e = n.e;
  Graph* body = body_of(n.node, "body");
  Carried carried{n, *body};
  collect_captured(*body, carried.captured);
  carried.states = state_count(n.node);
  carried.gathered = body->output_count() - 1 - carried.states;
  const std::string scope = e.scope();
  const Refs first = carried.first_values();
  const std::string condition = carried.condition(scope + "_cond"), round = carried.round(scope + "_body");
  const Ref loop =
      e.add(draws_numbers(*body) ? "While" : "StatelessWhile", first,
            {function_attr("cond", condition), function_attr("body", round), {"output_shapes", carried.shapes()}});
  for (std::size_t i = 0; i < carried.states; ++i) n.set({loop.node, static_cast<std::int32_t>(3 + i)}, i);
  for (std::size_t i = 0; i < carried.gathered; ++i) {
    const std::size_t at = carried.states + i;
    if (!n.node.output(at)) continue;
    const Type& type = body->output(1 + at)->type;
    n.set(stacked(e, {loop.node, static_cast<std::int32_t>(3 + at)}, type), at);
  }
}

}  // namespace ingot::backends::tensorflow
