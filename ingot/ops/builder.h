#pragma once
#include <initializer_list>
#include <string>
#include <variant>
#include <vector>

#include "ingot/ops/catalog.h"

namespace ingot {

/// One attribute in a call of GraphBuilder::op: {"axis", 1}, {"pads", {0, 1}}, {"mode", "linear"}, {"to", DType::f32}.
struct Attr {
  Attr(std::string_view name, int value);
  Attr(std::string_view name, bool value);
  Attr(std::string_view name, std::int64_t value);
  Attr(std::string_view name, double value);
  Attr(std::string_view name, float value);
  Attr(std::string_view name, DType value);
  Attr(std::string_view name, const char* value);
  Attr(std::string_view name, std::string value);
  Attr(std::string_view name, std::initializer_list<std::int64_t> value);
  Attr(std::string_view name, std::vector<std::int64_t> value);
  Attr(std::string_view name, std::vector<float> value);
  Attr(std::string_view name, std::vector<std::string> value);
  Attr(std::string_view name, Tensor value);
  Attr(std::string_view name, Type value);
  Attr(const Attr&);
  Attr(Attr&&) noexcept;
  Attr& operator=(const Attr&);
  Attr& operator=(Attr&&) noexcept;
  ~Attr();

  std::string_view name;
  std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>, std::vector<float>,
               std::vector<std::string>, Tensor, Type>
      value;
};
using Attrs = std::vector<Attr>;

/// Adds nodes to a graph, infers their types at once, and names them after a scope.
class GraphBuilder {
 public:
  /// Nodes go before `before`, or to the end of the graph. `infers` is off where nodes are written in an
  /// older operator set than the newest, whose inference would misread them.
  explicit GraphBuilder(Graph& graph, Node* before = nullptr, bool infers = true);
  ~GraphBuilder();

  /// The one way in: an operator by its ONNX name, newest version. The rest is shorthand.
  /// If inference refuses the node, it is taken out again and the error names it.
  Value* op(ops::Name type, const Values& inputs, const Attrs& attrs = {});
  Values op(ops::Name type, const Values& inputs, const Attrs& attrs, std::size_t outputs);
  /// A node of any domain, also of unknown operators and functions; no inference for those.
  Node* node(std::string_view type, std::string_view domain, const Values& inputs, const Attrs& attrs,
             std::size_t outputs);

  /// A constant: an initializer of the graph (in a function's body, which has none, a Constant node).
  Value* constant(Tensor value);
  Value* scalar(double value, DType dtype);
  Value* ints(const std::vector<std::int64_t>& values);  // rank 1
  Value* index(std::int64_t value);                      // int64, rank 0

  Value* add(Value* a, Value* b);
  Value* sub(Value* a, Value* b);
  Value* mul(Value* a, Value* b);
  Value* div(Value* a, Value* b);
  /// With a number: a scalar of the other operand's element type.
  Value* add(Value* a, double b);
  Value* sub(Value* a, double b);
  Value* sub(double a, Value* b);
  Value* mul(Value* a, double b);
  Value* div(Value* a, double b);
  Value* div(double a, Value* b);
  Value* neg(Value* x);
  Value* cast(Value* x, DType to);  // x itself when it has that type
  Value* transpose(Value* x, std::vector<std::int64_t> perm);
  Value* reshape(Value* x, const std::vector<std::int64_t>& dims);
  Value* squeeze(Value* x, const std::vector<std::int64_t>& axes);
  Value* unsqueeze(Value* x, const std::vector<std::int64_t>& axes);
  Value* concat(const Values& xs, std::int64_t axis);
  Value* shape(Value* x);
  Value* reduce_sum(Value* x, const std::vector<std::int64_t>& axes, bool keepdims = true);
  Value* where(Value* condition, Value* yes, Value* no);

  Graph& graph() { return graph_; }
  Node* before() const { return before_; }
  bool infers() const { return infers_; }
  /// New values are named `scope` (made unique), and new nodes carry the metadata of `source`.
  void name_after(const Node& source);
  void name_after(std::string scope);
  void set_metadata(Metadata metadata);

 private:
  Graph& graph_;
  Node* before_;
  bool infers_;
  std::string scope_;
  Metadata metadata_;
};

/// `made[i]` takes the place of the node's output i everywhere, keeping the output's name, type and
/// description; then the node is erased. A null entry stands for an output nobody reads.
void replace_node(Node& node, const Values& made);

}  // namespace ingot
