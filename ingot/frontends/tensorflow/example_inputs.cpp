// Features of serialised examples as inputs of the model.
#include "ingot/frontends/tensorflow/example_inputs.h"

#include <set>

namespace ingot::frontends::tensorflow {

Value* ExampleInputs::input(const Value* examples, const ExampleFeature& feature, Type type) {
  const auto key = std::pair(examples, feature.name);
  if (const auto known = inputs_.find(key); known != inputs_.end() && known->second.value->type == type)
    return known->second.value;
  for (const auto& [name, shape] : options_.input_shapes)
    if (name == feature.name && type.shape->size() == shape.size())
      for (std::size_t i = 0; i < shape.size(); ++i)
        if (!shape[i].is_unknown()) (*type.shape)[i] = shape[i];
  if (Value* owner = graph_.find(feature.name); owner && !owner->is_input())
    graph_.rename(owner, graph_.fresh_name(feature.name + "/value"));
  Value* input = graph_.add_input(graph_.fresh_name(feature.name), std::move(type));
  input->is_declared = true;
  inputs_[key] = {input, feature.has_default};
  return input;
}

void ExampleInputs::settle(Notes& notes) {
  if (inputs_.empty()) return;
  std::set<const Value*> serialized, own;
  std::string features, optional;
  for (const auto& [key, input] : inputs_) {
    serialized.insert(key.first);
    own.insert(input.value);
    if (input.value->uses().empty()) continue;
    features += (features.empty() ? "" : ", ") + input.value->name();
    if (input.has_default) optional += (optional.empty() ? "" : ", ") + input.value->name();
  }
  std::string replaced;
  graph_.erase_inputs_if([&](const Value& v) {
    if (!v.uses().empty()) return false;
    if (own.contains(&v)) return true;
    if (!serialized.contains(&v)) return false;
    replaced += (replaced.empty() ? "'" : ", '") + v.name() + "'";
    return true;
  });
  notes.add("ONNX cannot parse tf.Examples" + (replaced.empty() ? "" : ", which " + replaced + " takes") +
            ": the graph is cut behind the parser, and its inputs are the features: " + features);
  if (!optional.empty())
    notes.add("an example may lack these features, and the parser then fills in a default; now the caller does: " +
              optional);
}

}  // namespace ingot::frontends::tensorflow
