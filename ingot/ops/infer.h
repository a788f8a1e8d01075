#pragma once
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ingot/ir/model.h"
#include "ingot/ops/op_def.h"

namespace ingot {
class Budget;
class Error;
}  // namespace ingot

namespace ingot::ops {

struct Schema;

/// Tensors of more dimensions are refused where a node would make them: no file may ask for millions.
inline constexpr std::int64_t kMostDims = 64;

/// Two statements about one value that cannot both hold: the file's and inference's.
struct Contradiction {
  const Node* node;
  const Value* value;
  Type stated, inferred;
  std::string why;
};

/// What inference of one graph knows beyond the node at hand.
struct InferSession {
  Budget* budget = nullptr;  // null: unlimited
  /// Defaults of graph inputs count as constants (IR < 4, where every initializer is an input).
  bool defaults_are_constants = false;
  /// Called for a stated type that contradicts the inferred one. Empty: the inferred one wins in silence.
  std::function<void(const Contradiction&)> on_contradiction;
  /// Called for a node that inference refuses. Empty: the error is thrown.
  std::function<void(const Node&, const Error&)> on_error;
  /// The model-local function that a node calls, or null, and how such a call is inferred; set by passes/infer.
  std::function<const Function*(const Node&)> find_function;
  std::function<void(Node&, const Function&, InferSession&)> infer_call;
  /// How deep the graph at hand is nested: loops stop looking for exact shapes when this grows.
  int depth = 0;
  /// What the file says of declared values, while their types are refined.
  std::unordered_map<const Value*, Type> stated;
};

/// One node's view of its inputs and outputs while its outputs are inferred. Before an operator's function is
/// called, each output already has the kind and element type that the schema's type variables give it;
/// the function adds shapes, and element types where attributes decide them.
class InferContext {
 public:
  InferContext(Node& node, InferSession& session);

  const Node& node() const { return node_; }
  InferSession& session() { return session_; }

  // Inputs.
  std::size_t input_count() const { return node_.input_count(); }
  bool has(std::size_t i) const { return node_.input(i) != nullptr; }
  const Type& type(std::size_t i) const;                    // Kind::none when absent or not known
  DType elem(std::size_t i) const { return type(i).elem; }  // undefined when not known
  const Shape* shape(std::size_t i) const;                  // null: unknown rank (or no tensor)
  std::optional<std::int64_t> rank(std::size_t i) const;
  Dim dim(std::size_t i, std::int64_t axis) const;  // unknown when not known; axis may be negative
  /// The stored value, when it is fixed before running.
  const Tensor* constant(std::size_t i) const;
  /// The elements of a small integer tensor of rank 0 or 1 as far as known: constants and shape arithmetic.
  std::optional<std::vector<Dim>> ints(std::size_t i) const;
  /// All elements as numbers, or nothing.
  std::optional<std::vector<std::int64_t>> const_ints(std::size_t i) const;
  std::optional<std::int64_t> const_int(std::size_t i) const;
  std::optional<std::vector<double>> const_doubles(std::size_t i) const;

  // Attributes; the fallback is the schema's default.
  std::int64_t attr(std::string_view name, std::int64_t fallback) const {
    return node_.attributes.int_or(name, fallback);
  }
  float attr(std::string_view name, float fallback) const { return node_.attributes.float_or(name, fallback); }
  std::string attr(std::string_view name, const char* fallback) const {
    return node_.attributes.string_or(name, fallback);
  }
  const std::vector<std::int64_t>* attr_ints(std::string_view name) const;

  /// A required attribute: the node is refused without it. Nothing: a reference that a function's call resolves.
  std::optional<std::int64_t> need_int(std::string_view name) const;
  std::optional<std::string> need_string(std::string_view name) const;

  // Outputs. Beyond the node's outputs, and for outputs not produced, these do nothing.
  std::size_t output_count() const { return node_.output_count(); }
  bool wants(std::size_t i) const { return node_.output(i) != nullptr; }
  void out(std::size_t i, Type type);
  void out_elem(std::size_t i, DType elem);
  void out_shape(std::size_t i, Shape shape);
  void out_rank(std::size_t i, std::int64_t rank);  // that many unknown dimensions; refuses bad ranks
  /// Output i has the type and shape of input `from`.
  void out_like(std::size_t i, std::size_t from);
  void out_shape_like(std::size_t i, std::size_t from);
  void out_ints(std::size_t i, std::vector<Dim> values);  // the elements are known (rank from the shape)
  const Type& out_type(std::size_t i) const;
  /// A size that only the data decides: a name of its own, stable for this output and axis.
  Dim data_dim(std::size_t i, std::int64_t axis) const;
  /// Gives the sizes of output i that are still unknown such names: the node reads them from its inputs' elements.
  void name_open_dims(std::size_t i);

  /// Infers the subgraph in attribute `name` with these input types (fewer or unknown ones stay as declared)
  /// and returns its outputs' types. Sizes that have names of values in there are given names of this node's.
  std::vector<Type> subgraph(std::string_view name, const std::vector<Type>& inputs);

  /// Normalised to 0 <= axis < rank; refuses others.
  std::int64_t axis(std::int64_t axis, std::int64_t rank, std::string_view what = "axis") const;
  [[noreturn]] void fail(std::string message) const;
  void require(bool condition, std::string_view message) const;

  /// Writes what was found into the node's outputs.
  void commit();

 private:
  void preset(const Schema& schema);

  Node& node_;
  InferSession& session_;
  std::vector<Type> types_;
  std::vector<std::shared_ptr<const std::vector<Dim>>> ints_;
};

/// Whether the name stands for a size that only data decides (data_dim) of a value that this graph defines.
bool names_inner_size(std::string_view symbol, const Graph& graph);
/// The type with names of sizes replaced; `lookup` says by what.
Type substitute(const Type& type, const std::function<std::optional<Dim>(std::string_view)>& lookup);

/// Infers one node, which must be of the newest operator set. Nodes of unknown operators keep what is stated.
/// Throws Error naming the node when the operator refuses its inputs.
void infer_node(Node& node, InferSession& session);
/// Infers all nodes of a graph in order. Subgraphs are inferred by their operators.
void infer_graph(Graph& graph, InferSession& session);

/// The tensor a value always has: an initializer or a Constant's; null: not fixed.
const Tensor* constant_of(const Value* value, bool defaults_are_constants = false);

// What several operators share.
/// Numpy's broadcasting; refuses shapes that cannot be broadcast.
Shape broadcast(const InferContext& c, const Shape& a, const Shape& b);
/// Sets output 0 to the broadcast of all inputs' shapes, when all ranks are known.
void infer_broadcast(InferContext& c);
/// Output 0 has the shape (and, by the schema, the type) of input 0.
void infer_same_shape(InferContext& c);
/// The product of the dimensions.
Dim product(const Shape& shape);

}  // namespace ingot::ops
