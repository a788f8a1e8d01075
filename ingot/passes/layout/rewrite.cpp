// Carries out the choice of layouts: moves axes, puts transposed copies in, takes transposes out.
#include "ingot/passes/layout/rewrite.h"

#include <algorithm>
#include <map>

#include "ingot/ops/infer.h"
#include "ingot/passes/hand_over.h"

namespace ingot::passes {
namespace {

using Kind = NodeRole::Kind;

class Rewriter {
 public:
  explicit Rewriter(const LayoutProblem& problem) : problem_(problem) {}

  void run() {
    // Everything is looked up before anything changes: the problem knows the old uses only.
    for (Graph* graph : problem_.graphs()) {
      for (Value* v : graph->inputs()) note_copy(v);
      for (Node& node : graph->nodes()) {
        nodes_.push_back(&node);
        for (Value* v : node.outputs())
          if (v) note_copy(v);
      }
    }
    for (Node* node : nodes_) change_node(*node);
    for (const auto& [value, produced] : produced_) {
      Shape& shape = *value->type.shape;
      shape = permuted(shape, layout_perm(shape.size(), problem_.tag(value), produced));
    }
    for (const Copy& copy : copies_) make_copy(copy);
    for (Node* node : flips_) take_out(*node);
  }

 private:
  struct Copy {
    Value* value;
    Layout from, to;
    std::vector<Use> uses;
  };

  void note_copy(Value* value) {
    if (!layout_rank(value) || ops::constant_of(value)) return;
    const Layout produced = problem_.produced(value);
    if (produced != problem_.tag(value)) produced_.emplace_back(value, produced);
    Copy copy{value, produced, other(produced), {}};
    for (const Use& use : value->uses())
      if (problem_.consumed(value, use) != produced) copy.uses.push_back(use);
    if (!copy.uses.empty()) copies_.push_back(std::move(copy));
  }

  void change_node(Node& node) {
    const NodeRole& role = problem_.role(node);
    switch (role.kind) {
      case Kind::spatial:
        if (problem_.of_node(node) == Layout::channels_last) put_channels_last(node);
        break;
      case Kind::flexible:
        if (problem_.of_node(node) != role.from) move(node, role);
        break;
      case Kind::flip:
        flips_.push_back(&node);
        break;
      case Kind::adapting:
        adapt(node);
        break;
      default:
        break;
    }
  }

  void put_channels_last(Node& node) {
    node.domain = std::string(kChannelsLastDomain);
    const Value* data = node.input(0);  // constants have no copies: what reads one has its own
    if (const Tensor* tensor = ops::constant_of(data))
      node.set_input(0, constant(node, *tensor, data,
                                 layout_perm(tensor->dims().size(), Layout::channels_first, Layout::channels_last)));
  }

  void move(Node& node, const NodeRole& role) {
    const Layout to = problem_.of_node(node);
    std::size_t rank = 0;
    for (std::size_t i = 0; i < role.ports.in.size() && !rank; ++i)
      if (role.ports.in[i] == Port::tied) rank = layout_rank(node.input(i));
    if (!rank) rank = layout_rank(node.output(0));
    Move m{node, role.from, to, layout_perm(rank, role.from, to), GraphBuilder(node.graph(), &node)};
    m.g.name_after(node);
    if (role.rule->move) role.rule->move(m);
    for (std::size_t i = 0; i < role.ports.in.size(); ++i) {
      Value* x = node.input(i);
      if (!x || role.ports.in[i] == Port::as_is) continue;
      const Tensor* tensor = ops::constant_of(x);
      if (role.ports.in[i] == Port::tied) {
        if (tensor) node.set_input(i, constant(node, *tensor, x, layout_perm(tensor->dims().size(), role.from, to)));
        continue;
      }
      const std::size_t missing = rank - x->type.shape->size();
      if (tensor) {
        Dims dims(missing, 1);
        dims.insert(dims.end(), tensor->dims().begin(), tensor->dims().end());
        node.set_input(i, constant(node, tensor->reshaped(std::move(dims)), x, m.perm));
        continue;
      }
      Shape full_shape(missing, Dim(1));
      full_shape.insert(full_shape.end(), x->type.shape->begin(), x->type.shape->end());
      const auto target = reshape_target(permuted(full_shape, m.perm));
      if (target && moves_nothing(full_shape, m.perm)) {
        node.set_input(i, m.g.reshape(x, *target));
        continue;
      }
      std::vector<std::int64_t> axes(missing);
      for (std::size_t a = 0; a < missing; ++a) axes[a] = static_cast<std::int64_t>(a);
      Value* full = m.g.unsqueeze(x, axes);
      node.set_input(i, m.g.transpose(full, m.perm));
    }
  }

