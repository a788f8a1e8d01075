// A model made ready to run: canonical operators, programs, constants, kernels.
#include "ingot/engine/session.h"

#include <map>

#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"
#include "ingot/base/threads.h"
#include "ingot/engine/blocked.h"
#include "ingot/engine/elementwise.h"
#include "ingot/engine/executor.h"
#include "ingot/engine/fold_normalization.h"
#include "ingot/engine/linear.h"
#include "ingot/ops/catalog.h"
#include "ingot/passes/convert_version.h"
#include "ingot/passes/decompose.h"
#include "ingot/passes/inline_functions.h"

namespace ingot::engine {
namespace {

bool has_kernel(const Node& node) {
  const ops::OpDef* def = ops::find(node);
  return def && def->kernel;
}

void refuse_missing(Graph& graph) {
  std::map<std::string, std::string> missing;  // operator -> first node
  for_each_graph(graph, [&](Graph& g) {
    for (Node& node : g.nodes())
      if (!has_kernel(node))
        missing.try_emplace((node.domain.empty() ? "" : node.domain + ".") + node.op, node.label());
  });
  if (missing.empty()) return;
  std::string text = "the model has operators that cannot be run:";
  for (const auto& [op, where] : missing) text += "\n  " + op + " (" + where + ")";
  throw Error(Code::no_kernel, text).hint("an operator of another domain runs if the model defines it by a function");
}

}  // namespace

struct Session::Plan {
  explicit Plan(const SessionOptions& options)
      : budget(options.budget ? *options.budget : own_budget), ledger(budget), pool(options.threads) {}

  Budget own_budget;
  Budget& budget;
  Ledger ledger;  // of constants
  Model model;
  Programs programs;
  mutable ThreadPool pool;
  mutable Recycler recycler;
  std::vector<std::string> output_names;  // as the user knows them
};

namespace {

/// Rewrites the graphs for fast kernels.
void optimize(Graph& root) {
  for_each_graph(root, [](Graph& graph) {
    fold_normalization(graph);
    block_convolutions(graph);
    fuse_linear(graph);
    fuse_elementwise(graph);
  });
}

}  // namespace

Session::Session(const Model& model, const SessionOptions& options) : plan_(std::make_unique<Plan>(options)) {
  Model& m = plan_->model;
  m = model.clone();
  passes::canonicalize(m);
  passes::inline_functions(m, &plan_->budget);
  passes::decompose(m, has_kernel);
  refuse_missing(*m.graph);
  for (const Value* v : m.graph->outputs()) plan_->output_names.push_back(v->name());
  plan_->programs = make_programs(*m.graph, plan_->ledger);
  fold_constants(plan_->programs, plan_->ledger, plan_->budget);
  if (options.is_fast) {
    write_constants(plan_->programs);
    optimize(*m.graph);
    plan_->programs = make_programs(*m.graph, plan_->ledger);
    choose_kernels(plan_->programs);
  }
  check_mapped_files();
}

Session::~Session() = default;

const Model& Session::model() const { return plan_->model; }

std::vector<NamedDatum> Session::run(const std::vector<NamedDatum>& inputs, const RunOptions& options) const {
  const Graph& graph = *plan_->model.graph;
  const std::vector<Datum> ordered = ordered_inputs(graph, inputs);
  std::vector<Datum> results;
  {
    Executor executor(plan_->programs, plan_->budget, plan_->pool, plan_->recycler, options.profile);
    results = executor.run_graph(graph, ordered);
  }
  check_mapped_files();
  std::vector<NamedDatum> named;
  for (std::size_t i = 0; i < results.size(); ++i) named.push_back({plan_->output_names[i], std::move(results[i])});
  return named;
}

std::vector<KernelChoice> Session::kernels() const {
  std::vector<KernelChoice> choices;
  for_each_graph(*plan_->model.graph, [&](Graph& graph) {
    for (const Step& step : plan_->programs.at(&graph)->steps) {
      KernelChoice choice;
      choice.node = step.node->name.empty() ? step.node->label() : step.node->name;
      choice.op = (step.node->domain.empty() ? "" : step.node->domain + ".") + step.node->op;
      choice.kernel = step.kernel;
      for (const auto& [kernel, reason] : step.refusals) choice.refusals.emplace_back(kernel, reason);
      choices.push_back(std::move(choice));
    }
  });
  return choices;
}

}  // namespace ingot::engine
