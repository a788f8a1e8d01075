// Two models become one.
#include "ingot/passes/merge.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "ingot/base/error.h"
#include "ingot/ir/drop_unread.h"
#include "ingot/ir/equal.h"
#include "ingot/ir/source_notes.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/schema.h"
#include "ingot/passes/convert_version.h"
#include "ingot/passes/fit_ir_version.h"
#include "ingot/passes/infer.h"
#include "ingot/passes/rename.h"

namespace ingot::passes {
namespace {

constexpr std::string_view kStage = "ingot.stage";

Value* output_named(const Graph& graph, std::string_view name) {
  for (Value* v : graph.outputs())
    if (v->name() == name) return v;
  return nullptr;
}

Value* input_named(const Graph& graph, std::string_view name) {
  for (Value* v : graph.inputs())
    if (v->name() == name) return v;
  return nullptr;
}

std::vector<Value*> own_values(const Graph& graph) {
  std::set<Value*> seen;
  std::vector<Value*> values;
  const auto add = [&](Value* v) {
    if (v && seen.insert(v).second) values.push_back(v);
  };
  for (Value* v : graph.inputs()) add(v);
  for (Value* v : graph.initializers()) add(v);
  for (Node& node : graph.nodes())
    for (Value* v : node.outputs()) add(v);
  return values;
}

using DimLookup = std::function<std::optional<Dim>(std::string_view)>;

void substitute_dims(const Model& model, const DimLookup& lookup) {
  for_each_graph(*model.graph, [&](Graph& graph) {
    for (Value* v : own_values(graph)) v->type = ops::substitute(v->type, lookup);
  });
}

void collect_dims(const Type& type, std::vector<std::string>& names) {
  if (type.shape)
    for (const Dim& d : *type.shape) d.collect_symbols(names);
  if (type.element) collect_dims(*type.element, names);
}

/// The names of dimensions in the types that a user sees.
std::set<std::string> dims_of(const Model& model) {
  std::vector<std::string> names;
  for (const Value* v : own_values(*model.graph)) collect_dims(v->type, names);
  return {names.begin(), names.end()};
}

void prefix_names(Model& model, const std::string& prefix) {
  if (prefix.empty()) return;
  std::vector<std::pair<std::string, std::string>> renames;
  for (const Value* v : own_values(*model.graph)) renames.emplace_back(v->name(), prefix + v->name());
  rename_values(model, renames);
  for (Node& node : model.graph->nodes())
    if (!node.name.empty()) node.name = prefix + node.name;
  substitute_dims(model, [&](std::string_view name) { return Dim::symbol(prefix + std::string(name)); });
}

bool has_stages(const Model& model) {
  for (const Node& node : model.graph->nodes())
    if (!note_of(node.metadata, kStage).empty()) return true;
  return false;
}

class Merger {
 public:
  Merger(Model& a, Model& b, const MergeOptions& options, MergeReport& report)
      : a_(a), b_(b), options_(options), report_(report) {}

  void run() {
    find_connections();
    mark_stages();
    prefix_names(a_, options_.prefix_a);
    prefix_names(b_, options_.prefix_b);
    align_opsets();
    check_types();
    check_names();
    require_no_problems();
    join_dims();
    join_functions();
    require_no_problems();
    copy_graph();
    set_outputs();
    join_notes();
  }

 private:
  struct Connection {
    Value *output, *input;
  };

  void problem(std::string text) { problems_.push_back(std::move(text)); }
  void require_no_problems() const {
    if (problems_.empty()) return;
    std::string text = "the models cannot be merged:";
    for (const std::string& p : problems_) text += "\n  " + p;
    throw Error(Code::bad_usage, text).hint("--connect out=in says what goes where, --prefix-b keeps names apart");
  }

  /// Where the nodes of one model name their stages, those of the other must not be taken for the stage beside them.
  void mark_stages() {
    const bool first = has_stages(a_), second = has_stages(b_);
    if (first == second) return;
    for (Node& node : (first ? b_ : a_).graph->nodes()) node.metadata.emplace_back(kStage, "model");
    report_.notes.push_back(std::string("the nodes of the ") + (first ? "second" : "first") +
                            " model name no stage: they are 'model' now");
  }

  void find_connections() {
    for (const auto& [from, to] : options_.connections) {
      Value *output = output_named(*a_.graph, from), *input = input_named(*b_.graph, to);
      if (!output) problem("the first model has no output '" + from + "'");
      if (!input) problem("the second model has no input '" + to + "'");
      for (const Connection& c : connections_)
        if (c.input == input && input) problem("input '" + to + "' is connected twice");
      if (output && input) connections_.push_back({output, input});
    }
    for (Value* input : b_.graph->inputs()) {
      if (is_connected(input)) continue;
      Value* output = options_.connections.empty() ? output_named(*a_.graph, input->name()) : nullptr;
      if (!output && options_.shares_inputs) output = input_named(*a_.graph, input->name());
      if (output) connections_.push_back({output, input});
    }
    if (connections_.empty()) problem("no output of the first model has the name of an input of the second");
  }

