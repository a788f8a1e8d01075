// ParseExample and its kinds: the features become the model's inputs.
#include "ingot/frontends/tensorflow/examples.h"

#include <algorithm>

#include "ingot/base/error.h"
#include "ingot/frontends/tensorflow/translation.h"

namespace ingot::frontends::tensorflow {
namespace {

const tf::AttrList& list_of(const tf::NodeDef& node, std::string_view name) {
  static const tf::AttrList nothing;
  const tf::AttrValue* attr = node.find(name);
  const auto* list = attr ? std::get_if<std::shared_ptr<const tf::AttrList>>(attr) : nullptr;
  return list ? **list : nothing;
}

/// How many features of each kind there are.
struct Counts {
  std::size_t sparse, dense, ragged;
};

Counts counts_of(const tf::NodeDef& node) {
  return {list_of(node, "sparse_types").types.size(), list_of(node, "Tdense").types.size(),
          list_of(node, "ragged_value_types").types.size()};
}

const tf::TensorProto& constant(const Body& body, std::int32_t node, std::size_t i) {
  if (i >= body.inputs(node).size()) throw Error(Code::bad_source_graph, "an input is missing");
  const Source from = body.behind_identities(body.inputs(node)[i]);
  const tf::AttrValue* attr =
      from.node >= 0 && body.node(from.node).op == "Const" ? body.node(from.node).find("value") : nullptr;
  const auto* tensor = attr ? std::get_if<std::shared_ptr<const tf::TensorProto>>(attr) : nullptr;
  if (!tensor) throw Error(Code::unsupported_setting, "the names of the features are not constants");
  return **tensor;
}

struct Keys {
  std::vector<std::string> sparse, dense, ragged;
  std::size_t first_default = 0;  // the input that holds the first dense feature's default
};

Keys keys_of(const Body& body, std::int32_t i) {
  const tf::NodeDef& node = body.node(i);
  const Counts count = counts_of(node);
  if (node.op == "ParseSingleExample")
    return {list_of(node, "sparse_keys").strings, list_of(node, "dense_keys").strings, {}, 1};
  Keys keys;
  if (node.op == "ParseExampleV2") {
    const auto vector = [&](std::size_t input, std::size_t size) {
      std::vector<std::string> names = constant(body, i, input).strings;
      if (!names.empty()) names.resize(std::max(size, names.size()), names.back());  // the rule of the last element
      return names;
    };
    return {vector(2, count.sparse), vector(3, count.dense), vector(4, count.ragged), 5};
  }
  const auto name = [&](std::size_t input) {
    const tf::TensorProto& key = constant(body, i, input);
    return key.strings.empty() ? std::string() : key.strings.front();
  };
  std::size_t input = 2;
  for (std::size_t k = 0; k < count.sparse; ++k) keys.sparse.push_back(name(input++));
  for (std::size_t k = 0; k < count.dense; ++k) keys.dense.push_back(name(input++));
  keys.first_default = input;
  return keys;
}

bool has_default(const Body& body, std::int32_t node, std::size_t input) {
  if (input >= body.inputs(node).size()) return false;
  const Source from = body.behind_identities(body.inputs(node)[input]);
  if (from.node < 0 || body.node(from.node).op != "Const") return true;
  const auto& dims = constant(body, node, input).shape.dims;
  return std::ranges::find(dims, 0) == dims.end();
}

}  // namespace

bool parses_examples(std::string_view op) {
  return op == "ParseExample" || op == "ParseExampleV2" || op == "ParseSingleExample";
}

std::vector<ExampleFeature> features_of(const Body& body, std::int32_t i, bool is_list) {
  const tf::NodeDef& node = body.node(i);
  const Counts count = counts_of(node);
  const Keys keys = keys_of(body, i);
  const auto& shapes = list_of(node, "dense_shapes").shapes;
  if (keys.sparse.size() != count.sparse || keys.dense.size() != count.dense || keys.ragged.size() != count.ragged ||
      shapes.size() != count.dense)
    throw Error(Code::bad_source_graph, "the features' names, types and shapes are of different numbers");
  if (count.ragged && !is_list) throw Error(Code::unsupported_setting, "a ragged feature of a single example");
  std::vector<ExampleFeature> all;
  const auto add = [&](std::string name, DType dtype, std::vector<std::int64_t> dims, bool is_part) {
    all.push_back({std::move(name), static_cast<std::int32_t>(all.size()), dtype, std::move(dims), is_part});
  };
  const auto& sparse = list_of(node, "sparse_types").types;
  const std::int64_t rank = is_list ? 2 : 1;
  for (const std::string& key : keys.sparse) add(key + "/indices", DType::i64, {-1, rank}, true);
  for (std::size_t k = 0; k < count.sparse; ++k) add(keys.sparse[k] + "/values", tf::dtype_of(sparse[k]), {-1}, true);
  for (const std::string& key : keys.sparse) add(key + "/dense_shape", DType::i64, {rank}, true);
  for (std::size_t k = 0; k < count.dense; ++k) {
    if (shapes[k].unknown_rank) throw Error(Code::unsupported_setting, "the rank of a feature is not known");
    add(keys.dense[k], tf::dtype_of(list_of(node, "Tdense").types[k]), shapes[k].dims, false);
    all.back().has_default = has_default(body, i, keys.first_default + k);
  }
  const auto& ragged = list_of(node, "ragged_value_types").types;
  const auto& splits = list_of(node, "ragged_split_types").types;
  if (splits.size() != count.ragged) throw Error(Code::bad_source_graph, "a ragged feature has no type of splits");
  for (std::size_t k = 0; k < count.ragged; ++k) add(keys.ragged[k] + "/values", tf::dtype_of(ragged[k]), {-1}, true);
  for (std::size_t k = 0; k < count.ragged; ++k)
    add(keys.ragged[k] + "/row_splits", tf::dtype_of(splits[k]), {-1}, true);
  return all;
}

std::int32_t example_output(const tf::NodeDef& node, std::string_view output) {
  const Counts count = counts_of(node);
  const std::pair<std::string_view, std::size_t> parts[] = {
      {"sparse_indices", count.sparse}, {"sparse_values", count.sparse}, {"sparse_shapes", count.sparse},
      {"dense_values", count.dense},    {"ragged_values", count.ragged}, {"ragged_row_splits", count.ragged},
  };
  std::size_t place = 0;
  for (const auto& [name, size] : parts) {
    if (name == output) return static_cast<std::int32_t>(place);
    place += size;
  }
  return 0;
}

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
  const bool is_single = n.op() == "ParseSingleExample" || rank_of(examples) == 0;
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
