// From graphs to programs: an order, slots for values, the end of each value's life, kernels.
#include "ingot/engine/program.h"

#include <algorithm>

#include "ingot/base/error.h"
#include "ingot/engine/rewrites/fuse_updates.h"
#include "ingot/ops/catalog.h"

namespace ingot::engine {
namespace {

std::vector<Node*> order_of(const Graph& graph) {
  auto order = topological_order(graph);
  if (!order) throw Error(Code::cyclic_graph, "the nodes of graph '" + graph.name + "' depend on each other");
  return std::move(*order);
}

[[noreturn]] void refuse_undefined(const Value& v) {
  throw Error(Code::undefined_value, "nothing defines the value '" + v.name() + "'");
}

class Maker {
 public:
  Maker(const Graph& graph, const Programs& outer) : graph_(graph), outer_(outer) { program_->graph = &graph; }

  std::unique_ptr<Program> make() {
    program_->slots.reserve(graph_.inputs().size() + graph_.initializers().size() + graph_.node_count());
    define_inputs();
    std::vector<Node*> order = order_of(graph_);
    const auto first =
        std::stable_partition(order.begin(), order.end(), [](const Node* node) { return !is_update(*node); });
    if (first != order.end()) program_->first_update = static_cast<std::size_t>(first - order.begin());
    for (const Node* node : order)
      for (const Value* v : node->outputs())
        if (v) define(v);
    program_->steps.reserve(order.size());
    for (const Node* node : order) add_step(*node);
    for (const Value* v : graph_.outputs()) program_->outputs.push_back(ref_to(v));
    find_ends();
    return std::move(program_);
  }

 private:
  std::uint32_t define(const Value* v) {
    return program_->slots.try_emplace(v, static_cast<std::uint32_t>(program_->slots.size())).first->second;
  }

  void define_inputs() {
    for (const Value* v : graph_.inputs()) program_->inputs.push_back(define(v));
    for (const Value* v : graph_.initializers()) {
      Constant constant;
      constant.slot = define(v);
      constant.tensor = *v->initializer;
      program_->constants.push_back(std::move(constant));
    }
    std::ranges::sort(program_->constants, {}, &Constant::slot);
  }

  Ref ref_to(const Value* v) const {
    if (!v) return {};
    std::uint32_t depth = 0;
    for (const Graph* g = &graph_; g; g = g->parent(), ++depth) {
      if (&v->graph() != g) continue;
      const Program* program = g == &graph_ ? program_.get() : outer_.at(g).get();
      const auto it = program->slots.find(v);
      if (it != program->slots.end()) return {depth, it->second};
    }
    refuse_undefined(*v);
  }

  void add_step(const Node& node) {
    Step step;
    step.node = &node;
    step.op = ops::find(node);
    for (std::size_t i = 0; i < node.input_count(); ++i) step.inputs.push_back(ref_to(node.input(i)));
    for (std::size_t i = 0; i < node.output_count(); ++i) {
      const Value* v = node.output(i);
      step.outputs.push_back(v ? program_->slots.at(v) : kNoSlot);
    }
    program_->steps.push_back(std::move(step));
  }

  /// A value that a subgraph reads or that the graph gives out lives to the end.
  static bool is_kept(const Value& v) {
    return std::ranges::any_of(v.uses(), [&](const Use& use) { return !use.node || &use.node->graph() != &v.graph(); });
  }

  void find_ends() {
    constexpr std::size_t kNever = static_cast<std::size_t>(-1);
    std::vector<std::size_t> last(program_->slots.size(), kNever);
    for (std::size_t i = 0; i < program_->steps.size(); ++i) {
      const Step& step = program_->steps[i];
      for (const std::uint32_t slot : step.outputs)
        if (slot != kNoSlot) last[slot] = i;
      for (const Ref& ref : step.inputs)
        if (ref.depth == 0 && ref.slot != kNoSlot && last[ref.slot] != kNever) last[ref.slot] = i;
    }
    for (const auto& [value, slot] : program_->slots)
      if (last[slot] != kNever && !is_kept(*value)) program_->steps[last[slot]].dead.push_back(slot);
  }

