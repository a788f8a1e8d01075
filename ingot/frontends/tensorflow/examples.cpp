// ParseExample and its kinds: the features become the model's inputs.
#include "ingot/frontends/tensorflow/examples.h"

#include "ingot/frontends/tensorflow/translation.h"

namespace ingot::frontends::tensorflow {
namespace {

/// The input of the model that holds the examples, perhaps in another shape; null: they are none.
const Value* input_behind(const Value* value, const Graph& root) {
  while (const Node* node = value->producer()) {
    if (!node->is("Identity") && !node->is("Reshape") && !node->is("Unsqueeze") && !node->is("Squeeze")) return nullptr;
    value = node->input(0);
  }
  return value->is_input() && &value->graph() == &root ? value : nullptr;
}

}  // namespace

Operands parse_example(const TfNode& n, GraphBuilder&) {
  Translation& t = n.translation();
  const Value* examples = n.input(0);
  const Value* source = input_behind(examples, t.root());
  if (!source)
    n.unsupported("ONNX cannot read serialised examples, and these are not an input that their features could replace");
  const bool is_single = parses_one_example(n.op()) || rank_of(examples) == 0;
  const Body& body = n.scope().body;
  Dim batch = Dim::symbol("examples");
  if (const auto& shape = examples->type.shape; shape && shape->size() == 1 && !(*shape)[0].is_unknown())
    batch = (*shape)[0];
  Operands made;
  for (const ExampleFeature& f : features_of(body, body.find(n.name()), !is_single)) {
    Shape shape;
    if (!is_single && !f.is_part) shape.push_back(batch);
    for (std::size_t k = 0; k < f.dims.size(); ++k)
      shape.push_back(f.dims[k] < 0 ? Dim::symbol(f.name + "_" + std::to_string(k)) : Dim(f.dims[k]));
    made.push_back({t.example_input(source, f, Type::tensor(f.dtype, std::move(shape)))});
  }
  return made;
}

Value* Translation::example_input(const Value* examples, const ExampleFeature& feature, Type type) {
  const auto key = std::pair(examples, feature.name);
  if (const auto known = examples_.find(key); known != examples_.end() && known->second.input->type == type)
    return known->second.input;
  for (const auto& [name, shape] : options_.input_shapes)
    if (name == feature.name && type.shape->size() == shape.size())
      for (std::size_t i = 0; i < shape.size(); ++i)
        if (!shape[i].is_unknown()) (*type.shape)[i] = shape[i];
  Graph& graph = root();
  if (Value* owner = graph.find(feature.name); owner && !owner->is_input())
    graph.rename(owner, graph.fresh_name(feature.name + "/value"));
  Value* input = graph.add_input(graph.fresh_name(feature.name), std::move(type));
  input->is_declared = true;
  examples_[key] = {input, feature.has_default};
  return input;
}

/// Serialised examples that nobody reads any more, and features that nobody reads, are no inputs.
void Translation::settle_examples() {
  if (examples_.empty()) return;
  std::set<const Value*> serialized, inputs;
  std::string features, optional;
  for (const auto& [key, example] : examples_) {
    serialized.insert(key.first);
    inputs.insert(example.input);
    if (example.input->uses().empty()) continue;
    features += (features.empty() ? "" : ", ") + example.input->name();
    if (example.has_default) optional += (optional.empty() ? "" : ", ") + example.input->name();
  }
  std::string replaced;
  root().erase_inputs_if([&](const Value& v) {
    if (!v.uses().empty()) return false;
    if (inputs.contains(&v)) return true;
    if (!serialized.contains(&v)) return false;
    replaced += (replaced.empty() ? "'" : ", '") + v.name() + "'";
    return true;
  });
  note("ONNX cannot parse tf.Examples" + (replaced.empty() ? "" : ", which " + replaced + " takes") +
       ": the graph is cut behind the parser, and its inputs are the features: " + features);
  if (!optional.empty())
    note("an example may lack these features, and the parser then fills in a default; now the caller does: " +
         optional);
}

}  // namespace ingot::frontends::tensorflow