  void align_opsets() {
    OpsetImports to_a, to_b;
    for (const OpsetImport& import : b_.opsets) {
      const std::int64_t mine = a_.opsets.version(import.domain);
      if (mine == import.version) continue;
      if (mine == 0) {
        a_.opsets.set(import.domain, import.version);
      } else if (!ops::is_standard_domain(normal_domain(import.domain))) {
        problem("domain '" + import.domain + "' is of version " + std::to_string(mine) + " in one and " +
                std::to_string(import.version) + " in the other");
      } else {
        (mine < import.version ? to_a : to_b).set(import.domain, std::max(mine, import.version));
        report_.notes.push_back(domain_name(import.domain) + " of the " + (mine < import.version ? "first" : "second") +
                                " model moves to opset " + std::to_string(std::max(mine, import.version)));
      }
    }
    if (!to_a.empty()) convert_version(a_, to_a);
    if (!to_b.empty()) convert_version(b_, to_b);
    a_.ir_version = std::max(a_.ir_version, b_.ir_version);
  }

  void check_types() {
    for (const Connection& c : connections_) {
      std::string why;
      if (!may_match(c.output->type, c.input->type, &why))
        problem((c.output->is_input() ? "input '" : "output '") + c.output->name() + "' is " + c.output->type.str() +
                ", but input '" + c.input->name() + "' is " + c.input->type.str() + (why.empty() ? "" : ": " + why));
    }
  }

  bool is_connected(const Value* input) const {
    return std::ranges::any_of(connections_, [&](const Connection& c) { return c.input == input; });
  }

  /// Names that the outside knows must not change in silence.
  void check_names() {
    std::unordered_set<std::string> taken;
    for (const Value* v : a_.graph->inputs()) taken.insert(v->name());
    for (const Value* v : a_.graph->outputs()) taken.insert(v->name());
    const auto check = [&](const Value* v, const char* what) {
      if (taken.contains(v->name())) problem("both models have an input or output '" + v->name() + "' (" + what + ")");
    };
    for (const Value* v : b_.graph->inputs())
      if (!is_connected(v)) check(v, "an input of the second");
    for (const Value* v : b_.graph->outputs())
      if (!is_connected(v)) check(v, "an output of the second");
  }

  /// A name of a dimension means one size: what a connection says is equal gets the first model's name, and what
  /// merely has the same name another.
  void join_dims() {
    std::unordered_map<std::string, Dim> renamed;
    for (const Connection& c : connections_) {
      const auto &from = c.output->type.shape, &to = c.input->type.shape;
      if (!from || !to || from->size() != to->size()) continue;
      for (std::size_t i = 0; i < to->size(); ++i) {
        std::vector<std::string> names;
        (*to)[i].collect_symbols(names);
        if (names.size() == 1 && Dim::symbol(names[0]) == (*to)[i] && !(*from)[i].is_unknown())
          renamed.try_emplace(names[0], (*from)[i]);
      }
    }
    const std::set<std::string> mine = dims_of(a_);
    for (const std::string& name : dims_of(b_)) {
      if (renamed.contains(name) || !mine.contains(name)) continue;
      std::string other = name + "_b";
      while (mine.contains(other)) other += "_b";
      renamed.emplace(name, Dim::symbol(other));
      report_.notes.push_back("dimension '" + name + "' of the second model is called '" + other +
                              "': nothing says that it is the first one's");
    }
    substitute_dims(b_, [&](std::string_view name) -> std::optional<Dim> {
      const auto found = renamed.find(std::string(name));
      return found == renamed.end() ? std::nullopt : std::optional(found->second);
    });
  }

  void join_functions() {
    for (auto& function : b_.functions) {
      const Function* mine = a_.find_function(function->domain, function->name, function->overload);
      if (!mine)
        a_.functions.push_back(std::move(function));
      else if (!equal(*mine->body, *function->body))
        problem("both models have a function '" + function->name + "' and mean different things");
    }
  }

