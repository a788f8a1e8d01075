// Batch normalisation in training, and what differentiation made of it, become one node each.
#include "ingot/engine/rewrites/fuse_trained_normalization.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "ingot/engine/domain.h"
#include "ingot/engine/rewrites/pattern.h"
#include "ingot/ops/builder.h"

namespace ingot::engine {
namespace {

bool is_float(const Value* v) { return v && v->type.elem == DType::f32 && v->type.shape; }

/// The node of this operator that makes a value.
Node* made_by(const Value* v, std::string_view op) {
  Node* node = v ? v->producer() : nullptr;
  return node && node->is(op) && &node->graph() == &v->graph() ? node : nullptr;
}

bool can_fuse(const Node& node) {
  if (!node.is("BatchNormalization") || node.attributes.int_or("training_mode", 0) == 0 || !node.output(0))
    return false;
  for (std::size_t i = 0; i < 5; ++i)
    if (!is_float(node.input(i))) return false;
  const Shape& x = *node.input(0)->type.shape;
  if (x.size() < 2 || !x[1].is_known()) return false;
  for (std::size_t i = 1; i < 5; ++i)
    if (node.input(i)->type.shape->size() != 1 || !same(node.input(i)->type.shape->front(), x[1])) return false;
  return true;
}

Node* fuse_forward(Node& node) {
  Graph& graph = node.graph();
  Node* tail = &node;
  std::vector<Node*> nodes = {&node};
  Value* added = nullptr;
  std::optional<Limits> limits;
  if (Node* sum = only_reader(tail->output(0)); sum && sum->is("Add")) {
    Value* other = sum->input(0) == tail->output(0) ? sum->input(1) : sum->input(0);
    if (is_float(other) && have_same_shape(other, tail->output(0))) {
      added = other;
      tail = sum;
      nodes.push_back(sum);
    }
  }
  if (Node* limit = only_reader(tail->output(0)); limit && limit->input(0) == tail->output(0)) {
    limits = limits_of(*limit);
    if (limits) {
      tail = limit;
      nodes.push_back(limit);
    }
  }
  Attrs attrs = {{"epsilon", node.attributes.float_or("epsilon", 1e-5f)},
                 {"momentum", node.attributes.float_or("momentum", 0.9f)}};
  if (limits) {
    attrs.emplace_back("low", limits->low);
    attrs.emplace_back("high", limits->high);
  }
  GraphBuilder g(graph, tail);
  Values inputs;
  for (std::size_t i = 0; i < 5; ++i) inputs.push_back(node.input(i));
  inputs.push_back(added);
  Node* made = g.node("TrainedNormalization", kEngineDomain, inputs, attrs, 5);
  made->name = names_of(nodes);
  made->output(0)->type = tail->output(0)->type;
  for (std::size_t i = 1; i < 5; ++i) {
    made->output(i)->type = node.input(1)->type;
    if (i < 3 && node.output(i)) graph.replace_all_uses(node.output(i), made->output(i));
  }
  graph.replace_all_uses(tail->output(0), made->output(0));
  for (std::size_t i = nodes.size(); i-- > 0;) graph.erase(nodes[i]);
  return made;
}

/// The gradient's nodes, found from the product at their end.
struct Gradient {
  Node* end = nullptr;
  Value *x = nullptr, *dy = nullptr, *scale = nullptr, *sum = nullptr, *weighted = nullptr;
  float epsilon = 0;

  bool match(Node& node) {
    end = &node;
    if (!node.is("Mul") || !is_float(node.output(0)) || node.output(0)->type.shape->size() < 2) return false;
    Node* own = made_by(node.input(0), "Sub");
    const Node* slope = made_by(node.input(1), "Div");
    const Node* centred = own ? made_by(own->input(0), "Sub") : nullptr;
    const Node* tilt = own ? made_by(own->input(1), "Mul") : nullptr;
    if (!slope || !centred || !tilt) return false;
    dy = centred->input(0);
    scale = slope->input(0);
    Value* spread = slope->input(1);
    Value* normal = tilt->input(0);
    const Node *moved = made_by(centred->input(1), "Div"), *scaled = made_by(tilt->input(1), "Div");
    if (!moved || !scaled || moved->input(1) != scaled->input(1)) return false;
    sum = moved->input(0);
    weighted = scaled->input(0);
    if (!match_statistics(normal, spread) || !match_sums(normal)) return false;
    return is_count(moved->input(1)) && is_float(scale) && have_same_shape(dy, x) &&
           scale->type.shape->size() == x->type.shape->size();
  }

 private:
  bool match_statistics(const Value* normal, const Value* spread) {
    const Node *quotient = made_by(normal, "Div"), *root = made_by(spread, "Sqrt");
    if (!quotient || !root || quotient->input(1) != spread) return false;
    const Node *deviation = made_by(quotient->input(0), "Sub"), *shifted = made_by(root->input(0), "Add");
    if (!deviation || !shifted) return false;
    const auto number = constant_number(shifted->input(1), 0);
    const Node *variance = made_by(shifted->input(0), "ReduceMean"), *mean = made_by(deviation->input(1), "ReduceMean");
    if (!number || !variance || !mean) return false;
    epsilon = *number;
    x = deviation->input(0);
    mean_ = mean->output(0);
    const Node* square = made_by(variance->input(0), "Mul");
    return square && square->input(0) == deviation->output(0) && square->input(1) == deviation->output(0) &&
           mean->input(0) == x && is_over_all_but_channels(*mean) && is_over_all_but_channels(*variance);
  }

