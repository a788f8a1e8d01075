// Graphs of very many nodes in the four shapes that catch passes whose cost grows faster than the graph.
#include "bench/models/models.h"

namespace ingot::bench {
namespace {

constexpr int kNodes = 100'000;

Value* input(Graph& graph) { return graph.add_input("x", Type::tensor(DType::f32, Shape{4})); }

void chain_of(Graph& graph, int nodes) {
  GraphBuilder g(graph);
  Value* y = input(graph);
  for (int i = 0; i < nodes; ++i) y = g.op("Relu", {y});
  graph.add_output(y);
}

void fan_in_of(Graph& graph, int nodes) {
  GraphBuilder g(graph);
  Value* x = input(graph);
  Values all;
  for (int i = 0; i < nodes; ++i) all.push_back(g.op("Relu", {x}));
  graph.add_output(g.op("Sum", all));
}

void fan_out_of(Graph& graph, int nodes) {
  GraphBuilder g(graph);
  Value* x = g.op("Relu", {input(graph)});
  for (int i = 0; i < nodes; ++i) graph.add_output(g.op("Neg", {x}));
}

void initializers_of(Graph& graph, int count) {
  GraphBuilder g(graph);
  Value* y = input(graph);
  for (int i = 0; i < count; ++i) {
    Value* weight = g.constant(Tensor::of<float>({4}, {1, 2, 3, static_cast<float>(i)}));
    if (i % 100 == 0) y = g.add(y, weight);
  }
  graph.add_output(y);
}

}  // namespace

void chain(Graph& graph) { chain_of(graph, kNodes); }
void fan_in(Graph& graph) { fan_in_of(graph, kNodes); }
void fan_out(Graph& graph) { fan_out_of(graph, kNodes); }
void initializers(Graph& graph) { initializers_of(graph, kNodes); }
void chain_doubled(Graph& graph) { chain_of(graph, 2 * kNodes); }
void fan_in_doubled(Graph& graph) { fan_in_of(graph, 2 * kNodes); }
void fan_out_doubled(Graph& graph) { fan_out_of(graph, 2 * kNodes); }
void initializers_doubled(Graph& graph) { initializers_of(graph, 2 * kNodes); }

}  // namespace ingot::bench
