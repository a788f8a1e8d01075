// What is the same in every run is computed once.
#include <algorithm>
#include <unordered_set>

#include "ingot/base/error.h"
#include "ingot/engine/executor.h"

namespace ingot::engine {
namespace {

constexpr std::uint64_t kLargest = 64u << 20;  // bytes of one result: larger ones are made anew by each run

/// Lends memory to one kernel; whatever else it asks for ends the folding of its node.
class FoldHost final : public ops::KernelHost {
 public:
  FoldHost(Ledger& ledger, Budget& budget) : ledger_(ledger), budget_(budget) {}
  Array allocate(DType dtype, Dims dims) override {
    if (static_cast<std::uint64_t>(tensor_size(dims)) > kLargest / 8)
      throw Error(Code::memory_limit, "the result is too large to be kept");
    return ledger_.allocate(dtype, std::move(dims));
  }
  Budget& budget() override { return budget_; }
  std::vector<Datum> run_graph(const Graph&, const std::vector<Datum>&) override {
    throw Error(Code::execution_failed, "subgraphs are run at run time");
  }

 private:
  Ledger& ledger_;
  Budget& budget_;
};

bool has_subgraph(const Node& node) {
  return std::ranges::any_of(
      node.attributes, [](const Attribute& a) { return a.type() == AttrType::graph || a.type() == AttrType::graphs; });
}

class Folder {
 public:
  Folder(Program& program, Ledger& ledger, Budget& budget)
      : program_(program), host_(ledger, budget), values_(program.slots.size()), is_constant_(program.slots.size()) {
    for (const Constant& constant : program.constants) is_constant_[constant.slot] = true;
    for (const std::uint32_t slot : program.inputs) is_constant_[slot] = false;  // a default is not
  }

  void run() {
    std::vector<Step> rest;
    for (Step& step : program_.steps)
      if (!fold(step)) rest.push_back(std::move(step));
    if (rest.size() == program_.steps.size()) {
      program_.steps = std::move(rest);
      return;
    }
    program_.steps = std::move(rest);
    drop_unread();
  }

 private:
  bool fold(const Step& step) {
    const bool is_known = std::ranges::all_of(
        step.inputs, [&](const Ref& ref) { return ref.slot == kNoSlot || (ref.depth == 0 && is_constant_[ref.slot]); });
    if (!is_known || has_subgraph(*step.node) || ops::is_random(*step.node)) return false;
    std::vector<Datum> inputs, outputs(step.outputs.size());
    for (const Ref& ref : step.inputs) inputs.push_back(value_of(ref.slot));
    ops::KernelContext context(*step.node, inputs, outputs, host_);
    try {
      step.op->kernel(context);
    } catch (const Error& error) {
      // What is wrong with it is said when it is run, if it is.
      if (error.code() == Code::cancelled || error.code() == Code::time_limit) throw;
      return false;
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const std::uint32_t slot = step.outputs[i];
      if (slot == kNoSlot) continue;
      values_[slot] = std::move(outputs[i]);
      is_constant_[slot] = true;
    }
    folded_.insert(step.node);
    return true;
  }

  Datum value_of(std::uint32_t slot) {
    if (slot == kNoSlot) return {};
    if (values_[slot]) return values_[slot];
    Constant* constant = program_.constant(slot);
    return constant ? constant->ready() : Datum();
  }

  /// Constants that only folded steps have read are no longer needed.
  void drop_unread() {
    std::vector<Constant> rest;
    for (const auto& [value, slot] : program_.slots) {
      Constant* stored = program_.constant(slot);
      if (!values_[slot] && !stored) continue;
      const bool is_read = value->is_input() || std::ranges::any_of(value->uses(), [&](const Use& use) {
                             return !use.node || !folded_.contains(use.node);
                           });
      if (!is_read) continue;
      rest.push_back(stored ? std::move(*stored) : Constant{slot, {}, std::move(values_[slot])});
    }
    std::ranges::sort(rest, {}, &Constant::slot);
    program_.constants = std::move(rest);
  }

  Program& program_;
  FoldHost host_;
  std::vector<Datum> values_;  // that were computed
  std::vector<bool> is_constant_;
  std::unordered_set<const Node*> folded_;
};

}  // namespace

void fold_constants(Programs& programs, Ledger& ledger, Budget& budget) {
  for (auto& [graph, program] : programs) Folder(*program, ledger, budget).run();
}

void write_constants(const Programs& programs) {
  for (const auto& entry : programs) {
    const auto& program = entry.second;
    std::vector<Value*> computed;
    for (const auto& [value, slot] : program->slots)
      if (value->producer()) computed.push_back(const_cast<Value*>(value));
    std::ranges::sort(computed, {}, [&](const Value* v) { return program->slots.at(v); });
    for (Value* value : computed) {
      const Constant* computed_value = program->constant(program->slots.at(value));
      if (!computed_value || !computed_value->value.array()) continue;
      const Array& array = *computed_value->value.array();
      Graph& home = value->graph();
      Value* constant = home.add_initializer(home.fresh_name(value->name()), array.to_tensor());
      constant->type = array.type();
      home.replace_all_uses(value, constant);
    }
  }
  // What nobody reads any more goes, the last nodes first. Inner graphs come before those around them, which may take
  // them along.
  std::vector<Graph*> graphs;
  for (const auto& [graph, program] : programs)
    if (!graph->parent()) for_each_graph(const_cast<Graph&>(*graph), [&](Graph& g) { graphs.push_back(&g); });
  for (std::size_t k = graphs.size(); k-- > 0;) {
    Graph& home = *graphs[k];
    const auto order = topological_order(home);
    for (std::size_t i = order->size(); i-- > 0;)
      if (std::ranges::all_of((*order)[i]->outputs(), [](const Value* v) { return !v || v->uses().empty(); }))
        home.erase((*order)[i]);
  }
}

}  // namespace ingot::engine