  const Graph& graph_;
  const Programs& outer_;
  std::unique_ptr<Program> program_ = std::make_unique<Program>();
};

/// The values that are the same in every run, wherever they are defined; an input's default is not.
class PlanConstants final : public PrepareContext::Constants {
 public:
  explicit PlanConstants(Programs& programs) : programs_(programs) {}

  const Array* array(const Value& value) override {
    Constant* constant = find(value);
    return constant ? constant->ready().array() : nullptr;
  }
  Tensor tensor(const Value& value) override {
    Constant* constant = find(value);
    if (!constant) return {};
    if (!constant->tensor && constant->value.array()) return constant->value.array()->to_tensor();
    return constant->tensor;
  }

 private:
  Constant* find(const Value& value) {
    if (value.is_input()) return nullptr;
    const auto program = programs_.find(&value.graph());
    if (program == programs_.end()) return nullptr;
    const auto slot = program->second->slots.find(&value);
    return slot == program->second->slots.end() ? nullptr : program->second->constant(slot->second);
  }

  Programs& programs_;
};

}  // namespace

const Datum& Constant::ready() {
  if (!value && tensor) value = Array::from(tensor);
  return value;
}

Constant* Program::constant(std::uint32_t slot) {
  const auto it = std::ranges::lower_bound(constants, slot, {}, &Constant::slot);
  return it != constants.end() && it->slot == slot ? &*it : nullptr;
}

void require_order(Graph& root) {
  const auto require = [](const Value* v) {
    if (v && !v->producer() && !v->is_input() && !v->initializer && !v->sparse_initializer) refuse_undefined(*v);
  };
  for_each_graph(root, [&](Graph& graph) {
    for (const Node* node : order_of(graph)) std::ranges::for_each(node->inputs(), require);
    std::ranges::for_each(graph.outputs(), require);
  });
}

Programs make_programs(Graph& root) {
  Programs programs;
  for_each_graph(root, [&](Graph& graph) { programs.emplace(&graph, Maker(graph, programs).make()); });
  return programs;
}

void choose_kernels(Programs& programs) {
  std::unordered_map<std::string_view, std::vector<const FastKernel*>> kernels;
  for (const FastKernel& kernel : fast_kernels()) kernels[kernel.op].push_back(&kernel);
  PlanConstants constants(programs);
  for (auto& [graph, program] : programs)
    for (Step& step : program->steps) {
      const auto known = kernels.find(step.node->op);
      if (known == kernels.end()) continue;
      for (const FastKernel* kernel : known->second) {
        if (kernel->domain != step.node->domain) continue;
        PrepareContext context(*step.node, constants);
        step.prepared = kernel->prepare(context);
        if (step.prepared) {
          step.kernel = kernel->name;
          break;
        }
        step.refusals.emplace_back(kernel->name, context.reason());
      }
    }
}

void materialize_constants(Programs& programs) {
  std::unordered_map<const Program*, std::vector<bool>> is_read;
  for (const auto& [graph, program] : programs) is_read[program.get()].resize(program->slots.size());
  const auto mark = [&](const Program& from, const Ref& ref) {
    if (ref.slot == kNoSlot) return;
    const Graph* graph = from.graph;
    for (std::uint32_t i = 0; i < ref.depth; ++i) graph = graph->parent();
    is_read.at(programs.at(graph).get())[ref.slot] = true;
  };
  for (const auto& [graph, program] : programs) {
    for (const Step& step : program->steps)
      for (std::size_t i = 0; i < step.inputs.size(); ++i)
        if (!step.prepared || step.prepared->reads(i)) mark(*program, step.inputs[i]);
    for (const Ref& ref : program->outputs) mark(*program, ref);
  }
  for (const auto& [graph, program] : programs) {
    const std::vector<bool>& wanted = is_read.at(program.get());
    std::erase_if(program->constants, [&](const Constant& constant) { return !wanted[constant.slot]; });
    for (Constant& constant : program->constants) constant.ready();
  }
}

}  // namespace ingot::engine
