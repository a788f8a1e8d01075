// Constant folding by the operators' reference kernels.
#include "ingot/passes/fold.h"

#include <algorithm>

#include "ingot/base/budget.h"
#include "ingot/base/current_budget.h"
#include "ingot/base/error.h"
#include "ingot/ir/drop_unread.h"
#include "ingot/ops/builder.h"
#include "ingot/ops/generator/random.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/kernel.h"

namespace ingot::passes {
namespace {

constexpr std::uint64_t kMostGrowth = std::uint64_t{512} << 20;

/// Keeps to the current budget, and to results that may be kept.
class PassHost final : public ops::KernelHost {
 public:
  explicit PassHost(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}
  Array allocate(DType dtype, Dims dims) override {
    const auto bytes = byte_count(dtype, static_cast<std::uint64_t>(tensor_size(dims)));
    // Kernels may compute in wider types than they give.
    if (!bytes || *bytes / 8 > most_bytes_) throw Error(Code::memory_limit, "the result is too large to be kept");
    const Budget::MemoryGuard fits(budget(), *bytes);
    return Array(dtype, std::move(dims));
  }
  std::vector<Datum> run_graph(const Graph&, const std::vector<Datum>&) override {
    throw Error(Code::broken_invariant, "folding does not run subgraphs");
  }
  Budget& budget() override { return current_budget(); }

 private:
  std::uint64_t most_bytes_;
};

/// The elements of an output that inference knows, as a tensor; an empty one: not all are known.
Tensor known_elements(const Value& v) {
  if (!v.known_ints || !v.type.shape || v.type.shape->size() > 1) return {};
  if (v.type.elem != DType::i64 && v.type.elem != DType::i32) return {};
  std::vector<std::int64_t> ints;
  for (const Dim& d : *v.known_ints) {
    if (!d.is_known()) return {};
    ints.push_back(d.value());
  }
  Dims dims;
  if (!v.type.shape->empty()) dims.push_back(static_cast<std::int64_t>(ints.size()));
  if (dims.empty() && ints.size() != 1) return {};
  if (v.type.elem == DType::i64) return Tensor::of<std::int64_t>(std::move(dims), ints);
  return Tensor::of<std::int32_t>(std::move(dims), std::vector<std::int32_t>(ints.begin(), ints.end()));
}

std::uint64_t bytes_of(const Value& v) {
  const auto dims = static_dims(v.type.shape);
  if (!dims) return 0;
  std::uint64_t elements = 1;
  for (const std::int64_t d : *dims)
    elements = d > 0 && elements < (std::uint64_t{1} << 40) / static_cast<std::uint64_t>(d)
                   ? elements * static_cast<std::uint64_t>(d)
               : d ? std::uint64_t{1} << 40
                   : 0;
  return byte_count(v.type.elem, elements).value_or(elements);
}

/// Whether a node may be computed here, as far as it alone can tell.
bool can_fold(const Node& node, const FoldOptions& options) {
  const ops::OpDef* def = ops::find(node);
  bool has_subgraph = false;
  for_each_subgraph(node, [&](Graph&) { has_subgraph = true; });
  if (!def || !def->kernel || has_subgraph || ops::is_random(node)) return false;
  if (node.input_count() == 0 && !options.is_for_running) return false;
  return !options.keeps || !options.keeps(node);
}

/// The node's outputs; empty: it cannot be computed here.
std::vector<Tensor> computed(const Node& node, const FoldOptions& options, ops::KernelHost& host) {
  if (!can_fold(node, options)) return {};
  // As it is: an array of it might be a copy.
  if (const Tensor* value = node.output_count() == 1 ? ops::constant_of(node.output(0)) : nullptr) return {*value};
  std::vector<Datum> inputs(node.input_count()), outputs(node.output_count());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!node.input(i)) continue;
    const Tensor* t = ops::constant_of(node.input(i));
    if (!t) return {};
  }
  for (const Value* v : node.outputs())
    if (v && ((!v->type.is_tensor() && !options.is_for_running) || bytes_of(*v) > options.most_bytes)) return {};
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (node.input(i)) inputs[i] = Array::from(*ops::constant_of(node.input(i)));
  try {
    ops::KernelContext context(node, inputs, outputs, host);
    ops::find(node)->kernel(context);
  } catch (const Error& error) {
    if (error.code() == Code::cancelled || error.code() == Code::time_limit) throw;
    return {};  // what cannot be computed is the run's error, not ours
  }
  std::vector<Tensor> tensors;
  for (const Datum& d : outputs) {
    if (d && !d.array()) return {};
    tensors.push_back(d ? d.array()->to_tensor() : Tensor());
  }
  return tensors;
}

