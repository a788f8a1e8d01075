// What nodes that parse serialised tf.Examples and tf.SequenceExamples take out of them.
#include <algorithm>
#include <array>

#include "ingot/base/error.h"
#include "ingot/frontends/tensorflow/examples.h"

namespace ingot::frontends::tensorflow {
namespace {

const tf::AttrList& list_of(const tf::NodeDef& node, const std::string& name) {
  static const tf::AttrList nothing;
  const tf::AttrValue* attr = node.find(name);
  const auto* list = attr ? std::get_if<std::shared_ptr<const tf::AttrList>>(attr) : nullptr;
  return list ? **list : nothing;
}

bool parses_sequences(std::string_view op) { return op.find("Sequence") != op.npos; }

/// Features that are described together: all of an example; of a sequence those of the whole and those of its steps.
struct Group {
  std::string prefix;  // of the names of attributes and outputs
  const tf::AttrList &sparse, &dense, &shapes, &ragged, &splits;
  bool has_steps = false;    // a list of values for each example
  bool has_lengths = false;  // tells how long the dense lists are
};

Group group_of(const tf::NodeDef& node, const std::string& prefix) {
  const bool has_steps = prefix == "feature_list_";
  const std::string dense = has_steps ? "feature_list_dense_types" : prefix.empty() ? "Tdense" : "Tcontext_dense";
  return {prefix,
          list_of(node, prefix + "sparse_types"),
          list_of(node, dense),
          list_of(node, prefix + "dense_shapes"),
          list_of(node, prefix + "ragged_value_types"),
          list_of(node, prefix + "ragged_split_types"),
          has_steps,
          has_steps && node.op != "ParseSingleSequenceExample"};
}

std::vector<Group> groups_of(const tf::NodeDef& node) {
  if (!parses_sequences(node.op)) return {group_of(node, "")};
  return {group_of(node, "context_"), group_of(node, "feature_list_")};
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

/// The keys of a group's features.
struct Keys {
  std::vector<std::string> sparse, dense, ragged;
};

/// Each operator has its keys elsewhere: in attributes, in inputs with all of a kind, or in inputs of their own.
class KeyReader {
 public:
  KeyReader(const Body& body, std::int32_t node, const std::vector<Group>& groups)
      : body_(body), node_(node), op_(body.node(node).op), next_(op_ == "ParseSingleExample" ? 1 : 2) {
    for (const Group& group : groups) keys_.push_back(read(group));
    if (op_ == "ParseSequenceExampleV2") ++next_;  // which lists may be missing
  }

  const std::vector<Keys>& keys() const { return keys_; }
  /// The input that holds the default of the first dense feature.
  std::size_t first_default() const { return next_; }

 private:
  Keys read(const Group& group) {
    const tf::NodeDef& node = body_.node(node_);
    if (op_ == "ParseSingleExample" || op_ == "ParseSequenceExample")
      return {
          list_of(node, group.prefix + "sparse_keys").strings, list_of(node, group.prefix + "dense_keys").strings, {}};
    Keys keys;
    if (op_.ends_with("V2")) {
      keys.sparse = vector(group.sparse.types.size());
      keys.dense = vector(group.dense.types.size());
      keys.ragged = vector(group.ragged.types.size());
    } else {
      for (std::size_t i = 0; i < group.sparse.types.size(); ++i) keys.sparse.push_back(scalar());
      for (std::size_t i = 0; i < group.dense.types.size(); ++i) keys.dense.push_back(scalar());
    }
    return keys;
  }

  std::vector<std::string> vector(std::size_t size) {
    std::vector<std::string> names = constant(body_, node_, next_++).strings;
    if (!names.empty()) names.resize(std::max(size, names.size()), names.back());  // the rule of the last element
    return names;
  }

  std::string scalar() {
    const tf::TensorProto& key = constant(body_, node_, next_++);
    return key.strings.empty() ? std::string() : key.strings.front();
  }

  const Body& body_;
  std::int32_t node_;
  const std::string& op_;
  std::size_t next_;  // behind the examples and, as a rule, their names
  std::vector<Keys> keys_;
};

bool has_default(const Body& body, std::int32_t node, std::size_t input) {
  if (input >= body.inputs(node).size()) return false;
  const Source from = body.behind_identities(body.inputs(node)[input]);
  if (from.node < 0 || body.node(from.node).op != "Const") return true;
  const auto& dims = constant(body, node, input).shape.dims;
  return std::ranges::find(dims, 0) == dims.end();
}

/// Lists of outputs, each with one for each feature of a kind.
using Outputs = std::array<std::pair<std::string, std::size_t>, 8>;

Outputs outputs_of(const Group& g) {
  const std::size_t sparse = g.sparse.types.size(), dense = g.dense.types.size(), ragged = g.ragged.types.size();
  return {{{g.prefix + "sparse_indices", sparse},
           {g.prefix + "sparse_values", sparse},
           {g.prefix + "sparse_shapes", sparse},
           {g.prefix + "dense_values", dense},
           {g.prefix + "dense_lengths", g.has_lengths ? dense : 0},
           {g.prefix + "ragged_values", ragged},
           {g.prefix + (g.has_steps ? "ragged_outer_splits" : "ragged_row_splits"), ragged},
           {g.prefix + "ragged_inner_splits", g.has_steps ? ragged : 0}}};
}

}  // namespace

bool parses_examples(std::string_view op) {
  return op == "ParseExample" || op == "ParseExampleV2" || op == "ParseSequenceExample" ||
         op == "ParseSequenceExampleV2" || parses_one_example(op);
}

bool parses_one_example(std::string_view op) {
  return op == "ParseSingleExample" || op == "ParseSingleSequenceExample";
}

std::vector<ExampleFeature> features_of(const Body& body, std::int32_t i, bool is_list) {
  const tf::NodeDef& node = body.node(i);
  const std::vector<Group> groups = groups_of(node);
  const KeyReader reader(body, i, groups);
  std::vector<ExampleFeature> all;
  const auto add = [&](std::string name, DType dtype, std::vector<std::int64_t> dims, bool is_part) {
    all.push_back({std::move(name), static_cast<std::int32_t>(all.size()), dtype, std::move(dims), is_part});
  };
  for (std::size_t at = 0; at < groups.size(); ++at) {
    const Group& g = groups[at];
    Keys keys = reader.keys()[at];
    if (keys.sparse.size() != g.sparse.types.size() || keys.dense.size() != g.dense.types.size() ||
        keys.ragged.size() != g.ragged.types.size() || g.shapes.shapes.size() != g.dense.types.size())
      throw Error(Code::bad_source_graph, "the features' names, types and shapes are of different numbers");
    if (!keys.ragged.empty() && !is_list)
      throw Error(Code::unsupported_setting, "a ragged feature of a single example");
    if (g.splits.types.size() != g.ragged.types.size())
      throw Error(Code::bad_source_graph, "a ragged feature has no type of splits");
    // A key may name a feature of the whole sequence and one of its steps.
    if (g.has_steps)
      for (auto* list : {&keys.sparse, &keys.dense, &keys.ragged})
        for (std::string& key : *list)
          for (const auto* other : {&reader.keys()[0].sparse, &reader.keys()[0].dense, &reader.keys()[0].ragged})
            if (std::ranges::find(*other, key) != other->end()) key = "feature_list/" + key;
    const std::int64_t rank = (is_list ? 2 : 1) + (g.has_steps ? 1 : 0);
    for (const std::string& key : keys.sparse) add(key + "/indices", DType::i64, {-1, rank}, true);
    for (std::size_t k = 0; k < keys.sparse.size(); ++k)
      add(keys.sparse[k] + "/values", tf::dtype_of(g.sparse.types[k]), {-1}, true);
    for (const std::string& key : keys.sparse) add(key + "/dense_shape", DType::i64, {rank}, true);
    for (std::size_t k = 0; k < keys.dense.size(); ++k) {
      if (g.shapes.shapes[k].unknown_rank) throw Error(Code::unsupported_setting, "the rank of a feature is not known");
      std::vector<std::int64_t> dims = g.shapes.shapes[k].dims;
      if (g.has_steps) dims.insert(dims.begin(), -1);
      add(keys.dense[k], tf::dtype_of(g.dense.types[k]), std::move(dims), false);
      all.back().has_default = !g.has_steps && has_default(body, i, reader.first_default() + k);
    }
    if (g.has_lengths)
      for (const std::string& key : keys.dense) add(key + "/lengths", DType::i64, {}, false);
    for (std::size_t k = 0; k < keys.ragged.size(); ++k)
      add(keys.ragged[k] + "/values", tf::dtype_of(g.ragged.types[k]), {-1}, true);
    for (std::size_t k = 0; k < keys.ragged.size(); ++k)
      add(keys.ragged[k] + (g.has_steps ? "/outer_splits" : "/row_splits"), tf::dtype_of(g.splits.types[k]), {-1},
          true);
    if (g.has_steps)
      for (std::size_t k = 0; k < keys.ragged.size(); ++k)
        add(keys.ragged[k] + "/inner_splits", tf::dtype_of(g.splits.types[k]), {-1}, true);
  }
  return all;
}

std::int32_t example_output(const tf::NodeDef& node, std::string_view output) {
  std::size_t place = 0;
  for (const Group& group : groups_of(node))
    for (const auto& [name, size] : outputs_of(group)) {
      if (name == output) return static_cast<std::int32_t>(place);
      place += size;
    }
  return 0;
}

}  // namespace ingot::frontends::tensorflow
