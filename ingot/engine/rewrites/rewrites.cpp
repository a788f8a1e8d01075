// The rewrites of a plan's graph in their order, and why the order is so.
#include "ingot/engine/rewrites/rewrites.h"

#include "ingot/engine/rewrites/block_convolutions.h"
#include "ingot/engine/rewrites/compute_in_float.h"
#include "ingot/engine/rewrites/dense_initializers.h"
#include "ingot/engine/rewrites/eliminate_common_subexpressions.h"
#include "ingot/engine/rewrites/fold_constants.h"
#include "ingot/engine/rewrites/fold_normalization.h"
#include "ingot/engine/rewrites/fuse_attention.h"
#include "ingot/engine/rewrites/fuse_elementwise.h"
#include "ingot/engine/rewrites/fuse_gradients.h"
#include "ingot/engine/rewrites/fuse_layer_normalization.h"
#include "ingot/engine/rewrites/fuse_linear.h"
#include "ingot/engine/rewrites/fuse_products.h"
#include "ingot/engine/rewrites/fuse_quantization.h"
#include "ingot/engine/rewrites/fuse_trained_normalization.h"
#include "ingot/engine/rewrites/fuse_updates.h"
#include "ingot/engine/rewrites/keep_bits.h"
#include "ingot/engine/rewrites/keep_bytes.h"
#include "ingot/engine/rewrites/lower_einsum.h"
#include "ingot/engine/rewrites/lower_powers.h"
#include "ingot/engine/rewrites/lower_transposed.h"
#include "ingot/engine/rewrites/lower_variadic.h"
#include "ingot/passes/absorb_pads.h"

