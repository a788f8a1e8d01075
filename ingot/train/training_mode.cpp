// Graphs as they run in training.
#include "ingot/train/training_mode.h"

#include <span>

#include "ingot/base/hash.h"
#include "ingot/ops/builder.h"
#include "ingot/ops/generator/random.h"
#include "ingot/ops/infer.h"

namespace ingot::train {
namespace {

/// What draws numbers is seeded by its name as the model has it, since names change where a step is written down.
void seed_draws(Node& node) {
  if (!ops::is_random(node) || node.attributes.has("seed")) return;
  Hasher hasher;
  std::string name = node.name;
  for (const Value* v : node.outputs())
    if (name.empty() && v) name = v->name();
  hasher.update(std::as_bytes(std::span(name)));
  constexpr std::uint64_t kDigits = 0xffffff;  // exact in a float
  const std::uint64_t seed = hasher.digest() & kDigits;
  if (node.is("Dropout"))
    node.attributes.set({"seed", AttrValue(static_cast<std::int64_t>(seed))});
  else
    node.attributes.set({"seed", AttrValue(static_cast<float>(seed))});
}

}  // namespace

std::vector<Statistic> enter_training_mode(Graph& graph) {
  for_each_graph(graph, [](Graph& inner) {
    for (Node& node : inner.nodes()) {
      seed_draws(node);
      if (!node.is("Dropout")) continue;
      GraphBuilder g(inner, &node);
      g.name_after(node);
      node.set_input(2, g.constant(Tensor::of<bool>({}, {true})));
    }
  });
  std::vector<Statistic> statistics;
  for (Node& node : graph.nodes()) {
    if (node.is("BatchNormalization") && node.attributes.int_or("training_mode", 0) == 0) {
      node.attributes.set({"training_mode", 1});
      for (std::size_t i = 1; i <= 2; ++i) {
        Value* next =
            node.output(i) ? node.output(i) : node.add_output(graph.fresh_name(node.input(i + 2)->name() + "/next"));
        if (node.input(i + 2)->initializer) statistics.emplace_back(node.input(i + 2), next->name());
      }
      ops::InferSession session;
      ops::infer_node(node, session);
    }
  }
  return statistics;
}

}  // namespace ingot::train
