#pragma once
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "ingot/backends/tensorflow/attributes.h"
#include "ingot/backends/tensorflow/export.h"
#include "ingot/ir/graph.h"

namespace ingot::backends::tensorflow {

/// A tensor on its way: an output of an operator that was added.
struct Ref {
  std::int32_t node = -1;
  std::int32_t port = 0;
  friend bool operator==(const Ref&, const Ref&) = default;
};
using Refs = std::vector<Ref>;

/// The file that is being made, shared by all emitters.
struct Output {
  Dialect dialect = Dialect::tensorflow;
  tf::GraphDef graph;
  std::vector<std::string> notes;
  std::vector<Table> tables;
  std::set<std::string, std::less<>> names;  // of nodes and functions; TF.js knows constants by theirs alone
  std::unordered_map<std::string, std::size_t> next_numbers{};  // that make a name one that nothing has

  /// A name that TensorFlow takes and nothing has yet.
  std::string unique(std::string_view wanted);
};

/// What TensorFlow's names may hold; ":0" at the end, as its tensors have it, goes.
std::string node_name(std::string_view name);

/// A tensor in TensorFlow's words.
tf::TensorProto proto_of(const Tensor& tensor);

tf::TensorShape shape_word(const std::optional<Shape>& shape);
/// The word of a value's type: its elements', or a variant for sequences.
tf::DataType word_for(const Type& type);

/// The nodes of one graph or function that are being made.
class Emitter {
 public:
  explicit Emitter(Output& output) : output_(output) {}

  /// Attributes that tell types and numbers of inputs come by themselves.
  Ref add(std::string_view op, Refs inputs, const AttrArgs& attrs = {});
  Ref constant(const ingot::Tensor& tensor, std::string_view name = {});
  Ref ints(const Ints& values);           // int32, rank 1
  Ref index(std::int64_t value);          // int32, rank 0
  Ref scalar(double value, DType dtype);  // rank 0

  /// The tensor of a value; constants are made on first use.
  Ref ref(const Value* value);
  void bind(const Value* value, Ref tensor) { refs_[value] = tensor; }
  /// A value is this tensor from now on; the operator that makes it is named after the value, if it has no such name.
  void set(const Value* value, Ref tensor);

  /// Makes the operators of all nodes of a graph, or of one.
  void emit_nodes(const Graph& graph);
  void emit_node(const Node& node);

  /// A graph as a function over its inputs and then the values that it captures; returns the function's name.
  std::string function_of(const Graph& graph, const std::vector<const Value*>& captured, std::string_view name);

  /// The next argument of the function that is being made.
  Ref argument(tf::DataType type);
  Ref placeholder(const Type& type, const std::string& name);
  /// The handle of a table with these entries.
  Ref table(const ingot::Tensor& keys, const ingot::Tensor& values);
  /// The node of that very name which gives the tensor, an Identity if need be.
  Ref named(Ref tensor, const std::string& name);
  /// A node of the same name that gives the same and that no other reads; an input stays what it is.
  Ref unread(Ref tensor);

  /// What leads to the results, in the form of a graph or of a function's body.
  std::vector<tf::NodeDef> graph_nodes(const Refs& results) const;
  void add_function(const std::string& name, const Refs& results);
  const std::string& name_of(Ref tensor) const { return items_[static_cast<std::size_t>(tensor.node)].name; }
  tf::DataType type_of(Ref tensor) const;
  DType elem_of(Ref tensor) const { return tf::dtype_of(type_of(tensor)); }

  Output& output() { return output_; }
  bool is_tfjs() const { return output_.dialect == Dialect::tfjs; }
  void set_scope(std::string scope) { scope_ = std::move(scope); }
  const std::string& scope() const { return scope_; }
  const std::string& op_of(Ref tensor) const { return items_[static_cast<std::size_t>(tensor.node)].op; }

 private:
  struct Item {
    std::string name, op;
    Refs inputs;
    std::vector<tf::Attr> attrs;
    std::vector<tf::DataType> types;  // of the results
    bool is_settled = false;          // the name stays
  };
  /// Adds the attributes that follow from the inputs, finds the results' types; refuses what TensorFlow would refuse.
  void settle_types(Item& item) const;
  std::int32_t add_item(Item item);
  std::vector<bool> needed_for(const Refs& results) const;

  Output& output_;
  std::string scope_;
  std::vector<Item> items_;
  std::unordered_map<const Value*, Ref> refs_;
  std::map<std::string, Ref> small_constants_;  // by type, shape and content
};

}  // namespace ingot::backends::tensorflow