void put_constant(Value* value, Tensor tensor, const FoldOptions& options) {
  GraphBuilder g(value->graph(), value->producer()->next());
  g.name_after(value->name());
  const Type type = tensor.type();
  Value* constant = g.constant(std::move(tensor));
  if (options.is_for_running) {
    value->graph().replace_all_uses(value, constant);
    return;
  }
  const std::vector<Use> uses(value->uses().begin(), value->uses().end());
  for (const Use& use : uses)
    if (use.node) use.node->set_input(use.index, constant);
  if (value->uses().empty()) return;
  // An output of the graph keeps its name: an Identity carries it.
  Node* identity = value->graph().add_node("Identity", "", value->producer()->next());
  identity->add_input(constant);
  Value* carried = identity->add_output(value->graph().fresh_name(value->name()));
  carried->type = type;
  identity->name = carried->name();
  const std::vector<Use> outputs(value->uses().begin(), value->uses().end());
  for (const Use& use : outputs) use.graph->set_output(use.index, carried);
  std::string name = value->name();
  value->graph().rename(value, value->graph().fresh_name(name));
  value->graph().rename(carried, std::move(name));
  carried->is_declared = std::exchange(value->is_declared, false);
}

bool feeds_only_identity_output(const Node& node) {
  return node.is("Identity") && node.input(0) && ops::constant_of(node.input(0)) && node.output(0) &&
         std::ranges::all_of(node.output(0)->uses(), [](const Use& u) { return !u.node; });
}

/// All of the node's outputs where inference knows their elements, else none.
std::vector<Tensor> known(const Node& node) {
  std::vector<Tensor> tensors;
  for (const Value* v : node.outputs()) {
    tensors.push_back(v ? known_elements(*v) : Tensor());
    if (v && !tensors.back()) return {};
  }
  return tensors;
}

/// By how many bytes the results are larger than what they are made of.
std::uint64_t growth_of(const Node& node, const std::vector<Tensor>& results) {
  std::uint64_t before = 0, after = 0;
  for (const Value* v : node.inputs())
    if (const Tensor* t = v ? ops::constant_of(v) : nullptr) before += t->bytes().size();
  for (const Tensor& t : results) after += t.bytes().size();
  return after > before ? after - before : 0;
}

/// `growth` is that of all that was folded so far: small models must not become large ones.
void fold_in(Graph& graph, const FoldOptions& options, ops::KernelHost& host, std::uint64_t& growth) {
  const auto order = topological_order(graph);
  if (!order) return;
  for (Node* node : *order) {
    count_step();
    for_each_subgraph(*node, [&](Graph& g) { fold_in(g, options, host, growth); });
    if (growth > kMostGrowth) return;
    std::vector<Tensor> tensors;
    if (!options.is_for_running) {
      if (node->is("Constant") || feeds_only_identity_output(*node)) continue;
      tensors = known(*node);
    }
    if (tensors.empty()) tensors = computed(*node, options, host);
    if (tensors.empty()) continue;
    if (!options.is_for_running) growth += growth_of(*node, tensors);
    for (std::size_t i = 0; i < node->output_count(); ++i)
      if (node->output(i) && tensors[i]) put_constant(node->output(i), std::move(tensors[i]), options);
  }
}

}  // namespace

std::size_t fold_constants(Graph& graph, const FoldOptions& options, ops::KernelHost& host) {
  std::uint64_t growth = 0;
  fold_in(graph, options, host, growth);
  return drop_unread(graph);
}

std::size_t fold_constants(Graph& graph, const FoldOptions& options) {
  PassHost host(options.most_bytes);
  return fold_constants(graph, options, host);
}

}  // namespace ingot::passes
