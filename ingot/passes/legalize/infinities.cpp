// Infinities that a graph works with on purpose stay infinite where a target's kernels would clamp them.
#include "ingot/passes/legalize/infinities.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <unordered_map>
#include <vector>

#include "ingot/ops/builder.h"
#include "ingot/ops/infer.h"

namespace ingot::passes::legalize {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Which infinities a value may hold.
struct Signs {
  bool negative = false, positive = false;

  bool any() const { return negative || positive; }
  bool add(Signs other) {
    const Signs before = *this;
    negative |= other.negative;
    positive |= other.positive;
    return before.negative != negative || before.positive != positive;
  }
  Signs turned() const { return {positive, negative}; }
};

/// These hand elements on as they are (the inputs that count: all that are float).
constexpr std::string_view kMovers[] = {
    "Cast", "Concat",  "Expand", "Flatten", "Gather",  "GatherElements", "GatherND", "Identity",  "Max",       "Min",
    "Pad",  "Reshape", "Slice",  "Split",   "Squeeze", "Tile",           "TopK",     "Transpose", "Unsqueeze", "Where"};

bool is_mover(const Node& node) {
  return node.domain.empty() && std::ranges::binary_search(kMovers, std::string_view(node.op));
}

Signs signs_in(const Tensor& tensor) {
  Signs signs;
  if (tensor.dtype() != DType::f32) return signs;
  constexpr std::uint32_t kSign = 0x80000000, kExponent = 0x7f800000;
  for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.size()); ++i) {
    std::uint32_t bits;
    std::memcpy(&bits, tensor.bytes().data() + 4 * i, 4);
    if ((bits & ~kSign) == kExponent) (bits & kSign ? signs.negative : signs.positive) = true;
  }
  return signs;
}

class Infinities {
 public:
  explicit Infinities(Graph& graph) : root_(graph) {}

  void run() {
    ask();
    for_each_graph(root_, [&](Graph& g) {
      std::vector<Node*> nodes;
      for (Node& node : g.nodes()) nodes.push_back(&node);
      for (Node* node : nodes) visit(*node);
    });
  }

 private:
  /// Finds the inputs of the graph whose infinities somebody asks for: Equal(x, -inf), IsInf, IsNaN of a softmax.
  void ask() {
    std::vector<Value*> open;
    const auto want = [&](Value* v, Signs signs) {
      if (v && v->type.elem == DType::f32 && asked_[v].add(signs)) open.push_back(v);
    };
    for_each_graph(root_, [&](Graph& g) {
      for (Node& node : g.nodes()) {
        if (node.is("IsInf")) want(node.input(0), {true, true});
        if (node.is("Equal"))
          for (const std::size_t i : {0U, 1U})
            if (const Tensor* t = ops::constant_of(node.input(i)); t && t->size() == 1)
              want(node.input(1 - i), signs_in(*t));
        const Node* softmax = node.is("IsNaN") ? node.input(0)->producer() : nullptr;
        if (softmax && softmax->is("Softmax")) want(softmax->input(0), {true, false});
      }
    });
    while (!open.empty()) {
      Value* v = open.back();
      open.pop_back();
      const Signs signs = asked_[v];
      const Node* maker = v->producer();
      if (!maker) {
        if (v->is_input()) held_[v].add(signs);
        continue;
      }
      if (!is_mover(*maker) && !maker->is("Add") && !maker->is("Sub") && !maker->is("ReduceMax") &&
          !maker->is("ReduceMin"))
        continue;
      for (Value* x : maker->inputs()) want(x, signs);
    }
  }

  Signs held(const Value* v) {
    if (!v || v->type.elem != DType::f32) return {};
    const auto found = held_.find(v);
    if (found != held_.end()) return found->second;
    const Tensor* stored = ops::constant_of(v);
    return stored ? held_[v] = signs_in(*stored) : Signs{};
  }

  void visit(Node& node) {
    if (node.is("ConstantOfShape")) {
      if (const Tensor* value = node.attributes.get<Tensor>("value"); value && signs_in(*value).any())
        held_[node.output(0)] = signs_in(*value);
    } else if (is_mover(node)) {
      Signs signs;
      for (const Value* v : node.inputs()) signs.add(held(v));
      if (!signs.any()) return;
      for (const Value* v : node.outputs())
        if (v && v->type.elem == DType::f32) held_[v].add(signs);
    } else if (node.is("Neg")) {
      if (const Signs signs = held(node.input(0)); signs.any()) held_[node.output(0)] = signs.turned();
    } else if (node.is("Add") || node.is("Sub")) {
      sum(node);
    } else if (node.is("ReduceMax") || node.is("ReduceMin")) {
      extreme(node);
    }
  }

