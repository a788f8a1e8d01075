// How much there is to compute, from shapes alone.
#include "ingot/driver/work.h"

namespace ingot::driver {
namespace {

using Sizes = std::optional<std::vector<std::int64_t>>;

Sizes sizes_of(const Value* value) {
  if (!value) return std::nullopt;
  return static_dims(value->type.shape);
}

double product(const std::vector<std::int64_t>& dims, std::size_t first = 0) {
  double n = 1;
  for (std::size_t i = first; i < dims.size(); ++i) n *= static_cast<double>(dims[i]);
  return n;
}

}  // namespace

bool is_product(const Node& node) {
  for (const char* op : {"Conv", "ConvTranspose", "Gemm", "MatMul", "LSTM", "GRU", "RNN"})
    if (node.is(op)) return true;
  return false;
}

std::optional<double> product_operations(const Node& node) {
  const Sizes a = sizes_of(node.input(0)), b = sizes_of(node.input(1)), y = sizes_of(node.output());
  if (!a || !b) return std::nullopt;
  if (node.is("ConvTranspose")) return 2 * product(*a) * product(*b, 1);
  if (node.is("LSTM") || node.is("GRU") || node.is("RNN")) {
    const Sizes r = sizes_of(node.input(2));
    if (!r || a->size() != 3) return std::nullopt;
    return 2 * static_cast<double>((*a)[0]) * static_cast<double>((*a)[1]) * (product(*b) + product(*r));
  }
  if (a->empty() || b->empty()) return std::nullopt;
  if (node.is("Gemm"))
    return 2 * product(*a) * static_cast<double>(node.attributes.int_or("transB", 0) ? b->front() : b->back());
  if (!y) return std::nullopt;
  if (node.is("Conv")) return 2 * product(*y) * product(*b, 1);
  return 2 * product(*y) * static_cast<double>(a->back());
}

Work work_of(const Model& model) {
  Work work;
  for_each_graph(*model.graph, [&](Graph& graph) {
    for (const Node& node : graph.nodes()) {
      if (!is_product(node)) continue;
      // How often a subgraph runs is not known.
      const auto n = &graph == model.graph.get() ? product_operations(node) : std::nullopt;
      ++(n ? work.counted : work.unknown);
      work.operations += n.value_or(0);
    }
  });
  return work;
}

}  // namespace ingot::driver