  bool match_sums(const Value* normal) const {
    const Node *plain = made_by(sum, "ReduceSum"), *total = made_by(weighted, "ReduceSum");
    if (!plain || !total || plain->input(0) != dy) return false;
    const Node* product = made_by(total->input(0), "Mul");
    return product && product->input(0) == dy && product->input(1) == normal && is_over_all_but_channels(*plain) &&
           is_over_all_but_channels(*total);
  }

  static bool is_over_all_but_channels(const Node& node) {
    const Tensor* axes = constant_of(node.input(1));
    if (!axes || axes->dtype() != DType::i64 || !is_float(node.input(0)) || node.attributes.int_or("keepdims", 1) == 0)
      return false;
    const auto rank = static_cast<std::int64_t>(node.input(0)->type.shape->size());
    std::vector<std::int64_t> wanted = {0};
    for (std::int64_t i = 2; i < rank; ++i) wanted.push_back(i);
    return axes->to_ints() == wanted;
  }

  /// Places per channel: a number, or the quotient of the sizes of x and its mean.
  bool is_count(const Value* v) const {
    if (const auto number = constant_number(v, 0)) {
      std::int64_t places = 1;
      const Shape& shape = *x->type.shape;
      for (std::size_t i = 0; i < shape.size(); ++i) {
        if (i == 1) continue;
        if (!shape[i].is_known()) return false;
        places *= shape[i].value();
      }
      return static_cast<double>(*number) == static_cast<double>(places);
    }
    const Node* quotient = made_by(v, "Div");
    const auto is_size_of = [](const Value* size, const Value* of) {
      const Node* cast = made_by(size, "Cast");
      if (!cast) {
        const auto number = constant_number(size, 0);
        const auto dims = static_dims(of->type.shape);
        return number && dims && static_cast<double>(*number) == static_cast<double>(tensor_size(*dims));
      }
      const Node* node = made_by(cast->input(0), "Size");
      return node && node->input(0) == of;
    };
    return quotient && is_size_of(quotient->input(0), x) && is_size_of(quotient->input(1), mean_);
  }

  const Value* mean_ = nullptr;
};

/// Takes out a node and those before it that nobody reads any more.
void erase_unread(Node* node) {
  std::vector<Node*> candidates = {node};
  while (!candidates.empty()) {
    Node* last = candidates.back();
    candidates.pop_back();
    bool is_read = false;
    for (const Value* v : last->outputs()) is_read |= v && !v->uses().empty();
    if (is_read) continue;
    Graph& graph = last->graph();
    std::vector<Node*> before;
    for (const Value* v : last->inputs())
      if (v && v->producer() && &v->producer()->graph() == &graph) before.push_back(v->producer());
    std::erase_if(candidates, [&](const Node* other) { return other == last; });
    graph.erase(last);
    for (Node* other : before)
      if (std::ranges::find(candidates, other) == candidates.end()) candidates.push_back(other);
  }
}

void fuse_gradient(const Gradient& found, const Node& forward) {
  Graph& graph = found.end->graph();
  GraphBuilder g(graph, found.end);
  Node* made = g.node("NormalizationGradient", kEngineDomain,
                      {found.dy, found.x, found.scale, forward.output(3), forward.output(4)}, {}, 3);
  made->name = found.end->name;
  const Values old = {found.end->output(0), found.weighted, found.sum};
  for (std::size_t i = 0; i < old.size(); ++i) {
    made->output(i)->type = old[i]->type;
    graph.replace_all_uses(old[i], made->output(i));
  }
  Node *weighted = found.weighted->producer(), *sum = found.sum->producer();
  for (Node* node : {found.end, weighted, sum}) erase_unread(node);
  Node* gate = made->input(0)->producer();
  if (gate && gate->domain == kEngineDomain && gate->op == "Gate" && only_reader(gate->output(0))) {
    Value *by = gate->input(0), *dy = gate->input(1);
    made->set_input(0, dy);
    made->set_input(5, by);
    graph.erase(gate);
  }
}

}  // namespace

void fuse_trained_normalization(Graph& graph) {
  std::vector<Node*> forward;
  for (Node& node : graph.nodes())
    if (can_fuse(node)) forward.push_back(&node);
  if (forward.empty()) return;
  std::vector<std::pair<Node*, float>> made;
  for (Node* node : forward) {
    const float epsilon = node->attributes.float_or("epsilon", 1e-5f);
    made.emplace_back(fuse_forward(*node), epsilon);
  }
  std::unordered_map<const Value*, std::pair<Node*, float>> by_input;
  for (const auto& entry : made) by_input.insert_or_assign(entry.first->input(0), entry);
  std::vector<Node*> ends;
  for (Node& node : graph.nodes())
    if (Gradient gradient; gradient.match(node)) ends.push_back(&node);
  for (Node* end : ends) {
    Gradient gradient;
    gradient.match(*end);  // values may have been replaced since
    const auto it = by_input.find(gradient.x);
    if (it != by_input.end() && it->second.second == gradient.epsilon) fuse_gradient(gradient, *it->second.first);
  }
}

}  // namespace ingot::engine