namespace ingot::engine {
namespace {

/// A rewrite that needs nothing but the graph.
template <void (*run)(Graph&)> void alone(Graph& graph, const RewriteContext&) { run(graph); }

void make_dense(Graph& root, const RewriteContext& context) { make_initializers_dense(root, context.ledger); }

void fold(Graph& root, const RewriteContext& context) { fold_constants(root, context.ledger, context.budget); }

/// What makes weights and their scales, which stay integers.
void fold_scales(Graph& graph, const RewriteContext& context) {
  const auto dequantizes = [](const Node& node) { return node.is("DequantizeLinear"); };
  if (&graph != &context.root) return;
  bool has_some = false;
  for_each_graph(graph, [&](Graph& g) {
    for (const Node& node : g.nodes()) has_some |= dequantizes(node);
  });
  if (has_some) fold_constants(graph, context.ledger, context.budget, dequantizes);
}

void absorb_pads(Graph& graph, const RewriteContext&) { passes::absorb_pads(graph); }

/// Of all graphs at once: a value may be read in one and made in another.
void widen_halves(Graph& graph, const RewriteContext& context) {
  if (&graph == &context.root) compute_in_float(graph, context.ledger);
}

void einsum(Graph& graph, const RewriteContext& context) {
  if (lower_einsum(graph)) fold_constants(graph, context.ledger, context.budget);
}

void update(Graph& graph, const RewriteContext& context) {
  if (&graph == &context.root && !context.updates.empty()) fuse_updates(graph, context.updates, context.output_names);
}

constexpr Rewrite kRewrites[] = {
    {"make_initializers_dense", make_dense, Rewrite::Kind::always},
    {"fold_scales", fold_scales, Rewrite::Kind::early},
    {"keep_bytes", alone<keep_bytes>, Rewrite::Kind::early},
    {"keep_bits", alone<keep_bits>, Rewrite::Kind::early},
    {"fold_constants", fold, Rewrite::Kind::always},
    {"compute_in_float", widen_halves},
    {"lower_einsum", einsum},
    {"eliminate_common_subexpressions", alone<eliminate_common_subexpressions>},
    {"fuse_gradients", alone<fuse_gradients>},
    {"fuse_trained_normalization", alone<fuse_trained_normalization>},
    {"fuse_quantization", alone<fuse_quantization>},
    {"fuse_layer_normalization", alone<fuse_layer_normalization>},
    {"lower_powers", alone<lower_powers>},
    {"lower_variadic", alone<lower_variadic>},
    {"absorb_pads", absorb_pads},
    {"lower_transposed", alone<lower_transposed>},
    {"lower_normalization", alone<lower_normalization>},
    {"block_convolutions", alone<block_convolutions>},
    {"fold_normalization", alone<fold_normalization>},
    {"fuse_attention", alone<fuse_attention>},
    {"fuse_linear", alone<fuse_linear>},
    {"fuse_products", alone<fuse_products>},
    {"fuse_updates", update},
    {"fuse_elementwise", alone<fuse_elementwise>},
};

constexpr Precedence kPrecedences[] = {
    {"make_initializers_dense", "fold_constants", "kernels know no sparse tensors"},
    {"make_initializers_dense", "fold_scales", "kernels know no sparse tensors"},
    {"fold_scales", "keep_bytes", "scales and zero points are looked for as constants"},
    {"fold_scales", "keep_bits", "exporters compute scales and zero points of constants"},
    {"keep_bytes", "fold_constants", "weights of bytes would be floats"},
    {"keep_bytes", "keep_bits", "where both sides are bytes, so are the products"},
    {"keep_bits", "fold_constants", "weights of few bits would be floats"},
    {"keep_bits", "fuse_linear", "a product takes in what follows it"},
    {"keep_bytes", "fuse_quantization", "what stays in bytes has nothing to round"},
    {"fold_constants", "eliminate_common_subexpressions",
     "rewrites look for constants where exporters wrote operators of constants"},

    {"fold_constants", "compute_in_float", "constants are computed as the model states them"},
    {"compute_in_float", "lower_einsum", "all that is fast is fast for floats"},

    {"fold_constants", "lower_einsum", "operands that are constant are seen to be"},
    {"lower_einsum", "eliminate_common_subexpressions", "equal operands are transposed once"},
    {"lower_einsum", "fuse_linear", "a product with a constant matrix is found as MatMul"},

    {"eliminate_common_subexpressions", "fuse_trained_normalization",
     "the gradient's parts are compared by the values they read"},
    {"eliminate_common_subexpressions", "block_convolutions",
     "a value has one twin in blocks; equal values would have two"},
    {"eliminate_common_subexpressions", "fuse_elementwise",
     "in a chain, an operator is no longer seen to equal another"},

    {"fuse_gradients", "fuse_trained_normalization", "the gradient of a normalisation takes in the Gate behind it"},
    {"fuse_gradients", "block_convolutions", "a Gate asks for the Relu, which becomes a convolution's limit"},
    {"fuse_gradients", "fuse_linear", "a Gate asks for the Relu, which becomes a product's limit"},
    {"fuse_gradients", "fuse_products", "products of changing matrices are written as MatMul for it"},
    {"fuse_gradients", "fuse_elementwise", "a Gate is a step of a chain"},

    {"fuse_trained_normalization", "fuse_elementwise", "the gradient is found among plain operators"},

    {"fuse_quantization", "block_convolutions", "a convolution takes in the rounding, and it runs on blocks"},
    {"fuse_quantization", "fuse_linear", "a product takes in the rounding"},
    {"fuse_quantization", "fuse_elementwise", "the rounding is a step of a chain"},

    {"fuse_layer_normalization", "block_convolutions", "the pattern is of plain operators, which blocks would replace"},
    {"fuse_layer_normalization", "fuse_elementwise", "the pattern is of plain operators, which chains would take in"},

    {"fuse_layer_normalization", "lower_powers", "the pattern has a square root of its own"},
    {"lower_powers", "block_convolutions", "products and roots run on blocks"},
    {"lower_powers", "fuse_elementwise", "products and roots are steps of a chain"},

    {"compute_in_float", "lower_variadic", "operands of half types are floats by then"},
    {"lower_variadic", "block_convolutions", "sums of two run on blocks"},
    {"lower_variadic", "fuse_elementwise", "operators of two are steps of a chain"},

    {"absorb_pads", "block_convolutions", "a convolution pads as it reads, and what is in blocks has no Pad"},

    {"compute_in_float", "lower_transposed", "weights of half types are floats by then"},
    {"lower_transposed", "block_convolutions", "what they become runs on blocks"},

    {"lower_normalization", "block_convolutions", "products and sums run on blocks, BatchNormalization does not"},
    {"block_convolutions", "fold_normalization",
     "a factor goes into weights as they are packed, without a second copy"},
    {"block_convolutions", "fuse_elementwise", "only plain operators are moved to blocks"},
    {"fold_normalization", "fuse_elementwise", "what no convolution takes in becomes steps of a chain"},

    {"fuse_attention", "fuse_products", "the two products of attention would become nodes of their own"},
    {"fuse_attention", "fuse_elementwise", "the scale and the mask would go into chains"},

    {"fuse_linear", "fuse_elementwise", "sums and functions behind a product cost nothing there"},
    {"fuse_products", "fuse_updates", "sums behind a product cost nothing there"},
    {"fuse_products", "fuse_elementwise", "sums and limits behind a product cost nothing there"},
    {"fuse_updates", "fuse_elementwise", "an update takes in plain operators, not chains"},
};

}  // namespace

std::span<const Rewrite> rewrites() { return kRewrites; }

std::span<const Precedence> precedences() { return kPrecedences; }

void rewrite(Graph& root, const RewriteContext& context, bool is_fast) {
  for (const Rewrite& row : kRewrites) {
    if (row.kind == Rewrite::Kind::always) row.run(root, context);
    if (row.kind == Rewrite::Kind::early && is_fast)
      for_each_graph(root, [&](Graph& graph) { row.run(graph, context); });
  }
  if (!is_fast) return;
  for_each_graph(root, [&](Graph& graph) {
    for (const Rewrite& row : kRewrites)
      if (row.kind == Rewrite::Kind::fast) row.run(graph, context);
  });
}

}  // namespace ingot::engine
