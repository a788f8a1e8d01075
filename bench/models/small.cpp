// Models of one idea each: dense layers, recurrence, memory-bound chains, trees.
#include "bench/models/models.h"

namespace ingot::bench {

void mlp(Graph& graph) {
  GraphBuilder g(graph);
  Weights weights(g);
  Value* x = graph.add_input("x", Type::tensor(DType::f32, Shape{Dim::symbol("batch"), 784}));
  std::int64_t in = 784;
  for (const std::int64_t out : {512, 512, 10}) {
    Value* weight = weights.weight({out, in}, in);
    Value* bias = weights.uniform({out}, -0.1f, 0.1f);
    x = g.op("Gemm", {x, weight, bias}, {{"transB", 1}});
    if (out != 10) x = g.op("Relu", {x});
    in = out;
  }
  graph.add_output(x);
}

void lstm(Graph& graph) {
  constexpr std::int64_t kHidden = 256, kSteps = 100;
  GraphBuilder g(graph);
  Weights weights(g);
  Value* x = graph.add_input("x", Type::tensor(DType::f32, Shape{kSteps, 1, kHidden}));
  for (int layer = 0; layer < 2; ++layer) {
    Value* w = weights.weight({1, 4 * kHidden, kHidden}, kHidden);
    Value* r = weights.weight({1, 4 * kHidden, kHidden}, kHidden);
    Value* b = weights.uniform({1, 8 * kHidden}, -0.1f, 0.1f);
    const Values y = g.op("LSTM", {x, w, r, b}, {{"hidden_size", kHidden}}, 1);
    x = g.squeeze(y[0], {1});
  }
  graph.add_output(x);
}

// Ten operators on four million elements: all they need is memory.
void elementwise(Graph& graph) {
  GraphBuilder g(graph);
  Value* x = graph.add_input("x", Type::tensor(DType::f32, Shape{4 << 20}));
  Value* y = g.add(g.mul(x, 1.5), 0.5);
  y = g.mul(g.op("Sigmoid", {y}), x);
  y = g.op("Relu", {g.sub(y, 0.1)});
  y = g.op("Tanh", {g.mul(y, 0.7)});
  graph.add_output(g.add(g.mul(y, y), x));
}

void transpose(Graph& graph) {
  GraphBuilder g(graph);
  Value* x = graph.add_input("x", Type::tensor(DType::f32, Shape{2048, 2048}));
  graph.add_output(g.transpose(x, {1, 0}));
}

void logarithm(Graph& graph) {
  GraphBuilder g(graph);
  Value* x = graph.add_input("x", Type::tensor(DType::f32, Shape{4 << 20}));
  graph.add_output(g.op("Log", {x}));
}

// 500 complete trees of depth 8 over 30 features, in arrays as scikit-learn's converters write them.
void forest(Graph& graph) {
  constexpr std::int64_t kTrees = 500, kDepth = 8, kFeatures = 30;
  constexpr std::int64_t kInner = (1 << kDepth) - 1, kAll = (1 << (kDepth + 1)) - 1;
  std::vector<std::int64_t> trees, nodes, features, yes, no, target_trees, target_nodes, targets;
  std::vector<float> values, weights;
  std::vector<std::string> modes;
  std::uint64_t state = 1;
  const auto random = [&](std::uint64_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % n;
  };
  for (std::int64_t tree = 0; tree < kTrees; ++tree) {
    for (std::int64_t node = 0; node < kAll; ++node) {
      const bool is_leaf = node >= kInner;
      trees.push_back(tree);
      nodes.push_back(node);
      features.push_back(is_leaf ? 0 : static_cast<std::int64_t>(random(kFeatures)));
      values.push_back(is_leaf ? 0 : static_cast<float>(random(1000)) / 1000.0f);
      yes.push_back(is_leaf ? 0 : 2 * node + 1);
      no.push_back(is_leaf ? 0 : 2 * node + 2);
      modes.push_back(is_leaf ? "LEAF" : "BRANCH_LEQ");
      if (!is_leaf) continue;
      target_trees.push_back(tree);
      target_nodes.push_back(node);
      targets.push_back(0);
      weights.push_back(static_cast<float>(random(1000)) / 1000.0f);
    }
  }
  GraphBuilder g(graph);
  Value* x = graph.add_input("x", Type::tensor(DType::f32, Shape{Dim::symbol("rows"), kFeatures}));
  Node* node = g.node("TreeEnsembleRegressor", "ai.onnx.ml", {x},
                      {{"n_targets", 1},
                       {"nodes_treeids", trees},
                       {"nodes_nodeids", nodes},
                       {"nodes_featureids", features},
                       {"nodes_values", values},
                       {"nodes_truenodeids", yes},
                       {"nodes_falsenodeids", no},
                       {"nodes_modes", modes},
                       {"target_treeids", target_trees},
                       {"target_nodeids", target_nodes},
                       {"target_ids", targets},
                       {"target_weights", weights}},
                      1);
  graph.add_output(node->output(0));
}

}  // namespace ingot::bench
