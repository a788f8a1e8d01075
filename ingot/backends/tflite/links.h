#pragma once
#include <vector>

#include "ingot/backends/tflite/emitter.h"

namespace ingot::backends::tflite {

/// Who makes and how many read each tensor of a subgraph.
struct Links {
  explicit Links(const fmt_tflite::SubGraph& graph)
      : maker(graph.tensors.size(), -1), readers(graph.tensors.size(), 0) {
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
      for (const std::int32_t t : graph.operators[i].outputs) maker[static_cast<std::size_t>(t)] = static_cast<int>(i);
      for (const std::int32_t t : graph.operators[i].inputs)
        if (t >= 0) ++readers[static_cast<std::size_t>(t)];
    }
    for (const std::int32_t t : graph.outputs) ++readers[static_cast<std::size_t>(t)];
  }
  std::vector<int> maker, readers;
};

/// Takes operators out of a subgraph.
inline void drop(fmt_tflite::SubGraph& graph, const std::vector<bool>& gone) {
  std::vector<fmt_tflite::Operator> kept;
  for (std::size_t i = 0; i < graph.operators.size(); ++i)
    if (!gone[i]) kept.push_back(std::move(graph.operators[i]));
  graph.operators = std::move(kept);
}

}  // namespace ingot::backends::tflite
