// What training steps are made of, for the fast kernels: weights that change from run to run, and their gradients.
#include "ingot/engine/rewrites/fuse_gradients.h"

#include <algorithm>

#include "ingot/engine/domain.h"
#include "ingot/engine/rewrites/pattern.h"
#include "ingot/ops/builder.h"
#include "ingot/ops/nn/window.h"

namespace ingot::engine {
namespace {

/// A node that exchanges the first two axes.
bool swaps_batch(const Node* node) {
  if (!node || !node->is("Transpose")) return false;
  const auto perm = node->attributes.ints_or("perm", {});
  if (perm.size() < 3 || perm[0] != 1 || perm[1] != 0) return false;
  for (std::size_t i = 2; i < perm.size(); ++i)
    if (perm[i] != static_cast<std::int64_t>(i)) return false;
  return true;
}

std::optional<Dims> spatial_of(const Value* v) {
  if (!v || v->type.elem != DType::f32 || !v->type.shape || v->type.shape->size() < 3 || v->type.shape->size() > 5)
    return std::nullopt;
  return static_dims(Shape(v->type.shape->begin() + 2, v->type.shape->end()));
}

/// With x and dy exchanged in batch and channels, a convolution of one with the other is the gradient by the weights
/// of a convolution whose strides are its dilations.
void fuse_weight_gradient(Node& conv) {
  if (conv.input(2) || conv.attributes.int_or("group", 1) != 1) return;
  Node* last = only_reader(conv.output(0));
  if (!swaps_batch(last) || !conv.input(0) || !conv.input(1)) return;
  Node *first = conv.input(0)->producer(), *second = conv.input(1)->producer();
  if (!swaps_batch(first) || !swaps_batch(second)) return;
  Graph& graph = conv.graph();
  if (&first->graph() != &graph || &second->graph() != &graph) return;
  Value *x = first->input(0), *dy = second->input(0);
  const auto in = spatial_of(x), out = spatial_of(dy);
  if (!in || !out || in->size() != out->size()) return;
  const Shape windows(out->begin(), out->end());
  const ops::Window window = ops::Window::read(conv.attributes, windows.size(), &windows);
  Dims kernel, pads;
  for (std::size_t i = 0; i < window.rank(); ++i) {
    const Dim before = window.padding(i, (*in)[i]).first, size = window.output_size(i, (*in)[i]);
    if (!before.is_known() || !size.is_known() || size.value() < 1 || before.value() < 0) return;
    kernel.push_back(size.value());
    pads.push_back(before.value());
    // Windows must end with the padded input, or nearly so.
    const std::int64_t reach = ((*out)[i] - 1) * window.dilations[i] + (size.value() - 1) * window.strides[i] + 1;
    if (reach - (*in)[i] - before.value() + window.dilations[i] <= 0) return;
  }
  GraphBuilder g(graph, last);
  Node* made = g.node(
      "ConvWeights", kEngineDomain, {x, dy},
      {{"strides", window.dilations}, {"dilations", window.strides}, {"kernel_shape", kernel}, {"pads", pads}}, 1);
  made->name = conv.name;
  made->output(0)->type = last->output(0)->type;
  graph.replace_all_uses(last->output(0), made->output(0));
  graph.erase(last);
  graph.erase(&conv);
  for (Node* node : {first, second})
    if (node->output(0)->uses().empty()) graph.erase(node);
}

bool is_matrix(const Value* v) {
  return v && v->type.elem == DType::f32 && v->type.shape && v->type.shape->size() == 2;
}

/// Whether y + v has the shape of y, for sure.
bool is_broadcast_to(const Value* v, const Value* y) {
  if (!v->type.shape || v->type.shape->size() > y->type.shape->size()) return false;
  const Shape &small = *v->type.shape, &large = *y->type.shape;
  for (std::size_t i = 0; i < small.size(); ++i) {
    const Dim& d = small[small.size() - 1 - i];
    if (!same(d, 1) && !same(d, large[large.size() - 1 - i])) return false;
  }
  return true;
}

/// A product with a matrix that changes from run to run: by the kernels of MatMul and Transpose.
void write_as_product(Node& gemm) {
  Value *a = gemm.input(0), *b = gemm.input(1), *added = gemm.input(2);
  if (!is_matrix(a) || !is_matrix(b) || !is_matrix(gemm.output(0)) || constant_of(b)) return;
  if (added && !is_broadcast_to(added, gemm.output(0))) return;
  const Attributes& attributes = gemm.attributes;
  const float alpha = attributes.float_or("alpha", 1), beta = attributes.float_or("beta", 1);
  GraphBuilder g(gemm.graph(), &gemm);
  g.name_after(gemm);
  if (attributes.int_or("transA", 0) != 0) a = g.transpose(a, {1, 0});
  if (attributes.int_or("transB", 0) != 0) b = g.transpose(b, {1, 0});
  Value* y = g.op("MatMul", {a, b});
  if (alpha != 1) y = g.mul(y, static_cast<double>(alpha));
  if (added && beta != 1) added = g.mul(added, static_cast<double>(beta));
  if (added) y = g.add(y, added);
  replace_node(gemm, {y});
}

/// A choice that is made already.
bool settle(Node& where) {
  const Tensor* condition = constant_of(where.input(0));
  if (!condition || condition->size() != 1 || condition->dtype() != DType::boolean) return false;
  Value* chosen = where.input(condition->at<bool>(0) ? 1 : 2);
  if (!chosen || !have_same_shape(chosen, where.output(0)) || !chosen->producer()) return false;
  where.graph().replace_all_uses(where.output(0), chosen);
  where.graph().erase(&where);
  return true;
}

/// What passes where a Relu's input is above zero. Its result tells that as well as its input, which then nobody needs
/// to keep.
void write_as_gate(Node& where) {
  const Value* condition = where.input(0);
  Node* test = condition ? condition->producer() : nullptr;
  if (!test || !test->is("Less") || &test->graph() != &where.graph() || !only_reader(condition)) return;
  if (constant_number(test->input(0), 1) != 0.0f || constant_number(where.input(2), 1) != 0.0f) return;
  Value *x = test->input(1), *dy = where.input(1);
  if (!dy || x->type.elem != DType::f32 || dy->type.elem != DType::f32 || !have_same_shape(x, dy) ||
      !have_same_shape(dy, where.output(0)))
    return;
  for (const Use& use : x->uses())
    if (use.node && use.node->is("Relu") && &use.node->graph() == &where.graph()) {
      x = use.node->output(0);
      break;
    }
  Graph& graph = where.graph();
  GraphBuilder g(graph, &where);
  Node* made = g.node("Gate", kEngineDomain, {x, dy}, {}, 1);
  made->name = where.name;
  made->output(0)->type = where.output(0)->type;
  graph.replace_all_uses(where.output(0), made->output(0));
  graph.erase(&where);
  graph.erase(test);
}

/// Numbers added at places of a list of zeros, which need not be written first.
void write_as_list(Node& scatter) {
  const Value *zeros = scatter.input(0), *at = scatter.input(1), *more = scatter.input(2);
  Node* fill = zeros ? zeros->producer() : nullptr;
  if (!fill || !fill->is("ConstantOfShape") || &fill->graph() != &scatter.graph() || !only_reader(zeros)) return;
  const Tensor* value = fill->attributes.get<Tensor>("value");
  const auto is_list = [](const Value* v) { return v && v->type.shape && v->type.shape->size() == 1; };
  if (scatter.attributes.string_or("reduction", "none") != "add" || !is_list(zeros) || !is_list(at) || !is_list(more) ||
      !same(at->type.shape->front(), more->type.shape->front()) || more->type.elem != DType::f32 ||
      at->type.elem != DType::i64 || (value && (value->dtype() != DType::f32 || value->at<float>(0) != 0.0f)))
    return;
  Graph& graph = scatter.graph();
  GraphBuilder g(graph, &scatter);
  Node* made = g.node("AddAt", kEngineDomain, {fill->input(0), scatter.input(1), scatter.input(2)}, {}, 1);
  made->name = scatter.name;
  made->output(0)->type = scatter.output(0)->type;
  graph.replace_all_uses(scatter.output(0), made->output(0));
  graph.erase(&scatter);
  graph.erase(fill);
}

/// A part of an axis that is not zero.
struct Part {
  Value* value;
  std::int64_t begin, end;
};

/// A sum of parts that were padded with zeros and together fill one axis: what is left of the gradient of a split.
class PaddedParts {
 public:
  bool collect(Node& sum) {
    for (std::size_t i = 0; i < 2; ++i) {
      Node* node = sum.input(i) ? sum.input(i)->producer() : nullptr;
      if (!node || &node->graph() != &sum.graph() || !only_reader(sum.input(i)) || nodes_.size() > kMost) return false;
      nodes_.push_back(node);
      if (node->is("Add") ? !collect(*node) : !add(*node)) return false;
    }
    return true;
  }

