// Draws layers into a random graph: products, convolutions, normalizations, recurrent layers, picked elements.
#include "tests/train/random_graph.h"

namespace ingot::test {

void RandomGraph::add_layer() {
  switch (below(8)) {
    case 0: {
      Value* x = of_rank(1);
      return keep(g_.op("MatMul", {x, weights({dims(x).back(), below(3) + 1})}));
    }
    case 1: {
      Value* x = of_exact_rank(2);
      const std::int64_t out = below(3) + 1;
      Value *w = weights({out, dims(x)[1]}), *b = weights({out});
      return keep(g_.op("Gemm", {x, w, b}, {{"transB", 1}, {"alpha", 0.5}}));
    }
    case 2: {
      Value* x = of_rank(2);
      const std::int64_t r = rank(x);
      Ints perm(static_cast<std::size_t>(r));
      for (std::size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<std::int64_t>(i);
      std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
      return keep(g_.op("MatMul", {x, g_.transpose(x, perm)}));
    }
    case 3: {
      Value* x = of_rank(1);
      if (is_empty(x)) return add_unary();
      Value *scale = weights({dims(x).back()}), *bias = weights({dims(x).back()});
      return keep(g_.op("LayerNormalization", {x, scale, bias}, {{"epsilon", 0.1}, {"stash_type", DType::f64}}));
    }
    case 4: {
      Value* x = of_exact_rank(3);
      if (is_empty(x)) return add_unary();
      const std::int64_t channels = dims(x)[1];
      Value* w = weights({below(3) + 1, channels, 2});
      return keep(g_.op("Conv", {x, w}, {{"pads", {1, 1}}, {"strides", {below(2) + 1}}}));
    }
    case 5: {
      Value* x = of_exact_rank(4);
      if (is_empty(x)) return add_unary();
      const Attrs attrs = {{"kernel_shape", {2, 2}}, {"pads", {1, 1, 1, 1}}, {"strides", {below(2) + 1, 1}}};
      return keep(below(2) ? g_.op("MaxPool", {x}, attrs) : g_.op("AveragePool", {x}, attrs));
    }
    case 6: {
      Value* x = of_exact_rank(3);
      if (is_empty(x)) return add_unary();
      const std::int64_t channels = dims(x)[1];
      Value* w = weights({channels, 2, 3});
      return keep(g_.op("ConvTranspose", {x, w}, {{"strides", {2}}}));
    }
    default: {
      Value* x = of_exact_rank(3);
      if (is_empty(x)) return add_unary();
      Value *scale = weights({dims(x)[1]}), *bias = weights({dims(x)[1]});
      return keep(g_.op("InstanceNormalization", {x, scale, bias}, {{"epsilon", 0.1}}));
    }
  }
}

void RandomGraph::add_normalization() {
  Value* x = of_exact_rank(3);
  if (is_empty(x)) return add_unary();
  const std::int64_t channels = dims(x)[1], last = dims(x)[2];
  const Attr wide = {"stash_type", DType::f64}, epsilon = {"epsilon", 0.1};
  switch (below(6)) {
    case 0: {
      Value *scale = weights({channels}), *bias = weights({channels});
      return keep(g_.op("GroupNormalization", {x, scale, bias}, {{"num_groups", 1}, wide, epsilon}));
    }
    case 1:
      return keep(g_.op("RMSNormalization", {x, weights({last})}, {wide, epsilon}));
    case 2: {
      Value *scale = weights({channels}), *bias = weights({channels}), *mean = weights({channels});
      Value* variance =
          g_.constant(Tensor::of<double>({channels}, std::vector<double>(static_cast<std::size_t>(channels), 1.5)));
      return keep(g_.op("BatchNormalization", {x, scale, bias, mean, variance}, {epsilon}));
    }
    case 3:
      return keep(g_.op("LpNormalization", {g_.add(g_.mul(x, x), 0.5)}, {{"axis", axis(3)}, {"p", below(2) + 1}}));
    case 4:
      return keep(g_.op("LRN", {x}, {{"size", 3}, {"alpha", 0.5}}));
    default: {
      Ints labels(static_cast<std::size_t>(dims(x)[0] * last));
      for (std::int64_t& label : labels) label = below(channels);
      Value* at = g_.reshape(g_.ints(labels), {dims(x)[0], last});
      return keep(g_.op("SoftmaxCrossEntropyLoss", {x, at}, {{"reduction", below(2) ? "mean" : "none"}}));
    }
  }
}

void RandomGraph::add_sequence_layer() {
  Value* x = of_exact_rank(3);
  if (is_empty(x)) return add_unary();
  const std::int64_t length = dims(x)[0], features = dims(x)[2], hidden = 2;
  switch (below(4)) {
    case 0: {
      Value *w = weights({1, hidden, features}), *r = weights({1, hidden, hidden});
      return keep(g_.op("RNN", {x, w, r}, {{"hidden_size", hidden}}, 1).front());
    }
    case 1: {
      Value *w = weights({1, 3 * hidden, features}), *r = weights({1, 3 * hidden, hidden});
      const Attrs attrs = {{"hidden_size", hidden}, {"linear_before_reset", below(2)}};
      return keep(g_.op("GRU", {x, w, r}, attrs, 1).front());
    }
    case 2: {
      Value *w = weights({1, 4 * hidden, features}), *r = weights({1, 4 * hidden, hidden});
      const Attrs attrs = {{"hidden_size", hidden}, {"direction", below(2) ? "forward" : "reverse"}};
      return keep(g_.op("LSTM", {x, w, r}, attrs, 1).front());
    }
    default: {
      Value* query = g_.unsqueeze(x, {1});
      Value *key = g_.op("Tanh", {query}), *value = weights({length, 1, dims(x)[1], 2});
      return keep(g_.op("Attention", {query, key, value}, {{"is_causal", below(2)}}));
    }
  }
}

void RandomGraph::add_pick() {
  Value* x = of_exact_rank(2);
  if (is_empty(x)) return add_unary();
  const std::int64_t rows = dims(x)[0], columns = dims(x)[1];
  Ints places(static_cast<std::size_t>(columns));
  for (std::int64_t& place : places) place = below(rows) - (below(2) ? rows : 0);
  Value* at = g_.reshape(g_.ints(places), {1, columns});
  switch (below(6)) {
    case 0:
      return keep(g_.op("GatherElements", {x, at}, {{"axis", 0}}));
    case 1: {
      Value* more = g_.op("Sin", {g_.op("GatherElements", {x, at}, {{"axis", 0}})});
      return keep(g_.op("ScatterElements", {x, at, more}, {{"axis", 0}, {"reduction", below(2) ? "add" : "none"}}));
    }
    case 2: {
      Value* corner = g_.reshape(g_.ints({below(rows), below(columns)}), {1, 2});
      Value* more = g_.op("Cos", {g_.op("GatherND", {x, corner})});
      return keep(g_.op("ScatterND", {x, corner, more}));
    }
    case 3:
      return keep(g_.op("Einsum", {x, x}, {{"equation", below(2) ? "ij,kj->ik" : "ij,ij->j"}}));
    case 4: {
      Value *plane = g_.unsqueeze(x, {0, 1}), *sizes = g_.ints({1, 1, rows + below(3), columns + below(3)});
      return keep(g_.op("Resize", {plane, nullptr, nullptr, sizes}, {{"mode", below(2) ? "linear" : "cubic"}}));
    }
    default:
      return keep(g_.op("PRelu", {x, weights({columns})}));
  }
}

}  // namespace ingot::test
