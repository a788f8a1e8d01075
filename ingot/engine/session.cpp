// A model made ready to run: canonical operators, programs, constants, kernels.
#include "ingot/engine/session.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <new>

#include "ingot/base/current_budget.h"
#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"
#include "ingot/base/threads.h"
#include "ingot/engine/executor.h"
#include "ingot/engine/rewrites/rewrites.h"
#include "ingot/ir/has_default.h"
#include "ingot/ops/catalog.h"
#include "ingot/ops/well_formed.h"
#include "ingot/passes/canonicalize.h"
#include "ingot/passes/decompose.h"
#include "ingot/passes/inline_functions.h"
#include "ingot/passes/sort_nodes.h"

namespace ingot::engine {
namespace {

bool has_kernel(const Node& node) {
  const ops::OpDef* def = ops::find(node);
  return def && def->kernel;
}

/// What must be known before an operator can be run, and is not.
struct Missing {
  std::map<std::string, std::string> operators;  // with the first node of each
  bool may_decompose = true;                     // all of them, if only shapes were known
};

Missing missing_in(Graph& graph) {
  Missing missing;
  for_each_graph(graph, [&](Graph& g) {
    for (Node& node : g.nodes()) {
      if (has_kernel(node)) continue;
      const ops::OpDef* def = ops::find(node);
      const bool is_defined = def && def->decompose;
      missing.operators.try_emplace((node.domain.empty() ? "" : node.domain + ".") + node.op,
                                    node.label() + (is_defined ? ": not with these attributes and inputs" : ""));
      missing.may_decompose &= is_defined;
    }
  });
  return missing;
}

[[noreturn]] void refuse(const Missing& missing) {
  std::string text = "the model has operators that cannot be run:";
  for (const auto& [op, where] : missing.operators) text += "\n  " + op + " (" + where + ")";
  throw Error(Code::no_kernel, text).hint("an operator of another domain runs if the model defines it by a function");
}

/// A model planned for what is known of its inputs.
struct Plan {
  explicit Plan(Budget& budget) : ledger(budget) {}
  Ledger ledger;  // of constants
  Model model;
  Programs programs;
  std::vector<std::string> output_names;  // as the user knows them
};

/// Constants that no kernel reads as they are, packed or folded by now, need no memory.
void drop_unread(Plan& plan) {
  for_each_graph(*plan.model.graph, [&](Graph& graph) {
    Program& program = *plan.programs.at(&graph);
    for (Value* v : graph.initializers())
      if (!v->is_input() && !program.constant(program.slots.at(v))) v->initializer.emplace();
  });
}

/// The model's inputs alone.
Model signature_of(const Model& model) {
  Model inputs;
  for (const Value* input : model.graph->inputs()) {
    Value* copy = inputs.graph->add_input(input->name(), input->type);
    copy->initializer = input->initializer;
    if (input->sparse_initializer)
      copy->sparse_initializer = std::make_unique<SparseTensor>(*input->sparse_initializer);
  }
  return inputs;
}

bool input_has_default(const Value* input) { return has_default(*input); }

/// Defaults that nobody replaces are constants: they are folded and packed as weights are.
Model with_constant_defaults(const Model& model) {
  Model closed = model.clone();
  closed.graph->close_defaults();
  return closed;
}

/// Fast rewrites take what operators require for granted. A node that lacks it may still stand where nothing runs it.
bool is_well_formed(Graph& graph) {
  try {
    ops::require_well_formed(graph);
    return true;
  } catch (const Error&) {
    return false;
  }
}

constexpr std::size_t kMostPlans = 8;  // for different shapes, where shapes are needed

}  // namespace

struct Session::State {
  explicit State(const SessionOptions& o) : options(o), budget(o.budget ? *o.budget : own_budget), pool(o.threads) {}

  /// `missing`, if given, is filled where only shapes are lacking; then there is no plan.
  std::shared_ptr<const Plan> plan(const Model& source, Missing* missing) {
    auto made = std::make_shared<Plan>(budget);
    Model& m = made->model;
    m = source.clone();
    passes::inline_functions(m, &budget);
    passes::sort_nodes(*m.graph);  // types are inferred and patterns found in this order
    passes::canonicalize(m);
    passes::decompose(m, has_kernel);
    const Missing none = missing_in(*m.graph);
    if (!none.operators.empty()) {
      if (!missing || !none.may_decompose) refuse(none);
      *missing = none;
      return nullptr;
    }
    for (const Value* v : m.graph->outputs()) made->output_names.push_back(v->name());
    require_order(*m.graph);
    rewrite(*m.graph, {made->ledger, budget, *m.graph, options.updates, made->output_names},
            options.is_fast && is_well_formed(*m.graph));
    made->programs = make_programs(*m.graph);
    if (options.is_fast) choose_kernels(made->programs);
    materialize_constants(made->programs);
    drop_unread(*made);
    check_mapped_files();
    return made;
  }

