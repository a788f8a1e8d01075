// The gradient of Loop and Scan: a Loop that undoes the rounds, from the states that the forward one records.
#include "ingot/train/loop_gradient.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>

#include "ingot/base/error.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/sequence/elements.h"
#include "ingot/train/autodiff.h"
#include "ingot/train/subgraphs.h"

namespace ingot::train {
namespace {

bool is_real(const Value* v) { return v && v->type.is_tensor() && is_float(v->type.elem); }

/// How Loop and Scan differ, in one form. Along scanned axes, `reversed` ones run from the end.
struct Rounds {
  struct Axis {
    std::int64_t axis = 0;
    bool is_reversed = false;
  };
  bool is_loop = false;
  std::size_t first_state = 0;     // input of the node with the first state
  std::size_t first_body_in = 0;   // input of the body with the first state
  std::size_t first_body_out = 0;  // output of the body with the first state
  std::size_t states = 0;
  std::vector<Axis> ins, outs;  // what is scanned and put together
};

/// The numbers of inputs and outputs of the node and of its body, which all that follows counts on.
void require_fit(const Node& node, const Graph& body, std::size_t scanned) {
  const bool is_loop = node.is("Loop");
  const std::size_t inputs = is_loop ? std::max<std::size_t>(node.input_count(), 2) : node.input_count();
  const std::size_t others = is_loop ? 2 : scanned;
  const bool has_inputs = body.inputs().size() == inputs && inputs >= others && (is_loop || scanned > 0);
  const std::size_t results = body.output_count() - (is_loop && body.output_count() ? 1 : 0);
  if (has_inputs && (!is_loop || body.output_count()) && results >= inputs - others && node.output_count() <= results)
    return;
  throw Error(Code::bad_subgraph, "the inputs and outputs of the body do not fit those of the node");
}

Rounds read_rounds(const Node& node) {
  const Graph& body = body_of(node, "body");
  const std::int64_t stated = node.attributes.int_or("num_scan_inputs", 0);
  require_fit(node, body, static_cast<std::size_t>(std::max<std::int64_t>(stated, 0)));
  Rounds r;
  r.is_loop = node.is("Loop");
  if (r.is_loop) {
    r.first_state = r.first_body_in = 2;
    r.first_body_out = 1;
    r.states = body.inputs().size() - 2;
    r.outs.resize(body.output_count() - 1 - r.states);
    return r;
  }
  const auto scanned = static_cast<std::size_t>(stated);
  r.states = body.inputs().size() - scanned;
  r.ins.resize(scanned);
  r.outs.resize(body.output_count() - r.states);
  const auto fill = [&](std::vector<Rounds::Axis>& axes, const char* numbers, const char* directions) {
    const auto at = node.attributes.ints_or(numbers, {}), ways = node.attributes.ints_or(directions, {});
    for (std::size_t i = 0; i < axes.size(); ++i)
      axes[i] = {i < at.size() ? at[i] : 0, i < ways.size() && ways[i] != 0};
  };
  fill(r.ins, "scan_input_axes", "scan_input_directions");
  fill(r.outs, "scan_output_axes", "scan_output_directions");
  return r;
}

/// Makes the node put out one more value of each round; returns it, stacked along axis 0.
Value* record(Node& node, Value* of_body, const std::string& base) {
  Graph& body = body_of(node, "body");
  GraphBuilder inner(body);
  body.add_output(inner.op("Identity", {of_body}));
  if (node.is("Scan")) {
    for (const char* name : {"scan_output_axes", "scan_output_directions"}) {
      auto numbers = node.attributes.ints_or(name, {});
      if (numbers.empty()) continue;
      numbers.push_back(0);
      node.attributes.set(Attribute(name, AttrValue(numbers)));
    }
  }
  return node.add_output(node.graph().fresh_name(base));
}

/// The body's nodes with other values as inputs, inside another graph.
void copy_body(const Graph& body, Graph& into, Graph::ValueMap& map) {
  for (const Value* v : body.initializers())
    if (v->initializer && !map.contains(v)) map[v] = into.add_initializer(into.fresh_name(v->name()), *v->initializer);
  const auto order = topological_order(body);
  if (!order) throw Error(Code::not_sorted, "a loop's body has a cycle");
  for (const Node* node : *order) {
    Node* copy = into.add_copy(*node, map);
    for (std::size_t i = 0; i < copy->output_count(); ++i)
      if (copy->output(i) && node->output(i)) copy->output(i)->type = node->output(i)->type;
    ops::InferSession session;
    ops::infer_node(*copy, session);
  }
}

/// Zeros or the gradient that arrives, for a state that is carried backwards.
Value* or_zeros(GraphBuilder& g, Value* gradient, Value* like) {
  return gradient ? gradient : ops::zeros_like(g, like);
}

/// Builds the Loop that runs the rounds backwards.
class BackwardLoop {
 public:
  BackwardLoop(ops::GradContext& c, const Values& reads)
      : c_(c), reads_(reads), r_(read_rounds(c.node)), body_(body_of(c.node, "body")) {}