  /// One permuted constant for all readers in a graph.
  Value* constant(Node& node, const Tensor& tensor, const Value* source, const Perm& perm) {
    Value*& made = constants_[{&node.graph(), source, tensor.dims(), perm}];
    if (!made) {
      GraphBuilder g(node.graph(), node.graph().is_function_body ? node.graph().first() : nullptr);
      g.name_after(source->name());
      made = g.constant(transposed(tensor, perm));
    }
    return made;
  }

  void adapt(Node& node) {
    const Value* x = node.input(0);
    const NodeRole& role = problem_.role(node);
    const std::size_t rank = layout_rank(x);
    const Perm in = layout_perm(rank, problem_.tag(x), problem_.layout({role.variables[0]}));
    if (node.is("Transpose")) {
      const Value* y = node.output(0);
      const Perm out = layout_perm(rank, problem_.tag(y), problem_.layout({role.variables[1]}));
      // The old value from the new input, then what the node did, then the new output.
      node.attributes.set({"perm", then(then(inverse(in), perm_of(node)), out)});
      return;
    }
    if (!node.is("Shape") || is_identity(in)) return;
    // The sizes in the old order: those from `start` to `end`, picked from the new order.
    const auto n = static_cast<std::int64_t>(rank);
    const auto clamped = [&](std::int64_t i) { return std::clamp<std::int64_t>(i < 0 ? i + n : i, 0, n); };
    const std::int64_t start = clamped(node.attributes.int_or("start", 0)),
                       end = clamped(node.attributes.int_or("end", n));
    std::vector<std::int64_t> picked;
    for (std::int64_t i = start; i < end; ++i) picked.push_back(moved_axis(in, i));
    node.attributes.erase("start");
    node.attributes.erase("end");
    GraphBuilder g(node.graph(), node.next());
    g.name_after(node);
    Value* old = node.output(0);
    const std::vector<Use> uses(old->uses().begin(), old->uses().end());
    const Type type = old->type;
    const auto known = old->known_ints;
    old->type = Type::tensor(DType::i64, Shape{Dim(n)});
    old->known_ints = nullptr;
    Value* indices = g.ints(picked);
    Value* sizes = g.op("Gather", {old, indices}, {{"axis", 0}});
    sizes->type = type;
    sizes->known_ints = known;
    hand_over(old, sizes, uses);
  }

  void make_copy(const Copy& copy) {
    Graph& graph = copy.value->graph();
    Node* producer = copy.value->producer();
    GraphBuilder g(graph, producer ? producer->next() : graph.first());
    g.name_after(copy.value->name());
    const Shape& shape = *copy.value->type.shape;
    const Perm perm = layout_perm(shape.size(), copy.from, copy.to);
    Value* made = nullptr;
    if (moves_nothing(shape, perm)) {
      if (const auto target = reshape_target(permuted(shape, perm))) {
        Value* dims = g.ints(*target);
        made = g.op("Reshape", {copy.value, dims});
        made->type = Type::tensor(copy.value->type.elem, permuted(shape, perm));
      }
    }
    if (!made) made = g.transpose(copy.value, perm);
    hand_over(copy.value, made, copy.uses);
  }

  /// The sizes for a Reshape that moves nothing in memory: as numbers, the batch as it is, at most one left open.
  static std::optional<std::vector<std::int64_t>> reshape_target(const Shape& shape) {
    std::vector<std::int64_t> target;
    int open = 0;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (shape[i].as_int() == 0) return std::nullopt;
      if (!shape[i].is_known() && i > 0) ++open;
      target.push_back(shape[i].is_known() ? shape[i].value() : i ? -1 : 0);
    }
    return open > 1 ? std::nullopt : std::optional(target);
  }

  /// A transpose whose input now has its output's layout.
  static void take_out(Node& node) {
    Value *x = node.input(0), *y = node.output(0);
    Graph& graph = node.graph();
    const std::vector<Use> uses(y->uses().begin(), y->uses().end());
    const bool names_output = std::ranges::any_of(uses, [](const Use& u) { return !u.node; });
    bool x_has_name = !x->producer() || &x->graph() != &graph || x->is_declared;
    for (const Use& use : x->uses()) x_has_name |= !use.node;
    if (names_output && x_has_name) {
      node.op = "Identity";
      node.attributes = {};
      return;
    }
    for (const Use& use : uses) use.node ? use.node->set_input(use.index, x) : use.graph->set_output(use.index, x);
    std::string name = y->name();
    const bool is_declared = y->is_declared;
    std::string doc_string = std::move(y->doc_string);
    graph.erase(&node);
    if (!names_output) return;
    graph.rename(x, std::move(name));
    x->is_declared = is_declared;
    x->doc_string = std::move(doc_string);
  }

  const LayoutProblem& problem_;
  std::vector<Node*> nodes_, flips_;
  std::vector<std::pair<Value*, Layout>> produced_;
  std::vector<Copy> copies_;
  std::map<std::tuple<Graph*, const Value*, Dims, Perm>, Value*> constants_;
};

}  // namespace

void apply_layouts(const LayoutProblem& problem) { Rewriter(problem).run(); }

}  // namespace ingot::passes
