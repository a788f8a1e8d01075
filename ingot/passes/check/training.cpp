// Training information: what the bindings name, and the operator Gradient, which refers to values by name.
#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

#include "ingot/passes/check/rules.h"

namespace ingot::passes::rules {
namespace {

using Names = std::unordered_map<std::string_view, const Value*>;

Names outputs_of(const Graph* graph) {
  Names names;
  if (graph)
    for (const Value* v : graph->outputs())
      if (v) names.try_emplace(v->name(), v);
  return names;
}

Names initializers_of(const Graph* graph) {
  Names names;
  if (graph)
    for (const Value* v : graph->initializers()) names.try_emplace(v->name(), v);
  return names;
}

struct Bindings {
  const Metadata& entries;
  std::string_view field;       // "initialization_binding"
  std::string_view graph_name;  // "initialization"
  const Graph* graph;
};

class TrainingRules {
 public:
  explicit TrainingRules(Context& c)
      : c_(c), state_(initializers_of(c.model.graph.get())), inference_outputs_(outputs_of(c.model.graph.get())) {}

  void run() {
    for (std::size_t i = 0; i < c_.model.training.size(); ++i) {
      const TrainingInfo& t = c_.model.training[i];
      place_ = fmt::format("training info {}", i);
      own_state_ = initializers_of(t.algorithm.get());
      if (!t.algorithm && !t.initialization)
        c_.report.warning(Code::bad_training_info, place_, "it has neither an initialization nor an algorithm",
                          "remove it");
      if (t.initialization && !t.initialization->inputs().empty())
        c_.report.error(Code::bad_training_info, place_ + ", initialization", "an initialization must not have inputs",
                        "make them initializers or constants");
      check({t.initialization_binding, "initialization_binding", "initialization", t.initialization.get()}, nullptr);
      check({t.update_binding, "update_binding", "algorithm", t.algorithm.get()}, &updated_);
    }
  }

 private:
  void check(const Bindings& b, std::unordered_set<std::string_view>* across) {
    const std::string place = fmt::format("{}, {}", place_, b.field);
    if (!b.graph && !b.entries.empty()) {
      c_.report.error(Code::bad_training_info, place, fmt::format("there are bindings but no {}", b.graph_name),
                      fmt::format("remove the bindings, or add the {}", b.graph_name));
      return;
    }
    const Names outputs = outputs_of(b.graph);
    std::unordered_set<std::string_view> keys;
    for (const auto& [key, name] : b.entries) {
      const std::string at = fmt::format("{}: {}", place, quoted(key));
      if (!keys.insert(key).second)
        c_.report.error(Code::bad_training_info, at, "the variable is bound twice", "bind each variable once");
      else if (across && !across->insert(key).second)
        c_.report.warning(Code::bad_training_info, at, "another training info updates the variable too",
                          "this is fine where the algorithms take turns");
      const Value* variable = find(state_, key);
      if (!variable) variable = find(own_state_, key);
      if (!variable)
        c_.report.error(Code::bad_training_info, at,
                        "neither the model's graph nor the algorithm has such an initializer",
                        "only initializers can be trained: correct the name, or make the value one");
      const Value* output = find(outputs, name);
      if (!output) output = loose_output(at, name, b);
      if (variable && output) compare(at, *variable, *output);
    }
  }

  static const Value* find(const Names& names, std::string_view name) {
    const auto it = names.find(name);
    return it == names.end() ? nullptr : it->second;
  }

  /// The standard says "an output of the algorithm"; a comment in its schema allows the model's too.
  const Value* loose_output(const std::string& at, const std::string& name, const Bindings& b) {
    const Value* output = b.graph_name == "algorithm" ? find(inference_outputs_, name) : nullptr;
    if (output)
      c_.report.warning(Code::bad_training_info, at,
                        fmt::format("{} is an output of the model's graph, not of the algorithm", quoted(name)),
                        "pass it through an Identity in the algorithm");
    else
      c_.report.error(Code::bad_training_info, at, fmt::format("the {} has no output {}", b.graph_name, quoted(name)),
                      "correct the name, or add the output");
    return output;
  }

  void compare(const std::string& at, const Value& variable, const Value& output) {
    const Type held = variable.initializer ? variable.initializer->type() : variable.type;
    const Type& given = c_.type_of(output);
    std::string why;
    if (!may_match(given, held, &why))
      c_.report.error(
          Code::bad_training_info, at,
          fmt::format("{} is {}, but the variable is {} ({})", quoted(output.name()), given.str(), held.str(), why),
          "give the variable a value of its own type and shape");
  }

  Context& c_;
  const Names state_, inference_outputs_;
  Names own_state_;
  std::unordered_set<std::string_view> updated_;
  std::string place_;
};

/// Gradient names the values it differentiates by: they must be visible where it stands.
void check_gradient(Context& c, const Node& node) {
  const auto* xs = node.attributes.get<std::vector<std::string>>("xs");
  const auto* zs = node.attributes.get<std::vector<std::string>>("zs");
  const auto* y = node.attributes.get<std::string>("y");
  const auto look = [&](std::string_view attribute, const std::string& name) {
    const Value* v = node.graph().find_visible(name);
    if (!v || v->is_undefined())
      c.report.error(Code::bad_attribute, c.places.of(node),
                     fmt::format("attribute '{}' names {}, which is not a value here", attribute, quoted(name)),
                     "correct the name");
  };
  const std::size_t variables = xs ? xs->size() : 0, inputs = variables + (zs ? zs->size() : 0);
  if (xs)
    for (const std::string& name : *xs) look("xs", name);
  if (zs)
    for (const std::string& name : *zs) look("zs", name);
  if (y) look("y", *y);
  if (xs && node.input_count() != inputs)
    c.report.error(Code::bad_arity, c.places.of(node),
                   fmt::format("{} given, but xs and zs name {}", counted(node.input_count(), "input"), inputs),
                   "give one input for each name");
  if (xs && node.output_count() != variables)
    c.report.error(Code::bad_arity, c.places.of(node),
                   fmt::format("{} given, but xs names {}", counted(node.output_count(), "output"), variables),
                   "give one output for each name in xs; it may be empty");
}

}  // namespace

void check_training(Context& c) {
  if (!c.model.training.empty()) TrainingRules(c).run();
  for (const GraphPlace& place : c.graphs)
    for (const Node& node : place.graph->nodes())
      if (node.is("Gradient", "ai.onnx.preview.training")) check_gradient(c, node);
}

}  // namespace ingot::passes::rules