  Values gradients() {
    record_forward();
    choose_carried();
    begin_round();
    const Values wrt = differentiate_round();
    carried_[1] = c_.g.constant(Tensor::of<bool>({}, {true}));
    Node* made = c_.g.node("Loop", "", carried_, {}, wrt.size());
    made->attributes.append(Attribute("body", AttrValue(std::move(back_))));
    infer_again(*made);
    return read_from(*made);
  }

 private:
  /// The forward loop records the state that each round began with, and a Loop the number of each round.
  void record_forward() {
    Node& node = c_.node;
    GraphBuilder& g = c_.g;
    const std::string base = node.output() ? node.output()->name() : node.op;
    // What the node leaves out at the end has its place before what is recorded.
    while (node.output_count() + (r_.is_loop ? 1 : 0) < body_.output_count()) node.add_output({});
    for (std::size_t i = 0; i < r_.states; ++i) {
      if (!state_in(i)->type.is_tensor()) c_.fail("a loop's state is no tensor");
      began_.push_back(record(node, state_in(i), base + "/state"));
    }
    Value* numbered = r_.is_loop ? record(node, body_.inputs()[0], base + "/round") : nullptr;
    infer_again(node);
    if (r_.is_loop)
      count_ = g.op("Size", {numbered});
    else
      count_ = g.op("Gather", {g.shape(node.input(r_.states)), g.index(r_.ins.at(0).axis)});
  }

  /// What the backward loop carries: gradients of the states, and sums for what the body captures.
  void choose_carried() {
    const Node& node = c_.node;
    for (std::size_t i = 0; i < r_.states; ++i)
      if (is_real(node.output(i)) && is_real(node.input(r_.first_state + i))) real_states_.push_back(i);
    for (std::size_t i = node.input_count(); i < reads_.size(); ++i)
      if (c_.wants_read(i)) captures_.push_back(i);
    carried_ = {count_, nullptr};
    for (const std::size_t i : real_states_) carried_.push_back(or_zeros(c_.g, c_.dy(i), node.output(i)));
    for (const std::size_t i : captures_) carried_.push_back(or_zeros(c_.g, nullptr, reads_[i]));
  }

  /// The body of the backward loop computes the round that it undoes once more.
  void begin_round() {
    Graph& outer = c_.g.graph();
    back_ = std::make_unique<Graph>(&outer);
    back_->name = "backwards";
    round_ = back_->add_input(outer.fresh_name("round"), Type::tensor(DType::i64, Shape{}));
    goes_on_ = back_->add_input(outer.fresh_name("goes_on"), Type::tensor(DType::boolean, Shape{}));
    for (std::size_t i = 2; i < carried_.size(); ++i)
      carried_in_.push_back(back_->add_input(outer.fresh_name("carried"), carried_[i]->type));
    inner_.emplace(*back_);
    inner_->name_after("backwards");
    Value* last = inner_->sub(count_, inner_->index(1));
    undone_ = inner_->sub(last, round_);
    if (r_.is_loop) {
      copies_[body_.inputs()[0]] = undone_;
      copies_[body_.inputs()[1]] = inner_->constant(Tensor::of<bool>({}, {true}));
    }
    for (std::size_t i = 0; i < r_.states; ++i) copies_[state_in(i)] = inner_->op("Gather", {began_[i], undone_});
    for (std::size_t i = 0; i < r_.ins.size(); ++i)
      copies_[scanned_in(i)] = part_of_round(c_.node.input(r_.states + i), r_.ins[i]);
    copy_body(body_, *back_, copies_);
  }

