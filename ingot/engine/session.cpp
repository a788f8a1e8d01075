// Runs a model node by node with the operators' reference kernels.
#include "ingot/engine/session.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/base/threads.h"
#include "ingot/engine/blocked.h"
#include "ingot/engine/elementwise.h"
#include "ingot/engine/fast_kernel.h"
#include "ingot/engine/fold_normalization.h"
#include "ingot/ops/catalog.h"
#include "ingot/ops/kernel.h"
#include "ingot/passes/convert_version.h"
#include "ingot/passes/decompose.h"
#include "ingot/passes/inline_functions.h"

namespace ingot::engine {
namespace {

/// One graph in running order, with a number for each value it defines.
struct Program {
  const Graph* graph = nullptr;
  std::vector<const Node*> nodes;
  std::vector<std::unique_ptr<PreparedNode>> prepared;  // by node; null: the reference kernel runs it
  std::unordered_map<const Value*, std::uint32_t> slots;
  std::vector<std::pair<std::uint32_t, Datum>> constants;  // ascending by slot
  /// Slots that no later node reads, by node: their memory is given back.
  std::vector<std::vector<std::uint32_t>> dead_after;
};

using Programs = std::unordered_map<const Graph*, std::unique_ptr<Program>>;

/// The value of an initializer that no input stands before, wherever it is defined.
const Array* constant_of(const Value& value, const void* programs) {
  if (value.is_input() || !value.initializer) return nullptr;
  const auto& all = *static_cast<const Programs*>(programs);
  const auto program = all.find(&value.graph());
  if (program == all.end()) return nullptr;
  const std::uint32_t slot = program->second->slots.at(&value);
  const auto& constants = program->second->constants;
  const auto it = std::ranges::lower_bound(constants, slot, {}, [](const auto& constant) { return constant.first; });
  return it != constants.end() && it->first == slot ? it->second.array() : nullptr;
}

/// Gives each node the first fast kernel that takes it.
void prepare(Programs& programs) {
  std::unordered_multimap<std::string_view, const FastKernel*> kernels;
  for (const FastKernel& kernel : fast_kernels()) kernels.emplace(kernel.op, &kernel);
  for (auto& [graph, program] : programs) {
    program->prepared.resize(program->nodes.size());
    for (std::size_t i = 0; i < program->nodes.size(); ++i) {
      const Node& node = *program->nodes[i];
      const auto [first, last] = kernels.equal_range(node.op);
      for (auto it = first; it != last && !program->prepared[i]; ++it) {
        if (it->second->domain != node.domain) continue;
        PrepareContext context(node, constant_of, &programs);
        program->prepared[i] = it->second->prepare(context);
      }
    }
  }
}

void add_programs(Graph& root, Programs& programs) {
  for_each_graph(root, [&](Graph& graph) {
    auto program = std::make_unique<Program>();
    program->graph = &graph;
    const auto define = [&](const Value* v) {
      return program->slots.try_emplace(v, static_cast<std::uint32_t>(program->slots.size())).first->second;
    };
    for (const Value* v : graph.inputs()) define(v);
    for (const Value* v : graph.initializers()) {
      const std::uint32_t slot = define(v);
      if (v->initializer) {
        program->constants.emplace_back(slot, Array::from(*v->initializer));
      } else {
        const SparseTensor& s = *v->sparse_initializer;
        program->constants.emplace_back(slot, SparseArray{Array::from(s.values), Array::from(s.indices), s.dims});
      }
    }
    std::ranges::sort(program->constants, {}, [](const auto& constant) { return constant.first; });
    const auto order = topological_order(graph);
    if (!order) throw Error(Code::not_sorted, "graph '" + graph.name + "' has a cycle");
    std::unordered_map<const Value*, std::size_t> last_use;
    std::set<const Value*> kept;  // read from a subgraph, or an output
    for (std::size_t i = 0; i < order->size(); ++i) {
      const Node* node = (*order)[i];
      program->nodes.push_back(node);
      for (const Value* v : node->inputs())
        if (v) last_use[v] = i;
      for (const Value* v : node->outputs()) {
        if (!v) continue;
        define(v);
        last_use.try_emplace(v, i);
        for (const Use& use : v->uses())
          if (!use.node || &use.node->graph() != &graph) kept.insert(v);
      }
    }
    program->dead_after.resize(program->nodes.size());
    for (const auto& [value, node] : last_use)
      if (value->producer() && &value->graph() == &graph && !kept.contains(value))
        program->dead_after[node].push_back(program->slots.at(value));
    programs.emplace(&graph, std::move(program));
  });
}

/// The values of one run of one graph, and the way to those of the graphs around it.
struct Frame {
  const Program& program;
  Frame* outer;
  std::vector<Datum> values;
};

class Run final : public ops::KernelHost {
 public:
  Run(const Programs& programs, Budget& budget, ThreadPool& pool) : programs_(programs), budget_(budget), pool_(pool) {}

  Array allocate(DType dtype, Dims dims) override {
    budget_.poll();
    return Array(dtype, std::move(dims));
  }
  Budget& budget() override { return budget_; }

