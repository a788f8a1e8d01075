#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "ingot/ir/model.h"
#include "ingot/ops/builder.h"

namespace ingot::bench {

/// Random weights that depend only on the order in which they are asked for, scaled so that activations keep their
/// size from layer to layer.
class Weights {
 public:
  explicit Weights(GraphBuilder& g) : g_(g) {}
  /// Uniform with the variance 1 / fan_in.
  Value* weight(Dims dims, std::int64_t fan_in);
  /// Uniform in [low, high).
  Value* uniform(Dims dims, float low, float high);

 private:
  GraphBuilder& g_;
  std::uint64_t state_ = 0;
};

/// One model of the table of measurements.
struct Recipe {
  std::string_view name;
  std::string_view what;
  void (*build)(Graph& graph);
};

void bert_base(Graph& graph);

void resnet50(Graph& graph);
void vgg19(Graph& graph);
void mobilenet_v2(Graph& graph);
void squeezenet(Graph& graph);

void mlp(Graph& graph);
void lstm(Graph& graph);
void elementwise(Graph& graph);
void transpose(Graph& graph);
void logarithm(Graph& graph);
void forest(Graph& graph);

void chain(Graph& graph);
void fan_in(Graph& graph);
void fan_out(Graph& graph);
void initializers(Graph& graph);
/// Twice as large as the four above, to see how cost grows.
void chain_doubled(Graph& graph);
void fan_in_doubled(Graph& graph);
void fan_out_doubled(Graph& graph);
void initializers_doubled(Graph& graph);

}  // namespace ingot::bench
