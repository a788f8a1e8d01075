#pragma once
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "ingot/backends/tflite/export.h"
#include "ingot/ir/graph.h"

namespace ingot::backends::tflite {

namespace fmt_tflite = ingot::formats::tflite;
using fmt_tflite::BuiltinOperator;
using fmt_tflite::Options;
using fmt_tflite::Quantization;
using fmt_tflite::TensorType;

using Ints = std::vector<std::int64_t>;

/// TFLite's word for an element type; nothing: it has none.
std::optional<TensorType> tensor_type_of(DType dtype);

/// The file that is being made: subgraphs and buffers, shared by all emitters.
struct Output {
  fmt_tflite::Model model;
  std::vector<std::string> notes;
  bool float16_weights = false;
  std::size_t rounded_products = 0;  // whose activations TFLite rounds while it runs, as the source did
  std::map<std::string, std::uint32_t> buffers_by_content;  // small constants only

  std::uint32_t buffer(Bytes bytes);
};

/// One subgraph that is being made from one graph.
class Emitter {
 public:
  Emitter(Output& output, const Graph& graph);

  /// Makes the inputs, all operators and the outputs. `captured`: values of outer graphs, which become inputs after
  /// the graph's own.
  void emit(const std::vector<const Value*>& captured = {});

  /// Makes the operators of one node.
  void emit_node(const Node& node);

  // For the operators' functions.
  /// The tensor of a value; constants are made on first use.
  std::int32_t tensor(const Value* value);
  /// A constant in another form than the model has it.
  std::int32_t constant(const ingot::Tensor& tensor, std::string name = {});
  std::int32_t ints(const Ints& values);   // int32, rank 1
  std::int32_t index(std::int64_t value);  // int32, rank 0
  std::int32_t scalar(double value, DType dtype);
  /// An intermediate result.
  std::int32_t temporary(DType elem, const Shape& shape);
  std::int32_t temporary(DType elem, const Ints& dims);
  void add(BuiltinOperator op, std::vector<std::int32_t> inputs, std::vector<std::int32_t> outputs, Options options,
           int version = 1);
  void add(BuiltinOperator op, std::vector<std::int32_t> inputs, std::vector<std::int32_t> outputs) {
    add(op, std::move(inputs), std::move(outputs), Options(op));
  }
  void set_scope(std::string name) { scope_ = std::move(name); }
  fmt_tflite::SubGraph& subgraph();
  Output& output() { return output_; }
  /// Emits another graph as a subgraph and returns its number.
  std::int32_t subgraph_of(const Graph& graph, const std::vector<const Value*>& captured);
  /// The two subgraphs of a Loop over ([round, limit,] condition, state ..., captured ...).
  std::int32_t loop_condition(const Graph& body, const std::vector<const Value*>& captured, bool counts);
  /// `carries_condition`: it is one of the states.
  std::int32_t loop_body(const Graph& body, const std::vector<const Value*>& captured, bool counts,
                         bool carries_condition = true);
  /// Quantisation of a tensor, kept by what passes it on.
  void quantize(std::int32_t tensor, Quantization parameters);
  void alias(const Value* value, std::int32_t tensor) { tensors_[value] = tensor; }
  /// A state that leaves a round as it came in is the same tensor on both sides.
  void pass_on(const Value* input, const Value* output);

 private:
  std::int32_t add_tensor(fmt_tflite::Tensor tensor);

  Output& output_;
  const Graph& graph_;
  std::size_t index_;
  std::string scope_;
  std::unordered_map<const Value*, std::int32_t> tensors_;
  std::set<const Node*> passed_on_;
};

}  // namespace ingot::backends::tflite