  void write(Node& sum) {
    const auto& shape = sum.output(0)->type.shape;
    std::ranges::sort(parts_, {}, &Part::begin);
    std::int64_t filled = 0;
    for (const Part& part : parts_) {
      if (part.begin != filled) return;
      filled = part.end;
    }
    if (!shape || !same((*shape)[static_cast<std::size_t>(axis_)], filled)) return;
    Values values;
    for (const Part& part : parts_) values.push_back(part.value);
    Graph& graph = sum.graph();
    GraphBuilder g(graph, &sum);
    g.name_after(sum);
    Value* joined = g.op("Concat", values, {{"axis", axis_}});
    graph.replace_all_uses(sum.output(0), joined);
    graph.erase(&sum);
    for (Node* node : nodes_) graph.erase(node);
  }

 private:
  static constexpr std::size_t kMost = 64;

  bool add(Node& pad) {
    const Tensor* amounts = constant_of(pad.input(1));
    if (!pad.is("Pad") || !amounts || pad.input(3) || (pad.input(2) && constant_number(pad.input(2), 0) != 0.0f) ||
        pad.attributes.string_or("mode", "constant") != "constant" || !pad.input(0)->type.shape)
      return false;
    const auto dims = static_dims(*pad.input(0)->type.shape);
    const auto pads = amounts->to_ints();
    if (!dims || pads.size() != 2 * dims->size()) return false;
    const auto rank = static_cast<std::int64_t>(dims->size());
    for (std::int64_t i = 0; i < rank; ++i) {
      const std::int64_t before = pads[static_cast<std::size_t>(i)], after = pads[static_cast<std::size_t>(i + rank)];
      if (before < 0 || after < 0) return false;
      if (before == 0 && after == 0) continue;
      if (axis_ >= 0 && axis_ != i) return false;
      axis_ = i;
    }
    if (axis_ < 0) return false;
    const std::int64_t begin = pads[static_cast<std::size_t>(axis_)];
    parts_.push_back({pad.input(0), begin, begin + (*dims)[static_cast<std::size_t>(axis_)]});
    return true;
  }

  std::int64_t axis_ = -1;
  std::vector<Part> parts_;
  std::vector<Node*> nodes_;  // readers before what they read
};

void join_padded_parts(Graph& graph) {
  std::vector<Node*> sums;
  for (Node& node : graph.nodes()) {
    if (!node.is("Add")) continue;
    const Node* reader = only_reader(node.output(0));
    if (!reader || !reader->is("Add")) sums.push_back(&node);
  }
  for (Node* sum : sums)
    if (PaddedParts parts; parts.collect(*sum)) parts.write(*sum);
}

}  // namespace

void fuse_gradients(Graph& graph) {
  std::vector<Node*> nodes;
  for (Node& node : graph.nodes())
    if (node.is("Conv") || node.is("Gemm") || node.is("Where") || node.is("ScatterElements")) nodes.push_back(&node);
  for (Node* node : nodes) {
    if (node->is("Conv"))
      fuse_weight_gradient(*node);
    else if (node->is("Gemm"))
      write_as_product(*node);
    else if (node->is("ScatterElements"))
      write_as_list(*node);
    else if (!settle(*node))
      write_as_gate(*node);
  }
  join_padded_parts(graph);
}

}  // namespace ingot::engine