  /// Inputs and outputs of the second model keep their names: what is called so inside, of the first model or of any
  /// subgraph, gets another one.
  void free_names() {
    std::unordered_set<std::string> wanted;
    for (const Value* v : b_.graph->inputs())
      if (!is_connected(v)) wanted.insert(v->name());
    for (const Value* v : b_.graph->outputs()) wanted.insert(v->name());
    for (const Model* model : {&a_, &b_})
      for_each_graph(*model->graph, [&](Graph& graph) {
        if (&graph == b_.graph.get()) return;
        const Values outputs = graph.outputs();
        for (Value* v : own_values(graph)) {
          const bool is_port =
              &graph == a_.graph.get() && (v->is_input() || std::ranges::find(outputs, v) != outputs.end());
          if (is_port || !wanted.contains(v->name())) continue;
          std::string name = model->graph->fresh_name(v->name());
          while (wanted.contains(name)) name = model->graph->fresh_name(v->name());
          graph.rename(v, name);
        }
      });
  }

  void copy_graph() {
    free_names();
    Graph &to = *a_.graph, &from = *b_.graph;
    for (const Connection& c : connections_) map_[c.input] = c.output;
    for (Value* v : from.inputs()) {
      if (map_.contains(v)) continue;
      Value* input = v->initializer ? to.add_initializer(v->name(), *v->initializer) : to.add_input(v->name(), v->type);
      if (v->initializer) to.set_is_input(input, true);
      input->type = v->type;
      copy_notes(*v, *input);
      map_[v] = input;
    }
    for (Value* v : from.initializers()) {
      if (map_.contains(v)) continue;
      const std::string name = to.fresh_name(v->name());
      Value* copy = v->initializer ? to.add_initializer(name, *v->initializer)
                                   : to.add_sparse_initializer(name, *v->sparse_initializer);
      copy->type = v->type;
      copy_notes(*v, *copy);
      map_[v] = copy;
    }
    std::unordered_set<std::string> names;
    for (const Node& node : to.nodes()) names.insert(node.name);
    for (const Node& node : from.nodes()) {
      Node* copy = to.add_copy(node, map_);
      for (int i = 1; !copy->name.empty() && !names.insert(copy->name).second; ++i)
        copy->name = node.name + "_" + std::to_string(i);
    }
    for (const QuantizationAnnotation& q : from.quantization) to.quantization.push_back(renamed(q));
  }

  static void copy_notes(const Value& from, Value& to) {
    to.is_declared = from.is_declared;
    to.doc_string = from.doc_string;
    to.metadata = from.metadata;
  }

  QuantizationAnnotation renamed(const QuantizationAnnotation& old) const {
    QuantizationAnnotation q = old;
    const auto rename = [&](std::string& name) {
      const Value* v = b_.graph->find(name);
      const auto found = v ? map_.find(v) : map_.end();
      if (found != map_.end()) name = found->second->name();
    };
    rename(q.tensor_name);
    for (auto& [key, tensor] : q.parameters) rename(tensor);
    return q;
  }

  void set_outputs() {
    Graph& graph = *a_.graph;
    Values outputs;
    for (Value* v : graph.outputs())
      if (std::ranges::none_of(connections_, [&](const Connection& c) { return c.output == v; })) outputs.push_back(v);
    for (Value* v : b_.graph->outputs())
      if (Value* mine = map_.at(v); std::ranges::find(outputs, mine) == outputs.end()) outputs.push_back(mine);
    if (!options_.outputs.empty()) {
      outputs.clear();
      for (const std::string& name : options_.outputs) {
        Value* v = graph.find(name);
        if (!v) throw Error(Code::unknown_name, "the merged model has no value '" + name + "'");
        outputs.push_back(v);
      }
    }
    graph.resize_outputs(0);
    for (Value* v : outputs) {
      v->is_declared = true;
      graph.add_output(v);
    }
    drop_unread(graph);
  }

  void join_notes() {
    a_.graph->name += "_" + b_.graph->name;
    for (const auto& [key, value] : b_.metadata) {
      const auto mine = std::ranges::find(a_.metadata, key, [](const auto& entry) { return entry.first; });
      if (mine == a_.metadata.end())
        a_.metadata.emplace_back(key, value);
      else if (mine->second != value)
        report_.notes.push_back("property '" + key + "' of the second model is left out: the first has another value");
    }
  }

  Model &a_, &b_;
  const MergeOptions& options_;
  MergeReport& report_;
  std::vector<Connection> connections_;
  std::vector<std::string> problems_;
  Graph::ValueMap map_;
};

}  // namespace

Model merge(Model a, Model b, const MergeOptions& options, MergeReport& report) {
  if (!a.training.empty() || !b.training.empty())
    throw Error(Code::bad_usage, "models with training information are not merged")
        .hint("'ingot strip-training' takes it out");
  take_defaults_for_constants(a);
  take_defaults_for_constants(b);
  InferOptions tolerant;
  tolerant.keep_declared = true;
  tolerant.tolerate_errors = true;
  infer(a, tolerant);
  infer(b, tolerant);
  Merger(a, b, options, report).run();
  return a;
}

}  // namespace ingot::passes