  /// The softmax of a row does not tell -infinity from the lowest number, unless there is nothing else in the row.
  static bool is_same_to_softmax(const Node& add) {
    const Value* y = add.output(0);
    for (const Use& use : y->uses()) {
      const bool is_softmax = use.node && use.node->is("Softmax") && y->type.shape && !y->type.shape->empty();
      if (!is_softmax) return false;
      const std::int64_t axis = use.node->attributes.int_or("axis", -1);
      if (axis != -1 && axis + 1 != static_cast<std::int64_t>(y->type.shape->size())) return false;
    }
    for (const Value* v : add.inputs()) {
      const Tensor* t = ops::constant_of(v);
      if (!t) continue;
      if (t->rank() < 1 || t->dims().back() < 1) return false;
      const std::vector<double> values = t->to_doubles();
      const auto row = static_cast<std::size_t>(t->dims().back());
      for (std::size_t at = 0; at < values.size(); at += row)
        if (std::all_of(values.begin() + static_cast<std::ptrdiff_t>(at),
                        values.begin() + static_cast<std::ptrdiff_t>(at + row),
                        [](double x) { return x == -kInfinity; }))
          return false;
      return true;
    }
    return false;
  }

  /// a + b = where(b == -inf, -inf, a + b), and so for each operand and sign that may be infinite.
  void sum(Node& node) {
    const bool subtracts = node.is("Sub");
    const Signs first = held(node.input(0)), second = held(node.input(1));
    if (!first.any() && !second.any()) return;
    if (!subtracts && !first.positive && !second.positive && is_same_to_softmax(node)) return;
    GraphBuilder g(node.graph(), &node);
    g.name_after(node);
    Value* y = g.op(subtracts ? ops::Name("Sub") : ops::Name("Add"), {node.input(0), node.input(1)});
    const auto keep = [&](Value* x, double infinity, double result) {
      Value* limit = g.scalar(infinity, DType::f32);
      Value* is_infinite = g.op("Equal", {x, limit});
      Value* infinite = g.scalar(result, DType::f32);
      y = g.where(is_infinite, infinite, y);
    };
    const double turn = subtracts ? -1 : 1;
    Signs signs = first;
    signs.add(subtracts ? second.turned() : second);
    if (first.negative) keep(node.input(0), -kInfinity, -kInfinity);
    if (first.positive) keep(node.input(0), kInfinity, kInfinity);
    if (second.negative) keep(node.input(1), -kInfinity, turn * -kInfinity);
    if (second.positive) keep(node.input(1), kInfinity, turn * kInfinity);
    held_[y] = signs;
    replace_node(node, {y});
  }

  static bool is_known(const Value* v) {
    return v->type.shape && std::ranges::all_of(*v->type.shape, [](const Dim& d) { return d.is_known(); });
  }
  static bool is_empty(const Value* v) {
    return is_known(v) && std::ranges::any_of(*v->type.shape, [](const Dim& d) { return d.value() == 0; });
  }

  /// max(x) = where(any(x > -inf), max(x), -inf)
  void extreme(Node& node) {
    const bool is_max = node.is("ReduceMax");
    if (node.input(0)->type.elem != DType::f32) return;
    const double end = is_max ? -kInfinity : kInfinity;
    if (is_empty(node.input(0)) && is_known(node.output(0))) {
      GraphBuilder g(node.graph(), &node);
      g.name_after(node);
      std::vector<std::int64_t> dims;
      for (const Dim& d : *node.output(0)->type.shape) dims.push_back(d.value());
      Value* limit = g.scalar(end, DType::f32);
      Value* shape = g.ints(dims);
      return replace_node(node, {g.op("Expand", {limit, shape})});
    }
    const Signs signs = held(node.input(0));
    if (!signs.any()) return;
    if (is_max ? !signs.negative : !signs.positive) {
      held_[node.output(0)] = signs;
      return;
    }
    GraphBuilder g(node.graph(), &node);
    g.name_after(node);
    Attrs attributes{{"keepdims", node.attributes.int_or("keepdims", 1)},
                     {"noop_with_empty_axes", node.attributes.int_or("noop_with_empty_axes", 0)}};
    const auto reduced = [&](ops::Name op, Value* x) {
      Values inputs{x};
      if (node.input(1)) inputs.push_back(node.input(1));
      return g.op(op, inputs, attributes);
    };
    Value* y = reduced(is_max ? ops::Name("ReduceMax") : ops::Name("ReduceMin"), node.input(0));
    Value* limit = g.scalar(end, DType::f32);
    Value* is_finite = g.op(is_max ? ops::Name("Greater") : ops::Name("Less"), {node.input(0), limit});
    Value* number = g.cast(is_finite, DType::f32);
    Value* most = reduced("ReduceMax", number);
    Value* zero = g.scalar(0, DType::f32);
    Value* any = g.op("Greater", {most, zero});
    y = g.where(any, y, limit);
    held_[y] = signs;
    replace_node(node, {y});
  }

  Graph& root_;
  std::unordered_map<const Value*, Signs> held_, asked_;
};

}  // namespace

void keep_infinities(Graph& graph) { Infinities(graph).run(); }

}  // namespace ingot::passes::legalize