  std::vector<Datum> run_graph(const Graph& graph, const std::vector<Datum>& inputs) override {
    const Program& program = *programs_.at(&graph);
    Frame frame{program, frame_, std::vector<Datum>(program.slots.size())};
    for (const auto& [slot, value] : program.constants) frame.values[slot] = value;
    for (std::size_t i = 0; i < graph.inputs().size() && i < inputs.size(); ++i)
      if (inputs[i]) frame.values[program.slots.at(graph.inputs()[i])] = inputs[i];
    frame_ = &frame;
    try {
      for (std::size_t i = 0; i < program.nodes.size(); ++i) {
        budget_.poll();
        step(*program.nodes[i], program.prepared[i].get(), frame);
        for (const std::uint32_t slot : program.dead_after[i]) frame.values[slot] = {};
      }
    } catch (...) {
      frame_ = frame.outer;
      throw;
    }
    std::vector<Datum> results;
    for (const Value* v : graph.outputs()) results.push_back(find(frame, v));
    frame_ = frame.outer;
    return results;
  }

 private:
  static Datum find(const Frame& frame, const Value* value) {
    for (const Frame* f = &frame; f; f = f->outer) {
      const auto it = f->program.slots.find(value);
      if (it != f->program.slots.end()) return f->values[it->second];
    }
    return {};
  }

  void step(const Node& node, const PreparedNode* prepared, Frame& frame) {
    std::vector<Datum> inputs, outputs(node.output_count());
    for (const Value* v : node.inputs()) inputs.push_back(v ? find(frame, v) : Datum());
    ops::KernelContext context(node, inputs, outputs, *this);
    try {
      if (prepared)
        prepared->run(context, pool_);
      else
        ops::find(node)->kernel(context);
    } catch (Error& error) {
      error.in_node(node.name, node.op);
      throw;
    }
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (const Value* v = node.output(i)) frame.values[frame.program.slots.at(v)] = std::move(outputs[i]);
  }

  const Programs& programs_;
  Budget& budget_;
  ThreadPool& pool_;
  Frame* frame_ = nullptr;
};

}  // namespace

struct Session::Plan {
  Model model;
  Programs programs;
  Budget* budget = nullptr;
  std::unique_ptr<Budget> own_budget;
  std::unique_ptr<ThreadPool> pool;
  std::vector<std::string> output_names;  // as the user knows them
};

Session::Session(const Model& model, const SessionOptions& options) : plan_(std::make_unique<Plan>()) {
  plan_->model = model.clone();
  plan_->own_budget = std::make_unique<Budget>();
  plan_->budget = options.budget ? options.budget : plan_->own_budget.get();
  Model& m = plan_->model;
  passes::canonicalize(m);
  passes::inline_functions(m, plan_->budget);
  const auto runs = [](const Node& node) {
    const ops::OpDef* def = ops::find(node);
    return def && def->kernel;
  };
  passes::decompose(m, runs);
  std::map<std::string, std::string> missing;  // operator -> first node
  for_each_graph(*m.graph, [&](Graph& g) {
    for (Node& node : g.nodes())
      if (!runs(node)) missing.try_emplace((node.domain.empty() ? "" : node.domain + ".") + node.op, node.label());
  });
  if (!missing.empty()) {
    std::string text = "the model has operators that cannot be run:";
    for (const auto& [op, where] : missing) text += "\n  " + op + " (" + where + ")";
    throw Error(Code::no_kernel, text).hint("an operator of another domain runs if the model defines it by a function");
  }
  for (const Value* v : m.graph->outputs()) plan_->output_names.push_back(v->name());
  if (options.is_fast)
    for_each_graph(*m.graph, [](Graph& graph) {
      fold_normalization(graph);
      block_convolutions(graph);
      fuse_elementwise(graph);
    });
  plan_->pool = std::make_unique<ThreadPool>(options.threads);
  add_programs(*m.graph, plan_->programs);
  if (options.is_fast)
    prepare(plan_->programs);
  else
    for (auto& [graph, program] : plan_->programs) program->prepared.resize(program->nodes.size());
}

Session::~Session() = default;

const Model& Session::model() const { return plan_->model; }

std::vector<NamedDatum> Session::run(const std::vector<NamedDatum>& inputs) const {
  const Graph& graph = *plan_->model.graph;
  std::vector<Datum> ordered(graph.inputs().size());
  for (const NamedDatum& given : inputs) {
    bool found = false;
    for (std::size_t i = 0; i < ordered.size(); ++i) {
      if (graph.inputs()[i]->name() != given.name) continue;
      ordered[i] = given.value;
      found = true;
    }
    if (!found) throw Error(Code::bad_input, "the model has no input '" + given.name + "'");
  }
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    const Value& input = *graph.inputs()[i];
    const bool may_be_absent = input.initializer || input.sparse_initializer || input.type.is_optional();
    if (!ordered[i] && !may_be_absent) throw Error(Code::bad_input, "input '" + input.name() + "' is missing");
    if (const Array* array = ordered[i].array()) {
      std::string why;
      if (!may_match(array->type(), input.type, &why) && !input.type.is_optional())
        throw Error(Code::bad_input, "input '" + input.name() + "' is " + input.type.str() + ", but " + why);
    }
  }
  Run run(plan_->programs, *plan_->budget, *plan_->pool);
  std::vector<Datum> results = run.run_graph(graph, ordered);
  std::vector<NamedDatum> named;
  for (std::size_t i = 0; i < results.size(); ++i) named.push_back({plan_->output_names[i], std::move(results[i])});
  return named;
}

}  // namespace ingot::engine