  /// Puts the round's gradients out; returns by what it was differentiated.
  Values differentiate_round() {
    std::vector<Seed> seeds;
    for (std::size_t k = 0; k < real_states_.size(); ++k)
      seeds.push_back({copied(body_.output(r_.first_body_out + real_states_[k])), carried_in_[k]});
    for (std::size_t i = 0; i < r_.outs.size(); ++i) {
      Value* dy = c_.dy(r_.states + i);
      if (!dy) continue;
      Value* slice = part_of_round(dy, r_.outs[i]);
      seeds.push_back({copied(body_.output(r_.first_body_out + r_.states + i)), slice});
    }
    Values wrt;
    for (const std::size_t i : real_states_) wrt.push_back(copied(state_in(i)));
    for (const std::size_t i : captures_) wrt.push_back(reads_[i]);
    for (std::size_t i = 0; i < r_.ins.size(); ++i)
      if (c_.wants_read(r_.states + i)) {
        scanned_.push_back(i);
        wrt.push_back(copied(scanned_in(i)));
      }
    const Values gradients = seeds.empty() ? Values(wrt.size()) : differentiate(*back_, seeds, wrt);
    back_->add_output(inner_->op("Identity", {goes_on_}));
    for (std::size_t k = 0; k < wrt.size(); ++k) {
      const bool is_sum = k >= real_states_.size() && k < real_states_.size() + captures_.size();
      Value* gradient = gradients[k];
      if (is_sum) gradient = gradient ? inner_->add(carried_in_[k], gradient) : carried_in_[k];
      add_gradient_output(*inner_, gradient, wrt[k]);
    }
    return wrt;
  }

  Values read_from(const Node& made) {
    Values dxs(reads_.size());
    for (std::size_t k = 0; k < real_states_.size(); ++k) dxs[r_.first_state + real_states_[k]] = made.output(k);
    for (std::size_t k = 0; k < captures_.size(); ++k) dxs[captures_[k]] = made.output(real_states_.size() + k);
    for (std::size_t k = 0; k < scanned_.size(); ++k) {
      const std::size_t input = r_.states + scanned_[k];
      dxs[input] = unstacked(made.output(real_states_.size() + captures_.size() + k), input, r_.ins[scanned_[k]]);
    }
    return dxs;
  }

  /// What is stacked in the order of the backward rounds, along axis 0, as the input was scanned.
  Value* unstacked(Value* dx, std::size_t input, const Rounds::Axis& axis) {
    GraphBuilder& g = c_.g;
    if (!axis.is_reversed) {
      constexpr std::int64_t kBeforeFirst = std::numeric_limits<std::int64_t>::min();
      dx = g.op("Slice", {dx, g.ints({-1}), g.ints({kBeforeFirst}), g.ints({0}), g.ints({-1})});
    }
    if (axis.axis == 0) return dx;
    const std::int64_t rank = c_.rank(input);
    const std::int64_t to = axis.axis < 0 ? axis.axis + rank : axis.axis;
    std::vector<std::int64_t> perm;
    for (std::int64_t i = 1; i < rank; ++i) perm.push_back(i);
    perm.insert(perm.begin() + to, 0);
    return g.transpose(dx, perm);
  }

  Value* state_in(std::size_t i) const { return body_.inputs()[r_.first_body_in + i]; }
  Value* scanned_in(std::size_t i) const { return body_.inputs()[r_.states + i]; }

  /// What the undone round reads or makes of a value along its axis.
  Value* part_of_round(Value* v, const Rounds::Axis& axis) {
    return inner_->op("Gather", {v, axis.is_reversed ? round_ : undone_}, {{"axis", axis.axis}});
  }

  Value* copied(Value* v) const {
    const auto found = copies_.find(v);
    return found == copies_.end() ? v : found->second;
  }

  ops::GradContext& c_;
  const Values& reads_;
  const Rounds r_;
  Graph& body_;
  Values began_;  // the states that each round began with, stacked
  Value* count_ = nullptr;
  std::vector<std::size_t> real_states_, captures_, scanned_;  // states, reads and scanned inputs with gradients
  Values carried_, carried_in_;                                // outside, and as inputs of the backward body
  std::unique_ptr<Graph> back_;
  std::optional<GraphBuilder> inner_;
  Value *round_ = nullptr, *undone_ = nullptr, *goes_on_ = nullptr;  // undone: the number of the forward round
  Graph::ValueMap copies_;                                           // of the body's values in the backward one
};

}  // namespace

Values loop_gradient(ops::GradContext& c, const Values& reads) { return BackwardLoop(c, reads).gradients(); }

}  // namespace ingot::train