  const SessionOptions options;
  Budget own_budget;
  Budget& budget;
  ThreadPool pool;
  Recycler recycler;
  std::shared_ptr<const Plan> general;  // null: planned for the shapes of each run
  Model model;                          // then the whole model, else its inputs
  std::mutex mutex;
  std::vector<std::pair<std::string, std::shared_ptr<const Plan>>> plans;  // by the inputs' types, newest last
  std::optional<Model> with_defaults;  // the model whose defaults are constants in the plans
  std::unique_ptr<Session> open;       // where a default was given another value

  /// The plan for these inputs.
  std::shared_ptr<const Plan> plan_for(const std::vector<Datum>& inputs) {
    if (general) return general;
    std::string key;
    for (const Datum& input : inputs) key += (input.array() ? input.array()->type().str() : "?") + ";";
    const std::lock_guard lock(mutex);
    for (const auto& [known, plan] : plans)
      if (known == key) return plan;
    const Model shaped = model.clone();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      Value* input = shaped.graph->inputs()[i];
      if (inputs[i].array() && !input->type.is_optional()) input->type = inputs[i].array()->type();
    }
    std::shared_ptr<const Plan> made = plan(shaped, nullptr);
    if (plans.size() == kMostPlans) plans.erase(plans.begin());
    plans.emplace_back(std::move(key), made);
    return made;
  }

  /// The session that takes values for defaults, if one is given.
  Session* open_for(const std::vector<NamedDatum>& inputs) {
    if (!with_defaults) return nullptr;
    const auto replaces_default = [&](const NamedDatum& given) {
      const Value* v = with_defaults->graph->find(given.name);
      return v && v->is_input() && has_default(*v);
    };
    if (std::ranges::none_of(inputs, replaces_default)) return nullptr;
    const std::lock_guard lock(mutex);
    if (!open) open.reset(new Session(*with_defaults, options, Defaults::open));
    return open.get();
  }
};

Session::Session(const Model& model, const SessionOptions& options)
    : Session(model, options, options.updates.empty() ? Defaults::constant : Defaults::open) {}

Session::Session(const Model& source, const SessionOptions& options, Defaults defaults)
    : state_(std::make_unique<State>(options)) {
  Missing missing;
  const BudgetScope scope(options.budget);
  if (defaults == Defaults::constant && std::ranges::any_of(source.graph->inputs(), input_has_default))
    state_->with_defaults = source.clone();
  const std::optional<Model> closed =
      state_->with_defaults ? std::optional(with_constant_defaults(source)) : std::nullopt;
  const Model& model = closed ? *closed : source;
  try {
    state_->general = state_->plan(model, &missing);
  } catch (const std::bad_alloc&) {
    throw no_memory();
  } catch (const Error& error) {
    // Rewrites between versions may need a rank that only the inputs tell.
    if (error.code() != Code::cannot_upgrade && error.code() != Code::shape_needed) throw;
    const auto is_static = [](const Value* v) { return !v->type.is_tensor() || static_dims(v->type.shape); };
    if (std::ranges::all_of(model.graph->inputs(), is_static)) throw;
  }
  state_->model = state_->general ? signature_of(model) : model.clone();
}

Session::~Session() = default;

const Model& Session::model() const { return state_->general ? state_->general->model : state_->model; }

std::vector<NamedDatum> Session::run(const std::vector<NamedDatum>& inputs, const RunOptions& options) const try {
  if (Session* open = state_->open_for(inputs)) return open->run(inputs, options);
  const std::vector<Datum> ordered = ordered_inputs(*state_->model.graph, inputs);
  const std::shared_ptr<const Plan> plan = state_->plan_for(ordered);
  const Graph& graph = *plan->model.graph;
  std::vector<Datum> results;
  {
    Executor executor(plan->programs, state_->budget, state_->pool, state_->recycler, options.profile, options.in_place,
                      options.draw, options.on_output);
    results = executor.run_graph(graph, ordered);
  }
  check_mapped_files();
  std::vector<NamedDatum> named;
  for (std::size_t i = 0; i < results.size(); ++i) named.push_back({plan->output_names[i], std::move(results[i])});
  return named;
} catch (const std::bad_alloc&) {
  throw no_memory();
}

std::vector<KernelChoice> Session::kernels() const {
  std::shared_ptr<const Plan> plan = state_->general;
  if (!plan) {
    const std::lock_guard lock(state_->mutex);
    if (state_->plans.empty()) return {};
    plan = state_->plans.back().second;
  }
  std::vector<KernelChoice> choices;
  for_each_graph(*plan->model.graph, [&](Graph& graph) {
    for (const Step& step : plan->programs.at(&graph)->steps) {
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
