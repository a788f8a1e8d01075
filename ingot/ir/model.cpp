// Model, functions and training info: look-up and deep copies.
#include "ingot/ir/model.h"

#include <algorithm>
#include <utility>

#include "ingot/ir/lean_copy.h"

namespace ingot {

std::string_view normal_domain(std::string_view domain) { return domain == "ai.onnx" ? std::string_view() : domain; }

std::int64_t OpsetImports::version(std::string_view domain) const {
  for (const OpsetImport& import : *this)
    if (normal_domain(import.domain) == normal_domain(domain)) return import.version;
  return 0;
}

void OpsetImports::set(std::string_view domain, std::int64_t version) {
  for (OpsetImport& import : *this) {
    if (normal_domain(import.domain) == normal_domain(domain)) {
      import.version = version;
      return;
    }
  }
  push_back({std::string(domain), version, {}});
}

const Function* Model::find_function(std::string_view function_domain, std::string_view name,
                                     std::string_view overload) const {
  // A model may hold thousands of calls but few functions; FunctionIndex in passes serves large ones.
  for (const auto& f : functions)
    if (f->name == name && f->overload == overload && normal_domain(f->domain) == normal_domain(function_domain))
      return f.get();
  return nullptr;
}

Function::Function() : body(std::make_unique<Graph>()) { body->is_function_body = true; }
Function::Function(Function&&) noexcept = default;
Function::~Function() = default;

Model::Model() : graph(std::make_unique<Graph>()) {}
Model::Model(Model&& other) noexcept : Model() { *this = std::move(other); }
Model::~Model() = default;

Model& Model::operator=(Model&& other) noexcept {
  if (this == &other) return *this;
  // The training graphs read values of the main graph: they go first.
  training.clear();
  ir_version = std::exchange(other.ir_version, 0);
  opsets = std::move(other.opsets);
  producer_name = std::move(other.producer_name);
  producer_version = std::move(other.producer_version);
  domain = std::move(other.domain);
  doc_string = std::move(other.doc_string);
  model_version = std::exchange(other.model_version, 0);
  metadata = std::move(other.metadata);
  graph = std::exchange(other.graph, std::make_unique<Graph>());
  functions = std::move(other.functions);
  training = std::move(other.training);
  device_configurations = std::move(other.device_configurations);
  unknown = std::move(other.unknown);
  return *this;
}

namespace {

AttrValue clone_value(const AttrValue& value, Graph* parent, Graph::ValueMap& map) {
  return std::visit(
      [&]<class T>(const T& v) -> AttrValue {
        if constexpr (std::is_same_v<T, GraphPtr>) {
          return v->clone(parent, map);
        } else if constexpr (std::is_same_v<T, std::vector<GraphPtr>>) {
          std::vector<GraphPtr> graphs;
          for (const GraphPtr& g : v) graphs.push_back(g->clone(parent, map));
          return graphs;
        } else {
          return v;
        }
      },
      value);
}

Attribute clone_attribute(const Attribute& a, Graph* parent, Graph::ValueMap& map) {
  Attribute copy(a.name, clone_value(a.value, parent, map));
  copy.reference = a.reference;
  copy.reference_type = a.reference_type;
  copy.doc_string = a.doc_string;
  copy.unknown = a.unknown;
  return copy;
}

void copy_facts(const Value& from, Value& to) {
  to.type = from.type;
  to.is_declared = from.is_declared;
  to.doc_string = from.doc_string;
  to.metadata = from.metadata;
  to.unknown = from.unknown;
  to.known_ints = from.known_ints;
}

void copy_description(const Node& from, Node& to) {
  to.name = from.name;
  to.overload = from.overload;
  to.doc_string = from.doc_string;
  to.metadata = from.metadata;
  to.device_configurations = from.device_configurations;
  to.unknown = from.unknown;
}

bool is_visible(const Graph& graph, const Graph* from) {
  while (from && from != &graph) from = from->parent();
  return from != nullptr;
}

/// A copy in a graph that does not see the original's must not read what nobody copied there, which may be gone
/// tomorrow: initializers come along, and what nothing defines stays undefined.
void take_along(const Node& node, Graph& to, Graph::ValueMap& map) {
  if (is_visible(node.graph(), &to)) return;
  const auto take = [&](Value* v) {
    if (!v || &v->graph() != &node.graph() || map.contains(v)) return;
    std::string name = to.fresh_name(v->name());
    map[v] = v->sparse_initializer ? to.add_sparse_initializer(std::move(name), *v->sparse_initializer)
             : v->initializer      ? to.add_initializer(std::move(name), *v->initializer)
                                   : to.add_undefined(std::move(name));
  };
  for (std::size_t i = 0; i < node.input_count(); ++i) take(node.input(i));
  for_each_subgraph(node, [&](Graph& outer) {
    for_each_graph(outer, [&](Graph& g) {
      for (const Node& inner : g.nodes())
        for (std::size_t i = 0; i < inner.input_count(); ++i) take(inner.input(i));
      for (Value* v : g.outputs()) take(v);
    });
  });
}

/// Whether this thread is making a lean_copy(), which reaches nodes through all that copies graphs.
thread_local bool is_copy_lean = false;

/// A list that is as long as the tensor of the same nodes or leaves: one that is not must be seen.
bool is_array_of_trees(const Node& node, const Attribute& a) {
  constexpr std::size_t kFew = 1024;
  const auto* list = std::get_if<std::vector<std::int64_t>>(&a.value);
  if (!list || list->size() <= kFew || node.op != "TreeEnsemble" || node.domain != "ai.onnx.ml") return false;
  const auto* beside = node.attributes.get<Tensor>(a.name.starts_with("leaf_") ? "leaf_weights" : "nodes_splits");
  return beside && std::cmp_equal(beside->size(), list->size());
}

/// Inputs and attributes; graphs in attributes are copied with the same map.
void copy_reads(const Node& from, Node& to, Graph::ValueMap& map) {
  for (std::size_t i = 0; i < from.input_count(); ++i) {
    const auto it = map.find(from.input(i));
    to.set_input(i, it == map.end() ? from.input(i) : it->second);
  }
  for (const Attribute& a : from.attributes)
    if (!is_copy_lean || !is_array_of_trees(from, a)) to.attributes.append(clone_attribute(a, &to.graph(), map));
}

}  // namespace

Node* Graph::add_copy(const Node& node, ValueMap& map, Node* before, std::string_view prefix) {
  Node* made = add_node(node.op, node.domain, before);
  copy_description(node, *made);
  if (!node.name.empty()) made->name = std::string(prefix) + node.name;
  take_along(node, *this, map);
  copy_reads(node, *made, map);
  for (const auto& output : node.outputs_) {
    Value* value = made->add_output(output ? fresh_name(std::string(prefix) + output->name()) : std::string());
    if (!output) continue;
    copy_facts(*output, *value);
    value->is_declared = false;
    map[output.get()] = value;
  }
  return made;
}

GraphPtr Graph::clone() const {
  ValueMap map;
  return clone(parent_, map);
}

GraphPtr Graph::clone(Graph* parent, ValueMap& map) const {
  auto copy = std::make_unique<Graph>(parent);
  copy->name = name;
  copy->doc_string = doc_string;
  copy->metadata = metadata;
  copy->quantization = quantization;
  copy->stray_infos = stray_infos;
  copy->unknown = unknown;
  copy->is_function_body = is_function_body;

  copy->by_name_.reserve(by_name_.size());
  map.reserve(map.size() + by_name_.size());

  for (Value* input : inputs_) map[input] = copy->add_input(input->name());
  for (Value* value : initializers_) {
    Value* made = value->sparse_initializer ? copy->add_sparse_initializer(value->name(), *value->sparse_initializer)
                                            : copy->add_initializer(value->name(), *value->initializer);
    map[value] = made;
  }
  for (const auto& value : owned_values_) {
    if (value->is_undefined()) map[value.get()] = copy->add_undefined(value->name());
    copy_facts(*value, *map.at(value.get()));
  }
  // Outputs of all nodes first: a broken or unsorted graph may read ahead.
  for (const Node& node : nodes()) {
    Node* made = copy->add_node(node.op, node.domain);
    copy_description(node, *made);
    for (const auto& output : node.outputs_) {
      Value* value = made->add_output(output ? output->name() : std::string());
      if (!output) continue;
      copy_facts(*output, *value);
      map[output.get()] = value;
    }
  }
  Node* made = copy->first();
  for (const Node& node : nodes()) {
    copy_reads(node, *made, map);
    made = made->next();
  }
  const auto mapped = [&](Value* value) {
    const auto it = map.find(value);
    return it == map.end() ? value : it->second;
  };
  for (const Slot& slot : outputs_) copy->add_output(mapped(slot.value));
  return copy;
}

Model Model::clone() const {
  Model copy;
  copy.ir_version = ir_version;
  copy.opsets = opsets;
  copy.producer_name = producer_name;
  copy.producer_version = producer_version;
  copy.domain = domain;
  copy.doc_string = doc_string;
  copy.model_version = model_version;
  copy.metadata = metadata;
  copy.device_configurations = device_configurations;
  copy.unknown = unknown;
  Graph::ValueMap map;  // the training algorithm reads values of the main graph
  copy.graph = graph->clone(nullptr, map);
  for (const auto& f : functions) {
    auto made = std::make_unique<Function>();
    made->domain = f->domain;
    made->name = f->name;
    made->overload = f->overload;
    made->doc_string = f->doc_string;
    made->opsets = f->opsets;
    made->attributes = f->attributes;
    made->metadata = f->metadata;
    made->unknown = f->unknown;
    made->body = f->body->clone();
    Graph::ValueMap none;
    for (const Attribute& a : f->attribute_defaults)
      made->attribute_defaults.push_back(clone_attribute(a, nullptr, none));
    copy.functions.push_back(std::move(made));
  }
  for (const TrainingInfo& t : training) {
    TrainingInfo made;
    made.initialization_binding = t.initialization_binding;
    made.update_binding = t.update_binding;
    made.unknown = t.unknown;
    if (t.initialization) made.initialization = t.initialization->clone();
    if (t.algorithm) made.algorithm = t.algorithm->clone(copy.graph.get(), map);
    copy.training.push_back(std::move(made));
  }
  return copy;
}

std::vector<GraphPlace> all_graphs(const Model& model) {
  std::vector<GraphPlace> places;
  const auto add = [&](Graph& root, const Function* function, const TrainingInfo* training) {
    for_each_graph(root, [&](Graph& g) { places.push_back({&g, function, training}); });
  };
  add(*model.graph, nullptr, nullptr);
  for (const auto& f : model.functions) add(*f->body, f.get(), nullptr);
  for (const TrainingInfo& t : model.training) {
    if (t.initialization) add(*t.initialization, nullptr, &t);
    if (t.algorithm) add(*t.algorithm, nullptr, &t);
  }
  return places;
}

Model lean_copy(const Model& model) {
  struct Lean {
    Lean() { is_copy_lean = true; }
    ~Lean() { is_copy_lean = false; }
  } lean;
  return model.clone();
}

}  // namespace ingot
