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
    made.push_back({t.examples().input(source, f, Type::tensor(f.dtype, std::move(shape)))});
  }
  return made;
}

}  // namespace ingot::frontends::tensorflow
