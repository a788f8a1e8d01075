// What training steps are made of, for the fast kernels: weights that change from run to run, and their gradients.
#include "ingot/engine/gradients.h"

#include "ingot/engine/blocked.h"
#include "ingot/engine/pattern.h"
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

}  // namespace

void fuse_gradients(Graph& graph) {
  std::vector<Node*> nodes;
  for (Node& node : graph.nodes())
    if (node.is("Conv") || node.is("Gemm")) nodes.push_back(&node);
  for (Node* node : nodes) node->is("Conv") ? fuse_weight_gradient(*node) : write_as_product(*node);
}

}  // namespace ingot::engine
